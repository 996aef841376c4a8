@tool
extends HBoxContainer
## Stands above the 3D viewport while bodies, or what can become one, are selected: bake, look inside, simulate, convert.

const Conversion := preload("conversion.gd")
const Presets := preload("presets.gd")
const Previews := preload("previews.gd")
const Keeping := preload("keeping.gd")
const Trial := preload("trial.gd")

enum Keep { POSE, STATE, MESHES, SCENE }

var undo: EditorUndoRedoManager
var trial: Trial:
	set(value):
		trial = value
		trial.started.connect(_update)
		trial.stopped.connect(_update)

var _bodies: Array[DestructibleBody] = []
var _sources: Array[Node] = [] # what can be converted
var _previews := Previews.new()
var _bake := Button.new()
var _view := OptionButton.new()
var _spread := HSlider.new()
var _simulate := Button.new()
var _strength := HSlider.new()
var _keep := MenuButton.new()
var _debug := MenuButton.new()
var _add_anchor := Button.new()
var _convert := MenuButton.new()
var _message := Label.new()


func _init() -> void:
	name = "FemToolbar"
	add_child(VSeparator.new())
	_add_button(_bake, "Bake", "Bake", "Fills the mesh with tetrahedra now, and not when the game starts.", _on_bake)
	_view.name = "View"
	for title: String in ["Surface", "Pieces", "Tetrahedra", "Strength"]:
		_view.add_item(title)
	_view.tooltip_text = "What is shown of the selected bodies: their surface, what they may break into, their tetrahedra, or which regions are weak (red) and strong (green)."
	_view.item_selected.connect(_on_view_selected)
	add_child(_view)
	_spread.name = "Spread"
	_spread.max_value = 1.0
	_spread.step = 0.01
	_spread.value = 0.3
	_spread.custom_minimum_size.x = 80.0
	_spread.size_flags_vertical = SIZE_SHRINK_CENTER
	_spread.tooltip_text = "How far apart they are shown."
	_spread.value_changed.connect(func(_value: float) -> void: _show_preview())
	add_child(_spread)
	_add_button(_simulate, "Simulate", "Simulate", "Lets the selected bodies fall and break here, without playing the game.\nClick: poke. Drag: pull. Shift+click: throw a ball. Esc: reset. Nothing of the scene is changed.", _on_simulate)
	_strength.name = "Strength"
	_strength.min_value = 0.5
	_strength.max_value = 50.0
	_strength.exp_edit = true
	_strength.step = 0.1
	_strength.value = 5.0
	_strength.custom_minimum_size.x = 60.0
	_strength.size_flags_vertical = SIZE_SHRINK_CENTER
	_strength.tooltip_text = "How hard a poke is."
	_strength.value_changed.connect(func(value: float) -> void: trial.strength = value)
	add_child(_strength)
	_keep.name = "Keep"
	_keep.text = "Keep"
	_keep.flat = true
	_keep.tooltip_text = "Ends the simulation, and keeps what came of it."
	for title: String in ["Where bodies lie, as their transform", "The broken state, as their start state", "What is seen, as MeshInstance3Ds", "What is seen, as a scene file"]:
		_keep.get_popup().add_item(title)
	_keep.get_popup().index_pressed.connect(_on_keep)
	add_child(_keep)
	_debug.name = "Debug"
	_debug.text = "Show"
	_debug.flat = true
	_debug.tooltip_text = "What the engine sees of the simulation, drawn over it: DestructionServer.debug_view."
	for title: String in ["Tetrahedra", "Stress", "Contacts", "Islands (awake)", "Boxes", "Ways of moving", "Physics proxies"]:
		_debug.get_popup().add_check_item(title)
	_debug.get_popup().index_pressed.connect(_on_debug)
	add_child(_debug)
	_add_button(_add_anchor, "AddAnchor", "Add Anchor", "Holds what lies in a box at the foot of the body. Drag the box by its handles; Anchors in the inspector removes it.", _on_add_anchor)
	_convert.name = "Convert"
	_convert.flat = true
	_convert.get_popup().id_pressed.connect(_on_convert)
	add_child(_convert)
	_message.name = "Message"
	_message.modulate = Color(1.0, 0.8, 0.4)
	add_child(_message)


func _add_button(button: Button, node_name: String, text: String, tooltip: String, pressed: Callable) -> void:
	button.name = node_name
	button.text = text
	button.tooltip_text = tooltip
	button.flat = true
	button.pressed.connect(pressed)
	add_child(button)


func show_for(nodes: Array[Node]) -> void:
	_bodies.clear()
	for node in nodes:
		if node is DestructibleBody:
			_bodies.append(node)
	_sources = Conversion.find_sources(nodes) if nodes.size() < 100 else ([] as Array[Node])
	_message.text = ""
	end_preview()
	_update()


func _update() -> void:
	var has_bodies := not _bodies.is_empty()
	visible = has_bodies or not _sources.is_empty() or trial.is_running()
	for control: Control in [_bake, _view, _add_anchor]:
		control.visible = has_bodies and not trial.is_running()
	_spread.visible = _view.visible and _view.selected in [1, 2]
	_simulate.visible = has_bodies or trial.is_running()
	_simulate.text = "Reset" if trial.is_running() else "Simulate"
	_strength.visible = trial.is_running()
	_keep.visible = trial.is_running()
	_debug.visible = trial.is_running()
	_convert.visible = (has_bodies or not _sources.is_empty()) and not trial.is_running()
	_convert.text = "Convert to Mesh" if has_bodies else "Make Destructible"
	_fill_convert_menu(has_bodies)
	_update_bake()


func _fill_convert_menu(has_bodies: bool) -> void:
	var popup := _convert.get_popup()
	popup.clear()
	if has_bodies:
		popup.add_item("MeshInstance3D", 0)
		return
	var paths := Presets.list()
	for i in paths.size():
		popup.add_item("of " + Presets.title(paths[i]), i)


func _process(_delta: float) -> void:
	if visible:
		_update_bake()


func _update_bake() -> void:
	_bodies = _bodies.filter(func(body: Variant) -> bool: return is_instance_valid(body))
	var baking := _find_baking()
	_bake.text = "Cancel Bake" if baking != null else "Bake"
	_bake.disabled = baking == null and not _bodies.any(func(body: DestructibleBody) -> bool: return body.mesh != null)


func _find_baking() -> DestructibleMesh:
	for body in _bodies:
		if body.mesh is DestructibleMesh and body.mesh.is_baking():
			return body.mesh
	return null


## A plain Mesh is put into a DestructibleMesh first, which then keeps the bake.
func _on_bake() -> void:
	var baking := _find_baking()
	if baking != null:
		baking.cancel_bake()
		return
	end_preview()
	for body in _bodies:
		if body.mesh is Mesh:
			_wrap_mesh(body)
		if body.mesh is DestructibleMesh and body.mesh.source_mesh != null:
			(body.mesh.get(&"bake_action") as Callable).call()
	_update_bake()


func _wrap_mesh(body: DestructibleBody) -> void:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = body.mesh
	mesh.element_count = body.element_count
	mesh.wall_thickness = body.wall_thickness
	mesh.refine_surface = true
	mesh.regions_from_surfaces = not body.region_materials.is_empty()
	if body.material != null and body.material.breakable:
		mesh.splinter_pattern = int(body.material.splinter_pattern) as DestructibleMesh.SplinterPattern
		mesh.splinter_direction = body.material.grain_direction
	undo.create_action("Make a DestructibleMesh of %s" % body.name, UndoRedo.MERGE_DISABLE, body)
	undo.add_do_property(body, "mesh", mesh)
	undo.add_undo_property(body, "mesh", body.mesh)
	undo.commit_action()


# ---- previews

func _on_view_selected(_index: int) -> void:
	_show_preview()
	_update()


func _show_preview() -> void:
	_message.text = _previews.show_of(_bodies, _view.selected - 1, _spread.value)


func end_preview() -> void:
	_previews.end()
	_view.select(0)


# ---- simulation

func _on_simulate() -> void:
	if trial.is_running():
		trial.stop()
		return
	end_preview()
	_message.text = trial.start(_bodies)


func _on_keep(index: int) -> void:
	_message.text = Keeping.keep(index, trial, undo)


func _on_debug(index: int) -> void:
	DestructionServer.debug_view ^= 1 << index
	for i in _debug.get_popup().item_count:
		_debug.get_popup().set_item_checked(i, DestructionServer.debug_view & 1 << i != 0)


func _on_add_anchor() -> void:
	for body in _bodies:
		var box := body.get_aabb()
		box.size.y *= 0.1
		box.position.y -= 0.05 * box.size.y
		var anchors := body.anchors
		anchors.append(box.grow(0.01 * box.get_longest_axis_size()))
		undo.create_action("Add an anchor to %s" % body.name, UndoRedo.MERGE_DISABLE, body)
		undo.add_do_property(body, "anchors", anchors)
		undo.add_undo_property(body, "anchors", body.anchors)
		undo.commit_action()


# ---- conversion

func _on_convert(id: int) -> void:
	end_preview()
	var made: String
	if not _bodies.is_empty():
		made = Conversion.to_meshes(_bodies, undo)
	else:
		made = Conversion.to_bodies(_sources, load(Presets.list()[id]), undo)
	EditorInterface.get_selection().clear()
	_message.text = made
	visible = made != ""
