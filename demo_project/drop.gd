extends Node3D
## Boxes of different stuff drop onto the ground. They can be hit with the mouse and dropped again.

const HIT_SPEED := 5.0 # m/s that a hit gives to a whole body
const HIT_RADIUS := 0.35 # m around the mouse ray
const SLOW_MOTION := 0.2
# Compatibility adds up light after the conversion to screen colours, so the same sun looks brighter there.
const COMPATIBILITY_SUN := 0.43

@onready var _bodies: Node3D = $Bodies
@onready var _camera: Camera3D = $Camera
@onready var _statistics: Label = $Interface/Statistics


func _ready() -> void:
	if RenderingServer.get_current_rendering_method() == "gl_compatibility":
		$Sun.light_energy *= COMPATIBILITY_SUN


func _process(_delta: float) -> void:
	_show_statistics()


func _unhandled_input(event: InputEvent) -> void:
	var button := event as InputEventMouseButton
	if button != null and button.pressed and button.button_index == MOUSE_BUTTON_LEFT:
		_hit_at(button.position)
	var key := event as InputEventKey
	if key != null and key.pressed and not key.echo:
		match key.keycode:
			KEY_R:
				_drop_again()
			KEY_SPACE:
				Engine.time_scale = SLOW_MOTION if Engine.time_scale == 1.0 else 1.0
			KEY_TAB:
				Engine.time_scale = 1.0
				get_tree().change_scene_to_file("res://playground.tscn")


func _drop_again() -> void:
	for body: DestructibleBody in _bodies.get_children():
		body.reset()


## Pushes the body under the mouse away from the camera, at the node nearest to the camera.
func _hit_at(mouse_position: Vector2) -> void:
	var origin := _camera.project_ray_origin(mouse_position)
	var direction := _camera.project_ray_normal(mouse_position)
	var nearest := INF
	var hit_body: DestructibleBody = null
	for body: DestructibleBody in _bodies.get_children():
		for node_position in body.get_node_positions():
			var along := (node_position - origin).dot(direction)
			var aside := (origin + direction * along).distance_to(node_position)
			if along > 0.0 and along < nearest and aside < HIT_RADIUS:
				nearest = along
				hit_body = body
	if hit_body != null:
		var impulse := (direction + Vector3.UP * 0.3) * hit_body.get_mass() * HIT_SPEED
		hit_body.apply_impulse(impulse * 0.3, origin + direction * nearest)
		hit_body.apply_central_impulse(impulse * 0.7)


func _show_statistics() -> void:
	var figures := DestructionServer.get_statistics()
	var asleep := 0
	for body: DestructibleBody in _bodies.get_children():
		asleep += 1 if body.is_asleep() else 0
	_statistics.text = "%d bodies (%d asleep), %d tetrahedra\n%.1f ms a step on %d thread(s), %s" % [
		figures.bodies, asleep, figures.tets, figures.step_ms, figures.workers, figures.simd,
	]
