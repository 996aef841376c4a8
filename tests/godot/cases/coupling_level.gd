extends "res://coupling_case.gd"
## Level geometry: StaticBody3D of every shape type stops and carries destructibles.


func begin(scene_tree: SceneTree) -> void:
	super(scene_tree)
	DestructionServer.ground_enabled = false


func end() -> void:
	DestructionServer.ground_enabled = true
	await super()


func add_static(shape: Shape3D, at := Transform3D.IDENTITY) -> StaticBody3D:
	var body := StaticBody3D.new()
	var collision := CollisionShape3D.new()
	collision.shape = shape
	body.add_child(collision)
	body.transform = at
	scene.add_child(body)
	return body


## Two triangles, seen from above, 8 m wide.
func plane_faces() -> PackedVector3Array:
	return PackedVector3Array([
		Vector3(-4, 0, -4), Vector3(4, 0, -4), Vector3(4, 0, 4),
		Vector3(-4, 0, -4), Vector3(4, 0, 4), Vector3(-4, 0, 4)])


func every_shape() -> Dictionary:
	var sphere := SphereShape3D.new()
	sphere.radius = 20.0
	var capsule := CapsuleShape3D.new()
	capsule.radius = 4.0
	capsule.height = 20.0
	var cylinder := CylinderShape3D.new()
	cylinder.radius = 4.0
	cylinder.height = 2.0
	var convex := ConvexPolygonShape3D.new()
	convex.points = PackedVector3Array([
		Vector3(-3, -1, -3), Vector3(3, -1, -3), Vector3(3, -1, 3), Vector3(-3, -1, 3),
		Vector3(-4, 0, -4), Vector3(4, 0, -4), Vector3(4, 0, 4), Vector3(-4, 0, 4)])
	var concave := ConcavePolygonShape3D.new()
	concave.set_faces(plane_faces())
	var heights := HeightMapShape3D.new()
	heights.map_width = 9
	heights.map_depth = 9
	var holes := HeightMapShape3D.new()
	holes.map_width = 9
	holes.map_depth = 9
	var data := holes.map_data
	data[0] = NAN
	holes.map_data = data
	return {
		box = [box_shape(Vector3(8, 2, 8)), Vector3(0, -1, 0)],
		sphere = [sphere, Vector3(0, -20, 0)],
		capsule = [capsule, Vector3(0, -10, 0)],
		cylinder = [cylinder, Vector3(0, -1, 0)],
		convex = [convex, Vector3.ZERO],
		concave = [concave, Vector3.ZERO],
		heights = [heights, Vector3.ZERO],
		heights_with_a_hole = [holes, Vector3.ZERO],
		boundary = [WorldBoundaryShape3D.new(), Vector3.ZERO],
	}


func test_every_shape_carries() -> void:
	var shapes := every_shape()
	var bodies := {}
	var x := 0.0
	for name: String in shapes:
		if name == "heights_with_a_hole" and is_godot_physics():
			continue
		if name == "boundary": # it has no end: on its own below
			continue
		add_static(shapes[name][0], Transform3D(Basis.IDENTITY, shapes[name][1] + Vector3(x, 0, 0)))
		bodies[name] = add_body(Vector3(x, 0.7, 0), Vector3.ONE * 0.8)
		x += 50.0
	await seconds(2.5)
	for name: String in bodies:
		check_near(lowest_node(bodies[name]), 0.0, 0.03, "lowest node on a %s" % name)
		check(positions_are_finite(bodies[name]), "positions on a %s are not finite" % name)


func test_world_boundary_carries() -> void:
	var tilted := Transform3D(Basis(Vector3.FORWARD, 0.1), Vector3(0, 2, 0))
	add_static(WorldBoundaryShape3D.new(), tilted)
	var body := add_body(Vector3(0, 2.8, 0), Vector3.ONE * 0.8)
	await seconds(2.5)
	var above := INF
	for position in body.get_node_positions():
		above = minf(above, (position - tilted.origin).dot(tilted.basis.y))
	check_near(above, 0.0, 0.01, "lowest node above the boundary")


func test_scaled_offset_and_turned() -> void:
	var body := StaticBody3D.new()
	body.transform = Transform3D(Basis(Vector3.UP, 0.7).scaled(Vector3.ONE * 2.0), Vector3(3, 1, 2))
	var collision := CollisionShape3D.new()
	collision.shape = box_shape(Vector3(4, 0.5, 4))
	collision.position = Vector3(0, -0.25, 0)
	body.add_child(collision)
	scene.add_child(body)
	var fem := add_body(Vector3(3 + 2.5, 1.7, 2), Vector3.ONE * 0.8)
	await seconds(2.5)
	check_near(lowest_node(fem), 1.0, 0.02, "lowest node on a scaled box")


func test_several_shapes_and_disabled_ones() -> void:
	var body := StaticBody3D.new()
	for i in 3:
		var collision := CollisionShape3D.new()
		collision.shape = box_shape(Vector3(2, 1, 2))
		collision.position = Vector3(4.0 * i, -0.5, 0)
		collision.disabled = i == 1
		body.add_child(collision)
	scene.add_child(body)
	var bodies: Array[DestructibleBody] = []
	for i in 3:
		bodies.append(add_body(Vector3(4.0 * i, 0.7, 0), Vector3.ONE * 0.8))
	await seconds(2)
	check_near(lowest_node(bodies[0]), 0.0, 0.02, "lowest node on the first shape")
	check(lowest_node(bodies[1]) < -3.0, "the disabled shape bears at %.2f" % lowest_node(bodies[1]))
	check_near(lowest_node(bodies[2]), 0.0, 0.02, "lowest node on the third shape")
	(body.get_child(0) as CollisionShape3D).disabled = true
	await seconds(1)
	check(lowest_node(bodies[0]) < -1.0, "a shape that was disabled later still bears")


func test_shape_that_changes() -> void:
	var shape := box_shape(Vector3(4, 2, 4))
	add_static(shape, Transform3D(Basis.IDENTITY, Vector3(0, -1, 0)))
	var body := add_body(Vector3(0, 0.6, 0), Vector3.ONE * 0.8)
	await seconds(1.5)
	check_near(lowest_node(body), 0.0, 0.02, "lowest node before")
	shape.size = Vector3(4, 1, 4)
	await seconds(2)
	check_near(lowest_node(body), -0.5, 0.02, "lowest node on the lower box")


## How high a stiff cube comes up after a fall of 1 m.
func rebound_height(bounce: float, restitution: float, absorbent := false) -> float:
	var floor_body := add_static(box_shape(Vector3(4, 1, 4)), Transform3D(Basis.IDENTITY, Vector3(0, -0.5, 0)))
	floor_body.physics_material_override = PhysicsMaterial.new()
	floor_body.physics_material_override.bounce = bounce
	floor_body.physics_material_override.absorbent = absorbent
	var body := add_body(Vector3(0, 1.2, 0), Vector3.ONE * 0.4)
	body.material = stiff_material(1e9)
	body.material.restitution = restitution
	await seconds(0.48)
	var highest := 0.0
	for i in seconds_to_ticks(0.5):
		await ticks(1)
		highest = maxf(highest, lowest_node(body))
	floor_body.queue_free()
	body.queue_free()
	await ticks(2)
	return highest


## Fails when the bounce of a PhysicsMaterial or the restitution of a MaterialResource does not reach the engine.
func test_rebound() -> void:
	check_near(await rebound_height(0.5, 0.0), 0.25, 0.03, "height after a fall on a floor with bounce")
	check_near(await rebound_height(0.0, 0.5), 0.25, 0.03, "height of a body with restitution")
	check(await rebound_height(0.0, 0.0) < 0.05, "a body rebounds without either")
	check(await rebound_height(0.5, 0.0, true) < 0.05, "a body rebounds from a floor that absorbs")


func test_static_that_goes_moves_or_comes() -> void:
	var floor_body := add_static(box_shape(Vector3(4, 1, 4)), Transform3D(Basis.IDENTITY, Vector3(0, -0.5, 0)))
	var body := add_body(Vector3(0, 0.5, 0), Vector3.ONE * 0.8)
	await wait_for_sleep(body, seconds_to_ticks(5))
	check(body.is_asleep(), "the body does not sleep on its floor")
	floor_body.position.y = -1.5
	await seconds(2)
	check_near(lowest_node(body), -1.0, 0.02, "lowest node after the floor was set lower")
	await wait_for_sleep(body, seconds_to_ticks(5))
	floor_body.queue_free()
	await seconds(1)
	check(lowest_node(body) < -2.0, "the body rests on a floor that is gone")
	add_static(box_shape(Vector3(40, 4, 40)), Transform3D(Basis.IDENTITY, Vector3(0, -60, 0)))
	await seconds(7)
	check_near(lowest_node(body), -58.0, 0.1, "lowest node on a floor that came later")


func test_large_mesh() -> void:
	var faces := PackedVector3Array()
	for k in range(-60, 60):
		for i in range(-60, 60):
			for corner: Vector2i in [Vector2i(0, 0), Vector2i(1, 0), Vector2i(1, 1), Vector2i(0, 0), Vector2i(1, 1), Vector2i(0, 1)]:
				faces.append(Vector3(i + corner.x, 0.2 * sin(i + corner.x), k + corner.y))
	var concave := ConcavePolygonShape3D.new()
	concave.set_faces(faces)
	add_static(concave)
	var bodies: Array[DestructibleBody] = []
	for i in 8:
		bodies.append(add_body(Vector3(10.0 * i - 35.0, 1.0, 3.0), Vector3.ONE * 0.8))
	await seconds(3)
	for body in bodies:
		var low := lowest_node(body)
		check(low > -0.3 and low < 0.3, "lowest node on a mesh of 28,800 triangles is %.2f" % low)


func test_layers() -> void:
	var body := add_static(box_shape(Vector3(4, 1, 4)), Transform3D(Basis.IDENTITY, Vector3(0, -0.5, 0)))
	body.collision_layer = 0
	body.collision_mask = 0
	var fem := add_body(Vector3(0, 0.5, 0), Vector3.ONE * 0.8)
	await seconds(1)
	check(lowest_node(fem) < -2.0, "a body in no layer bears")


func test_sleepers_are_not_woken_by_the_level() -> void:
	add_static(box_shape(Vector3(8, 1, 8)), Transform3D(Basis.IDENTITY, Vector3(0, -0.5, 0)))
	var body := add_body(Vector3(0, 0.41, 0), Vector3.ONE * 0.8)
	await wait_for_sleep(body, seconds_to_ticks(5))
	var woken := [0]
	body.woke.connect(func() -> void: woken[0] += 1)
	var other := add_body(Vector3(2, 3.0, 0), Vector3.ONE * 0.4)
	await seconds(2)
	check_equal(woken[0], 0, "times the sleeper woke")
	check(is_instance_valid(other), "the other body is gone")
