@tool
extends Control
## Takes files that are dropped on a body in a 3D viewport: a MaterialResource becomes its material, a Mesh, DestructibleMesh or
## imported scene its mesh. A material on a MeshInstance3D makes it destructible; beside everything it makes a box of it. All
## other drops are left to the editor.

const Conversion := preload("conversion.gd")

var undo: EditorUndoRedoManager
var viewport: SubViewport


static func add_to_viewports(manager: EditorUndoRedoManager) -> Array[Node]:
	var made: Array[Node] = []
	for i in 4:
		var drop := new()
		drop.undo = manager
		drop.viewport = EditorInterface.get_editor_viewport_3d(i)
		var surface: Control = null # of the editor's viewport, which takes the mouse
		for sibling in drop.viewport.get_parent().get_parent().get_children():
			if sibling.get_class() == "Control":
				surface = sibling
				break
		if surface == null:
			drop.free()
			continue
		surface.add_child(drop)
		made.append(drop)
	return made


func _init() -> void:
	name = "FemViewportDrop"
	set_anchors_preset(PRESET_FULL_RECT)
	mouse_filter = MOUSE_FILTER_IGNORE


## In the way of the mouse only while something is dragged.
func _notification(what: int) -> void:
	if what == NOTIFICATION_DRAG_BEGIN:
		mouse_filter = MOUSE_FILTER_PASS if _resource_of(get_viewport().gui_get_drag_data()) != null else MOUSE_FILTER_IGNORE
	elif what == NOTIFICATION_DRAG_END:
		mouse_filter = MOUSE_FILTER_IGNORE


func _can_drop_data(at: Vector2, data: Variant) -> bool:
	var resource := _resource_of(data)
	if resource == null or EditorInterface.get_edited_scene_root() == null:
		return false
	return resource is MaterialResource or node_at(at) is DestructibleBody


func _drop_data(at: Vector2, data: Variant) -> void:
	drop(_resource_of(data), node_at(at), at)


func drop(resource: Resource, node: Node3D, at: Vector2) -> void:
	if node is DestructibleBody and resource is MaterialResource:
		_set_property(node, &"material", resource)
	elif node is DestructibleBody:
		_set_property(node, &"mesh", _mesh_of(resource))
	elif resource is MaterialResource and node != null and Conversion.can_convert(node):
		var fault := Conversion.to_bodies([node], resource, undo)
		if fault != "":
			push_warning(fault)
	elif resource is MaterialResource:
		_add_box(resource, at)


func _set_property(body: DestructibleBody, property: StringName, value: Resource) -> void:
	undo.create_action("Drop a %s on %s" % [property, body.name], UndoRedo.MERGE_DISABLE, body)
	undo.add_do_property(body, property, value)
	undo.add_undo_property(body, property, body.get(property))
	undo.commit_action()


## Where the ground, y = 0, is pointed at; at most 20 m away.
func _add_box(material: MaterialResource, at: Vector2) -> void:
	var root := EditorInterface.get_edited_scene_root()
	var camera := viewport.get_camera_3d()
	var from := camera.project_ray_origin(at)
	var along := camera.project_ray_normal(at)
	var hit: Variant = Plane.PLANE_XZ.intersects_ray(from, along)
	var place: Vector3 = hit if hit != null and from.distance_to(hit) < 20.0 else from + 5.0 * along
	var body := DestructibleBody.new()
	body.name = material.resource_path.get_file().get_basename().to_pascal_case() if material.resource_path != "" else "Box"
	body.material = material
	body.position = (root.global_transform.affine_inverse() if root is Node3D else Transform3D.IDENTITY) * (place + 0.5 * Vector3.UP)
	undo.create_action("Drop a body of " + body.name, UndoRedo.MERGE_DISABLE, root)
	undo.add_do_method(root, "add_child", body, true)
	undo.add_do_property(body, "owner", root)
	undo.add_do_reference(body)
	undo.add_undo_method(root, "remove_child", body)
	undo.commit_action()


## The first node of the edited scene that the mouse points at, as the editor itself would select it.
func node_at(at: Vector2) -> Node3D:
	var camera := viewport.get_camera_3d()
	var root := EditorInterface.get_edited_scene_root()
	if camera == null or root == null:
		return null
	var from := camera.project_ray_origin(at)
	var to := from + camera.project_ray_normal(at) * camera.far
	var nearest: Node3D = null
	var least := INF
	for id in RenderingServer.instances_cull_ray(from, to, camera.get_world_3d().scenario):
		var node := instance_from_id(id) as VisualInstance3D
		if node == null or not (node == root or root.is_ancestor_of(node)):
			continue
		var inverse := node.global_transform.affine_inverse()
		var hit: Variant = node.get_aabb().intersects_segment(inverse * from, inverse * to)
		if hit != null and (node.global_transform * (hit as Vector3)).distance_to(from) < least:
			least = (node.global_transform * (hit as Vector3)).distance_to(from)
			nearest = node
	return nearest


func _resource_of(data: Variant) -> Resource:
	if data is not Dictionary:
		return null
	var resource: Resource = null
	if data.get("type", "") == "resource":
		resource = data.resource
	elif data.get("type", "") == "files" and data.files.size() == 1:
		var path: String = data.files[0]
		if path.get_extension().to_lower() in Conversion.IMPORTED_SCENES or path.get_extension().to_lower() in ["tres", "res", "mesh", "obj"]:
			resource = load(path)
	return resource if resource is MaterialResource or _mesh_of(resource) != null else null


## A Mesh or DestructibleMesh as it is; of a scene the first mesh in it.
static func _mesh_of(resource: Resource) -> Resource:
	if resource is Mesh or resource is DestructibleMesh:
		return resource
	if resource is PackedScene:
		var state: SceneState = resource.get_state()
		for node in state.get_node_count():
			for property in state.get_node_property_count(node):
				var value: Variant = state.get_node_property_value(node, property)
				if state.get_node_property_name(node, property) == &"mesh" and (value is Mesh or value is DestructibleMesh):
					return value
	return null
