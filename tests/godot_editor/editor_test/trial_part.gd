@tool
extends "part.gd"
## Simulating in the editor: bodies fall on level geometry and break, and are just as before when it ends.


func run() -> void:
	await open_room()
	await _test_falls_and_resets()
	await _test_breaks()
	await _test_what_cannot_be()
	await _test_keeps()
	await _test_ends_with_the_scene()
	await close_room()


func _all() -> Array[Node]:
	return [body("Oak"), body("PaneGlass"), body("Brick"), body("Torus")]


func _test_falls_and_resets() -> void:
	await select(_all())
	var before := saved_text()
	var box := body("Oak").get_aabb()
	button("Simulate").pressed.emit()
	check(tools().trial.is_running() and body("Oak").is_simulated() and (button("Simulate") as Button).text == "Reset", "simulate", (button("Message") as Label).text)
	await simulate(1.5)
	check(absf(body("Oak").get_center_of_mass().y - 0.6) < 0.05, "falls_on_the_floor", "its middle is at %s" % body("Oak").get_center_of_mass())
	var cost: float = DestructionServer.get_statistics().step_ms
	print("  a tick of %d tets in the editor: %.1f ms" % [DestructionServer.get_statistics().tets, cost])
	check(is_equal_approx(body("Oak").position.y, 1.2) and saved_text() == before, "nodes_are_not_changed", "the scene would be saved differently")
	# Saved in mid-simulation.
	save_room()
	await frames(3)
	button("Simulate").pressed.emit()
	await frames(5)
	check(not tools().trial.is_running() and not body("Oak").is_simulated(), "reset", "it goes on")
	check(saved_text() == before and body("Oak").get_aabb() == box, "reset_to_what_was", "it is another scene")
	check(DestructionServer.get_statistics().bodies == 0, "reset_frees_all", "%d bodies are left" % DestructionServer.get_statistics().bodies)
	var saved: Node = load(ROOM).instantiate()
	check(is_equal_approx(saved.get_node("Oak").position.y, 1.2) and saved.get_node("Oak").start_state.is_empty(), "saved_in_mid_simulation", "what was saved is broken")
	saved.free()


func _test_breaks() -> void:
	await select([body("PaneGlass")])
	button("Simulate").pressed.emit()
	await simulate(0.7)
	var pane := body("PaneGlass")
	pane.apply_explosion(pane.get_center_of_mass() + Vector3(0, 0, 0.5), 2.0, 1e5)
	await simulate(0.3)
	check(pane.get_piece_count() > 1, "breaks_in_the_editor", "it is in one piece")
	tools().trial.stop()
	await frames(3)


func _test_what_cannot_be() -> void:
	var trial: Node = tools().trial
	var unbaked: DestructibleBody = add(DestructibleBody.new(), "Unbaked", Vector3(3, 1, 0))
	unbaked.mesh = DestructibleMesh.new()
	unbaked.mesh.source_mesh = BoxMesh.new()
	var said: String = trial.start([unbaked] as Array[DestructibleBody])
	check(not trial.is_running() and said.contains("not baked") and not unbaked.mesh.is_baked(), "unbaked_is_said", said)
	check(trial.start([] as Array[DestructibleBody]).contains("no DestructibleBody"), "nothing_to_simulate", "it starts")
	# Freed, moved and given another mesh while it is simulated.
	unbaked.mesh = BoxMesh.new()
	unbaked.element_count = 50
	trial.start([unbaked, body("Oak")] as Array[DestructibleBody])
	await simulate(0.1)
	unbaked.mesh = SphereMesh.new()
	await simulate(0.1)
	unbaked.position.x = 3.5
	body("Oak").size = Vector3(0.8, 1.2, 0.4)
	await simulate(0.1)
	unbaked.free()
	await simulate(0.1)
	check(trial.is_running() and trial.bodies.size() == 1 and trial.bodies[0] == body("Oak"), "goes_on_without_a_freed_body", "%s" % [trial.bodies])
	body("Oak").size = Vector3(0.8, 1.2, 0.3)
	trial.stop()
	await frames(3)


func _test_keeps() -> void:
	var trial: Node = tools().trial
	await select(_all())
	button("Simulate").pressed.emit()
	await simulate(1.5)
	tools().toolbar._on_keep(0)
	await frames(3)
	check(absf(body("Oak").position.y - 0.6) < 0.05 and not trial.is_running(), "keep_where_it_lies", "it is at %s" % body("Oak").position)
	history().undo()
	await frames(2)
	check(is_equal_approx(body("Oak").position.y, 1.2), "undo_where_it_lies", "it is at %s" % body("Oak").position)
	var pane := body("PaneGlass")
	await select([pane])
	button("Simulate").pressed.emit()
	await simulate(0.7)
	pane.apply_explosion(pane.get_center_of_mass() + Vector3(0, 0, 0.5), 2.0, 1e5)
	await simulate(0.5)
	var pieces := pane.get_piece_count()
	tools().toolbar._on_keep(1)
	await frames(3)
	check(pieces > 1 and not pane.start_state.is_empty() and pane.get_shown_mesh() != null, "keep_the_state", "%d pieces, %s" % [pieces, pane.get_shown_mesh()])
	check(pane.get_aabb().size != pane.size, "the_state_is_seen", "its box is %s" % pane.get_aabb())
	pane.position.x += 1.0 # it goes with the node
	trial.start([pane] as Array[DestructibleBody])
	check(pane.get_piece_count() == pieces, "simulates_from_the_state", "it has %d of %d pieces" % [pane.get_piece_count(), pieces])
	tools().toolbar._on_keep(2)
	await frames(3)
	var kept := room.get_node_or_null("PaneGlassBroken") as MeshInstance3D
	check(kept != null and kept.mesh.get_surface_count() > 0 and not pane.visible, "keep_as_meshes", "there is %s" % kept)
	history().undo()
	history().undo()
	await frames(2)
	check(room.get_node_or_null("PaneGlassBroken") == null and pane.visible and pane.start_state.is_empty(), "undo_what_was_kept", "it is still there")
	pane.position.x -= 1.0
	trial.start([pane] as Array[DestructibleBody])
	await simulate(0.2)
	tools().toolbar._on_keep(3)
	check((button("Message") as Label).text.contains("room_broken"), "keep_as_a_scene", (button("Message") as Label).text)
	check(load("res://room_broken.scn") is PackedScene, "the_scene_is_there", "it is not")


func _test_ends_with_the_scene() -> void:
	await select([body("Oak")])
	button("Simulate").pressed.emit()
	await simulate(0.1)
	EditorInterface.open_scene_from_path("res://bodies.tscn")
	await frames(5)
	check(not tools().trial.is_running() and DestructionServer.get_statistics().bodies == 0, "ends_with_the_scene", "it goes on")
	EditorInterface.open_scene_from_path(ROOM)
	await frames(5)
	room = EditorInterface.get_edited_scene_root()
	check(not body("Oak").is_simulated(), "rests_when_it_comes_back", "it is simulated")
