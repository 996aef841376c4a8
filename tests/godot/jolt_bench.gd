extends SceneTree
## A wall that was blown up and settles: the time of a physics tick, and beside it that of Jolt with the same pieces.
##
## godot --headless --fixed-fps 60 --path tests/godot --script res://jolt_bench.gd -- [--pieces 200] [--seconds 6] [--csv FILE] [--budget 0] [--joined]
##
## The wall breaks as a DestructibleBody; from the tick on in which its pieces fly, the same pieces go on a second time
## as RigidBody3Ds with convex hulls. Times are of all that a tick does on the main thread and those it waits for,
## processor time is of all threads. The last line is one JSON object.
##
## --joined: a tower cut into rigid pieces that grew from seeds and are joined, weak enough to fall, struck by a ball of 500
## kg at its foot. From the tick before the blow on the convex hulls of the same pieces stand a second time as free
## RigidBody3Ds, struck by the same ball; where pieces are not convex, their hulls begin in each other.

const TICKS := 60 # a second
const BLASTS_MAX := 40
const FLYING := 6 # ticks after the blast; the pieces are apart
const CLOCK := 100.0 # of /proc/self/stat, a second

var _begun := 0 # usec, of the tick under way
var _times := PackedFloat64Array() # ms


## Before SceneTree.physics_frame, in which destructibles are stepped.
func _physics_process(_delta: float) -> bool:
	_begun = Time.get_ticks_usec()
	return false


## After the physics server's step, before anything else of the frame.
func _process(_delta: float) -> bool:
	if _begun:
		_times.append(1e-3 * (Time.get_ticks_usec() - _begun))
		_begun = 0
	return false


func _initialize() -> void:
	_run()


func _argument(key: String, otherwise: String) -> String:
	var arguments := OS.get_cmdline_user_args()
	var at := arguments.find(key)
	return arguments[at + 1] if at >= 0 and at + 1 < arguments.size() else otherwise


func _processor_ms() -> float:
	var file := FileAccess.open("/proc/self/stat", FileAccess.READ) # has no length: get_file_as_string() finds it empty
	var fields := file.get_line().get_slice(") ", 1).split(" ")
	return 1000.0 / CLOCK * (fields[11].to_float() + fields[12].to_float())


func _run() -> void:
	var pieces := _argument("--pieces", "200").to_int()
	var ticks := int(TICKS * _argument("--seconds", "6").to_float())
	DestructionServer.budget_ms = _argument("--budget", "0").to_float()
	_add_floor()
	await physics_frame
	var is_joined := OS.get_cmdline_user_args().has("--joined")
	var body := await _join_tower(pieces) if is_joined else await _break_wall(pieces)
	var twins := _describe(body)
	if is_joined:
		_throw_ball()
	var top := body.get_aabb().end.y
	var ours := await _measure(ticks)
	ours.height_lost = top - body.get_aabb().end.y
	get_nodes_in_group("ball").map(func(ball: Node) -> void: ball.free())
	ours.asleep_after = _asleep_pieces(body)
	ours.phases = DestructionServer.get_statistics().phase_ms
	body.free()
	for twin in twins:
		_add_rigid(twin)
	if is_joined:
		_throw_ball()
	await physics_frame
	var jolt := await _measure(ticks)
	jolt.asleep_after = get_nodes_in_group("rubble").filter(func(one: RigidBody3D) -> bool: return one.sleeping).size()
	_write_csv(ours.times, jolt.times)
	ours.erase("times")
	jolt.erase("times")
	print(JSON.stringify({"ours": ours, "jolt": jolt, "pieces": twins.size(),
			"ratio": ours.processor_mean / maxf(jolt.processor_mean, 1e-6)}))
	quit()


func _add_floor() -> void:
	var ground := StaticBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = BoxShape3D.new()
	shape.shape.size = Vector3(60, 1, 60)
	ground.add_child(shape)
	ground.position.y = -0.5
	root.add_child(ground)


## A brick wall in about three times as many cells as pieces are wanted: the blast separates most of them.
func _break_wall(pieces: int) -> DestructibleBody:
	var body := DestructibleBody.new()
	var rows := maxi(roundi(sqrt(0.62 * pieces)), 2)
	body.size = Vector3(4.0, 2.5, 0.25)
	body.cells = Vector3i(roundi(1.6 * rows), rows, 1)
	body.material = load("res://addons/fem_destruction/materials/brick.tres")
	body.position = Vector3(0, 1.26, 0)
	root.add_child(body)
	for i in 10:
		await physics_frame
	body.strength_scale = 0.05
	for blast in BLASTS_MAX:
		if body.get_piece_count() >= pieces:
			break
		var at := Vector3(1.2 * sin(2.4 * blast), 1.26 + 0.6 * cos(2.4 * blast), 0.5)
		body.apply_explosion(at, 2.5, 500.0)
		for i in 3:
			await physics_frame
	body.invulnerable = true # both go on with the same pieces
	for i in FLYING:
		await physics_frame
	return body


## A solid tower of 1.5 x 1.5 m in cells of 0.5 x 0.4 x 0.5 m.
func _join_tower(pieces: int) -> DestructibleBody:
	var floors := maxi(roundi(pieces / 8.0), 1)
	var body := DestructibleBody.new()
	body.size = Vector3(1.5, 0.4 * floors, 1.5)
	body.cells = Vector3i(3, floors, 3)
	body.material = load("res://addons/fem_destruction/materials/brick.tres")
	body.position = Vector3(0, 0.2 * floors, 0)
	body.dynamics = DestructibleBody.DYNAMICS_RIGID_PIECES
	body.rigid_piece_count = pieces
	root.add_child(body)
	for i in 10:
		await physics_frame
	body.strength_scale = 0.02 # so that it falls
	return body


func _throw_ball() -> void:
	var ball := RigidBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = SphereShape3D.new()
	shape.shape.radius = 0.4
	ball.add_child(shape)
	ball.mass = 500.0
	ball.position = Vector3(-1.4, 1.2, 0)
	ball.linear_velocity = Vector3(15, 0, 0)
	ball.add_to_group("ball")
	root.add_child(ball)


func _describe(body: DestructibleBody) -> Array[Dictionary]:
	var positions := body.get_node_positions()
	var twins: Array[Dictionary] = []
	for piece in body.get_pieces():
		var data := body.get_piece_data(piece)
		var points := PackedVector3Array()
		for node: int in data.nodes:
			points.append(positions[node] - data.center)
		twins.append({"points": points, "center": data.center, "mass": data.mass, "velocity": data.velocity,
				"spin": data.angular_velocity})
	return twins


func _add_rigid(twin: Dictionary) -> void:
	var rigid := RigidBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = ConvexPolygonShape3D.new()
	shape.shape.points = twin.points
	rigid.add_child(shape)
	rigid.mass = twin.mass
	rigid.position = twin.center
	rigid.linear_velocity = twin.velocity
	rigid.angular_velocity = twin.spin
	rigid.add_to_group("rubble")
	root.add_child(rigid)


func _asleep_pieces(body: DestructibleBody) -> int:
	return Array(body.get_pieces()).filter(func(piece: int) -> bool: return body.get_piece_data(piece).asleep).size()


func _measure(ticks: int) -> Dictionary:
	_times.clear()
	var before := _processor_ms()
	while _times.size() < ticks:
		await process_frame
	var spent := _processor_ms() - before
	var sorted := _times.duplicate()
	sorted.sort()
	var sum := 0.0
	for time in sorted:
		sum += time
	return {"mean": sum / ticks, "p50": sorted[ticks / 2], "p99": sorted[ticks * 99 / 100], "max": sorted[-1],
			"processor_mean": spent / ticks, "times": _times.duplicate()}


func _write_csv(ours: PackedFloat64Array, jolt: PackedFloat64Array) -> void:
	var path := _argument("--csv", "")
	if not path:
		return
	var file := FileAccess.open(path, FileAccess.WRITE)
	file.store_line("step,ours_ms,jolt_ms")
	for i in mini(ours.size(), jolt.size()):
		file.store_line("%d,%.4f,%.4f" % [i, ours[i], jolt[i]])
