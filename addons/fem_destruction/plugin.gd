@tool
extends EditorPlugin
## Adds the bake panel to the inspector, and bakes what exports for dedicated servers leave out. Says in plain words when the
## addon's library is not there, instead of "unknown type DestructibleBody" later on.

var _inspector: EditorInspectorPlugin
var _export: EditorExportPlugin


func _enter_tree() -> void:
	if not ClassDB.class_exists(&"DestructibleBody"):
		push_error("fem_destruction: the library for this platform is missing from addons/fem_destruction/bin; build it with scons or install the addon's full release.")
		return
	# Not preloaded: without the library this script could not be read.
	_inspector = load("res://addons/fem_destruction/editor/bake_inspector.gd").new()
	add_inspector_plugin(_inspector)
	_export = load("res://addons/fem_destruction/editor/export_plugin.gd").new()
	add_export_plugin(_export)


func _exit_tree() -> void:
	if _inspector != null:
		remove_inspector_plugin(_inspector)
		remove_export_plugin(_export)
		_inspector = null
		_export = null
