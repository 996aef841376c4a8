@tool
extends "part.gd"
## One life of an editor that shares its project with others, chosen by "-- life=NAME" on the command line.

const LONG_BAKE := "res://long_bake.tscn"


func run() -> void:
	for argument in OS.get_cmdline_user_args():
		if argument.begins_with("life="):
			await call("_" + argument.trim_prefix("life="))


static func is_asked_for() -> bool:
	return Array(OS.get_cmdline_user_args()).any(func(argument: String) -> bool: return argument.begins_with("life="))


## As the editor's own command does, which needs a screen for its thumbnail.
func _save(path: String) -> void:
	var packed := PackedScene.new()
	packed.pack(EditorInterface.get_edited_scene_root())
	check(ResourceSaver.save(packed, path) == OK, "saves_" + path.get_file(), "it cannot be saved")


## Saves a scene whose mesh is being baked, and ends before the bake does.
func _closes_in_mid_bake() -> void:
	room = Node3D.new()
	room.name = "LongBake"
	var statue: DestructibleBody = add(DestructibleBody.new(), "Statue", Vector3(0, 1, 0))
	statue.mesh = DestructibleMesh.new()
	statue.mesh.source_mesh = TorusMesh.new()
	statue.mesh.element_count = 90000
	var packed := PackedScene.new()
	packed.pack(room)
	ResourceSaver.save(packed, LONG_BAKE)
	room.free()
	EditorInterface.open_scene_from_path(LONG_BAKE)
	await frames(10)
	var mesh: DestructibleMesh = EditorInterface.get_edited_scene_root().get_node("Statue").mesh
	(mesh.get(&"bake_action") as Callable).call()
	await frames(2)
	check(mesh.is_baking(), "mid_bake", "the bake has ended already")
	_save(LONG_BAKE)
	check(mesh.is_baking(), "saved_in_mid_bake", "saving ended the bake")


func _opens_what_was_closed() -> void:
	EditorInterface.open_scene_from_path(LONG_BAKE)
	await frames(10)
	var statue: DestructibleBody = EditorInterface.get_edited_scene_root().get_node("Statue")
	check(statue.mesh != null and statue.mesh.source_mesh is TorusMesh and statue.mesh.element_count == 90000, "closed_in_mid_bake",
			"the mesh is %s" % statue.mesh)
	check(not statue.mesh.is_baked() and not statue.mesh.is_baking(), "closed_in_mid_bake_is_not_baked", "half a bake was saved")


## Two editors do the same to the same scene at the same time.
func _works_beside_another() -> void:
	for round in 3:
		EditorInterface.open_scene_from_path("res://bodies.tscn")
		await frames(5)
		var body: DestructibleBody = EditorInterface.get_edited_scene_root().get_node("NotBaked")
		await select([body])
		body.mesh.data = PackedByteArray()
		(body.mesh.get(&"bake_action") as Callable).call()
		await host._wait_for_bake(body.mesh)
		check(body.mesh.is_baked(), "beside_another_bakes_%d" % round, body.mesh.get_report())
		_save("res://bodies.tscn")
		await frames(20)
		EditorInterface.reload_scene_from_path("res://bodies.tscn")
		await frames(20)
		check(EditorInterface.get_edited_scene_root().get_node("Good").size == Vector3(1, 2, 3), "beside_another_reloads_%d" % round, "the scene is damaged")


## The addon is back in a project that was opened without it.
func _finds_all_again() -> void:
	EditorInterface.open_scene_from_path("res://bodies.tscn")
	await frames(10)
	var root := EditorInterface.get_edited_scene_root()
	var good := root.get_node("Good") as DestructibleBody
	check(good != null and good.size == Vector3(1, 2, 3) and good.material != null and good.material.stiffness == 54321.0,
			"values_kept_without_the_addon", "the body is %s" % good)
	var baked := root.get_node("NotBaked") as DestructibleBody
	check(baked != null and baked.mesh != null and baked.mesh.is_baked() and baked.mesh.get_tet_count() > 50, "bake_kept_without_the_addon",
			"the mesh is %s" % (baked.mesh if baked != null else null))
	var saved: Node = load("res://saved_without.tscn").instantiate()
	check((saved.get_node("Held") as DestructibleBody).anchors.size() == 1 and (saved.get_node("Good") as DestructibleBody).size == Vector3(1, 2, 3),
			"saved_without_the_addon", "values are gone")
	saved.free()
