extends "res://test_case.gd"
## What scripts get wrong must be refused with an error that says so, and change nothing.


func test_size_not_a_number() -> void:
	var body := add_body(Vector3(0, 2, 0))
	expect_errors("a size that is not a number")
	body.size = Vector3(NAN, 1, 1)
	body.size = Vector3(1, INF, 1)
	errors_end()
	check_equal(body.size, Vector3.ONE, "size")
	await _check_goes_on(body)


func test_velocity_not_a_number() -> void:
	var body := add_body(Vector3(0, 2, 0))
	expect_errors("a velocity that is not a number")
	body.start_velocity = Vector3(0, NAN, 0)
	errors_end()
	check_equal(body.start_velocity, Vector3.ZERO, "start_velocity")


func test_negative_size() -> void:
	expect_errors("a negative size")
	var body := add_body(Vector3(0, 2, 0), Vector3(1, -1, 1))
	errors_end()
	check(not body.is_simulated(), "a body of negative size is simulated")
	await ticks(3)
	body.size = Vector3.ONE
	check(body.is_simulated(), "the corrected body is not simulated")
	await _check_goes_on(body)


func test_no_cells() -> void:
	expect_errors("a box without cells")
	var body := add_body(Vector3(0, 2, 0), Vector3.ONE, Vector3i(0, 2, 2))
	errors_end()
	check(not body.is_simulated(), "a body without cells is simulated")
	check_equal(body.get_node_count(), 0, "nodes")
	check_equal(body.get_node_positions().size(), 0, "positions")


func test_too_many_cells() -> void:
	expect_errors("too many cells")
	var body := add_body(Vector3(0, 2, 0), Vector3.ONE, Vector3i(2147483647, 2147483647, 2147483647))
	errors_end()
	check(not body.is_simulated(), "a body of 10^28 cells is simulated")


func test_bad_scale() -> void:
	for bad_scale: Vector3 in [Vector3(-1, 1, 1), Vector3(1, 0, 1)]:
		var body := DestructibleBody.new()
		body.scale = bad_scale
		expect_errors("the scale %s" % bad_scale)
		scene.add_child(body)
		errors_end()
		check(not body.is_simulated(), "a body of scale %s is simulated" % bad_scale)
	await ticks(3)


func test_transform_not_a_number() -> void:
	var body := add_body(Vector3(0, 2, 0))
	var before := body.get_center_of_mass()
	expect_errors("a position that is not a number")
	body.position = Vector3(NAN, 0, 0)
	body.force_update_transform()
	errors_end()
	check_near_vector(body.get_center_of_mass(), before, 1e-4, "centre")
	body.position = Vector3(0, 2, 0)
	await _check_goes_on(body)


func test_impulses_not_a_number() -> void:
	var body := add_body(Vector3(0, 2, 0))
	expect_errors("an impulse that is not a number")
	body.apply_central_impulse(Vector3(NAN, 0, 0))
	errors_end()
	expect_errors("an impulse at a place that is not a number")
	body.apply_impulse(Vector3.UP, Vector3(0, INF, 0))
	errors_end()
	await _check_goes_on(body)


func test_huge_values() -> void:
	var body := add_body(Vector3(0, 2, 0))
	body.apply_central_impulse(Vector3(0, 1e30, 0))
	await ticks(5)
	check(positions_are_finite(body), "a huge impulse gives positions that are not numbers")
	var far := add_body(Vector3(1e6, 2, -1e6))
	await ticks(5)
	check(positions_are_finite(far), "a body far away has positions that are not numbers")
	var heavy := add_body(Vector3(5, 2, 0))
	heavy.material = MaterialResource.new()
	heavy.material.stiffness = 1e13
	heavy.material.density = 1e6
	await ticks(30)
	check(positions_are_finite(heavy), "an extreme material gives positions that are not numbers")


func test_material_of_wrong_type() -> void:
	var body := add_body(Vector3(0, 2, 0))
	body.material = MaterialResource.new()
	body.set("material", 5)
	body.set("material", "rubber")
	body.set("cells", "many")
	await _check_goes_on(body)


func test_server_values_not_a_number() -> void:
	expect_errors("a ground height that is not a number")
	DestructionServer.ground_height = NAN
	errors_end()
	check_equal(DestructionServer.ground_height, 0.0, "ground_height")
	expect_errors("a gravity that is not a number")
	DestructionServer.gravity = Vector3(0, NAN, 0)
	errors_end()
	check(DestructionServer.gravity.is_finite(), "gravity is not a number")
	DestructionServer.ground_friction = -1.0
	check(DestructionServer.ground_friction >= 0.0, "a negative friction is accepted")
	DestructionServer.ground_friction = 0.5
	DestructionServer.worker_count = -7
	check(DestructionServer.worker_count >= 1, "there are %d workers" % DestructionServer.worker_count)
	DestructionServer.worker_count = 0


func test_cast_shadow_that_is_not_there() -> void:
	var body := add_body(Vector3(0, 2, 0))
	for setting: int in [-1, 4]:
		expect_errors("a cast_shadow of %d" % setting, [str(body.get_path()), "ShadowCastingSetting"])
		body.cast_shadow = setting
		errors_end()
	check_equal(body.cast_shadow, GeometryInstance3D.SHADOW_CASTING_SETTING_ON, "cast_shadow")


func test_energy_release_that_is_no_number() -> void:
	var body := add_body(Vector3(0, 2, 0))
	for value: float in [NAN, INF]:
		expect_errors("an energy_release of %s" % value, [str(body.get_path()), "energy_release"])
		body.energy_release = value
		errors_end()
	check_equal(body.energy_release, 1.0, "energy_release")


func test_dynamics_that_are_not_there() -> void:
	var body := add_body(Vector3(0, 2, 0))
	for setting: int in [-1, 5]:
		expect_errors("dynamics %d" % setting, [str(body.get_path()), "DestructibleBody.Dynamics"])
		body.dynamics = setting
		errors_end()
	check_equal(body.dynamics, DestructibleBody.DYNAMICS_AUTO, "dynamics")


func test_calls_outside_the_tree() -> void:
	var body := DestructibleBody.new()
	body.apply_central_impulse(Vector3.UP)
	body.apply_impulse(Vector3.UP, Vector3.ZERO)
	body.wake()
	body.reset()
	check_equal(body.get_mass(), 0.0, "mass outside the tree")
	check_equal(body.get_center_of_mass(), Vector3.ZERO, "centre outside the tree")
	check_equal(body.get_aabb_world(), AABB(), "box outside the tree")
	check(not body.is_asleep(), "a body outside the tree sleeps")
	body.free()


func _check_goes_on(body: DestructibleBody) -> void:
	await ticks(10)
	check(body.is_simulated(), "the body is not simulated any more")
	check(positions_are_finite(body), "positions are not numbers")
	check(body.get_center_of_mass().y < 2.0, "the body does not fall any more")
