extends "res://picture_script.gd"
## Every preset of addons/fem_destruction/materials under the same blow: a slab held at both ends, a heavy ball from above.
## And things that are usually made of them: windows, walls, vases, planks.
##
## godot --fixed-fps 60 --path tests/godot --script res://preset_pictures.gd -- FOLDER [PRESET or THING [SUFFIX]]
##
## Writes FOLDER/presets.png, a row for each preset: before, at, just after, and when all has come to rest,
## FOLDER/preset_blows.png, ten ticks of each of these blows, and FOLDER/preset_things.png; with a suffix it stands before
## the dots. Checks that what should break breaks and what should not does not. Prints "ok NAME" or "FAIL NAME: CAUSE" for
## each check and ends with "PRESET PICTURES DONE".

const Looks := preload("res://splinter_looks.gd")
const Effects := preload("res://addons/fem_destruction/effects/destruction_effects.gd")
const FOLDER := "res://addons/fem_destruction/materials"
const CELL := Vector2i(360, 240) # pixels
const MOMENTS: Array[int] = [1, 8, 12, 30, 180] # ticks; the ball touches at 7
const BLOW: Array[int] = [6, 7, 8, 9, 10, 11, 12, 13, 14, 15] # ticks of the sheet of blows
const BLOW_CELL := Vector2i(240, 160) # pixels, of that
const SLAB := Vector3(1.4, 0.07, 0.6) # m
## What is left of the slab: least and most pieces.
const EXPECTED := {
	oak = [3, 400], pine = [3, 400], plywood = [2, 400], pane_glass = [8, 600], tempered_glass = [15, 900],
	concrete = [5, 600], brick = [5, 600], stone = [2, 300], ceramic = [8, 600], steel_sheet = [1, 1], aluminium = [1, 3],
	rubber = [1, 1], jelly = [1, 60], ice = [6, 600], cardboard = [1, 60], plaster = [5, 600], porcelain = [8, 600],
	sandstone = [3, 600], tile = [8, 600], chocolate = [5, 600], plastic = [1, 20],
}


func _take_all(folder: String, only: String) -> void:
	root.size = CELL
	root.msaa_3d = Viewport.MSAA_4X
	var stage := _build_stage()
	var slabs: Array[Dictionary] = []
	for file in DirAccess.get_files_at(FOLDER):
		if file.get_extension() == "tres":
			slabs.append(_slab(file.get_basename()))
	await _take_sheet(stage, slabs, only, folder, "presets")
	await _take_sheet(stage, _things(), only, folder, "preset_things")
	stage.free()
	await process_frame


func _take_sheet(stage: Node3D, things: Array[Dictionary], only: String, folder: String, title: String) -> void:
	var rows: Array[Dictionary] = []
	for thing in things:
		if only == "" or only == thing.name:
			rows.append(await _take_row(stage, thing))
	if rows.is_empty():
		return
	_save_sheet(rows, MOMENTS.size(), CELL, func(row: Dictionary, column: int) -> Image: return row.images[row.moments[column]],
		folder, title if only == "" else "preset_" + only)
	if title == "presets":
		_save_sheet(rows, BLOW.size(), BLOW_CELL, func(row: Dictionary, column: int) -> Image: return row.images[BLOW[column]],
			folder, "preset_blows" if only == "" else "preset_blow_" + only)


func _save_sheet(rows: Array[Dictionary], columns: int, cell: Vector2i, image_of: Callable, folder: String, title: String) -> void:
	var sheet := Image.create_empty(cell.x * columns, cell.y * rows.size(), false, Image.FORMAT_RGB8)
	for i in rows.size():
		for column in columns:
			var image: Image = image_of.call(rows[i], column).duplicate()
			if image.get_size() != cell:
				image.resize(cell.x, cell.y, Image.INTERPOLATE_LANCZOS)
			sheet.blit_rect(image, Rect2i(Vector2i.ZERO, cell), Vector2i(cell.x * column, cell.y * i))
	var path := folder.path_join(title + argument(2, "") + ".png")
	check(sheet.save_png(path) == OK, "saved_" + title, path + " cannot be written")


# -- The things -------------------------------------------------------------------------------------------------------


func _box(size: Vector3) -> BoxMesh:
	var box := BoxMesh.new()
	box.size = size
	return box


## The slab on trestles, and 60 kg of iron that come down with 8 m/s.
func _slab(preset: String) -> Dictionary:
	var end := Vector3(0.07, 0.2, SLAB.z + 0.1)
	return {name = preset, preset = preset, mesh = _box(SLAB), elements = 1200, at = Vector3(0, 0.75, 0),
		anchors = [AABB(Vector3(-0.72, -0.1, -end.z / 2), end), AABB(Vector3(0.65, -0.1, -end.z / 2), end)], trestles = true,
		ball = {radius = 0.12, at = Vector3(0.05, 1.75, 0.03), velocity = Vector3(0, -8, 0)}, moments = MOMENTS,
		eye = Vector3(1.0, 1.75, 2.3), target = Vector3(0, 0.45, 0), pieces = EXPECTED.get(preset, [0, 0])}


func _pane(name: String, preset: String) -> Dictionary:
	return {name = name, preset = preset, mesh = _box(Vector3(1.3, 1.0, 0.012)), elements = 1200, at = Vector3(0, 0.7, 0),
		anchors = [AABB(Vector3(-0.7, -0.55, -0.1), Vector3(1.4, 0.07, 0.2)), AABB(Vector3(-0.7, 0.48, -0.1), Vector3(1.4, 0.07, 0.2)),
			AABB(Vector3(-0.7, -0.7, -0.1), Vector3(0.07, 1.4, 0.2)), AABB(Vector3(0.63, -0.7, -0.1), Vector3(0.07, 1.4, 0.2))],
		ball = {radius = 0.06, at = Vector3(0.1, 0.8, 0.9), velocity = Vector3(0, 0.5, -9)}, moments = [1, 8, 11, 24, 180],
		eye = Vector3(0.9, 1.5, 2.6), target = Vector3(0, 0.6, 0), pieces = [8, 600]}


## A thin sheet in a frame, which must be dented where the ball struck it and hold.
func _sheet(name: String, preset: String) -> Dictionary:
	var sheet := _pane(name, preset)
	sheet.mesh = _box(Vector3(1.3, 1.0, 0.004))
	sheet.ball = {radius = 0.07, at = Vector3(0.1, 0.8, 0.9), velocity = Vector3(0, 0.5, -7)}
	sheet.moments = [1, 10, 16, 30, 180]
	sheet.pieces = [1, 1]
	sheet.eye = Vector3(1.8, 1.1, -1.6)
	return sheet


func _wall(name: String, preset: String) -> Dictionary:
	return {name = name, preset = preset, mesh = _box(Vector3(2.4, 1.6, 0.2)), elements = 1200, at = Vector3(0, 0.8, 0),
		anchors = [AABB(Vector3(-1.3, -0.9, -0.2), Vector3(2.6, 0.16, 0.4))],
		ball = {radius = 0.22, at = Vector3(0.3, 1.05, 1.3), velocity = Vector3(0, 0.6, -20)}, moments = [1, 5, 10, 32, 180],
		eye = Vector3(1.9, 2.4, 4.4), target = Vector3(0, 0.6, 0), pieces = [5, 600]}


func _vase(name: String, preset: String) -> Dictionary:
	return {name = name, preset = preset, mesh = Looks.vase(0.5, 0.022), elements = 1500, at = Vector3(0, 2.3, 0), tilt = 0.4,
		moments = [36, 42, 46, 60, 180], eye = Vector3(0.7, 1.1, 1.7), target = Vector3(0, 0.2, 0), pieces = [4, 600]}


func _plank(name: String, preset: String, pieces: Array) -> Dictionary:
	return {name = name, preset = preset, mesh = _box(Vector3(1.6, 0.04, 0.2)), elements = 600, at = Vector3(0, 0.6, 0),
		anchors = [AABB(Vector3(-0.9, -0.1, -0.2), Vector3(0.2, 0.2, 0.4)), AABB(Vector3(0.7, -0.1, -0.2), Vector3(0.2, 0.2, 0.4))],
		ball = {radius = 0.09, at = Vector3(0.12, 1.2, 0), velocity = Vector3(0, -8, 0)}, moments = [1, 5, 8, 18, 180],
		eye = Vector3(0.9, 1.4, 2.2), target = Vector3(0, 0.4, 0), pieces = pieces}


## Of corrugated board, held at one end in a vice, with a ball laid on the other: it must stay folded, and whole.
func _flap(name: String, preset: String) -> Dictionary:
	return {name = name, preset = preset, mesh = _box(Vector3(0.9, 0.012, 0.5)), elements = 3000, at = Vector3(0, 0.5, 0),
		anchors = [AABB(Vector3(-0.5, -0.1, -0.3), Vector3(0.3, 0.2, 0.6))],
		ball = {radius = 0.05, at = Vector3(0.3, 0.6, 0.03), velocity = Vector3(0, -0.5, 0)}, moments = [1, 8, 14, 24, 180],
		eye = Vector3(0.35, 0.85, 1.6), target = Vector3(0.0, 0.3, 0), pieces = [1, 1]}


## A block on the ground under a small ball of lead: grains and dust fly, and leave a hole.
func _crater(name: String, preset: String) -> Dictionary:
	return {name = name, preset = preset, mesh = _box(Vector3(1.0, 0.3, 1.0)), elements = 4000, at = Vector3(0, 0.15, 0),
		ball = {radius = 0.1, density = 11000.0, at = Vector3(0.03, 1.1, 0.02), velocity = Vector3(0, -16, 0)}, moments = [1, 4, 7, 14, 180],
		eye = Vector3(0.6, 1.1, 1.0), target = Vector3(0, 0.3, 0), pieces = [1, 200], crushed = 1e-5}


func _fall(name: String, preset: String, size: float, pieces: Array) -> Dictionary:
	return {name = name, preset = preset, mesh = _box(Vector3.ONE * size), elements = 900, at = Vector3(0, 2.0 + size, 0), tilt = 0.4,
		moments = [34, 39, 44, 60, 180], eye = Vector3(1.1, 1.4, 2.4), target = Vector3(0, 0.3, 0), pieces = pieces}


func _things() -> Array[Dictionary]:
	return [
		_pane("window", "pane_glass"), _pane("shop_window", "tempered_glass"), _vase("vase", "ceramic"), _vase("carafe", "pane_glass"),
		_wall("brick_wall", "brick"), _wall("concrete_wall", "concrete"), _wall("stone_wall", "stone"), _plank("plank", "oak", [2, 400]),
		_plank("board", "plywood", [2, 400]), _plank("flat_steel", "steel_sheet", [1, 1]),
		_sheet("sheet_of_steel", "steel_sheet"), _sheet("sheet_of_aluminium", "aluminium"), _fall("block_of_ice", "ice", 0.5, [1, 600]),
		_fall("pudding", "jelly", 0.4, [1, 1]), _fall("rubber_block", "rubber", 0.4, [1, 1]), _fall("carton", "cardboard", 0.5, [1, 4]),
		_flap("flap", "cardboard"),
		_crater("crater_in_stone", "stone"), _crater("crater_in_concrete", "concrete"),
	]


func _add_thing(parent: Node3D, thing: Dictionary) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = thing.mesh
	body.element_count = thing.elements
	body.material = load(FOLDER.path_join(thing.preset + ".tres"))
	body.transform = Transform3D(Basis(Vector3(0.3, 0, 1).normalized(), thing.get("tilt", 0.0)), thing.at)
	body.fracture_seed = 3
	var anchors: Array[AABB] = []
	anchors.assign(thing.get("anchors", []))
	body.anchors = anchors
	parent.add_child(body)
	return body


func _add_ball(parent: Node3D, data: Dictionary) -> void:
	var iron := MaterialResource.new()
	iron.stiffness = 1e9
	iron.density = data.get("density", 7800.0)
	iron.damping = 0.001
	var sphere := SphereMesh.new()
	sphere.radius = data.radius
	sphere.height = 2.0 * data.radius
	sphere.radial_segments = 24
	sphere.rings = 12
	var ball := DestructibleBody.new()
	ball.mesh = sphere
	ball.element_count = 300
	ball.material = iron
	ball.surface_material = Looks.iron()
	ball.position = data.at
	ball.start_velocity = data.velocity
	parent.add_child(ball)


func _add_trestles(parent: Node3D) -> void:
	for side: float in [-1.0, 1.0]:
		var trestle := MeshInstance3D.new()
		var box := _box(Vector3(0.08, 0.71, SLAB.z))
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
	add_sun(stage, Vector3(-0.6, -1.0, -0.5), 0.55, 12.0)
	add_ground(stage, 40.0, Looks.ground())
	_camera = Camera3D.new()
	_camera.fov = 33.0
	stage.add_child(_camera)
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


## Pictures by ticks. Time stands still while one is taken.
func _take_row(stage: Node3D, thing: Dictionary) -> Dictionary:
	var parent := Node3D.new()
	stage.add_child(parent)
	_camera.look_at_from_position(thing.eye, thing.target)
	if thing.has("trestles"):
		_add_trestles(parent)
	var body := _add_thing(parent, thing)
	paused = true
	await wait_for_textures(body.material)
	paused = false
	if thing.has("ball"):
		_add_ball(parent, thing.ball)
	var crushed: Array[float] = []
	if thing.has("crushed"):
		parent.add_child(Effects.new())
		body.crushed.connect(func(_point: Vector3, _velocity: Vector3, volume: float, _mass: float) -> void: crushed.append(volume))
	var row := {moments = thing.moments, images = {}}
	var tick := 0
	var ms := 0.0
	while tick < thing.moments[-1]:
		await physics_frame
		tick += 1
		ms = maxf(ms, DestructionServer.get_statistics().step_ms)
		if thing.has("crushed") and tick == thing.moments[-1]:
			parent.get_child(1).hide() # the ball, which lies in the crater
		if tick in thing.moments or thing.has("trestles") and tick in BLOW:
			paused = true
			row.images[tick] = await _draw()
			paused = false
	var pieces := body.get_piece_count()
	print("-- %s: %d pieces, at the end %s, slowest step %.1f ms" % [thing.name, pieces, body.get_aabb_world(), ms])
	check(pieces >= thing.pieces[0] and pieces <= thing.pieces[1], thing.name, "%d pieces, expected %d to %d" % [
		pieces, thing.pieces[0], thing.pieces[1]])
	if thing.has("crushed"):
		var volume: float = crushed.reduce(func(sum: float, more: float) -> float: return sum + more, 0.0)
		print("-- %s: %.0f cm³ of grains" % [thing.name, 1e6 * volume])
		check(volume > thing.crushed, thing.name + "_has_a_crater", "%.1f cm³ were crushed" % (1e6 * volume))
	parent.free()
	await physics_frame
	return row
