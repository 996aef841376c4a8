extends RefCounted
## Base of all test cases: a fresh scene for each test, checks that note failures and go on, and small helpers.

const TICK := 1.0 / 60.0

var tree: SceneTree
## Everything a test adds goes below this node and is freed after it.
var scene: Node3D
var failures: Array[String] = []


func begin(scene_tree: SceneTree) -> void:
	tree = scene_tree
	scene = Node3D.new()
	scene.name = "Scene"
	tree.root.add_child(scene)


func end() -> void:
	tree.paused = false
	Engine.time_scale = 1.0
	DestructionServer.ground_enabled = true
	if is_instance_valid(scene):
		scene.free()
	await ticks(2)


func check(condition: bool, what: String) -> bool:
	if not condition:
		failures.append(what)
	return condition


func check_equal(actual: Variant, expected: Variant, what: String) -> bool:
	return check(actual == expected, "%s is %s, expected %s" % [what, actual, expected])


func check_near(actual: float, expected: float, tolerance: float, what: String) -> bool:
	return check(absf(actual - expected) <= tolerance,
			"%s is %.6f, expected %.6f +- %.6f" % [what, actual, expected, tolerance])


func check_near_vector(actual: Vector3, expected: Vector3, tolerance: float, what: String) -> bool:
	return check(actual.distance_to(expected) <= tolerance,
			"%s is %s, expected %s +- %.6f" % [what, actual, expected, tolerance])


## All of them, each to within the tolerance.
func check_near_vectors(actual: PackedVector3Array, expected: PackedVector3Array, tolerance: float, what: String) -> void:
	if check_equal(actual.size(), expected.size(), "number of %s" % what):
		for i in actual.size():
			check_near_vector(actual[i], expected[i], tolerance, "%s, number %d," % [what, i])


## Between these two at least one error must be printed, and errors are no failure; see tests/godot_suites.sh. Each of the words
## must be in one of them: the node, the cause, the remedy.
func expect_errors(what: String, words: Array[String] = []) -> void:
	print("--errors expected: ", what)
	for word in words:
		print("--errors say: ", word)


func errors_end() -> void:
	print("--errors end")


func ticks(count: int) -> void:
	for i in count:
		await tree.physics_frame


## Time of the simulation, whatever the tick rate.
func seconds(time: float) -> void:
	await ticks(seconds_to_ticks(time))


func seconds_to_ticks(time: float) -> int:
	return roundi(time * Engine.physics_ticks_per_second)


## A floor for Godot's bodies and destructibles, instead of the plane of DestructionServer, which only the latter meet.
func add_floor() -> StaticBody3D:
	DestructionServer.ground_enabled = false
	var body := StaticBody3D.new()
	var collision := CollisionShape3D.new()
	collision.shape = WorldBoundaryShape3D.new()
	body.add_child(collision)
	scene.add_child(body)
	return body


func is_godot_physics() -> bool:
	return ProjectSettings.get_setting("physics/3d/physics_engine") == "GodotPhysics3D"


func add_body(position: Vector3, size := Vector3.ONE, cells := Vector3i(2, 2, 2)) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = size
	body.cells = cells
	body.position = position
	scene.add_child(body)
	return body


func lowest_node(body: DestructibleBody) -> float:
	return body.get_aabb_world().position.y


func positions_are_finite(body: DestructibleBody) -> bool:
	for position in body.get_node_positions():
		if not position.is_finite():
			return false
	return true


## Waits until the body sleeps; false when it does not within the given ticks.
func wait_for_sleep(body: DestructibleBody, ticks_max: int) -> bool:
	for i in ticks_max:
		if body.is_asleep():
			return true
		await tree.physics_frame
	return false


func find_property(object: Object, property_name: String) -> Dictionary:
	for property in object.get_property_list():
		if property.name == property_name:
			return property
	return {}
