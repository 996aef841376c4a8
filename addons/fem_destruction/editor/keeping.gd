@tool
extends Object
## What is kept of a trial: where bodies lie, their broken state, or what is seen of them. Ends the trial; one action of the undo
## history.

enum { POSE, STATE, MESHES, SCENE }


## Returns what could not be kept, and why, or an empty text.
static func keep(kind: int, trial: Node, undo: EditorUndoRedoManager) -> String:
	var bodies: Array[DestructibleBody] = trial.bodies.duplicate()
	match kind:
		POSE:
			return _keep_poses(bodies, trial, undo)
		STATE:
			return _keep_states(bodies, trial, undo)
		MESHES:
			return _keep_meshes(bodies, trial, undo)
		_:
			return _keep_scene(bodies, trial)


static func _keep_poses(bodies: Array[DestructibleBody], trial: Node, undo: EditorUndoRedoManager) -> String:
	var poses: Dictionary[DestructibleBody, Transform3D] = {}
	var message := ""
	for body in bodies:
		if body.get_piece_count() == 1:
			poses[body] = trial.pose_of(body)
		else:
			message = "%s is broken, and a transform cannot say that: keep its state." % body.name
	trial.stop()
	undo.create_action("Keep where bodies lie", UndoRedo.MERGE_DISABLE, EditorInterface.get_edited_scene_root())
	for body in poses:
		undo.add_do_property(body, "global_transform", poses[body])
		undo.add_undo_property(body, "global_transform", body.global_transform)
	undo.commit_action()
	return message


static func _keep_states(bodies: Array[DestructibleBody], trial: Node, undo: EditorUndoRedoManager) -> String:
	var states: Dictionary[DestructibleBody, Dictionary] = {}
	for body in bodies:
		states[body] = body.get_state()
	trial.stop()
	undo.create_action("Keep broken states", UndoRedo.MERGE_DISABLE, EditorInterface.get_edited_scene_root())
	for body in states:
		undo.add_do_property(body, "start_state", states[body])
		undo.add_undo_property(body, "start_state", body.start_state)
	undo.commit_action()
	return ""


## Takes the place of each body.
static func _keep_meshes(bodies: Array[DestructibleBody], trial: Node, undo: EditorUndoRedoManager) -> String:
	var instances := _make_instances(bodies)
	trial.stop()
	var root := EditorInterface.get_edited_scene_root()
	undo.create_action("Keep what is seen as meshes", UndoRedo.MERGE_DISABLE, root)
	for i in bodies.size():
		var parent := bodies[i].get_parent()
		if bodies[i] == root:
			continue
		undo.add_do_method(parent, "add_child", instances[i], true)
		undo.add_do_property(instances[i], "owner", root)
		undo.add_do_property(instances[i], "global_transform", instances[i].transform)
		undo.add_do_method(bodies[i], "hide")
		undo.add_do_reference(instances[i])
		undo.add_undo_method(bodies[i], "show")
		undo.add_undo_method(parent, "remove_child", instances[i])
	undo.commit_action()
	return ""


static func _keep_scene(bodies: Array[DestructibleBody], trial: Node) -> String:
	var top := Node3D.new()
	top.name = "Kept"
	for instance in _make_instances(bodies):
		top.add_child(instance, true)
		instance.owner = top
	trial.stop()
	var packed := PackedScene.new()
	packed.pack(top)
	top.free()
	var path := _free_path(EditorInterface.get_edited_scene_root().scene_file_path.get_basename() + "_broken")
	var error := ResourceSaver.save(packed, path)
	EditorInterface.get_resource_filesystem().scan()
	return "Saved as %s." % path if error == OK else "%s could not be saved: %s." % [path, error_string(error)]


static func _free_path(start: String) -> String:
	if not start.begins_with("res://"):
		start = "res://broken"
	var path := start + ".scn"
	var number := 2
	while FileAccess.file_exists(path):
		path = "%s_%d.scn" % [start, number]
		number += 1
	return path


static func _make_instances(bodies: Array[DestructibleBody]) -> Array[MeshInstance3D]:
	var made: Array[MeshInstance3D] = []
	for body in bodies:
		var instance := MeshInstance3D.new()
		instance.name = body.name + "Broken"
		instance.mesh = body.get_shown_mesh()
		instance.transform = body.global_transform
		made.append(instance)
	return made
