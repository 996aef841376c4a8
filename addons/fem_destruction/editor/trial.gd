@tool
extends Node
## Simulates bodies inside the editor. Nothing of their nodes is changed: when it ends they are at rest as before. A click pokes, a
## drag pulls, a click with Shift throws a ball.

signal started
signal stopped

const RAY_LENGTH := 1000.0 # m
const CLICK_PIXELS := 6.0 # a press that moves less is a poke
const PULL_FREQUENCY := 12.0 # rad/s, of the spring between mouse and body
const PULL_MAX := 60.0 # m/s², beyond which a pull would break most things
const BALL_SPEED := 12.0 # m/s
const BALL_DENSITY := 3000.0 # kg/m³

## How fast (m/s) a poke makes a body of 1 kg.
var strength := 5.0

var bodies: Array[DestructibleBody] = []
var balls: Array[DestructibleBody] = []

var _start_poses: Dictionary[DestructibleBody, Transform3D] = {}
var _saves_power := false
var _pull := {} # body, piece, point in the piece's own space, depth (m), camera, mouse; empty: nothing is held
var _press := Vector2.INF


func is_running() -> bool:
	return not bodies.is_empty()


func _ready() -> void:
	name = "FemTrial"
	set_physics_process(false)


## Returns why it did not start, or an empty text.
func start(wanted: Array[DestructibleBody]) -> String:
	stop()
	var refused := ""
	for body in wanted:
		if body.mesh is DestructibleMesh and not body.mesh.is_baked():
			refused = "%s has a mesh that is not baked: press Bake first." % body.name
			continue
		body.simulate_in_editor(true)
		if body.is_simulated():
			bodies.append(body)
			_start_poses[body] = body.get_piece_transform(body.get_pieces()[0])
		else:
			body.simulate_in_editor(false)
			refused = "%s cannot be simulated: see its warnings in the scene dock." % body.name
	if bodies.is_empty():
		return refused if refused != "" else "There is no DestructibleBody to simulate."
	_saves_power = OS.low_processor_usage_mode
	OS.low_processor_usage_mode = false # the editor draws only what it knows to have changed
	set_physics_process(true)
	started.emit()
	return refused


func stop() -> void:
	if not is_running():
		return
	for ball in balls:
		if is_instance_valid(ball):
			ball.free()
	for body in bodies:
		if is_instance_valid(body):
			body.simulate_in_editor(false)
	balls.clear()
	bodies.clear()
	_start_poses.clear()
	_pull.clear()
	OS.low_processor_usage_mode = _saves_power
	set_physics_process(false)
	stopped.emit()


## The node's transform at which its body, whole as it is, would be where it lies now; as it was for one that broke.
func pose_of(body: DestructibleBody) -> Transform3D:
	var pieces := body.get_pieces()
	if pieces.size() != 1 or not _start_poses.has(body):
		return body.global_transform
	return body.get_piece_transform(pieces[0]) * _start_poses[body].affine_inverse() * body.global_transform


## True when the event was for the trial.
func take_input(camera: Camera3D, event: InputEvent) -> bool:
	if not is_running():
		return false
	if event is InputEventKey and event.pressed and event.keycode == KEY_ESCAPE:
		stop()
		return true
	if event is InputEventMouseButton and event.button_index == MOUSE_BUTTON_LEFT:
		return _take_button(camera, event)
	if event is InputEventMouseMotion and not _pull.is_empty():
		_pull.mouse = event.position
		return true
	return false


func _take_button(camera: Camera3D, event: InputEventMouseButton) -> bool:
	if not event.pressed:
		var was_held := not _pull.is_empty()
		if was_held and event.position.distance_to(_press) < CLICK_PIXELS:
			_poke(camera, event.position)
		_pull.clear()
		return was_held
	if event.shift_pressed:
		throw_ball(camera, event.position)
		return true
	var hit := find(camera, event.position)
	if hit.is_empty():
		return false
	_press = event.position
	var body: DestructibleBody = hit.body
	var piece := body.get_piece_at(hit.position)
	_pull = {"body": body, "piece": piece, "point": body.get_piece_transform(piece).affine_inverse() * hit.position if piece > 0 else Vector3.ZERO,
		"depth": (hit.position - camera.global_position).dot(-camera.global_basis.z), "camera": camera, "mouse": event.position}
	return true


## What the mouse points at, as of DestructionServer.cast_ray().
func find(camera: Camera3D, mouse: Vector2) -> Dictionary:
	var from := camera.project_ray_origin(mouse)
	return DestructionServer.cast_ray(from, from + camera.project_ray_normal(mouse) * RAY_LENGTH, camera.get_world_3d())


func _poke(camera: Camera3D, mouse: Vector2) -> void:
	var hit := find(camera, mouse)
	if not hit.is_empty():
		var body: DestructibleBody = hit.body
		body.apply_impulse(camera.project_ray_normal(mouse) * strength * clampf(body.get_mass(), 0.1, 50.0), hit.position)


## A ball as large as a fifth of the first body, from the camera. It is no part of the scene and goes with the trial.
func throw_ball(camera: Camera3D, mouse: Vector2) -> DestructibleBody:
	var sphere := SphereMesh.new()
	sphere.radius = clampf(0.1 * bodies[0].get_aabb().size.length(), 0.03, 0.5) if is_instance_valid(bodies[0]) else 0.2
	sphere.height = 2.0 * sphere.radius
	sphere.radial_segments = 24
	sphere.rings = 12
	var ball := DestructibleBody.new()
	ball.mesh = sphere
	ball.element_count = 60
	ball.dynamics = DestructibleBody.DYNAMICS_RIGID
	ball.material = MaterialResource.new()
	ball.material.density = BALL_DENSITY
	ball.material.stiffness = 1e7
	ball.material.impact_stiffness = 2e11
	ball.start_velocity = camera.project_ray_normal(mouse) * BALL_SPEED
	var root := EditorInterface.get_edited_scene_root()
	ball.name = "FemTrialBall"
	root.add_child(ball, false, Node.INTERNAL_MODE_BACK) # without an owner: not saved, not shown in the dock
	ball.global_transform = Transform3D(Basis.IDENTITY, camera.project_ray_origin(mouse) + camera.project_ray_normal(mouse) * 3.0 * sphere.radius)
	ball.simulate_in_editor(true)
	balls.append(ball)
	return ball


func _physics_process(_delta: float) -> void:
	bodies = bodies.filter(func(body: Variant) -> bool: return is_instance_valid(body) and body.is_simulated())
	if bodies.is_empty():
		bodies.append(null) # so that stop() runs
		stop()
		return
	if not _pull.is_empty():
		_pull_body()


## A critically damped spring between the point that was grasped and the mouse, as strong as the piece is heavy.
func _pull_body() -> void:
	if not is_instance_valid(_pull.body) or not _pull.body.is_simulated() or not is_instance_valid(_pull.camera):
		_pull.clear()
		return
	var body: DestructibleBody = _pull.body
	if not body.get_pieces().has(_pull.piece):
		_pull.clear() # it broke off, and into others
		return
	var data := body.get_piece_data(_pull.piece)
	var place: Vector3 = body.get_piece_transform(_pull.piece) * _pull.point
	var camera: Camera3D = _pull.camera
	var target := camera.project_position(_pull.mouse, _pull.depth)
	var speed: Vector3 = data.velocity + (data.angular_velocity as Vector3).cross(place - data.center)
	var pull: Vector3 = PULL_FREQUENCY * PULL_FREQUENCY * (target - place) - 2.0 * PULL_FREQUENCY * speed
	body.wake()
	body.apply_force(pull.limit_length(PULL_MAX) * float(data.mass), place)
