@tool
extends VBoxContainer
## A small stage in the inspector of a MaterialResource: drops a ball of it and strikes a slab of it, simulated as in the game.

const DURATION := 3.0 # s

var subject: MaterialResource

var _button := Button.new()
var _container := SubViewportContainer.new()
var _viewport := SubViewport.new()
var _bodies: Array[DestructibleBody] = []
var _time := 0.0
var _saves_power := false


func _init() -> void:
	name = "FemMaterialPreview"
	_container.custom_minimum_size.y = 150.0
	_container.stretch = true
	add_child(_container)
	_viewport.own_world_3d = true
	_viewport.render_target_update_mode = SubViewport.UPDATE_DISABLED
	_container.add_child(_viewport)
	_button.name = "Strike"
	_button.text = "Drop and Strike"
	_button.tooltip_text = "Drops a ball of this material, 30 cm, and strikes a slab of it, 1 m, with an iron ball."
	_button.pressed.connect(strike)
	add_child(_button)
	_build_stage()
	set_physics_process(false)


func _exit_tree() -> void:
	_end()


func _build_stage() -> void:
	var camera := Camera3D.new()
	camera.position = Vector3(0.1, 0.75, 2.2)
	camera.rotation.x = -0.16
	camera.fov = 45.0
	_viewport.add_child(camera)
	var sun := DirectionalLight3D.new()
	sun.rotation = Vector3(-0.9, 0.6, 0.0)
	_viewport.add_child(sun)
	var environment := WorldEnvironment.new()
	environment.environment = Environment.new()
	environment.environment.background_mode = Environment.BG_COLOR
	environment.environment.background_color = Color(0.16, 0.17, 0.19)
	environment.environment.ambient_light_source = Environment.AMBIENT_SOURCE_COLOR
	environment.environment.ambient_light_color = Color(0.6, 0.65, 0.7)
	_viewport.add_child(environment)
	_add_wall(Vector3(6, 0.2, 3), Vector3(0, -0.1, 0))
	_add_wall(Vector3(0.1, 0.4, 0.6), Vector3(0.05, 0.2, 0))
	_add_wall(Vector3(0.1, 0.4, 0.6), Vector3(0.85, 0.2, 0))


func _add_wall(size: Vector3, at: Vector3) -> void:
	var wall := StaticBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = BoxShape3D.new()
	shape.shape.size = size
	wall.add_child(shape)
	var seen := MeshInstance3D.new()
	seen.mesh = BoxMesh.new()
	seen.mesh.size = size
	wall.add_child(seen)
	wall.position = at
	_viewport.add_child(wall)


func _add_body(made_of: MaterialResource, at: Vector3, mesh: Mesh) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.material = made_of
	body.mesh = mesh
	body.position = at
	body.element_count = 250
	body.bake_in_background = false # what is seen is struck at once
	_viewport.add_child(body)
	_bodies.append(body)
	return body


func strike() -> void:
	_end()
	var ball := SphereMesh.new()
	ball.radius = 0.15
	ball.height = 0.3
	_add_body(subject, Vector3(-0.6, 1.0, 0), ball)
	var slab := BoxMesh.new()
	slab.size = Vector3(1.0, 0.05, 0.4)
	_add_body(subject, Vector3(0.45, 0.43, 0), slab)
	var iron := MaterialResource.new()
	iron.density = 7800.0
	iron.stiffness = 1e7
	iron.impact_stiffness = 2e11
	var hammer := SphereMesh.new()
	hammer.radius = 0.08
	hammer.height = 0.16
	var striker := _add_body(iron, Vector3(0.45, 1.1, 0), hammer)
	striker.dynamics = DestructibleBody.DYNAMICS_RIGID
	striker.start_velocity = Vector3(0, -6, 0)
	striker.element_count = 60
	for body in _bodies:
		body.simulate_in_editor(true)
	_time = 0.0
	_saves_power = OS.low_processor_usage_mode
	OS.low_processor_usage_mode = false
	_viewport.render_target_update_mode = SubViewport.UPDATE_ALWAYS
	set_physics_process(true)


func _physics_process(delta: float) -> void:
	_time += delta
	if _time > DURATION:
		_stop()


## The last picture stays; the bodies are held until the next strike.
func _stop() -> void:
	if not is_physics_processing():
		return
	set_physics_process(false)
	OS.low_processor_usage_mode = _saves_power
	_viewport.render_target_update_mode = SubViewport.UPDATE_DISABLED
	for body in _bodies:
		body.simulate_in_editor(false)


func _end() -> void:
	_stop()
	for body in _bodies:
		body.queue_free()
	_bodies.clear()
