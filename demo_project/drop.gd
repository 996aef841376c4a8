extends Node3D
## The demo: boxes of different stuff drop onto the ground. They can be hit with the mouse and dropped again.
##
## With `-- --record FOLDER` it runs for RECORD_SECONDS without a player, hits some bodies, writes pictures into FOLDER
## and quits; demo_project/run.sh uses this together with Godot's --write-movie.

const HIT_SPEED := 5.0 # m/s that a hit gives to a whole body
const HIT_RADIUS := 0.35 # m around the mouse ray
const SLOW_MOTION := 0.2
# Compatibility adds up light after the conversion to screen colours, so the same sun looks brighter there.
const COMPATIBILITY_SUN := 0.43
const RECORD_SECONDS := 7.0
const PICTURE_TIMES: Array[float] = [0.4, 0.8, 1.0, 1.4, 3.0, 3.7]
const RECORDED_HITS: Dictionary[float, NodePath] = {
	3.2: ^"Bodies/RubberTower",
	3.3: ^"Bodies/JellyCube",
	3.4: ^"Bodies/FoamMat",
	3.5: ^"Bodies/SoftBeam",
	3.6: ^"Bodies/Ring",
}

var _record_folder := ""
var _ticks := 0

@onready var _bodies: Node3D = $Bodies
@onready var _camera: Camera3D = $Camera
@onready var _statistics: Label = $Interface/Statistics


func _ready() -> void:
	if RenderingServer.get_current_rendering_method() == "gl_compatibility":
		$Sun.light_energy *= COMPATIBILITY_SUN
	var arguments := OS.get_cmdline_user_args()
	var index := arguments.find("--record")
	if index >= 0 and index + 1 < arguments.size():
		_record_folder = arguments[index + 1]
		$Interface/Help.hide()
		_statistics.hide() # times on a machine that records at the same time mean nothing


func _process(_delta: float) -> void:
	_show_statistics()


func _physics_process(_delta: float) -> void:
	if _record_folder == "":
		return
	_ticks += 1
	for time in RECORDED_HITS:
		if _ticks == roundi(time * Engine.physics_ticks_per_second):
			_hit_from_below(get_node(RECORDED_HITS[time]))
	for time in PICTURE_TIMES:
		if _ticks == roundi(time * Engine.physics_ticks_per_second):
			_save_picture("%s/demo_%.2fs.png" % [_record_folder, time])
	if _ticks % Engine.physics_ticks_per_second == 0:
		print("recorded %d of %d s" % [_ticks / Engine.physics_ticks_per_second, roundi(RECORD_SECONDS)])
	if _ticks >= roundi(RECORD_SECONDS * Engine.physics_ticks_per_second):
		get_tree().quit()


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


func _hit_from_below(body: DestructibleBody) -> void:
	var box := body.get_aabb_world()
	var impulse := Vector3.UP * body.get_mass() * HIT_SPEED
	body.apply_central_impulse(impulse)
	body.apply_impulse(impulse * 0.1, box.position)


func _save_picture(path: String) -> void:
	await RenderingServer.frame_post_draw
	get_viewport().get_texture().get_image().save_png(path)


func _show_statistics() -> void:
	var figures := DestructionServer.get_statistics()
	var asleep := 0
	for body: DestructibleBody in _bodies.get_children():
		asleep += 1 if body.is_asleep() else 0
	_statistics.text = "%d bodies (%d asleep), %d tetrahedra\n%.1f ms a step on %d thread(s), %s" % [
		figures.bodies, asleep, figures.tets, figures.step_ms, figures.workers, figures.simd,
	]
