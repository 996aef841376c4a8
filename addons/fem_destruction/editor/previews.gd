@tool
extends RefCounted
## Shows bodies of the editor as their pieces, tetrahedra or strengths, in place of their surface.

var _shown: Array[DestructibleBody] = []
var _material: StandardMaterial3D


## `kind`: a DestructibleBody.Preview, or -1 for the surface. Returns why something is not shown, or an empty text.
func show_of(bodies: Array[DestructibleBody], kind: int, spread: float) -> String:
	if kind < 0:
		end()
		return ""
	if _material == null:
		_material = StandardMaterial3D.new()
		_material.vertex_color_use_as_albedo = true
		_material.vertex_color_is_srgb = true
		_material.albedo_color = Color(0.7, 0.7, 0.7) # vertex colours are bright
		_material.roughness = 0.9
	var message := ""
	for body in bodies:
		if body.mesh is DestructibleMesh and not body.mesh.is_baked():
			message = "%s is not baked: press Bake first." % body.name
			continue
		var picture := body.get_preview_mesh(kind, spread)
		if picture == null or picture.get_surface_count() == 0:
			message = _reason(body, kind)
			body.show_in_editor(null)
			continue
		picture.surface_set_material(0, _material)
		body.show_in_editor(picture)
		if not _shown.has(body):
			_shown.append(body)
	return message


func end() -> void:
	for body in _shown:
		if is_instance_valid(body):
			body.show_in_editor(null)
	_shown.clear()


func _reason(body: DestructibleBody, kind: int) -> String:
	if kind != DestructibleBody.PREVIEW_PIECES:
		return "%s has no tetrahedra: see its warnings in the scene dock." % body.name
	if body.material == null or not body.material.breakable:
		return "%s does not break: its material is not breakable." % body.name
	if body.mesh is DestructibleMesh:
		return "%s was baked without splinters: choose a Splinter Pattern of its mesh and bake again." % body.name
	return "%s has no pieces: its material has no Splinter Pattern." % body.name
