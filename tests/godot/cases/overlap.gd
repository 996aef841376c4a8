extends "res://test_case.gd"
## Steps that run while frames are drawn.


func end() -> void:
	DestructionServer.overlap = false
	await super()


func _add_tile(at: Vector3) -> DestructibleBody:
	var tile := DestructibleBody.new()
	tile.size = Vector3(0.5, 0.05, 0.5)
	tile.cells = Vector3i(5, 1, 5)
	tile.material = load("res://addons/fem_destruction/materials/ceramic.tres")
	tile.position = at
	tile.fracture_seed = 3
	tile.bake_in_background = false
	scene.add_child(tile)
	return tile


## What a tile that falls and is blown up is like after as many steps.
func _play(overlap: bool) -> PackedByteArray:
	DestructionServer.overlap = overlap
	var tile := _add_tile(Vector3(0, 0.4, 0))
	var first: int = DestructionServer.get_statistics().steps
	var steps := 0
	var is_struck := false
	while steps < seconds_to_ticks(1.0):
		await ticks(1)
		steps = DestructionServer.get_statistics().steps - first
		if steps >= seconds_to_ticks(0.5) and not is_struck:
			is_struck = true
			tile.apply_explosion(Vector3(0.1, -0.1, 0), 2.0, 2000.0)
	var state := var_to_bytes(tile.get_state())
	check(tile.get_piece_count() > 1, "the tile is whole")
	tile.free()
	await ticks(2)
	return state


func test_it_is_off_by_default() -> void:
	check_equal(ProjectSettings.property_get_revert("physics/fem_destruction/overlap"), false, "overlap by default")
	check_equal(DestructionServer.overlap, false, "DestructionServer.overlap")


func test_it_changes_when_things_happen_and_not_what() -> void:
	var alone: PackedByteArray = await _play(false)
	var beside: PackedByteArray = await _play(true)
	check(alone == beside, "a tile breaks otherwise where steps overlap with drawing")


## Whatever is called between ticks waits for the step: nothing is refused, nothing crashes.
func test_calls_at_any_time() -> void:
	DestructionServer.overlap = true
	var tiles: Array[DestructibleBody] = []
	for i in 6:
		tiles.append(_add_tile(Vector3(0.6 * i, 0.4, 0)))
	for i in 60:
		await tree.process_frame
		var tile := tiles[i % tiles.size()]
		tile.apply_central_impulse(Vector3(0, 0.2, 0))
		tile.get_pieces()
		tile.material.toughness = 1e6 + i
		tile.apply_explosion(Vector3(1, -0.2, 0), 1.0, 200.0)
		DestructionServer.cast_ray(Vector3(0, 2, 0), Vector3(0, -2, 0))
		if i == 30:
			tiles.pop_back().free()
			tiles.pop_back().queue_free()
		if i == 40:
			DestructionServer.overlap = false
		if i == 45:
			DestructionServer.overlap = true
			tree.paused = true
		if i == 50:
			tree.paused = false
	for tile in tiles:
		check(tile.get_aabb().is_finite(), "a tile is nowhere")


func test_signals_come() -> void:
	DestructionServer.overlap = true
	var tile := _add_tile(Vector3(0, 0.4, 0))
	var told := [0]
	tile.fractured.connect(func(_p: Vector3, _n: Vector3, _e: float, _a: float) -> void: told[0] += 1)
	await seconds(0.5)
	tile.apply_explosion(Vector3(0.1, 0, 0), 2.0, 3000.0)
	await seconds(0.5)
	check(told[0] > 0, "no signal of a fracture")
