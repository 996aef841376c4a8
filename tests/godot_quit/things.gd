extends Node3D
## Bodies in every state a game can be left in, for cases.gd.

const MATERIALS := "res://addons/fem_destruction/materials/"


func add_box(at: Vector3) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.cells = Vector3i(2, 2, 2)
	body.position = at
	add_child(body)
	return body


## Breaks in the tick in which it reaches the ground, `height` m below.
func add_plate(at: Vector3, height := 0.3) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.material = load(MATERIALS + "ceramic.tres")
	body.size = Vector3(1, 0.1, 0.5)
	body.cells = Vector3i(8, 1, 4)
	body.start_velocity = Vector3(0, -15, 0)
	body.position = at + Vector3(0, height, 0)
	body.rotation = Vector3(0, 0, 0.5)
	add_child(body)
	return body


func add_sleeper(at: Vector3) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.cells = Vector3i(2, 2, 2)
	body.position = at + Vector3(0, 0.5, 0)
	body.start_asleep = true
	add_child(body)
	return body


## Its mesh is baked for seconds on a thread.
func add_baking(at: Vector3) -> DestructibleMesh:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = TorusMesh.new()
	mesh.element_count = 20000
	mesh.bake_async()
	var body := DestructibleBody.new()
	body.bake_in_background = true
	body.mesh = mesh
	body.position = at
	add_child(body)
	return mesh


## A rigid body that falls to the origin, which is returned, another that rests far away, a floor, an area and a character.
func add_rigid_bodies() -> RigidBody3D:
	var falling := RigidBody3D.new()
	_add_shape(StaticBody3D.new(), WorldBoundaryShape3D.new(), Vector3.ZERO)
	_add_shape(falling, BoxShape3D.new(), Vector3(0, 1.6, 0))
	_add_shape(RigidBody3D.new(), BoxShape3D.new(), Vector3(40, 0.5, 0))
	_add_shape(Area3D.new(), SphereShape3D.new(), Vector3(0, 1, 0))
	_add_shape(CharacterBody3D.new(), CapsuleShape3D.new(), Vector3(2, 1, 0))
	return falling


func _add_shape(object: CollisionObject3D, shape: Shape3D, at: Vector3) -> void:
	var collision := CollisionShape3D.new()
	collision.shape = shape
	object.add_child(collision)
	object.position = at
	add_child(object)


## Things in a World3D of their own.
static func make_in_viewport() -> SubViewport:
	var viewport := SubViewport.new()
	viewport.own_world_3d = true
	viewport.add_child(new())
	return viewport
