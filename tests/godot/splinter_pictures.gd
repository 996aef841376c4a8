extends "res://picture_script.gd"
## Breaks a wall, a plank, a pane and a vase in the manner of each pattern and draws them before and after.
##
## godot --fixed-fps 60 --path tests/godot --script res://splinter_pictures.gd -- FOLDER [PATTERN]
##
## Writes FOLDER/splinters_PATTERN.png: for each body a picture of the unbroken body and two of the broken one. Checks that
## the unbroken body looks as its source does, that it breaks, and that the broken one is not larger than it should be.
## Prints "ok NAME" or "FAIL NAME: CAUSE" for each check and ends with "SPLINTER PICTURES DONE".

const Looks := preload("res://splinter_looks.gd")
const CELL := Vector2i(640, 480) # pixels
const BACKGROUND := Color(0.62, 0.68, 0.75)
const PIXEL_TOLERANCE := 0.02 # of a colour, in the mean over the picture


func _take_all(folder: String, only: String) -> void:
	root.size = CELL
	root.msaa_3d = Viewport.MSAA_4X
	var stage := _build_stage()
	for pattern: Dictionary in _patterns():
		if only == "" or pattern.name == only:
			await _take_sheet(stage, pattern, folder)
	stage.free()
	await process_frame


# -- Patterns and bodies ----------------------------------------------------------------------------------------------


func _patterns() -> Array[Dictionary]:
	return [
		{name = "voronoi", pattern = DestructibleMesh.SPLINTERS_VORONOI, outside = Looks.concrete(), inside = Looks.concrete_inside(),
			stiffness = 1e9, density = 2300.0, toughness = 8e4},
		{name = "glass", pattern = DestructibleMesh.SPLINTERS_GLASS, outside = Looks.glass(), inside = Looks.glass_inside(),
			stiffness = 1e9, density = 2500.0, toughness = 1e5},
		{name = "wood", pattern = DestructibleMesh.SPLINTERS_WOOD, outside = Looks.wood(), upright = Looks.wood(true), inside = Looks.wood_inside(),
			stiffness = 4e8, density = 650.0, toughness = 7e4, grain = 3.0},
		{name = "brick", pattern = DestructibleMesh.SPLINTERS_BRICK, outside = Looks.brick(), inside = Looks.brick_inside(),
			stiffness = 1e9, density = 1900.0, toughness = 5e4},
		{name = "surfaces", pattern = DestructibleMesh.SPLINTERS_SURFACES, outside = Looks.concrete(), inside = Looks.concrete_inside(),
			stiffness = 1e9, density = 2300.0, toughness = 5e4},
	]


func _bodies() -> Array[Dictionary]:
	return [
		{name = "wall", mesh = Looks.box(Vector3(2.4, 1.6, 0.2)), stones = Looks.stones(Vector3(2.4, 1.6, 0.2), 10, 0.24), elements = 1500, position = Vector3(0, 0.8, 0), grain = Vector3(1, 0, 0),
			eye = Vector3(1.25, 1.45, 2.35), target = Vector3(0, 0.72, 0), moments = [10, 32], softness = 3.3, # a stiff one throws the ball back
			anchors = [AABB(Vector3(-1.3, -0.9, -0.2), Vector3(2.6, 0.16, 0.4))],
			impact = Vector3(0.3, 0.28, 0.1),
			ball = {radius = 0.22, position = Vector3(0.3, 1.05, 1.3), velocity = Vector3(0, 0.6, -26)}},
		{name = "plank", mesh = Looks.box(Vector3(1.6, 0.05, 0.26)), stones = Looks.stones(Vector3(1.6, 0.05, 0.26), 2, 0.09), elements = 900, position = Vector3(0, 0.6, 0), grain = Vector3(1, 0, 0),
			eye = Vector3(0.6, 1.0, 1.4), target = Vector3(0.0, 0.45, 0), moments = [7, 16],
			anchors = [AABB(Vector3(-0.9, -0.1, -0.2), Vector3(0.2, 0.2, 0.4)), AABB(Vector3(0.7, -0.1, -0.2), Vector3(0.2, 0.2, 0.4))],
			ball = {radius = 0.09, position = Vector3(0.12, 1.2, 0), velocity = Vector3(0, -10, 0)}},
		{name = "pane", mesh = Looks.box(Vector3(1.3, 1.3, 0.015)), stones = Looks.stones(Vector3(1.3, 1.3, 0.015), 13, 0.12), elements = 1500, position = Vector3(0, 0.8, 0), grain = Vector3.ZERO,
			eye = Vector3(0.8, 1.1, 1.75), target = Vector3(0, 0.76, 0), moments = [8, 28],
			anchors = [AABB(Vector3(-0.7, -0.7, -0.1), Vector3(1.4, 0.06, 0.2)), AABB(Vector3(-0.7, 0.64, -0.1), Vector3(1.4, 0.06, 0.2)),
				AABB(Vector3(-0.7, -0.7, -0.1), Vector3(0.06, 1.4, 0.2)), AABB(Vector3(0.64, -0.7, -0.1), Vector3(0.06, 1.4, 0.2))],
			impact = Vector3(0.1, 0.13, 0),
			ball = {radius = 0.07, position = Vector3(0.1, 0.9, 0.9), velocity = Vector3(0, 0.5, -9)}},
		{name = "vase", mesh = Looks.vase(0.5, 0.022), stones = Looks.vase_of_stones(0.5, 0.022), elements = 2500, position = Vector3(0, 0.45, 0), grain = Vector3(0, 1, 0),
			eye = Vector3(0.45, 0.75, 1.1), target = Vector3(0.05, 0.3, 0), moments = [6, 16], anchors = [], tilt = 0.4, velocity = Vector3(0, -13, 0), weakness = 6.0, softness = 4.0},
	]


## Of the artist's own pieces, if they are to be taken.
func _mesh_of(pattern: Dictionary, body: Dictionary) -> Mesh:
	return body.stones if pattern.pattern == DestructibleMesh.SPLINTERS_SURFACES else body.mesh


## Bricks and planks are as large as real ones on the wall, and small on small things.
func _bake(pattern: Dictionary, body: Dictionary) -> DestructibleMesh:
	var baked := DestructibleMesh.new()
	baked.source_mesh = _mesh_of(pattern, body)
	baked.element_count = body.elements
	baked.splinter_pattern = pattern.pattern
	baked.splinter_seed = 7
	baked.interior_material = pattern.inside
	if pattern.name == "glass" and body.has("impact"):
		baked.impact_points = [body.impact]
	if pattern.name == "wood":
		baked.splinter_direction = body.grain
	if pattern.name == "brick" and body.name != "wall":
		baked.brick_size = Vector3(0.12, 0.035, 0.06)
		baked.mortar = 0.006
	var from := Time.get_ticks_msec()
	check(baked.bake() == OK, "%s_%s_bakes" % [pattern.name, body.name], "see the error above")
	print("-- %s %s: %d splinters of %d vertices, %d tets, baked in %d ms\n%s" % [pattern.name, body.name, baked.get_baked_splinter_count(),
		baked.get_splinter_positions().size(), baked.get_tet_count(), Time.get_ticks_msec() - from, baked.report])
	check(baked.get_baked_splinter_count() > 20, "%s_%s_has_splinters" % [pattern.name, body.name], "%d" % baked.get_baked_splinter_count())
	return baked


func _substance(pattern: Dictionary, body: Dictionary) -> MaterialResource:
	var material := MaterialResource.new()
	material.stiffness = pattern.stiffness / body.get("softness", 1.0)
	material.density = pattern.density
	material.breakable = true
	material.toughness = pattern.toughness / body.get("weakness", 1.0)
	material.toughness_variation = 0.3
	material.damping = 0.001
	if pattern.has("grain"):
		material.grain_direction = body.grain
		material.grain_ratio = pattern.grain
	return material


func _add_ball(parent: Node3D, ball_data: Dictionary) -> void:
	var sphere := SphereMesh.new()
	sphere.radius = ball_data.radius
	sphere.height = 2.0 * ball_data.radius
	sphere.radial_segments = 32
	sphere.rings = 16
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = sphere
	mesh.element_count = 200
	mesh.bake()
	var material := MaterialResource.new()
	material.stiffness = 5e8
	material.density = 7800.0
	material.breakable = false
	var ball := DestructibleBody.new()
	ball.mesh = mesh
	ball.material = material
	ball.surface_material = Looks.iron()
	ball.position = ball_data.position
	ball.start_velocity = ball_data.velocity
	parent.add_child(ball)


# -- The pictures -----------------------------------------------------------------------------------------------------


func _build_stage() -> Node3D:
	var stage := Node3D.new()
	root.add_child(stage)
	var environment := Environment.new()
	var sky := Sky.new()
	var sky_material := ProceduralSkyMaterial.new()
	sky_material.sky_top_color = Color(0.36, 0.5, 0.68)
	sky_material.sky_horizon_color = BACKGROUND
	sky_material.ground_bottom_color = Color(0.3, 0.29, 0.27)
	sky_material.ground_horizon_color = BACKGROUND
	sky.sky_material = sky_material
	environment.background_mode = Environment.BG_SKY
	environment.sky = sky
	environment.ambient_light_source = Environment.AMBIENT_SOURCE_SKY
	environment.ambient_light_energy = 0.45
	environment.tonemap_mode = Environment.TONE_MAPPER_FILMIC
	environment.tonemap_exposure = 0.95
	var world := WorldEnvironment.new()
	world.environment = environment
	stage.add_child(world)
	var light := DirectionalLight3D.new()
	light.light_energy = 0.75
	light.light_color = Color(1.0, 0.95, 0.86)
	light.shadow_enabled = true
	light.directional_shadow_max_distance = 10.0
	stage.add_child(light)
	light.look_at_from_position(Vector3.ZERO, Vector3(-0.55, -1.0, -0.75))
	add_ground(stage, 40.0, Looks.ground())
	_camera = Camera3D.new()
	_camera.fov = 45.0
	stage.add_child(_camera)
	return stage


func _difference(a: Image, b: Image) -> float:
	var metrics := a.compute_image_metrics(b, false)
	return metrics.mean / 255.0


## The body's source as any mesh is drawn, in the same place.
func _draw_source(parent: Node3D, mesh: Mesh, look: Material, transform: Transform3D) -> Image:
	var instance := MeshInstance3D.new()
	instance.mesh = mesh
	instance.material_override = look
	instance.transform = transform
	parent.add_child(instance)
	var image := await draw_frame()
	instance.free()
	return image


func _take_sheet(stage: Node3D, pattern: Dictionary, folder: String) -> void:
	var bodies := _bodies()
	var sheet := Image.create_empty(CELL.x * 3, CELL.y * bodies.size(), false, Image.FORMAT_RGB8)
	for i in bodies.size():
		await _take_row(stage, pattern, bodies[i], sheet, CELL.y * i)
	var path := folder.path_join("splinters_%s.png" % pattern.name)
	check(sheet.save_png(path) == OK, pattern.name + "_sheet_saved", path + " cannot be written")


func _take_row(stage: Node3D, pattern: Dictionary, data: Dictionary, sheet: Image, y: int) -> void:
	var name: String = "%s_%s" % [pattern.name, data.name]
	var parent := Node3D.new()
	stage.add_child(parent)
	_camera.look_at_from_position(data.eye, data.target)
	var transform := Transform3D(Basis(Vector3(0, 0, 1), data.get("tilt", 0.0)), data.position)
	paused = true
	var look: Material = pattern.get("upright", pattern.outside) if data.name == "vase" else pattern.outside
	var source := await _draw_source(parent, _mesh_of(pattern, data), look, transform)
	var body := DestructibleBody.new()
	body.mesh = _bake(pattern, data)
	body.material = _substance(pattern, data)
	body.surface_material = look
	body.transform = transform
	body.anchors = data.anchors
	body.start_velocity = data.get("velocity", Vector3.ZERO)
	parent.add_child(body)
	var unbroken := await draw_frame()
	check(_difference(source, unbroken) < PIXEL_TOLERANCE, name + "_unbroken_looks_as_its_source", "differs by %.4f" % _difference(source, unbroken))
	sheet.blit_rect(unbroken, Rect2i(Vector2i.ZERO, CELL), Vector2i(0, y))
	if data.has("ball"):
		_add_ball(parent, data.ball)
	paused = false
	var tick := 0
	for i in 2:
		RenderingServer.render_loop_enabled = false # what is not looked at need not be drawn
		while tick < data.moments[i]:
			await physics_frame
			tick += 1
		RenderingServer.render_loop_enabled = true
		paused = true
		sheet.blit_rect(await draw_frame(), Rect2i(Vector2i.ZERO, CELL), Vector2i(CELL.x * (i + 1), y))
		paused = false
		print("-- %s, tick %d: %d pieces, box %s" % [name, tick, body.get_piece_count(), body.get_aabb_world()])
	check(body.get_piece_count() > 3, name + "_breaks", "%d pieces" % body.get_piece_count())
	parent.free()
	await physics_frame
