extends Camera3D
## Circles slowly around the scene; the right mouse button turns it by hand, the wheel moves it nearer and farther.

const TARGET := Vector3(0.0, 1.1, 0.3)

@export_range(-1.0, 1.0, 0.01, "suffix:rad/s") var orbit_speed := 0.1
@export_range(3.0, 30.0, 0.1, "suffix:m") var distance := 10.0
@export_range(0.05, 1.5, 0.01, "suffix:rad") var elevation := 0.3

var _angle := -0.25


func _process(delta: float) -> void:
	_angle += orbit_speed * delta / maxf(Engine.time_scale, 0.01)
	var direction := Vector3(sin(_angle) * cos(elevation), sin(elevation), cos(_angle) * cos(elevation))
	look_at_from_position(TARGET + direction * distance, TARGET)


func _unhandled_input(event: InputEvent) -> void:
	var motion := event as InputEventMouseMotion
	if motion != null and motion.button_mask & MOUSE_BUTTON_MASK_RIGHT:
		_angle -= motion.relative.x * 0.005
		elevation = clampf(elevation + motion.relative.y * 0.005, 0.05, 1.5)
	var button := event as InputEventMouseButton
	if button != null and button.pressed:
		if button.button_index == MOUSE_BUTTON_WHEEL_UP:
			distance = maxf(distance * 0.92, 3.0)
		elif button.button_index == MOUSE_BUTTON_WHEEL_DOWN:
			distance = minf(distance * 1.08, 30.0)
