extends Node3D
## A yard of things to break: a brick wall, a fence, a window, a steel sheet, a pudding and a ruin, and a shelf of things to strike.
##
## With `-- --record FOLDER` a tour of them is shown without a player and written into FOLDER, see tour.gd; with
## `-- --check` the tour runs as a test.

# Compatibility adds up light after the conversion to screen colours, so the same sun looks brighter there.
const COMPATIBILITY_SUN := 0.43
const Check := preload("res://check.gd")
const Tour := preload("res://tour.gd")


func _ready() -> void:
	if RenderingServer.get_current_rendering_method() == "gl_compatibility":
		$Sun.light_energy *= COMPATIBILITY_SUN
	var arguments := OS.get_cmdline_user_args()
	var index := arguments.find("--record")
	if index >= 0 and index + 1 < arguments.size():
		_begin_tour(arguments[index + 1], 0)
	elif "--check" in arguments and not get_tree().root.has_node(^"Check"):
		var check := Check.new()
		check.name = "Check"
		check.finished.connect(func(failed: int) -> void: check.get_tree().current_scene._begin_tour("", failed))
		get_tree().root.add_child.call_deferred(check)


func _begin_tour(folder: String, failed: int) -> void:
	var tour := Tour.new()
	tour.folder = folder
	tour.failed = failed
	add_child(tour)


func start_over() -> void:
	Engine.time_scale = 1.0
	get_tree().reload_current_scene()
