extends "res://test_case.gd"
## The budget: bad values, shedding, records that replay to the same bits, monitors, the overlay.

const Overlay := preload("res://addons/fem_destruction/overlay/destruction_overlay.gd")


func end() -> void:
	DestructionServer.replay_budget(PackedByteArray())
	DestructionServer.budget_recording = false
	DestructionServer.budget_ms = 0.0
	DestructionServer.budget_live_tets = 0
	DestructionServer.budget_pieces = 0
	DestructionServer.budget_contacts = 0
	await super()


func _ceramic() -> MaterialResource:
	return load("res://addons/fem_destruction/materials/ceramic.tres")


## Tiles side by side on the ground.
func _add_tiles(count: int) -> Array[DestructibleBody]:
	var tiles: Array[DestructibleBody] = []
	for i in count:
		var tile := DestructibleBody.new()
		tile.size = Vector3(0.5, 0.05, 0.5)
		tile.cells = Vector3i(5, 1, 5)
		tile.material = _ceramic()
		tile.position = Vector3(0.6 * i, 0.4, 0)
		tile.fracture_seed = i
		scene.add_child(tile)
		tiles.append(tile)
	return tiles


func _states(tiles: Array[DestructibleBody]) -> Array[PackedByteArray]:
	var states: Array[PackedByteArray] = []
	for tile in tiles:
		states.append(var_to_bytes(tile.get_state()))
	return states


func test_bad_values_are_refused_or_clamped() -> void:
	check_equal(ProjectSettings.property_get_revert("physics/fem_destruction/budget_ms"), 4.0, "budget_ms by default")
	for setting: String in ["budget_live_tets", "budget_pieces", "budget_contacts"]:
		check_equal(ProjectSettings.property_get_revert("physics/fem_destruction/" + setting), 0, setting + " by default")
	DestructionServer.budget_ms = 3.0
	expect_errors("a budget that is no number", ["budget_ms", "not a finite number"])
	DestructionServer.budget_ms = NAN
	errors_end()
	check_equal(DestructionServer.budget_ms, 3.0, "budget_ms after NAN")
	DestructionServer.budget_ms = -1.0
	check_equal(DestructionServer.budget_ms, 0.0, "a negative budget_ms")
	DestructionServer.budget_pieces = -7
	check_equal(DestructionServer.budget_pieces, 0, "a negative number of pieces")
	expect_errors("a record that is none", ["replay_budget()", "get_budget_record()"])
	DestructionServer.replay_budget(PackedByteArray([1, 2, 3]))
	errors_end()


func test_budgets_that_change_in_every_tick() -> void:
	var tiles := _add_tiles(4)
	for i in 90:
		DestructionServer.budget_ms = [0.0, 1e-6, 2.0, 1e6][i % 4]
		DestructionServer.budget_live_tets = [0, 1, 100000][i % 3]
		DestructionServer.budget_pieces = [1, 0][i % 2]
		DestructionServer.budget_contacts = [1, 0, 0][i % 3]
		if i == 20:
			for k in 1000:
				DestructionServer.apply_explosion(Vector3(0.5, 0, 0), 2.0, 500.0)
		await ticks(1)
	for tile in tiles:
		check(tile.get_aabb().is_finite(), "a tile is nowhere")


## A debugger's pause is no reason to shed: here 1.2 s, from one second on a tick says nothing of what things cost.
func test_a_pause_is_not_held_against_things() -> void:
	DestructionServer.budget_ms = 4.0
	var tiles := _add_tiles(2)
	await ticks(60)
	var before := DestructionServer.get_statistics()
	OS.delay_msec(1200)
	await ticks(12)
	var after := DestructionServer.get_statistics()
	check(after.budget_share >= before.budget_share, "the share fell from %.2f to %.2f" % [before.budget_share, after.budget_share])
	check_equal(after.shed_faded, before.shed_faded, "pieces that faded")
	check_equal(after.pieces, before.pieces, "pieces")
	for tile in tiles:
		check(tile.get_aabb().is_finite() and tile.to_global(tile.get_aabb().position).y > -0.1, "a tile did not bear the pause")


## Nothing falls through the ground, bursts or stays awake at any tick rate that Godot has.
func test_tick_rates() -> void:
	var usual := Engine.physics_ticks_per_second
	for rate: int in [15, 240]:
		Engine.physics_ticks_per_second = rate
		DestructionServer.budget_ms = 4.0
		var tiles := _add_tiles(3)
		await seconds(1.0)
		tiles[1].apply_explosion(tiles[1].global_position + Vector3(0, -0.3, 0), 1.5, 1500.0)
		await seconds(2.0)
		var pieces := 0
		for tile in tiles:
			pieces += tile.get_piece_count()
			var box := tile.get_aabb()
			check(box.is_finite() and box.size.length() < 30.0, "at %d Hz a tile is spread over %s" % [rate, box])
			check(tile.to_global(box.position).y > -0.1, "at %d Hz a tile is at %.2f m" % [rate, tile.to_global(box.position).y])
		check(pieces > 4, "at %d Hz there are %d pieces" % [rate, pieces])
		print("-- %d Hz: %d pieces" % [rate, pieces])
		for tile in tiles:
			tile.free()
	Engine.physics_ticks_per_second = usual
	await ticks(2)


func test_caps_of_none_and_one() -> void:
	for cap: int in [0, 1]:
		DestructionServer.budget_pieces = cap
		var tiles := _add_tiles(2)
		for tile in tiles:
			tile.debris_cap = cap
			tile.debris_fade = 0.1
		await ticks(20)
		DestructionServer.apply_explosion(Vector3(0.3, 0, 0), 3.0, 3000.0)
		await ticks(90)
		for tile in tiles:
			var count := tile.get_piece_count()
			check(count >= 1 if cap == 0 else count <= 2, "with a cap of %d there are %d pieces" % [cap, count])
			tile.free()
		await ticks(1)


func test_pieces_are_bounded_by_number() -> void:
	var tiles := _add_tiles(4)
	await ticks(30)
	for tile in tiles:
		tile.apply_explosion(tile.global_position + Vector3.DOWN, 3.0, 3000.0)
	await ticks(20)
	var before: int = DestructionServer.get_statistics().pieces
	check(before > 8, "only %d pieces" % before)
	DestructionServer.budget_pieces = 6
	await ticks(120)
	var s := DestructionServer.get_statistics()
	check(s.pieces <= 6, "%d pieces are left of %d" % [s.pieces, before])
	check(s.shed_faded >= before - 6, "%d faded" % s.shed_faded)


## Plays by the clock, by what was recorded of that on a machine that has more time, and with more time alone.
func test_a_replay_has_the_same_bits() -> void:
	var states: Array = []
	var record := PackedByteArray()
	for play in 3:
		DestructionServer.budget_ms = 0.5 if play == 0 else 1000.0
		DestructionServer.budget_recording = play == 0
		DestructionServer.replay_budget(record if play == 1 else PackedByteArray())
		DestructionServer.budget_recording = play == 0
		var tiles := _add_tiles(6)
		for i in 60:
			if i == 25:
				DestructionServer.apply_explosion(Vector3(1.5, -0.2, 0), 3.0, 3000.0)
			await ticks(1)
		states.append(_states(tiles))
		if play == 0:
			record = DestructionServer.get_budget_record()
			check(record.size() > 60 * 40, "the record has %d bytes" % record.size())
			DestructionServer.budget_recording = false
		for tile in tiles:
			tile.free()
		await ticks(1)
	check(states[0] == states[1], "the replay differs")
	check(states[0] != states[2], "the budget had no part in it")


func test_monitors() -> void:
	_add_tiles(2)
	await ticks(3)
	for monitor: String in ["tick_ms", "step_ms", "collision_ms", "live_tets", "pieces", "contacts", "memory_bytes", "shed_pieces"]:
		check(Performance.has_custom_monitor("fem_destruction/" + monitor), "there is no monitor " + monitor)
	check_equal(int(Performance.get_custom_monitor("fem_destruction/pieces")), 2, "the monitor of pieces")


func test_overlay() -> void:
	_add_tiles(1)
	var overlay: CanvasLayer = Overlay.new()
	scene.add_child(overlay)
	await ticks(5)
	check(overlay.get_times().size() >= 3, "the overlay has seen %d ticks" % overlay.get_times().size())
