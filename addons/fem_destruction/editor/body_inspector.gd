@tool
extends EditorInspectorPlugin
## Puts the bake panel in the place of a DestructibleMesh's plain button and report, and below the mesh of a
## DestructibleBody.

const BakePanel := preload("bake_panel.gd")

var undo: EditorUndoRedoManager


func _can_handle(object: Object) -> bool:
	return object is DestructibleMesh or object is DestructibleBody


func _parse_property(object: Object, _type: Variant.Type, property: String, _hint: PropertyHint, _hint_text: String,
		_usage: int, _wide: bool) -> bool:
	if object is DestructibleMesh:
		if property == "bake_action":
			_add_panel(object)
		return property == "bake_action" or property == "report"
	if property == "material": # the one after the mesh and its settings
		_add_panel(object)
	return false


func _add_panel(object: Object) -> void:
	var panel := BakePanel.new()
	panel.target = object
	add_custom_control(panel)
