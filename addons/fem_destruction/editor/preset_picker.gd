@tool
extends HFlowContainer
## The addon's materials as pictures, above the Material of a body; one click makes the body of it.

const Presets := preload("presets.gd")
const SIZE := 44 # pixels at the editor's normal scale

var body: DestructibleBody
var undo: EditorUndoRedoManager


func _ready() -> void:
	name = "FemPresetPicker"
	var group := ButtonGroup.new()
	group.allow_unpress = false
	for path in Presets.list():
		var button := Button.new()
		button.name = path.get_file().get_basename()
		button.toggle_mode = true
		button.button_group = group
		button.custom_minimum_size = Vector2.ONE * SIZE * EditorInterface.get_editor_scale()
		button.expand_icon = true
		button.tooltip_text = Presets.title(path)
		button.set_pressed_no_signal(body.material != null and body.material.resource_path == path)
		button.pressed.connect(_on_pressed.bind(path))
		add_child(button)
		EditorInterface.get_resource_previewer().queue_resource_preview(path, self, &"_on_preview", button)


func _on_preview(_path: String, preview: Texture2D, _thumbnail: Texture2D, button: Variant) -> void:
	if is_instance_valid(button):
		if preview != null:
			button.icon = preview
		else:
			button.text = (button.tooltip_text as String).left(3)


func _on_pressed(path: String) -> void:
	if not is_instance_valid(body) or (body.material != null and body.material.resource_path == path):
		return
	undo.create_action("Make %s of %s" % [body.name, Presets.title(path)], UndoRedo.MERGE_DISABLE, body)
	undo.add_do_property(body, "material", load(path))
	undo.add_undo_property(body, "material", body.material)
	undo.commit_action()
