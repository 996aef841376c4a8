extends "res://picture_script.gd"
## Every preset of addons/fem_destruction/materials under the same blow: a slab held at both ends, a heavy ball from above.
##
## godot --fixed-fps 60 --path tests/godot --script res://preset_pictures.gd -- FOLDER [PRESET]
##
## Writes FOLDER/presets.png, a row for each preset: before, at, just after, and when all has come to rest; and checks that
## what should break breaks and what should not does not. Prints "ok NAME" or "FAIL NAME: CAUSE" for each check and ends
## with "PRESET PICTURES DONE".

const FOLDER := "res://addons/fem_destruction/materials"
const CELL := Vector2i(360, 240) # pixels
const MOMENTS: Array[int] = [1, 8, 12, 30, 180] # ticks; the ball touches at 7
const SLAB := Vector3(1.4, 0.07, 0.6) # m
## What is left of the slab: least and most pieces, and how far it still sags or is dented at the end (m).
const EXPECTED := {
	oak = [3, 400], pine = [3, 400], plywood = [2, 400], pane_glass = [8, 600], tempered_glass = [15, 900],
	concrete = [5, 600], brick = [5, 600], stone = [2, 300], ceramic = [8, 600], steel_sheet = [1, 1], aluminium = [1, 3],
	rubber = [1, 1], jelly = [1, 60], ice = [6, 600], cardboard = [1, 60],
}


func _take_all(folder: String, only: String) -> void:
	root.size = CELL
	var stage := _build_stage()
	var rows: Array[Image] = []
	for file in DirAccess.get_files_at(FOLDER):
		var preset := file.get_basename()
		if file.get_extension() == "tres" and (only == "" or only == preset):
			rows.append(await _take_row(stage, preset))
	var sheet := Image.create_empty(CELL.x * MOMENTS.size(), CELL.y * rows.size(), false, Image.FORMAT_RGB8)
	for i in rows.size():
		sheet.blit_rect(rows[i], Rect2i(Vector2i.ZERO, rows[i].get_size()), Vector2i(0, CELL.y * i))
	var path := folder.path_join("presets.png" if only == "" else "preset_%s.png" % only)
	check(sheet.save_png(path) == OK, "saved", path + " cannot be written")
	stage.free()
	await process_frame


# -- The scene --------------------------------------------------------------------------------------------------------


func _add_slab(parent: Node3D, material: MaterialResource) -> DestructibleBody:
	var box := BoxMesh.new()
	box.size = SLAB
	var slab := DestructibleBody.new()
	slab.mesh = box
	slab.element_count = 1200
	slab.material = material
	slab.position = Vector3(0, 0.75, 0)
	slab.fracture_seed = 3
	var end := Vector3(0.07, 0.2, SLAB.z + 0.1)
	slab.anchors = [AABB(Vector3(-0.72, -0.1, -end.z / 2), end), AABB(Vector3(0.65, -0.1, -end.z / 2), end)]
	parent.add_child(slab)
	return slab


## 60 kg of iron that come down with 8 m/s.
func _add_ball(parent: Node3D) -> DestructibleBody:
	var iron := MaterialResource.new()
	iron.stiffness = 1e9
	iron.density = 7800.0
	iron.damping = 0.001
	var look := StandardMaterial3D.new()
	look.albedo_color = Color(0.12, 0.12, 0.14)
	look.roughness = 0.4
	var sphere := SphereMesh.new()
	sphere.radius = 0.12
	sphere.height = 0.24
	sphere.radial_segments = 24
	sphere.rings = 12
	var ball := DestructibleBody.new()
	ball.mesh = sphere
	ball.element_count = 300
	ball.material = iron
	ball.surface_material = look
	ball.position = Vector3(0.05, 1.75, 0.03)
	ball.start_velocity = Vector3(0, -8, 0)
	parent.add_child(ball)
	return ball


func _add_trestles(parent: Node3D) -> void:
	for side: float in [-1.0, 1.0]:
		var trestle := MeshInstance3D.new()
		var box := BoxMesh.new()
		box.size = Vector3(0.08, 0.71, SLAB.z)
		trestle.mesh = box
		trestle.position = Vector3(side * 0.69, 0.355, 0)
		var look := StandardMaterial3D.new()
		look.albedo_color = Color(0.25, 0.27, 0.3)
		box.material = look
		parent.add_child(trestle)


# -- The pictures -----------------------------------------------------------------------------------------------------


func _build_stage() -> Node3D:
	var stage := Node3D.new()
	root.add_child(stage)
	var environment := Environment.new()
	environment.background_mode = Environment.BG_SKY # metal must have something to reflect
	environment.sky = Sky.new()
	environment.sky.sky_material = ProceduralSkyMaterial.new()
	environment.ambient_light_energy = 0.6
	var world := WorldEnvironment.new()
	world.environment = environment
	stage.add_child(world)
	var light := DirectionalLight3D.new()
	light.light_energy = 0.55
	light.shadow_enabled = true
	light.directional_shadow_max_distance = 12.0
	stage.add_child(light)
	light.look_at_from_position(Vector3.ZERO, Vector3(-0.6, -1.0, -0.5))
	var ground := MeshInstance3D.new()
	var plane := PlaneMesh.new()
	plane.size = Vector2(40, 40)
	var look := StandardMaterial3D.new()
	look.albedo_color = Color(0.42, 0.45, 0.4)
	plane.material = look
	ground.mesh = plane
	stage.add_child(ground)
	_camera = Camera3D.new()
	_camera.fov = 33.0
	stage.add_child(_camera)
	_camera.look_at_from_position(Vector3(1.0, 1.75, 2.3), Vector3(0, 0.45, 0))
	return stage


## Only what is looked at is drawn: a software renderer is slow.
func _draw() -> Image:
	RenderingServer.render_loop_enabled = true
	await process_frame
	await RenderingServer.frame_post_draw
	var image := root.get_texture().get_image()
	image.convert(Image.FORMAT_RGB8)
	RenderingServer.render_loop_enabled = false
	return image


## Time stands still while a picture is taken.
func _take_row(stage: Node3D, preset: String) -> Image:
	var material: MaterialResource = load(FOLDER.path_join(preset + ".tres"))
	var parent := Node3D.new()
	stage.add_child(parent)
	_add_trestles(parent)
	var slab := _add_slab(parent, material)
	_add_ball(parent)
	var row := Image.create_empty(CELL.x * MOMENTS.size(), CELL.y, false, Image.FORMAT_RGB8)
	var tick := 0
	var ms := 0.0
	var lowest := INF
	for i in MOMENTS.size():
		while tick < MOMENTS[i]:
			await physics_frame
			tick += 1
			ms = maxf(ms, DestructionServer.get_statistics().step_ms)
			if tick < 60:
				lowest = minf(lowest, slab.get_aabb_world().position.y)
		paused = true
		row.blit_rect(await _draw(), Rect2i(Vector2i.ZERO, CELL), Vector2i(CELL.x * i, 0))
		paused = false
	var pieces := slab.get_piece_count()
	print("-- %s: %d pieces, lowest %.2f m in the first second, at the end %s, slowest step %.1f ms" % [
		preset, pieces, lowest, slab.get_aabb_world(), ms])
	var expected: Array = EXPECTED.get(preset, [0, 0])
	check(pieces >= expected[0] and pieces <= expected[1], preset, "%d pieces, expected %d to %d" % [pieces, expected[0], expected[1]])
	parent.free()
	await physics_frame
	return row
