@tool
extends EditorPlugin
## Runs once the editor has started; prints "ok NAME" or "FAIL NAME: CAUSE" and "EDITOR TESTS DONE" at the end.

const SCENE := "res://bodies.tscn"
const EXTENSION := "res://addons/fem_destruction/fem_destruction.gdextension"
const PARTS: Array[String] = ["viewport_part", "trial_part", "conversion_part", "inspector_part"]
const CLASSES: Array[String] = ["DestructibleBody", "DestructibleMesh", "MaterialResource", "DestructionServer"]

var _failed := 0


func _enter_tree() -> void:
	_run.call_deferred()


func _run() -> void:
	await _frames(5)
	while EditorInterface.get_resource_filesystem().is_scanning():
		await get_tree().process_frame
	EditorInterface.open_scene_from_path(SCENE)
	await _frames(10)
	if preload("lives_part.gd").is_asked_for():
		await _run_parts(["lives_part"])
		_end()
		return
	if DisplayServer.get_name() != "headless":
		await _run_parts(["mouse_part"])
		_end()
		return
	_test_bodies_rest()
	_test_warnings()
	_test_icons()
	if _has_old_help_cache():
		for title in CLASSES:
			await _test_help(title)
	else:
		print("-- the help pages are not tested in the session in which Godot builds its help cache")
	await _test_undo()
	await _test_bake_button()
	await _test_bake_panel()
	await _test_selecting()
	await _run_parts(PARTS)
	await _test_hot_reload()
	await _test_scene_reload()
	_end()


func _end() -> void:
	print("EDITOR TESTS DONE")
	get_tree().quit(0 if _failed == 0 else 1)


func _run_parts(parts: Array[String]) -> void:
	for part in parts:
		var script: GDScript = load("res://addons/editor_test/%s.gd" % part)
		if script != null and script.can_instantiate():
			await script.new(self).run()
		else:
			_check(false, part, "its script cannot be read")


func _check(condition: bool, test_name: String, cause := "") -> void:
	if condition:
		print("ok editor.", test_name)
	else:
		_failed += 1
		print("FAIL editor.%s: %s" % [test_name, cause])


func _frames(count: int) -> void:
	for i in count:
		await get_tree().process_frame


func _scene() -> Node:
	return EditorInterface.get_edited_scene_root()


func _body(body_name := "Good") -> DestructibleBody:
	return _scene().get_node(body_name)


func _test_bodies_rest() -> void:
	_check(_scene() != null and _scene().scene_file_path == SCENE, "opens_a_scene", "the scene is %s" % _scene())
	_check(not _body().is_simulated(), "bodies_rest", "a body is simulated inside the editor")


## Godot has no call for a node's warnings: they are read off the scene dock, where the user sees them.
func _test_warnings() -> void:
	var tooltips := _scene_dock_tooltips()
	_check_warning(tooltips, "Flat", "size")
	_check_warning(tooltips, "TooFine", "cells")
	_check_warning(tooltips, "Mirrored", "negative scale")
	_check(tooltips.get("NotBaked", "").contains("not baked"), "warning_about_not_baked", "it says: " + tooltips.get("NotBaked", ""))
	# Cause and remedy of each.
	var others := {
		"Bare": ["neither a mesh nor a material", "Give it a mesh"],
		"NoMaterial": ["no material", "give it a MaterialResource"],
		"Costly": ["50000 tetrahedra", "s to bake", "a tick", "MB", "Lower the element count"],
		"NoScale": ["scale is zero", "scale above 0"],
		"NotHeld": ["anchor 0 holds nothing", "move or enlarge"],
		"OwnShader": ["rest shape", "fem_position.gdshaderinc"],
		"TooSoft": ["stiffness is below 1000 Pa", "raise it"],
		"TooMuchPrestress": ["prestress is more than 10 times", "lower prestress"],
		"TooManyRegions": ["Only 1 of 2 region materials", "remove the others"],
	}
	for body_name: String in others:
		for word: String in others[body_name]:
			_check(tooltips.get(body_name, "").contains(word), "warning_of_%s: %s" % [body_name, word], "it says: " + tooltips.get(body_name, ""))
	for body_name: String in ["Good", "Held"]:
		_check(not tooltips.get(body_name, "").contains("configuration warning"), "no_warning_of_" + body_name, "it says: " + tooltips.get(body_name, ""))
	_check(not tooltips.get("Good", "").contains("simulated"), "no_warning_when_good", "it says: " + tooltips.get("Good", ""))


func _check_warning(tooltips: Dictionary[String, String], body_name: String, word: String) -> void:
	var text: String = tooltips.get(body_name, "")
	_check(text.contains("will not be simulated") and text.contains(word), "warning_about_" + word.replace(" ", "_"),
			"the scene dock says of %s: \"%s\"" % [body_name, text])


func _scene_dock_tooltips() -> Dictionary[String, String]:
	var tooltips: Dictionary[String, String] = {}
	for editor in EditorInterface.get_base_control().find_children("*", "SceneTreeEditor", true, false):
		for dock_tree: Tree in editor.find_children("*", "Tree", true, false):
			if dock_tree.get_root() != null:
				_collect_tooltips(dock_tree.get_root(), tooltips)
	return tooltips


func _collect_tooltips(item: TreeItem, tooltips: Dictionary[String, String]) -> void:
	var text := ""
	for button in item.get_button_count(0):
		text += item.get_button_tooltip_text(0, button).replace("\n", " ") + " "
	tooltips[item.get_text(0)] = tooltips.get(item.get_text(0), "") + text
	for child in item.get_children():
		_collect_tooltips(child, tooltips)


func _test_icons() -> void:
	for icon: String in ["destructible_body", "destructible_mesh", "material_resource", "destruction_server"]:
		var path := "res://addons/fem_destruction/icons/%s.svg" % icon
		_check(load(path) is Texture2D, "icon_" + icon, path + " is no texture")


## Godot builds a cache of its class reference when it has none, and shows no extension's texts in that session.
func _has_old_help_cache() -> bool:
	var folder := EditorInterface.get_editor_paths().get_cache_dir()
	var session_start := Time.get_unix_time_from_system() - Time.get_ticks_msec() / 1000.0
	for file in DirAccess.get_files_at(folder):
		if file.begins_with("editor_doc_cache"):
			return FileAccess.get_modified_time(folder.path_join(file)) < session_start - 1.0
	return false


func _test_help(title: String) -> void:
	EditorInterface.get_script_editor().goto_help("class_name:" + title)
	await _frames(5)
	var text := ""
	for page in EditorInterface.get_script_editor().find_children("*", "EditorHelp", true, false):
		for label: RichTextLabel in page.find_children("*", "RichTextLabel", true, false):
			if page.name == title:
				text += await _finished_text(label)
	_check(text.contains(title) and text.length() > 800, "help_of_" + title, "the page has %d characters" % text.length())
	_check(not text.contains("There is currently no description"), "help_is_complete_for_" + title,
			"a member has no description")


## A thread of Godot's lays out the text of a help page, and crashes now and then where it is read meanwhile.
func _finished_text(label: RichTextLabel) -> String:
	while not label.is_finished():
		await get_tree().process_frame
	return label.get_parsed_text()


func _test_undo() -> void:
	var body := _body()
	var undo := get_undo_redo()
	undo.create_action("Change size")
	undo.add_do_property(body, "size", Vector3(2, 2, 2))
	undo.add_undo_property(body, "size", body.size)
	undo.commit_action()
	await _frames(2)
	undo.get_history_undo_redo(undo.get_object_history_id(body)).undo()
	await _frames(2)
	_check(body.size == Vector3(1, 2, 3), "undo", "the size is %s" % body.size)


func _test_bake_button() -> void:
	var body := _body("NotBaked")
	var mesh := body.mesh
	(mesh.get("bake_action") as Callable).call()
	_check(mesh.is_baking(), "bake_button", "it starts no bake")
	await _wait_for_bake(mesh)
	await get_tree().create_timer(1.0).timeout # the scene dock takes its time
	_check(mesh.is_baked() and mesh.get_report().contains("tetrahedra"), "bake_in_the_editor", "the report is \"%s\"" % mesh.get_report())
	_check(not _scene_dock_tooltips().get("NotBaked", "").contains("simulated"), "no_warning_when_baked",
			"it says: " + _scene_dock_tooltips().get("NotBaked", ""))
	var history := get_undo_redo().get_history_undo_redo(get_undo_redo().get_object_history_id(mesh))
	_check(history.get_current_action_name() == "Bake DestructibleMesh", "bake_is_an_action", "the last action is \"%s\"" % history.get_current_action_name())
	history.undo()
	await _frames(2)
	_check(not mesh.is_baked() and mesh.data.is_empty(), "bake_undo", "the bake is still there")
	history.redo()
	await _frames(2)
	_check(mesh.is_baked(), "bake_redo", "the bake does not come back")


func _panel() -> VBoxContainer:
	var found := EditorInterface.get_inspector().find_children("FemBakePanel*", "VBoxContainer", true, false)
	return found[0] if not found.is_empty() else null


## The panel that the addon's plugin puts into the inspector: of a mesh and of a body that has one.
func _test_bake_panel() -> void:
	var mesh := DestructibleMesh.new()
	EditorInterface.edit_resource(mesh)
	await _frames(5)
	var panel := _panel()
	_check(panel != null, "panel_is_shown", "the inspector has none")
	if panel == null:
		return
	var bake: Button = panel.find_child("Bake", true, false)
	var cancel: Button = panel.find_child("Cancel", true, false)
	var bar: ProgressBar = panel.find_child("Progress", true, false)
	var report: Label = panel.find_child("Report", true, false)
	_check(bake.disabled and not bar.visible and not report.visible, "panel_of_an_empty_mesh", "it can be baked")
	mesh.source_mesh = TorusMesh.new()
	mesh.element_count = 30000
	await _frames(2)
	_check(not bake.disabled, "panel_with_a_source", "it cannot be baked")
	# Stopped under way.
	bake.pressed.emit()
	_check(mesh.is_baking() and bar.visible and cancel.visible and bake.disabled, "panel_shows_progress", "no progress is shown")
	cancel.pressed.emit()
	await _wait_for_bake(mesh)
	_check(not mesh.is_baked() and not bar.visible and not report.visible, "panel_cancel", "the report is \"%s\"" % report.text)
	# To its end.
	mesh.element_count = 20000
	var shares: Array[float] = []
	mesh.bake_progressed.connect(func(_share: float) -> void: shares.append(bar.value))
	bake.pressed.emit()
	await _wait_for_bake(mesh)
	_check(mesh.is_baked() and not bar.visible and report.visible and report.text.contains("tetrahedra") and bake.text == "Bake again",
			"panel_bakes", "the report is \"%s\"" % report.text)
	_check(not shares.is_empty() and shares[-1] > 0.9, "panel_progresses", "the bar went through %s" % [shares])
	var history := get_undo_redo().get_history_undo_redo(get_undo_redo().get_object_history_id(mesh))
	history.undo()
	await _frames(2)
	_check(not mesh.is_baked() and not report.visible, "panel_undo", "the report is \"%s\"" % report.text)
	# A fault is told where the user looks.
	mesh.source_mesh = PlaneMesh.new()
	await _frames(2)
	bake.pressed.emit()
	await _wait_for_bake(mesh)
	_check(report.visible and report.text.contains("sheet_thickness"), "panel_tells_remedies", "it says \"%s\"" % report.text)
	mesh.source_mesh.size = Vector2.ZERO
	await _frames(2)
	print("--errors expected: a mesh without size")
	bake.pressed.emit()
	await _wait_for_bake(mesh)
	print("--errors end")
	_check(report.visible and report.text.contains("one point"), "panel_tells_faults", "it says \"%s\"" % report.text)
	# Below the mesh of a body.
	EditorInterface.inspect_object(_body("NotBaked"))
	await _frames(5)
	_check(_panel() != null and _panel().visible, "panel_of_a_body", "the inspector has none")
	EditorInterface.inspect_object(_body())
	await _frames(5)
	_check(_panel() != null and not _panel().visible, "no_panel_without_a_mesh", "a body without a mesh has one")


## Meshes of every kind that a body can have; all of them must be bearable for what the plugin shows of a selected body.
func _mesh_kinds() -> Dictionary[String, Resource]:
	var arrays := ArrayMesh.new()
	arrays.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, BoxMesh.new().get_mesh_arrays())
	var lines := ImmediateMesh.new()
	lines.surface_begin(Mesh.PRIMITIVE_LINES)
	lines.surface_add_vertex(Vector3.ZERO)
	lines.surface_add_vertex(Vector3.ONE)
	lines.surface_end()
	var unbaked := DestructibleMesh.new()
	unbaked.source_mesh = BoxMesh.new()
	var baked := DestructibleMesh.new()
	baked.source_mesh = BoxMesh.new()
	baked.element_count = 60
	baked.bake()
	var damaged := DestructibleMesh.new()
	print("--errors expected: damaged data")
	damaged.data = PackedByteArray([1, 2, 3, 4])
	await _frames(2)
	print("--errors end")
	return {"none": null, "primitive": BoxMesh.new(), "arrays": arrays, "empty": ArrayMesh.new(), "lines": lines,
		"placeholder": PlaceholderMesh.new(), "destructible": DestructibleMesh.new(), "unbaked": unbaked, "baked": baked,
		"damaged": damaged}


func _select(nodes: Array[Node]) -> void:
	var selection := EditorInterface.get_selection()
	selection.clear()
	for node in nodes:
		selection.add_node(node)
	await _frames(8 if DisplayServer.get_name() == "headless" else 3)


## The panel stands below the mesh where there is something to bake, and no script error is printed: the log is judged.
func _test_selecting() -> void:
	var kinds: Dictionary[String, Resource] = await _mesh_kinds()
	var bodies: Dictionary[String, DestructibleBody] = {}
	for kind in kinds:
		var body := DestructibleBody.new()
		body.name = "Selected_" + kind
		body.mesh = kinds[kind]
		_scene().add_child(body)
		bodies[kind] = body
	for kind in kinds:
		await _select([bodies[kind]])
		_check(EditorInterface.get_inspector().get_edited_object() == bodies[kind], "selects_" + kind, "it is not inspected")
		_check(_panel() != null and _panel().visible == (kinds[kind] is DestructibleMesh), "panel_of_" + kind,
				"the panel is %s" % ("missing" if _panel() == null else "hidden" if not _panel().visible else "shown"))
	# From every kind to every other in one and the same body.
	var body := bodies["none"]
	await _select([body])
	for first in kinds:
		for second in kinds:
			body.mesh = kinds[first]
			await _frames(1)
			body.mesh = kinds[second]
			await _frames(1)
			if _panel() == null or _panel().visible != (kinds[second] is DestructibleMesh):
				_check(false, "panel_from_%s_to_%s" % [first, second], "it does not follow the mesh")
	_check(_panel() != null, "panel_follows_the_mesh", "it is gone")
	# Several at once, one that is freed while it is inspected, none.
	await _select([bodies["primitive"], bodies["baked"]])
	await _select([bodies["baked"], bodies["empty"], _body()])
	await _select([bodies["arrays"]])
	bodies["arrays"].free()
	bodies.erase("arrays")
	await _frames(3)
	await _select([])
	for kind in bodies:
		bodies[kind].free()
	(kinds["damaged"] as DestructibleMesh).data = PackedByteArray() # the editor keeps it, and a hot reload would complain again
	await _frames(3)
	_check(_scene().find_children("Selected_*").is_empty(), "selecting_ends", "bodies are left")


## By time: frames are short without a screen, and the bake may share its core with much else.
func _wait_for_bake(mesh: DestructibleMesh) -> void:
	var end := Time.get_ticks_msec() + 60_000
	while mesh.is_baking() and Time.get_ticks_msec() < end:
		await get_tree().process_frame
	await _frames(2)


func _test_hot_reload() -> void:
	var result := GDExtensionManager.reload_extension(EXTENSION)
	await _frames(5)
	_check(result == GDExtensionManager.LOAD_STATUS_OK, "hot_reload", "the result is %d" % result)
	_check(_body().size == Vector3(1, 2, 3) and _body().material != null and _body().material.stiffness == 54321.0,
			"hot_reload_keeps_values", "the size is %s, the material %s" % [_body().size, _body().material])
	_check(_body("NotBaked").mesh != null and _body("NotBaked").mesh.is_baked(), "hot_reload_keeps_the_bake", "it is gone")


func _test_scene_reload() -> void:
	EditorInterface.reload_scene_from_path(SCENE)
	await _frames(5)
	_check(_body() != null and _body().size == Vector3(1, 2, 3), "scene_reload", "the scene is %s" % _scene())
