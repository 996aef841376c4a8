extends SceneTree
## Runs every test_* method of every script in res://cases and quits with 0 when all passed.
##
## godot --headless --fixed-fps 60 --path tests/godot --script res://run.gd [-- FILTER[,FILTER...]]
##
## Of several filters a test's name must contain one.
## Prints "ok NAME" or "FAIL NAME: CAUSE" for each test and ends with the line "GODOT TESTS DONE: N passed, M failed".

const CASE_FOLDER := "res://cases"
const SECONDS_MAX := 35.0

var _passed := 0
var _failed := 0
var _test_name := ""
var _test_tick := 0


func _initialize() -> void:
	_run_all()


func _physics_process(_delta: float) -> bool:
	_test_tick += 1
	if _test_tick > SECONDS_MAX * Engine.physics_ticks_per_second and _test_name != "":
		_report(_test_name, ["it did not come to its end within %.0f s" % SECONDS_MAX])
		_finish()
	return false


func _run_all() -> void:
	await physics_frame
	var arguments := OS.get_cmdline_user_args()
	var filters := arguments[0].split(",", false) if arguments.size() > 0 else PackedStringArray()
	for file in DirAccess.get_files_at(CASE_FOLDER):
		if file.get_extension() == "gd":
			await _run_file(file, filters)
	if _passed + _failed == 0:
		_report("selection", ["no test's name contains one of %s" % filters])
	_finish()


func _run_file(file: String, filters: PackedStringArray) -> void:
	var script: GDScript = load(CASE_FOLDER.path_join(file))
	if script == null or not script.can_instantiate():
		_report(file.get_basename(), ["the script does not load"])
		return
	for method in script.get_script_method_list():
		var method_name: String = method.name
		var full_name := "%s.%s" % [file.get_basename(), method_name.trim_prefix("test_")]
		if method_name.begins_with("test_") and _is_chosen(full_name, filters):
			await _run_test(script, method_name, full_name)


func _is_chosen(full_name: String, filters: PackedStringArray) -> bool:
	return filters.is_empty() or Array(filters).any(full_name.contains)


func _run_test(script: GDScript, method: String, full_name: String) -> void:
	_test_name = full_name
	_test_tick = 0
	var case: RefCounted = script.new()
	case.begin(self)
	await case.call(method)
	await case.end()
	_report(full_name, case.failures)
	_test_name = ""


func _report(full_name: String, failures: Array) -> void:
	if failures.is_empty():
		_passed += 1
		print("ok ", full_name)
		return
	_failed += 1
	print("FAIL %s: %s" % [full_name, failures[0]])
	for failure: String in failures.slice(1):
		print("    ", failure)


func _finish() -> void:
	_test_name = ""
	print("GODOT TESTS DONE: %d passed, %d failed" % [_passed, _failed])
	quit(0 if _failed == 0 else 1)
