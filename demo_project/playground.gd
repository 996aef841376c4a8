extends Node3D
## A yard of things to break: a brick wall, a fence, a window, a steel sheet, a pudding and a ruin, and a shelf of things to strike.
##
## With `-- --record FOLDER` a tour of them is shown without a player and written into FOLDER, see tour.gd; with
## `-- --check` the tour runs as a test.

# Compatibility adds up light after the conversion to screen colours, so the same sun looks brighter there.
const COMPATIBILITY_SUN := 0.43
const Check := preload("res://check.gd")
const Effects := preload("res://effects.gd")
const Tour := preload("res://tour.gd")
const DUST := {
	^"Exhibits/Wall": Color(0.62, 0.45, 0.38), ^"Exhibits/Ruin": Color(0.6, 0.59, 0.56), ^"Exhibits/Fence": Color(0.8, 0.68, 0.48),
}


func _ready() -> void:
	if RenderingServer.get_current_rendering_method() == "gl_compatibility":
		$Sun.light_energy *= COMPATIBILITY_SUN
	for path: NodePath in DUST:
		for body in get_node(path).find_children("*", "DestructibleBody"):
			body.fractured.connect(_on_fractured.bind(DUST[path]))
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


func _on_fractured(point: Vector3, _normal: Vector3, _energy: float, area: float, color: Color) -> void:
	Effects.puff(self, point, clampf(area, 0.1, 1.0), color)


func start_over() -> void:
	Engine.time_scale = 1.0
	get_tree().reload_current_scene()
