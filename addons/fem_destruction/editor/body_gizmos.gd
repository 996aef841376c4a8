@tool
extends EditorNode3DGizmoPlugin
## Bodies in the 3D viewport: what the mouse hits, the anchors with handles, the handles of a box without a mesh, the direction of
## the grain.

const BoxHandles := preload("box_handles.gd")

const ANCHOR_COLOR := Color(1.0, 0.75, 0.2)
const GRAIN_COLOR := Color(0.8, 0.55, 0.3)
const SIZE_COLOR := Color(1.0, 0.45, 0.2)
const SIZE_HANDLES := 0 # handle ids: first those of the box, then those of the anchors

var undo: EditorUndoRedoManager
var selected: Array[DestructibleBody] = []


func _init() -> void:
	create_material("anchor", ANCHOR_COLOR)
	create_material("anchor_box", Color(ANCHOR_COLOR, 0.12))
	create_material("grain", GRAIN_COLOR)
	create_handle_material("handles")


func _get_gizmo_name() -> String:
	return "DestructibleBody"


func _get_priority() -> int:
	return -1


func _has_gizmo(node: Node3D) -> bool:
	return node is DestructibleBody


func _redraw(gizmo: EditorNode3DGizmo) -> void:
	gizmo.clear()
	var body := gizmo.get_node_3d() as DestructibleBody
	_add_collision(gizmo, body)
	var is_selected := body in selected
	_add_anchors(gizmo, body, is_selected)
	if is_selected:
		_add_grain(gizmo, body)
		if body.mesh == null:
			_add_handles(gizmo, AABB(-0.5 * body.size, body.size), SIZE_HANDLES, BoxHandles.MIDDLE)


## What a click must hit: the triangles that are seen at rest.
func _add_collision(gizmo: EditorNode3DGizmo, body: DestructibleBody) -> void:
	var triangles := triangles_of(body)
	if triangles != null:
		gizmo.add_collision_triangles(triangles)


static func triangles_of(body: DestructibleBody) -> TriangleMesh:
	var mesh: Mesh = body.mesh as Mesh
	if not body.start_state.is_empty():
		mesh = body.get_shown_mesh()
	elif body.mesh == null:
		var box := BoxMesh.new()
		box.size = body.size.abs()
		mesh = box
	elif body.mesh is DestructibleMesh:
		var baked: DestructibleMesh = body.mesh
		mesh = baked.source_mesh
		if mesh == null and baked.is_baked():
			mesh = baked.get_tet_mesh_surface()
	return mesh.generate_triangle_mesh() if mesh != null else null


# ---- anchors

func _add_anchors(gizmo: EditorNode3DGizmo, body: DestructibleBody, has_handles: bool) -> void:
	var anchors := body.anchors
	for i in anchors.size():
		if not anchors[i] is AABB:
			continue
		var box: AABB = anchors[i]
		gizmo.add_lines(BoxHandles.lines(box), get_material("anchor", gizmo))
		if has_handles:
			var solid := BoxMesh.new()
			solid.size = box.size.abs()
			gizmo.add_mesh(solid, get_material("anchor_box", gizmo), Transform3D(Basis.IDENTITY, box.get_center()))
			_add_handles(gizmo, box, BoxHandles.PER_BOX * (i + 1), BoxHandles.PER_BOX)


func _add_handles(gizmo: EditorNode3DGizmo, box: AABB, first_id: int, count: int) -> void:
	var ids := PackedInt32Array()
	for i in count:
		ids.append(first_id + i)
	gizmo.add_handles(BoxHandles.points(box).slice(0, count), get_material("handles", gizmo), ids)


func _get_handle_name(_gizmo: EditorNode3DGizmo, id: int, _secondary: bool) -> String:
	var face: String = BoxHandles.NAMES[id % BoxHandles.PER_BOX]
	return "Size " + face if id < BoxHandles.PER_BOX else "Anchor %d %s" % [id / BoxHandles.PER_BOX - 1, face]


func _get_handle_value(gizmo: EditorNode3DGizmo, id: int, _secondary: bool) -> Variant:
	var body := gizmo.get_node_3d() as DestructibleBody
	return body.size if id < BoxHandles.PER_BOX else body.anchors.duplicate()


func _set_handle(gizmo: EditorNode3DGizmo, id: int, _secondary: bool, camera: Camera3D, mouse: Vector2) -> void:
	var body := gizmo.get_node_3d() as DestructibleBody
	var face := id % BoxHandles.PER_BOX
	var snap := EditorInterface.get_node_3d_translate_snap() if EditorInterface.is_node_3d_snap_enabled() else 0.0
	if id < BoxHandles.PER_BOX:
		body.size = BoxHandles.dragged(AABB(-0.5 * body.size, body.size), face, body.global_transform, camera, mouse, snap, true).size
		return
	var anchors := body.anchors
	var index := id / BoxHandles.PER_BOX - 1
	if index < anchors.size() and anchors[index] is AABB:
		anchors[index] = BoxHandles.dragged(anchors[index], face, body.global_transform, camera, mouse, snap)
		body.anchors = anchors


func _commit_handle(gizmo: EditorNode3DGizmo, id: int, _secondary: bool, restore: Variant, cancel: bool) -> void:
	var body := gizmo.get_node_3d() as DestructibleBody
	var property := &"size" if id < BoxHandles.PER_BOX else &"anchors"
	if cancel:
		body.set(property, restore)
		return
	undo.create_action("Change %s of a DestructibleBody" % property, UndoRedo.MERGE_DISABLE, body)
	undo.add_do_property(body, property, body.get(property))
	undo.add_undo_property(body, property, restore)
	undo.commit_action()


# ---- grain

## Three arrows along the fibres, through the middle of the body.
func _add_grain(gizmo: EditorNode3DGizmo, body: DestructibleBody) -> void:
	var material := body.material
	var along := body.get_grain_direction()
	if material == null or material.grain_ratio <= 1.0 or along.is_zero_approx():
		return
	var box := body.get_aabb()
	var half := 0.5 * absf(box.size.dot(along.abs()))
	var across := along.cross(Vector3.UP if absf(along.y) < 0.9 else Vector3.RIGHT).normalized()
	var points := PackedVector3Array()
	for i in 3:
		var middle := box.get_center() + across * (i - 1) * 0.25 * absf(box.size.dot(across.abs()))
		var tip := middle + along * half
		points.append_array([middle - along * half, tip, tip, tip - (along - 0.5 * across) * 0.12 * half,
				tip, tip - (along + 0.5 * across) * 0.12 * half])
	gizmo.add_lines(points, get_material("grain", gizmo))
