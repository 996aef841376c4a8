@icon("res://addons/fem_destruction/icons/destruction_server.svg")
class_name DestructionEffects
extends Node3D
## Dust, chips and marks where destructibles break and strike: one node for the whole scene.
##
## Add it anywhere in a scene. It watches all [DestructibleBody]s of the tree, those that come later included, and gives every new
## face dust and chips in the manner of the material: their number follows the area, their speed the energy, their colour the inside
## of the body. Blows leave marks on level geometry. Everything is pooled and within [member particle_budget]; it draws with
## [CPUParticles3D] and quads, so it looks alike in Forward+, Mobile and Compatibility.
## [br][br]
## The addon's materials have ready-made looks; others get one by their splinter pattern. Set [member fracture_scene] or
## [member impact_scene], or connect [signal burst], for effects of your own.

## Something broke, was crushed or struck, and effects were shown or would have been: [param kind] is [code]&"fracture"[/code],
## [code]&"crush"[/code] or [code]&"impact"[/code]; [param size] is the new area (m²), that of the grains, or the impulse (N s).
signal burst(kind: StringName, body: DestructibleBody, point: Vector3, normal: Vector3, size: float)

const Looks := preload("effect_looks.gd")
const Emitters := preload("effect_emitters.gd")
const Marks := preload("effect_marks.gd")

const GRAIN_SIZE := 0.006 # m, of what is crushed: a volume V of cubes of this edge has a surface of 6 V / edge
const MERGE_DISTANCE := 0.25 # m, within which what breaks in one tick is one burst

## Shows dust and chips where bodies break.
@export var fractures := true
## Leaves marks where bodies strike level geometry.
@export var marks := true
## How much of everything there is; 1 is meant to look real.
@export_range(0.0, 4.0, 0.01) var amount := 1.0
## The most particles at one time. What would be beyond is left out, small bursts first.
@export_range(0, 5000, 1) var particle_budget := 800
## The most marks at one time; the oldest goes first.
@export_range(0, 500, 1) var mark_budget := 48
## Seconds after which a mark has faded.
@export_range(0.5, 120.0, 0.5, "suffix:s") var mark_lifetime := 20.0
## A blow must have this impulse to leave a mark.
@export_range(0.0, 1000.0, 0.1, "suffix:N s") var mark_impulse_min := 5.0
@export_group("Own Scenes")
## Put where something breaks, turned so that its y axis points along the normal; freed after [member scene_lifetime]. If its root
## has a method [code]start(info: Dictionary)[/code], it is called with [code]body[/code], [code]point[/code], [code]normal[/code],
## [code]size[/code] and [code]energy[/code].
@export var fracture_scene: PackedScene
## The same where something strikes.
@export var impact_scene: PackedScene
## Seconds after which own scenes are freed.
@export_range(0.1, 60.0, 0.1, "suffix:s") var scene_lifetime := 3.0
## The most own scenes at one time.
@export_range(0, 200, 1) var scene_budget := 24

var _emitters: Emitters
var _marks: Marks
var _looks := Looks.new()
var _bursts: Array[Dictionary] = [] # of this tick
var _scenes: Array[Dictionary] = [] # node and seconds left


func _ready() -> void:
	_emitters = Emitters.new()
	add_child(_emitters)
	_marks = Marks.new()
	add_child(_marks)
	for body in get_tree().root.find_children("*", "DestructibleBody", true, false):
		_watch(body)


func _enter_tree() -> void:
	get_tree().node_added.connect(_watch)


func _exit_tree() -> void:
	get_tree().node_added.disconnect(_watch)


func _watch(node: Node) -> void:
	var body := node as DestructibleBody
	if body != null and not body.fractured.is_connected(_on_fractured.bind(body)):
		body.fractured.connect(_on_fractured.bind(body))
		body.crushed.connect(_on_crushed.bind(body))
		body.impacted.connect(_on_impacted.bind(body))


## Particles that are alive now, at most.
func get_particle_count() -> int:
	return _emitters.get_live_count()


## Marks that are seen now.
func get_mark_count() -> int:
	return _marks.get_live_count()


func _on_fractured(point: Vector3, normal: Vector3, energy: float, area: float, body: DestructibleBody) -> void:
	burst.emit(&"fracture", body, point, normal, area)
	for other in _bursts:
		if other.body == body and (other.point as Vector3).distance_to(point) < MERGE_DISTANCE:
			other.size += area
			other.energy += energy
			return
	_bursts.append({"kind": &"fracture", "body": body, "point": point, "normal": normal, "size": area, "energy": energy})


## Grains leave the crater against what struck it.
func _on_crushed(point: Vector3, velocity: Vector3, volume: float, mass: float, body: DestructibleBody) -> void:
	var normal := Vector3.UP if velocity.is_zero_approx() else -velocity.normalized()
	var area := 6.0 * volume / GRAIN_SIZE
	burst.emit(&"crush", body, point, normal, area)
	_bursts.append({"kind": &"crush", "body": body, "point": point, "normal": normal, "size": area, "energy": 0.5 * mass * velocity.length_squared()})


func _on_impacted(point: Vector3, normal: Vector3, impulse: float, speed: float, other: Object, body: DestructibleBody) -> void:
	burst.emit(&"impact", body, point, normal, impulse)
	if impulse >= mark_impulse_min and is_finite(impulse):
		_bursts.append({"kind": &"impact", "body": body, "point": point, "normal": normal, "size": impulse, "energy": 0.5 * impulse * speed,
			"is_level": not (other is DestructibleBody or other is RigidBody3D or other is CharacterBody3D)})


## The largest first: they get what there is of the budget.
func _physics_process(delta: float) -> void:
	_age_scenes(delta)
	if _bursts.is_empty():
		return
	_bursts.sort_custom(func(a: Dictionary, b: Dictionary) -> bool: return a.size > b.size)
	for event in _bursts:
		if is_instance_valid(event.body):
			_show(event)
	_bursts.clear()


func _show(event: Dictionary) -> void:
	var point: Vector3 = event.point
	var normal: Vector3 = event.normal
	if not point.is_finite() or not normal.is_finite():
		return
	var look := _looks.of(event.body)
	if event.kind != &"impact":
		if fractures and amount > 0.0:
			_emitters.emit_burst(look, point, normal, event.size, event.energy, amount, particle_budget)
		_add_scene(fracture_scene, event)
		return
	if marks and event.is_level and mark_budget > 0:
		_marks.add_mark(look, point, normal, event.size, mark_budget, mark_lifetime)
	_add_scene(impact_scene, event)


# ---- own scenes

func _add_scene(scene: PackedScene, event: Dictionary) -> void:
	if scene == null or _scenes.size() >= scene_budget:
		return
	var node := scene.instantiate()
	add_child(node)
	if node is Node3D:
		node.global_transform = Transform3D(Marks.basis_along(event.normal), event.point)
	if node.has_method(&"start"):
		node.call(&"start", event)
	_scenes.append({"node": node, "left": scene_lifetime})


func _age_scenes(delta: float) -> void:
	for i in range(_scenes.size() - 1, -1, -1):
		_scenes[i].left -= delta
		if not is_instance_valid(_scenes[i].node) or _scenes[i].left <= 0.0:
			if is_instance_valid(_scenes[i].node):
				_scenes[i].node.queue_free()
			_scenes.remove_at(i)
