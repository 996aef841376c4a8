@tool
extends EditorPlugin
## The addon in the editor: gizmos, toolbar and trials in the 3D viewport, the inspector's panels, the import of destructible
## scenes, and what exports for dedicated servers need. Says in plain words when the addon's library is not there, instead of
## "unknown type DestructibleBody" later on.

const FOLDER := "res://addons/fem_destruction/editor/"

var _inspector: EditorInspectorPlugin
var _export: EditorExportPlugin
var _import: EditorScenePostImportPlugin
var _viewport_tools: Node
var _thumbnails: EditorResourcePreviewGenerator


func _enter_tree() -> void:
	if not ClassDB.class_exists(&"DestructibleBody"):
		push_error("fem_destruction: the library for this platform is missing from addons/fem_destruction/bin; build it with scons or install the addon's full release.")
		return
	# Not preloaded: without the library these scripts could not be read.
	_inspector = load(FOLDER + "body_inspector.gd").new()
	_inspector.undo = get_undo_redo()
	add_inspector_plugin(_inspector)
	_export = load(FOLDER + "export_plugin.gd").new()
	add_export_plugin(_export)
	_import = load(FOLDER + "scene_import.gd").new()
	add_scene_post_import_plugin(_import)
	_thumbnails = load(FOLDER + "material_thumbnails.gd").new()
	EditorInterface.get_resource_previewer().add_preview_generator(_thumbnails)
	_viewport_tools = load(FOLDER + "viewport_tools.gd").new()
	_viewport_tools.plugin = self
	add_child(_viewport_tools)
	set_input_event_forwarding_always_enabled()


func _exit_tree() -> void:
	if _inspector == null:
		return
	remove_inspector_plugin(_inspector)
	remove_export_plugin(_export)
	remove_scene_post_import_plugin(_import)
	EditorInterface.get_resource_previewer().remove_preview_generator(_thumbnails)
	_thumbnails = null
	_viewport_tools.queue_free()
	_inspector = null
	_export = null
	_import = null
	_viewport_tools = null


func _forward_3d_gui_input(camera: Camera3D, event: InputEvent) -> int:
	if _viewport_tools != null and _viewport_tools.take_input(camera, event):
		return AFTER_GUI_INPUT_STOP
	return AFTER_GUI_INPUT_PASS
