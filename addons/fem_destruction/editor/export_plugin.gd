@tool
extends EditorExportPlugin
## Exports for dedicated servers leave plain meshes out ("strip visuals"): what bodies would have baked of them when the
## game starts is baked now, and exported in their place.

const BAKED_FROM: Array[String] = ["Mesh", "PackedScene", "DestructibleMesh", "MaterialResource"]

var _scene_path := ""


func _get_name() -> String:
	return "fem_destruction"


func _strips_meshes() -> bool:
	return get_export_preset() != null and get_export_preset().get_export_filter() == EditorExportPreset.EXPORT_CUSTOMIZED


func _begin_customize_scenes(_platform: EditorExportPlatform, _features: PackedStringArray) -> bool:
	return _strips_meshes()


func _begin_customize_resources(_platform: EditorExportPlatform, _features: PackedStringArray) -> bool:
	return _strips_meshes()


## Godot keeps customized files from one export to the next, as long as the scene and this number are the same: a bake also
## depends on files that the scene uses, and one that failed must be said again.
func _get_customization_configuration_hash() -> int:
	var times := []
	_list_times(EditorInterface.get_resource_filesystem().get_filesystem(), times)
	return hash([times, _count_failures()])


func _list_times(folder: EditorFileSystemDirectory, times: Array) -> void:
	for i in folder.get_file_count():
		var type := folder.get_file_type(i)
		if BAKED_FROM.any(func(base: String) -> bool: return type == base or ClassDB.is_parent_class(type, base)):
			times.append([folder.get_file_path(i), FileAccess.get_modified_time(folder.get_file_path(i))])
	for i in folder.get_subdir_count():
		_list_times(folder.get_subdir(i), times)


func _customize_scene(scene: Node, path: String) -> Node:
	_scene_path = path
	var is_changed := false
	var bodies := scene.find_children("*", "DestructibleBody", true, false)
	if scene is DestructibleBody:
		bodies.append(scene)
	for body: DestructibleBody in bodies:
		if body.mesh is Mesh and _is_saved_with(scene, body):
			is_changed = _bake_body(scene, body) or is_changed
	return scene if is_changed else null


## What belongs to an instanced scene is customized in that scene's own file, unless this one changes it.
func _is_saved_with(scene: Node, node: Node) -> bool:
	var at := node
	while at != null and at != scene:
		if scene.is_editable_instance(at):
			return true
		at = at.owner
	return node == scene or node.owner == scene


func _bake_body(scene: Node, body: DestructibleBody) -> bool:
	var baked := body.bake_mesh()
	if baked == null:
		_fail("The mesh of %s in %s could not be baked, and a dedicated server has no other: see the error above, or leave the body out of the server's scenes." % [
				body.name if body == scene else String(scene.get_path_to(body)), _scene_path])
		return false
	baked.source_mesh = null
	body.mesh = baked
	return true


## A DestructibleMesh that was never baked; those in files of their own are customized there.
func _customize_resource(resource: Resource, path: String) -> Resource:
	var mesh := resource as DestructibleMesh
	var is_elsewhere := path == "" and resource.resource_path.begins_with("res://") and not resource.resource_path.contains("::")
	if mesh == null or is_elsewhere or mesh.is_baked() or mesh.source_mesh == null:
		return null
	var baked: DestructibleMesh = mesh.duplicate()
	if baked.bake() != OK:
		_fail("The DestructibleMesh %s could not be baked, and a dedicated server has no source mesh: see the error above." % [
				path if path != "" else "in " + _scene_path])
		return null
	baked.source_mesh = null
	return baked


func _fail(sentence: String) -> void:
	get_export_platform().add_message(EditorExportPlatform.EXPORT_MESSAGE_ERROR, "fem_destruction", sentence)
	var settings := EditorInterface.get_editor_settings()
	settings.set_project_metadata("fem_destruction", "failed_bakes", _count_failures() + 1)


func _count_failures() -> int:
	return EditorInterface.get_editor_settings().get_project_metadata("fem_destruction", "failed_bakes", 0)
