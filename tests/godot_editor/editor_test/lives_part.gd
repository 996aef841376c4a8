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


## What a newcomer does, for a recording of the screen: drop a .glb into a scene, make it oak, try it there, save it.
func _records_first_steps() -> void:
	await _import_stool("res://stool.glb")
	room = Node3D.new()
	room.name = "Yard"
	_add_level()
	var packed := PackedScene.new()
	packed.pack(room)
	ResourceSaver.save(packed, ROOM)
	room.free()
	EditorInterface.open_scene_from_path(ROOM)
	EditorInterface.set_main_screen_editor("3D")
	await _wait(2.0)
	room = EditorInterface.get_edited_scene_root()
	await _look()
	var stool: Node3D = load("res://stool.glb").instantiate() # as the editor does with a file that is dropped into the view
	add(stool, "Stool", Vector3(0, 1.2, 0))
	stool.rotation = Vector3(0.3, 0.4, 0.2)
	await select([stool])
	await _wait(2.0)
	var presets: Array = load("res://addons/fem_destruction/editor/presets.gd").list()
	var oak := presets.find_custom(func(path: String) -> bool: return path.get_file() == "oak.tres")
	(button("Convert") as MenuButton).get_popup().id_pressed.emit(oak)
	await _wait(1.0)
	var bodies := room.find_children("*", "DestructibleBody", true, false)
	check(bodies.size() == 1 and (bodies[0] as DestructibleBody).material == material("oak"), "first_steps_convert", "%s" % [bodies])
	if bodies.size() != 1:
		return
	var body: DestructibleBody = bodies[0]
	await select([body])
	await _wait(2.0)
	(button("Simulate") as Button).pressed.emit()
	await _wait(2.0)
	tools().trial.strength = 20.0
	await click(on_screen(body.get_center_of_mass()))
	await _wait(2.0)
	check(tools().trial.is_running(), "first_steps_simulate", "it does not run")
	(button("Simulate") as Button).pressed.emit()
	await _wait(1.0)
	EditorInterface.save_scene()
	await _wait(1.0)


func _wait(seconds: float) -> void:
	await host.get_tree().create_timer(seconds).timeout


## From the front and above, near enough.
func _look() -> void:
	await select([room.get_node("Floor")])
	var event := InputEventKey.new()
	event.keycode = KEY_F
	event.pressed = true
	Input.parse_input_event(event)
	await _wait(0.5)


func _add_level() -> void:
	var floor_body: StaticBody3D = add(StaticBody3D.new(), "Floor", Vector3(0, -0.1, 0))
	var box := BoxMesh.new()
	box.size = Vector3(3, 0.2, 3)
	var look: MeshInstance3D = add(MeshInstance3D.new(), "Look", Vector3.ZERO, floor_body)
	look.mesh = box
	var shape: CollisionShape3D = add(CollisionShape3D.new(), "Shape", Vector3.ZERO, floor_body)
	shape.shape = BoxShape3D.new()
	shape.shape.size = box.size
	var camera: Camera3D = add(Camera3D.new(), "Camera", Vector3(0, 1.4, 3.2))
	camera.rotation.x = -0.25
	var sun: DirectionalLight3D = add(DirectionalLight3D.new(), "Sun", Vector3(0, 3, 0))
	sun.rotation = Vector3(-0.9, 0.6, 0)


## A seat on three legs, as one mesh that touches itself nowhere: the file that a modelling program would write.
func _import_stool(path: String) -> void:
	var surface := SurfaceTool.new()
	surface.begin(Mesh.PRIMITIVE_TRIANGLES)
	var seat := CylinderMesh.new()
	seat.top_radius = 0.3
	seat.bottom_radius = 0.3
	seat.height = 0.06
	surface.append_from(seat, 0, Transform3D(Basis.IDENTITY, Vector3(0, 0.5, 0)))
	var leg := CylinderMesh.new()
	leg.top_radius = 0.03
	leg.bottom_radius = 0.025
	leg.height = 0.5
	for i in 3:
		var angle := TAU * i / 3.0
		surface.append_from(leg, 0, Transform3D(Basis.IDENTITY, Vector3(0.2 * cos(angle), 0.24, 0.2 * sin(angle))))
	var root := Node3D.new()
	var node := MeshInstance3D.new()
	node.name = "StoolMesh"
	node.mesh = surface.commit()
	root.add_child(node)
	node.owner = root
	var document := GLTFDocument.new()
	var state := GLTFState.new()
	document.append_from_scene(root, state)
	document.write_to_filesystem(state, path)
	root.free()
	EditorInterface.get_resource_filesystem().scan()
	for i in 600:
		await host.get_tree().process_frame
		if not EditorInterface.get_resource_filesystem().is_scanning() and ResourceLoader.exists(path):
			break
	await _wait(1.0)
