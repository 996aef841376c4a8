extends "res://coupling_case.gd"
## Which of Godot's bodies are known to be near destructibles, and how soon.


func begin(scene_tree: SceneTree) -> void:
	super(scene_tree)
	DestructionServer.ground_enabled = true


func known() -> int:
	return DestructionServer.get_statistics().rigid_bodies


func add_sleeper(parent: Node, position := Vector3(0, 0.5, 0)) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = Vector3(2, 1, 0.2)
	body.cells = Vector3i(4, 2, 1)
	body.material = stiff_material()
	body.position = position
	body.start_asleep = true
	parent.add_child(body)
	return body


func make_floating(shape := sphere_shape(0.1)) -> RigidBody3D:
	var body := RigidBody3D.new()
	var collision := CollisionShape3D.new()
	collision.shape = shape
	body.add_child(collision)
	body.gravity_scale = 0.0
	return body


func add_world() -> SubViewport:
	var viewport := SubViewport.new()
	viewport.own_world_3d = true
	viewport.size = Vector2i(32, 32)
	scene.add_child(viewport)
	return viewport


func test_new_body_is_known_at_once() -> void:
	add_sleeper(scene)
	await ticks(20)
	check_equal(known(), 0, "number of bodies known where there are none")
	for kind: String in ["RigidBody3D", "CharacterBody3D", "AnimatableBody3D", "VehicleBody3D", "PhysicalBone3D"]:
		var body: PhysicsBody3D = ClassDB.instantiate(kind)
		add_to(body, sphere_shape(0.1), Vector3(0, 0.5, 1.2))
		await ticks(2)
		check_equal(known(), 1, "number of bodies known two ticks after a %s came" % kind)
		body.free()
		await ticks(2)
		check_equal(known(), 0, "number of bodies known two ticks after the %s was freed" % kind)


func test_bodies_that_were_there_before() -> void:
	var body := make_floating()
	body.position = Vector3(0, 0.5, 1)
	body.sleeping = true
	scene.add_child(body)
	await ticks(20)
	add_sleeper(scene)
	await ticks(3)
	check_equal(known(), 1, "number of bodies known of those that were there first")


func test_out_of_the_tree_and_back() -> void:
	add_sleeper(scene)
	var body := make_floating()
	body.position = Vector3(0, 0.5, 1)
	scene.add_child(body)
	await ticks(3)
	for i in 3:
		scene.remove_child(body)
		await ticks(2)
		check_equal(known(), 0, "number of bodies known while it is out of the tree")
		scene.add_child(body)
		await ticks(2)
		check_equal(known(), 1, "number of bodies known when it is back")
	var parent := Node3D.new()
	scene.add_child(parent)
	body.reparent(parent)
	await ticks(2)
	check_equal(known(), 1, "number of bodies known under another parent")
	parent.position.x = 500.0
	await seconds(1.5)
	check_equal(known(), 0, "number of bodies known after its parent took it away")
	parent.position.x = 0.0
	await ticks(3)
	check_equal(known(), 1, "number of bodies known after its parent brought it back")
	body.queue_free()
	await ticks(3)
	check_equal(known(), 0, "number of bodies known after it was freed")


func test_moved_to_another_world() -> void:
	add_sleeper(scene)
	var viewport := add_world()
	var body := make_floating()
	body.position = Vector3(0, 0.5, 1)
	scene.add_child(body)
	await ticks(3)
	check_equal(known(), 1, "number of bodies known")
	body.reparent(viewport)
	await ticks(10)
	check_equal(known(), 0, "number of bodies known after it went to a world without destructibles")
	add_sleeper(viewport)
	await ticks(3)
	check_equal(known(), 1, "number of bodies known when that world has one")
	body.reparent(scene)
	await ticks(10)
	check_equal(known(), 1, "number of bodies known back in the first world")
	viewport.free()
	await ticks(5)
	check_equal(known(), 1, "number of bodies known after the other world went")


## The nodes stay in the tree, and their space becomes another.
func test_viewport_gets_a_world_of_its_own() -> void:
	add_sleeper(scene)
	var viewport := SubViewport.new()
	scene.add_child(viewport)
	var body := make_floating()
	body.position = Vector3(0, 0.5, 1)
	viewport.add_child(body)
	await ticks(3)
	check_equal(known(), 1, "number of bodies known in the common world")
	viewport.own_world_3d = true
	await ticks(10)
	check_equal(known(), 0, "number of bodies known in a world of its own")
	print("--errors allowed: Godot takes the viewport out of a scenario that is gone")
	viewport.own_world_3d = false
	errors_end()
	await ticks(10)
	check_equal(known(), 1, "number of bodies known in the common world again")


## Bullets wait in a pool far away; there are many.
func test_set_near_from_far() -> void:
	add_sleeper(scene)
	var pool: Array[RigidBody3D] = []
	for i in 400:
		pool.append(make_floating())
		pool[i].position = Vector3(1000 + i, 0, 0)
		scene.add_child(pool[i])
	await ticks(20)
	check_equal(known(), 0, "number of bodies known while all are far")
	for i in [0, 199, 399]:
		pool[i].position = Vector3(0, 0.5, 1.0 + 0.3 * pool[i].position.x / 1000.0)
	await ticks(3)
	check_equal(known(), 3, "number of bodies known that were set near")


## Its middle is far, its end is not.
func test_long_arm() -> void:
	add_sleeper(scene)
	var arm := AnimatableBody3D.new()
	arm.sync_to_physics = false
	add_to(arm, box_shape(Vector3(60, 0.2, 0.2)), Vector3(-32, 0.5, 1))
	await ticks(3)
	check_equal(known(), 1, "number of bodies known of which an end is near")
	arm.position.x = -80.0
	await seconds(1.5)
	check_equal(known(), 0, "number of bodies known when the arm is away")
	arm.position.x = -32.0
	await ticks(3)
	check_equal(known(), 1, "number of bodies known when it is back")


## A wide body covers more than a handful of cells.
func test_beside_the_end_of_a_long_wall() -> void:
	var wall := add_sleeper(scene)
	wall.size = Vector3(400, 2, 60)
	wall.cells = Vector3i(8, 1, 2)
	await ticks(5)
	var body := make_floating()
	body.position = Vector3(198, 3, 0)
	scene.add_child(body)
	await ticks(2)
	check_equal(known(), 1, "number of bodies known at the wall's end")


func test_bodies_without_a_node() -> void:
	add_sleeper(scene)
	await seconds(0.5)
	var shape := sphere_shape(0.1)
	var rid := PhysicsServer3D.body_create()
	PhysicsServer3D.body_set_mode(rid, PhysicsServer3D.BODY_MODE_RIGID)
	PhysicsServer3D.body_add_shape(rid, shape.get_rid())
	PhysicsServer3D.body_set_param(rid, PhysicsServer3D.BODY_PARAM_GRAVITY_SCALE, 0.0)
	PhysicsServer3D.body_set_state(rid, PhysicsServer3D.BODY_STATE_TRANSFORM, Transform3D(Basis.IDENTITY, Vector3(0, 0.5, 0.7)))
	PhysicsServer3D.body_set_space(rid, scene.get_world_3d().space)
	await seconds(2.0 * 60.0 / Engine.physics_ticks_per_second)
	check_equal(known(), 1, "number of bodies known that have no node")
	print("--errors allowed: a physics thread frees bodies after they were asked for")
	PhysicsServer3D.free_rid(rid)
	await ticks(3)
	errors_end()


func test_tree_is_left_alone_without_destructibles() -> void:
	await ticks(2)
	check_equal(tree.node_added.get_connections().size(), 0, "number of connections before")
	var body := add_sleeper(scene)
	await ticks(2)
	check_equal(tree.node_added.get_connections().size(), 1, "number of connections with a destructible")
	DestructionServer.rigid_coupling = false
	check_equal(tree.node_added.get_connections().size(), 0, "number of connections without the coupling")
	DestructionServer.rigid_coupling = true
	await ticks(2)
	check_equal(tree.node_removed.get_connections().size(), 1, "number of connections with it again")
	body.free()
	await ticks(3)
	check_equal(tree.node_removed.get_connections().size(), 0, "number of connections after it went")


## Nothing of ours asks the physics server about our own pieces in each tick.
func test_pieces_at_rest_meet_nothing() -> void:
	if not is_godot_physics(): # the only one that tells
		return
	add_sleeper(scene)
	await ticks(10)
	check(DestructionServer.get_statistics().piece_proxies > 0, "no body stands for the piece")
	check_equal(PhysicsServer3D.get_process_info(PhysicsServer3D.INFO_COLLISION_PAIRS), 0, "number of pairs")
