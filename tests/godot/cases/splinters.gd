extends "res://test_case.gd"
## Splinters of DestructibleMesh: settings, bakes of every pattern, saving, cancelling, and bodies that break with them.

const FOLDER := "user://splinter_tests"


func _mesh(pattern: int, source: Mesh = BoxMesh.new(), elements := 200) -> DestructibleMesh:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = source
	mesh.element_count = elements
	mesh.splinter_pattern = pattern
	mesh.splinter_seed = 7
	return mesh


func test_defaults_and_ranges() -> void:
	var mesh := DestructibleMesh.new()
	check_equal(mesh.splinter_pattern, DestructibleMesh.SPLINTERS_NONE, "splinter_pattern")
	check_equal(mesh.splinter_count, 0, "splinter_count")
	check_equal(mesh.splinter_roughness, 0.5, "splinter_roughness")
	check_equal(mesh.horizontal_frequency, 3, "horizontal_frequency")
	check(mesh.brick_size.is_equal_approx(Vector3(0.24, 0.071, 0.115)), "brick_size is %s" % mesh.brick_size)
	check_equal(mesh.get_baked_splinter_count(), 0, "splinters of a new mesh")
	mesh.splinter_pattern = 99 as DestructibleMesh.SplinterPattern
	check_equal(mesh.splinter_pattern, DestructibleMesh.SPLINTERS_SURFACES, "pattern set to 99")
	mesh.splinter_roughness = 7.0
	check_equal(mesh.splinter_roughness, 1.0, "roughness set to 7")
	mesh.splinter_count = -3
	check_equal(mesh.splinter_count, 0, "count set to -3")
	mesh.impact_points = [Vector3(1, 2, 3), Vector3(NAN, 0, 0), Vector3.ZERO]
	check_equal(mesh.impact_points, [Vector3(1, 2, 3), Vector3.ZERO] as Array[Vector3], "impact_points")
	expect_errors("a size that is not a number")
	mesh.splinter_size = NAN
	errors_end()
	check_equal(mesh.splinter_size, 0.0, "size set to NaN")


func test_every_pattern_bakes() -> void:
	for pattern: int in [DestructibleMesh.SPLINTERS_VORONOI, DestructibleMesh.SPLINTERS_GLASS, DestructibleMesh.SPLINTERS_WOOD,
			DestructibleMesh.SPLINTERS_BRICK]:
		var mesh := _mesh(pattern)
		check_equal(mesh.bake(), OK, "bake of pattern %d" % pattern)
		check(mesh.get_baked_splinter_count() > 20, "%d splinters of pattern %d" % [mesh.get_baked_splinter_count(), pattern])
		check(mesh.report.contains("splinters"), "the report says nothing of splinters: " + mesh.report)
		var box := AABB(Vector3.ONE * -0.501, Vector3.ONE * 1.002)
		var outside := 0
		for position in mesh.get_splinter_positions():
			outside += int(not box.has_point(position))
		check_equal(outside, 0, "vertices of pattern %d outside of the mesh" % pattern)
	var none := _mesh(DestructibleMesh.SPLINTERS_NONE)
	check_equal(none.bake(), OK, "bake without a pattern")
	check_equal(none.get_baked_splinter_count(), 0, "splinters without a pattern")
	var surfaces := _mesh(DestructibleMesh.SPLINTERS_SURFACES)
	check_equal(surfaces.bake(), OK, "bake of surfaces")
	check_equal(surfaces.get_baked_splinter_count(), 1, "splinters of a box with one surface")


func test_same_seed_same_splinters() -> void:
	var first := _mesh(DestructibleMesh.SPLINTERS_VORONOI)
	var second := _mesh(DestructibleMesh.SPLINTERS_VORONOI)
	var third := _mesh(DestructibleMesh.SPLINTERS_VORONOI)
	third.splinter_seed = 8
	for mesh: DestructibleMesh in [first, second, third]:
		mesh.bake()
	check(first.data == second.data, "two bakes with one seed differ")
	check(first.data != third.data, "another seed gives the same splinters")


func test_saved_and_loaded() -> void:
	DirAccess.make_dir_recursive_absolute(FOLDER)
	var mesh := _mesh(DestructibleMesh.SPLINTERS_WOOD)
	mesh.splinter_direction = Vector3.RIGHT
	mesh.section_width = 0.06
	mesh.interior_material = StandardMaterial3D.new()
	mesh.bake()
	var path := FOLDER.path_join("wood.res")
	check_equal(ResourceSaver.save(mesh, path), OK, "saving")
	var loaded: DestructibleMesh = ResourceLoader.load(path, "", ResourceLoader.CACHE_MODE_IGNORE)
	check_equal(loaded.get_baked_splinter_count(), mesh.get_baked_splinter_count(), "splinters of the loaded mesh")
	check_equal(loaded.splinter_pattern, DestructibleMesh.SPLINTERS_WOOD, "pattern of the loaded mesh")
	check_equal(loaded.section_width, mesh.section_width, "section_width of the loaded mesh")
	check(loaded.interior_material is StandardMaterial3D, "the interior material was not saved")
	check(loaded.get_splinter_positions() == mesh.get_splinter_positions(), "the loaded splinters are others")
	DirAccess.remove_absolute(path)


func test_open_mesh_says_why_and_is_cut() -> void:
	var mesh := _mesh(DestructibleMesh.SPLINTERS_VORONOI, PlaneMesh.new())
	mesh.sheet_thickness = 0.05
	check_equal(mesh.bake(), OK, "bake of a plane")
	check(mesh.get_baked_splinter_count() > 10, "%d splinters of a plane" % mesh.get_baked_splinter_count())
	check(mesh.report.contains("open edges"), "the report does not say why: " + mesh.report)


func test_cancel() -> void:
	var source := TorusMesh.new()
	source.rings = 200
	source.ring_segments = 100
	var mesh := _mesh(DestructibleMesh.SPLINTERS_VORONOI, source, 2000)
	var ended: Array[int] = []
	mesh.bake_finished.connect(func(error: int, _message: String) -> void: ended.append(error))
	check_equal(mesh.bake_async(), OK, "bake_async")
	await tree.process_frame
	mesh.cancel_bake()
	while mesh.is_baking():
		OS.delay_msec(5)
		await tree.process_frame
	check_equal(ended, [ERR_SKIP] as Array[int], "how it ended")
	check(not mesh.is_baked(), "it is baked all the same")


## A bar with splinters is thrown at the ground: it breaks, and everything about it stays finite.
func test_body_breaks_with_splinters() -> void:
	for pattern: int in [DestructibleMesh.SPLINTERS_VORONOI, DestructibleMesh.SPLINTERS_WOOD, DestructibleMesh.SPLINTERS_SURFACES]:
		var box := BoxMesh.new()
		box.size = Vector3(1.0, 0.2, 0.2)
		var mesh := _mesh(pattern, box)
		mesh.bake()
		var body := DestructibleBody.new()
		body.mesh = mesh
		var material := MaterialResource.new()
		material.stiffness = 1e8
		material.density = 2000.0
		material.breakable = true
		material.toughness = 5e4
		body.material = material
		body.transform = Transform3D(Basis(Vector3(0, 0, 1), 0.5), Vector3(0, 0.6, 0))
		body.start_velocity = Vector3(0, -12, 0)
		scene.add_child(body)
		await ticks(40)
		check(body.get_piece_count() > 1, "pattern %d: %d pieces" % [pattern, body.get_piece_count()])
		check(positions_are_finite(body), "pattern %d: positions are not finite" % pattern)
		body.free()


## Parts that only touch fall apart without a crack, and splinters go across them: each triangle stays with one part.
func test_splinters_across_parts_are_not_stretched() -> void:
	var source := ArrayMesh.new()
	for i in 3:
		var arrays := SphereMesh.new().get_mesh_arrays()
		var place := Transform3D(Basis.from_scale(Vector3.ONE * 0.2), Vector3(0.2005 * i, 0, 0))
		arrays[Mesh.ARRAY_VERTEX] = place * (arrays[Mesh.ARRAY_VERTEX] as PackedVector3Array)
		source.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
	var mesh := _mesh(DestructibleMesh.SPLINTERS_VORONOI, source)
	mesh.splinter_count = 9
	mesh.bake()
	var material := MaterialResource.new()
	material.stiffness = 1e8
	material.density = 2000.0
	material.breakable = true
	material.toughness = 5e4
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.material = material
	body.transform = Transform3D(Basis(Vector3(0, 0, 1), 0.5), Vector3(0, 0.6, 0))
	body.start_velocity = Vector3(0, -12, 0)
	scene.add_child(body)
	await ticks(90)
	check(body.get_piece_count() > 3, "%d pieces" % body.get_piece_count())
	var shown := body.get_shown_mesh()
	var longest := 0.0
	for i in shown.get_surface_count():
		var arrays := shown.surface_get_arrays(i)
		var at: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
		var corners: PackedInt32Array = arrays[Mesh.ARRAY_INDEX]
		for k in corners.size():
			longest = maxf(longest, at[corners[k]].distance_to(at[corners[k - k % 3 + (k + 1) % 3]]))
	check(longest < 0.2, "a triangle is %.2f m long, in a box of %s" % [longest, body.get_aabb_world().size])
	body.free()


## Bodies keep working when their mesh is baked anew while they are broken, and when it loses its splinters.
func test_bake_again_under_a_broken_body() -> void:
	var mesh := _mesh(DestructibleMesh.SPLINTERS_VORONOI)
	mesh.bake()
	var body := DestructibleBody.new()
	body.mesh = mesh
	var material := MaterialResource.new()
	material.breakable = true
	material.toughness = 1e3
	body.material = material
	body.position = Vector3(0, 1, 0)
	body.start_velocity = Vector3(0, -10, 0)
	scene.add_child(body)
	await ticks(30)
	mesh.splinter_pattern = DestructibleMesh.SPLINTERS_NONE
	mesh.bake()
	await ticks(10)
	check_equal(mesh.get_baked_splinter_count(), 0, "splinters after the second bake")
	check(positions_are_finite(body), "positions are not finite")


## A plain mesh is cut in the manner of its material.
func test_plain_mesh_takes_the_pattern_of_its_material() -> void:
	var body := _thrown(BoxMesh.new())
	body.material.splinter_pattern = MaterialResource.SPLINTERS_VORONOI
	scene.add_child(body)
	await ticks(30)
	check(body.get_piece_count() > 1, "%d pieces" % body.get_piece_count())
	check(positions_are_finite(body), "positions are not finite")


## A box without a mesh, too, and equal boxes share what was made.
func test_box_takes_the_pattern_of_its_material() -> void:
	var bodies: Array[DestructibleBody] = []
	for i in 2:
		var body := _thrown(null)
		body.material.splinter_pattern = MaterialResource.SPLINTERS_VORONOI
		body.position.x = 4.0 * i
		bodies.append(body)
		var start := Time.get_ticks_usec()
		scene.add_child(body)
		print("-- box %d in %.1f ms" % [i, 1e-3 * (Time.get_ticks_usec() - start)])
	check_equal(bodies[0].get_node_count(), 125, "nodes of a box of 4 x 4 x 4 cells")
	check_equal(bodies[0].get_splinter_vertex_positions().size(), 0, "vertices of splinters of a whole box")
	await ticks(30)
	for body in bodies:
		check(body.get_piece_count() > 1, "%d pieces" % body.get_piece_count())
		check(body.get_splinter_vertex_positions().size() > 1000, "%d vertices of splinters" % body.get_splinter_vertex_positions().size())
		check(positions_are_finite(body), "positions are not finite")
	bodies[0].cells = Vector3i(2, 2, 2)
	check_equal(bodies[0].get_node_count(), 27, "nodes of a box of 2 x 2 x 2 cells")
	bodies[1].material.breakable = false
	bodies[1].reset()
	await ticks(30)
	check_equal(bodies[1].get_piece_count(), 1, "pieces of a box that does not break")


## Back to a broken state and to the unbroken one, while splinters are drawn.
func test_states_of_a_body_with_splinters() -> void:
	var mesh := _mesh(DestructibleMesh.SPLINTERS_VORONOI)
	mesh.bake()
	var body := _thrown(mesh)
	scene.add_child(body)
	var whole := body.get_state()
	await ticks(30)
	var pieces := body.get_piece_count()
	var broken := body.get_state()
	check(pieces > 1, "%d pieces" % pieces)
	check_equal(body.set_state(whole), OK, "back to the unbroken state")
	await ticks(2)
	check_equal(body.get_piece_count(), 1, "pieces of the unbroken state")
	check_equal(body.set_state(broken), OK, "back to the broken state")
	check_equal(body.get_piece_count(), pieces, "pieces of the broken state")
	await ticks(30)
	check(positions_are_finite(body), "positions are not finite")


func _thrown(mesh: Resource) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.material = MaterialResource.new()
	body.material.stiffness = 1e8
	body.material.density = 2000.0
	body.material.breakable = true
	body.material.toughness = 2e4
	body.transform = Transform3D(Basis(Vector3(0, 0, 1), 0.5), Vector3(0, 1.2, 0))
	body.start_velocity = Vector3(0, -12, 0)
	return body


## Cells that follow one tetrahedron are one splinter unless each is asked for.
func test_splinter_join() -> void:
	var counts: Array[int] = []
	for joined: bool in [true, false]:
		var mesh := DestructibleMesh.new()
		mesh.source_mesh = BoxMesh.new()
		mesh.element_count = 40
		mesh.splinter_pattern = DestructibleMesh.SPLINTERS_VORONOI
		mesh.splinter_count = 300
		mesh.splinter_join = joined
		check_equal(mesh.splinter_join, joined, "splinter_join")
		check_equal(mesh.bake(), OK, "bake")
		counts.append(mesh.get_baked_splinter_count())
	check(counts[0] < 100 and counts[1] >= 200, "%d splinters joined, %d apart" % counts)
