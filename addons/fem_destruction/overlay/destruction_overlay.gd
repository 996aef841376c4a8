@icon("res://addons/fem_destruction/icons/destruction_server.svg")
class_name DestructionOverlay
extends CanvasLayer
## What destruction costs, over one's own game: a graph of the last ticks with the budget as a line, the phases of the
## last tick, and what was shed. Add the node anywhere in a scene; [member toggle_action] shows and hides it.

## Where on the screen it stands.
enum Corner {TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT}

const WIDTH := 320.0 # px, as all below
const GRAPH_HEIGHT := 90.0
const LINE_HEIGHT := 15.0
const MARGIN := 8.0
const FONT_SIZE := 12
const PHASES := {
	"collision": Color(0.95, 0.55, 0.2), "solve": Color(0.35, 0.6, 1.0), "fracture": Color(0.95, 0.3, 0.35),
	"integrate": Color(0.55, 0.85, 0.4), "elements": Color(0.8, 0.6, 0.95), "other": Color(0.6, 0.6, 0.6),
}

## How many ticks the graph shows.
@export_range(30, 1200) var history := 240
## The corner of the screen.
@export var corner := Corner.TOP_LEFT:
	set(value):
		corner = value
		_place()
## An action of the input map that shows and hides it; empty: none does.
@export var toggle_action: StringName = &""

var _panel := Control.new()
var _ticks: Array[Dictionary] = [] # the last ones, each with its ms by phase


func _init() -> void:
	layer = 100


func _ready() -> void:
	process_mode = Node.PROCESS_MODE_ALWAYS
	_panel.custom_minimum_size = Vector2(WIDTH, GRAPH_HEIGHT + 9.0 * LINE_HEIGHT + 3.0 * MARGIN)
	_panel.mouse_filter = Control.MOUSE_FILTER_IGNORE
	_panel.draw.connect(_draw_panel)
	add_child(_panel)
	_place()


func _unhandled_input(event: InputEvent) -> void:
	if toggle_action and InputMap.has_action(toggle_action) and event.is_action_pressed(toggle_action):
		visible = not visible


func _physics_process(_delta: float) -> void:
	if not visible:
		return
	var s := DestructionServer.get_statistics()
	var tick := {"total": maxf(s.tick_ms, s.step_ms + s.coupling_ms), "other": 0.0, "statistics": s}
	var named := 0.0
	for phase: String in PHASES:
		if phase != "other":
			tick[phase] = s.phase_ms.get(phase, 0.0)
			named += tick[phase]
	tick.other = maxf(tick.total - named, 0.0)
	_ticks.append(tick)
	while _ticks.size() > history:
		_ticks.pop_front()
	_panel.queue_redraw()


## The ms of each of the last ticks, the newest last.
func get_times() -> PackedFloat64Array:
	var times := PackedFloat64Array()
	for tick in _ticks:
		times.append(tick.total)
	return times


func _place() -> void:
	var preset: Control.LayoutPreset = [Control.PRESET_TOP_LEFT, Control.PRESET_TOP_RIGHT,
			Control.PRESET_BOTTOM_LEFT, Control.PRESET_BOTTOM_RIGHT][corner]
	_panel.set_anchors_and_offsets_preset(preset, Control.PRESET_MODE_MINSIZE, int(MARGIN))


func _draw_panel() -> void:
	_panel.draw_rect(Rect2(Vector2.ZERO, _panel.custom_minimum_size), Color(0, 0, 0, 0.6))
	if _ticks.is_empty():
		return
	var budget := DestructionServer.budget_ms
	var most := maxf(2.0 * budget, 4.0)
	for tick in _ticks:
		most = maxf(most, tick.total)
	_draw_graph(most, budget)
	_draw_lines(_ticks[-1].statistics, most)


func _draw_graph(most: float, budget: float) -> void:
	var bottom := MARGIN + GRAPH_HEIGHT
	var step := (WIDTH - 2.0 * MARGIN) / history
	for i in _ticks.size():
		var x := WIDTH - MARGIN - step * (_ticks.size() - i)
		var y := bottom
		for phase: String in PHASES:
			var height: float = minf(GRAPH_HEIGHT * _ticks[i][phase] / most, y - MARGIN)
			_panel.draw_rect(Rect2(x, y - height, maxf(step, 1.0), height), PHASES[phase])
			y -= height
	if budget > 0.0:
		var y := bottom - GRAPH_HEIGHT * budget / most
		_panel.draw_line(Vector2(MARGIN, y), Vector2(WIDTH - MARGIN, y), Color(1, 1, 0.4, 0.8))


func _draw_lines(s: Dictionary, most: float) -> void:
	var worst := 0.0
	for tick in _ticks:
		worst = maxf(worst, tick.total)
	var budget := "budget %.1f ms, share %.2f" % [DestructionServer.budget_ms, s.budget_share] \
			if DestructionServer.budget_ms > 0.0 else "no budget"
	var lines: Array[String] = [
		"tick %.2f ms, worst %.2f (graph to %.0f)" % [_ticks[-1].total, worst, most],
		"%s, late %d" % [budget, s.late_ticks],
		"pieces %d, awake %d, rigid %d" % [s.pieces, s.live_islands, s.rigid_pieces],
		"tets awake %d of %d, contacts %d" % [s.live_tets, s.tets, s.contacts],
		"iterations %d, passes %d, splits %d" % [s.iterations, s.passes, s.splits],
		"shed: %d put to sleep, %d faded, %d blasts wait" % [s.shed_frozen, s.shed_faded, s.shed_blasts],
		"memory %.1f MB, draw %.2f ms" % [1e-6 * s.memory_bytes, s.draw_ms],
	]
	var at := Vector2(MARGIN, 2.0 * MARGIN + GRAPH_HEIGHT + FONT_SIZE)
	var font := ThemeDB.fallback_font
	for line in lines:
		_panel.draw_string(font, at, line, HORIZONTAL_ALIGNMENT_LEFT, -1, FONT_SIZE)
		at.y += LINE_HEIGHT
	for phase: String in PHASES:
		_panel.draw_string(font, at, phase, HORIZONTAL_ALIGNMENT_LEFT, -1, FONT_SIZE, PHASES[phase])
		at.x += font.get_string_size(phase, HORIZONTAL_ALIGNMENT_LEFT, -1, FONT_SIZE).x + 6.0
