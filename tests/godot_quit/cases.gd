extends Node
## Brings a game into one state and quits, with bodies still there: `godot --path P -- CASE [SEED]`. tests/godot_quit.sh runs
## each case in a process of its own and demands exit code 0, no error and no leak; "QUIT NOW" says that the state was reached.

const Things := preload("res://things.gd")
const Next := preload("res://next.gd")
const TIME_MAX := 30.0 # s

var _things: Things
var _random := RandomNumberGenerator.new()


func _ready() -> void:
	var arguments := OS.get_cmdline_user_args()
	_random.seed = arguments[1].to_int() if arguments.size() > 1 else 0
	if arguments[0] != "without_3d":
		_things = Things.new()
		add_child(_things)
	get_tree().physics_frame.connect(_give_up_in_time)
	call("case_" + arguments[0])


func _give_up_in_time() -> void:
	if Time.get_ticks_msec() > 1000.0 * TIME_MAX:
		print("FAIL the state was not reached within %d s" % TIME_MAX)
		get_tree().quit(1)


func _quit() -> void:
	print("QUIT NOW")
	get_tree().quit()


func _ticks(count: int) -> void:
	for i in count:
		await get_tree().physics_frame


func _check(condition: bool, what: String) -> void:
	if not condition:
		print("FAIL " + what)


# -------------------------------------------------------------------------------------------------------------- states


func case_without_3d() -> void:
	add_child(Label.new())
	await _ticks(10)
	_check(get_tree().root.find_children("*", "Node3D", true, false).is_empty(), "there is a Node3D")
	_quit()


func case_0_bodies() -> void:
	_things.add_rigid_bodies()
	await _ticks(10)
	_quit()


func case_200_bodies() -> void:
	for i in 200:
		_things.add_sleeper(Vector3(2 * (i % 20), 0, 2.0 * floorf(i / 20.0)))
		if i % 50 == 0:
			_things.add_plate(Vector3(2 * (i % 20), 5, 2.0 * floorf(i / 20.0)))
	await _ticks(10)
	_quit()


func case_whole() -> void:
	_things.add_box(Vector3(0, 3, 0))
	await _ticks(10)
	_quit()


func case_broken() -> void:
	var plate := _things.add_plate(Vector3.ZERO)
	while plate.get_piece_count() < 2:
		await _ticks(1)
	await _ticks(5)
	_quit()


func case_asleep() -> void:
	var box := _things.add_sleeper(Vector3.ZERO)
	await _ticks(30)
	_check(box.is_asleep(), "the box does not sleep")
	_quit()


func case_fell_asleep() -> void:
	var box := _things.add_box(Vector3(0, 0.5, 0))
	while not box.is_asleep():
		await _ticks(1)
	_quit()


func case_mid_bake() -> void:
	var mesh := _things.add_baking(Vector3.ZERO)
	await _ticks(5)
	_check(mesh.is_baking(), "the bake has ended")
	_quit()


## Boxes that can break are cut into splinters on a thread after they were made.
func case_mid_cut() -> void:
	_things.add_plate(Vector3(0, 5, 0))
	await get_tree().process_frame
	_check(DestructionServer.get_statistics().splinters_awaited > 0, "nothing is being cut")
	_quit()


## One of them sleeps on a body and leaves the tree before or after it.
func case_among_rigid_bodies() -> void:
	var rigid := _things.add_rigid_bodies()
	var box := _things.add_sleeper(Vector3.ZERO)
	var marker := Marker3D.new()
	_things.add_child(marker)
	box.attach_node(marker)
	_things.add_plate(Vector3(0, 0, 3))
	while not rigid.sleeping:
		await _ticks(1)
	_check(DestructionServer.get_statistics().rigid_bodies > 0, "no rigid body is coupled")
	_quit()


func case_paused() -> void:
	_things.add_box(Vector3(0, 3, 0))
	await _ticks(10)
	get_tree().paused = true
	await _ticks(5)
	_quit()


func case_scripted_resources() -> void:
	var mesh: Mesh = preload("res://scripted_mesh.gd").new()
	var body := DestructibleBody.new()
	body.element_count = 100
	body.bake_in_background = false
	body.mesh = mesh
	_things.add_child(body)
	await _ticks(5)
	_check(body.is_simulated(), "the body is not simulated")
	_quit()


# -------------------------------------------------------------------------------------------------------------- worlds


func case_in_sub_viewport() -> void:
	var viewport := Things.make_in_viewport()
	add_child(viewport)
	(viewport.get_child(0) as Things).add_box(Vector3(0, 3, 0))
	_things.add_box(Vector3(0, 3, 0))
	await _ticks(10)
	_quit()


func case_sub_viewport_freed() -> void:
	var viewport := Things.make_in_viewport()
	add_child(viewport)
	(viewport.get_child(0) as Things).add_box(Vector3(0, 3, 0))
	(viewport.get_child(0) as Things).add_plate(Vector3.ZERO)
	(viewport.get_child(0) as Things).add_rigid_bodies()
	await _ticks(20)
	var worlds: int = DestructionServer.get_statistics().worlds
	viewport.free()
	await _ticks(5)
	_check(worlds == 1 and DestructionServer.get_statistics().worlds == 0, "the viewport's world is still there")
	_quit()


func case_sub_viewport_freed_in_the_last_tick() -> void:
	var viewport := Things.make_in_viewport()
	add_child(viewport)
	(viewport.get_child(0) as Things).add_box(Vector3(0, 3, 0))
	await _ticks(10)
	viewport.free()
	_quit()


func case_world_replaced() -> void:
	var viewport := Things.make_in_viewport()
	add_child(viewport)
	(viewport.get_child(0) as Things).add_box(Vector3(0, 3, 0))
	for i in 3:
		await _ticks(5)
		viewport.own_world_3d = false
		viewport.world_3d = World3D.new()
	_quit()


## World3Ds are resources and may have a script, which does not outlive the scene tree by much.
func case_scripted_world() -> void:
	var viewport := SubViewport.new()
	viewport.world_3d = preload("res://scripted_world.gd").new()
	var things := Things.new()
	viewport.add_child(things)
	add_child(viewport)
	things.add_box(Vector3(0, 3, 0))
	await _ticks(10)
	_quit()


func case_bodies_kept_outside() -> void:
	var viewport := Things.make_in_viewport()
	add_child(viewport)
	var things: Things = viewport.get_child(0)
	things.add_box(Vector3(0, 3, 0))
	await _ticks(10)
	viewport.remove_child(things)
	viewport.free()
	tree_exiting.connect(things.free)
	_quit()


# -------------------------------------------------------------------------------------------------------------- scenes


func case_scene_change() -> void:
	_things.add_box(Vector3(0, 3, 0))
	await _ticks(10)
	_quit()
	get_tree().change_scene_to_file("res://next.tscn")


func case_scene_change_then_ready() -> void:
	_things.add_box(Vector3(0, 3, 0))
	await _ticks(10)
	Next.quits_after = 0
	get_tree().change_scene_to_file("res://next.tscn")


func case_scene_change_then_tick() -> void:
	_things.add_box(Vector3(0, 3, 0))
	await _ticks(10)
	Next.quits_after = 1
	get_tree().change_scene_to_file("res://next.tscn")


func case_scene_unloaded() -> void:
	_things.add_box(Vector3(0, 3, 0))
	await _ticks(10)
	_quit()
	get_tree().unload_current_scene()


## All that is below the root, this node too, from outside of it.
func case_tree_freed_by_hand() -> void:
	_things.add_box(Vector3(0, 3, 0))
	_things.add_plate(Vector3.ZERO)
	_things.add_baking(Vector3(5, 0, 0))
	await _ticks(15)
	get_tree().process_frame.connect(_free_all.bind(get_tree()), CONNECT_ONE_SHOT)


static func _free_all(tree: SceneTree) -> void:
	tree.process_frame.connect(_quit_tree.bind(tree), CONNECT_ONE_SHOT)
	for node in tree.root.get_children():
		node.free()


static func _quit_tree(tree: SceneTree) -> void:
	print("QUIT NOW")
	tree.quit()


# ------------------------------------------------------------------------------------------------------------ moments


func case_in_ready() -> void:
	_things.add_box(Vector3(0, 3, 0))
	_quit()


func case_in_physics_process() -> void:
	_things.add_box(Vector3(0, 3, 0))
	await _ticks(10)
	set_physics_process(true)
	_quits_in_physics_process = true


var _quits_in_physics_process := false


func _physics_process(_delta: float) -> void:
	if _quits_in_physics_process:
		_quit()


func case_twice() -> void:
	_things.add_box(Vector3(0, 3, 0))
	await _ticks(10)
	get_tree().quit()
	_quit()
	get_tree().process_frame.connect(get_tree().quit)
	get_tree().physics_frame.connect(get_tree().quit)


func case_close_request() -> void:
	_things.add_box(Vector3(0, 3, 0))
	await _ticks(10)
	print("QUIT NOW")
	get_tree().root.propagate_notification(NOTIFICATION_WM_CLOSE_REQUEST)
	get_tree().quit()


func case_in_fractured() -> void:
	_things.add_plate(Vector3.ZERO).fractured.connect(_quit.unbind(4))


func case_in_piece_detached() -> void:
	_things.add_plate(Vector3.ZERO).piece_detached.connect(_quit.unbind(1))


func case_in_impacted() -> void:
	_things.add_plate(Vector3.ZERO).impacted.connect(_quit.unbind(5))


func case_in_slept() -> void:
	_things.add_box(Vector3(0, 0.5, 0)).slept.connect(_quit)


func case_freed_in_fractured() -> void:
	_things.add_box(Vector3(0, 3, 0))
	_things.add_plate(Vector3.ZERO).fractured.connect(_free_things.unbind(4))


func _free_things() -> void:
	_quit()
	_things.queue_free()


func case_in_bake_finished() -> void:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = BoxMesh.new()
	mesh.element_count = 100
	var body := DestructibleBody.new()
	body.bake_in_background = true
	body.mesh = mesh
	_things.add_child(body)
	mesh.bake_finished.connect(_quit.unbind(2))
	mesh.bake_async()


# ------------------------------------------------------------------------------------------------------------- random


## A scene in which things break, fall asleep and are baked, left at a random moment in a random manner.
func case_random() -> void:
	_things.add_rigid_bodies()
	for i in 4:
		_things.add_plate(Vector3(3 * i, 0, 5), _random.randf_range(0.3, 6.0))
		_things.add_box(Vector3(3 * i, _random.randf_range(0.5, 2.0), -5))
		_things.add_sleeper(Vector3(3 * i, 0, 0))
	_things.add_baking(Vector3(0, 5, -10))
	var viewport := Things.make_in_viewport()
	add_child(viewport)
	(viewport.get_child(0) as Things).add_plate(Vector3.ZERO, _random.randf_range(0.3, 6.0))
	await _ticks(_random.randi_range(0, 90))
	await _disturb(viewport)
	match _random.randi_range(0, 3):
		0: _quit()
		1: get_tree().process_frame.connect(_quit)
		2: _quit.call_deferred()
		3: get_tree().create_timer(_random.randf_range(0.0, 0.2)).timeout.connect(_quit)


func _disturb(viewport: SubViewport) -> void:
	match _random.randi_range(0, 5):
		0: viewport.free()
		1:
			viewport.queue_free()
			await _ticks(_random.randi_range(0, 2))
		2: DestructionServer.apply_explosion(Vector3(4, 1, 3), 10.0, 3e4)
		3: _things.queue_free()
		4: _things.get_child(_random.randi_range(0, _things.get_child_count() - 1)).free()
		5: pass
