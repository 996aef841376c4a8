@tool
extends VBoxContainer
## The bake of a DestructibleMesh in the inspector: a button, its progress, a way to stop it, and what came out.

## A DestructibleMesh, or a DestructibleBody whose mesh is meant.
var target: Object

var _mesh: DestructibleMesh
var _failure := "" # of the last bake that was seen here
var _bake := Button.new()
var _cancel := Button.new()
var _bar := ProgressBar.new()
var _report := Label.new()


func _init() -> void:
	name = "FemBakePanel"
	var buttons := HBoxContainer.new()
	_bake.name = "Bake"
	_bake.size_flags_horizontal = SIZE_EXPAND_FILL
	_bake.pressed.connect(_on_bake_pressed)
	buttons.add_child(_bake)
	_cancel.name = "Cancel"
	_cancel.text = "Cancel"
	_cancel.pressed.connect(_on_cancel_pressed)
	buttons.add_child(_cancel)
	add_child(buttons)
	_bar.name = "Progress"
	_bar.max_value = 1.0
	_bar.step = 0.001
	add_child(_bar)
	_report.name = "Report"
	_report.autowrap_mode = TextServer.AUTOWRAP_WORD_SMART
	_report.mouse_filter = Control.MOUSE_FILTER_PASS
	add_child(_report)


func _ready() -> void:
	_update()


func _process(_delta: float) -> void:
	_update()


func _exit_tree() -> void:
	_watch(null)


# Null when there is nothing to bake: the body is a box, its mesh is a plain Mesh, or it was freed.
func _find_mesh() -> DestructibleMesh:
	if not is_instance_valid(target):
		return null
	if target is DestructibleMesh:
		return target
	return (target as DestructibleBody).mesh as DestructibleMesh


func _watch(mesh: DestructibleMesh) -> void:
	if mesh == _mesh:
		return
	if _mesh != null:
		_mesh.bake_progressed.disconnect(_on_bake_progressed)
		_mesh.bake_finished.disconnect(_on_bake_finished)
	_mesh = mesh
	_failure = ""
	_bar.value = 0.0
	if _mesh != null:
		_mesh.bake_progressed.connect(_on_bake_progressed)
		_mesh.bake_finished.connect(_on_bake_finished)


# A mesh may be swapped, baked by a script or taken back by undo at any time: what is shown follows from its state.
func _update() -> void:
	_watch(_find_mesh())
	visible = _mesh != null
	if _mesh == null:
		return
	var is_baking := _mesh.is_baking()
	_bake.text = "Bake again" if _mesh.is_baked() else "Bake"
	_bake.disabled = is_baking or _mesh.source_mesh == null
	_bake.tooltip_text = "Set a source mesh first." if _mesh.source_mesh == null else "Fills the source mesh with tetrahedra."
	_cancel.visible = is_baking
	_bar.visible = is_baking
	_set_report(_failure if _failure != "" else _mesh.get_report().strip_edges(), _failure != "")


func _set_report(text: String, is_failure: bool) -> void:
	_report.visible = text != ""
	if _report.text != text:
		_report.text = text
	if is_failure:
		_report.add_theme_color_override(&"font_color", get_theme_color(&"error_color", &"Editor"))
	else:
		_report.remove_theme_color_override(&"font_color")


func _on_bake_pressed() -> void:
	_failure = ""
	_bar.value = 0.0
	# The button of the resource itself: it bakes on a thread and hands the result to the undo history.
	var start: Callable = _mesh.get(&"bake_action")
	start.call()
	if not _mesh.is_baking():
		_failure = "The bake could not begin: see the error in the Output panel."
	_update()


func _on_cancel_pressed() -> void:
	_mesh.cancel_bake()


func _on_bake_progressed(share: float) -> void:
	_bar.value = share


func _on_bake_finished(error: Error, message: String) -> void:
	_failure = "" if error == OK or error == ERR_SKIP else message
	_update()
