extends Node
## Visits the exhibits one after the other and breaks them.
##
## With a folder it writes pictures and a contact sheet there; run.sh makes a movie of it with Godot's --write-movie.
## After each stop it says whether the exhibit broke or bent as it should: "ok demo.NAME" or "FAIL demo.NAME: CAUSE".

const Weapons := preload("res://weapons.gd")
const SLOW_MOTION := 0.2
const SHEET_CELL := Vector2i(640, 360) # pixels

var folder := ""
var failed := 0 # checks before the tour
var _ticks := 0 # since the stop began
var _stop := 0
var _rest_positions: Dictionary[DestructibleBody, PackedVector3Array] = {}
var _bent := 0.0 # m, the farthest that a node moved in this stop
var _step_ms: Array[float] = []
var _slowest := {} # figures of the slowest step
var _pictures: Array[Image] = []

@onready var _level: Node3D = get_parent()
@onready var _camera := Camera3D.new()
# Places are in the exhibit's own space, which has it stand at the origin and look along z. Times are seconds of the stop:
# each blow is dealt at its time, pictures are taken at theirs, and time goes slowly within "slow".
@onready var _stops: Array[Dictionary] = [
	{name = "overview", exhibit = ^".", seconds = 2.0, title = "fem_destruction", eye = [Vector3(-2.0, 2.8, 9.0), Vector3(-0.3, 2.0, 7.2)],
		target = Vector3(0, 0.7, -1), blows = {}, slow = [0.0, 0.0], pictures = [1.2]},
	{name = "wall", exhibit = ^"Exhibits/Wall", seconds = 4.0, title = "Brick, and an iron ball of 80 kg",
		eye = [Vector3(2.6, 1.5, 3.4), Vector3(1.7, 1.4, 3.0)], target = Vector3(0, 0.7, 0),
		blows = {0.6: _throw.bind(Vector3(0.1, 1.15, 4.0), Vector3(0, 0.02, -1)), 2.6: _throw.bind(Vector3(-0.5, 1.0, 4.0), Vector3(0, 0.02, -1))},
		slow = [0.83, 1.5], pictures = [1.9, 3.8], pieces = 20},
	{name = "window", exhibit = ^"Exhibits/Window", seconds = 3.8, title = "Window glass, and three bullets and a ball",
		eye = [Vector3(-1.9, 1.7, 2.9), Vector3(-1.3, 1.6, 2.4)], target = Vector3(0, 1.15, 0),
		blows = {0.6: _shoot.bind(Vector3(0.15, 1.5, 3), Vector3(0, 0, -1)), 1.4: _shoot.bind(Vector3(-0.35, 1.2, 3), Vector3(0, 0, -1)),
			2.0: _shoot.bind(Vector3(0.3, 1.05, 3), Vector3(0, 0, -1)), 2.7: _throw.bind(Vector3(0, 1.4, 4), Vector3(0, 0.02, -1))}, slow = [0.58, 1.3], pictures = [2.6, 3.2], pieces = 5},
	{name = "fence", exhibit = ^"Exhibits/Fence", seconds = 3.5, title = "Oak, and an explosion",
		eye = [Vector3(2.3, 1.7, 4.3), Vector3(1.5, 1.6, 3.7)], target = Vector3(0, 0.6, 0),
		blows = {0.6: _explode.bind(Vector3(-0.3, 0.6, 0.6))}, slow = [0.7, 1.6], pictures = [1.5, 3.3], pieces = 8},
	{name = "sheet", exhibit = ^"Exhibits/Sheet", seconds = 3.0, title = "Steel sheet: dents stay",
		eye = [Vector3(-2.0, 1.5, 2.6), Vector3(-1.5, 1.4, 2.2)], target = Vector3(0, 0.85, 0),
		blows = {0.4: _throw.bind(Vector3(0.2, 1.1, 3.0), Vector3(0, 0.1, -1), 12.0), 1.6: _throw.bind(Vector3(-0.35, 0.9, 3.0), Vector3(0, 0.1, -1), 12.0)},
		slow = [0.55, 0.9], pictures = [1.2, 2.8], bend = 0.05},
	{name = "pudding", exhibit = ^"Exhibits/Pudding", seconds = 3.2, title = "Jelly, poked",
		eye = [Vector3(-1.2, 1.6, 2.2), Vector3(-0.6, 1.55, 2.1)], target = Vector3(0, 0.9, 0),
		blows = {0.5: _poke.bind(Vector3(0.05, 1.9, 0.02), Vector3(0, -1, 0)), 1.7: _poke.bind(Vector3(-1.0, 1.05, 0), Vector3(1, 0.1, 0))},
		slow = [0.0, 0.0], pictures = [0.75, 1.95], bend = 0.05},
	{name = "shelf", exhibit = ^"Exhibits/Shelf", seconds = 2.6, title = "Things to strike: each sounds as what it is",
		eye = [Vector3(-1.0, 1.7, 1.7), Vector3(0.9, 1.6, 1.6)], target = Vector3(0, 0.9, 0),
		blows = {0.4: _shoot.bind(Vector3(-0.74, 1.6, 0.6), Vector3(0, -0.8, -0.6)), 0.8: _shoot.bind(Vector3(-0.5, 1.6, 0.6), Vector3(0, -0.8, -0.6)),
			1.2: _shoot.bind(Vector3(-0.04, 1.6, 0.6), Vector3(0, -0.8, -0.6)), 1.6: _shoot.bind(Vector3(0.66, 1.6, 0.6), Vector3(0, -0.8, -0.6))},
		slow = [0.0, 0.0], pictures = [0.2, 2.4]},
	{name = "ruin", exhibit = ^"Exhibits/Ruin", seconds = 3.5, title = "Concrete and stone",
		eye = [Vector3(-1.4, 1.6, 3.0), Vector3(-0.7, 1.6, 2.9)], target = Vector3(-0.1, 0.7, 0),
		blows = {0.6: _throw.bind(Vector3(-0.9, 1.25, 4.0), Vector3(0, 0.02, -1)), 2.0: _throw.bind(Vector3(0.5, 0.6, 4.0), Vector3(0, 0, -1))},
		slow = [0.83, 1.5], pictures = [1.9, 3.3], pieces = 12, falls = ^"Exhibits/Ruin/Column"},
	{name = "end", exhibit = ^".", seconds = 1.5, title = "fem_destruction", eye = [Vector3(1.0, 2.0, 7.4), Vector3(-0.5, 2.8, 8.6)],
		target = Vector3(0, 0.6, -1), blows = {}, slow = [0.0, 0.0], pictures = [1.3]},
]


func _ready() -> void:
	_camera.fov = 55.0
	if folder != "": # drawn without a graphics card, as a rule
		RenderingServer.directional_soft_shadow_filter_set_quality(RenderingServer.SHADOW_QUALITY_SOFT_VERY_LOW)
	_level.add_child.call_deferred(_camera)
	_level.get_node(^"Player").process_mode = Node.PROCESS_MODE_DISABLED
	_level.get_node(^"Player").visible = false


func _physics_process(_delta: float) -> void:
	if not _camera.is_inside_tree():
		return
	var stop := _stops[_stop]
	if _ticks == 0:
		_begin(stop)
	var time := float(_ticks) / Engine.physics_ticks_per_second
	Engine.time_scale = SLOW_MOTION if time >= stop.slow[0] and time < stop.slow[1] else 1.0
	for moment: float in stop.blows:
		if _ticks == _to_ticks(moment):
			stop.blows[moment].call()
	for moment: float in stop.pictures:
		if _ticks == _to_ticks(moment):
			_take_picture(stop.name, moment)
	_watch()
	_ticks += 1
	if _ticks >= _to_ticks(stop.seconds):
		_judge(stop)
		_ticks = 0
		_stop += 1
		if _stop == _stops.size():
			_finish()


func _process(_delta: float) -> void:
	if not _camera.is_inside_tree() or _stop >= _stops.size():
		return
	var stop := _stops[_stop]
	var share := smoothstep(0.0, 1.0, float(_ticks) / _to_ticks(stop.seconds))
	var place := (_level.get_node(stop.exhibit) as Node3D).global_transform
	_camera.look_at_from_position(place * (stop.eye[0] as Vector3).lerp(stop.eye[1], share), place * (stop.target as Vector3))


func _to_ticks(seconds: float) -> int:
	return roundi(seconds * Engine.physics_ticks_per_second)


func _begin(stop: Dictionary) -> void:
	_camera.make_current()
	_level.get_node(^"Hud").show_caption(stop.title)
	_rest_positions.clear()
	_bent = 0.0
	_step_ms.clear()
	for body: DestructibleBody in _bodies(stop):
		_rest_positions[body] = body.get_node_positions()


func _bodies(stop: Dictionary) -> Array[Node]:
	return _level.get_node(stop.exhibit).find_children("*", "DestructibleBody")


func _watch() -> void:
	var figures := DestructionServer.get_statistics()
	_step_ms.append(figures.step_ms)
	if figures.step_ms == _step_ms.max():
		_slowest = figures
	if not _stops[_stop].has("bend"):
		return
	for body in _rest_positions:
		var rest := _rest_positions[body]
		var now := body.get_node_positions()
		for i in mini(rest.size(), now.size()):
			_bent = maxf(_bent, rest[i].distance_to(now[i]))


func _judge(stop: Dictionary) -> void:
	var pieces := 0
	for body: DestructibleBody in _bodies(stop):
		pieces += body.get_piece_count()
	var sum: float = _step_ms.reduce(func(a: float, b: float) -> float: return a + b)
	var late := _step_ms.filter(func(ms: float) -> bool: return ms > 1e3 / Engine.physics_ticks_per_second).size()
	print("-- %s: %d pieces, bent %.3f m, a step took %.1f ms, %d of %d longer than a tick, the slowest %.1f ms (%s); awake %d tets" % [
		stop.name, pieces, _bent, sum / _step_ms.size(), late, _step_ms.size(), _step_ms.max(), _phases(),
		DestructionServer.get_statistics().live_tets])
	if stop.has("pieces"):
		_check(pieces >= stop.pieces + _bodies(stop).size() - 1, stop.name + "_breaks", "%d pieces" % pieces)
	if stop.has("bend"):
		_check(_bent >= stop.bend, stop.name + "_bends", "by %.3f m only" % _bent)
	if stop.has("falls"):
		var box := (_level.get_node(stop.falls) as DestructibleBody).get_aabb_world()
		_check(box.end.y < 1.2, stop.name + "_falls", "it is still %.2f m high" % box.end.y)


## The phases of the slowest step that took a tenth of it or more.
func _phases() -> String:
	var parts: Array[String] = []
	for phase: String in _slowest.phase_ms:
		if _slowest.phase_ms[phase] > 0.1 * _slowest.step_ms:
			parts.append("%s %.1f" % [phase, _slowest.phase_ms[phase]])
	return ", ".join(parts)


func _check(condition: bool, what: String, cause: String) -> void:
	if condition:
		print("ok demo.", what)
	else:
		failed += 1
		print("FAIL demo.%s: %s" % [what, cause])


func _finish() -> void:
	set_physics_process(false)
	if folder != "":
		await RenderingServer.frame_post_draw
		_save_sheet()
	print("DEMO DONE")
	get_tree().quit(0 if failed == 0 else 1)


# -- Blows ------------------------------------------------------------------------------------------------------------


func _place() -> Transform3D:
	return (_level.get_node(_stops[_stop].exhibit) as Node3D).global_transform


func _throw(from: Vector3, direction: Vector3, speed := Weapons.BALL_SPEED) -> RigidBody3D:
	return Weapons.throw_ball(_level.get_node(^"Balls"), _place() * from, _place().basis * direction, speed)


func _shoot(from: Vector3, direction: Vector3) -> void:
	Weapons.shoot(_level, _place() * from, _place().basis * direction)


func _explode(at: Vector3) -> void:
	Weapons.explode(_level, _place() * at)


func _poke(at: Vector3, direction: Vector3) -> void:
	_throw(at, direction, 5.0).mass = 25.0


# -- Pictures ---------------------------------------------------------------------------------------------------------


func _take_picture(stop_name: String, moment: float) -> void:
	if folder == "":
		return
	await RenderingServer.frame_post_draw
	var picture := get_viewport().get_texture().get_image()
	picture.save_png(folder.path_join("demo_%d_%s_%.1fs.png" % [_stop, stop_name, moment]))
	print("recorded %s (%d of %d)" % [stop_name, _stop + 1, _stops.size()])
	picture.resize(SHEET_CELL.x, SHEET_CELL.y, Image.INTERPOLATE_LANCZOS)
	picture.convert(Image.FORMAT_RGB8)
	_pictures.append(picture)


func _save_sheet() -> void:
	var columns := 3
	var rows := ceili(float(_pictures.size()) / columns)
	var sheet := Image.create_empty(SHEET_CELL.x * columns, SHEET_CELL.y * rows, false, Image.FORMAT_RGB8)
	for i in _pictures.size():
		sheet.blit_rect(_pictures[i], Rect2i(Vector2i.ZERO, SHEET_CELL), SHEET_CELL * Vector2i(i % columns, i / columns))
	sheet.save_png(folder.path_join("contact_sheet.png"))
