@tool
extends "part.gd"
## What only a screen, a mouse and keys can test: clicks, frames, handles, drops, pokes.


func run() -> void:
	await open_room()
	await _test_clicks()
	await _test_handles()
	_test_drop_overlay()
	await _test_pokes()
	await close_room()


## The torus is hit on its ring and missed in its hole.
func _test_clicks() -> void:
	for body_name: String in ["Oak", "PaneGlass", "Brick"]:
		await select([]) # the arrows of what is selected would be in the way
		await click(on_screen(body(body_name).global_position))
		check(is_selected(body(body_name)), "click_on_" + body_name, "selected is %s" % [selected()])
		for i in 30: # the editor tells its plugins of a selection when it has time
			if tools().toolbar.visible and button("Simulate").visible:
				break
			await frames(1)
		check(tools().toolbar.visible and button("Simulate").visible, "toolbar_of_" + body_name, "it is hidden")
	var torus := body("Torus")
	await select([])
	await click(on_screen(torus.global_position + Vector3(0.75, 0.2, 0)))
	check(is_selected(torus), "click_on_a_ring", "selected is %s" % [selected()])
	await select([])
	await click(on_screen(torus.global_position))
	check(not selected().has(torus), "click_through_a_hole", "selected is %s" % [selected()])
	await select([room.get_node("Plain")])
	check(tools().toolbar.visible and not button("Simulate").visible and button("Convert").visible, "toolbar_of_a_mesh", "it is wrong")
	# A frame around two of them, drawn with the select tool.
	var frame := _frame_of(body("Oak")).merge(_frame_of(body("PaneGlass"))).grow(6.0)
	await key(KEY_V)
	await drag(frame.position, frame.end)
	check(selected().has(body("Oak")) and selected().has(body("PaneGlass")) and not selected().has(body("Brick")), "box_selection", "selected is %s" % [selected()])
	await key(KEY_Q)


func _frame_of(node: DestructibleBody) -> Rect2:
	var frame := Rect2(on_screen(node.global_position), Vector2.ZERO)
	for i in 8:
		frame = frame.expand(on_screen(node.global_transform * node.get_aabb().get_endpoint(i)))
	return frame


func _test_handles() -> void:
	var oak := body("Oak")
	await select([oak])
	var before := oak.size
	var handle := oak.global_position + Vector3(0, 0.6, 0)
	await drag(on_screen(handle), on_screen(handle + Vector3(0, 0.3, 0)))
	check(absf(oak.size.y - 1.8) < 0.1 and oak.size.x == before.x, "drag_a_size", "the size is %s" % oak.size)
	history().undo()
	await frames(2)
	check(oak.size == before, "undo_a_size", "the size is %s" % oak.size)
	button("AddAnchor").pressed.emit()
	await frames(3)
	var box: AABB = oak.anchors[0]
	handle = oak.global_transform * Vector3(0, box.end.y, 0)
	await drag(on_screen(handle), on_screen(handle + Vector3(0, 0.2, 0)))
	var dragged: AABB = oak.anchors[0]
	check(absf(dragged.end.y - box.end.y - 0.2) < 0.05 and is_equal_approx(dragged.position.y, box.position.y), "drag_an_anchor", "it went from %s to %s" % [box, dragged])
	# Far beyond the opposite face: it stays a box.
	handle = oak.global_transform * Vector3(0, dragged.end.y, 0)
	await drag(on_screen(handle), on_screen(handle - Vector3(0, 1.5, 0)))
	check((oak.anchors[0] as AABB).size.y > 0.0, "no_negative_size", "it is %s" % oak.anchors[0])
	for expected: AABB in [dragged, box]:
		history().undo()
		await frames(2)
		check((oak.anchors[0] as AABB).is_equal_approx(expected), "undo_an_anchor", "it is %s" % oak.anchors[0])
	history().redo()
	await frames(2)
	check((oak.anchors[0] as AABB).is_equal_approx(dragged), "redo_an_anchor", "it is %s" % oak.anchors[0])
	history().undo()
	history().undo()
	await frames(2)
	check(oak.anchors.is_empty(), "undo_the_anchor_itself", "there are %d" % oak.anchors.size())


func _test_drop_overlay() -> void:
	var found := 0
	for i in 4:
		found += EditorInterface.get_editor_viewport_3d(i).get_parent().get_parent().find_children("FemViewportDrop*", "Control", true, false).size()
	check(found == 4, "viewports_take_drops", "%d of 4 do" % found)
	var drop: Control = EditorInterface.get_editor_viewport_3d(0).get_parent().get_parent().find_children("FemViewportDrop*", "Control", true, false)[0]
	var viewport := EditorInterface.get_editor_viewport_3d(0)
	var brick := body("Brick")
	var at := viewport.get_camera_3d().unproject_position(brick.global_position)
	var data := {"type": "files", "files": [MATERIALS + "ice.tres"]}
	check(drop._can_drop_data(at, data), "a_material_can_be_dropped", "it cannot")
	drop._drop_data(at, data)
	check(brick.material == material("ice"), "drop_a_material", "it has %s" % brick.material)
	history().undo()
	check(brick.material == material("brick"), "undo_the_drop", "it has %s" % brick.material)
	check(not drop._can_drop_data(at, {"type": "files", "files": ["res://bodies.tscn"]}), "scenes_are_left_to_the_editor", "it takes one")
	check(not drop._can_drop_data(at, 5), "odd_drops", "it takes a number")


func _test_pokes() -> void:
	body("Torus").invulnerable = true # it is pulled whole
	await select([body("PaneGlass"), body("Torus")])
	button("Simulate").pressed.emit()
	await simulate(0.7)
	var trial: Node = tools().trial
	var pane := body("PaneGlass")
	trial.strength = 20.0
	var before := pane.get_piece_count()
	await click(on_screen(pane.get_center_of_mass()))
	await simulate(0.5)
	check(pane.get_piece_count() > before, "a_poke_breaks_glass", "it is in %d pieces, as before" % before)
	# Drawn aside by the mouse.
	var torus := body("Torus")
	for i in 100: # until it is baked
		if not torus.is_simulated():
			await simulate(0.1)
	var start := torus.get_center_of_mass()
	var at := start + Vector3(0.75, 0.1, 0)
	await move(on_screen(at))
	await press(on_screen(at), true)
	for i in 8:
		await move(on_screen(at + Vector3(0, 0.1 * i, 0)), true)
		await simulate(0.1)
	check(torus.get_center_of_mass().y > start.y + 0.1, "a_drag_lifts", "it went from %s to %s" % [start, torus.get_center_of_mass()])
	await press(on_screen(at), false)
	await click(on_screen(Vector3(0, 0.5, 0)), true)
	check(trial.balls.size() == 1 and trial.balls[0].is_simulated(), "shift_throws_a_ball", "there are %d" % trial.balls.size())
	await simulate(0.3)
	await key(KEY_ESCAPE)
	await frames(3)
	check(not trial.is_running() and room.find_children("FemTrialBall*", "", true, false).is_empty(), "escape_resets", "it goes on, or a ball is left")
	check(room.get_child_count(true) == room.get_child_count(), "nothing_is_left", "%d internal nodes" % (room.get_child_count(true) - room.get_child_count()))
