extends "res://preset_pictures.gd"
## What the knobs of a material do: for each a row of three, the same thing under the same blow at a low, a middle and a
## high value. Pictures of the addon's guide.
##
## godot --fixed-fps 60 --path tests/godot --script res://knob_pictures.gd -- FOLDER [KNOB]
##
## Writes FOLDER/knob_NAME.webp; checks that what is seen differs as the guide says. Prints "ok NAME" or "FAIL NAME: CAUSE"
## for each check and ends with "KNOB PICTURES DONE".

const PICTURE := Vector2i(300, 200) # pixels

var _label := Label.new()


func _take_all(folder: String, only: String) -> void:
	root.size = PICTURE
	root.msaa_3d = Viewport.MSAA_4X
	var stage := _build_stage()
	_label.position = Vector2(8, 4)
	_label.add_theme_color_override("font_color", Color.BLACK)
	stage.add_child(_label)
	for knob: Dictionary in _knobs():
		if only == "" or only == knob.name:
			await _take_knob(stage, knob, folder)
	stage.free()
	await process_frame


## A slab of this preset's look under the ball of preset_pictures.gd, with `set` in its material; `rising`: whether the
## figure that `tells` has of the outcome grows or shrinks with the knob.
func _knobs() -> Array[Dictionary]:
	return [
		{name = "stiffness", preset = "jelly", values = [1e5, 1e6, 1e8], texts = ["0.1 MPa", "1 MPa", "100 MPa"], thing = _cantilever(),
			set = {breakable = false}, tick = 40, tells = _lowest, rising = true},
		{name = "toughness", preset = "concrete", values = [1e5, 8e6, 1e8], texts = ["0.1 MPa", "8 MPa", "100 MPa"], tick = 40,
			tells = _pieces, rising = false},
		{name = "ductility", preset = "aluminium", values = [0.0, 0.02, 0.5], texts = ["0", "0.02", "0.5"], set = {stiffness = 2e8, toughness = 1.5e6},
			tick = 60, tells = _pieces, rising = false},
		{name = "density", preset = "oak", values = [100.0, 600.0, 8000.0], texts = ["100 kg/m³", "600 kg/m³", "8000 kg/m³"], thing = _block(),
			tick = 40, tells = _lowest, rising = false},
		{name = "fragment_size", preset = "concrete", values = [0.02, 0.1, 0.4], texts = ["2 cm", "10 cm", "40 cm"], set = {toughness = 3e5},
			tick = 40, tells = _pieces, rising = false},
		{name = "damping", preset = "jelly", values = [0.0, 0.1, 0.5], texts = ["0 s", "0.1 s", "0.5 s"], thing = _cantilever(),
			set = {breakable = false, stiffness = 2e6}, tick = 33, tells = _lowest, rising = true},
		{name = "restitution", preset = "rubber", values = [0.0, 0.5, 0.9], texts = ["0", "0.5", "0.9"], thing = _drop(),
			set = {stiffness = 1e8, breakable = false}, tick = 62, tells = _lowest, rising = true},
		{name = "grain_ratio", preset = "oak", values = [1.0, 5.0, 30.0], texts = ["1", "5", "30"], set = {toughness = 8e5}, tick = 40,
			tells = Callable(), rising = true},
	]


func _cantilever() -> Dictionary:
	return {mesh = _box(Vector3(1.4, 0.2, 0.4)), elements = 800, at = Vector3(0, 0.9, 0), anchors = [AABB(Vector3(-0.8, -0.2, -0.3), Vector3(0.2, 0.4, 0.6))],
		eye = Vector3(0.7, 1.4, 3.2), target = Vector3(0, 0.6, 0)}


## Falls on a pane of glass that lies on trestles.
func _block() -> Dictionary:
	return {mesh = _box(Vector3.ONE * 0.3), elements = 200, at = Vector3(0, 1.7, 0), on_glass = true, eye = Vector3(1.0, 1.75, 2.3), target = Vector3(0, 0.45, 0)}


func _drop() -> Dictionary:
	var sphere := SphereMesh.new()
	sphere.radius = 0.15
	sphere.height = 0.3
	return {mesh = sphere, elements = 300, at = Vector3(0, 1.3, 0), eye = Vector3(0.5, 1.1, 2.9), target = Vector3(0, 0.6, 0)}


static func _pieces(body: DestructibleBody) -> float:
	return float(body.get_piece_count())


static func _lowest(body: DestructibleBody) -> float:
	return body.get_aabb_world().position.y


func _take_knob(stage: Node3D, knob: Dictionary, folder: String) -> void:
	var row := Image.create_empty(PICTURE.x * 3, PICTURE.y, false, Image.FORMAT_RGB8)
	var figures: Array[float] = []
	for i in 3:
		var thing: Dictionary = knob.get("thing", _slab(knob.preset)).merged({preset = knob.preset})
		var parent := Node3D.new()
		stage.add_child(parent)
		_camera.look_at_from_position(thing.eye, thing.target)
		_label.text = "%s  %s" % [(knob.name as String).capitalize(), knob.texts[i]]
		var material: MaterialResource = load(FOLDER.path_join(knob.preset + ".tres")).duplicate()
		for property: String in knob.get("set", {}):
			material.set(property, knob.set[property])
		material.set(knob.name, knob.values[i])
		if thing.has("trestles") or thing.has("on_glass"):
			_add_trestles(parent)
		if thing.has("on_glass"):
			_add_thing(parent, _slab("pane_glass"))
		var body := _add_thing(parent, thing)
		body.material = material
		if thing.has("ball"):
			_add_ball(parent, thing.ball)
		paused = true
		await wait_for_textures(material)
		paused = false
		for tick in knob.tick as int:
			await physics_frame
		if knob.tells.is_valid():
			figures.append(knob.tells.call(body))
		paused = true
		row.blit_rect(await _draw(), Rect2i(Vector2i.ZERO, PICTURE), Vector2i(PICTURE.x * i, 0))
		paused = false
		parent.free()
		await physics_frame
	print("-- %s: %s" % [knob.name, figures])
	if not figures.is_empty():
		check((figures[2] - figures[0]) * (1.0 if knob.rising else -1.0) > 0.0, knob.name, "from low to high %s" % [figures])
	var path := folder.path_join("knob_%s.webp" % knob.name)
	check(row.save_webp(path, true, 0.85) == OK, "saved_" + knob.name, path + " cannot be written")
