extends "res://coupling_case.gd"
## Godot's bodies on destructibles whose steps overlap with drawing: forces come one tick later.


func end() -> void:
	DestructionServer.overlap = false
	await super()


func test_boxes_rest_on_a_slab() -> void:
	DestructionServer.overlap = true
	var slab := DestructibleBody.new()
	slab.size = Vector3(4, 0.4, 4)
	slab.cells = Vector3i(8, 1, 8)
	slab.material = stiff_material()
	slab.position = Vector3(0, 0.2, 0)
	scene.add_child(slab)
	await seconds(0.5)
	var boxes: Array[RigidBody3D] = []
	for i in 3:
		boxes.append(add_rigid(Vector3(i - 1.0, 1.0 + 0.3 * i, 0), box_shape()))
	await seconds(4.0)
	for box in boxes:
		check_near(box.position.y, 0.6, 0.01 + 2.0 * 9.8 * pow(Engine.physics_ticks_per_second, -2.0), "height of a box on the slab")
		check(box.linear_velocity.length() < 0.1, "a box moves at %.3f m/s" % box.linear_velocity.length())
	boxes[0].free() # while the step may run
	await seconds(0.2)
	slab.queue_free()
	await seconds(1.0)
	# GodotPhysics lets a body sleep on that fell asleep while the step ran, at 120 ticks a second.
	check(is_godot_physics() or boxes[1].position.y < 0.55, "a box hangs in the air")
