extends Node3D
## A yard of things to break: a brick wall, a fence, a window, a steel sheet, a pudding and a ruin.
##
## With `-- --record FOLDER` a tour of them is shown without a player and written into FOLDER, see tour.gd; with
## `-- --check` the tour runs as a test.

# Compatibility adds up light after the conversion to screen colours, so the same sun looks brighter there.
const COMPATIBILITY_SUN := 0.43
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
	if "--record" in arguments or "--check" in arguments:
		var tour := Tour.new()
		var index := arguments.find("--record")
		tour.folder = arguments[index + 1] if index >= 0 and index + 1 < arguments.size() else ""
		add_child(tour)


func _on_fractured(point: Vector3, _normal: Vector3, _energy: float, area: float, color: Color) -> void:
	Effects.puff(self, point, clampf(area, 0.1, 1.0), color)


func start_over() -> void:
	Engine.time_scale = 1.0
	get_tree().reload_current_scene()
