extends Node
## Plays the visitor with pretended keys before the tour of `-- --check`, and says what came of it.
##
## It stands beside the scenes, so that it outlives starting over and going to the other demo and back.

signal finished(failed: int)

var _failed := 0


func _ready() -> void:
	await _wait(0.5)
	await _check_walking()
	await _check_weapons()
	await _check_time()
	await _check_scenes()
	finished.emit(_failed)
	queue_free()


func _check_walking() -> void:
	var player := _player()
	for key: Array in [[KEY_W, Vector3.FORWARD], [KEY_S, Vector3.BACK], [KEY_D, Vector3.RIGHT], [KEY_LEFT, Vector3.LEFT]]:
		var from := player.position
		_press(key[0], true)
		await _wait(0.4)
		_press(key[0], false)
		var way := player.position - from
		_check(way.dot(key[1]) > 1.2 and absf(player.position.y) < 0.1, "player_walks_by_" + OS.get_keycode_string(key[0]), "by %s" % way)
	_press(KEY_SPACE, true)
	await _wait(0.2)
	_press(KEY_SPACE, false)
	_check(player.position.y > 0.3, "player_jumps", "to %.2f m" % player.position.y)
	await _wait(1.0)
	if DisplayServer.get_name() != "headless": # without a display there is no mouse to hold
		var motion := InputEventMouseMotion.new()
		motion.relative = Vector2(400, 0)
		Input.parse_input_event(motion)
		await _wait(0.1)
		_check(absf(player.rotation.y) > 0.5, "player_looks_around", "turned by %.2f" % player.rotation.y)


func _check_weapons() -> void:
	_stand_before(^"Exhibits/Window", Vector3(0.1, 0, 3.0))
	await _wait(0.2)
	await _click(MOUSE_BUTTON_RIGHT, "shoot", 0.5)
	_check(_pieces(^"Exhibits/Window") > 1, "player_shoots", "the pane is whole")
	_stand_before(^"Exhibits/Wall", Vector3(0, 0, 4.0))
	await _wait(0.2)
	await _click(MOUSE_BUTTON_LEFT, "throw", 0.8)
	_check(_level().get_node(^"Balls").get_child_count() == 1, "player_throws", "there is no ball")
	_check(_pieces(^"Exhibits/Wall") > 5, "player_breaks_the_wall", "%d pieces" % _pieces(^"Exhibits/Wall"))
	_stand_before(^"Exhibits/Fence", Vector3(-0.8, 0, 3.0))
	var boards := _pieces(^"Exhibits/Fence")
	await _wait(0.2)
	_player().get_node(^"Camera").rotation.x = -0.35
	_press(KEY_E, true)
	await _wait(0.8)
	_press(KEY_E, false)
	_check(_pieces(^"Exhibits/Fence") > boards, "player_sets_off_explosions", "the fence is whole")


func _check_time() -> void:
	for is_slow: bool in [true, false]:
		_press(KEY_Q, true)
		await _wait(0.05)
		_press(KEY_Q, false)
		await _wait(0.1)
		_check((Engine.time_scale < 1.0) == is_slow, "player_slows_time" if is_slow else "player_lets_time_go_on", "the time scale is %.2f" % Engine.time_scale)


func _check_scenes() -> void:
	var before := _level().get_instance_id()
	_press(KEY_R, true)
	await _wait(0.5)
	_press(KEY_R, false)
	_check(_level().get_instance_id() != before and _pieces(^"Exhibits/Wall") == 1, "player_starts_over", "the wall has %d pieces" % _pieces(^"Exhibits/Wall"))
	for scene: String in ["drop", "playground"]:
		_press(KEY_TAB, true)
		await _wait(0.3)
		_press(KEY_TAB, false)
		await _wait(0.3)
		_check(_level().scene_file_path.contains(scene), "tab_leads_to_" + scene, "the scene is %s" % _level().scene_file_path)


func _level() -> Node3D:
	return get_tree().current_scene


func _player() -> CharacterBody3D:
	return _level().get_node(^"Player")


func _stand_before(exhibit: NodePath, place: Vector3) -> void:
	var at := (_level().get_node(exhibit) as Node3D).global_transform
	_player().global_transform = Transform3D(at.basis.orthonormalized(), at * place)
	_player().get_node(^"Camera").rotation.x = 0.0


func _pieces(exhibit: NodePath) -> int:
	var count := 0
	for body: DestructibleBody in _level().get_node(exhibit).find_children("*", "DestructibleBody"):
		count += body.get_piece_count()
	return count


func _wait(seconds: float) -> void:
	for i in roundi(seconds * Engine.physics_ticks_per_second):
		await get_tree().physics_frame


func _press(key: Key, is_pressed: bool) -> void:
	var event := InputEventKey.new()
	event.keycode = key
	event.physical_keycode = key
	event.pressed = is_pressed
	Input.parse_input_event(event)


## Without a display the mouse cannot be held, and a click would only ask for it: then the action itself.
func _click(button: MouseButton, action: StringName, seconds: float) -> void:
	for is_pressed: bool in [true, false]:
		if DisplayServer.get_name() == "headless":
			var event := InputEventAction.new()
			event.action = action
			event.pressed = is_pressed
			Input.parse_input_event(event)
		else:
			var event := InputEventMouseButton.new()
			event.button_index = button
			event.pressed = is_pressed
			event.position = Vector2(100, 100)
			Input.parse_input_event(event)
		await _wait(seconds if is_pressed else 0.05)


func _check(condition: bool, what: String, cause: String) -> void:
	if condition:
		print("ok demo.", what)
	else:
		_failed += 1
		print("FAIL demo.%s: %s" % [what, cause])
