extends "res://test_case.gd"
## What tests of Godot's bodies among destructibles share: bodies, shapes, a stiff material.


func stiff_material(stiffness := 1e8, density := 1000.0) -> MaterialResource:
	var material := MaterialResource.new()
	material.stiffness = stiffness
	material.density = density
	material.damping = 0.004
	return material


func add_to(body: CollisionObject3D, shape: Shape3D, position: Vector3) -> void:
	var collision := CollisionShape3D.new()
	collision.shape = shape
	body.add_child(collision)
	body.position = position
	scene.add_child(body)


func add_rigid(position: Vector3, shape: Shape3D, mass := 10.0) -> RigidBody3D:
	var body := RigidBody3D.new()
	body.mass = mass
	add_to(body, shape, position)
	return body


func box_shape(size := Vector3.ONE * 0.4) -> BoxShape3D:
	var shape := BoxShape3D.new()
	shape.size = size
	return shape


func sphere_shape(radius: float) -> SphereShape3D:
	var shape := SphereShape3D.new()
	shape.radius = radius
	return shape
