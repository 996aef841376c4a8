extends "res://test_case.gd"
## Base of the checks of texts: takes a block or a step as it is written, does what it says, looks at what it promises.
##
## test_X in cases/FILE.gd checks res://blocks/FILE.X.*; cases/complete.gd fails when one has no partner.

const BLOCKS := "res://blocks"
const MATERIALS := "res://addons/fem_destruction/materials"
## Top of the floor that the texts ask for (m).
const FLOOR_TOP := 0.1

var printed := Printed.new()


## Keeps what scripts print.
class Printed extends Logger:
	var text := ""
	var _mutex := Mutex.new()

	func _log_message(message: String, _is_error: bool) -> void:
		_mutex.lock()
		text += message
		_mutex.unlock()


func begin(scene_tree: SceneTree) -> void:
	super(scene_tree)
	OS.add_logger(printed)


func end() -> void:
	OS.remove_logger(printed)
	DestructionServer.ground_enabled = false
	scene.free()
	await ticks(2)


## Ticks run faster than the clock here: what happens in them begins when everything is baked, as for somebody who looks
## at it for a while.
func ticks(count: int) -> void:
	var began := Time.get_ticks_msec()
	for body: DestructibleBody in scene.find_children("*", "DestructibleBody", true, false) if is_instance_valid(scene) else []:
		while is_instance_valid(body) and body.is_inside_tree() and not body.is_simulated() and Time.get_ticks_msec() < began + 20000:
			OS.delay_msec(20)
			await tree.process_frame
	await super(count)


func text_of(file: String) -> String:
	var text := FileAccess.get_file_as_string(BLOCKS.path_join(file))
	check(text != "", "%s was not found in our texts" % file)
	return text


## A step is checked by what this script does for its sentence: when the sentence changes, so must the script.
func says(file: String, sentence: String) -> void:
	check(text_of(file).contains(sentence), "%s no longer says \"%s\": check what it says now" % [file, sentence])


## Runs a block inside the function of a script, after the lines that its text asks for. A block with an extends line is a
## script already. The node is not in the tree yet.
func node_with(block: String, before := "") -> Node3D:
	var script := GDScript.new()
	script.source_code = block
	if not block.begins_with("extends"):
		script.source_code = "extends Node3D\n\nvar muzzle: Vector3\nvar direction: Vector3\n\nfunc run() -> void:\n" + before.indent("\t") + block.dedent().indent("\t")
	if not check(script.reload() == OK, "the block does not compile"):
		return Node3D.new()
	return script.new()


## Camera, light and floor of the five-minute start.
func add_level() -> void:
	scene.add_child(Camera3D.new())
	scene.add_child(DirectionalLight3D.new())
	var level := CSGBox3D.new()
	level.size = Vector3(10, 0.2, 10)
	level.use_collision = true
	scene.add_child(level)


func add_slab(preset: String, height := 3.0, angle := 20.0) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = BoxMesh.new()
	body.mesh.size = Vector3(2, 0.1, 0.5)
	body.position.y = height
	body.rotation_degrees.z = angle
	body.material = load(MATERIALS.path_join(preset))
	scene.add_child(body)
	return body


func wait_for_pieces(body: DestructibleBody, count: int, time: float) -> bool:
	await ticks(1)
	for i in seconds_to_ticks(time):
		if body.get_piece_count() >= count:
			return true
		await tree.physics_frame
	return false


## Falls, touches the floor's top, rises again, and rests there.
func check_bounces(body: DestructibleBody) -> void:
	var lowest := INF
	var rebound := 0.0
	for i in seconds_to_ticks(6.0):
		await tree.physics_frame
		var bottom := lowest_node(body)
		lowest = minf(lowest, bottom)
		if lowest < FLOOR_TOP + 0.02:
			rebound = maxf(rebound, bottom - FLOOR_TOP)
	check_near(lowest, FLOOR_TOP, 0.03, "lowest height (m)")
	check(rebound > 0.05, "it rose by %.3f m after it had landed" % rebound)
	check_near(lowest_node(body), FLOOR_TOP, 0.01, "height of its underside in the end (m)")
