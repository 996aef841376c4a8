@tool
extends Object
## Makes DestructibleBodys of MeshInstance3Ds, CSG shapes and the cells of a GridMap, and MeshInstance3Ds of bodies. Name, place,
## children, groups, metadata, script and signals are kept. Collision shapes below are kept, too, but switched off: they would stand
## in the way of the body that they were the shape of.

const IMPORTED_SCENES: Array[String] = ["glb", "gltf", "fbx", "blend", "dae"]
const META_BODY := &"fem_destruction_body" # what a body had set that a MeshInstance3D cannot have
const META_COLLISION := &"fem_destruction_was_enabled" # of a shape that was switched off
const COMMON: Array[StringName] = [&"visible", &"top_level", &"process_mode", &"process_priority", &"process_physics_priority",
	&"editor_description", &"unique_name_in_owner", &"rotation_order", &"rotation_edit_mode", &"layers", &"cast_shadow"]
const GRID_CELLS_MAX := 500 # as many bodies as an editor, and a game, bears


static func can_convert(node: Node) -> bool:
	return (node is MeshInstance3D and node.mesh != null) or (node is CSGShape3D and node.is_root_shape()) or (node is GridMap and node.mesh_library != null)


## What is to be converted for a selection: of a branch whose root is none of these, all below that are.
static func find_sources(selected: Array[Node]) -> Array[Node]:
	var found: Array[Node] = []
	for node in selected:
		_collect(node, found)
	return found


static func _collect(node: Node, found: Array[Node]) -> void:
	if can_convert(node):
		if not found.has(node):
			found.append(node)
		if node is CSGShape3D:
			return # its children are parts of it
	if node is DestructibleBody:
		return
	for child in node.get_children():
		_collect(child, found)


## One action of the undo history. Returns what was left alone, and why, or an empty text.
static func to_bodies(sources: Array[Node], material: MaterialResource, undo: EditorUndoRedoManager) -> String:
	var root := EditorInterface.get_edited_scene_root()
	var left := PackedStringArray()
	undo.create_action("Convert to DestructibleBody", UndoRedo.MERGE_DISABLE, root)
	var imported: Dictionary[Node, Array] = {} # instances of imported files, and what of them is converted
	for node in sources:
		var instance := _imported_instance(node, root)
		var fault := _fault(node, root) if instance == null else ""
		if fault != "":
			left.append("%s %s" % [node.name, fault])
		elif instance != null:
			imported.get_or_add(instance, []).append(node)
		elif node is GridMap:
			_convert_cells(node, material, undo, root)
		else:
			_replace(node, make_body(node, material), undo, root)
			_switch_collision(node, false, undo)
	for instance in imported:
		_replace_instance(instance, imported[instance], material, undo, root)
	undo.commit_action()
	return "\n".join(left)


static func to_meshes(bodies: Array[DestructibleBody], undo: EditorUndoRedoManager) -> String:
	var root := EditorInterface.get_edited_scene_root()
	var left := PackedStringArray()
	undo.create_action("Convert to MeshInstance3D", UndoRedo.MERGE_DISABLE, root)
	for body in bodies:
		var fault := _fault(body, root)
		if fault != "":
			left.append("%s %s" % [body.name, fault])
			continue
		_replace(body, make_mesh_instance(body), undo, root)
		_switch_collision(body, true, undo)
	undo.commit_action()
	return "\n".join(left)


static func _fault(node: Node, root: Node) -> String:
	if node == root:
		return "is the scene's root: put it below another node first."
	if node.owner != root and not root.is_editable_instance(node.owner):
		return "belongs to an instanced scene: open that one, or make its children editable."
	if node.owner != root or node.scene_file_path != "":
		return "is saved in a scene of its own: open that one and convert it there."
	if node is GridMap and (node as GridMap).get_used_cells().size() > GRID_CELLS_MAX:
		return "has more than %d cells: convert a smaller GridMap." % GRID_CELLS_MAX
	return ""


## The instance of a .glb or the like that a node is part of, if the edited scene has it itself: such a file cannot be opened and
## changed, so what is converted of it becomes part of the edited scene.
static func _imported_instance(node: Node, root: Node) -> Node:
	var instance := node.owner if node.scene_file_path == "" else node
	if instance == null or instance == root or instance.owner != root:
		return null
	return instance if instance.scene_file_path.get_extension().to_lower() in IMPORTED_SCENES else null


# ---- what is made

static func make_body(node: Node, material: MaterialResource) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.material = material
	if node is CSGShape3D:
		body.mesh = node.bake_static_mesh()
	else:
		_take_mesh(body, node)
	_restore_settings(body, node)
	return body


## The mesh as the instance shows it: with its blend shapes mixed and its bones posed.
static func shown_mesh(instance: MeshInstance3D) -> Mesh:
	var mesh := instance.mesh as ArrayMesh
	if mesh == null:
		return instance.mesh
	if instance.get_blend_shape_count() > 0:
		mesh = instance.bake_mesh_from_current_blend_shape_mix()
	var is_posed := instance.is_inside_tree() and instance.get_node_or_null(instance.skeleton) is Skeleton3D
	if is_posed and instance.mesh.surface_get_format(0) & Mesh.ARRAY_FORMAT_BONES:
		var modelled := instance.mesh
		instance.mesh = mesh
		var posed := instance.bake_mesh_from_current_skeleton_pose()
		instance.mesh = modelled
		mesh = posed if posed != null and posed.get_surface_count() > 0 else mesh
	if mesh != instance.mesh:
		for i in mesh.get_surface_count():
			mesh.surface_set_material(i, instance.mesh.surface_get_material(i))
	return mesh


## With the materials that the instance gives it.
static func _take_mesh(body: DestructibleBody, instance: MeshInstance3D) -> void:
	var mesh := shown_mesh(instance)
	body.mesh = mesh
	if instance.material_override != null:
		body.surface_material = instance.material_override
		return
	var overridden: Array[int] = []
	for i in instance.get_surface_override_material_count():
		if instance.get_surface_override_material(i) != null:
			overridden.append(i)
	if overridden.is_empty():
		return
	if mesh.get_surface_count() == 1:
		body.surface_material = instance.get_surface_override_material(0)
		return
	var copy := mesh.duplicate() as Mesh
	for i in overridden:
		copy.surface_set_material(i, instance.get_surface_override_material(i))
	body.mesh = copy


static func _restore_settings(body: DestructibleBody, node: Node) -> void:
	var settings: Dictionary = node.get_meta(META_BODY, {})
	for property: StringName in settings:
		if property == &"mesh" and not (settings.mesh is DestructibleMesh and settings.mesh.source_mesh == body.mesh):
			continue # the instance has another one by now
		body.set(property, settings[property])


static func make_mesh_instance(body: DestructibleBody) -> MeshInstance3D:
	var instance := MeshInstance3D.new()
	instance.mesh = mesh_of(body)
	instance.material_override = body.surface_material
	if body.surface_material == null and body.material != null and body.material.surface_material != null and instance.mesh != null:
		for i in instance.mesh.get_surface_count():
			if instance.mesh.surface_get_material(i) == null:
				instance.set_surface_override_material(i, body.material.surface_material)
	var settings := {}
	for property in ClassDB.class_get_property_list(&"DestructibleBody", true):
		var is_own: bool = property.usage & PROPERTY_USAGE_STORAGE and property.name not in ["surface_material", "layers", "cast_shadow"]
		if is_own and not (property.name == "mesh" and body.mesh is not DestructibleMesh):
			var value: Variant = body.get(property.name)
			if value != ClassDB.class_get_property_default_value(&"DestructibleBody", property.name):
				settings[StringName(property.name)] = value
	instance.set_meta(META_BODY, settings)
	return instance


static func mesh_of(body: DestructibleBody) -> Mesh:
	if body.mesh is Mesh:
		return body.mesh
	if body.mesh is DestructibleMesh:
		return body.mesh.source_mesh if body.mesh.source_mesh != null else body.mesh.get_tet_mesh_surface()
	var box := BoxMesh.new()
	box.size = body.size
	return box


# ---- taking the place of a node

## A copy of an imported scene's instance, its nodes those of the edited scene, in which bodies stand for some of its meshes.
static func _replace_instance(instance: Node3D, meshes: Array, material: MaterialResource, undo: EditorUndoRedoManager, root: Node) -> void:
	var fresh := instance.duplicate(Node.DUPLICATE_SIGNALS | Node.DUPLICATE_GROUPS | Node.DUPLICATE_SCRIPTS) as Node3D
	fresh.scene_file_path = ""
	for mesh: MeshInstance3D in meshes:
		var old := fresh.get_node(instance.get_path_to(mesh)) as MeshInstance3D
		var body := make_body(mesh, material)
		_take_over(old, body)
		fresh = body if old == fresh else fresh
		old.replace_by(body, true)
		body.name = mesh.name
		old.free()
		_switch_collision(body, false, undo)
	var parent := instance.get_parent()
	fresh.name = instance.name
	undo.add_do_method(parent, "remove_child", instance)
	undo.add_do_method(parent, "add_child", fresh, true)
	undo.add_do_method(parent, "move_child", fresh, instance.get_index())
	undo.add_do_property(fresh, "owner", root)
	undo.add_do_property(fresh, "name", instance.name)
	for node in fresh.find_children("*", "", true, false):
		undo.add_do_property(node, "owner", root)
	undo.add_do_reference(fresh)
	undo.add_undo_method(parent, "remove_child", fresh)
	undo.add_undo_method(parent, "add_child", instance, true)
	undo.add_undo_method(parent, "move_child", instance, instance.get_index())
	undo.add_undo_property(instance, "owner", root)
	undo.add_undo_reference(instance)


static func _replace(old: Node3D, new: Node3D, undo: EditorUndoRedoManager, root: Node) -> void:
	var old_name := old.name
	new.name = old_name
	_take_over(old, new)
	undo.add_do_method(old, "replace_by", new, true)
	undo.add_do_property(new, "owner", root)
	undo.add_do_property(new, "name", old_name)
	undo.add_do_reference(new)
	undo.add_undo_method(new, "replace_by", old, true)
	undo.add_undo_property(old, "owner", root)
	undo.add_undo_property(old, "name", old_name)
	undo.add_undo_reference(old)
	if old is CSGShape3D: # what it was made of goes with it
		var parts := old.get_children()
		for part in parts:
			if part is CSGShape3D:
				undo.add_do_method(new, "remove_child", part)
				undo.add_undo_method(old, "add_child", part)
				undo.add_undo_property(part, "owner", root)
				undo.add_undo_reference(part)


## Place, look, metadata, script and signals of the node whose place it takes.
static func _take_over(old: Node3D, new: Node3D) -> void:
	new.transform = old.transform
	for property in COMMON:
		var value: Variant = old.get(property)
		if value != null and property in new:
			new.set(property, value)
	for key in old.get_meta_list():
		if key != META_BODY and not new.has_meta(key):
			new.set_meta(key, old.get_meta(key))
	var script: Script = old.get_script()
	if script != null and ClassDB.is_parent_class(new.get_class(), script.get_instance_base_type()):
		new.set_script(script)
	elif script != null:
		push_warning("%s loses its script %s, which extends %s; a %s cannot have it." % [old.name, script.resource_path, script.get_instance_base_type(), new.get_class()])
	_copy_connections(old, new)


## Saved connections of signals that both have.
static func _copy_connections(old: Node, new: Node) -> void:
	for info in old.get_signal_list():
		for connection in old.get_signal_connection_list(info.name):
			if connection.flags & CONNECT_PERSIST and new.has_signal(info.name) and not new.is_connected(info.name, connection.callable):
				new.connect(info.name, connection.callable, connection.flags)


## Shapes of static bodies below the node, which were its own.
static func _switch_collision(node: Node, on: bool, undo: EditorUndoRedoManager) -> void:
	for shape in node.find_children("*", "CollisionShape3D", true, false) + node.find_children("*", "CollisionPolygon3D", true, false):
		if shape.get_parent() is not StaticBody3D or shape.disabled != on or (on and not shape.has_meta(META_COLLISION)):
			continue
		undo.add_do_property(shape, "disabled", not on)
		undo.add_undo_property(shape, "disabled", on)
		undo.add_do_method(shape, "set_meta", META_COLLISION, null if on else true)
		undo.add_undo_method(shape, "set_meta", META_COLLISION, true if on else null)


# ---- grid maps

## Each cell becomes a body beside the GridMap.
static func _convert_cells(grid: GridMap, material: MaterialResource, undo: EditorUndoRedoManager, root: Node) -> void:
	for cell in grid.get_used_cells():
		var item := grid.get_cell_item(cell)
		var mesh := grid.mesh_library.get_item_mesh(item)
		if mesh == null:
			continue
		var body := DestructibleBody.new()
		body.mesh = mesh
		body.material = material
		body.name = "%s_%s" % [grid.mesh_library.get_item_name(item).validate_node_name() if grid.mesh_library.get_item_name(item) != "" else "Cell", "%d_%d_%d" % [cell.x, cell.y, cell.z]]
		body.transform = grid.transform * Transform3D(grid.get_cell_item_basis(cell).scaled(Vector3.ONE * grid.cell_scale), grid.map_to_local(cell)) * grid.mesh_library.get_item_mesh_transform(item)
		undo.add_do_method(grid.get_parent(), "add_child", body, true)
		undo.add_do_property(body, "owner", root)
		undo.add_do_reference(body)
		undo.add_do_method(grid, "set_cell_item", cell, GridMap.INVALID_CELL_ITEM, 0)
		undo.add_undo_method(grid.get_parent(), "remove_child", body)
		undo.add_undo_method(grid, "set_cell_item", cell, item, grid.get_cell_item_orientation(cell))
