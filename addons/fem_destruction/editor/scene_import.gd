@tool
extends EditorScenePostImportPlugin
## Lets imported scenes (.glb, .blend and so on) arrive destructible, with their bakes in the imported file: meshes whose node is
## named NAME-destructible or NAME-MATERIAL-destructible, or all of them with the import option.

const Conversion := preload("conversion.gd")
const Presets := preload("presets.gd")
const SUFFIX := "-destructible"
const ENABLED := "fem_destruction/make_all_destructible"
const MATERIAL := "fem_destruction/material"
const ELEMENT_COUNT := "fem_destruction/element_count"


func _get_import_options(_path: String) -> void:
	add_import_option_advanced(TYPE_BOOL, ENABLED, false)
	var names := PackedStringArray()
	for path in Presets.list():
		names.append(path.get_file().get_basename())
	add_import_option_advanced(TYPE_STRING, MATERIAL, "oak", PROPERTY_HINT_ENUM, ",".join(names))
	add_import_option_advanced(TYPE_INT, ELEMENT_COUNT, 1000, PROPERTY_HINT_RANGE, "5,100000,1,exp")


func _get_option_visibility(_path: String, _for_animation: bool, _option: String) -> Variant:
	return true


func _post_process(scene: Node) -> void:
	for node: MeshInstance3D in scene.find_children("*", "MeshInstance3D", true, false):
		var words := _words_of(node.name)
		if node.mesh != null and (not words.is_empty() or bool(get_option_value(ENABLED))):
			_convert(node, words, scene)


## "table-oak-destructible" gives ["table", "oak"]; without the suffix nothing. Programs number equal names: a number may follow.
static func _words_of(node_name: String) -> PackedStringArray:
	var pattern := RegEx.create_from_string("^(.*)-destructible[_\\-]?\\d*$")
	var found := pattern.search(node_name)
	if found == null:
		return []
	return found.get_string(1).rsplit("-", true, 1)


func _convert(node: MeshInstance3D, words: PackedStringArray, scene: Node) -> void:
	var material := Presets.find(words[1]) if words.size() > 1 else null
	var title := words[0] if material != null or words.size() == 1 else "-".join(words)
	if material == null:
		material = Presets.find(str(get_option_value(MATERIAL)))
	var body := Conversion.make_body(node, material)
	body.name = title if title != "" else str(node.name)
	body.transform = node.transform
	body.element_count = int(get_option_value(ELEMENT_COUNT))
	body.visible = node.visible
	var baked := body.bake_mesh()
	if baked == null:
		push_error("fem_destruction: %s of an imported scene stays a mesh: it cannot be baked, see the error above." % node.name)
		body.free()
		return
	body.mesh = baked
	node.replace_by(body, true)
	body.owner = scene
	node.free()
