@tool
extends RefCounted
## A part of the tests in the editor: a fresh scene of its own, real mouse and key events, the undo history.

const ROOM := "res://room.tscn"
const MATERIALS := "res://addons/fem_destruction/materials/"

var host: EditorPlugin
var room: Node3D


func _init(plugin: EditorPlugin) -> void:
	host = plugin


func check(condition: bool, test_name: String, cause := "") -> void:
	host._check(condition, test_name, cause)


func frames(count: int) -> void:
	await host._frames(count)


func select(nodes: Array[Node]) -> void:
	await host._select(nodes)


func selected() -> Array[Node]:
	return EditorInterface.get_selection().get_selected_nodes()


## Just this one.
func is_selected(node: Node) -> bool:
	return selected().size() == 1 and selected()[0] == node


func tools() -> Node:
	return host.get_tree().root.find_child("FemViewportTools", true, false)


func button(button_name: String) -> Control:
	return tools().toolbar.find_child(button_name, true, false)


func history() -> UndoRedo:
	var undo := host.get_undo_redo()
	return undo.get_history_undo_redo(undo.get_object_history_id(room))


func is_drawn() -> bool:
	return DisplayServer.get_name() != "headless"


# ---- scenes

func add(node: Node3D, node_name: String, position: Vector3, parent: Node = null) -> Node3D:
	node.name = node_name
	node.position = position
	(parent if parent != null else room).add_child(node)
	node.owner = room
	return node


func material(preset: String) -> MaterialResource:
	return load(MATERIALS + preset + ".tres")


func make_room() -> void:
	room = Node3D.new()
	room.name = "Room"
	var floor_box := CSGBox3D.new()
	floor_box.size = Vector3(8, 0.2, 8)
	floor_box.use_collision = true
	add(floor_box, "Floor", Vector3(0, -0.1, 0))
	for preset: String in ["oak", "pane_glass", "brick"]:
		var body: DestructibleBody = add(DestructibleBody.new(), preset.to_pascal_case(), Vector3(-1.4 + 1.4 * room.get_child_count() - 1.4, 1.2, 0))
		body.size = Vector3(0.8, 1.2, 0.3)
		body.cells = Vector3i(8, 12, 4) if preset == "pane_glass" else Vector3i(4, 6, 2) # a poke is felt by cells of its size
		body.material = material(preset)
	var torus: DestructibleBody = add(DestructibleBody.new(), "Torus", Vector3(0, 0.6, 2))
	torus.mesh = TorusMesh.new()
	torus.element_count = 300
	torus.material = material("ceramic")
	(add(MeshInstance3D.new(), "Plain", Vector3(-2.5, 0.5, 2)) as MeshInstance3D).mesh = SphereMesh.new()
	var packed := PackedScene.new()
	packed.pack(room)
	ResourceSaver.save(packed, ROOM)
	room.free()


func open_room() -> void:
	make_room()
	EditorInterface.open_scene_from_path(ROOM)
	EditorInterface.set_main_screen_editor("3D")
	await frames(10)
	room = EditorInterface.get_edited_scene_root()


func close_room() -> void:
	await select([])
	save_room()
	EditorInterface.close_scene()
	await frames(5)


## Without a screen Godot fails to make the thumbnail that it saves along.
func save_room() -> void:
	if is_drawn():
		EditorInterface.save_scene()
		return
	var packed := PackedScene.new()
	packed.pack(room)
	ResourceSaver.save(packed, ROOM)


func body(body_name: String) -> DestructibleBody:
	return room.get_node(body_name)


## What would be saved now.
func saved_text() -> String:
	var packed := PackedScene.new()
	packed.pack(room)
	var path := "user://saved_text.tscn"
	ResourceSaver.save(packed, path)
	var text := FileAccess.get_file_as_string(path)
	# Godot numbers what has no id of its own anew each time.
	return RegEx.create_from_string("(uid=\"[^\"]*\"|id=\"[^\"]*\"|_[a-z0-9]{5}\\b|unique_id=-?\\d+)").sub(text, "", true)


# ---- mouse and keys

## Where a point of the scene is in the editor's window.
func on_screen(point: Vector3) -> Vector2:
	var viewport := EditorInterface.get_editor_viewport_3d(0)
	return (viewport.get_parent() as Control).global_position + viewport.get_camera_3d().unproject_position(point)


func press(at: Vector2, is_pressed: bool, shift := false) -> void:
	var event := InputEventMouseButton.new()
	event.button_index = MOUSE_BUTTON_LEFT
	event.pressed = is_pressed
	event.button_mask = MOUSE_BUTTON_MASK_LEFT if is_pressed else 0
	event.position = at
	event.global_position = at
	event.shift_pressed = shift
	Input.parse_input_event(event)
	await frames(1)


func move(at: Vector2, is_held := false) -> void:
	var event := InputEventMouseMotion.new()
	event.position = at
	event.global_position = at
	event.button_mask = MOUSE_BUTTON_MASK_LEFT if is_held else 0
	Input.parse_input_event(event)
	await frames(1)


func click(at: Vector2, shift := false) -> void:
	await move(at)
	await press(at, true, shift)
	await press(at, false, shift)


func drag(from: Vector2, to: Vector2) -> void:
	await move(from)
	await press(from, true)
	for i in 3:
		await move(from.lerp(to, (i + 1) / 3.0), true)
	await press(to, false)


func key(code: Key) -> void:
	for is_pressed: bool in [true, false]:
		var event := InputEventKey.new()
		event.keycode = code
		event.physical_keycode = code
		event.pressed = is_pressed
		Input.parse_input_event(event)
		await frames(1)


# ---- simulation

func simulate(seconds: float) -> void:
	var steps: int = DestructionServer.get_statistics().steps
	var end := Time.get_ticks_msec() + 60_000
	while DestructionServer.get_statistics().steps - steps <= seconds * 60.0 and Time.get_ticks_msec() < end:
		await host.get_tree().process_frame
