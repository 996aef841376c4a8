@tool
extends StaticBody3D
## A box that nothing breaks: its mesh and shape are made from its size.

@export var size := Vector3.ONE ## m
@export var look: Material
@export var shape_margin := Vector3.ZERO ## m, by which the shape is smaller on each side: what is set into the block is not in its way


func _ready() -> void:
	var mesh := MeshInstance3D.new()
	mesh.mesh = BoxMesh.new()
	mesh.mesh.size = size
	mesh.mesh.material = look
	add_child(mesh)
	var collision := CollisionShape3D.new()
	collision.shape = BoxShape3D.new()
	collision.shape.size = size - 2.0 * shape_margin
	add_child(collision)
