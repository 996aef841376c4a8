extends "res://test_case.gd"
## Level geometry whose bodies have no node of their own.


func add_plinth() -> CSGBox3D:
	var plinth := CSGBox3D.new()
	plinth.size = Vector3(1, 1, 1)
	plinth.use_collision = true
	plinth.position = Vector3(0, 0.5, 0)
	scene.add_child(plinth)
	await ticks(2)
	return plinth


## On it and beside it, a little apart, in touch or a little in it; there before they come, or only then. The second level
## takes the place of the first in one frame.
func test_bodies_that_start_asleep_beside_csg_sleep_on() -> void:
	var wakes := [0]
	for is_there_first: bool in [true, false]:
		var plinth: CSGBox3D = await add_plinth() if is_there_first else null
		var bodies: Array[DestructibleBody] = []
		for i in 3:
			var gap: float = [0.002, 0.0, -0.002][i]
			for place: Vector3 in [Vector3(0.3 * i - 0.3, 1.1 + gap, 0), Vector3(0.6 + gap, 0.1, 0.3 * i - 0.3)]:
				var body := DestructibleBody.new()
				body.size = Vector3.ONE * 0.2
				body.cells = Vector3i(2, 2, 2)
				body.start_asleep = true
				body.position = place
				body.woke.connect(func() -> void: wakes[0] += 1)
				scene.add_child(body)
				bodies.append(body)
		if not is_there_first:
			plinth = await add_plinth()
		for i in 40:
			await ticks(1)
			for body in bodies:
				wakes[0] += int(not body.is_asleep())
		for node: Node in bodies + ([plinth] as Array[Node]):
			node.free()
	check_equal(wakes[0], 0, "ticks and times that bodies woke")


## A CSG body has no node of its own to ask: when a destructible that found it moves on, what sleeps on it sleeps on.
func test_csg_body_stays_under_sleepers() -> void:
	await add_plinth()
	var sleeper := add_body(Vector3(0, 1.3, 0), Vector3(0.5, 0.5, 0.5))
	check(await wait_for_sleep(sleeper, 300), "the body on the plinth does not sleep")
	var wakes := [0]
	sleeper.woke.connect(func() -> void: wakes[0] += 1)
	var passer := add_body(Vector3(2, 0.6, 0), Vector3(0.5, 0.5, 0.5))
	await ticks(30)
	passer.global_position = Vector3(6, 0.6, 0)
	await seconds(3.0)
	check_equal(wakes[0], 0, "times that the sleeper woke")


## Nothing tells of such a body's end: those that sleep on it ask now and then whether it is still there.
func test_sleepers_fall_when_their_csg_goes() -> void:
	var plinth := await add_plinth()
	var sleeper := add_body(Vector3(0, 1.26, 0), Vector3(0.5, 0.5, 0.5))
	check(await wait_for_sleep(sleeper, seconds_to_ticks(6)), "the body on the plinth does not sleep")
	plinth.free()
	await seconds(3.0)
	check(lowest_node(sleeper) < 0.1, "the body hangs in the air at %.2f" % lowest_node(sleeper))


func test_grid_map_carries_until_it_is_emptied() -> void:
	var library := MeshLibrary.new()
	library.create_item(0)
	var shape := BoxShape3D.new()
	shape.size = Vector3(2, 1, 2)
	library.set_item_shapes(0, [shape, Transform3D.IDENTITY])
	var grid := GridMap.new()
	grid.mesh_library = library
	grid.cell_size = Vector3(2, 1, 2)
	scene.add_child(grid)
	for x in 3:
		grid.set_cell_item(Vector3i(x - 1, 0, 0), 0)
	await ticks(2)
	var top := grid.map_to_local(Vector3i.ZERO).y + 0.5
	var body := add_body(grid.map_to_local(Vector3i.ZERO) + Vector3(0, 0.76, 0), Vector3(0.5, 0.5, 0.5))
	check(await wait_for_sleep(body, seconds_to_ticks(6)), "the body on the grid map does not sleep")
	check_near(lowest_node(body), top, 0.02, "lowest node on the grid map")
	grid.clear()
	await seconds(3.0)
	check(lowest_node(body) < top - 0.5, "the body hangs in the air at %.2f" % lowest_node(body))
