extends "res://test_case.gd"
## DestructibleMesh: baking, saving, loading, and bodies made of it.

const FOLDER := "user://mesh_tests"


func test_defaults() -> void:
	var mesh := DestructibleMesh.new()
	check_equal(mesh.element_count, 1000, "element_count")
	check_equal(mesh.plate_layers, 1, "plate_layers")
	check_equal(mesh.sheet_thickness, 0.0, "sheet_thickness")
	check_equal(mesh.wall_thickness, 0.0, "wall_thickness")
	check_equal(mesh.weld_distance, 0.0, "weld_distance")
	check(mesh.source_mesh == null, "there is a source_mesh")
	check(not mesh.is_baked() and not mesh.is_baking(), "a new mesh is baked")
	check_equal(mesh.data.size(), 0, "bytes of a new mesh")
	check_equal(mesh.get_report(), "", "report of a new mesh")
	check_equal(mesh.get_tet_count(), 0, "tets of a new mesh")
	check_equal(find_property(mesh, "data").usage, PROPERTY_USAGE_STORAGE, "usage of data")
	check_equal(find_property(mesh, "bake_action").hint, PROPERTY_HINT_TOOL_BUTTON, "hint of bake_action")
	check(mesh.get("bake_action") is Callable, "the button has no Callable")
	mesh.element_count = -5
	check_equal(mesh.element_count, 5, "element_count set to -5")
	mesh.plate_layers = 99
	check_equal(mesh.plate_layers, 16, "plate_layers set to 99")


func test_bake_box() -> void:
	var mesh := _baked(BoxMesh.new(), 400)
	check(absi(mesh.get_tet_count() - 400) <= 80, "%d tets instead of 400" % mesh.get_tet_count())
	check_equal(mesh.get_vertex_count(), 24, "vertices of a box")
	check(mesh.get_node_count() > 8, "%d nodes" % mesh.get_node_count())
	check(mesh.get_report().contains("tetrahedra"), "the report is \"%s\"" % mesh.get_report())
	_check_vertices(mesh, 1e-5)


## Long edges are split unless that is turned off, and the same is done to a plain mesh of a body.
func test_refine_surface() -> void:
	var source := BoxMesh.new()
	var mesh := DestructibleMesh.new()
	check(mesh.refine_surface, "refine_surface is off")
	mesh.source_mesh = source
	mesh.element_count = 400
	mesh.bake()
	check(mesh.get_vertex_count() > 100, "%d vertices" % mesh.get_vertex_count())
	for position in mesh.get_vertex_positions():
		var p := position.abs()
		if not check(absf(maxf(p.x, maxf(p.y, p.z)) - 0.5) < 1e-4, "a vertex is at %s, off the box" % position):
			break
	var plain := DestructibleBody.new()
	plain.mesh = source
	plain.element_count = 400
	scene.add_child(plain)
	check_equal(plain.get_node_count(), mesh.get_node_count(), "nodes of a plain mesh")


func test_bake_torus() -> void:
	var mesh := _baked(TorusMesh.new(), 1000)
	check(absi(mesh.get_tet_count() - 1000) <= 200, "%d tets instead of 1000" % mesh.get_tet_count())
	_check_vertices(mesh, 1e-5)


func test_bake_many_triangles() -> void:
	var source := TorusMesh.new()
	source.rings = 256
	source.ring_segments = 140
	var start := Time.get_ticks_msec()
	var mesh := _baked(source, 3000)
	print("-- %d triangles to %d tets in %d ms, %d bytes" % [source.get_faces().size() / 3, mesh.get_tet_count(), Time.get_ticks_msec() - start, mesh.data.size()])
	check(absi(mesh.get_tet_count() - 3000) <= 600, "%d tets instead of 3000" % mesh.get_tet_count())
	_check_vertices(mesh, 1e-5)


func test_bake_pane() -> void:
	var pane := BoxMesh.new()
	pane.size = Vector3(2, 1, 0.01)
	var mesh := _baked(pane, 400)
	check(mesh.get_tet_count() > 200 and mesh.get_tet_count() < 600, "a pane of %d tets" % mesh.get_tet_count())
	check(mesh.get_report().contains("plate"), "no plate in the report: " + mesh.get_report())
	# One layer: all nodes lie on the two faces.
	var body := _add_mesh_body(mesh, Vector3(0, 5, 0))
	for node in body.get_node_positions():
		if not check(absf(absf(node.z) - 0.005) < 1e-4, "a node of the pane is at z = %f" % node.z):
			break
	_check_vertices(mesh, 1e-5)
	await ticks(60)
	check(positions_are_finite(body), "the pane's positions are not numbers")
	check(body.get_center_of_mass().y < 4.0, "the pane does not fall")


func test_two_surfaces() -> void:
	var source := ArrayMesh.new()
	var looks: Array[StandardMaterial3D] = []
	for i in 2:
		var box := BoxMesh.new()
		var arrays := box.get_mesh_arrays()
		var positions: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
		var colors := PackedColorArray()
		for v in positions.size():
			positions[v] += Vector3(1.5 * i, 0, 0)
			colors.append(Color(1, 0.5, 0))
		arrays[Mesh.ARRAY_VERTEX] = positions
		arrays[Mesh.ARRAY_COLOR] = colors
		arrays[Mesh.ARRAY_TEX_UV2] = arrays[Mesh.ARRAY_TEX_UV]
		source.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
		looks.append(StandardMaterial3D.new())
		source.surface_set_material(i, looks[i])
	# Lines have nothing to fill.
	var lines := []
	lines.resize(Mesh.ARRAY_MAX)
	lines[Mesh.ARRAY_VERTEX] = PackedVector3Array([Vector3.ZERO, Vector3.UP, Vector3.ONE, Vector3.LEFT])
	source.add_surface_from_arrays(Mesh.PRIMITIVE_LINES, lines)
	var mesh := _baked(source, 600)
	check_equal(mesh.get_vertex_count(), 48, "vertices of two boxes")
	check_equal(mesh.surface_materials.size(), 2, "materials")
	check(mesh.surface_materials[0] == looks[0] and mesh.surface_materials[1] == looks[1], "the materials are others")
	_check_vertices(mesh, 1e-5)
	var body := _add_mesh_body(mesh, Vector3(0, 2, 0))
	looks[0].albedo_color = Color.RED
	mesh.surface_materials = [looks[1], null]
	await ticks(5)
	check(body.is_simulated(), "the body is not simulated")
	body.surface_material = looks[0]
	body.surface_material = null


func test_regions() -> void:
	var source := ArrayMesh.new()
	for i in 2:
		var box := BoxMesh.new()
		var arrays := box.get_mesh_arrays()
		var positions: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
		for v in positions.size():
			positions[v] += Vector3(1.5 * i, 0, 0)
		arrays[Mesh.ARRAY_VERTEX] = positions
		source.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
		source.surface_set_name(i, ["steel", "foam"][i])
	var plain := _baked(source, 300)
	check_equal(plain.get_region_count(), 1, "regions without regions_from_surfaces")
	var mesh := DestructibleMesh.new()
	check_equal(mesh.get_region_count(), 0, "regions of an empty mesh")
	mesh.source_mesh = source
	mesh.element_count = 300
	mesh.regions_from_surfaces = true
	check_equal(mesh.bake(), OK, "bake with regions")
	check_equal(mesh.get_region_count(), 2, "regions")
	check_equal(mesh.get_region_names(), PackedStringArray(["steel", "foam"]), "names of the regions")
	check(mesh.get_report().contains("0 steel, 1 foam"), "the report is \"%s\"" % mesh.get_report())
	var heavy := MaterialResource.new()
	heavy.density = 5000.0
	var light := MaterialResource.new()
	light.density = 100.0
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.material = light
	body.region_materials = [heavy]
	scene.add_child(body)
	check_near(body.get_mass(), 5100.0, 60.0, "mass of two materials, the second by default")
	body.region_materials = [light, heavy]
	check_near(body.get_mass(), 5100.0, 60.0, "mass of two materials")
	check(body.get_center_of_mass().x > 1.4, "the heavy half is at %f" % body.get_center_of_mass().x)
	body.region_materials = [heavy, heavy]
	check_near(body.get_mass(), 10000.0, 100.0, "mass of one material in both regions")
	heavy.density = 2000.0
	await ticks(2)
	check_near(body.get_mass(), 4000.0, 40.0, "mass after the material was changed")
	body.region_materials = []
	check_near(body.get_mass(), 200.0, 2.0, "mass without region materials")
	body.set("region_materials", [null, 7, heavy, "x"])
	check_equal(body.region_materials.size(), 4, "entries")
	check_near(body.get_mass(), 200.0, 2.0, "mass with entries that are no materials")
	body.material = heavy
	check_near(body.get_mass(), 4000.0, 40.0, "mass after the material was set")
	# Back to one region while the body lives, and saved with the scene.
	body.region_materials = [light, heavy]
	body.mesh = plain
	await ticks(2)
	check_near(body.get_mass(), 200.0, 2.0, "mass with one region")
	var packed := PackedScene.new()
	check_equal(packed.pack(body), OK, "result of packing")
	var copy: DestructibleBody = packed.instantiate()
	check_equal(copy.region_materials.size(), 2, "region materials of a saved body")
	check(copy.region_materials[1] is MaterialResource, "a saved region material is lost")
	copy.free()


func test_mesh_without_normals_and_indices() -> void:
	var faces := PackedVector3Array()
	for face in SphereMesh.new().get_faces():
		faces.append(face)
	var arrays := []
	arrays.resize(Mesh.ARRAY_MAX)
	arrays[Mesh.ARRAY_VERTEX] = faces
	var source := ArrayMesh.new()
	source.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
	var mesh := _baked(source, 300)
	_check_vertices(mesh, 1e-5)
	var body := _add_mesh_body(mesh, Vector3(0, 2, 0))
	await ticks(5)
	check(positions_are_finite(body), "positions are not numbers")


func test_save_and_load() -> void:
	var mesh := _baked(TorusMesh.new(), 300)
	mesh.surface_materials = [StandardMaterial3D.new()]
	DirAccess.make_dir_recursive_absolute(FOLDER)
	for ending: String in ["tres", "res"]:
		var path := FOLDER.path_join("torus." + ending)
		check_equal(ResourceSaver.save(mesh, path), OK, "saving as " + ending)
		var loaded: DestructibleMesh = ResourceLoader.load(path, "", ResourceLoader.CACHE_MODE_IGNORE)
		if not check(loaded != null, ending + " does not load"):
			continue
		check(loaded.data == mesh.data, ending + " has other data")
		check_equal(loaded.get_tet_count(), mesh.get_tet_count(), "tets of " + ending)
		check_equal(loaded.get_report(), mesh.get_report(), "report of " + ending)
		check_equal(loaded.surface_materials.size(), 1, "materials of " + ending)
		check(loaded.source_mesh is TorusMesh, ending + " has lost its source_mesh")
	# On another thread. Not by load_threaded_request(): Godot 4.6 leaks its LoadToken, a RefCounted, when the get meets the
	# end of the load (godot#118824).
	var threaded_path := FOLDER.path_join("torus_threaded.res")
	check_equal(ResourceSaver.save(mesh, threaded_path), OK, "saving")
	var thread := Thread.new()
	check_equal(thread.start(ResourceLoader.load.bind(threaded_path)), OK, "start of a thread")
	var threaded: DestructibleMesh = thread.wait_to_finish()
	check(threaded != null and threaded.data == mesh.data and threaded.is_baked(), "a thread loads other data")
	# A file that was damaged says so by its name.
	var text := FileAccess.get_file_as_string(FOLDER.path_join("torus.tres"))
	var at := text.find("data = PackedByteArray(\"") + 200
	text = text.substr(0, at) + ("B" if text[at] == "A" else "A") + text.substr(at + 1)
	var damaged_path := FOLDER.path_join("damaged.tres")
	var file := FileAccess.open(damaged_path, FileAccess.WRITE)
	file.store_string(text)
	file.close()
	expect_errors("a damaged resource")
	var damaged: DestructibleMesh = load(damaged_path)
	await tree.process_frame
	errors_end()
	check(damaged != null and not damaged.is_baked(), "a damaged resource counts as baked")


func test_load_baked() -> void:
	var mesh := _baked(BoxMesh.new(), 200)
	DirAccess.make_dir_recursive_absolute(FOLDER)
	var path := FOLDER.path_join("box.femmesh")
	check_equal(mesh.save_baked(path), OK, "save_baked")
	var loaded := DestructibleMesh.load_baked(path)
	if check(loaded != null, "load_baked gives null"):
		check(loaded.data == mesh.data, "load_baked gives other data")
		check(loaded.get_report().contains("Parts: 1 compact"), "the report is \"%s\"" % loaded.get_report())
		check_equal(loaded.get_report(), mesh.get_report(), "report of the loaded mesh")
	expect_errors("a file that is not there")
	check(DestructibleMesh.load_baked(FOLDER.path_join("missing.femmesh")) == null, "a missing file gives a mesh")
	errors_end()
	expect_errors("a file of another kind")
	check(DestructibleMesh.load_baked("res://project.godot") == null, "a text file gives a mesh")
	errors_end()
	expect_errors("a folder that cannot be written")
	check(mesh.save_baked("user://no/such/folder/box.femmesh") != OK, "save_baked writes into nowhere")
	errors_end()
	expect_errors("saving what is not baked")
	check(DestructibleMesh.new().save_baked(path) != OK, "an empty mesh is saved")
	errors_end()


func test_load_baked_of_the_tool() -> void:
	var tool_path := ProjectSettings.globalize_path("res://").path_join("../../build/fem_bake")
	if not FileAccess.file_exists(tool_path):
		print("-- no build/fem_bake, so it is not tried")
		return
	DirAccess.make_dir_recursive_absolute(FOLDER)
	var folder := ProjectSettings.globalize_path(FOLDER)
	var file := FileAccess.open(FOLDER.path_join("wedge.obj"), FileAccess.WRITE)
	file.store_string("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
	file.close()
	var code := OS.execute(tool_path, [folder.path_join("wedge.obj"), folder.path_join("wedge.femmesh"), "--elements", "100", "--quiet"])
	check_equal(code, 0, "exit code of fem_bake")
	var mesh := DestructibleMesh.load_baked(FOLDER.path_join("wedge.femmesh"))
	if check(mesh != null, "the tool's file does not load"):
		check(mesh.get_tet_count() > 20, "%d tets" % mesh.get_tet_count())
		check(mesh.get_report().contains("Parts: 1"), "the report is \"%s\"" % mesh.get_report())
		var body := _add_mesh_body(mesh, Vector3(0, 1, 0))
		await ticks(30)
		check(body.is_simulated() and positions_are_finite(body), "a body of the tool's file does not live")


## A TetGen mesh of two tets, each a region of its own.
func test_regions_of_a_file() -> void:
	var tool_path := ProjectSettings.globalize_path("res://").path_join("../../build/fem_bake")
	if not FileAccess.file_exists(tool_path):
		print("-- no build/fem_bake, so it is not tried")
		return
	DirAccess.make_dir_recursive_absolute(FOLDER)
	var folder := ProjectSettings.globalize_path(FOLDER)
	var nodes := FileAccess.open(FOLDER.path_join("pair.node"), FileAccess.WRITE)
	nodes.store_string("5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 1 1 1\n")
	nodes.close()
	var tets := FileAccess.open(FOLDER.path_join("pair.ele"), FileAccess.WRITE)
	tets.store_string("2 4 1\n0 0 1 2 3 10\n1 1 2 3 4 20\n")
	tets.close()
	var code := OS.execute(tool_path, [folder.path_join("pair.ele"), folder.path_join("pair.femmesh"), "--quiet"])
	check_equal(code, 0, "exit code of fem_bake")
	var mesh := DestructibleMesh.load_baked(FOLDER.path_join("pair.femmesh"))
	if not check(mesh != null, "the tool's file does not load"):
		return
	check_equal(mesh.get_region_names(), PackedStringArray(["10", "20"]), "names of the regions")
	check(mesh.get_report().contains("another program"), "the report is \"%s\"" % mesh.get_report())
	var body := DestructibleBody.new()
	body.mesh = mesh
	var heavy := MaterialResource.new()
	heavy.density = 6000.0
	body.region_materials = [null, heavy]
	scene.add_child(body)
	# Volumes 1/6 and 1/3 m3.
	check_near(body.get_mass(), 1000.0 / 6.0 + 2000.0, 1.0, "mass")


func test_async() -> void:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = TorusMesh.new()
	mesh.element_count = 2000
	var shares: Array[float] = []
	var ends: Array = []
	mesh.bake_progressed.connect(func(share: float) -> void: shares.append(share))
	mesh.bake_finished.connect(func(error: Error, message: String) -> void: ends.append([error, message]))
	check_equal(mesh.bake_async(), OK, "bake_async")
	check(mesh.is_baking(), "no bake is under way")
	await _wait_for_bake(mesh)
	check_equal(ends, [[OK, ""]], "bake_finished")
	check(not shares.is_empty() and shares[-1] == 1.0, "the progress was %s" % [shares])
	for i in range(1, shares.size()):
		check(shares[i] > shares[i - 1], "the progress goes back: %s" % [shares])
	var at_once := _baked(TorusMesh.new(), 2000)
	check(mesh.data == at_once.data, "the thread bakes other data than the caller")


func test_cancel() -> void:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = TorusMesh.new()
	mesh.element_count = 50000
	var ends: Array = []
	mesh.bake_finished.connect(func(error: Error, message: String) -> void: ends.append(error))
	check_equal(mesh.bake_async(), OK, "bake_async")
	mesh.cancel_bake()
	await _wait_for_bake(mesh)
	check_equal(ends, [ERR_SKIP], "bake_finished")
	check(not mesh.is_baked(), "a cancelled bake has a result")
	mesh.cancel_bake()
	# Started again, and dropped under way.
	mesh.bake_async()
	mesh.bake_async()
	await tree.process_frame
	mesh = null
	await ticks(3)


func test_answer_that_drops_the_mesh() -> void:
	var holder: Array = [DestructibleMesh.new()]
	holder[0].source_mesh = BoxMesh.new()
	holder[0].element_count = 50
	holder[0].bake_finished.connect(func(_error: Error, _message: String) -> void: holder.clear())
	check_equal(holder[0].bake_async(), OK, "bake_async")
	for i in 600:
		if holder.is_empty():
			break
		OS.delay_msec(5)
		await tree.process_frame
	check(holder.is_empty(), "the bake does not end")


func test_bad_sources() -> void:
	var mesh := DestructibleMesh.new()
	expect_errors("no source_mesh")
	check_equal(mesh.bake(), ERR_UNCONFIGURED, "bake without a source")
	check_equal(mesh.bake_async(), ERR_UNCONFIGURED, "bake_async without a source")
	errors_end()
	mesh.source_mesh = ArrayMesh.new()
	expect_errors("an empty source_mesh")
	check(mesh.bake() != OK, "an empty mesh is baked")
	check(mesh.bake_async() != OK, "an empty mesh is baked by a thread")
	errors_end()
	mesh.source_mesh = PointMesh.new()
	expect_errors("a point")
	check(mesh.bake() != OK, "a point is baked")
	errors_end()
	check(not mesh.is_baked() and not mesh.is_baking(), "a failed bake left something")
	mesh.source_mesh = PlaneMesh.new()
	check_equal(mesh.bake(), OK, "bake of a plane")
	check(mesh.report.contains("sheet_thickness"), "it does not say how thick a plane is: " + mesh.report)
	mesh.sheet_thickness = 0.05
	check_equal(mesh.bake(), OK, "bake of a plane with a thickness")
	expect_errors("a thickness that is not a number")
	mesh.sheet_thickness = NAN
	errors_end()
	check_near(mesh.sheet_thickness, 0.05, 1e-9, "sheet_thickness")


## A ball of 0.4 m holds 33 litres when it is solid, and 2 of wall when that is 4 mm thick.
func test_hollow() -> void:
	var sphere := SphereMesh.new()
	sphere.radius = 0.2
	sphere.height = 0.4
	var masses: Array[float] = []
	for thickness: float in [0.0, 0.004]:
		var body := DestructibleBody.new()
		body.material = MaterialResource.new()
		body.mesh = sphere
		body.wall_thickness = thickness
		scene.add_child(body)
		check_near(body.wall_thickness, thickness, 1e-9, "wall_thickness")
		masses.append(body.get_mass())
		body.free()
	check(masses[0] > 30.0 and masses[0] < 34.0, "a solid ball has %.2f kg" % masses[0])
	check(masses[1] > 1.7 and masses[1] < 2.2, "a hollow ball has %.2f kg" % masses[1])
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = sphere
	mesh.wall_thickness = 0.004
	check_equal(mesh.bake(), OK, "bake of a hollow ball")
	check(mesh.get_report().contains("wall"), "the report is \"%s\"" % mesh.get_report())
	expect_errors("a wall that is not a number")
	mesh.wall_thickness = NAN
	errors_end()
	check_near(mesh.wall_thickness, 0.004, 1e-9, "wall_thickness after NAN")


## Walls of 1/670 of the size, walls to nothing, walls that touch themselves, skins 1e-5 apart, and walls thicker than the
## thing: every body has its mass, is whole and stands in the tree.
func test_thin_walls() -> void:
	var things: Array[Dictionary] = [
		{name = "leaf", profile = _bowl_profile(0.5, 0.0015, 0.0015), litres = 2.35},
		{name = "sharp bowl", profile = _bowl_profile(0.2, 0.005, 0.0), litres = 0.457},
		{name = "ring that touches", profile = _bowl_profile(0.2, 0.005, 0.005), litres = 1.22, fold = true},
		{name = "double skin", profile = _bowl_profile(0.5, 1e-5, 1e-5), litres = 0.785}, # laid 1/2000 of 1 m thick
		{name = "wall thicker than the thing", profile = _bowl_profile(0.2, 0.05, 0.05), litres = 9.7, wall = 3.0},
	]
	for thing in things:
		var body := DestructibleBody.new()
		body.material = MaterialResource.new()
		body.mesh = _revolved(thing.profile, thing.get("fold", false))
		body.element_count = 300
		body.wall_thickness = thing.get("wall", 0.0)
		scene.add_child(body)
		check(body.get_tet_count() > 0, "%s has no tets" % thing.name)
		check_near(body.get_mass() / thing.litres, 1.0, 0.15, "%s: mass over that of its wall" % thing.name)
		await scene.get_tree().physics_frame
		check_equal(body.get_piece_count(), 1, "pieces of a " + thing.name)
		body.free()


## Half a ball, outside down to the pole and back inside: distances from the axis and heights.
func _bowl_profile(radius: float, wall: float, wall_at_rim: float) -> PackedVector2Array:
	var profile := PackedVector2Array()
	for i in 17:
		var angle := PI / 2.0 * i / 16.0
		profile.append(Vector2(sin(angle), -cos(angle)) * radius)
	for i in range(16, -1, -1):
		var angle := PI / 2.0 * i / 16.0
		profile.append(Vector2(sin(angle), -cos(angle)) * (radius - lerpf(wall, wall_at_rim, i / 16.0)))
	return profile


## Turned round the y axis; `fold` leaves the seam open by nothing, so that two rims touch.
func _revolved(profile: PackedVector2Array, fold: bool) -> ArrayMesh:
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	for i in profile.size() - 1:
		for k in 32:
			var points: Array[Vector3] = []
			for corner: Vector2i in [Vector2i(i, k), Vector2i(i + 1, k), Vector2i(i + 1, k + 1), Vector2i(i, k + 1)]:
				var angle := TAU * corner.y / 32.0
				points.append(Vector3(profile[corner.x].x * cos(angle), profile[corner.x].y, profile[corner.x].x * sin(angle)))
			for v: int in [0, 1, 2, 0, 2, 3]:
				tool.add_vertex(points[v])
	if fold: # both sides of the seam, through the wall
		for i in profile.size() / 2 - 1:
			var inner := profile.size() - 1 - i
			var quad: Array[Vector2] = [profile[i], profile[i + 1], profile[inner - 1], profile[inner]]
			for v: int in [0, 1, 2, 0, 2, 3, 2, 1, 0, 3, 2, 0]:
				tool.add_vertex(Vector3(quad[v].x, quad[v].y, 0.0))
	return tool.commit()


## Two bodies of one material: the mass of one is set, the other keeps its own.
func test_mass_override() -> void:
	var material := MaterialResource.new()
	var bodies: Array[DestructibleBody] = []
	for mass: float in [0.0, 12.5]:
		var body := DestructibleBody.new()
		body.material = material
		body.mass_override = mass
		scene.add_child(body)
		bodies.append(body)
	check_near(bodies[0].get_mass(), 1000.0, 1.0, "mass by density")
	check_near(bodies[1].get_mass(), 12.5, 0.01, "mass that was set")
	material.density = 2000.0
	check_near(bodies[0].get_mass(), 2000.0, 2.0, "mass after the density was doubled")
	bodies[1].mass_override = 0.0
	check_near(bodies[1].get_mass(), 2000.0, 2.0, "mass by density again")
	expect_errors("a mass that is not a number")
	bodies[1].mass_override = NAN
	errors_end()
	check_equal(bodies[1].mass_override, 0.0, "mass_override after NAN")
	for body in bodies:
		body.free()


func test_other_thread() -> void:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = BoxMesh.new()
	var thread := Thread.new()
	expect_errors("a bake from a thread")
	thread.start(mesh.bake)
	var result: int = thread.wait_to_finish()
	errors_end()
	check_equal(result, ERR_UNAVAILABLE, "bake on a thread")


func test_materials_of_any_kind() -> void:
	var mesh := _baked(BoxMesh.new(), 100)
	_add_mesh_body(mesh, Vector3(0, 2, 0))
	mesh.set("surface_materials", [null, 5, "red", Resource.new(), StandardMaterial3D.new()])
	check_equal(mesh.surface_materials.slice(0, 4), [null, null, null, null], "what is no Material")
	mesh.surface_materials.append(3)
	check_equal(mesh.surface_materials.size(), 5, "materials after a change to the copy")
	mesh.set("data", "text")
	mesh.set("source_mesh", 7)
	await ticks(3)
	check(mesh.is_baked(), "the bake is gone")


func test_vertices_not_a_number() -> void:
	var arrays := BoxMesh.new().get_mesh_arrays()
	var positions: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
	positions[3].y = NAN
	arrays[Mesh.ARRAY_VERTEX] = positions
	var source := ArrayMesh.new()
	source.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = source
	expect_errors("a vertex that is not a number")
	check(mesh.bake() != OK, "a mesh with NaN is baked")
	errors_end()
	check(not mesh.is_baked(), "a mesh with NaN counts as baked")


func test_corrupt_data() -> void:
	var mesh := _baked(BoxMesh.new(), 100)
	var body := _add_mesh_body(mesh, Vector3(0, 3, 0))
	check(body.is_simulated(), "the body is not simulated")
	var good := mesh.data
	var damaged := good.duplicate()
	damaged[damaged.size() / 2] ^= 0x10
	var others: Array[PackedByteArray] = [damaged, good.slice(0, good.size() - 7), good.slice(0, 5), PackedByteArray([1, 2, 3])]
	for bytes in others:
		expect_errors("corrupt data of %d bytes" % bytes.size())
		mesh.data = bytes
		await tree.process_frame
		errors_end()
		check(not mesh.is_baked(), "corrupt data count as baked")
		check(not body.is_simulated(), "a body of corrupt data is simulated")
		check_equal(mesh.get_tet_count(), 0, "tets of corrupt data")
	mesh.data = good
	check(mesh.is_baked() and body.is_simulated(), "the body does not come back with sound data")
	mesh.source_mesh = null
	expect_errors("a body without data")
	mesh.data = PackedByteArray()
	errors_end()
	check(not body.is_simulated(), "a body of an empty mesh is simulated")
	await ticks(2)


func test_body_at_rest_is_exact() -> void:
	var mesh := _baked(TorusMesh.new(), 500)
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.transform = Transform3D(Basis(Vector3(1, 2, 3).normalized(), 0.7).scaled_local(Vector3(1, 2, 0.5)), Vector3(3, 4, -5))
	scene.add_child(body)
	var expected := _source_vertices(mesh.source_mesh)
	var found := body.get_vertex_positions()
	check_equal(found.size(), expected.size(), "vertices")
	var worst := 0.0
	for i in mini(found.size(), expected.size()):
		worst = maxf(worst, found[i].distance_to(body.global_transform * expected[i]))
	check(worst < 2e-5 * 4.0, "vertices are up to %f m from their place" % worst)


func test_body_falls_and_lands() -> void:
	var mesh := _baked(TorusMesh.new(), 300)
	var body := _add_mesh_body(mesh, Vector3(0, 1.5, 0))
	check(body.is_simulated(), "the body is not simulated")
	check_equal(body.get_tet_count(), mesh.get_tet_count(), "tets of the body")
	# A torus of radii 0.75 and 0.25: 2 pi^2 R r^2 m^3 of water.
	check_near(body.get_mass(), 925.0, 100.0, "mass")
	await ticks(240)
	check(positions_are_finite(body), "positions are not numbers")
	check(lowest_node(body) > -0.05 and lowest_node(body) < 0.05, "it lies at %f" % lowest_node(body))
	check(body.get_center_of_mass().y > 0.1, "it has collapsed: its centre is at %f" % body.get_center_of_mass().y)


func test_bodies_share() -> void:
	var mesh := _baked(BoxMesh.new(), 200)
	var first := _add_mesh_body(mesh, Vector3(0, 2, 0))
	var second: DestructibleBody = first.duplicate()
	second.position.x = 3.0
	scene.add_child(second)
	check(second.mesh == mesh, "a duplicated body has another mesh")
	var own: DestructibleMesh = mesh.duplicate()
	check(own != mesh and own.data == mesh.data and own.get_tet_count() == mesh.get_tet_count(), "a duplicated mesh differs")
	var third := _add_mesh_body(own, Vector3(6, 2, 0))
	await ticks(20)
	first.free()
	await ticks(5)
	check(second.is_simulated() and positions_are_finite(second), "the second body died with the first")
	check_near(second.get_center_of_mass().y, third.get_center_of_mass().y, 1e-3, "height of the third body")
	second.reset()
	await ticks(5)
	check(second.is_simulated(), "a reset body is gone")


func test_mesh_changes_under_a_body() -> void:
	var body := add_body(Vector3(0, 3, 0))
	var mesh := _baked(BoxMesh.new(), 100)
	body.mesh = mesh
	check_equal(body.get_tet_count(), mesh.get_tet_count(), "tets after mesh was set")
	mesh.element_count = 400
	check_equal(mesh.bake(), OK, "second bake")
	check_equal(body.get_tet_count(), mesh.get_tet_count(), "tets after the second bake")
	await ticks(3)
	mesh.bake_async()
	await _wait_for_bake(mesh)
	check(body.is_simulated(), "the body is not simulated after a bake by a thread")
	body.mesh = null
	check_equal(body.get_tet_count(), 40, "tets of the box after mesh was taken away")
	await ticks(3)
	# While the body is out of the tree for a moment.
	scene.remove_child(body)
	body.mesh = mesh
	scene.add_child(body)
	check_equal(body.get_tet_count(), mesh.get_tet_count(), "tets after a change outside the tree")
	await ticks(3)
	check(positions_are_finite(body), "positions are not numbers")
	expect_errors("a mesh of another kind")
	body.mesh = DestructibleMesh.new()
	errors_end()
	check(not body.is_simulated(), "a body of an empty mesh is simulated")


func test_pictures() -> void:
	var mesh := _baked(BoxMesh.new(), 200)
	var all := mesh.get_exploded_mesh(0.2, Plane())
	check_equal(all.get_faces().size(), 12 * mesh.get_tet_count(), "corners of the exploded view")
	var half := mesh.get_exploded_mesh(0.2, Plane(Vector3.RIGHT, 0.0))
	check(half.get_faces().size() > 0 and half.get_faces().size() < all.get_faces().size(), "the cut leaves all or nothing")
	check(half.get_aabb().end.x < 0.3, "the cut leaves the wrong side: %s" % half.get_aabb())
	var surface := mesh.get_tet_mesh_surface()
	check(surface.get_aabb().size.is_equal_approx(Vector3.ONE), "the surface has the size %s" % surface.get_aabb().size)
	var strange := mesh.get_exploded_mesh(NAN, Plane(Vector3(NAN, 0, 0), INF))
	check(strange != null, "a strange plane gives nothing")
	expect_errors("a picture of nothing")
	check(DestructibleMesh.new().get_tet_mesh_surface() == null, "nothing has a picture")
	errors_end()


# -- Helpers ----------------------------------------------------------------------------------------------------------


func _baked(source: Mesh, elements: int) -> DestructibleMesh:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = source
	mesh.element_count = elements
	mesh.refine_surface = false # its vertices stay those of the source
	check_equal(mesh.bake(), OK, "bake")
	check(mesh.is_baked(), "the mesh is not baked")
	return mesh


func _add_mesh_body(mesh: DestructibleMesh, position: Vector3) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.position = position
	scene.add_child(body)
	return body


func _source_vertices(source: Mesh) -> PackedVector3Array:
	var all := PackedVector3Array()
	for i in source.get_surface_count():
		if not source is ArrayMesh or source.surface_get_primitive_type(i) == Mesh.PRIMITIVE_TRIANGLES:
			all.append_array(source.surface_get_arrays(i)[Mesh.ARRAY_VERTEX])
	return all


## At rest every vertex must be where the source has it.
func _check_vertices(mesh: DestructibleMesh, tolerance: float) -> void:
	var expected := _source_vertices(mesh.source_mesh)
	var found := mesh.get_vertex_positions()
	var size := mesh.source_mesh.get_aabb().get_longest_axis_size()
	if not check_equal(found.size(), expected.size(), "vertices"):
		return
	var worst := 0.0
	for i in found.size():
		worst = maxf(worst, found[i].distance_to(expected[i]))
	check(worst <= tolerance * size, "vertices are up to %.9f m from their place" % worst)


func _wait_for_bake(mesh: DestructibleMesh) -> void:
	for i in 2000:
		if not mesh.is_baking():
			return
		OS.delay_msec(5)
		await tree.process_frame
	check(false, "the bake does not end")
