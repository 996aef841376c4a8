@tool
extends EditorInspectorPlugin
## What the inspector shows beyond the properties: of a body its cost, faults, bake and the addon's materials; of a mesh its bake; of a
## material a trial of it. Where settings have no effect it says why.

const BakePanel := preload("bake_panel.gd")
const BodyPanel := preload("body_panel.gd")
const PresetPicker := preload("preset_picker.gd")
const MaterialPreview := preload("material_preview.gd")

var undo: EditorUndoRedoManager


func _can_handle(object: Object) -> bool:
	return object is DestructibleMesh or object is DestructibleBody or object is MaterialResource


func _parse_begin(object: Object) -> void:
	if object is MaterialResource:
		var preview := MaterialPreview.new()
		preview.subject = object
		add_custom_control(preview)


func _parse_category(object: Object, category: String) -> void:
	if object is DestructibleBody and category == "DestructibleBody":
		var panel := BodyPanel.new()
		panel.body = object
		panel.undo = undo
		add_custom_control(panel)


func _parse_group(object: Object, group: String) -> void:
	var body := object as DestructibleBody
	if body == null:
		return
	if group == "Fracture" and not body.get_estimate().breaks:
		_add_reason("No effect: the material is not breakable.")
	elif group == "Motion" and body.freeze:
		_add_reason("No effect while Freeze is on: start values and gravity.")


func _add_reason(text: String) -> void:
	var label := Label.new()
	label.name = "FemReason"
	label.text = text
	label.autowrap_mode = TextServer.AUTOWRAP_WORD_SMART
	label.modulate.a = 0.7
	add_custom_control(label)


func _parse_property(object: Object, _type: Variant.Type, property: String, _hint: PropertyHint, _hint_text: String,
		_usage: int, _wide: bool) -> bool:
	if object is DestructibleMesh:
		if property == "bake_action":
			_add_bake_panel(object)
		return property == "bake_action" or property == "report"
	if object is DestructibleBody and property == "material": # the one after the mesh and its settings
		_add_bake_panel(object)
		var picker := PresetPicker.new()
		picker.body = object
		picker.undo = undo
		add_custom_control(picker)
	return false


func _add_bake_panel(object: Object) -> void:
	var panel := BakePanel.new()
	panel.target = object
	add_custom_control(panel)
