extends "res://text_case.gd"
## README.md.


# ------------------------------------------------------------------------------------------------- Install into a game


func test_install_into_a_game_step_1() -> void:
	says("readme.install_into_a_game_step_1.step", "The libraries are then in `addons/fem_destruction/bin/`.")
	for flavour: String in ["template_debug", "template_release"]:
		check(Array(DirAccess.get_files_at("res://addons/fem_destruction/bin")).any(func(file: String) -> bool: return file.contains(flavour)), "there is no library of %s" % flavour)


func test_install_into_a_game_step_2() -> void:
	says("readme.install_into_a_game_step_2.step", "Copy the folder `addons/fem_destruction` into your project as `addons/fem_destruction`.")
	check(FileAccess.file_exists("res://addons/fem_destruction/shaders/fem_position.gdshaderinc"), "the shaders are not there")


func test_install_into_a_game_step_3() -> void:
	says("readme.install_into_a_game_step_3.step", "`DestructibleBody` is in the *Add Node* dialog; nothing needs to be enabled.")
	says("readme.install_into_a_game_step_3.step", "Enable the plugin *fem_destruction*")
	check(ClassDB.can_instantiate("DestructibleBody") and ClassDB.is_parent_class("DestructibleBody", "Node"), "there is no node DestructibleBody")
	var plugin := ConfigFile.new()
	check_equal(plugin.load("res://addons/fem_destruction/plugin.cfg"), OK, "plugin.cfg")
	check_equal(plugin.get_value("plugin", "name", ""), "fem_destruction", "name of the plugin")


# --------------------------------------------------------------------------------------------------- Five-minute start


func test_five_minute_start_step_1() -> void:
	says("readme.five_minute_start_step_1.step", "a `CSGBox3D` of size 10, 0.2, 10 with *Use Collision* on will do")
	says("readme.five_minute_start_step_1.step", "Lift the body to y = 3.")
	add_level()
	var body := DestructibleBody.new()
	body.position.y = 3.0
	scene.add_child(body)
	await ticks(2)
	check(body.is_simulated(), "the body is not simulated")


func test_five_minute_start_step_2() -> void:
	says("readme.five_minute_start_step_2.step", "A soft rubber cube falls onto the floor and bounces.")
	add_level()
	var body := DestructibleBody.new()
	body.position.y = 3.0
	scene.add_child(body)
	await check_bounces(body)


func test_five_minute_start_step_3() -> void:
	var step := "readme.five_minute_start_step_3.step"
	says(step, "a *New BoxMesh* of size 2, 0.1, 0.5), turn the body by 20° about z")
	says(step, "`ceramic.tres`, `pane_glass.tres`, `concrete.tres` and `brick.tres` shatter, `jelly.tres` wobbles, `steel_sheet.tres` stays bent.")
	says(step, "`oak.tres` bears that; lifted to y = 15 it splinters along its grain.")
	says(step, "Solid blocks bear more: the cube of `ceramic.tres` lands whole from y = 1.5 and breaks from y = 3.")
	add_level()
	for preset: String in ["ceramic", "pane_glass", "concrete", "brick"]:
		await _check_shatters(preset)
	await _check_bears_the_fall()
	await _check_oak_splinters()


## From six heights within the 0.29 m of a tick: into how many pieces it breaks follows the phase at which it strikes.
func _check_oak_splinters() -> void:
	var pieces := PackedInt32Array()
	for phase in 6:
		var oak := add_slab("oak.tres", 15.0 + 0.05 * phase)
		check_equal(oak.material.splinter_pattern, MaterialResource.SPLINTERS_WOOD, "pattern of oak")
		check(await wait_for_pieces(oak, 5, 4.0), "the oak slab is in %d pieces after a fall from y = 15" % oak.get_piece_count())
		await ticks(30)
		pieces.append(oak.get_piece_count())
		oak.free()
	var sum := 0
	for count in pieces:
		sum += count
	check(sum >= 8 * pieces.size(), "slabs of oak are in %s pieces after falls from y = 15" % pieces)


func _check_shatters(preset: String) -> void:
	var body := add_slab(preset + ".tres")
	check(await wait_for_pieces(body, 10, 3.0), "%s.tres is in %d pieces 3 s later" % [preset, body.get_piece_count()])
	body.free()


## One after the other: things that fall beside each other might touch.
func _check_bears_the_fall() -> void:
	for kind: Array in [["jelly", 20.0], ["steel_sheet", 20.0], ["oak", 20.0]]:
		var body := add_slab(kind[0] + ".tres", 3.0, kind[1])
		var lengths: Array[float] = []
		for i in seconds_to_ticks(3.0):
			await ticks(1)
			lengths.append(body.get_aabb_world().size.z)
		check(body.get_piece_count() < 10, "%s at %.0f° is in %d pieces" % [kind[0], kind[1], body.get_piece_count()])
		if kind[0] == "jelly":
			check(lengths.max() - lengths.min() > 0.015, "the jelly's width changes by %.3f m" % (lengths.max() - lengths.min()))
		if kind[0] == "steel_sheet":
			check(body.get_aabb_world().size.y > 0.12, "the steel slab of 0.1 m stands %.3f m high" % body.get_aabb_world().size.y)
		body.free()
	for height: float in [1.5, 3.0]:
		var cube := add_body(Vector3(0, height, 0), Vector3.ONE, Vector3i(4, 4, 4))
		cube.material = load(MATERIALS.path_join("ceramic.tres"))
		await seconds(1.5)
		var pieces := cube.get_piece_count()
		check(pieces == 1 if height < 2.0 else pieces > 3, "the ceramic cube is in %d pieces after a fall from y = %.1f" % [pieces, height])
		cube.free()


func test_five_minute_start_step_4() -> void:
	says("readme.five_minute_start_step_4.step", "*Stiffness* and *Density* say how it bends and weighs, *Toughness* when it breaks, *Ductility* how far it dents before that.")
	var body := add_body(Vector3.ZERO)
	body.material = MaterialResource.new()
	body.material.density = 500.0
	await ticks(2)
	check_near(body.get_piece_data(body.get_pieces()[0]).mass, 500.0, 1.0, "mass (kg) of 1 m³ at 500 kg/m³")
	var preset: MaterialResource = load(MATERIALS.path_join("oak.tres")).duplicate()
	preset.toughness *= 2.0
	preset.ductility = 0.1
	check_near(preset.toughness / load(MATERIALS.path_join("oak.tres")).toughness, 2.0, 1e-6, "a preset made unique is its own")


func test_five_minute_start_step_5() -> void:
	says("readme.five_minute_start_step_5.step", "Set *Element Count* for finer detail, or leave out the mesh for a box of *Size* and *Cells*.")
	var counts: Array[int] = []
	for count: int in [200, 2000]:
		var body := DestructibleBody.new()
		body.mesh = SphereMesh.new()
		body.element_count = count
		scene.add_child(body)
		await ticks(1)
		counts.append(body.get_tet_count())
	check(counts[1] > 3 * counts[0], "tetrahedra for an element count of 200 and 2000: %s" % [counts])
	var box := add_body(Vector3(3, 0, 0), Vector3(1, 2, 3), Vector3i(1, 2, 3))
	await ticks(1)
	check_near_vector(box.get_aabb_world().size, Vector3(1, 2, 3), 0.05, "size of the box")


func test_five_minute_start_1() -> void:
	add_level()
	scene.add_child(node_with(text_of("readme.five_minute_start_1.gdscript")))
	for i in seconds_to_ticks(15.0):
		if printed.text.contains("at rest at"):
			break
		await tree.physics_frame
	check(printed.text.contains("at rest at ("), "it did not come to rest within 15 s; printed: " + printed.text)
	var place := RegEx.create_from_string("at rest at \\(([-0-9.]+), ([-0-9.]+)").search(printed.text)
	if place != null:
		check(place.get_string(1).to_float() > 0.5, "the push of 800 N·s did not tip it over: it rests at x = " + place.get_string(1))
		check_near(place.get_string(2).to_float(), FLOOR_TOP + 0.4, 0.05, "height (m) of its centre, lying on its side")


## The second block goes where its text says: into the first, before add_child(body).
func test_five_minute_start_2() -> void:
	var first := text_of("readme.five_minute_start_1.gdscript")
	check_equal(first.count("\tadd_child(body)\n"), 1, "add_child(body) in the first block")
	add_level()
	scene.add_child(node_with(first.replace("\tadd_child(body)\n", text_of("readme.five_minute_start_2.gdscript") + "\tadd_child(body)\n")))
	await seconds(2.0)
	for pattern: String in ["crack at \\([-0-9., ]+\\), [0-9.]+ J, [0-9.]+ m²", "hit \\S*CSGBox3D\\S* at [0-9.]+ m/s, [0-9.]+ N·s", "[0-9.]+ kg broke off"]:
		check(RegEx.create_from_string(pattern).search(printed.text) != null, "nothing like \"%s\" was printed, but: %s" % [pattern, printed.text.left(300)])


# ------------------------------------------------------------------------------------- From your mesh to a destructible


func _baked(source: Mesh) -> DestructibleMesh:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = source
	mesh.element_count = 300
	check_equal(mesh.bake(), OK, "bake()")
	return mesh


func test_from_your_mesh_to_a_destructible_step_1() -> void:
	says("readme.from_your_mesh_to_a_destructible_step_1.step", "In *Mesh* choose *New DestructibleMesh* and open it.")
	var body := add_body(Vector3.ZERO)
	var kinds: PackedStringArray = find_property(body, "mesh").hint_string.split(",")
	check(kinds.has("DestructibleMesh"), "the inspector offers %s for the body's mesh" % [kinds])


func test_from_your_mesh_to_a_destructible_step_2() -> void:
	says("readme.from_your_mesh_to_a_destructible_step_2.step", "Drop your mesh (from an imported `.glb`, `.obj` or `.blend`, or one of Godot's own) into *Source Mesh*.")
	for source: Mesh in [load("res://statue.obj"), TorusMesh.new()]:
		check(_baked(source).get_tet_count() > 100, "a bake of %s has too few tetrahedra" % source)


## That the button and Undo do so in the inspector is tested in the editor (tests/godot_editor).
func test_from_your_mesh_to_a_destructible_step_3() -> void:
	says("readme.from_your_mesh_to_a_destructible_step_3.step", "Press *Bake*. The report says what came out, and which faults of the mesh (holes, flipped faces, loose bits, thin walls, wrong scale) are worth mending, with the remedy.")
	check(_baked(BoxMesh.new()).report.contains("tetrahedra"), "the report does not say what came out")
	var arrays := BoxMesh.new().get_mesh_arrays()
	var indices: PackedInt32Array = arrays[Mesh.ARRAY_INDEX]
	arrays[Mesh.ARRAY_INDEX] = indices.slice(3) # one triangle of the twelve is missing
	var holed := ArrayMesh.new()
	holed.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
	var report := _baked(holed).report
	check(report.containsn("hole"), "the report does not tell of the hole: " + report)


func test_from_your_mesh_to_a_destructible_step_4() -> void:
	says("readme.from_your_mesh_to_a_destructible_step_4.step", "Save the `DestructibleMesh` as a file to share it: a hundred bodies hold it only once.")
	var source := BoxMesh.new()
	source.material = StandardMaterial3D.new()
	var mesh := _baked(source)
	check_equal(ResourceSaver.save(mesh, "res://shared.res"), OK, "saving")
	var bodies: Array[DestructibleBody] = []
	for i in 2:
		var body := DestructibleBody.new()
		body.mesh = load("res://shared.res")
		body.position.x = 3.0 * i
		scene.add_child(body)
		bodies.append(body)
	await ticks(2)
	check(bodies[0].mesh == bodies[1].mesh, "two bodies hold two meshes")
	check(bodies[0].is_simulated() and bodies[1].is_simulated(), "they are not simulated")
	check_equal(bodies[1].get_tet_count(), mesh.get_tet_count(), "tetrahedra of the loaded one")


func test_from_your_mesh_to_a_destructible_1() -> void:
	var node := node_with(text_of("readme.from_your_mesh_to_a_destructible_1.gdscript"))
	var statue := MeshInstance3D.new()
	statue.name = "Statue"
	statue.mesh = load("res://statue.obj")
	var bar := ProgressBar.new()
	bar.name = "Bar"
	bar.max_value = 1.0
	bar.step = 0.001
	var body := DestructibleBody.new()
	body.name = "Body"
	for child: Node in [statue, bar, body]:
		node.add_child(child)
	scene.add_child(node)
	node.run()
	for i in seconds_to_ticks(20.0):
		if body.mesh != null:
			break
		OS.delay_msec(5)
		await tree.physics_frame
	await ticks(2)
	if check(body.mesh is DestructibleMesh, "the bake did not end"):
		check_near(bar.value, 1.0, 0.01, "progress shown")
		check(body.get_tet_count() > 500, "the body has %d tetrahedra" % body.get_tet_count())


# -------------------------------------------------------------------------------------------------------- Good to know


func test_good_to_know_step_1() -> void:
	says("readme.good_to_know_step_1.step", "The node's own transform does not follow the simulation")
	says("readme.good_to_know_step_1.step", "Setting the transform moves the whole body.")
	var body := add_body(Vector3(0, 3, 0))
	await seconds(1.0)
	check_equal(body.position, Vector3(0, 3, 0), "the node's position")
	var fallen := body.get_center_of_mass()
	check(fallen.y < 0.0, "its centre of mass is at %s" % fallen)
	check(body.get_aabb_world().has_point(fallen) and body.get_node_positions().size() == body.get_node_count(), "it is not told where the body is")
	body.position.x += 5.0
	await ticks(2)
	check_near(body.get_center_of_mass().x - fallen.x, 5.0, 0.1, "way (m) of the body that was moved by 5 m")


func test_good_to_know_step_2() -> void:
	says("readme.good_to_know_step_2.step", "Without a floor bodies fall for ever, as Godot's own do. A plane at a height of your choice is a floor for all of them: *Ground Enabled*.")
	DestructionServer.ground_enabled = true
	DestructionServer.ground_height = 1.0
	var body := add_body(Vector3(0, 2, 0))
	await seconds(3.0)
	check_near(lowest_node(body), 1.0, 0.05, "height (m) of its underside on a ground at 1 m")
	DestructionServer.ground_enabled = false
	await seconds(2.0)
	check(lowest_node(body) < -5.0, "without the ground it stays at %.2f m" % lowest_node(body))
	DestructionServer.ground_height = 0.0


func test_good_to_know_step_3() -> void:
	says("readme.good_to_know_step_3.step", "This ground, gravity and the number of threads are set on `DestructionServer` and in the project settings under *Physics > Fem Destruction*.")
	for setting: String in ["ground_enabled", "ground_height", "ground_friction", "worker_count"]:
		check(ProjectSettings.has_setting("physics/fem_destruction/" + setting), "there is no project setting " + setting)
		check(setting in DestructionServer, "DestructionServer has no " + setting)
	check("gravity" in DestructionServer and ProjectSettings.has_setting("physics/3d/default_gravity"), "gravity cannot be set")


func test_good_to_know_step_4() -> void:
	says("readme.good_to_know_step_4.step", "Your own shader needs one include and one call")
	var shader := text_of("addon.own_shaders_1.glsl")
	check_equal(shader.count("#include"), 1, "includes of the example")
	check_equal(shader.count("fem_deform("), 1, "calls of the example")
	check_equal(shader.count("\t"), 1, "statements of the example")


func test_good_to_know_step_5() -> void:
	says("readme.good_to_know_step_5.step", "Every property, method and signal is described in the editor's help (F1).")
	for type: String in ["DestructibleBody", "DestructibleMesh", "MaterialResource", "DestructionServer"]:
		var reference := FileAccess.get_file_as_string("res://texts/%s.xml" % type)
		var members: Array[Dictionary] = ClassDB.class_get_signal_list(type, true)
		members.append_array(ClassDB.class_get_property_list(type, true).filter(func(property: Dictionary) -> bool: return property.usage & PROPERTY_USAGE_EDITOR))
		members.append_array(ClassDB.class_get_method_list(type, true).filter(func(method: Dictionary) -> bool: return _is_own_method(type, method.name)))
		for member in members:
			var is_described := ["name", "getter", "setter"].any(func(kind: String) -> bool: return reference.contains('%s="%s"' % [kind, member.name]))
			check(is_described or String(member.name).contains("/"), "%s.%s is not described" % [type, member.name])


## Getters, setters and what begins with an underscore are not called by users.
func _is_own_method(type: String, method: String) -> bool:
	for prefix: String in ["set_", "get_", "is_"]:
		var property := method.trim_prefix(prefix)
		if property != method and ClassDB.class_get_property_list(type, true).any(func(entry: Dictionary) -> bool: return entry.name == property):
			return false
	return not method.begins_with("_")
