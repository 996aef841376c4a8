@tool
extends Node
## What the 3D viewport has for bodies: gizmos, a toolbar for what is selected, previews, trials, drops. Each is a file of its own;
## this one makes them and tells them of the selection.

const BodyGizmos := preload("body_gizmos.gd")
const Toolbar := preload("toolbar.gd")
const Trial := preload("trial.gd")
const ViewportDrop := preload("viewport_drop.gd")

var plugin: EditorPlugin
var gizmos: BodyGizmos
var toolbar: Toolbar
var trial: Trial

var _drops: Array[Node] = []
var _selected: Array[DestructibleBody] = []


func _enter_tree() -> void:
	name = "FemViewportTools"
	gizmos = BodyGizmos.new()
	gizmos.undo = plugin.get_undo_redo()
	plugin.add_node_3d_gizmo_plugin(gizmos)
	trial = Trial.new()
	add_child(trial)
	toolbar = Toolbar.new()
	toolbar.undo = plugin.get_undo_redo()
	toolbar.trial = trial
	toolbar.hide()
	plugin.add_control_to_container(EditorPlugin.CONTAINER_SPATIAL_EDITOR_MENU, toolbar)
	_drops = ViewportDrop.add_to_viewports(plugin.get_undo_redo())
	EditorInterface.get_selection().selection_changed.connect(_on_selection_changed)
	plugin.scene_changed.connect(_on_scene_changed)


func _exit_tree() -> void:
	if toolbar == null:
		return
	EditorInterface.get_selection().selection_changed.disconnect(_on_selection_changed)
	plugin.scene_changed.disconnect(_on_scene_changed)
	trial.stop()
	toolbar.end_preview()
	plugin.remove_control_from_container(EditorPlugin.CONTAINER_SPATIAL_EDITOR_MENU, toolbar)
	toolbar.queue_free()
	plugin.remove_node_3d_gizmo_plugin(gizmos)
	for drop in _drops:
		drop.queue_free()


## True when the event was for a trial that is under way.
func take_input(camera: Camera3D, event: InputEvent) -> bool:
	return trial.take_input(camera, event)


func _on_scene_changed(_root: Node) -> void:
	trial.stop()
	toolbar.end_preview()


func _on_selection_changed() -> void:
	var before := _selected
	_selected = []
	for node in EditorInterface.get_selection().get_selected_nodes():
		if node is DestructibleBody:
			_selected.append(node)
	gizmos.selected = _selected
	for body in before + _selected:
		if is_instance_valid(body) and body.is_inside_tree():
			body.update_gizmos() # anchors have handles while their body is selected
	toolbar.show_for(EditorInterface.get_selection().get_selected_nodes())
