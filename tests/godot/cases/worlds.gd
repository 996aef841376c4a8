extends "res://test_case.gd"
## Time, worlds, places and scenes: what a game does around its bodies.


func end() -> void:
	Engine.physics_ticks_per_second = 60
	await super()


func test_time_scale() -> void:
	Engine.time_scale = 0.5
	var body := add_body(Vector3(0, 20, 0))
	await ticks(60)
	check_near(body.get_linear_velocity().y, -9.8 * 0.5, 0.1, "velocity after a second at half speed")
	Engine.time_scale = 2.0
	var velocity := body.get_linear_velocity().y
	await ticks(15)
	check_near(body.get_linear_velocity().y, velocity - 9.8 * 0.5, 0.1, "velocity after a quarter second at double speed")
	Engine.time_scale = 0.0
	velocity = body.get_linear_velocity().y
	await ticks(10)
	check_near(body.get_linear_velocity().y, velocity, 1e-5, "velocity while time stands still")


func test_tick_rate() -> void:
	for rate: int in [30, 120, 240]:
		Engine.physics_ticks_per_second = rate
		await ticks(2)
		var body := add_body(Vector3(0, 30, 0))
		await ticks(rate)
		check_near(body.get_linear_velocity().y, -9.8, 0.5, "velocity after a second of %d ticks" % rate)
		body.free()


func test_tick_rate_changes_while_bodies_rest() -> void:
	var body := add_body(Vector3(0, 0.5, 0))
	await ticks(60)
	for rate: int in [30, 144, 60]:
		Engine.physics_ticks_per_second = rate
		await ticks(60)
		check_near(body.get_center_of_mass().y, 0.496, 0.015, "height at %d ticks a second" % rate)


func test_process_mode_always_while_paused() -> void:
	var body := add_body(Vector3(0, 10, 0))
	var other := add_body(Vector3(3, 10, 0))
	body.process_mode = Node.PROCESS_MODE_ALWAYS
	tree.paused = true
	await ticks(20)
	check(body.get_center_of_mass().y < 9.8, "a body that always processes stands still")
	check_near(other.get_center_of_mass().y, 10.0, 1e-3, "height of the paused body")
	body.process_mode = Node.PROCESS_MODE_WHEN_PAUSED
	tree.paused = false
	await ticks(2)
	var height := body.get_center_of_mass().y
	await ticks(10)
	check_near(body.get_center_of_mass().y, height, 1e-3, "height of a body that processes only when paused")


func test_teleport_with_a_parent() -> void:
	var parent := Node3D.new()
	scene.add_child(parent)
	var body := DestructibleBody.new()
	body.position = Vector3(0, 10, 0)
	parent.add_child(body)
	await ticks(10)
	var center := body.get_center_of_mass()
	var velocity := body.get_linear_velocity()
	parent.position = Vector3(5, 0, 0)
	body.force_update_transform()
	check_near_vector(body.get_center_of_mass(), center + Vector3(5, 0, 0), 1e-3, "centre after moving the parent")
	check_near_vector(body.get_linear_velocity(), velocity, 1e-3, "velocity after moving the parent")
	parent.rotation.z = PI / 2
	body.force_update_transform()
	check_near_vector(body.get_linear_velocity(), velocity.rotated(Vector3.BACK, PI / 2), 1e-3, "velocity after turning the parent")
	check_equal(body.position, Vector3(0, 10, 0), "the node's own place")


func test_bad_scale_during_play() -> void:
	var body := add_body(Vector3(0, 10, 0))
	await ticks(5)
	for bad: Vector3 in [Vector3(0, 1, 1), Vector3(-1, 1, 1), Vector3(NAN, 1, 1)]:
		expect_errors("the scale %s during play" % bad)
		body.scale = bad
		body.force_update_transform()
		errors_end()
		check(body.is_simulated() and positions_are_finite(body), "the scale %s did harm" % bad)
	body.scale = Vector3(2, 1, 1)
	body.reset()
	check_near(body.get_aabb_world().size.x, 2.0, 1e-3, "width after the reset with a sound scale")


## Nothing depends on where a body is; what is drawn there is another matter.
func test_far_away() -> void:
	for place: Vector3 in [Vector3(10000, 50, -10000), Vector3(1e6, 50, 1e6), Vector3(-3e7, 50, 0)]:
		var body := add_body(place)
		check(body.is_simulated(), "a body at %s is not simulated" % place)
		await ticks(30)
		check(positions_are_finite(body), "positions at %s are not finite" % place)
		check_near(body.get_linear_velocity().y, -4.9, 0.05, "velocity at %s" % place)
		check_near(body.get_aabb_world().size.y, 1.0, 1e-3, "height of the cube at %s" % place)
		body.free()
	expect_errors("a place beyond all places")
	var lost := add_body(Vector3(1e12, 0, 0))
	errors_end()
	check(not lost.is_simulated(), "a body at 1e12 m is simulated")


func test_reparent_into_another_world() -> void:
	var viewport := SubViewport.new()
	viewport.own_world_3d = true
	scene.add_child(viewport)
	var body := add_body(Vector3(0, 10, 0))
	await ticks(20)
	var center := body.get_center_of_mass()
	var velocity := body.get_linear_velocity()
	var positions := body.get_node_positions()
	check(center.y < 9.9, "the body does not fall")
	body.reparent(viewport)
	check(body.is_simulated(), "the body is not simulated in its new world")
	check_near_vectors(body.get_node_positions(), positions, 2e-5, "positions in the new world")
	check_near_vector(body.get_linear_velocity(), velocity, 1e-5, "velocity in the new world")
	await ticks(1)
	check_near(body.get_center_of_mass().y, center.y + (velocity.y - 9.8 * TICK) * TICK, 1e-3, "height a tick later")
	check_equal(DestructionServer.get_statistics().bodies, 1, "bodies in all worlds")
	body.reparent(scene)
	body.position += Vector3(3, 0, 0)
	await ticks(1)
	check_near(body.get_center_of_mass().x, 3.0, 1e-3, "way with its node")
	await ticks(10)
	check_equal(DestructionServer.get_statistics().worlds, 1, "worlds with bodies")


func test_many_worlds() -> void:
	var bodies: Array[DestructibleBody] = []
	for i in 12:
		var viewport := SubViewport.new()
		viewport.own_world_3d = true
		scene.add_child(viewport)
		var body := DestructibleBody.new()
		body.cells = Vector3i(2, 2, 2)
		body.position.y = 5.0
		viewport.add_child(body)
		bodies.append(body)
	await ticks(20)
	check_equal(DestructionServer.get_statistics().worlds, 12, "worlds")
	for body in bodies:
		check_near(body.get_center_of_mass().y, bodies[0].get_center_of_mass().y, 1e-6, "height in each world")


func test_duplicate_of_a_broken_body_is_whole() -> void:
	var body := DestructibleBody.new()
	body.size = Vector3(2, 0.1, 0.4)
	body.cells = Vector3i(12, 1, 3)
	body.material = load("res://addons/fem_destruction/materials/ceramic.tres")
	body.transform = Transform3D(Basis(Vector3.BACK, 0.5), Vector3(0, 5, 0))
	scene.add_child(body)
	await ticks(100)
	check(body.get_piece_count() > 1, "the plate does not break")
	var copy: DestructibleBody = body.duplicate()
	scene.add_child(copy)
	check_equal(copy.get_piece_count(), 1, "pieces of the duplicate")
	check(copy.material == body.material, "the duplicate has another material")
	check_equal(copy.set_state(body.get_state()), OK, "result of giving the duplicate the state")
	check_equal(copy.get_pieces(), body.get_pieces(), "pieces of the duplicate with the state")
	await ticks(5)


func test_worker_count_during_play() -> void:
	var results: Array[PackedVector3Array] = []
	for workers: int in [1, 3, 2]:
		DestructionServer.worker_count = workers
		var body := add_body(Vector3(0, 3, 0), Vector3.ONE, Vector3i(5, 5, 5))
		await ticks(60)
		results.append(body.get_node_positions())
		body.free()
		await ticks(2)
	DestructionServer.worker_count = 0
	var processors := OS.get_processor_count()
	check_equal(DestructionServer.worker_count, clampi(processors if processors <= 4 else processors - 1, 1, 64), "threads by default")
	check(results[0] == results[1] and results[1] == results[2], "the number of threads changes the result")


## Release builds of Godot count no memory of their own.
func _resident_bytes() -> int:
	var output := []
	OS.execute("cat", ["/proc/%d/statm" % OS.get_process_id()], output)
	return int(output[0].get_slice(" ", 1)) * 4096


func test_two_hundred_reloads() -> void:
	var memory := 0
	var engine_bytes := 0
	var objects := 0
	for i in 240:
		if i == 0:
			tree.change_scene_to_file("res://breaking_scene.tscn")
		else:
			tree.reload_current_scene()
		await ticks(3)
		if i == 40: # lists have grown to what the scene takes
			memory = _resident_bytes()
			engine_bytes = DestructionServer.get_statistics().memory_bytes
			objects = int(Performance.get_monitor(Performance.OBJECT_COUNT))
	check_equal(DestructionServer.get_statistics().bodies, 3, "bodies of the scene")
	check(memory > 10000000, "the memory is said to be %d bytes" % memory)
	print("-- 200 reloads: %d bytes, %d objects more" % [_resident_bytes() - memory, int(Performance.get_monitor(Performance.OBJECT_COUNT)) - objects])
	check(_resident_bytes() < memory + 1000000, "memory grew by %d bytes" % (_resident_bytes() - memory))
	check_equal(DestructionServer.get_statistics().memory_bytes, engine_bytes, "bytes of the engine")
	check(int(Performance.get_monitor(Performance.OBJECT_COUNT)) <= objects + 2, "there are %d objects more" % (int(Performance.get_monitor(Performance.OBJECT_COUNT)) - objects))
	tree.unload_current_scene()
	await ticks(3)
	check_equal(DestructionServer.get_statistics().bodies, 0, "bodies left")


func test_many_freed_in_one_tick() -> void:
	for round in 3:
		var bodies: Array[DestructibleBody] = []
		for i in 20:
			bodies.append(add_body(Vector3(i % 5, 1 + i / 5, 0), Vector3.ONE * 0.9))
		await ticks(5)
		for body in bodies:
			body.queue_free()
		await ticks(1)
	await ticks(2)
	check_equal(DestructionServer.get_statistics().bodies, 0, "bodies left")


func add_baked(mesh: DestructibleMesh) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.position.y = 5.0
	scene.add_child(body)
	return body


## Aim: under 1 ms a thousand tets on an idle machine. This one may be busy: only what is far off fails.
func test_time_to_add_a_baked_body() -> void:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = SphereMesh.new()
	mesh.element_count = 4000
	mesh.bake()
	var first := add_baked(mesh)
	check(mesh.layout.size() > 1000, "the layout is not kept with the mesh")
	var path := "user://layout_test.res"
	check_equal(ResourceSaver.save(mesh, path), OK, "result of saving")
	var loaded: DestructibleMesh = ResourceLoader.load(path, "", ResourceLoader.CACHE_MODE_IGNORE)
	DirAccess.remove_absolute(ProjectSettings.globalize_path(path))
	var began_first := Time.get_ticks_usec()
	var again := add_baked(loaded)
	print("-- the first body of a loaded mesh of %d tets: %.2f ms" % [again.get_tet_count(), (Time.get_ticks_usec() - began_first) / 1000.0])
	check_equal(again.get_node_positions(), first.get_node_positions(), "positions with a layout from a file")
	loaded.layout = PackedByteArray([1, 2, 3, 4, 5])
	again.reset()
	check(again.is_simulated(), "a damaged layout does harm")
	first.free()
	again.free()
	for breakable: bool in [false, true]:
		var material := MaterialResource.new()
		material.breakable = breakable
		var best := INF
		var bodies: Array[DestructibleBody] = []
		for i in 8:
			var body := DestructibleBody.new()
			body.mesh = mesh
			body.material = material
			body.position = Vector3(3 * i, 5, 0)
			var began := Time.get_ticks_usec()
			scene.add_child(body)
			best = minf(best, Time.get_ticks_usec() - began)
			bodies.append(body)
		var tets := bodies[0].get_tet_count()
		print("-- adding a body of %d tets%s: %.2f ms, %.2f ms a thousand" % [tets, " that can break" if breakable else "", best / 1000.0, best / tets])
		check(best / tets < 15.0, "adding a body takes %.2f ms a thousand tets" % (best / tets))
		for body in bodies:
			body.free()
		await ticks(2)
