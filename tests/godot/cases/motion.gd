extends "res://test_case.gd"
## Bodies that fall, land, rest, get hit. Positions are checked against what the time steps must give.

const GRAVITY := 9.8


func end() -> void:
	DestructionServer.gravity_override = false
	DestructionServer.ground_enabled = true
	DestructionServer.ground_height = 0.0
	DestructionServer.ground_friction = 0.5
	await super()


func test_free_fall() -> void:
	var body := add_body(Vector3(1, 30, -2))
	check(body.is_simulated(), "the body is not simulated")
	var start := body.get_node_positions()
	check_equal(start.size(), 27, "number of nodes")
	check_near_vector(body.get_center_of_mass(), Vector3(1, 30, -2), 1e-4, "centre at the start")
	var done := 0
	for tick: int in [1, 10, 60]:
		await ticks(tick - done)
		done = tick
		# Backward Euler: v grows by g dt first and then moves the body, so n steps give n (n + 1) / 2 times g dt².
		var drop := GRAVITY * TICK * TICK * tick * (tick + 1) / 2.0
		check_near_vector(body.get_center_of_mass(), Vector3(1, 30 - drop, -2), 1e-3, "centre after %d ticks" % tick)
		check_near(body.get_linear_velocity().y, -GRAVITY * TICK * tick, 1e-3, "velocity after %d ticks" % tick)
	var positions := body.get_node_positions()
	var shift := body.get_center_of_mass() - Vector3(1, 30, -2)
	for i in positions.size():
		check_near_vector(positions[i], start[i] + shift, 1e-3, "node %d after the fall" % i)


func test_lands_and_rests_within_120_ticks() -> void:
	var body := add_body(Vector3(0, 1, 0))
	await ticks(20)
	check(body.get_center_of_mass().y < 0.75, "the body does not fall")
	var lowest := INF
	for i in 100:
		await tree.physics_frame
		lowest = minf(lowest, lowest_node(body))
	check(lowest > -0.06, "the body sank %.3f m into the ground" % -lowest)
	check_near(lowest_node(body), 0.0, 0.01, "lowest node at rest")
	# A cube of the default rubber sags by some 5 mm under its own weight.
	check_near(body.get_center_of_mass().y, 0.496, 0.012, "height of the centre at rest")
	check(body.get_linear_velocity().length() < 0.1, "the body still moves at %s" % body.get_linear_velocity())


func test_bounces() -> void:
	var body := add_body(Vector3(0, 3, 0))
	var fastest_up := 0.0
	for i in 90:
		await tree.physics_frame
		fastest_up = maxf(fastest_up, body.get_linear_velocity().y)
	check(fastest_up > 0.3, "the body does not bounce (fastest upward %.3f m/s)" % fastest_up)


func test_start_velocity() -> void:
	var body := DestructibleBody.new()
	body.position = Vector3(0, 10, 0)
	body.start_velocity = Vector3(3, 4, 0)
	scene.add_child(body)
	await ticks(30)
	check_near(body.get_linear_velocity().x, 3.0, 1e-3, "sideways velocity")
	check_near(body.get_center_of_mass().x, 1.5, 0.02, "way to the side")


func test_start_angular_velocity() -> void:
	var body := DestructibleBody.new()
	body.position = Vector3(0, 10, 0)
	body.start_angular_velocity = Vector3(0, 0, 2)
	scene.add_child(body)
	await ticks(2)
	var spin: Vector3 = body.get_piece_data(body.get_pieces()[0]).angular_velocity
	check_near_vector(spin, Vector3(0, 0, 2), 0.02, "angular velocity")
	check_near(body.get_linear_velocity().x, 0.0, 1e-3, "sideways velocity")


func test_node_transform_stays() -> void:
	var body := add_body(Vector3(0, 5, 0))
	await ticks(30)
	check_equal(body.position, Vector3(0, 5, 0), "the node's position")


func test_rotation_and_scale() -> void:
	var body := DestructibleBody.new()
	body.cells = Vector3i.ONE
	body.size = Vector3(1, 2, 1)
	body.transform = Transform3D(Basis(Vector3.BACK, PI / 2.0).scaled_local(Vector3(1, 1.5, 1)), Vector3(0, 20, 0))
	scene.add_child(body)
	var box := body.get_aabb_world()
	check_near_vector(box.size, Vector3(3, 1, 1), 1e-3, "size of the turned and stretched box")
	check_near_vector(box.get_center(), Vector3(0, 20, 0), 1e-3, "centre of the turned and stretched box")


func test_central_impulse() -> void:
	var body := add_body(Vector3(0, 20, 0))
	await ticks(1)
	var before := body.get_linear_velocity()
	body.apply_central_impulse(Vector3(500, 0, 250))
	await ticks(1)
	var change := body.get_linear_velocity() - before
	check_near_vector(change, Vector3(0.5, -GRAVITY * TICK, 0.25), 2e-3, "change of velocity")


func test_impulse_at_a_point() -> void:
	var body := add_body(Vector3(0, 20, 0))
	await ticks(1)
	body.apply_impulse(Vector3(0, 0, 100), Vector3(0.5, 20.5, 0.5))
	await ticks(1)
	check_near(body.get_linear_velocity().z, 0.1, 2e-3, "velocity along the hit")
	await ticks(30)
	var turned := false
	for position in body.get_node_positions():
		turned = turned or absf(position.x - body.get_center_of_mass().x) > 0.505
	check(turned, "a hit at a corner does not turn the body")
	check(positions_are_finite(body), "the hit made positions that are not numbers")


func test_sleep_and_wake() -> void:
	var body := add_body(Vector3(0, 0.6, 0))
	var counts := {"slept": 0, "woke": 0}
	body.slept.connect(func() -> void: counts.slept += 1)
	body.woke.connect(func() -> void: counts.woke += 1)
	if not check(await wait_for_sleep(body, 900), "the body does not fall asleep"):
		return
	await ticks(1)
	check_equal(counts.slept, 1, "number of slept signals")
	var resting := body.get_node_positions()
	await ticks(30)
	check(body.get_node_positions() == resting, "a sleeping body moves")
	body.wake()
	await ticks(2)
	check(not body.is_asleep(), "wake() does not wake")
	check_equal(counts.woke, 1, "number of woke signals")
	check(await wait_for_sleep(body, 600), "the body does not fall asleep again")
	body.apply_central_impulse(Vector3(0, 3000, 0))
	await ticks(10)
	check(body.get_center_of_mass().y > 0.6, "an impulse does not lift a sleeping body")


func test_moving_the_node_moves_the_body() -> void:
	var body := add_body(Vector3(0, 5, 0))
	await ticks(10)
	var before := body.get_center_of_mass()
	var velocity := body.get_linear_velocity()
	body.global_position += Vector3(3, 1, 0)
	body.force_update_transform()
	check_near_vector(body.get_center_of_mass(), before + Vector3(3, 1, 0), 1e-3, "centre after the move")
	check_near_vector(body.get_linear_velocity(), velocity, 1e-3, "velocity after the move")


func test_reset() -> void:
	var body := add_body(Vector3(0, 2, 0))
	await ticks(60)
	body.reset()
	check_near_vector(body.get_center_of_mass(), Vector3(0, 2, 0), 1e-3, "centre after reset()")
	check_near_vector(body.get_linear_velocity(), Vector3.ZERO, 1e-3, "velocity after reset()")


func test_gravity_override() -> void:
	var body := add_body(Vector3(0, 10, 0))
	DestructionServer.gravity = Vector3(0, 2, 0)
	DestructionServer.gravity_override = true
	await ticks(60)
	check_near(body.get_linear_velocity().y, 2.0, 0.05, "velocity after 1 s")


func test_ground_height() -> void:
	DestructionServer.ground_height = 2.0
	var body := add_body(Vector3(0, 2.7, 0))
	await ticks(150)
	check_near(lowest_node(body), 2.0, 0.01, "lowest node on the raised ground")
	DestructionServer.ground_enabled = false
	await ticks(60)
	check(body.get_center_of_mass().y < 0.0, "the body does not fall through a ground that is off")


func test_friction() -> void:
	DestructionServer.ground_friction = 0.0
	var body := add_body(Vector3(0, 0.5, 0))
	await ticks(60)
	body.apply_central_impulse(Vector3(1000, 0, 0))
	await ticks(30)
	var on_ice := body.get_linear_velocity().x
	DestructionServer.ground_friction = 1.0
	await ticks(60)
	var on_rubber := body.get_linear_velocity().x
	check(on_ice > 0.9, "without friction the body slows down to %.3f m/s" % on_ice)
	check(absf(on_rubber) < 0.2, "with friction the body slides on at %.3f m/s" % on_rubber)


func test_time_scale() -> void:
	var body := add_body(Vector3(0, 30, 0))
	Engine.time_scale = 0.5
	await ticks(60)
	check_near(body.get_linear_velocity().y, -GRAVITY * 0.5, 0.2, "velocity after 1 s at half speed")


func test_same_result_for_any_worker_count() -> void:
	var workers := DestructionServer.worker_count
	var results: Array[PackedVector3Array] = []
	for count: int in [1, 2, 4]:
		DestructionServer.worker_count = count
		check_equal(DestructionServer.worker_count, count, "worker_count")
		var bodies: Array[DestructibleBody] = []
		for i in 4:
			bodies.append(add_body(Vector3(3 * i, 1.2 + 0.1 * i, 0), Vector3(1, 0.7, 1), Vector3i(3, 2, 3)))
		await ticks(60)
		var all := PackedVector3Array()
		for body in bodies:
			all.append_array(body.get_node_positions())
			body.free()
		results.append(all)
		await ticks(2)
	DestructionServer.worker_count = workers
	check(results[0].size() == 4 * 48, "there are %d positions" % results[0].size())
	check(results[0] == results[1] and results[0] == results[2], "the result depends on the number of workers")


func test_statistics() -> void:
	var body := add_body(Vector3(0, 0.45, 0))
	await ticks(5)
	var statistics := DestructionServer.get_statistics()
	check_equal(statistics.get("bodies"), 1, "bodies")
	check_equal(statistics.get("nodes"), body.get_node_count(), "nodes")
	check_equal(statistics.get("tets"), body.get_tet_count(), "tets")
	check(statistics.get("ground_contacts", 0) > 0, "a body on the ground has no contacts")
	check(statistics.get("memory_bytes", 0) > 0, "the simulation holds no memory")
	check(statistics.get("step_ms", -1.0) >= 0.0, "there is no step time")
	check(statistics.get("draw_ms", -1.0) >= 0.0, "there is no drawing time")
	check(statistics.get("owners_ms", -1.0) >= 0.0, "there is no time of owners")
