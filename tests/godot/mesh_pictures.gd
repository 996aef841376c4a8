extends "res://picture_script.gd"
## Contact sheets of baked meshes that are dropped and struck: each as it stands, as it lies, at the blow, just after it, and
## when all has come to rest.
##
## godot --fixed-fps 60 --path tests/godot --script res://mesh_pictures.gd -- FOLDER BAKED [PRESET]
##
## Takes every *.femmesh of the folder BAKED (tests/bench/mesh_set.py --keep), a metre long whatever it was, and writes
## FOLDER/meshes_1.png and so on, ROWS meshes a sheet in the order of their names. Outsides are grey, what was cut is orange,
## faces of tetrahedra without a splinter have the same colour: what is grey inside or has holes is wrong. Ends with "MESH
## PICTURES DONE".

const Looks := preload("res://splinter_looks.gd")
const MATERIALS := "res://addons/fem_destruction/materials"
const CELL := Vector2i(240, 180) # pixels
const MOMENTS: Array[int] = [1, 60, 71, 77, 240] # ticks; the ball starts at THROWN and touches about 8 ticks later
const THROWN := 61
const SPEED := 20.0 # m/s
const MASS_SHARE := 0.5 # of the body's mass
const COLUMNS := 2 # meshes side by side
const ROWS := 8


func _take_all(folder: String, baked: String) -> void:
	root.size = CELL
	root.msaa_3d = Viewport.MSAA_4X
	var preset := argument(2, "")
	preset = "ceramic" if preset == "" else preset
	var stage := _build_stage()
	var files: Array[String] = []
	for file in DirAccess.get_files_at(baked):
		if file.get_extension() == "femmesh":
			files.append(file)
	for first in range(0, files.size(), COLUMNS * ROWS):
		var sheet := Image.create_empty(CELL.x * MOMENTS.size() * COLUMNS, CELL.y * ROWS, false, Image.FORMAT_RGB8)
		for i in mini(COLUMNS * ROWS, files.size() - first):
			var row := await _take_row(stage, baked.path_join(files[first + i]), preset)
			var place := Vector2i(i % COLUMNS * row.get_width(), i / COLUMNS * CELL.y)
			sheet.blit_rect(row, Rect2i(Vector2i.ZERO, row.get_size()), place)
		var path := folder.path_join("meshes_%d.png" % (first / (COLUMNS * ROWS) + 1))
		check(sheet.save_png(path) == OK, "saved_" + path.get_file().get_basename(), path + " cannot be written")
	stage.free()
	await process_frame


func _build_stage() -> Node3D:
	var stage := Node3D.new()
	root.add_child(stage)
	add_environment(stage, Color(0.62, 0.68, 0.75), 0.35)
	add_sun(stage, Vector3(-0.3, -1.0, -0.7), 0.6, 12.0)
	add_ground(stage, 40.0, Looks.ground())
	_camera = Camera3D.new()
	_camera.fov = 25.0
	stage.add_child(_camera)
	_camera.look_at_from_position(Vector3(1.3, 1.3, 2.9), Vector3(0, 0.35, 0))
	return stage


func _colour(colour: Color) -> StandardMaterial3D:
	var look := StandardMaterial3D.new()
	look.albedo_color = colour
	look.roughness = 0.8
	return look


## A metre along its longest side, just above the ground.
func _add_body(parent: Node3D, mesh: DestructibleMesh, preset: String) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.material = load(MATERIALS.path_join(preset + ".tres")).duplicate()
	body.surface_material = _colour(Color(0.6, 0.6, 0.64))
	body.material.interior_material = _colour(Color(0.95, 0.5, 0.15))
	body.fracture_seed = 3
	var box := body.get_aabb()
	var scale := 1.0 / box.get_longest_axis_size()
	body.scale = Vector3.ONE * scale
	body.position = -scale * box.get_center() + Vector3(0, 0.5 * scale * box.size.y + 0.05, 0)
	parent.add_child(body)
	return body


func _throw_ball(parent: Node3D, body: DestructibleBody) -> void:
	var iron := MaterialResource.new()
	iron.stiffness = 1e9
	iron.density = 7800.0
	iron.damping = 0.001
	var sphere := SphereMesh.new()
	sphere.radius = 0.1
	sphere.height = 0.2
	var ball := DestructibleBody.new()
	ball.mesh = sphere
	ball.element_count = 100
	ball.bake_in_background = false
	ball.material = iron
	ball.surface_material = Looks.iron()
	ball.mass_override = maxf(MASS_SHARE * body.get_mass(), 0.5)
	var box := body.get_aabb_world()
	ball.position = Vector3(box.position.x - 0.1 - SPEED * 8 / 60, maxf(box.get_center().y, 0.12), box.get_center().z)
	ball.start_velocity = Vector3(SPEED, 0.6, 0)
	parent.add_child(ball)


## Only what is looked at is drawn: a software renderer is slow.
func _draw() -> Image:
	RenderingServer.render_loop_enabled = true
	var image := await draw_frame()
	RenderingServer.render_loop_enabled = false
	return image


func _take_row(stage: Node3D, path: String, preset: String) -> Image:
	var row := Image.create_empty(CELL.x * MOMENTS.size(), CELL.y, false, Image.FORMAT_RGB8)
	var mesh := DestructibleMesh.load_baked(path)
	check(mesh != null, "loaded_" + path.get_file().get_basename(), path)
	if mesh == null:
		return row
	var parent := Node3D.new()
	stage.add_child(parent)
	var body := _add_body(parent, mesh, preset)
	var tick := 0
	for i in MOMENTS.size():
		while tick < MOMENTS[i]:
			await physics_frame
			tick += 1
			if tick == THROWN:
				_throw_ball(parent, body)
		paused = true
		row.blit_rect(await _draw(), Rect2i(Vector2i.ZERO, CELL), Vector2i(CELL.x * i, 0))
		paused = false
	print("-- %s: %d pieces, at the end %s" % [path.get_file(), body.get_piece_count(), body.get_aabb_world()])
	parent.free()
	await physics_frame
	return row
