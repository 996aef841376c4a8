@tool
extends VBoxContainer
## At the head of a DestructibleBody in the inspector: what it weighs and costs, and what is amiss, each with a button that mends it.

const BodyFaults := preload("body_faults.gd")
const INTERVAL := 0.5 # s, between two looks

var body: DestructibleBody
var undo: EditorUndoRedoManager

var _estimate := Label.new()
var _faults := VBoxContainer.new()
var _shown := ""
var _wait := 0.0


func _init() -> void:
	name = "FemBodyPanel"
	_estimate.name = "Estimate"
	_estimate.autowrap_mode = TextServer.AUTOWRAP_WORD_SMART
	_estimate.mouse_filter = Control.MOUSE_FILTER_PASS
	add_child(_estimate)
	_faults.name = "Faults"
	add_child(_faults)


func _ready() -> void:
	_update()


func _process(delta: float) -> void:
	_wait += delta
	if _wait > INTERVAL:
		_update()


func _update() -> void:
	_wait = 0.0
	if not is_instance_valid(body):
		hide()
		return
	var estimate := body.get_estimate()
	_estimate.text = "%s kg · %d tetrahedra · %s ms a tick awake%s · %s MB" % [_short(estimate.mass), estimate.tets, _short(estimate.awake_ms),
			", %s broken" % _short(estimate.broken_ms) if estimate.breaks else "", _short(estimate.memory_mb)]
	_estimate.tooltip_text = "What the body weighs, and about what it costs on one core of a desktop processor. It costs nothing while it sleeps."
	_show_faults(BodyFaults.find(body))


static func _short(value: float) -> String:
	return String.num(value, 0 if value >= 100.0 else 1 if value >= 10.0 else 2)


func _show_faults(faults: Array[BodyFaults.Fault]) -> void:
	var key := "" if body.start_state.is_empty() else "state"
	for fault in faults:
		key += fault.text
	if key == _shown:
		return
	_shown = key
	for old in _faults.get_children():
		_faults.remove_child(old)
		old.queue_free()
	for fault in faults:
		_add_row(fault.text, fault.remedy, func() -> void: fault.mend.call(undo))
	if not body.start_state.is_empty():
		_add_row("It starts in the state that was kept.", "Start Whole", func() -> void: BodyFaults.set_value(undo, body, &"start_state", {}))


func _add_row(text: String, remedy: String, mend: Callable) -> void:
	var row := VBoxContainer.new()
	var label := Label.new()
	label.text = text
	label.autowrap_mode = TextServer.AUTOWRAP_WORD_SMART
	label.add_theme_color_override(&"font_color", get_theme_color(&"warning_color", &"Editor"))
	row.add_child(label)
	var button := Button.new()
	button.text = remedy
	button.pressed.connect(func() -> void:
		mend.call()
		_update.call_deferred())
	row.add_child(button)
	_faults.add_child(row)
