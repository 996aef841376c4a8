extends "res://coupling_case.gd"
## Bodies of every kind and shape against destructibles: who touches whom, and who pushes whom.


func begin(scene_tree: SceneTree) -> void:
	super(scene_tree)
	DestructionServer.ground_enabled = true


func add_block(position: Vector3, size := Vector3.ONE * 0.5, cells := Vector3i(2, 2, 2), density := 1000.0) -> DestructibleBody:
	var body := add_body(position, size, cells)
	body.material = stiff_material(1e8, density)
	return body


func add_slab() -> DestructibleBody:
	return add_block(Vector3(0, 0.2, 0), Vector3(6, 0.4, 3), Vector3i(12, 1, 6))


## Half heights of 0.2 m all of them.
func dynamic_shapes() -> Dictionary:
	var sphere := SphereShape3D.new()
	sphere.radius = 0.2
	var capsule := CapsuleShape3D.new()
	capsule.radius = 0.2
	capsule.height = 0.4001
	var cylinder := CylinderShape3D.new()
	cylinder.radius = 0.2
	cylinder.height = 0.4
	var convex := ConvexPolygonShape3D.new()
	convex.points = PackedVector3Array([
		Vector3(-0.2, -0.2, -0.2), Vector3(0.2, -0.2, -0.2), Vector3(0.2, -0.2, 0.2), Vector3(-0.2, -0.2, 0.2), Vector3(0, 0.3, 0)])
	return {box = box_shape(), sphere = sphere, capsule = capsule, cylinder = cylinder, convex = convex}


func test_every_dynamic_shape_rests() -> void:
	add_slab()
	var bodies := {}
	var shapes := dynamic_shapes()
	for name: String in shapes:
		bodies[name] = add_rigid(Vector3(bodies.size() - 2.0, 0.65, 0), shapes[name])
	await seconds(2.0)
	for name: String in bodies:
		check_near(bodies[name].position.y, 0.6, 0.01, "height of a %s" % name)
		check(bodies[name].linear_velocity.length() < 0.1, "the %s moves with %s" % [name, bodies[name].linear_velocity])


func test_separation_rays_are_ignored() -> void:
	add_slab()
	var body := add_rigid(Vector3(0, 0.65, 0), box_shape())
	var collision := CollisionShape3D.new()
	var ray := SeparationRayShape3D.new()
	ray.length = 0.5
	collision.shape = ray
	collision.rotation.x = PI / 2.0
	body.add_child(collision)
	await seconds(1.5)
	check_near(body.position.y, 0.6, 0.01, "height of a box with a ray")


func test_scaled_and_offset_shapes_of_a_rigid_body() -> void:
	add_slab()
	var body := add_rigid(Vector3(0, 1.2, 0), box_shape())
	var collision := body.get_child(0) as CollisionShape3D
	collision.scale = Vector3(1.5, 0.5, 1.5)
	collision.position = Vector3(0, -0.3, 0)
	await seconds(2.0)
	check_near(body.position.y, 0.4 + 0.1 + 0.3, 0.01, "height of a body with a flat foot")
	check(body.basis.y.angle_to(Vector3.UP) < 0.02, "it leans by %.3f" % body.basis.y.angle_to(Vector3.UP))


## As in Godot, two bodies touch when one of them looks for the other.
func test_layers_both_ways() -> void:
	var slab := add_slab()
	slab.collision_layer = 2
	slab.collision_mask = 4
	var cases := {
		"that looks for the slab": [0, 2, true], "that the slab looks for": [4, 0, true], "of other layers": [1, 1, false], "of none": [0, 0, false],
	}
	var bodies := {}
	for name: String in cases:
		var body := add_rigid(Vector3(1.2 * bodies.size() - 1.8, 0.65, 0), box_shape())
		body.collision_layer = cases[name][0]
		body.collision_mask = cases[name][1]
		bodies[name] = body
	await seconds(1.0)
	for name: String in cases:
		var rests: bool = bodies[name].position.y > 0.5
		check_equal(rests, cases[name][2], "whether a box %s rests (at %.2f)" % [name, bodies[name].position.y])


func test_frozen_bodies() -> void:
	var still := add_rigid(Vector3(-2, 1, 0), box_shape(Vector3(1, 0.2, 1)))
	still.freeze = true
	var driven := add_rigid(Vector3(2, 1, 0), box_shape(Vector3(1, 0.2, 1)))
	driven.freeze_mode = RigidBody3D.FREEZE_MODE_KINEMATIC
	driven.freeze = true
	var on_still := add_block(Vector3(-2, 1.36, 0))
	var on_driven := add_block(Vector3(2, 1.36, 0))
	await seconds(1.0)
	check_near(lowest_node(on_still), 1.1, 0.02, "lowest node on a frozen body")
	for i in seconds_to_ticks(1.0):
		driven.position.y += 0.5 / Engine.physics_ticks_per_second
		await tree.physics_frame
	check_near(lowest_node(on_driven), 1.6, 0.04, "lowest node on what is frozen and moved")
	still.freeze = false
	await seconds(1.0)
	check(lowest_node(on_still) < 0.6, "what lies on a body that thawed hangs at %.2f" % lowest_node(on_still))


func test_conveyor_belt() -> void:
	var belt := StaticBody3D.new()
	belt.constant_linear_velocity = Vector3(1, 0, 0)
	add_to(belt, box_shape(Vector3(6, 0.4, 2)), Vector3(0, 1, 0))
	var block := add_block(Vector3(-2, 1.46, 0))
	await seconds(2.0)
	check(block.get_center_of_mass().x > -1.0, "the belt carried the block only to %.2f" % block.get_center_of_mass().x)


func push(character: CharacterBody3D, time: float) -> void:
	for i in seconds_to_ticks(time):
		await tree.physics_frame
		character.velocity = Vector3(1.5, -0.5, 0)
		character.move_and_slide()


func add_character(position: Vector3) -> CharacterBody3D:
	var character := CharacterBody3D.new()
	var capsule := CapsuleShape3D.new()
	capsule.radius = 0.3
	capsule.height = 1.8
	add_to(character, capsule, position)
	return character


## The same block, pushed with and without force.
func test_push_force_of_characters() -> void:
	add_floor()
	var displacements: Array[float] = []
	for force: float in [0.0, 800.0]:
		DestructionServer.character_push_force = force
		var block := add_block(Vector3(1, 0.35, 0), Vector3.ONE * 0.7, Vector3i(2, 2, 2), 150.0)
		await seconds(0.7)
		var start := block.get_center_of_mass().x
		var character := add_character(Vector3(0, 0.92, 0))
		await push(character, 1.5)
		displacements.append(block.get_center_of_mass().x - start)
		character.free()
		block.free()
		await ticks(3)
	DestructionServer.character_push_force = 800.0
	check(absf(displacements[0]) < 0.05, "a character without force pushed by %.2f m" % displacements[0])
	check(displacements[1] > 0.15, "a character pushed a block of 51 kg only by %.2f m" % displacements[1])
	var heavy := add_block(Vector3(1, 0.5, 3), Vector3.ONE, Vector3i(2, 2, 2), 4000.0)
	await seconds(0.7)
	var before := heavy.get_center_of_mass().x
	await push(add_character(Vector3(-0.2, 0.92, 3)), 1.5)
	check_near(heavy.get_center_of_mass().x, before, 0.02, "place of a block of 4 t that was pushed")
