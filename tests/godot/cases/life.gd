extends "res://test_case.gd"
## What games do to nodes: free, duplicate, reparent, pause, reload, in the middle of everything.

const CountingBody := preload("res://counting_body.gd")


func test_free_during_play() -> void:
	var bodies: Array[DestructibleBody] = []
	for i in 6:
		bodies.append(add_body(Vector3(2 * i, 1, 0)))
	await ticks(10)
	bodies[0].queue_free()
	bodies[2].free()
	scene.remove_child(bodies[4])
	bodies[4].free()
	await ticks(5)
	check_equal(DestructionServer.get_statistics().bodies, 3, "bodies left")
	check(bodies[5].get_center_of_mass().y < 1.0, "the others do not go on")


func test_free_at_once() -> void:
	var body := add_body(Vector3(0, 1, 0))
	body.free()
	await ticks(2)
	add_body(Vector3(0, 1, 0)).queue_free()
	await ticks(3)
	check_equal(DestructionServer.get_statistics().bodies, 0, "bodies left")


func test_free_in_a_signal() -> void:
	var first := add_body(Vector3(0, 0.5, 0))
	var second := add_body(Vector3(3, 0.5, 0))
	first.slept.connect(func() -> void:
		if is_instance_valid(second):
			second.free())
	second.slept.connect(func() -> void:
		if is_instance_valid(first):
			first.free())
	for i in 900:
		if not is_instance_valid(first) or not is_instance_valid(second):
			break
		await tree.physics_frame
	await ticks(5)
	check(is_instance_valid(first) != is_instance_valid(second), "the bodies did not fall asleep")


## What a signal is answered with may take away everything around the body.
func test_scene_change_in_a_signal() -> void:
	tree.change_scene_to_file("res://falling_scene.tscn")
	await ticks(3)
	var answers_to_it: Array[Callable] = [
		func(_old: Node) -> void: tree.reload_current_scene(),
		func(_old: Node) -> void: tree.change_scene_to_file("res://falling_scene.tscn"),
		func(old: Node) -> void: old.queue_free(),
	]
	for answer in answers_to_it:
		var old := tree.current_scene
		var answers := [0]
		(old.get_node("Body") as DestructibleBody).impacted.connect(
				func(_p: Vector3, _n: Vector3, _i: float, _s: float, _o: Object) -> void:
			answers[0] += 1
			if answers[0] == 1:
				answer.call(old))
		for i in 180:
			await tree.physics_frame
			if answers[0] > 0:
				break
		check(answers[0] > 0, "there was no impact")
		await ticks(4)
		check(not is_instance_valid(old), "the old scene is still there")
		check_equal(DestructionServer.get_statistics().bodies, 0 if answer == answers_to_it[2] else 1, "bodies afterwards")
	tree.unload_current_scene()
	await ticks(3)


func test_reparent_in_a_signal() -> void:
	var viewport := SubViewport.new()
	viewport.own_world_3d = true
	scene.add_child(viewport)
	var other := Node3D.new()
	scene.add_child(other)
	for parent: Node in [other, viewport]:
		var body := add_body(Vector3(0, 1.2, 0))
		body.impacted.connect(func(_p: Vector3, _n: Vector3, _i: float, _s: float, _o: Object) -> void:
			if body.get_parent() != parent:
				body.reparent(parent))
		await ticks(60)
		check(body.get_parent() == parent, "there was no impact")
		check(body.is_simulated() and body.get_center_of_mass().y < 0.7, "it starts over below its new parent")
		body.free()


func test_duplicate() -> void:
	var body := add_body(Vector3(0, 5, 0))
	body.material = MaterialResource.new()
	await ticks(20)
	var copy: DestructibleBody = body.duplicate()
	copy.position.x = 4.0
	scene.add_child(copy)
	check(copy.material == body.material, "the copy has another material")
	check_near_vector(copy.get_center_of_mass(), Vector3(4, 5, 0), 1e-3, "centre of the copy")
	await ticks(5)
	check(copy.get_center_of_mass().y < 5.0, "the copy does not fall")
	check_equal(DestructionServer.get_statistics().bodies, 2, "bodies")


func test_reparent_keeps_the_motion() -> void:
	var body := add_body(Vector3(0, 10, 0))
	var other := Node3D.new()
	other.position = Vector3(7, 0, 0)
	scene.add_child(other)
	await ticks(20)
	var before := body.get_center_of_mass()
	var velocity := body.get_linear_velocity()
	body.reparent(other)
	check(body.is_simulated(), "the body is not simulated any more")
	await ticks(1)
	var expected := before + (velocity + Vector3(0, -9.8 * TICK, 0)) * TICK
	check_near_vector(body.get_center_of_mass(), expected, 1e-3, "centre after reparent()")
	check_near(body.get_linear_velocity().y, velocity.y - 9.8 * TICK, 1e-3, "velocity after reparent()")
	other.position.z = 2.0
	await ticks(1)
	check_near(body.get_center_of_mass().z, 2.0, 1e-3, "way with the new parent")


func test_out_of_the_tree_and_back() -> void:
	var body := add_body(Vector3(0, 3, 0))
	await ticks(20)
	scene.remove_child(body)
	check(body.get_node_count() > 0, "a removed body forgot its shape")
	await ticks(5)
	check_equal(DestructionServer.get_statistics().bodies, 0, "bodies while it is out")
	scene.add_child(body)
	check_near_vector(body.get_center_of_mass(), Vector3(0, 3, 0), 1e-3, "centre after coming back")
	await ticks(5)
	check(body.get_center_of_mass().y < 3.0, "the body does not fall again")


func test_pause() -> void:
	var body := add_body(Vector3(0, 10, 0))
	await ticks(10)
	tree.paused = true
	var before := body.get_node_positions()
	var velocity := body.get_linear_velocity()
	await ticks(20)
	check(body.get_node_positions() == before, "the body moves while the tree is paused")
	tree.paused = false
	await ticks(1)
	check_near(body.get_linear_velocity().y, velocity.y - 9.8 * TICK, 0.01, "velocity after the pause")


func test_pause_of_one_body() -> void:
	var held := add_body(Vector3(0, 10, 0))
	var other := add_body(Vector3(3, 10, 0))
	await ticks(10)
	held.process_mode = Node.PROCESS_MODE_DISABLED
	var before := held.get_center_of_mass()
	var velocity := held.get_linear_velocity()
	await ticks(20)
	check_near_vector(held.get_center_of_mass(), before, 1e-3, "centre of the held body")
	check(other.get_center_of_mass().y < before.y - 0.5, "the other body does not go on")
	held.process_mode = Node.PROCESS_MODE_INHERIT
	await ticks(2)
	check_near(held.get_linear_velocity().y, velocity.y - 2.0 * 9.8 * TICK, 0.1, "velocity of the held body afterwards")


func test_scene_change_and_reload() -> void:
	tree.change_scene_to_file("res://falling_scene.tscn")
	await ticks(3)
	await ticks(30)
	var body: DestructibleBody = tree.current_scene.get_node("Body")
	check(body.get_center_of_mass().y < 2.0, "the body of the scene does not fall")
	tree.reload_current_scene()
	await ticks(3)
	body = tree.current_scene.get_node("Body")
	check(body.get_center_of_mass().y > 2.9, "after the reload the body is at %s" % body.get_center_of_mass())
	check_equal(body.material.stiffness, 200000.0, "stiffness after the reload")
	check_equal(DestructionServer.get_statistics().bodies, 1, "bodies after the reload")
	tree.unload_current_scene()
	await ticks(3)
	check_equal(DestructionServer.get_statistics().bodies, 0, "bodies after the unload")


func test_script_sees_new_positions() -> void:
	var body: DestructibleBody = CountingBody.new()
	body.position.y = 5.0
	scene.add_child(body)
	await ticks(10)
	check(body.tick_count >= 9, "_physics_process of the script ran %d times" % body.tick_count)
	check(body.last_height < 4.9 and body.last_height > 4.0, "the script saw the height %.3f" % body.last_height)


func test_shape_change_during_play() -> void:
	var body := add_body(Vector3(0, 5, 0))
	await ticks(10)
	body.size = Vector3(2, 1, 1)
	check_near(body.get_mass(), 2000.0, 2.0, "mass after the change of size")
	await ticks(2)
	body.cells = Vector3i(4, 1, 1)
	check_equal(body.get_node_positions().size(), 20, "nodes after the change of cells")
	await ticks(5)
	check(body.get_center_of_mass().y < 5.0, "the changed body does not fall")


func test_material_removed_during_play() -> void:
	var body := add_body(Vector3(0, 1, 0))
	body.material = MaterialResource.new()
	await ticks(5)
	body.material = null
	await ticks(5)
	check(body.is_simulated() and body.get_center_of_mass().y < 1.0, "the body does not go on")


func test_own_world() -> void:
	var viewport := SubViewport.new()
	viewport.own_world_3d = true
	scene.add_child(viewport)
	var inner := DestructibleBody.new()
	inner.position.y = 5.0
	viewport.add_child(inner)
	var outer := add_body(Vector3(0, 5, 0))
	await ticks(10)
	check_equal(DestructionServer.get_statistics().worlds, 2, "worlds")
	check_near(inner.get_center_of_mass().y, outer.get_center_of_mass().y, 1e-3, "height in the other world")
	viewport.free()
	await ticks(3)
	check_equal(DestructionServer.get_statistics().worlds, 1, "worlds afterwards")


func test_hidden_bodies_go_on() -> void:
	var body := add_body(Vector3(0, 5, 0))
	body.hide()
	await ticks(10)
	check(body.get_center_of_mass().y < 5.0, "a hidden body does not fall")
	body.show()
	await ticks(2)


func test_many_bodies() -> void:
	var bodies: Array[DestructibleBody] = []
	for i in 100:
		bodies.append(add_body(Vector3(i % 10 * 1.5, 1.0 + 0.01 * i, i / 10 * 1.5)))
	await ticks(60)
	check_equal(DestructionServer.get_statistics().bodies, 100, "bodies")
	var bad := 0
	for body in bodies:
		if not positions_are_finite(body) or lowest_node(body) < -0.1 or body.get_aabb_world().size.y > 1.3:
			bad += 1
	check_equal(bad, 0, "bodies that went wrong")


func test_many_short_lives() -> void:
	var bytes: int = DestructionServer.get_statistics().memory_bytes # of bakes that are kept
	for life in 30:
		var bodies: Array[DestructibleBody] = []
		for i in 5:
			bodies.append(add_body(Vector3(2 * i, 2, 0)))
		await ticks(1)
		for body in bodies:
			body.free()
	await ticks(2)
	var statistics := DestructionServer.get_statistics()
	check_equal(statistics.bodies, 0, "bodies left")
	check_equal(statistics.memory_bytes, bytes, "bytes left")
