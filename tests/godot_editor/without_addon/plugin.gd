@tool
extends EditorPlugin
## The addon is gone: Godot shows its nodes as missing ones. Opening their scene changes nothing; of a scene that is saved so,
## Godot 4.6 keeps nodes and values, and drops what refers to resources of missing classes.


func _enter_tree() -> void:
	_run.call_deferred()


func _run() -> void:
	for i in 10:
		await get_tree().process_frame
	while EditorInterface.get_resource_filesystem().is_scanning():
		await get_tree().process_frame
	var before := FileAccess.get_file_as_string("res://bodies.tscn")
	EditorInterface.open_scene_from_path("res://bodies.tscn")
	for i in 10:
		await get_tree().process_frame
	var root := EditorInterface.get_edited_scene_root()
	var good := root.get_node_or_null("Good") if root != null else null
	if good is MissingNode and good.original_class == "DestructibleBody":
		print("ok editor.nodes_are_missing_ones")
	else:
		print("FAIL editor.nodes_are_missing_ones: it is ", good)
	var packed := PackedScene.new()
	if root != null and packed.pack(root) == OK:
		ResourceSaver.save(packed, "res://saved_without.tscn")
	if FileAccess.get_file_as_string("res://bodies.tscn") == before:
		print("ok editor.opened_without_the_addon")
	else:
		print("FAIL editor.opened_without_the_addon: the scene was changed")
	print("EDITOR TESTS DONE")
	get_tree().quit()
