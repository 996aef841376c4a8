extends SceneTree
## A small level under a minute of chaos: ten crates, a brick house, a bridge and thirty vases, and beside it, in the same
## run, the same level of pre-cut pieces that Jolt moves.
##
## godot --headless --fixed-fps 60 --path tests/godot --script res://level_bench.gd -- [--seconds 60] [--threads N] [--csv FILE]
##
## The last line is {"ours": {"p50": ms, "p99": ms, "max": ms, ...}, "jolt": {...}, "pieces": n}: processor time of all
## physics a tick. The balls, bullets, blasts and the walker are the same in both, by one seed.

const TICKS := 60 # a second
const BALL_TICKS := 30
const BULLET_TICKS := 15
const BLAST_TICKS := 120
const BALL_LIFE := 300 # ticks
const BLAST_RADIUS := 3.0 # m
const BLAST_STRENGTH := 3000.0 # N s for each m2
const SOAK_TICKS := 1200 # after which the level is built again
const MATERIALS := "res://addons/fem_destruction/materials/%s.tres"
const TickTimes := preload("res://tick_times.gd")
const GAP := 0.001 # m, between pre-cut pieces

var _times := TickTimes.new()
var _random := RandomNumberGenerator.new()
var _phases := {}
var _phase_ticks := 0
var _stage: Node3D
var _balls: Array[RigidBody3D] = []
var _walker: CharacterBody3D
var _vase_mesh: ArrayMesh


func _initialize() -> void:
	_run()


func _argument(key: String, otherwise: String) -> String:
	var arguments := OS.get_cmdline_user_args()
	var at := arguments.find(key)
	return arguments[at + 1] if at >= 0 and at + 1 < arguments.size() else otherwise


func _run() -> void:
	var ticks := maxi(int(TICKS * _argument("--seconds", "60").to_float()), 30)
	DestructionServer.worker_count = maxi(_argument("--threads", "2").to_int(), 1)
	DestructionServer.budget_ms = _argument("--budget", "4").to_float()
	root.add_child(_times)
	var ours := await _play(true, ticks)
	var pieces: int = DestructionServer.get_statistics().pieces
	var tets: int = DestructionServer.get_statistics().tets
	var ours_times := _times.processor.duplicate()
	if "--soak" in OS.get_cmdline_user_args():
		quit()
		return
	var without_jolt := "--ours" in OS.get_cmdline_user_args()
	var jolt := await _play(false, 0 if without_jolt else ticks)
	var jolt_pieces := get_nodes_in_group("rubble").size()
	_write_csv(ours_times, _times.processor)
	print(JSON.stringify({"ours": ours, "jolt": jolt, "pieces": pieces, "jolt_pieces": jolt_pieces, "tets": tets}))
	quit()


func _play(ours: bool, ticks: int) -> Dictionary:
	var verbose := "--verbose" in OS.get_cmdline_user_args()
	if _stage:
		_stage.free()
	_balls.clear()
	_random.seed = 27
	_stage = Node3D.new()
	root.add_child(_stage)
	_add_static(Vector3(0, -0.5, 0), Vector3(80, 1, 80))
	_add_level(ours)
	_add_walker()
	var begun := Time.get_ticks_msec()
	for i in TICKS:
		await physics_frame
	while ours and _is_preparing() and Time.get_ticks_msec() - begun < 120000: # baking and cutting on other threads
		OS.delay_msec(5)
		await physics_frame
	_times.start_over()
	var soaks := "--soak" in OS.get_cmdline_user_args()
	for tick in ticks:
		if soaks and tick % SOAK_TICKS == SOAK_TICKS - 1:
			_build_again(tick)
		_make_chaos(tick, ours)
		await physics_frame
		if verbose:
			_add_up()
		if verbose and (tick % 40 == 39 or _times.processor.size() > 0 and _times.processor[-1] > 16.0):
			_tell(tick)
	if verbose and ours:
		print("mean of phases: ", _phases)
	return _times.summary()


## With --soak: tells how the last stretch went, and puts a whole level in the place of what is left of it.
func _build_again(tick: int) -> void:
	var s := DestructionServer.get_statistics()
	print("soak %d s: %s, engine %.1f MB, game %.1f MB, nodes %d, pieces %d" % [tick / TICKS, _times.summary(),
			1e-6 * s.memory_bytes, 1e-6 * OS.get_static_memory_usage(), Performance.get_monitor(Performance.OBJECT_NODE_COUNT),
			s.pieces])
	_times.start_over()
	for body in _stage.find_children("*", "DestructibleBody", false, false):
		body.free()
	for place in _places():
		_add_destructible(place, Transform3D(Basis(Vector3.UP, place.get("angle", 0.0)), place.at))


## Means of what the statistics tell in ms, over the ticks so far.
func _add_up() -> void:
	var s := DestructionServer.get_statistics()
	var all: Dictionary = s.phase_ms.duplicate()
	for key: String in ["step_ms", "coupling_ms", "owners_ms", "tick_ms", "draw_ms", "sound_ms"]:
		all[key] = s[key]
	_phase_ticks += 1
	for key: String in all:
		_phases[key] = snappedf(_phases.get(key, 0.0) + (all[key] - _phases.get(key, 0.0)) / _phase_ticks, 0.001)


func _is_preparing() -> bool:
	var s := DestructionServer.get_statistics()
	return s.splinters_awaited > 0 or s.bodies < _places().size()


## With --verbose: what goes on, twice in three seconds.
func _tell(tick: int) -> void:
	var s := DestructionServer.get_statistics()
	var largest := ""
	var most := 0.0
	for phase: String in s.phase_ms:
		if s.phase_ms[phase] > most:
			most = s.phase_ms[phase]
			largest = phase
	var parts := ""
	for phase: String in s.phase_ms:
		parts += "%s %.2f, " % [phase, s.phase_ms[phase]]
	print(parts)
	print("engine %.1f MB, of splinters %.1f" % [1e-6 * s.memory_bytes, 1e-6 * s.splinter_bytes])
	print("share %.2f, late %d, frozen %d, faded %d, blasts %d" % [
			s.budget_share, s.late_ticks, s.shed_frozen, s.shed_faded, s.shed_blasts])
	print("tick %d: %.2f ms, step %.2f (%s %.2f), coupling %.2f; pieces %d, %d rigid, live tets %d of %d, contacts %d, iterations %d, capped %d, passes %d, live islands %d" % [
			tick, _times.processor[-1], s.step_ms, largest, most, s.coupling_ms, s.pieces, s.rigid_pieces, s.live_tets, s.tets, s.contacts, s.iterations, s.solves_capped, s.passes, s.live_islands])


# ---- the level

func _places() -> Array[Dictionary]:
	var places: Array[Dictionary] = []
	for i in 10:
		places.append({"kind": "crate", "at": Vector3(-10.0 + 1.2 * (i % 5), 0.41 + 0.82 * (i / 5), 8)})
	for i in 30:
		places.append({"kind": "vase", "at": Vector3(4.0 + 0.5 * (i % 10), 0.001, 6.0 + 0.6 * (i / 10))})
	for side in 4:
		places.append({"kind": "wall", "at": Vector3(0, 1.301, 2.0).rotated(Vector3.UP, 0.5 * PI * side),
				"angle": 0.5 * PI * side})
	for i in 8:
		places.append({"kind": "plank", "at": Vector3(-1.925 + 0.55 * i, 2.645, 0), "angle": 0.5 * PI, "length": 4.4})
	for i in 10:
		places.append({"kind": "plank", "at": Vector3(-12.0 + 0.52 * i, 1.041, -6), "angle": 0.5 * PI, "length": 3.0})
	return places


func _add_level(ours: bool) -> void:
	for z: float in [-7.6, -4.4]: # the bridge's piers
		_add_static(Vector3(-9.7, 0.5, z), Vector3(6.0, 1.0, 0.6))
	var only := _argument("--only", "")
	for place in _places():
		if only and place.kind != only:
			continue
		var pose := Transform3D(Basis(Vector3.UP, place.get("angle", 0.0)), place.at)
		if ours:
			_add_destructible(place, pose)
		else:
			for piece in _pieces_of(place):
				_add_piece(pose, piece, _density(place.kind))


func _add_static(at: Vector3, size: Vector3) -> void:
	var body := StaticBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = BoxShape3D.new()
	shape.shape.size = size
	body.add_child(shape)
	body.position = at
	_stage.add_child(body)


func _add_destructible(place: Dictionary, pose: Transform3D) -> void:
	var body := DestructibleBody.new()
	match place.kind:
		"crate":
			body.mesh = BoxMesh.new()
			body.mesh.size = 0.8 * Vector3.ONE
			body.wall_thickness = 0.05
			body.element_count = 300
			body.material = load(MATERIALS % "pine")
		"vase":
			body.mesh = _vase()
			body.element_count = 200
			body.material = load(MATERIALS % "ceramic")
		"wall":
			body.size = Vector3(3.74, 2.6, 0.25)
			body.cells = Vector3i(14, 9, 1)
			body.material = load(MATERIALS % "brick")
		"plank":
			body.size = Vector3(place.length, 0.08, 0.5)
			body.cells = Vector3i(14, 1, 2)
			body.material = load(MATERIALS % "oak")
	body.transform = pose
	body.start_asleep = true
	body.debris_cap = _argument("--debris-cap", "0").to_int()
	_stage.add_child(body)


## A vase of 0.3 m with walls of 6 mm, its outside and its inside one closed surface.
func _vase() -> ArrayMesh:
	if _vase_mesh:
		return _vase_mesh
	var outline := PackedVector2Array() # radius, height
	for i in 9:
		outline.append(Vector2(_vase_radius(i / 8.0), 0.3 * i / 8.0))
	for i in 9:
		var t := 1.0 - i / 8.0
		outline.append(Vector2(_vase_radius(t) - 0.006, maxf(0.3 * t, 0.008)))
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	var sectors := 16
	var around := func(k: int, p: Vector2) -> Vector3:
		return Vector3(p.x * cos(TAU * k / sectors), p.y, p.x * sin(TAU * k / sectors))
	for k in sectors:
		for i in outline.size() - 1:
			var a: Vector3 = around.call(k, outline[i])
			var b: Vector3 = around.call(k + 1, outline[i])
			var c: Vector3 = around.call(k + 1, outline[i + 1])
			var d: Vector3 = around.call(k, outline[i + 1])
			for vertex: Vector3 in [a, b, c, a, c, d]:
				tool.add_vertex(vertex)
		for vertex: Vector3 in [Vector3.ZERO, around.call(k + 1, outline[0]), around.call(k, outline[0]),
				Vector3(0, outline[-1].y, 0), around.call(k, outline[-1]), around.call(k + 1, outline[-1])]:
			tool.add_vertex(vertex)
	tool.index()
	tool.generate_normals()
	_vase_mesh = tool.commit()
	return _vase_mesh


func _vase_radius(t: float) -> float:
	return 0.04 + 0.05 * sin(PI * (0.15 + 0.75 * t))


# ---- the same, cut beforehand

func _density(kind: String) -> float: # kg/m3
	return {"crate": 500.0, "vase": 2400.0, "wall": 1900.0, "plank": 700.0}[kind]


## Corners of each piece, in the thing's own axes.
func _pieces_of(place: Dictionary) -> Array[PackedVector3Array]:
	var pieces: Array[PackedVector3Array] = []
	match place.kind:
		"crate":
			for axis in 3:
				for side: float in [-0.375, 0.375]:
					for i in 4:
						var center := Vector3.ZERO
						var size := Vector3.ONE * (0.8 if axis == 0 else 0.7) # the sides fit between each other
						center[axis] = side
						size[axis] = 0.05
						center[(axis + 1) % 3] = size[(axis + 1) % 3] * (i - 1.5) / 4.0
						size[(axis + 1) % 3] /= 4.0
						if axis == 2:
							size[0] = 0.7
						pieces.append(_box(center, size))
		"vase":
			for ring in 4:
				for k in 6:
					pieces.append(_vase_piece(ring, k))
		"wall":
			for row in 13:
				for i in 8:
					pieces.append(_box(Vector3(3.74 * ((i + 0.5) / 8.0 - 0.5), 2.6 * ((row + 0.5) / 13.0 - 0.5), 0),
							Vector3(3.74 / 8.0, 0.2, 0.25)))
		"plank":
			for i in 4:
				pieces.append(_box(Vector3(place.length * ((i + 0.5) / 4.0 - 0.5), 0, 0),
						Vector3(place.length / 4.0, 0.08, 0.5)))
	return pieces


func _box(center: Vector3, size: Vector3) -> PackedVector3Array:
	var corners := PackedVector3Array()
	for i in 8:
		corners.append(center + 0.5 * (size - GAP * Vector3.ONE) * Vector3(
				1 if i & 1 else -1, 1 if i & 2 else -1, 1 if i & 4 else -1))
	return corners


func _vase_piece(ring: int, sector: int) -> PackedVector3Array:
	var corners := PackedVector3Array()
	for level in 2:
		for side in 2:
			var angle := TAU * (sector + (side + (0.01 if side == 0 else -0.01))) / 6.0
			var t := (ring + level) / 4.0
			for inset: float in [0.0, 0.012]:
				var radius := _vase_radius(t) - inset
				corners.append(Vector3(radius * cos(angle), 0.3 * t + GAP * (0.5 - level) + 0.001, radius * sin(angle)))
	return corners


func _add_piece(pose: Transform3D, corners: PackedVector3Array, density: float) -> void:
	var center := Vector3.ZERO
	for corner in corners:
		center += corner / corners.size()
	var local := PackedVector3Array()
	var bounds := AABB(corners[0], Vector3.ZERO)
	for corner in corners:
		local.append(corner - center)
		bounds = bounds.expand(corner)
	var body := RigidBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = ConvexPolygonShape3D.new()
	shape.shape.points = local
	body.add_child(shape)
	body.mass = maxf(density * bounds.get_volume() * 0.8, 0.005)
	body.transform = pose * Transform3D(Basis.IDENTITY, center)
	body.sleeping = true
	body.add_to_group("rubble")
	_stage.add_child(body)


# ---- chaos

func _add_walker() -> void:
	_walker = CharacterBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = CapsuleShape3D.new()
	shape.position.y = 1.0
	_walker.add_child(shape)
	_walker.position = Vector3(0, 0.05, 9)
	_stage.add_child(_walker)


func _make_chaos(tick: int, ours: bool) -> void:
	var places := _places()
	var target: Vector3 = places[_random.randi() % places.size()].at
	var bearing := Vector3.BACK.rotated(Vector3.UP, TAU * _random.randf()) + Vector3(0, 0.3, 0)
	if tick % BALL_TICKS == 0:
		_throw_ball(target, bearing)
	if tick % BULLET_TICKS == 7:
		_shoot(target, bearing)
	if tick % BLAST_TICKS == 60:
		_blast(target + Vector3(0, 0.3, 0), ours)
	var angle := 0.5 * tick / TICKS
	_walker.velocity = Vector3(3.0 * cos(angle), _walker.velocity.y - 9.8 / TICKS, -3.0 * sin(angle))
	_walker.move_and_slide()


func _throw_ball(target: Vector3, bearing: Vector3) -> void:
	var ball := RigidBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = SphereShape3D.new()
	shape.shape.radius = 0.15
	ball.add_child(shape)
	ball.mass = 20.0
	ball.position = target + 6.0 * bearing
	ball.linear_velocity = -15.0 * bearing.normalized()
	_stage.add_child(ball)
	_balls.append(ball)
	if _balls.size() > BALL_LIFE / BALL_TICKS:
		_balls.pop_front().queue_free()


func _shoot(target: Vector3, bearing: Vector3) -> void:
	var aim := target + Vector3(0, 0.1, 0)
	var query := PhysicsRayQueryParameters3D.create(aim + 8.0 * bearing, aim - 8.0 * bearing)
	var hit := _stage.get_world_3d().direct_space_state.intersect_ray(query)
	if hit:
		DestructionServer.apply_bullet(hit.collider, hit.position, -bearing.normalized(), 500.0)


func _blast(at: Vector3, ours: bool) -> void:
	if ours:
		DestructionServer.apply_explosion(at, BLAST_RADIUS, BLAST_STRENGTH)
		return
	for body: RigidBody3D in get_nodes_in_group("rubble"):
		var away := body.global_position - at
		var share := 1.0 - away.length() / BLAST_RADIUS
		if share > 0.0:
			var area := pow(body.mass / 2000.0, 2.0 / 3.0) # m2 that the blast sees, about
			body.apply_central_impulse(BLAST_STRENGTH * share * share * area * away.normalized())


func _write_csv(ours: PackedFloat64Array, jolt: PackedFloat64Array) -> void:
	var path := _argument("--csv", "")
	if not path:
		return
	var file := FileAccess.open(path, FileAccess.WRITE)
	file.store_line("step,ours_ms,jolt_ms")
	for i in ours.size():
		file.store_line("%d,%.4f,%s" % [i, ours[i], "%.4f" % jolt[i] if i < jolt.size() else ""])
