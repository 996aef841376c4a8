@tool
extends "part.gd"
## What the inspector shows of a body and a material.


func run() -> void:
	await open_room()
	_test_what_has_no_effect()
	await _test_estimate_and_faults()
	await _test_presets()
	await _test_material_preview()
	await _test_thumbnails()
	await close_room()


func _usage(object: Object, property: String) -> int:
	for info in object.get_property_list():
		if info.name == property:
			return info.usage
	return 0


func _is_shown(object: Object, property: String) -> bool:
	return _usage(object, property) & PROPERTY_USAGE_EDITOR != 0


func _is_grey(object: Object, property: String) -> bool:
	return _usage(object, property) & PROPERTY_USAGE_READ_ONLY != 0


func _test_what_has_no_effect() -> void:
	var torus := body("Torus")
	var oak := body("Oak")
	check(_is_shown(oak, "size") and _is_shown(oak, "cells") and not _is_shown(oak, "element_count") and not _is_shown(oak, "wall_thickness"), "shown_of_a_box", "it is otherwise")
	check(not _is_shown(torus, "size") and not _is_shown(torus, "cells") and _is_shown(torus, "element_count"), "shown_of_a_mesh", "it is otherwise")
	check(not _is_grey(oak, "strength_scale") and _is_grey(oak, "debris_fade"), "grey_of_oak", "it is otherwise")
	oak.debris_lifetime = 2.0
	check(not _is_grey(oak, "debris_fade"), "debris_fade_has_an_effect", "it is grey")
	oak.debris_lifetime = 0.0
	oak.material = MaterialResource.new()
	check(_is_grey(oak, "strength_scale") and _is_grey(oak, "debris_cap"), "grey_of_what_does_not_break", "it is not")
	oak.material = material("oak")
	oak.freeze = true
	check(_is_grey(oak, "start_velocity"), "grey_of_what_is_frozen", "it is not")
	oak.freeze = false
	var layers := oak.get_property_list().filter(func(info: Dictionary) -> bool: return info.name == "layers" and info.usage & PROPERTY_USAGE_EDITOR)
	check(layers.size() == 1 and not _is_shown(oak, "sorting_offset"), "layers_are_shown_once", "%d times" % layers.size())


func _in_inspector(node_name: String) -> Control:
	var found := EditorInterface.get_inspector().find_children(node_name, "Control", true, false)
	return found[0] if not found.is_empty() else null


## Every fault has a button, and it is gone when that was pressed.
func _test_estimate_and_faults() -> void:
	var torus := body("Torus")
	torus.scale = Vector3.ONE * 0.3
	await select([torus])
	var panel := _in_inspector("FemBodyPanel")
	check(panel != null and (panel.get_node("Estimate") as Label).text.contains(" kg"), "estimate", "the inspector has none")
	if panel == null:
		return
	var find: Script = load("res://addons/fem_destruction/editor/body_faults.gd")
	check(find.find(torus).is_empty(), "no_fault_of_a_good_body", "%s" % [find.find(torus).map(func(fault: RefCounted) -> String: return fault.text)])
	var faults := {
		"no material": func() -> void: torus.material = null,
		"without splinters": func() -> void:
			torus.material = material("ceramic").duplicate()
			torus.material.splinter_pattern = MaterialResource.SPLINTERS_NONE,
		"elements take long": func() -> void: torus.element_count = 50000,
		"weighs": func() -> void: torus.scale = Vector3.ONE * 5.0,
	}
	for text: String in faults:
		faults[text].call()
		var found: Array = find.find(torus).filter(func(fault: RefCounted) -> bool: return fault.text.contains(text))
		check(found.size() == 1, "fault: " + text, "%d of it" % found.size())
		await frames(3) # what is shown may be another list of properties now
		panel = _in_inspector("FemBodyPanel")
		panel._update()
		var rows := panel.find_children("*", "Button", true, false)
		check(rows.size() >= 1, "button_for: " + text, "there is none")
		for fault: RefCounted in found:
			fault.mend.call(host.get_undo_redo())
		check(find.find(torus).all(func(fault: RefCounted) -> bool: return not fault.text.contains(text)), "mended: " + text, "it is still there")
		host.get_undo_redo().get_history_undo_redo(host.get_undo_redo().get_object_history_id(torus)).clear_history()
	torus.material = material("ceramic")
	torus.element_count = 300
	torus.scale = Vector3.ONE
	torus.mass_override = 0.0
	# A bake whose settings have changed, and one without splinters.
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = TorusMesh.new()
	mesh.element_count = 200
	mesh.bake()
	torus.mesh = mesh
	check(find.find(torus).any(func(fault: RefCounted) -> bool: return fault.text.contains("baked without")), "fault: baked without splinters", "it is not found")
	mesh.element_count = 220
	check(mesh.is_stale() and find.find(torus)[0].text.contains("changed since"), "fault: stale bake", "it is not found")
	find.find(torus)[0].mend.call(host.get_undo_redo())
	await host._wait_for_bake(mesh)
	check(not mesh.is_stale(), "mended: stale bake", "it is still stale")
	# A ball of 0.6 m that is solid.
	var ball := DestructibleMesh.new()
	ball.source_mesh = SphereMesh.new()
	ball.source_mesh.radius = 0.3
	ball.source_mesh.height = 0.6
	ball.splinter_pattern = DestructibleMesh.SPLINTERS_VORONOI
	ball.element_count = 300
	ball.bake()
	torus.mesh = ball
	var hollow: Array = find.find(torus).filter(func(fault: RefCounted) -> bool: return fault.text.contains("looks hollow"))
	check(hollow.size() == 1, "fault: solid that looks hollow", "%d of it" % hollow.size())
	var solid: float = torus.get_estimate().mass
	if hollow.size() == 1:
		hollow[0].mend.call(host.get_undo_redo())
		await host._wait_for_bake(ball)
	check(ball.wall_thickness > 0.0 and torus.get_estimate().mass < 0.5 * solid, "mended: solid that looks hollow", "%s kg of %s" % [torus.get_estimate().mass, solid])
	check(find.find(torus).all(func(fault: RefCounted) -> bool: return not fault.text.contains("looks hollow")), "gone: solid that looks hollow", "it is still there")
	# A model of the same shape that is not baked beforehand.
	var model := ArrayMesh.new()
	model.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, ball.source_mesh.get_mesh_arrays())
	torus.mesh = model
	var filled: Array = find.find(torus).filter(func(fault: RefCounted) -> bool: return fault.text.contains("looks hollow"))
	check(filled.size() == 1, "fault: model that is filled", "%d of it" % filled.size())
	if filled.size() == 1:
		filled[0].mend.call(host.get_undo_redo())
	check(torus.wall_thickness > 0.0 and torus.get_estimate().mass < 0.5 * solid, "mended: model that is filled", "%s kg of %s" % [torus.get_estimate().mass, solid])
	check(find.find(torus).all(func(fault: RefCounted) -> bool: return not fault.text.contains("looks hollow")), "gone: model that is filled", "it is still there")
	torus.wall_thickness = 0.0
	torus.mesh = TorusMesh.new()
	check(find.find(torus).all(func(fault: RefCounted) -> bool: return not fault.text.contains("looks hollow")), "no fault: shape of Godot's own", "it is told")
	# A scale that makes another shape of what was baked, and of cells.
	mesh.element_count = 200
	mesh.bake()
	torus.mesh = mesh
	torus.scale = Vector3(1, 0.1, 1)
	await _mend(find, torus, "stretches it 10.0 times", mesh)
	check(mesh.stretch.is_equal_approx(Vector3(1, 0.1, 1)), "the stretch is the scale", "it is %s" % mesh.stretch)
	torus.mesh = null
	torus.size = Vector3.ONE
	torus.cells = Vector3i(4, 4, 4)
	await _mend(find, torus, "10.0 times as long as wide", mesh)
	check(torus.cells == Vector3i(8, 1, 8), "the cells match", "they are %s" % torus.cells)
	torus.scale = Vector3.ONE
	torus.mesh = TorusMesh.new()
	# Kept states can be taken back.
	print("--one warning: a start state that is none")
	torus.start_state = {"data": PackedByteArray()}
	print("--warning end")
	await frames(3)
	_in_inspector("FemBodyPanel")._update()
	var rows := _in_inspector("FemBodyPanel").find_children("*", "Button", true, false)
	check(rows.any(func(row: Button) -> bool: return row.text == "Start Whole"), "kept_state_is_told", "it is not")
	torus.start_state = {}
	await frames(2)


## The fault with this text is there, and gone when it has been mended.
func _mend(find: Script, of: DestructibleBody, text: String, mesh: DestructibleMesh) -> void:
	var found: Array = find.find(of).filter(func(fault: RefCounted) -> bool: return fault.text.contains(text))
	check(found.size() == 1, "fault: " + text, "%d of it" % found.size())
	if found.size() == 1:
		found[0].mend.call(host.get_undo_redo())
		await host._wait_for_bake(mesh)
	check(find.find(of).all(func(fault: RefCounted) -> bool: return not fault.text.contains("stretch") and not fault.text.contains("as long as wide")),
			"mended: " + text, "it is still there")


func _test_presets() -> void:
	var oak := body("Oak")
	await select([oak])
	var picker := _in_inspector("FemPresetPicker")
	check(picker != null and picker.get_child_count() >= 15, "preset_picker", "there is none")
	if picker == null:
		return
	(picker.get_node("ice") as Button).pressed.emit()
	await frames(3)
	check(oak.material == material("ice"), "pick_a_preset", "it has %s" % oak.material)
	history().undo()
	await frames(3)
	check(oak.material == material("oak"), "undo_a_preset", "it has %s" % oak.material)
	oak.material = MaterialResource.new()
	await select([])
	await select([oak])
	check(_in_inspector("FemReason") != null, "says_why_fracture_has_no_effect", "it does not")
	oak.material = material("oak")


func _test_material_preview() -> void:
	var glass: MaterialResource = material("pane_glass").duplicate()
	EditorInterface.edit_resource(glass)
	await frames(4)
	var preview := _in_inspector("FemMaterialPreview")
	check(preview != null, "material_preview", "there is none")
	if preview == null:
		return
	preview.strike()
	await simulate(1.0)
	var slab: DestructibleBody = preview._bodies[1]
	check(slab.get_piece_count() > 3, "preview_breaks_glass", "the slab has %d pieces" % slab.get_piece_count())
	EditorInterface.edit_node(room) # another thing is inspected in the middle of it
	await frames(5)
	check(DestructionServer.get_statistics().bodies == 0, "preview_ends_with_the_inspector", "%d bodies are left" % DestructionServer.get_statistics().bodies)


func _test_thumbnails() -> void:
	var generator: EditorResourcePreviewGenerator = load("res://addons/fem_destruction/editor/material_thumbnails.gd").new()
	for preset: String in ["oak", "pane_glass"]:
		var picture: Texture2D = generator._generate(material(preset), Vector2i(48, 48), {})
		check(picture != null and picture.get_image().get_pixel(24, 24).a > 0.2 and picture.get_image().get_pixel(0, 0).a == 0.0, "thumbnail_of_" + preset, "it is empty")
	check(generator._generate(MaterialResource.new(), Vector2i(8, 8), {}) != null and generator._generate(Resource.new(), Vector2i(8, 8), {}) == null, "thumbnails_of_others", "they are wrong")
