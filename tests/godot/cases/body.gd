extends "res://test_case.gd"
## Every setting, action and signal of a DestructibleBody that is not about fracture, meshes or its life in a scene.

const FALL_30 := 9.8 * TICK * TICK * 30.0 * 31.0 / 2.0


func test_freeze() -> void:
	var body := add_body(Vector3(0, 5, 0))
	body.freeze = true
	await ticks(20)
	check_near_vector(body.get_center_of_mass(), Vector3(0, 5, 0), 1e-4, "centre of the frozen body")
	var other := add_body(Vector3(0, 6.1, 0))
	await ticks(60)
	check_near_vector(body.get_center_of_mass(), Vector3(0, 5, 0), 1e-3, "centre of the frozen body under another")
	check(other.get_center_of_mass().y > 5.7, "the other fell through to %s" % other.get_center_of_mass())
	other.free()
	body.freeze = false
	await ticks(20)
	check(body.get_center_of_mass().y < 4.9, "the body does not fall when it is let go")


func test_frozen_from_the_start_keeps_its_start_velocity() -> void:
	var body := DestructibleBody.new()
	body.freeze = true
	body.gravity_scale = 0.0
	body.start_velocity = Vector3(3, 0, 0)
	body.position.y = 5.0
	scene.add_child(body)
	await ticks(10)
	check_near(body.get_center_of_mass().x, 0.0, 1e-4, "place while frozen")
	body.freeze = false
	await ticks(10)
	check_near(body.get_linear_velocity().x, 3.0, 0.05, "velocity when let go")


func test_dynamics() -> void:
	var stone: MaterialResource = load("res://addons/fem_destruction/materials/stone.tres")
	var bodies: Array[DestructibleBody] = []
	for setting: int in [DestructibleBody.DYNAMICS_AUTO, DestructibleBody.DYNAMICS_FINITE_ELEMENTS, DestructibleBody.DYNAMICS_RIGID]:
		var body := add_body(Vector3(3.0 * setting, 20, 0))
		body.material = stone
		body.dynamics = setting
		bodies.append(body)
	await ticks(5)
	check_equal(DestructionServer.get_statistics()["rigid_pieces"], 2, "rigid pieces in flight")
	bodies[0].dynamics = DestructibleBody.DYNAMICS_FINITE_ELEMENTS
	await ticks(5)
	check_equal(DestructionServer.get_statistics()["rigid_pieces"], 1, "rigid pieces after a change")
	for body in bodies:
		check_near(body.get_center_of_mass().y, bodies[2].get_center_of_mass().y, 0.01, "height")


# Far from the camera, or while the budget is not kept, a body moves as joined pieces; it goes on without a jump.
func test_far_bodies_are_rigid_pieces() -> void:
	var body := DestructibleBody.new()
	body.size = Vector3(2, 0.2, 0.2)
	body.cells = Vector3i(10, 1, 1)
	body.material = load("res://addons/fem_destruction/materials/concrete.tres")
	body.gravity_scale = 0.0
	body.position.y = 20.0
	body.start_velocity = Vector3(1.0, 0, 0)
	body.start_angular_velocity = Vector3(0, 0, 1.0)
	body.rigid_piece_count = 5
	body.rigid_pieces_distance = 10.0
	var camera := Camera3D.new()
	scene.add_child(camera)
	camera.position = Vector3(0, 20, 5)
	camera.current = true
	scene.add_child(body)
	await ticks(3)
	check_equal(body.get_piece_count(), 1, "pieces near the camera")
	for at: float in [20.0, 9.0, 7.0]:
		camera.position.z = at
		for i in 4:
			var center := body.get_center_of_mass()
			await ticks(1)
			check_near(body.get_center_of_mass().distance_to(center), 1.0 / 60.0, 1e-4, "way of a tick, camera at %.0f" % at)
		check((body.get_piece_count() >= 3) == (at > 8.0), "%d pieces, camera at %.0f" % [body.get_piece_count(), at])
		check_near(body.get_linear_velocity().distance_to(Vector3(1, 0, 0)), 0.0, 1e-3, "velocity, camera at %.0f" % at)
		var piece := body.get_piece_data(body.get_pieces()[0])
		check_near(piece.angular_velocity.distance_to(Vector3(0, 0, 1)), 0.0, 0.01, "spin, camera at %.0f" % at)
	check_equal(body.dynamics, DestructibleBody.DYNAMICS_AUTO, "setting")
	var budget: float = DestructionServer.budget_ms
	DestructionServer.budget_ms = 1e-4
	await ticks(120)
	check(body.get_piece_count() >= 3, "pieces while the budget is not kept: %d" % body.get_piece_count())
	DestructionServer.budget_ms = 0.0
	camera.position.x = body.get_center_of_mass().x
	await ticks(4)
	check_equal(body.get_piece_count(), 1, "pieces without a budget")
	body.rigid_pieces_distance = 0.0
	camera.position.z = 100.0
	await ticks(4)
	check_equal(body.get_piece_count(), 1, "pieces of a body without a distance")
	expect_errors("a distance that is not a number")
	body.rigid_pieces_distance = NAN
	errors_end()
	check_equal(body.rigid_pieces_distance, 0.0, "a distance of NaN")
	DestructionServer.budget_ms = budget
	camera.queue_free()


# A bar of joined rigid pieces: one in flight, several when it was struck, and one of finite elements in between.
func test_rigid_pieces() -> void:
	var body := DestructibleBody.new()
	body.size = Vector3(2, 0.2, 0.2)
	body.cells = Vector3i(10, 1, 1)
	body.material = load("res://addons/fem_destruction/materials/concrete.tres")
	body.gravity_scale = 0.0
	body.position.y = 20.0
	body.dynamics = DestructibleBody.DYNAMICS_RIGID_PIECES
	body.rigid_piece_count = 5
	scene.add_child(body)
	await ticks(3)
	check(body.get_piece_count() >= 3 and body.get_piece_count() <= 5, "pieces: %d" % body.get_piece_count())
	check_equal(DestructionServer.get_statistics()["rigid_pieces"], body.get_piece_count(), "rigid pieces")
	var center := body.get_center_of_mass()
	body.dynamics = DestructibleBody.DYNAMICS_FINITE_ELEMENTS
	await ticks(2)
	check_equal(body.get_piece_count(), 1, "pieces as finite elements")
	check_near(body.get_center_of_mass().distance_to(center), 0.0, 1e-3, "way that the change took")
	body.dynamics = DestructibleBody.DYNAMICS_RIGID_PIECES
	await ticks(2)
	check(body.get_piece_count() >= 3, "pieces again")
	var detached: Array[int] = []
	var energies: Array[float] = []
	body.piece_detached.connect(func(piece: int) -> void: detached.append(piece))
	body.fractured.connect(func(_point: Vector3, _normal: Vector3, energy: float, _area: float) -> void: energies.append(energy))
	body.strength_scale = 0.01
	body.apply_impulse(Vector3(0, 400, 0), Vector3(0, 20, 0))
	await ticks(10)
	check(detached.size() > 0, "told that pieces came off")
	check(energies.size() > 0 and energies.max() > 0.0, "told of faces with their energy")
	var state := body.get_state()
	check_equal(body.set_state(state), OK, "loads its own state")
	await ticks(5)
	body.energy_release = -1.0
	check_near(body.energy_release, 0.0, 0.0, "negative energy_release")
	body.rigid_piece_count = -5
	check_equal(body.rigid_piece_count, 0, "negative rigid_piece_count")
	body.breaks_per_second = 3.0
	body.refine_on_break = true
	body.apply_impulse(Vector3(0, 400, 0), Vector3(0.5, 20, 0))
	await ticks(5)
	check(is_finite(body.get_center_of_mass().y), "place after all")


# A bar that wobbles: its modes come within a moment, it falls as anything, and a point of it can be dragged.
func test_modal() -> void:
	var jelly := MaterialResource.new()
	jelly.stiffness = 2e5
	jelly.breakable = false
	var body := add_body(Vector3(0, 20, 0))
	body.material = jelly
	body.gravity_scale = 0.0
	body.dynamics = DestructibleBody.DYNAMICS_MODAL
	check_equal(body.grab(Vector3(0, 20, 0)) if body.is_modal() else 0, 0, "a grab before there are modes")
	for i in 300:
		await ticks(1)
		if body.is_modal():
			break
	check(body.is_modal(), "is modal")
	check_equal(DestructionServer.get_statistics()["modal_pieces"], 1, "modal pieces")
	var from := body.get_center_of_mass() + Vector3(0.5, 0.5, 0.5)
	var grab := body.grab(from)
	check(grab > 0, "a grab")
	var at: Vector3 = body.get_grab_data(grab)["position"]
	check((at - from).length() < 0.05, "the corner")
	for i in 30:
		body.move_grab(grab, at + Vector3(0.02 * (i + 1), 0, 0))
		await ticks(1)
	check((body.get_grab_data(grab)["position"] - at - Vector3(0.6, 0, 0)).length() < 1e-4, "where it was dragged to")
	check(body.get_center_of_mass().x > 0.1, "the body comes along")
	body.release_grab(grab)
	check(body.get_grab_data(grab).is_empty(), "after release")
	jelly.stiffness = 3e5 # modes of another material
	for i in 300:
		await ticks(1)
		if body.is_modal() and i > 2:
			break
	check(body.is_modal(), "is modal again")
	body.dynamics = DestructibleBody.DYNAMICS_FINITE_ELEMENTS
	await ticks(2)
	check(not body.is_modal(), "is not modal as finite elements")


# Two bars with modes of their bake, which are there at once, hang on each other at a point.
func test_joints_and_baked_modes() -> void:
	var jelly := MaterialResource.new()
	jelly.stiffness = 5e5
	jelly.breakable = false
	var mesh := DestructibleMesh.new()
	var box := BoxMesh.new()
	box.size = Vector3(0.6, 0.1, 0.1)
	mesh.source_mesh = box
	mesh.element_count = 200
	mesh.mode_count = 8
	check_equal(mesh.bake(), OK, "bake with modes")
	check(not mesh.is_stale(), "is not stale")
	mesh.mode_count = 2000
	check_equal(mesh.mode_count, 1000, "a bounded number")
	check(mesh.is_stale(), "is stale with another number of modes")
	var bars: Array[DestructibleBody] = []
	for i in 2:
		var body := add_body(Vector3(0.6 * i, 20, 0))
		body.mesh = mesh
		body.material = jelly
		body.mode_count = 8
		body.dynamics = DestructibleBody.DYNAMICS_MODAL
		bars.append(body)
	await ticks(2)
	check(bars[0].is_modal() and bars[1].is_modal(), "modal in the second tick, by the modes of the bake")
	var hook := bars[0].grab(bars[0].get_center_of_mass() - Vector3(0.3, 0, 0))
	var joint := bars[0].join(bars[1], (bars[0].get_center_of_mass() + bars[1].get_center_of_mass()) / 2.0)
	check(hook > 0 and joint > 0, "a hook and a joint")
	var worst := 0.0
	var lowest := 20.0
	for i in 60:
		await ticks(1)
		var a: Vector3 = bars[0].get_joint_data(joint)["position"]
		var b: Vector3 = bars[1].get_joint_data(joint)["position"]
		worst = maxf(worst, (a - b).length())
		lowest = minf(lowest, bars[1].get_center_of_mass().y)
	check(worst < 1e-4, "joined points %.8f m apart" % worst)
	var force: Vector3 = bars[0].get_joint_data(joint)["force"]
	check((force + bars[1].get_joint_data(joint)["force"]).length() < 1e-3, "force and counterforce")
	check(lowest < 19.6 and lowest > 18.8, "it swings down to %.3f m, and no farther" % lowest)
	bars[1].release_joint(joint)
	check(bars[0].get_joint_data(joint).is_empty(), "released")
	await ticks(60)
	check(bars[1].get_center_of_mass().y < 18.0, "it falls")
	bars[0].mode_count = 3
	for i in 300:
		await ticks(1)
		if bars[0].is_modal() and i > 2:
			break
	check(bars[0].is_modal(), "modal by three modes")
	joint = bars[0].join(bars[1], bars[0].get_center_of_mass())
	bars[1].free()
	await ticks(2)
	check(bars[0].get_joint_data(joint).is_empty(), "ended with its body")


func test_gravity_scale() -> void:
	var bodies: Array[DestructibleBody] = []
	for scale: float in [0.0, 1.0, -0.5, 2.0]:
		var body := DestructibleBody.new()
		body.cells = Vector3i(2, 2, 2)
		body.gravity_scale = scale
		body.position = Vector3(3.0 * bodies.size(), 20, 0)
		scene.add_child(body)
		bodies.append(body)
	await ticks(31)
	for body in bodies:
		check_near(body.get_center_of_mass().y, 20.0 - body.gravity_scale * FALL_30, 0.35 * absf(body.gravity_scale), "height with a scale of %s" % body.gravity_scale)
	check_near(bodies[0].get_center_of_mass().y, 20.0, 1e-4, "height without gravity")
	bodies[0].gravity_scale = 1.0
	await ticks(20)
	check(bodies[0].get_center_of_mass().y < 19.9, "gravity does not come back")
	expect_errors("a gravity scale that is not a number")
	bodies[0].gravity_scale = NAN
	errors_end()
	check_equal(bodies[0].gravity_scale, 1.0, "gravity_scale")
	bodies[0].gravity_scale = 1e9
	check(bodies[0].gravity_scale <= 100.0, "a gravity scale of 1e9 is accepted")


func test_start_asleep() -> void:
	var body := DestructibleBody.new()
	body.start_asleep = true
	body.position.y = 5.0
	scene.add_child(body)
	check(body.is_asleep(), "the body is awake")
	await ticks(30)
	check_near(body.get_center_of_mass().y, 5.0, 1e-4, "height of the sleeper")
	body.wake()
	await ticks(30)
	check(body.get_center_of_mass().y < 4.5, "the woken body does not fall")


func test_collision_layers() -> void:
	# Lower and upper: layer, mask; whether they touch. One must look for the other, as in Godot.
	var cases := [[1, 1, 1, 1, true], [2, 0, 4, 2, true], [2, 4, 4, 0, true], [2, 1, 4, 1, false], [1, 0, 1, 0, false]]
	var uppers: Array[DestructibleBody] = []
	for i in cases.size():
		var lower := add_body(Vector3(3 * i, 0.5, 0))
		lower.freeze = true
		var upper := add_body(Vector3(3 * i, 1.8, 0))
		lower.collision_layer = cases[i][0]
		lower.collision_mask = cases[i][1]
		upper.collision_layer = cases[i][2]
		upper.collision_mask = cases[i][3]
		uppers.append(upper)
	await ticks(60)
	for i in cases.size():
		var touches := uppers[i].get_center_of_mass().y > 1.2
		check_equal(touches, cases[i][4], "whether pair %d touches" % i)
	uppers[0].collision_mask = 0
	uppers[0].collision_layer = 0
	await ticks(40)
	check(uppers[0].get_center_of_mass().y < 1.2, "layers do not change during play")


func test_forces() -> void:
	var body := add_body(Vector3(0, 5, 0))
	body.gravity_scale = 0.0
	await ticks(1)
	for i in 30:
		body.apply_central_force(Vector3(1000, 0, 0)) # 1 m/s² for 1000 kg
		await tree.physics_frame
	check_near(body.get_linear_velocity().x, 0.5, 0.02, "velocity after half a second of 1 m/s²")
	var other := add_body(Vector3(5, 5, 0))
	other.gravity_scale = 0.0
	for i in 30:
		other.apply_force(Vector3(0, 0, 1000), other.get_center_of_mass() + Vector3(0.5, 0, 0))
		await tree.physics_frame
	check_near(other.get_linear_velocity().z, 0.5, 0.02, "velocity after half a second of force at a side")
	expect_errors("forces that are not numbers")
	other.apply_force(Vector3(NAN, 0, 0), Vector3.ZERO)
	other.apply_central_force(Vector3(0, INF, 0))
	errors_end()


func test_explosion_of_one() -> void:
	var body := add_body(Vector3(0, 5, 0))
	var other := add_body(Vector3(-3, 5, 0))
	await ticks(1)
	body.apply_explosion(Vector3(-1.5, 5, 0), 5.0, 5000.0)
	check(body.get_linear_velocity().x > 1.0, "the explosion gives a velocity of %s" % body.get_linear_velocity())
	check_near(other.get_linear_velocity().x, 0.0, 1e-4, "velocity of the other body")
	expect_errors("explosions that make no sense")
	body.apply_explosion(Vector3(NAN, 0, 0), 5.0, 5000.0)
	body.apply_explosion(Vector3.ZERO, -5.0, 5000.0)
	body.apply_explosion(Vector3.ZERO, 5.0, INF)
	errors_end()


func test_explosion_of_a_world() -> void:
	var left := add_body(Vector3(-3, 5, 0))
	var right := add_body(Vector3(3, 5, 0))
	var far := add_body(Vector3(30, 5, 0))
	var viewport := SubViewport.new()
	viewport.own_world_3d = true
	scene.add_child(viewport)
	var inner := DestructibleBody.new()
	inner.position = Vector3(3, 5, 0)
	viewport.add_child(inner)
	await ticks(1)
	check_equal(DestructionServer.apply_explosion(Vector3(0, 5, 0), 8.0, 5000.0), 2, "bodies reached")
	check(left.get_linear_velocity().x < -0.5 and right.get_linear_velocity().x > 0.5, "they are not blown apart")
	check_near(far.get_linear_velocity().x, 0.0, 1e-4, "velocity far away")
	check_near(inner.get_linear_velocity().x, 0.0, 1e-4, "velocity in another world")
	check_equal(DestructionServer.apply_explosion(Vector3(0, 5, 0), 8.0, 5000.0, viewport.find_world_3d()), 1, "bodies reached in the other world")
	check(inner.get_linear_velocity().x > 0.5, "the other world's body does not move")
	expect_errors("explosions that make no sense")
	check_equal(DestructionServer.apply_explosion(Vector3(NAN, 5, 0), 8.0, 1.0), 0, "bodies reached by nothing")
	errors_end()


func test_impacts_are_told() -> void:
	var body := add_body(Vector3(0, 3, 0))
	var seen: Array[Dictionary] = []
	body.impacted.connect(func(point: Vector3, normal: Vector3, impulse: float, speed: float, other: Object) -> void:
		seen.append({point = point, normal = normal, impulse = impulse, speed = speed, other = other}))
	await ticks(180)
	if not check(seen.size() > 0, "no impact on the ground"):
		return
	check_near(seen[0].speed, sqrt(2.0 * 9.8 * 2.5), 0.4, "speed of the impact")
	check_near(seen[0].point.y, 0.0, 0.1, "height of the impact")
	check_near_vector(seen[0].normal, Vector3.UP, 1e-3, "normal of the ground")
	check(seen[0].impulse > 500.0 and seen[0].impulse < 15000.0, "the impulse is %s N s" % seen[0].impulse)
	check(seen[0].other == null, "the ground is %s" % seen[0].other)
	var count := seen.size()
	await ticks(120)
	check_equal(seen.size(), count, "impacts after it has come to rest")


func test_impacts_between_bodies() -> void:
	var lower := add_body(Vector3(0, 0.5, 0))
	var upper := add_body(Vector3(0, 3, 0))
	lower.impact_speed_min = 100.0
	var seen := {}
	upper.impacted.connect(func(_point: Vector3, normal: Vector3, _impulse: float, _speed: float, other: Object) -> void:
		if seen.is_empty():
			seen.normal = normal
			seen.other = other)
	lower.impacted.connect(func(_p: Vector3, _n: Vector3, _i: float, _s: float, _o: Object) -> void: seen.lower = true)
	await ticks(90)
	check(seen.get("other") == lower, "what was hit is %s" % seen.get("other"))
	check(seen.get("normal", Vector3.ZERO).y > 0.7, "the normal is %s" % seen.get("normal"))
	check(not seen.has("lower"), "an impact below impact_speed_min is told")
	lower.impact_speed_min = 1.0
	upper.reset()
	await ticks(90)
	check(seen.has("lower"), "the lower body is not told of the impact")


func test_queue_free_in_every_signal() -> void:
	for signal_name: String in ["impacted", "slept", "woke"]:
		var body := add_body(Vector3(0, 1, 0))
		body.connect(signal_name, func(_a = null, _b = null, _c = null, _d = null, _e = null) -> void:
			if is_instance_valid(body):
				body.queue_free())
		for i in 400:
			if not is_instance_valid(body):
				break
			if body.is_asleep():
				body.wake()
			await tree.physics_frame
		check(not is_instance_valid(body), "%s did not come" % signal_name)
	await ticks(2)
	check_equal(DestructionServer.get_statistics().bodies, 0, "bodies left")


func test_state_of_motion() -> void:
	var body := add_body(Vector3(0, 8, 0))
	body.apply_central_impulse(Vector3(2000, 0, 0))
	await ticks(10)
	var state := body.get_state()
	var positions := body.get_node_positions()
	var velocity := body.get_linear_velocity()
	check(state.has("transform") and state.has("data"), "the state has %s" % [state.keys()])
	await ticks(30)
	body.position = Vector3(50, 8, 0)
	await ticks(5)
	check_equal(body.set_state(state), OK, "result of set_state()")
	check_near_vectors(body.get_node_positions(), positions, 2e-5, "positions in the old state")
	check_near_vector(body.get_linear_velocity(), velocity, 1e-4, "velocity in the old state")
	check_near_vector(body.position, Vector3(0, 8, 0), 1e-4, "place of the node")
	await ticks(1)
	check_near(body.get_linear_velocity().y, velocity.y - 9.8 * TICK, 0.01, "velocity a tick later")
	check_near_vector(body.get_center_of_mass(), state.transform.origin + body.get_center_of_mass() - body.position, 1e-3, "offset")
	# Moving the node moves the body from there.
	var center := body.get_center_of_mass()
	body.position.z += 2.0
	body.force_update_transform()
	check_near_vector(body.get_center_of_mass(), center + Vector3(0, 0, 2), 1e-3, "centre after moving the node")


func test_state_survives_a_file_and_a_frozen_body() -> void:
	var body := add_body(Vector3(0, 8, 0))
	await ticks(10)
	var velocity := body.get_linear_velocity()
	body.freeze = true
	await ticks(5)
	var bytes := var_to_bytes(body.get_state())
	body.freeze = false
	await ticks(20)
	var copy := add_body(Vector3(3, 8, 0))
	check_equal(copy.set_state(bytes_to_var(bytes)), OK, "result of set_state()")
	check_near_vector(copy.get_linear_velocity(), velocity, 1e-3, "velocity of the copy")
	await ticks(5)
	check(copy.get_linear_velocity().y < velocity.y - 0.5, "the copy does not fall")


func test_bad_states_change_nothing() -> void:
	var body := add_body(Vector3(0, 8, 0))
	await ticks(5)
	var state := body.get_state()
	var other := add_body(Vector3(5, 8, 0), Vector3.ONE, Vector3i(3, 3, 3))
	var positions := other.get_node_positions()
	expect_errors("states that make no sense")
	check(other.set_state(state) != OK, "the state of another shape is accepted")
	check(other.set_state({}) != OK, "an empty state is accepted")
	check(other.set_state({transform = 5, data = "x"}) != OK, "a state of wrong types is accepted")
	var damaged: PackedByteArray = state.data.duplicate()
	damaged[damaged.size() / 2] ^= 1
	check(body.set_state({transform = state.transform, data = damaged}) != OK, "a damaged state is accepted")
	check(body.set_state({transform = Transform3D(Basis(), Vector3(NAN, 0, 0)), data = state.data}) != OK, "a transform that is not a number is accepted")
	errors_end()
	check_equal(other.get_node_positions(), positions, "positions")
	var outside := DestructibleBody.new()
	check(outside.get_state().is_empty(), "a body outside the tree has a state")
	expect_errors("a state outside the tree")
	check(outside.set_state(state) != OK, "a body outside the tree takes a state")
	errors_end()
	outside.free()


func test_settings_survive_reset_and_saving() -> void:
	var body := add_body(Vector3(0, 5, 0))
	body.gravity_scale = 0.0
	body.collision_layer = 6
	body.debris_fade = 2.0
	body.invulnerable = true
	body.reset()
	await ticks(20)
	check_near(body.get_center_of_mass().y, 5.0, 1e-3, "height after the reset")
	var packed := PackedScene.new()
	packed.pack(body)
	var copy: DestructibleBody = packed.instantiate()
	check_equal(copy.gravity_scale, 0.0, "gravity_scale")
	check_equal(copy.collision_layer, 6, "collision_layer")
	check_equal(copy.debris_fade, 2.0, "debris_fade")
	check(copy.invulnerable, "invulnerable is lost")
	copy.free()
	var twin: DestructibleBody = body.duplicate()
	check_equal(twin.gravity_scale, 0.0, "gravity_scale of the duplicate")
	twin.free()


func test_new_calls_outside_the_tree() -> void:
	var body := DestructibleBody.new()
	body.apply_force(Vector3.UP, Vector3.ZERO)
	body.apply_central_force(Vector3.UP)
	body.apply_explosion(Vector3.ZERO, 1.0, 1.0)
	body.apply_damage(Vector3.ZERO, 1.0, 1.0)
	body.trigger()
	body.freeze = true
	check(body.freeze, "freeze is not kept outside the tree")
	check(not body.is_simulated(), "a body outside the tree is simulated")
	# What was asked of it there is not made up for later.
	body.freeze = false
	body.gravity_scale = 0.0
	body.position.y = 5.0
	scene.add_child(body)
	await ticks(2)
	check(body.is_simulated(), "the body does not enter the tree")
	check_near_vector(body.get_linear_velocity(), Vector3.ZERO, 1e-4, "velocity after forces outside the tree")


# -- Plain meshes -----------------------------------------------------------------------------------------------------


func _plain(mesh: Mesh, position := Vector3(0, 5, 0), background := false) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.element_count = 200
	body.bake_in_background = background
	body.position = position
	scene.add_child(body)
	return body


func test_a_plain_mesh_is_baked() -> void:
	var sphere := SphereMesh.new()
	var body := _plain(sphere)
	check(body.is_simulated(), "a body with a plain mesh is not simulated")
	check(body.get_tet_count() > 100 and body.get_tet_count() < 400, "%d tets" % body.get_tet_count())
	check(body.mesh == sphere, "the mesh was replaced")
	check_near(body.get_mass(), 1000.0 * 4.0 / 3.0 * PI * 0.125, 40.0, "mass of a ball")
	await ticks(10)
	check(body.get_center_of_mass().y < 5.0, "it does not fall")
	body.element_count = 600
	check(body.get_tet_count() > 400, "element_count has no effect: %d tets" % body.get_tet_count())
	sphere.radius = 0.25
	sphere.height = 0.5
	await ticks(1)
	check_near(body.get_mass(), 1000.0 * 4.0 / 3.0 * PI * 0.25 ** 3, 10.0, "mass after the mesh changed")
	body.mesh = null
	check_equal(body.get_tet_count(), 320, "tets of the box without a mesh")


func test_equal_meshes_bake_once() -> void:
	var torus := TorusMesh.new()
	torus.inner_radius = 0.31
	var began := Time.get_ticks_usec()
	_plain(torus, Vector3(0, 5, 0))
	var first := Time.get_ticks_usec() - began
	began = Time.get_ticks_usec()
	var same: TorusMesh = torus.duplicate()
	for i in 5:
		check(_plain(same, Vector3(3, 5, 3 * i)).is_simulated(), "a copy is not simulated")
	var others := (Time.get_ticks_usec() - began) / 5.0
	print("-- first bake %d us, others %d us each" % [first, others])
	check(others < 0.5 * first, "equal meshes are baked again: %d us after %d us" % [others, first])
	await ticks(2)


func test_bake_in_the_background() -> void:
	var capsule := CapsuleMesh.new()
	capsule.radius = 0.37
	var body := _plain(capsule, Vector3(0, 5, 0), true)
	var began := Time.get_ticks_msec()
	check(not body.is_simulated(), "the bake did not run in the background")
	while not body.is_simulated() and Time.get_ticks_msec() < began + 10000:
		OS.delay_msec(10) # frames are short here
		await tree.process_frame
	check(body.is_simulated(), "the bake does not end")
	await ticks(10)
	check(body.get_center_of_mass().y < 5.0, "it does not fall")
	# Freed while its bake runs.
	capsule = CapsuleMesh.new()
	capsule.radius = 0.39
	body = _plain(capsule, Vector3(0, 5, 0), true)
	body.free()
	await ticks(5)


func test_materials_of_surfaces() -> void:
	var mesh := ArrayMesh.new()
	var box := BoxMesh.new()
	mesh.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, box.get_mesh_arrays())
	var moved := box.get_mesh_arrays()
	for i in moved[Mesh.ARRAY_VERTEX].size():
		moved[Mesh.ARRAY_VERTEX][i] += Vector3(0, 3, 0)
	mesh.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, moved)
	var light := MaterialResource.new()
	light.density = 100.0
	var heavy := MaterialResource.new()
	heavy.density = 3000.0
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.element_count = 200
	body.material = light
	body.position.y = 5.0
	scene.add_child(body)
	check_near(body.get_mass(), 200.0, 10.0, "mass of two cubes of one material")
	body.region_materials = [null, heavy]
	check_near(body.get_mass(), 3100.0, 100.0, "mass of two cubes of two materials")
	await ticks(3)


func test_meshes_that_cannot_be_baked() -> void:
	expect_errors("a mesh of nothing")
	var body := _plain(ArrayMesh.new())
	errors_end()
	check(not body.is_simulated(), "a mesh of nothing is simulated")
	await ticks(2)
	expect_errors("a mesh of the wrong kind")
	body.mesh = StandardMaterial3D.new()
	errors_end()
	check(body.mesh is ArrayMesh, "the wrong kind of mesh was taken")
	body.mesh = BoxMesh.new()
	check(body.is_simulated(), "a sound mesh does not help")


func test_an_unbaked_destructible_mesh_is_baked() -> void:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = PrismMesh.new()
	mesh.element_count = 150
	var body := DestructibleBody.new()
	body.mesh = mesh
	scene.add_child(body)
	check(body.is_simulated() and mesh.is_baked(), "the mesh is not baked on entering the tree")


func test_look_of_the_material() -> void:
	var body := add_body(Vector3(0, 5, 0))
	body.material = MaterialResource.new()
	body.material.surface_material = StandardMaterial3D.new()
	body.material.interior_material = StandardMaterial3D.new()
	body.material.surface_material.albedo_color = Color.RED
	await ticks(2)
	body.material.surface_material = null
	body.material = null
	expect_errors("a look that is no Material")
	var material := MaterialResource.new()
	material.set("surface_material", BoxMesh.new())
	material.set("interior_material", BoxMesh.new())
	errors_end()
	check(material.surface_material == null and material.interior_material == null, "a mesh is taken for a look")


func test_impacts_with_godots_bodies() -> void:
	var shape := CollisionShape3D.new()
	shape.shape = BoxShape3D.new()
	(shape.shape as BoxShape3D).size = Vector3(6, 1, 6)
	var level := StaticBody3D.new()
	level.position.y = 1.5
	level.add_child(shape)
	scene.add_child(level)
	var body := add_body(Vector3(0, 4, 0))
	var others: Array[Object] = []
	body.impacted.connect(func(_p: Vector3, _n: Vector3, _i: float, _s: float, other: Object) -> void: others.append(other))
	await ticks(90)
	check(others.has(level), "the impact on a StaticBody3D is not told: %s" % [others])
	var ball := RigidBody3D.new()
	var ball_shape := CollisionShape3D.new()
	ball_shape.shape = SphereShape3D.new()
	ball.add_child(ball_shape)
	ball.mass = 200.0
	ball.position = Vector3(0, 6, 0)
	ball.linear_velocity = Vector3(0, -5, 0)
	scene.add_child(ball)
	await ticks(60)
	check(others.has(ball), "the impact of a RigidBody3D is not told: %s" % [others])


## Two cubes in one mesh, one above the other: the upper one lands on the lower one, or falls through it.
func test_self_contact() -> void:
	var tool := SurfaceTool.new()
	for i in 2:
		tool.append_from(BoxMesh.new(), 0, Transform3D(Basis(), Vector3(0, 0.5 + 1.2 * i, 0)))
	var mesh := tool.commit()
	for touches: bool in [true, false]:
		var body := DestructibleBody.new()
		body.mesh = mesh
		body.element_count = 60
		body.self_contact = touches
		scene.add_child(body)
		await ticks(60)
		check_equal(body.get_aabb_world().size.y > 1.5, touches, "with self_contact %s the upper cube rests on the lower (%.2f m high)" % [touches, body.get_aabb_world().size.y])
		body.self_contact = not touches
		check_equal(body.self_contact, not touches, "self_contact")
		body.free()
