extends "res://picture_script.gd"
## Godot's rigid bodies and destructibles, drawn as a player sees them: a ball through a brick wall, boxes on a bending plank.
##
## godot --fixed-fps 60 --path tests/godot --script res://coupling_pictures.gd -- FOLDER
##
## Writes FOLDER/coupling_NAME.png, a row of moments. Prints "ok NAME" or "FAIL NAME: CAUSE" for each check and ends with
## "COUPLING PICTURES DONE".

const CELL := Vector2i(480, 360) # pixels


func _take_all(folder: String, only: String) -> void:
	root.size = CELL
	DestructionServer.ground_enabled = false
	for scene: Dictionary in _scenes():
		if only == "" or only == scene.name:
			await _take_pictures(scene, folder)


func _scenes() -> Array[Dictionary]:
	return [
		{name = "wall", build = _build_wall, eye = Vector3(-2.2, 1.7, 2.9), target = Vector3(0.5, 0.8, 0), moments = [6, 13, 16, 20, 32, 150]},
		{name = "plank", build = _build_plank, eye = Vector3(0.9, 1.4, 2.4), target = Vector3(0, 1.0, 0), moments = [1, 25, 40, 60, 90, 200]},
	]


func _look(color: Color) -> StandardMaterial3D:
	var look := StandardMaterial3D.new()
	look.albedo_color = color
	look.roughness = 0.7
	return look


func _add_rigid(stage: Node3D, position: Vector3, mesh: PrimitiveMesh, shape: Shape3D, mass: float, color: Color) -> RigidBody3D:
	var body := RigidBody3D.new()
	var collision := CollisionShape3D.new()
	var instance := MeshInstance3D.new()
	collision.shape = shape
	instance.mesh = mesh
	instance.material_override = _look(color)
	body.add_child(collision)
	body.add_child(instance)
	body.mass = mass
	body.position = position
	stage.add_child(body)
	return body


func _add_ball(stage: Node3D, position: Vector3, radius: float, mass: float, color: Color) -> RigidBody3D:
	var mesh := SphereMesh.new()
	mesh.radius = radius
	mesh.height = 2.0 * radius
	var shape := SphereShape3D.new()
	shape.radius = radius
	return _add_rigid(stage, position, mesh, shape, mass, color)


func _add_box(stage: Node3D, position: Vector3, size: float, mass: float, color: Color) -> RigidBody3D:
	var mesh := BoxMesh.new()
	mesh.size = Vector3.ONE * size
	var shape := BoxShape3D.new()
	shape.size = Vector3.ONE * size
	return _add_rigid(stage, position, mesh, shape, mass, color)


func _add_body(stage: Node3D, position: Vector3, size: Vector3, cells: Vector3i, material: MaterialResource) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = size
	body.cells = cells
	body.material = material
	body.position = position
	stage.add_child(body)
	return body


func _build_wall(stage: Node3D) -> Dictionary:
	var wall := _add_body(stage, Vector3(0, 0.9, 0), Vector3(0.14, 1.8, 2.6), Vector3i(2, 12, 17),
			load("res://addons/fem_destruction/materials/brick.tres"))
	wall.anchors = [AABB(Vector3(-1, -1, -2), Vector3(2, 0.12, 4))]
	var ball := _add_ball(stage, Vector3(-3.5, 1.1, 0.1), 0.28, 200.0, Color(0.15, 0.16, 0.2))
	ball.linear_velocity = Vector3(18, 1, 0)
	return {wall = wall, ball = ball}


func _check_wall(things: Dictionary) -> void:
	check(things.wall.get_piece_count() > 5, "wall_breaks", "%d pieces" % things.wall.get_piece_count())
	check(things.ball.position.x > 0.3, "ball_comes_through", "it is at %s" % things.ball.position)


func _build_plank(stage: Node3D) -> Dictionary:
	var material := MaterialResource.new()
	material.stiffness = 1.2e7
	material.density = 500.0
	material.damping = 0.01
	var plank := _add_body(stage, Vector3(0, 0.8, 0), Vector3(2.6, 0.08, 0.5), Vector3i(16, 1, 3), material)
	plank.surface_material = _look(Color(0.72, 0.52, 0.3))
	plank.anchors = [AABB(Vector3(-1.31, -1, -1), Vector3(0.1, 2, 2)), AABB(Vector3(1.21, -1, -1), Vector3(0.1, 2, 2))]
	var boxes: Array[RigidBody3D] = []
	for i in 4:
		boxes.append(_add_box(stage, Vector3(0.02 * i, 1.2 + 0.32 * i, 0), 0.3, 8.0, Color(0.2, 0.35 + 0.12 * i, 0.7)))
	return {plank = plank, boxes = boxes}


func _check_plank(things: Dictionary) -> void:
	for box: RigidBody3D in things.boxes:
		check(box.position.y > 0.6, "box_rests_on_the_plank", "one fell to %s" % box.position)


func _build_stage() -> Node3D:
	var stage := Node3D.new()
	_camera = Camera3D.new()
	stage.add_child(_camera)
	var sun := DirectionalLight3D.new()
	sun.shadow_enabled = true
	sun.rotation = Vector3(-0.9, -0.6, 0)
	stage.add_child(sun)
	var environment := WorldEnvironment.new()
	environment.environment = Environment.new()
	environment.environment.background_mode = Environment.BG_COLOR
	environment.environment.background_color = Color(0.55, 0.62, 0.7)
	environment.environment.ambient_light_source = Environment.AMBIENT_SOURCE_COLOR
	environment.environment.ambient_light_color = Color(0.5, 0.55, 0.65)
	stage.add_child(environment)
	var ground := StaticBody3D.new()
	var collision := CollisionShape3D.new()
	collision.shape = BoxShape3D.new()
	collision.shape.size = Vector3(30, 1, 30)
	ground.position.y = -0.5
	var instance := MeshInstance3D.new()
	instance.mesh = BoxMesh.new()
	instance.mesh.size = Vector3(30, 1, 30)
	instance.material_override = _look(Color(0.42, 0.45, 0.4))
	ground.add_child(collision)
	ground.add_child(instance)
	stage.add_child(ground)
	root.add_child(stage)
	return stage


## For those who look at more than the end.
func _watch(_things: Dictionary) -> void:
	pass


func _take_pictures(scene: Dictionary, folder: String) -> void:
	var stage := _build_stage()
	var things: Dictionary = await scene.build.call(stage)
	_camera.look_at_from_position(scene.eye, scene.target)
	var moments: Array = scene.moments
	var sheet := Image.create(CELL.x * 3, CELL.y * 2, false, Image.FORMAT_RGB8)
	for tick in range(1, moments[-1] + 1):
		await physics_frame
		_watch(things)
		var place := moments.find(tick)
		if place < 0:
			continue
		await process_frame
		await RenderingServer.frame_post_draw
		var picture := root.get_texture().get_image()
		picture.convert(Image.FORMAT_RGB8)
		sheet.blit_rect(picture, Rect2i(Vector2i.ZERO, CELL), Vector2i(CELL.x * (place % 3), CELL.y * (place / 3)))
	call("_check_" + scene.name, things)
	check(sheet.save_png(folder.path_join("%s_%s.png" % [_name().trim_suffix("_pictures"), scene.name])) == OK, scene.name + "_is_saved")
	stage.free()
	await process_frame
