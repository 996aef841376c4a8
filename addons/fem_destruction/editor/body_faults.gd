@tool
extends Object
## What is amiss with a body beyond what keeps it from being simulated, each with the change that mends it.

const HEAVY := 2000.0 # kg; a car
const MANY_ELEMENTS := 20000
const SOLID_VOLUME := 0.05 # m3; more than one person lifts, of anything
const SOLID_SIZE := 3.0 # m; as small as furniture
const WALL_SHARE := 0.03 # of the longest side: the wall of what is made hollow
const STRETCHED := 1.5 # longest over shortest side of what was a cube: from here on cells are worse than others; chosen


class Fault:
	var text: String
	var remedy: String ## what the button says
	var mend: Callable ## of an EditorUndoRedoManager


static func find(body: DestructibleBody) -> Array[Fault]:
	var faults: Array[Fault] = []
	_find_material_faults(body, faults)
	_find_bake_faults(body, faults)
	var estimate := body.get_estimate()
	if estimate.mass > HEAVY and body.mass_override == 0.0:
		_add(faults, "It weighs %s kg: what it falls on will break, and little will move it." % String.num(estimate.mass, 0), "Set Mass to 100 kg",
				func(undo: EditorUndoRedoManager) -> void: set_value(undo, body, &"mass_override", 100.0))
	if body.is_simulated() and body.get_softened_tet_count() > 0:
		_add(faults, "%d tetrahedra are too stiff for their size, and bend more than they should." % body.get_softened_tet_count(), "Halve the Elements",
				func(undo: EditorUndoRedoManager) -> void: _scale_elements(undo, body, 0.5))
	return faults


static func _find_material_faults(body: DestructibleBody, faults: Array[Fault]) -> void:
	if body.material == null and body.region_materials.is_empty():
		_add(faults, "It has no material, and behaves like soft rubber.", "Make It Oak",
				func(undo: EditorUndoRedoManager) -> void: set_value(undo, body, &"material", load("res://addons/fem_destruction/materials/oak.tres")))
	elif body.material != null and body.material.breakable and body.mesh is not DestructibleMesh and body.material.splinter_pattern == MaterialResource.SPLINTERS_NONE:
		_add(faults, "It breaks without splinters: the flat faces of its tetrahedra will be seen.", "Cut Like Stone",
				func(undo: EditorUndoRedoManager) -> void: set_value(undo, body.material, &"splinter_pattern", MaterialResource.SPLINTERS_VORONOI))


static func _find_bake_faults(body: DestructibleBody, faults: Array[Fault]) -> void:
	var mesh := body.mesh as DestructibleMesh
	var count := mesh.element_count if mesh != null else body.element_count if body.mesh != null else 0
	if count > MANY_ELEMENTS:
		_add(faults, "%d elements take long to bake and to simulate." % count, "Use 5000",
				func(undo: EditorUndoRedoManager) -> void: set_value(undo, mesh if mesh != null else body, &"element_count", 5000))
	if _is_solid_model(body):
		_add(faults, "It is filled solid and looks hollow.", "Make It Hollow",
				func(undo: EditorUndoRedoManager) -> void: set_value(undo, body, &"wall_thickness", _wall_of(body)))
	if body.mesh == null and _stretch_left(body, Vector3.ONE) > STRETCHED and _matching_cells(body) != body.cells:
		_add(faults, "Its cells are %.1f times as long as wide under the node's scale: it breaks into slices, or not at all." % _stretch_left(body, Vector3.ONE), "Match the Cells",
				func(undo: EditorUndoRedoManager) -> void: set_value(undo, body, &"cells", _matching_cells(body)))
	if mesh == null or mesh.is_baking():
		return
	if mesh.is_baked() and mesh.source_mesh != null and _stretch_left(body, mesh.stretch) > STRETCHED:
		_add(faults, "The node's scale stretches it %.1f times beyond the shape that its mesh was baked for." % _stretch_left(body, mesh.stretch), "Bake for This Scale",
				func(undo: EditorUndoRedoManager) -> void: _bake_stretched(undo, body, mesh))
	if mesh.is_baked() and mesh.is_stale():
		_add(faults, "Its mesh or the settings of its bake have changed since the bake.", "Bake Again", func(_undo: EditorUndoRedoManager) -> void: _bake(mesh))
	elif mesh.is_baked() and body.material != null and body.material.breakable and mesh.get_baked_splinter_count() == 0:
		_add(faults, "It breaks without splinters: its mesh was baked without.", "Bake With Splinters",
				func(undo: EditorUndoRedoManager) -> void: _bake_with_splinters(undo, body, mesh))
	if mesh.is_baked() and mesh.wall_thickness == 0.0 and mesh.report.contains("hollow"):
		_add(faults, "It is filled solid and looks hollow.", "Make It Hollow",
				func(undo: EditorUndoRedoManager) -> void: _make_hollow(undo, body, mesh))


## A model as large as furniture, filled. Godot's own shapes are meant as they are; of a DestructibleMesh its report tells.
static func _is_solid_model(body: DestructibleBody) -> bool:
	if not body.mesh is ArrayMesh or body.wall_thickness > 0.0 or body.mass_override > 0.0:
		return false
	var density := body.material.density if body.material != null else 1000.0
	var size := body.get_aabb().size * body.scale
	return body.get_estimate().mass / density > SOLID_VOLUME and size[size.max_axis_index()] < SOLID_SIZE


## How many times as long as wide the node's scale makes what is a cube under another one.
static func _stretch_left(body: DestructibleBody, stretch: Vector3) -> float:
	var left := body.global_basis.get_scale().abs() / stretch
	return left[left.max_axis_index()] / maxf(left[left.min_axis_index()], 1e-9)


## As many cells as there are, as near to cubes as can be.
static func _matching_cells(body: DestructibleBody) -> Vector3i:
	var size := body.size * body.global_basis.get_scale().abs()
	var count := body.cells.x * body.cells.y * body.cells.z
	var low := 1e-3 * size[size.max_axis_index()]
	var high := size[size.max_axis_index()]
	var cells := Vector3i.ONE
	for i in 40:
		var edge := sqrt(low * high)
		cells = Vector3i((size / edge).round().max(Vector3.ONE))
		if cells.x * cells.y * cells.z > count:
			low = edge
		else:
			high = edge
	return Vector3i((size / high).round().max(Vector3.ONE))


static func _wall_of(body: DestructibleBody) -> float:
	return WALL_SHARE * body.get_aabb().get_longest_axis_size()


static func _add(faults: Array[Fault], text: String, remedy: String, mend: Callable) -> void:
	var fault := Fault.new()
	fault.text = text
	fault.remedy = remedy
	fault.mend = mend
	faults.append(fault)


# ---- remedies

static func set_value(undo: EditorUndoRedoManager, object: Object, property: StringName, value: Variant) -> void:
	undo.create_action("Set %s" % property, UndoRedo.MERGE_DISABLE, object)
	undo.add_do_property(object, property, value)
	undo.add_undo_property(object, property, object.get(property))
	undo.commit_action()


static func _bake(mesh: DestructibleMesh) -> void:
	(mesh.get(&"bake_action") as Callable).call()


static func _scale_elements(undo: EditorUndoRedoManager, body: DestructibleBody, factor: float) -> void:
	if body.mesh == null:
		set_value(undo, body, &"cells", Vector3i((Vector3(body.cells) * pow(factor, 1.0 / 3.0)).max(Vector3.ONE)))
		return
	var target: Object = body.mesh if body.mesh is DestructibleMesh else body
	set_value(undo, target, &"element_count", maxi(5, int(target.element_count * factor)))


static func _bake_with_splinters(undo: EditorUndoRedoManager, body: DestructibleBody, mesh: DestructibleMesh) -> void:
	var pattern: int = body.material.splinter_pattern
	set_value(undo, mesh, &"splinter_pattern", pattern if pattern != 0 else int(DestructibleMesh.SPLINTERS_VORONOI))
	set_value(undo, mesh, &"splinter_direction", body.material.grain_direction)
	_bake(mesh)


static func _bake_stretched(undo: EditorUndoRedoManager, body: DestructibleBody, mesh: DestructibleMesh) -> void:
	var scale := body.global_basis.get_scale().abs()
	set_value(undo, mesh, &"stretch", scale / scale.x)
	_bake(mesh)


static func _make_hollow(undo: EditorUndoRedoManager, body: DestructibleBody, mesh: DestructibleMesh) -> void:
	set_value(undo, mesh, &"wall_thickness", _wall_of(body))
	_bake(mesh)
