extends "res://test_case.gd"
## Nodes whose scale makes another shape of their mesh: a cube that is a board.


const BOARD := Vector3(1.0, 1.2, 0.08) # m


func _add(mesh: Resource, scale: Vector3, x: float) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.element_count = 400
	body.material = load("res://addons/fem_destruction/materials/ceramic.tres")
	body.scale = scale
	body.position = Vector3(x, 0.5 * BOARD.y, 0.0)
	scene.add_child(body)
	return body


func _throw_at(body: DestructibleBody) -> void:
	var ball := RigidBody3D.new()
	ball.add_child(CollisionShape3D.new())
	ball.get_child(0).shape = SphereShape3D.new()
	ball.get_child(0).shape.radius = 0.15
	ball.mass = 30.0
	ball.position = body.position + Vector3(0.05, 0.1, 0.5)
	ball.linear_velocity = Vector3(0, 0, -12)
	scene.add_child(ball)


func _cube() -> BoxMesh:
	return BoxMesh.new()


func _baked_cube(stretch: Vector3) -> DestructibleMesh:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = _cube()
	mesh.element_count = 400
	mesh.splinter_pattern = DestructibleMesh.SPLINTERS_VORONOI
	mesh.stretch = stretch
	check_equal(mesh.bake(), OK, "bake for a scale of %s" % stretch)
	return mesh


## Before, the two that are scaled had tetrahedra 15 times as wide as thick, and stayed whole.
func test_a_cube_scaled_to_a_board_breaks_as_a_board() -> void:
	add_floor()
	var box := _cube()
	box.size = BOARD
	var bodies: Array[DestructibleBody] = [_add(box, Vector3.ONE, -3.0), _add(_cube(), BOARD, 0.0), _add(_baked_cube(BOARD), BOARD, 3.0)]
	await ticks(3)
	for body in bodies:
		check(body.is_simulated(), "it is not simulated")
		check_near(body.get_mass(), bodies[0].get_mass(), 0.02 * bodies[0].get_mass(), "mass")
		check_near_vector(body.get_aabb_world().size, BOARD, 0.01, "size")
		_throw_at(body)
	await ticks(40)
	var counts := bodies.map(func(body: DestructibleBody) -> int: return body.get_piece_count())
	check(counts[0] > 8, "the board is in %d pieces" % counts[0])
	for count: int in counts:
		check(count > 0.5 * counts[0] and count < 2.0 * counts[0], "pieces of a board, a scaled cube and a scaled bake: %s" % [counts])


func test_bodies_of_one_shape_share_a_bake() -> void:
	var source := SphereMesh.new()
	var bodies: Array[DestructibleBody] = [_add(source, Vector3.ONE, 0.0), _add(source, 2.5 * Vector3.ONE, 10.0), _add(source, Vector3(1, 1, 0.3), 20.0)]
	await ticks(1)
	check_equal(bodies[1].get_node_count(), bodies[0].get_node_count(), "nodes of the larger one")
	check(bodies[2].get_node_count() != bodies[0].get_node_count(), "a disk is filled as a ball is")
	var heights := bodies.map(func(body: DestructibleBody) -> float: return body.get_aabb_world().size.y)
	check_near(heights[1], 2.5 * heights[0], 0.01, "height of the larger one")


func test_stretch_is_a_scale() -> void:
	var mesh := DestructibleMesh.new()
	mesh.stretch = Vector3(1, 2, 0.5)
	for bad: Vector3 in [Vector3(0, 1, 1), Vector3(1, -1, 1), Vector3(1, 1, NAN), Vector3(INF, 1, 1)]:
		expect_errors("stretch of %s" % bad, ["no scale"])
		mesh.stretch = bad
		errors_end()
		check_equal(mesh.stretch, Vector3(1, 2, 0.5), "stretch after %s" % bad)
	mesh.stretch = Vector3(1, 1e9, 1e-9)
	check_near_vector(mesh.stretch, Vector3(1, 1e4, 1e-4), 1e-3, "the largest and the least")
	var baked := _baked_cube(Vector3(1, 1, 0.1))
	check(not baked.is_stale(), "it is stale at once")
	baked.stretch = Vector3.ONE
	check(baked.is_stale(), "another stretch does not make it stale")
