@tool
extends "part.gd"
## MeshInstance3Ds, branches, CSG shapes and GridMaps become bodies, and bodies become meshes again; imported scenes arrive
## destructible.

const Conversion := "res://addons/fem_destruction/editor/conversion.gd"

var conversion: Script


func run() -> void:
	conversion = load(Conversion)
	await open_room()
	await _test_a_mesh_and_back()
	await _test_the_shown_pose()
	await _test_branches()
	await _test_csg()
	await _test_grid_map()
	await _test_refusals()
	await _test_import()
	await close_room()


func _convert(nodes: Array[Node]) -> String:
	return conversion.to_bodies(conversion.find_sources(nodes), material("oak"), host.get_undo_redo())


## With all that a node can have.
func _test_a_mesh_and_back() -> void:
	var plain: MeshInstance3D = room.get_node("Plain")
	var override := StandardMaterial3D.new()
	plain.material_override = override
	plain.rotation.y = 0.5
	plain.layers = 6
	plain.add_to_group("props", true)
	plain.set_meta("price", 12)
	var index := plain.get_index()
	var child: Node3D = add(Node3D.new(), "Child", Vector3.ONE, plain)
	var wall: StaticBody3D = add(StaticBody3D.new(), "Wall", Vector3.ZERO, plain)
	var shape := CollisionShape3D.new()
	shape.shape = SphereShape3D.new()
	add(shape, "Shape", Vector3.ZERO, wall)
	var script := GDScript.new()
	script.source_code = "extends Node3D\nvar tag := 5\n"
	script.reload()
	plain.set_script(script)
	plain.visibility_changed.connect(room.get_child(0).update_gizmos, CONNECT_PERSIST)
	var before := plain.transform
	check(_convert([plain]) == "", "convert", "something was left")
	await frames(3)
	var made := room.get_node("Plain") as DestructibleBody
	check(made != null, "becomes_a_body", "it is %s" % room.get_node("Plain"))
	if made == null:
		return
	check(made.mesh is SphereMesh and made.material == material("oak") and made.surface_material == override, "keeps_mesh_and_material", "%s, %s" % [made.mesh, made.surface_material])
	check(made.transform.is_equal_approx(before) and made.get_index() == index and made.owner == room and made.layers == 6, "keeps_its_place", "%s, index %d, owner %s, layers %d" % [made.transform, made.get_index(), made.owner, made.layers])
	check(made.is_in_group("props") and made.get_meta("price") == 12, "keeps_groups_and_metadata", "%s" % [made.get_groups()])
	check(child.get_parent() == made and child.owner == room and child.position == Vector3.ONE, "keeps_children", "%s" % child.get_parent())
	check(shape.is_inside_tree() and shape.disabled, "collision_is_kept_and_off", "it is %s" % shape.disabled)
	check(made.get_script() == script, "keeps_its_script", "%s" % made.get_script())
	check(not made.visibility_changed.get_connections().is_empty(), "keeps_its_signals", "they are gone")
	history().undo()
	await frames(3)
	check(room.get_node("Plain") == plain and child.get_parent() == plain and not shape.disabled and plain.material_override == override, "undo_convert", "it is %s" % room.get_node("Plain"))
	history().redo()
	await frames(3)
	check(room.get_node("Plain") == made and shape.disabled, "redo_convert", "it is %s" % room.get_node("Plain"))
	# There and back: the settings of the body are not lost.
	made.element_count = 123
	made.anchors = [AABB(Vector3.ZERO, Vector3.ONE)]
	check(conversion.to_meshes([made] as Array[DestructibleBody], host.get_undo_redo()) == "", "convert_back", "something was left")
	await frames(3)
	var back := room.get_node("Plain") as MeshInstance3D
	check(back != null and back.mesh is SphereMesh and back.material_override == override and child.get_parent() == back and not shape.disabled, "back_to_a_mesh", "it is %s" % room.get_node("Plain"))
	_convert([back])
	await frames(3)
	made = room.get_node("Plain")
	check(made.element_count == 123 and made.anchors.size() == 1 and made.material == material("oak"), "settings_survive", "%d elements" % made.element_count)
	# Saved and loaded.
	save_room()
	var saved: Node = load(ROOM).instantiate()
	check(saved.get_node("Plain") is DestructibleBody and saved.get_node("Plain/Child") != null, "converted_is_saved", "%s" % saved.get_node_or_null("Plain"))
	saved.free()


## A blend shape that is mixed in is what becomes a body.
func _test_the_shown_pose() -> void:
	var arrays := BoxMesh.new().get_mesh_arrays()
	var moved := PackedVector3Array()
	for position: Vector3 in arrays[Mesh.ARRAY_VERTEX]:
		moved.append(position * Vector3(1, 3, 1))
	var shapes: Array[Array] = [[moved, arrays[Mesh.ARRAY_NORMAL], arrays[Mesh.ARRAY_TANGENT]]]
	var mesh := ArrayMesh.new()
	mesh.blend_shape_mode = Mesh.BLEND_SHAPE_MODE_NORMALIZED
	mesh.add_blend_shape("tall")
	mesh.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays, shapes)
	var look := StandardMaterial3D.new()
	mesh.surface_set_material(0, look)
	var instance: MeshInstance3D = add(MeshInstance3D.new(), "Posed", Vector3(6, 0, 6))
	instance.mesh = mesh
	instance.set_blend_shape_value(0, 1.0)
	_convert([instance])
	await frames(3)
	var made := room.get_node("Posed") as DestructibleBody
	check(made != null and absf(made.mesh.get_aabb().size.y - 3.0) < 0.01, "takes_the_shown_pose", "%s" % [made.mesh.get_aabb() if made else null])
	check(made != null and made.mesh.surface_get_material(0) == look, "a_pose_keeps_its_material", "it is lost")
	history().undo()
	await frames(3)


func _test_branches() -> void:
	var branch: Node3D = add(Node3D.new(), "Branch", Vector3(3, 0, 3))
	for i in 3:
		var instance: MeshInstance3D = add(MeshInstance3D.new(), "Part%d" % i, Vector3(i, 0, 0), branch)
		instance.mesh = BoxMesh.new()
		var colored := ArrayMesh.new()
		if i == 2: # two surfaces, one with a material of the instance
			for j in 2:
				colored.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, BoxMesh.new().get_mesh_arrays())
			instance.mesh = colored
			instance.set_surface_override_material(1, StandardMaterial3D.new())
	check(conversion.find_sources([branch] as Array[Node]).size() == 3, "finds_a_branch", "%d of 3" % conversion.find_sources([branch] as Array[Node]).size())
	await select([branch])
	check(tools().toolbar.visible and button("Convert").visible, "toolbar_of_a_branch", "it is hidden")
	tools().toolbar._on_convert(0)
	await frames(3)
	check(branch.get_children().all(func(node: Node) -> bool: return node is DestructibleBody), "converts_a_branch", "%s" % [branch.get_children()])
	check((branch.get_node("Part2").mesh as Mesh).surface_get_material(1) is StandardMaterial3D, "keeps_surface_materials", "it is gone")
	history().undo()
	await frames(3)
	check(branch.get_children().all(func(node: Node) -> bool: return node is MeshInstance3D), "undo_a_branch", "%s" % [branch.get_children()])


func _test_csg() -> void:
	var box: CSGBox3D = add(CSGBox3D.new(), "Cut", Vector3(-3, 1, -2))
	var hole: CSGSphere3D = add(CSGSphere3D.new(), "Hole", Vector3.ZERO, box)
	hole.operation = CSGShape3D.OPERATION_SUBTRACTION
	hole.radius = 0.6
	await frames(3)
	check(_convert([box]) == "", "convert_csg", "it was left")
	await frames(3)
	var made := room.get_node("Cut") as DestructibleBody
	check(made != null and made.mesh is ArrayMesh and made.get_child_count() == 0, "csg_becomes_a_body", "%s" % room.get_node("Cut"))
	history().undo()
	await frames(3)
	check(room.get_node("Cut") == box and hole.get_parent() == box and hole.owner == room, "undo_csg", "%s" % room.get_node("Cut"))


func _test_grid_map() -> void:
	var grid: GridMap = add(GridMap.new(), "Grid", Vector3(0, 0, -5))
	grid.mesh_library = MeshLibrary.new()
	grid.mesh_library.create_item(0)
	grid.mesh_library.set_item_mesh(0, BoxMesh.new())
	for i in 3:
		grid.set_cell_item(Vector3i(i, 0, 0), 0, 16)
	var count := room.get_child_count()
	check(_convert([grid]) == "", "convert_a_grid", "it was left")
	await frames(2)
	var last := room.get_child(room.get_child_count() - 1) as DestructibleBody
	check(room.get_child_count() == count + 3 and grid.get_used_cells().is_empty() and last != null, "cells_become_bodies", "%d nodes more" % (room.get_child_count() - count))
	check(last != null and last.position.is_equal_approx(grid.transform * grid.map_to_local(Vector3i(2, 0, 0))), "cells_keep_their_place", "%s" % last)
	history().undo()
	await frames(2)
	check(room.get_child_count() == count and grid.get_used_cells().size() == 3 and grid.get_cell_item_orientation(Vector3i(1, 0, 0)) == 16, "undo_a_grid", "%s" % [grid.get_used_cells()])


func _test_refusals() -> void:
	check(conversion.to_meshes([] as Array[DestructibleBody], host.get_undo_redo()) == "", "convert_nothing", "it says something")
	var instanced: Node3D = load("res://instanced.tscn").instantiate()
	add(instanced, "Instanced", Vector3(5, 0, 0))
	await frames(2)
	var inner: Node = instanced.get_node("Inner")
	check(_convert([inner]).contains("instanced scene"), "instanced_is_said", "it is converted")
	room.set_editable_instance(instanced, true)
	check(_convert([inner]).contains("scene of its own"), "editable_children_are_said", "it is converted")
	check(instanced.get_node("Inner") == inner, "instanced_is_left_alone", "it is gone")
	# A body of an instanced scene with editable children: selected, anchored, simulated.
	var nested: DestructibleBody = instanced.get_node("Nested")
	await select([nested])
	nested.anchors = [AABB(Vector3(-1, -1, -1), Vector3(2, 0.7, 2))]
	await frames(2)
	check(tools().trial.start([nested] as Array[DestructibleBody]) == "", "editable_child_is_simulated", "it is not")
	await frames(5)
	tools().trial.stop()
	save_room()
	var saved: Node = load(ROOM).instantiate()
	check(saved.get_node("Instanced/Nested").anchors.size() == 1, "editable_child_is_saved", "%s" % [saved.get_node("Instanced/Nested").anchors])
	saved.free()
	instanced.free()


## What is dropped into a scene is an instance of its file, which cannot be opened: its meshes become bodies of this scene.
func _test_an_imported_instance(house: Node3D) -> void:
	add(house, "House", Vector3(7, 0, 0))
	await frames(2)
	var index := house.get_index()
	check(_convert([house]) == "", "convert_an_instance", "something was left")
	await frames(3)
	var made := room.get_node("House")
	var wall := made.find_child("Wall", true, false) as DestructibleBody
	check(made != house and made.scene_file_path == "" and made.owner == room and made.get_index() == index and made.position.x == 7.0, "instance_is_local", "it is %s" % made)
	check(wall != null and wall.owner == room and wall.material == material("oak") and wall.mesh is Mesh, "meshes_of_an_instance_become_bodies", "%s" % [made.get_children()])
	save_room()
	var saved: Node = load(ROOM).instantiate()
	check(saved.get_node("House").find_child("Wall", true, false) is DestructibleBody, "converted_instance_is_saved", "%s" % saved.get_node("House"))
	saved.free()
	history().undo()
	await frames(3)
	check(room.get_node("House") == house and house.get_index() == index and house.owner == room, "undo_an_instance", "it is %s" % room.get_node("House"))
	history().redo()
	await frames(3)
	check(room.get_node("House") == made, "redo_an_instance", "it is %s" % room.get_node("House"))
	history().undo()
	await frames(3)
	house.free()


## A .glb made here: names with the suffix arrive as bodies, baked.
func _test_import() -> void:
	var top := Node3D.new()
	top.name = "House"
	for part: String in ["Wall", "Table-oak-destructible", "Vase-destructible", "Pot-destructible_001"]:
		var instance := MeshInstance3D.new()
		instance.name = part
		instance.mesh = BoxMesh.new()
		top.add_child(instance)
		instance.owner = top
	var document := GLTFDocument.new()
	var state := GLTFState.new()
	document.append_from_scene(top, state)
	document.write_to_filesystem(state, "res://house.glb")
	top.free()
	var files := EditorInterface.get_resource_filesystem()
	files.scan()
	for i in 600:
		await host.get_tree().process_frame
		if not files.is_scanning() and ResourceLoader.exists("res://house.glb"):
			break
	await frames(10)
	var scene: Node = load("res://house.glb").instantiate() if ResourceLoader.exists("res://house.glb") else null
	check(scene != null, "imports_a_glb", "it is not there")
	if scene == null:
		return
	var table := scene.find_child("Table", true, false) as DestructibleBody
	check(table != null and table.material == material("oak") and table.mesh is DestructibleMesh and table.mesh.is_baked(), "suffix_makes_destructible", "there is %s" % [scene.get_children()])
	check(scene.find_child("Wall", true, false) is MeshInstance3D and scene.find_child("Vase", true, false) is DestructibleBody and scene.find_child("Pot", true, false) is DestructibleBody, "others_stay", "there is %s" % [scene.get_children()])
	await _test_an_imported_instance(scene)
	# And by the option of the import dock.
	var settings := ConfigFile.new()
	settings.load("res://house.glb.import")
	settings.set_value("params", "fem_destruction/make_all_destructible", true)
	settings.set_value("params", "fem_destruction/material", "stone")
	settings.save("res://house.glb.import")
	files.reimport_files(["res://house.glb"])
	await frames(5)
	scene = ResourceLoader.load("res://house.glb", "", ResourceLoader.CACHE_MODE_REPLACE_DEEP).instantiate()
	var wall := scene.find_child("Wall", true, false) as DestructibleBody
	check(wall != null and wall.material == material("stone") and scene.find_child("Table", true, false).material == material("oak"), "option_makes_all_destructible", "there is %s" % [scene.get_children()])
	scene.free()
	# A later start of the editor must not find this option again.
	DirAccess.remove_absolute("res://house.glb.import")
	DirAccess.remove_absolute("res://house.glb")
