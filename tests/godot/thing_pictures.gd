extends "res://picture_script.gd"
## Things of their real size that people know, dropped from three heights or struck at three speeds.
##
## godot --fixed-fps 60 --path tests/godot --script res://thing_pictures.gd -- FILE [THING]
##
## Writes FILE, a row for each thing: before, and for each height or speed at the blow and when it has come to rest.
## Checks in how many pieces it ends. Prints "ok NAME" or "FAIL NAME: CAUSE" for each check and ends with "THING PICTURES
## DONE".

const Looks := preload("res://splinter_looks.gd")
const MATERIALS := "res://addons/fem_destruction/materials/%s.tres"
const CELL := Vector2i(240, 180) # pixels
const AFTER := 6 # ticks, from the blow to its picture
const REST := 110 # ticks, from there to the last one
const DISTANCE := 0.12 # m, from which a ball comes


func _take_all(file: String, only: String) -> void:
	root.size = CELL
	root.msaa_3d = Viewport.MSAA_4X
	var stage := _build_stage()
	var rows: Array[Image] = []
	for thing in _things():
		if only == "" or only == thing.name:
			rows.append(await _take_row(stage, thing))
	var sheet := Image.create_empty(CELL.x * 7, CELL.y * rows.size(), false, Image.FORMAT_RGB8)
	for i in rows.size():
		sheet.blit_rect(rows[i], Rect2i(Vector2i.ZERO, rows[i].get_size()), Vector2i(0, CELL.y * i))
	check(sheet.save_png(file) == OK, "saved", file + " cannot be written")
	stage.free()
	await process_frame


# -- The things -------------------------------------------------------------------------------------------------------


## `blows` are heights in m, or speeds in m/s of a ball; `pieces` the least and the most for each of them.
func _things() -> Array[Dictionary]:
	return [
		_fall("vase", "ceramic", Looks.vase(0.3, 0.006), 900, 0.3, [[1, 1], [6, 600], [40, 600]]),
		_fall("teapot", "porcelain", _teapot(), 900, 0.24, [[1, 1], [6, 600], [30, 600]]),
		_fall("bottle", "pane_glass", _bottle(), 700, 0.3, [[1, 1], [4, 600], [20, 600]]),
		_fall("plate", "porcelain", _plate(), 600, 0.26, [[1, 1], [2, 600], [8, 600]]),
		_fall("crate", "pine", _crate(0.5), 900, 0.6, [[1, 1], [1, 60], [1, 200]]),
		_fall("statue", "sandstone", _statue(), 1200, 1.2, [[1, 60], [2, 300], [2, 300]]),
		_held("window", "pane_glass", Vector3(1.2, 1.0, 0.004), 1200, {radius = 0.021, density = 2600.0}, [2.0, 10.0, 25.0], [[1, 1], [2, 100], [2, 200]]),
		_held("door", "oak", Vector3(0.8, 2.0, 0.04), 900, {radius = 0.05, density = 7800.0}, [5.0, 20.0, 60.0], [[1, 1], [1, 100], [2, 200]]),
		_held("wall", "brick", Vector3(2.4, 1.6, 0.2), 1200, {radius = 0.14, density = 7800.0}, [1.0, 8.0, 20.0], [[1, 4], [2, 300], [4, 400]]),
	]


func _fall(name: String, preset: String, mesh: Mesh, elements: int, size: float, pieces: Array) -> Dictionary:
	return {name = name, preset = preset, mesh = mesh, elements = elements, size = size, blows = [0.3, 1.2, 3.0], pieces = pieces,
		eye = Vector3(1.3, 1.6, 2.6) * size, target = Vector3(0, 0.2, 0) * size}


func _held(name: String, preset: String, size: Vector3, elements: int, ball: Dictionary, blows: Array, pieces: Array) -> Dictionary:
	var box := BoxMesh.new()
	box.size = size
	var foot := AABB(Vector3(-size.x, -0.55 * size.y, -0.2), Vector3(2 * size.x, 0.08 * size.y, 0.4))
	var side := AABB(Vector3(-0.53 * size.x, -size.y, -0.2), Vector3(0.07 * size.x, 2 * size.y, 0.4))
	var anchors: Array[AABB] = [foot]
	if name != "wall":
		anchors = [side, AABB(side.position + Vector3(0.99 * size.x, 0, 0), side.size)]
	if name == "window":
		anchors.append_array([foot, AABB(foot.position + Vector3(0, 1.02 * size.y, 0), foot.size)])
	return {name = name, preset = preset, mesh = box, elements = elements, size = size.y, ball = ball, blows = blows, pieces = pieces,
		anchors = anchors, eye = Vector3(1.1, 1.1, 2.4) * maxf(size.x, size.y), target = Vector3(0, 0.45 * size.y, 0)}


## A profile in metres: out and up along the outer wall, and back inside of it.
func _hollow(outer: PackedVector2Array, wall: float) -> ArrayMesh:
	var profile := PackedVector2Array([Vector2(0, outer[0].y)])
	profile.append_array(outer)
	for i in outer.size():
		var at := outer[outer.size() - 1 - i]
		profile.append(Vector2(at.x - wall, maxf(at.y, outer[0].y + wall)))
	profile.append(Vector2(0, outer[0].y + wall))
	return Looks.turned(profile, outer.size() - 1)


func _teapot() -> ArrayMesh:
	var outer := PackedVector2Array()
	for i in 19:
		var angle := PI * (0.2 + 0.65 * i / 18.0)
		outer.append(Vector2(0.12 * sin(angle), -0.09 * cos(angle)))
	return _hollow(outer, 0.006)


func _bottle() -> ArrayMesh:
	var outer := PackedVector2Array()
	for i in 9:
		outer.append(Vector2(0.037, -0.15 + 0.19 * i / 8.0))
	for i in 9:
		var t := (i + 1) / 9.0
		outer.append(Vector2(lerpf(0.037, 0.014, smoothstep(0.0, 1.0, t)), 0.04 + 0.06 * t))
	outer.append(Vector2(0.014, 0.15))
	return _hollow(outer, 0.004)


func _plate() -> ArrayMesh:
	return _hollow(PackedVector2Array([Vector2(0.08, -0.012), Vector2(0.095, -0.006), Vector2(0.13, 0.012)]), 0.006)


## Six boards that are let into each other.
func _crate(size: float) -> ArrayMesh:
	var tool := SurfaceTool.new()
	for side: float in [-1.0, 1.0]:
		for axis in 3:
			var board := BoxMesh.new()
			board.size = Vector3.ONE * size
			board.size[axis] = 0.02
			var at := Vector3.ZERO
			at[axis] = 0.5 * side * (size - 0.02)
			tool.append_from(board, 0, Transform3D(Basis(), at))
	return tool.commit()


## A figure on a plinth.
func _statue() -> ArrayMesh:
	var outline: Array[Vector2] = [Vector2(0.22, -0.6), Vector2(0.22, -0.45), Vector2(0.16, -0.44), Vector2(0.14, -0.2), Vector2(0.13, 0.0),
		Vector2(0.17, 0.15), Vector2(0.18, 0.28), Vector2(0.13, 0.33), Vector2(0.06, 0.36), Vector2(0.07, 0.42), Vector2(0.09, 0.48), Vector2(0.07, 0.56), Vector2(0.0, 0.6)]
	var profile := PackedVector2Array([Vector2(0, -0.6)])
	profile.append_array(outline)
	return Looks.turned(profile, outline.size())


# -- The pictures -----------------------------------------------------------------------------------------------------


func _build_stage() -> Node3D:
	var stage := Node3D.new()
	root.add_child(stage)
	add_environment(stage, Color(0.32, 0.36, 0.42), 0.4)
	add_sun(stage, Vector3(-0.6, -1.0, -0.5), 0.45, 12.0)
	add_ground(stage, 40.0, Looks.ground())
	_camera = Camera3D.new()
	_camera.fov = 33.0
	stage.add_child(_camera)
	return stage


func _add_thing(parent: Node3D, thing: Dictionary, blow: float) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = thing.mesh
	body.element_count = thing.elements
	body.material = load(MATERIALS % thing.preset)
	body.fracture_seed = 3
	var lean := Basis(Vector3(0.3, 0, 1).normalized(), 0.0 if thing.has("ball") else 0.35)
	var lowest := INF
	for corner: Vector3 in thing.mesh.surface_get_arrays(0)[Mesh.ARRAY_VERTEX]:
		lowest = minf(lowest, (lean * corner).y)
	body.transform = Transform3D(lean, Vector3(0, -lowest + (0.0 if thing.has("ball") else blow), 0))
	var anchors: Array[AABB] = []
	anchors.assign(thing.get("anchors", []))
	body.anchors = anchors
	parent.add_child(body)
	return body


func _add_ball(parent: Node3D, thing: Dictionary, speed: float) -> void:
	var material := MaterialResource.new()
	material.stiffness = 1e9
	material.density = thing.ball.density
	var sphere := SphereMesh.new()
	sphere.radius = thing.ball.radius
	sphere.height = 2.0 * sphere.radius
	var ball := DestructibleBody.new()
	ball.mesh = sphere
	ball.element_count = 200
	ball.material = material
	ball.surface_material = Looks.iron()
	ball.position = Vector3(0.11, 0.6 * thing.size, sphere.radius + thing.mesh.size.z / 2 + DISTANCE)
	ball.start_velocity = Vector3(0, 0, -speed)
	parent.add_child(ball)


## Only what is looked at is drawn: a software renderer is slow.
func _draw() -> Image:
	RenderingServer.render_loop_enabled = true
	var image := await _shoot()
	RenderingServer.render_loop_enabled = false
	return image


## Time stands still while a picture is taken.
func _take_row(stage: Node3D, thing: Dictionary) -> Image:
	var row := Image.create_empty(CELL.x * 7, CELL.y, false, Image.FORMAT_RGB8)
	var counts: Array[int] = []
	var column := 0
	_camera.look_at_from_position(thing.eye, thing.target)
	for blow: float in thing.blows:
		var parent := Node3D.new()
		stage.add_child(parent)
		paused = true
		if column == 0:
			var before := _add_thing(parent, thing, 0.0)
			await wait_for_textures(before.material)
			row.blit_rect(await _draw(), Rect2i(Vector2i.ZERO, CELL), Vector2i.ZERO)
			before.free()
			column = 1
		var body := _add_thing(parent, thing, blow)
		paused = false
		if thing.has("ball"):
			_add_ball(parent, thing, blow)
		var touch := (DISTANCE / blow if thing.has("ball") else sqrt(2.0 * blow / 9.8)) * 60.0
		for ticks: int in [int(touch) + AFTER, REST]:
			for i in ticks:
				await physics_frame
			paused = true
			row.blit_rect(await _draw(), Rect2i(Vector2i.ZERO, CELL), Vector2i(CELL.x * column, 0))
			paused = false
			column += 1
		counts.append(body.get_piece_count())
		parent.free()
		await physics_frame
	print("-- %s: %s pieces" % [thing.name, counts])
	for i in counts.size():
		check(counts[i] >= thing.pieces[i][0] and counts[i] <= thing.pieces[i][1], "%s_%s" % [thing.name, thing.blows[i]],
			"%d pieces, expected %s" % [counts[i], thing.pieces[i]])
	return row
