extends "res://coupling_case.gd"
## Bodies that no game should have, each against a slab: nothing crashes, flies off or stops being a number.

var slab: DestructibleBody


func begin(scene_tree: SceneTree) -> void:
	super(scene_tree)
	DestructionServer.ground_enabled = true
	slab = DestructibleBody.new()
	slab.size = Vector3(4, 0.4, 4)
	slab.cells = Vector3i(8, 1, 8)
	slab.material = stiff_material()
	slab.position = Vector3(0, 0.2, 0)
	scene.add_child(slab)


## A body of the server alone: nodes do not take such masses.
func add_bare(position: Vector3, shape: Shape3D) -> RID:
	var rid := PhysicsServer3D.body_create()
	PhysicsServer3D.body_set_mode(rid, PhysicsServer3D.BODY_MODE_RIGID)
	PhysicsServer3D.body_add_shape(rid, shape.get_rid())
	PhysicsServer3D.body_set_state(rid, PhysicsServer3D.BODY_STATE_TRANSFORM, Transform3D(Basis.IDENTITY, position))
	PhysicsServer3D.body_set_space(rid, scene.get_world_3d().space)
	return rid


## Waits, and looks each tick whether the slab is sound.
func watch(time: float, each_tick := Callable()) -> bool:
	for i in seconds_to_ticks(time):
		if each_tick.is_valid():
			each_tick.call(i)
		await tree.physics_frame
		if not check(positions_are_finite(slab), "the slab's nodes are not finite"):
			return false
		var box := slab.get_aabb_world()
		if not check(box.size.length() < 12.0, "the slab is %s large" % box.size):
			return false
	return true


func check_calm(body: RigidBody3D, what: String) -> void:
	check(body.position.is_finite() and body.linear_velocity.length() < 30.0,
			"%s flew off to %s with %s" % [what, body.position, body.linear_velocity])


func bare_place(rid: RID) -> Vector3:
	return (PhysicsServer3D.body_get_state(rid, PhysicsServer3D.BODY_STATE_TRANSFORM) as Transform3D).origin


func test_zero_and_endless_mass() -> void:
	var masses := [0.0, -3.0, 1e-9, 1e12, INF]
	var shape := box_shape()
	var bodies: Array[RID] = []
	print("--errors allowed: masses that the physics engine refuses")
	for i in masses.size():
		bodies.append(add_bare(Vector3(0.5 * i - 1.25, 0.65, 0), shape))
		PhysicsServer3D.body_set_param(bodies[i], PhysicsServer3D.BODY_PARAM_MASS, masses[i])
	await watch(2.0)
	errors_end()
	var carried := bare_place(bodies[3])
	check(carried.is_finite() and carried.y > -30.0, "a body of 1e12 kg is at %s" % carried)
	print("--errors allowed: a physics thread frees bodies after they were asked for")
	for rid in bodies:
		PhysicsServer3D.free_rid(rid)
	await watch(0.2)
	errors_end()


func test_feather() -> void:
	var light := add_rigid(Vector3(-1, 0.65, 0), box_shape(), 0.001)
	var thin := add_rigid(Vector3(0, 0.65, 1), box_shape())
	PhysicsServer3D.body_set_param(thin.get_rid(), PhysicsServer3D.BODY_PARAM_INERTIA, Vector3.ONE * 1e-12)
	await watch(2.0)
	for body: RigidBody3D in [light, thin]:
		check_calm(body, "a body of %s kg" % body.mass)


func test_thousand_tons() -> void:
	var heavy := add_rigid(Vector3(1, 0.65, 0), box_shape(), 1e6)
	await watch(2.0)
	check_calm(heavy, "a body of %s kg" % heavy.mass)


func test_deleted_in_contact() -> void:
	var bodies: Array[RigidBody3D] = []
	for i in 12:
		bodies.append(add_rigid(Vector3(0.6 * (i % 4) - 0.9, 0.61 + 0.401 * (i / 4), 0), box_shape()))
	await watch(0.3)
	await watch(1.2, func(i: int) -> void:
		if i % 4 == 0 and not bodies.is_empty():
			var body: RigidBody3D = bodies.pop_at((7 * i) % bodies.size())
			if i % 8 == 0:
				body.free()
			else:
				body.queue_free())
	for body in bodies:
		check_calm(body, "what was left")
	slab.queue_free()
	await ticks(10)
	slab = DestructibleBody.new()
	scene.add_child(slab)
	await watch(0.2)


func test_teleported() -> void:
	var body := add_rigid(Vector3(0, 0.65, 0), box_shape())
	var driven := AnimatableBody3D.new()
	var collision := CollisionShape3D.new()
	collision.shape = box_shape()
	driven.add_child(collision)
	driven.sync_to_physics = false
	scene.add_child(driven)
	await watch(2.0, func(i: int) -> void:
		if i % 7 == 0:
			body.position = Vector3(0.3 * (i % 5) - 0.6, 0.2 + 0.3 * (i % 4), 0.2 * (i % 3))
		driven.position = Vector3(-5 if i % 2 else 5, 0.3, 0)) # never in the slab, but through it if it were swept
	check_calm(body, "a body that is set elsewhere")
	check(slab.get_linear_velocity().length() < 1.0, "the slab was swept along: %s" % slab.get_linear_velocity())
	body.position = Vector3(1e7, 1e7, 1e7)
	await watch(0.2)
	body.position = Vector3(0, 0.7, 0)
	body.linear_velocity = Vector3.ZERO
	await watch(1.0)
	check_calm(body, "a body that was far away")


func test_scaled() -> void:
	var wide := StaticBody3D.new()
	var bodies: Array[Node3D] = [wide]
	var collision := CollisionShape3D.new()
	collision.shape = sphere_shape(0.3)
	wide.add_child(collision)
	wide.position = Vector3(-1, 0.9, 0)
	scene.add_child(wide)
	var driven := AnimatableBody3D.new()
	collision = CollisionShape3D.new()
	collision.shape = box_shape()
	driven.add_child(collision)
	driven.position = Vector3(1, 0.9, 0)
	scene.add_child(driven)
	bodies.append(driven)
	var on_shape := add_rigid(Vector3(0, 0.8, 1), box_shape())
	print("--errors allowed: scales that the physics engine refuses")
	await watch(2.0, func(i: int) -> void:
		for body in bodies:
			body.scale = [Vector3(2, 0.5, 1), Vector3.ONE, Vector3(0.001, 1, 1), Vector3(-1, 1, 1), Vector3.ONE * 3.0][i / 6 % 5]
		on_shape.get_child(0).scale = Vector3.ONE * (0.8 + 0.4 * (i % 2)))
	errors_end()
	check_calm(on_shape, "a body whose shape is scaled")


func test_shapes_swapped_each_frame() -> void:
	var swapped := add_rigid(Vector3(0, 0.8, 1), box_shape())
	var cast_off := add_rigid(Vector3(1, 0.8, 1), box_shape())
	var capsule := CapsuleShape3D.new()
	capsule.radius = 0.2
	capsule.height = 0.7 # stands 0.15 m deep in the slab when it comes
	var cylinder := CylinderShape3D.new()
	cylinder.radius = 0.3
	cylinder.height = 0.5
	var shapes: Array[Shape3D] = [box_shape(), sphere_shape(0.2), capsule, cylinder]
	await watch(2.0, func(i: int) -> void:
		(swapped.get_child(0) as CollisionShape3D).shape = shapes[i % 4].duplicate()
		if i % 5 == 0:
			(cast_off.get_child(0) as CollisionShape3D).disabled = i % 10 == 0
		if i % 9 == 0:
			var more := CollisionShape3D.new()
			more.shape = sphere_shape(0.1)
			cast_off.add_child(more)
		if i % 9 == 5 and cast_off.get_child_count() > 1:
			cast_off.get_child(1).free())
	check_calm(swapped, "a body of another shape each frame")
	check_calm(cast_off, "a body whose shapes come and go")


func test_1000_at_one_place() -> void:
	if Engine.physics_ticks_per_second != 60:
		return
	var bodies: Array[RigidBody3D] = []
	for i in 1000:
		bodies.append(add_rigid(Vector3(0.001 * (i % 10), 1.0, 0.001 * (i / 100)), sphere_shape(0.1), 1.0))
	await watch(0.5)
	for i in 500:
		bodies[i].free()
	await watch(0.5)
	for i in range(500, 1000):
		if not check(bodies[i].position.is_finite(), "a body is at %s" % bodies[i].position):
			return


## Deep in the slab and as fast as can be: what is given back is bounded.
func test_forces_are_bounded() -> void:
	var bodies: Array[RigidBody3D] = []
	for i in 8:
		bodies.append(add_rigid(Vector3(0.4 * i - 1.4, 0.2, 0), box_shape(), 0.01))
		bodies[i].angular_velocity = Vector3(0, 5000, 0)
		bodies[i].linear_velocity = Vector3(0, -2000.0, 0)
	await watch(1.0)
	for body in bodies:
		check(body.position.is_finite() and body.linear_velocity.length() < 5000.0, "a body is at %s with %s" % [body.position, body.linear_velocity])
		check(DestructionServer.get_rigid_force(body).is_finite(), "the force on a body is %s" % DestructionServer.get_rigid_force(body))


## A destructible as fast as a shell strikes boxes of a gram: what they are handed is limited, and that is said once.
func test_limited_forces_are_said_once() -> void:
	if Engine.physics_ticks_per_second < 60: # it flies past the boxes between two ticks
		return
	print("--one warning: a force that is limited")
	var boxes: Array[RigidBody3D] = []
	for i in 2:
		boxes.append(add_rigid(Vector3(0, 5, 3.0 * i), box_shape(), 0.001))
		var block := DestructibleBody.new()
		block.size = Vector3.ONE
		block.position = Vector3(-1.5, 5, 3.0 * i)
		block.material = slab.material
		scene.add_child(block)
		block.apply_central_impulse(Vector3(450, 0, 0) * block.get_mass())
		await watch(0.5)
	print("--warning end")
	for box in boxes:
		check(box.position.is_finite() and box.linear_velocity.length() < 1000.0,
				"a box of a gram is at %s with %s" % [box.position, box.linear_velocity])
