extends CharacterBody3D
## The visitor: walks, throws balls, shoots, and sets off explosions where they look.

const Weapons := preload("res://weapons.gd")
const WALK_SPEED := 4.0 # m/s
const JUMP_SPEED := 4.5 # m/s
const MOUSE_SPEED := 0.0025 # radians a pixel
const SLOW_MOTION := 0.15

@onready var _camera: Camera3D = $Camera


func _ready() -> void:
	if DisplayServer.get_name() != "headless":
		Input.mouse_mode = Input.MOUSE_MODE_CAPTURED


func _physics_process(delta: float) -> void:
	var wish := Vector2(
		Input.get_axis("walk_left", "walk_right"), Input.get_axis("walk_forward", "walk_back")).limit_length()
	var along := basis * Vector3(wish.x, 0, wish.y) * WALK_SPEED
	velocity.x = along.x
	velocity.z = along.z
	velocity += get_gravity() * delta
	if is_on_floor() and Input.is_action_pressed("jump"):
		velocity.y = JUMP_SPEED
	move_and_slide()


func _unhandled_input(event: InputEvent) -> void:
	var motion := event as InputEventMouseMotion
	if motion != null and Input.mouse_mode == Input.MOUSE_MODE_CAPTURED:
		rotate_y(-motion.relative.x * MOUSE_SPEED)
		_camera.rotation.x = clampf(_camera.rotation.x - motion.relative.y * MOUSE_SPEED, -1.5, 1.5)
	elif event.is_action_pressed("free_mouse"):
		Input.mouse_mode = Input.MOUSE_MODE_VISIBLE
	elif event is InputEventMouseButton and Input.mouse_mode != Input.MOUSE_MODE_CAPTURED:
		Input.mouse_mode = Input.MOUSE_MODE_CAPTURED
	else:
		_act(event)


func _act(event: InputEvent) -> void:
	var eye := _camera.global_position
	var ahead := -_camera.global_basis.z
	if event.is_action_pressed("throw"):
		Weapons.throw_ball(get_node(^"../Balls"), eye + 0.8 * ahead, ahead)
	elif event.is_action_pressed("shoot"):
		Weapons.shoot(get_parent(), eye, ahead, [get_rid()])
	elif event.is_action_pressed("explode"):
		Weapons.explode_ahead(get_parent(), eye, ahead, [get_rid()])
	elif event.is_action_pressed("slow_motion"):
		Engine.time_scale = SLOW_MOTION if Engine.time_scale == 1.0 else 1.0
	elif event.is_action_pressed("start_over"):
		get_parent().start_over()
	elif event.is_action_pressed("other_demo"):
		Input.mouse_mode = Input.MOUSE_MODE_VISIBLE
		Engine.time_scale = 1.0
		get_tree().change_scene_to_file("res://drop.tscn")
