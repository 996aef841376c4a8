extends Node
## Plays the visitor with pretended keys before the tour of `-- --check`, and says what came of it.

signal finished(failed: int)

var _failed := 0

@onready var _level: Node3D = get_parent()
@onready var _player: CharacterBody3D = _level.get_node(^"Player")


func _ready() -> void:
	await _wait(0.5)
	var from := _player.position
	Input.action_press("walk_forward")
	await _wait(0.5)
	Input.action_release("walk_forward")
	_check(from.z - _player.position.z > 1.5 and absf(_player.position.y) < 0.1, "player_walks", "from %s to %s" % [from, _player.position])
	_press("throw")
	await _wait(0.1)
	_check(_level.get_node(^"Balls").get_child_count() == 1, "player_throws", "there is no ball")
	_press("slow_motion")
	await _wait(0.1)
	_check(Engine.time_scale < 1.0, "player_slows_time", "the time scale is %.2f" % Engine.time_scale)
	_press("slow_motion")
	_press("shoot")
	_press("explode")
	await _wait(0.2)
	_check(Engine.time_scale == 1.0, "player_lets_time_go_on", "the time scale is %.2f" % Engine.time_scale)
	finished.emit(_failed)


func _wait(seconds: float) -> void:
	for i in roundi(seconds * Engine.physics_ticks_per_second):
		await get_tree().physics_frame


func _press(action: StringName) -> void:
	var event := InputEventAction.new()
	event.action = action
	event.pressed = true
	Input.parse_input_event(event)


func _check(condition: bool, what: String, cause: String) -> void:
	if condition:
		print("ok demo.", what)
	else:
		_failed += 1
		print("FAIL demo.%s: %s" % [what, cause])
