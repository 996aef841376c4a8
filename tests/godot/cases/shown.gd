extends "res://test_case.gd"
## What a body tells of itself beside its motion: its box, its render layers, what it costs and weighs, pictures of what it is made of,
## what is seen of it now, rays that meet it, the state in which it starts.


func _slab(material_name: String, position := Vector3(0, 1, 0)) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = Vector3(1.0, 0.2, 0.6)
	body.cells = Vector3i(6, 2, 4)
	body.material = load("res://addons/fem_destruction/materials/%s.tres" % material_name).duplicate()
	body.position = position
	scene.add_child(body)
	return body


func _shatter(body: DestructibleBody) -> void:
	body.apply_explosion(body.position - Vector3(0, 0.4, 0), 3.0, 3e5)
	await ticks(20)


func test_box_is_that_of_what_is_seen() -> void:
	var body := DestructibleBody.new()
	body.size = Vector3(1, 2, 3)
	check_equal(body.get_aabb(), AABB(Vector3(-0.5, -1, -1.5), Vector3(1, 2, 3)), "box of a body outside the tree")
	body.mesh = SphereMesh.new()
	check(body.get_aabb().is_equal_approx(SphereMesh.new().get_aabb()), "box of a sphere is %s" % body.get_aabb())
	body.mesh = null
	body.position = Vector3(5, 10, 0)
	body.rotation.y = 0.5 * PI
	scene.add_child(body)
	await ticks(30)
	# It fell, and its node did not: the box is where the body is.
	var box := body.global_transform * body.get_aabb()
	check_near_vector(box.get_center(), body.get_center_of_mass(), 0.05, "middle of the box")
	check_near_vector(box.size, body.get_aabb_world().size, 0.02, "size of the box")
	body.free()


func test_render_layers_are_those_of_a_visual_instance() -> void:
	var body := _slab("oak")
	var instance: VisualInstance3D = body
	body.layers = 5
	check_equal(instance.get_layer_mask(), 5, "layer mask")
	check(body.get_layer_mask_value(1) and not body.get_layer_mask_value(2) and body.get_layer_mask_value(3), "bits of 5")
	body.set_layer_mask_value(2, true)
	body.set_layer_mask_value(1, false)
	check_equal(body.layers, 6, "layers")
	expect_errors("render layers that do not exist", ["1 to 20"])
	body.set_layer_mask_value(21, true)
	body.set_layer_mask_value(0, true)
	check(not body.get_layer_mask_value(-1), "layer -1 is there")
	errors_end()
	check_equal(body.layers, 6, "layers after bad numbers")
	var packed := PackedScene.new()
	packed.pack(body)
	var copy: DestructibleBody = packed.instantiate()
	check_equal(copy.layers, 6, "layers of a saved body")
	copy.free()


func test_estimate_before_and_after_the_bake() -> void:
	var body := DestructibleBody.new()
	body.size = Vector3(1, 0.5, 0.2)
	body.material = MaterialResource.new()
	body.material.density = 2000.0
	var estimate := body.get_estimate()
	check_near(estimate.mass, 200.0, 0.01, "mass of a box")
	check_equal(estimate.tets, 4 * 4 * 4 * 5, "tets of a box")
	check(not estimate.breaks and estimate.broken_ms == 0.0 and estimate.awake_ms > 0.0, "cost of a box: %s" % estimate)
	body.material.breakable = true
	check(body.get_estimate().memory_mb > 2.0 * estimate.memory_mb, "what can break needs no more memory")
	body.mass_override = 7.0
	check_equal(body.get_estimate().mass, 7.0, "mass that was set")
	body.mass_override = 0.0
	body.mesh = BoxMesh.new()
	body.scale = Vector3(2, 1, 1)
	check_near(body.get_estimate().mass, 4000.0, 1.0, "mass of a mesh, by its triangles")
	body.wall_thickness = 0.01
	check_near(body.get_estimate().mass, 2.0 * 120.0, 1.0, "mass of a wall along its triangles")
	body.wall_thickness = 2.0
	check_near(body.get_estimate().mass, 4000.0, 1.0, "mass of a wall that leaves no hollow")
	body.wall_thickness = 0.0
	var baked := DestructibleMesh.new()
	baked.source_mesh = BoxMesh.new()
	baked.element_count = 300
	baked.bake()
	body.mesh = baked
	check_near(body.get_estimate().mass, 4000.0, 1.0, "mass of a baked mesh")
	scene.add_child(body)
	await ticks(2)
	check_near(body.get_mass(), 4000.0, 1.0, "mass in the simulation")
	var empty := DestructibleBody.new()
	empty.mesh = DestructibleMesh.new()
	check_equal(empty.get_estimate().mass, 0.0, "mass of an empty mesh")
	empty.free()


func test_previews_of_boxes_and_meshes() -> void:
	var box := _slab("brick")
	var mesh := _slab("ceramic", Vector3(3, 1, 0))
	mesh.mesh = TorusMesh.new()
	for body: DestructibleBody in [box, mesh]:
		for kind in [DestructibleBody.PREVIEW_PIECES, DestructibleBody.PREVIEW_TETS, DestructibleBody.PREVIEW_STRENGTH]:
			var picture := body.get_preview_mesh(kind, 0.2)
			if check(picture != null and picture.get_surface_count() == 1, "preview %d is missing" % kind):
				var colors: PackedColorArray = picture.surface_get_arrays(0)[Mesh.ARRAY_COLOR]
				check(colors.size() > 30, "preview %d has %d vertices" % [kind, colors.size()])
		var close := body.get_preview_mesh(DestructibleBody.PREVIEW_PIECES, 0.0).get_aabb()
		var apart := body.get_preview_mesh(DestructibleBody.PREVIEW_PIECES, 1.0).get_aabb()
		check(close.get_volume() > 0.0 and apart.size.length() > 1.5 * close.size.length(), "pieces do not spread: %s, %s" % [close, apart])
	check(box.get_preview_mesh(17, 0.0) == null, "there is a preview of kind 17")
	check(box.get_preview_mesh(DestructibleBody.PREVIEW_PIECES, NAN) == null, "there is a preview with NAN")
	var jelly := _slab("jelly", Vector3(6, 1, 0))
	jelly.material.breakable = false
	check(jelly.get_preview_mesh(DestructibleBody.PREVIEW_PIECES, 0.0) == null, "jelly has pieces")
	expect_errors("a box without size", ["size"])
	jelly.size = Vector3.ZERO
	errors_end()
	check(jelly.get_preview_mesh(DestructibleBody.PREVIEW_TETS, 0.0) == null, "a box without size has tets")


func test_shown_mesh_is_what_is_seen() -> void:
	var body := _slab("pane_glass", Vector3(2, 3, 0))
	body.start_velocity = Vector3(1, 0, 0)
	var other := DestructibleBody.new()
	check(other.get_shown_mesh() == null, "a body outside the tree shows a mesh")
	other.free()
	await ticks(3)
	var whole := body.get_shown_mesh()
	var box := body.global_transform * whole.get_aabb()
	check_near_vector(box.get_center(), body.get_aabb_world().get_center(), 0.02, "middle of what is seen")
	check_near_vector(box.size, body.size, 0.02, "size of what is seen")
	await _shatter(body)
	check(body.get_piece_count() > 3, "the pane is in %d pieces" % body.get_piece_count())
	var broken := body.get_shown_mesh()
	box = body.global_transform * broken.get_aabb()
	var expected := body.get_aabb_world()
	check(expected.grow(0.25).encloses(box) and box.size.length() > 0.9 * expected.size.length(), "what is seen of the broken pane is %s, its nodes are in %s" % [box, expected])
	check(broken.surface_get_material(0) == body.material.surface_material, "it has another material")
	# Turned, so that normals are not those of the rest shape: all of them point outward on average.
	var arrays := broken.surface_get_arrays(0)
	check_equal(arrays[Mesh.ARRAY_NORMAL].size(), arrays[Mesh.ARRAY_VERTEX].size(), "normals")


func test_rays_meet_what_is_there_now() -> void:
	var body := _slab("oak", Vector3(0, 5, 0))
	await ticks(2)
	check(DestructionServer.cast_ray(Vector3(0, 1, 9), Vector3(0, 1, -9)).is_empty(), "the ray below meets something")
	await ticks(20)
	var height := body.get_center_of_mass().y
	var hit := DestructionServer.cast_ray(Vector3(0, height, 9), Vector3(0, height, -9), body.get_world_3d())
	if check(not hit.is_empty(), "the ray meets nothing"):
		check(hit.body == body, "it meets %s" % hit.body)
		check_near_vector(hit.position, Vector3(0, height, 0.3), 0.01, "where it meets")
		check_near_vector(hit.normal, Vector3(0, 0, 1), 0.01, "normal")
	expect_errors("rays of bad numbers", ["cast_ray"])
	check(DestructionServer.cast_ray(Vector3(NAN, 0, 0), Vector3.ONE).is_empty(), "a ray from NAN meets something")
	DestructionServer.call("cast_ray", Vector3.ZERO, Vector3.ONE, Resource.new())
	errors_end()


func test_start_state_goes_with_the_node() -> void:
	var body := _slab("pane_glass", Vector3(0, 3, 0))
	await ticks(3)
	await _shatter(body)
	var pieces := body.get_piece_count()
	var center := body.get_center_of_mass() - body.global_position
	check(pieces > 3, "the pane is in %d pieces" % pieces)
	body.start_state = body.get_state()
	check_equal(body.get_piece_count(), pieces, "pieces at once")
	var packed := PackedScene.new()
	packed.pack(body)
	ResourceSaver.save(packed, "user://start_state.scn")
	var copy: DestructibleBody = load("user://start_state.scn").instantiate()
	copy.position = Vector3(20, 3, 0)
	scene.add_child(copy)
	check_equal(copy.get_piece_count(), pieces, "pieces of the copy")
	check_near_vector(copy.get_center_of_mass() - copy.global_position, center, 0.02, "its middle, from its node")
	copy.reset()
	check_equal(copy.get_piece_count(), pieces, "pieces after reset()")
	copy.start_state = {}
	check_equal(copy.get_piece_count(), 1, "pieces without a start state")
	# One that does not fit: said, and the body is whole.
	print("--one warning: a start state of another mesh")
	copy.cells = Vector3i(2, 2, 2)
	copy.start_state = body.start_state
	print("--warning end")
	check_equal(copy.get_piece_count(), 1, "pieces with a state that does not fit")
	print("--one warning: a start state that is none")
	copy.start_state = {"data": 5}
	print("--warning end")
	check(copy.is_simulated(), "it is not simulated")


func test_editor_calls_do_nothing_in_a_game() -> void:
	var body := _slab("oak")
	await ticks(2)
	body.show_in_editor(BoxMesh.new())
	body.simulate_in_editor(true)
	body.simulate_in_editor(false)
	check(body.is_simulated(), "it is no longer simulated")
