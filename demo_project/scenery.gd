extends Node3D
## Trees round the yard.

const TREES := 46
const NEAREST := 14.0 # m from the middle
const FARTHEST := 42.0 # m


func _ready() -> void:
	var random := RandomNumberGenerator.new()
	random.seed = 5
	var trunks := _add_many(_cone(0.16, 0.22, 1.2), Color(0.26, 0.18, 0.12))
	var skirts := _add_many(_cone(0.35, 1.7, 2.4), Color(0.13, 0.24, 0.12))
	var tops := _add_many(_cone(0.0, 1.25, 2.6), Color(0.16, 0.29, 0.14))
	for i in TREES:
		var angle := TAU * (i + random.randf_range(-0.4, 0.4)) / TREES
		var distance := lerpf(NEAREST, FARTHEST, pow(random.randf(), 1.5))
		var size := random.randf_range(0.7, 1.5)
		var place := Transform3D(Basis.from_scale(Vector3.ONE * size), Vector3(sin(angle), 0, cos(angle)) * distance)
		trunks.set_instance_transform(i, place.translated_local(Vector3(0, 0.6, 0)))
		skirts.set_instance_transform(i, place.translated_local(Vector3(0, 2.0, 0)))
		tops.set_instance_transform(i, place.translated_local(Vector3(0, 3.9, 0)))


func _cone(top: float, bottom: float, height: float) -> CylinderMesh:
	var mesh := CylinderMesh.new()
	mesh.top_radius = top
	mesh.bottom_radius = bottom
	mesh.height = height
	mesh.radial_segments = 9
	mesh.rings = 1
	return mesh


func _add_many(mesh: PrimitiveMesh, color: Color) -> MultiMesh:
	var look := StandardMaterial3D.new()
	look.albedo_color = color
	look.roughness = 1.0
	mesh.material = look
	var many := MultiMesh.new()
	many.transform_format = MultiMesh.TRANSFORM_3D
	many.mesh = mesh
	many.instance_count = TREES
	var instance := MultiMeshInstance3D.new()
	instance.multimesh = many
	add_child(instance)
	return many
