extends Node3D
## What the exported server does: every body falls, though the export left all plain meshes out. Prints "ok" and "FAIL" lines
## for tests/godot_suites.sh and quits.

const TICKS := 30

var _tick := 0
var _starts: Dictionary[Node, float] = {}


func _ready() -> void:
	for body: DestructibleBody in find_children("*", "DestructibleBody", true, false):
		_starts[body] = body.get_center_of_mass().y


func _physics_process(_delta: float) -> void:
	_tick += 1
	if _tick < TICKS:
		return
	set_physics_process(false)
	get_tree().quit()
	_check(OS.has_feature("dedicated_server"), "is_a_dedicated_server", "the export has no such feature")
	_check(($Seen as MeshInstance3D).mesh is PlaceholderMesh, "leaves_meshes_out", "the mesh is %s" % $Seen.mesh)
	_check(_starts.size() == 6, "has_all_bodies", "there are %d" % _starts.size())
	for body: DestructibleBody in _starts:
		_check(body.is_simulated() and body.get_center_of_mass().y < _starts[body] - 0.5, "%s_falls" % get_path_to(body),
				"it was at %s and is at %s, its mesh is %s" % [_starts[body], body.get_center_of_mass().y, body.mesh])
	var plate := ($Plate as DestructibleBody).mesh as DestructibleMesh
	_check(plate != null and plate.get_baked_splinter_count() > 1, "is_cut_as_in_the_game", "there are no splinters")
	print("DEDICATED SERVER DONE")


func _check(condition: bool, test_name: String, cause: String) -> void:
	print("ok server." + test_name if condition else "FAIL server.%s: %s" % [test_name, cause])
