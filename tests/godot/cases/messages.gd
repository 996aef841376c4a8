extends "res://test_case.gd"
## What is wrong with a body is said once, with its node, the cause and the remedy, and is mended without loss.


## Adds a body that must be refused with an error which has all the words.
func _refused(body: DestructibleBody, what: String, words: Array[String]) -> void:
	body.name = "Refused"
	words.append("DestructibleBody %s/Refused is not simulated" % scene.get_path())
	expect_errors(what, words)
	scene.add_child(body)
	errors_end()
	check(not body.is_simulated(), what + " is simulated")
	check_equal(body.get_node_positions().size(), 0, "nodes of " + what)


## It must be as if it had been sound from the start.
func _check_mended(body: DestructibleBody) -> void:
	await ticks(2)
	check(body.is_simulated(), "it does not come back")
	await ticks(10)
	check(body.get_linear_velocity().y < -1.0, "it does not fall")
	body.free()


func test_transforms() -> void:
	var cases: Array[Array] = [
		["a scale of zero", Transform3D(Basis.from_scale(Vector3(1, 0, 1)), Vector3.UP * 5), ["scale is zero", "scale above 0"]],
		["a mirrored scale", Transform3D(Basis.from_scale(Vector3(1, -1, 1)), Vector3.UP * 5), ["mirrored by a negative scale", "positive scale"]],
		["a place that is not a number", Transform3D(Basis(), Vector3(NAN, 5, 0)), ["not a finite number", "reset it"]],
		["axes that are not numbers", Transform3D(Basis(Vector3(INF, 0, 0), Vector3.UP, Vector3.BACK), Vector3.UP * 5), ["not a finite number", "reset it"]],
		["a place beyond all places", Transform3D(Basis(), Vector3(1e12, 5, 0)), ["position", "1e+09"]],
		["a scale of nearly zero", Transform3D(Basis.from_scale(Vector3(1e-7, 1, 1)), Vector3.UP * 5), ["scale"]],
	]
	for case in cases:
		var body := DestructibleBody.new()
		body.transform = case[1]
		var words: Array[String] = []
		words.assign(case[2])
		_refused(body, case[0], words)
		body.transform = Transform3D(Basis(), Vector3(0, 5, 0))
		await _check_mended(body)


func test_ten_kilometres_and_a_million_metres() -> void:
	for place: Vector3 in [Vector3(1e4, 5, -1e4), Vector3(1e6, 5, 1e6)]:
		var body := DestructibleBody.new()
		body.size = Vector3(1, 0.1, 1)
		body.cells = Vector3i(6, 1, 6)
		body.material = load("res://addons/fem_destruction/materials/ceramic.tres")
		body.position = place
		scene.add_child(body)
		await ticks(10)
		check_near(body.get_linear_velocity().y, -9.8 * 10 / 60.0, 0.01, "velocity at %s" % place)
		body.apply_explosion(place + Vector3(0, -0.7, 0), 2.0, 20000.0)
		await ticks(20)
		check(body.get_piece_count() > 1, "%d pieces at %s" % [body.get_piece_count(), place])
		for piece in body.get_pieces():
			var data := body.get_piece_data(piece)
			if not check(data.box.size.length() < 2.0 and data.center.distance_to(place) < 20.0, "a piece at %s is at %s" % [place, data.box]):
				break
		body.free()


func _with_mesh(mesh: Mesh) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.element_count = 100
	body.position.y = 5.0
	return body


func _triangles(primitive: Mesh.PrimitiveType) -> ArrayMesh:
	var corners := PackedVector3Array()
	for corner in BoxMesh.new().get_faces():
		corners.append(corner)
	var arrays := []
	arrays.resize(Mesh.ARRAY_MAX)
	arrays[Mesh.ARRAY_VERTEX] = corners
	var mesh := ArrayMesh.new()
	mesh.add_surface_from_arrays(primitive, arrays)
	return mesh


func _immediate(primitive: Mesh.PrimitiveType) -> ImmediateMesh:
	var mesh := ImmediateMesh.new()
	mesh.surface_begin(primitive)
	for corner in BoxMesh.new().get_faces():
		mesh.surface_add_vertex(corner)
	mesh.surface_end()
	return mesh


func test_meshes_without_triangles() -> void:
	var meshes: Array[Mesh] = [ArrayMesh.new(), PointMesh.new(), ImmediateMesh.new(),
			_triangles(Mesh.PRIMITIVE_LINES), _triangles(Mesh.PRIMITIVE_TRIANGLE_STRIP), _immediate(Mesh.PRIMITIVE_LINES)]
	for mesh in meshes:
		var body := _with_mesh(mesh)
		_refused(body, "a %s without triangles" % mesh.get_class(), ["has no triangles", "choose a Mesh"])
		check_equal(body.get_tet_count(), 0, "tets of a %s" % mesh.get_class())
		body.mesh = BoxMesh.new()
		await _check_mended(body)


## What an export for a dedicated server leaves of a mesh: one sentence, in a body of its own and in a DestructibleMesh.
func test_placeholders() -> void:
	var unbaked := DestructibleMesh.new()
	unbaked.source_mesh = PlaceholderMesh.new()
	for mesh: Resource in [PlaceholderMesh.new(), unbaked]:
		var body := DestructibleBody.new()
		body.mesh = mesh
		body.position.y = 5.0
		print("--errors at most: 1")
		_refused(body, "a placeholder", ["PlaceholderMesh", "dedicated server", "enable the plugin", "DestructibleMesh"])
		body.mesh = BoxMesh.new()
		await _check_mended(body)


func test_meshes_that_enclose_nothing() -> void:
	for mesh: Mesh in [PlaneMesh.new(), QuadMesh.new()]:
		var body := _with_mesh(mesh)
		body.bake_in_background = false
		scene.add_child(body)
		check(body.get_tet_count() > 0, "a %s has no tets" % mesh.get_class())
		var told := body.bake_mesh().report
		check("encloses nothing" in told and "sheet_thickness" in told, "what is told of a %s: %s" % [mesh.get_class(), told])
		body.free()


## A mesh of Godot's that has not been drawn yet is made when it is read, and says then that it has changed.
func test_a_fault_is_told_once() -> void:
	for mesh: Mesh in [PointMesh.new()]:
		expect_errors("a %s that was never drawn" % mesh.get_class())
		print("--errors at most: 2")
		scene.add_child(_with_mesh(mesh))
		errors_end()


func test_meshes_of_every_kind() -> void:
	var text := TextMesh.new()
	text.text = "Hi"
	var skinned := ArrayMesh.new()
	skinned.add_blend_shape("fat")
	var arrays := BoxMesh.new().get_mesh_arrays()
	var shape := []
	shape.resize(Mesh.ARRAY_MAX)
	for part: int in [Mesh.ARRAY_VERTEX, Mesh.ARRAY_NORMAL, Mesh.ARRAY_TANGENT]:
		shape[part] = arrays[part]
	var bones := PackedInt32Array()
	var weights := PackedFloat32Array()
	bones.resize(4 * arrays[Mesh.ARRAY_VERTEX].size())
	weights.resize(4 * arrays[Mesh.ARRAY_VERTEX].size())
	arrays[Mesh.ARRAY_BONES] = bones
	arrays[Mesh.ARRAY_WEIGHTS] = weights
	skinned.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays, [shape])
	var compressed := ArrayMesh.new()
	compressed.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, BoxMesh.new().get_mesh_arrays(), [], {}, Mesh.ARRAY_FLAG_COMPRESS_ATTRIBUTES)
	# m³; text and trails are thin.
	var volumes := {BoxMesh.new(): 1.0, CapsuleMesh.new(): 1.31, CylinderMesh.new(): 1.57, PrismMesh.new(): 0.5, SphereMesh.new(): 0.52,
			TorusMesh.new(): 0.92, skinned: 1.0, compressed: 1.0, _triangles(Mesh.PRIMITIVE_TRIANGLES): 1.0,
			_immediate(Mesh.PRIMITIVE_TRIANGLES): 1.0, text: 0.0, TubeTrailMesh.new(): 0.0}
	for mesh: Mesh in volumes:
		var body := _with_mesh(mesh)
		scene.add_child(body)
		check(body.is_simulated(), "a body with a %s is not simulated" % mesh.get_class())
		if volumes[mesh] > 0.0:
			check_near(body.get_mass(), 1000.0 * volumes[mesh], 120.0 * volumes[mesh], "mass of a %s" % mesh.get_class())
		await ticks(5)
		check(positions_are_finite(body) and body.get_linear_velocity().y < -0.5, "a body with a %s does not fall" % mesh.get_class())
		body.free()


func test_an_importer_mesh_is_refused() -> void:
	var body := _with_mesh(BoxMesh.new())
	scene.add_child(body)
	expect_errors("an ImporterMesh", [str(body.get_path()), "neither a Mesh nor a DestructibleMesh"])
	body.set("mesh", ImporterMesh.new())
	errors_end()
	check(body.mesh is BoxMesh and body.is_simulated(), "the mesh it had is lost")


func test_data_of_another_version() -> void:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = BoxMesh.new()
	mesh.element_count = 100
	mesh.resource_name = "crate"
	check_equal(mesh.bake(), OK, "bake")
	var good := mesh.data
	var other := good.duplicate()
	other[8] = 200 # the version comes after eight letters
	var body := _with_mesh(null)
	body.mesh = mesh
	scene.add_child(body)
	expect_errors("data of another version", ["DestructibleMesh crate", "format 200", "bake the DestructibleMesh again or update the addon", str(body.get_path())])
	mesh.data = other
	await tree.process_frame
	errors_end()
	check(not body.is_simulated(), "data of another version are simulated")
	check_equal(mesh.data, other, "the data, which a newer addon could still read")
	mesh.data = good
	await _check_mended(body)


func test_anchors_that_hold_nothing() -> void:
	var body := DestructibleBody.new()
	body.position.y = 5.0
	body.anchors = [AABB(Vector3(1, 1, 1), Vector3(-2, -0.6, -2))] # drawn from its upper corner
	scene.add_child(body)
	await ticks(30)
	check(body.get_center_of_mass().y > 4.9, "a box with sizes below 0 does not hold")
	for anchors: Array in [[AABB(Vector3(3, 0, 0), Vector3.ONE)], [AABB(Vector3(0.05, 0.05, 0.05), Vector3.ONE * 0.1)]]:
		print("--one warning: an anchor that holds nothing")
		body.anchors = anchors
		print("--warning end")
		await ticks(5)
		check(body.get_linear_velocity().y < -0.3, "it is held by nothing")
	body.mesh = SphereMesh.new()
	print("--one warning: an anchor beside a mesh")
	body.anchors = [AABB(Vector3(-9, 0.4, -9), Vector3.ONE * 18), AABB(Vector3(3, 0, 0), Vector3.ONE)]
	print("--warning end")
	await ticks(30)
	check(body.get_center_of_mass().y > 4.5, "the other anchor does not hold either")


## A shader of one's own that knows nothing of the simulation is drawn, but stays where it is.
func test_shaders_that_do_not_follow() -> void:
	var body := add_body(Vector3(0, 5, 0))
	var look := ShaderMaterial.new()
	look.shader = Shader.new()
	look.shader.code = "shader_type spatial;\n"
	print("--one warning: a shader that does not follow")
	body.surface_material = look
	print("--warning end")
	body.surface_material = null
	var good := ShaderMaterial.new()
	good.shader = load("res://own_shader.gdshader")
	print("--no warning: a shader that follows")
	body.surface_material = good
	body.surface_material = ShaderMaterial.new()
	print("--warning end")


## A fault that comes back in every tick must not fill the log: the signal and the statistics go on telling of it.
func test_a_fault_of_every_tick_is_told_once() -> void:
	var body := DestructibleBody.new()
	body.name = "Torn"
	body.position.y = 5.0
	scene.add_child(body)
	await ticks(2)
	var told: Array[String] = []
	var bits := 0
	body.step_failed.connect(func(message: String) -> void: told.append(message))
	print("--one warning: a body put back in every tick")
	for i in 30:
		body.apply_impulse(Vector3(3e38, 0, 0), body.position)
		body.apply_force(Vector3(3e38, 0, 0), body.position)
		await ticks(1)
		bits |= int(DestructionServer.get_statistics().step_errors)
	print("--warning end")
	check(told.size() > 20, "step_failed was emitted in %d of 30 ticks" % told.size())
	check(bits & DestructionServer.STEP_BODY_ROLLED_BACK != 0, "step_errors are %d" % bits)
	body.free()


## Steel of cells of 0.2 mm cannot be computed as stiff as it is: that is said once, with node, cause and remedy.
func test_softening_is_told() -> void:
	var steel := MaterialResource.new()
	steel.stiffness = 2e11
	steel.density = 7800.0
	print("--one warning: steel in cells of 0.2 mm")
	var body := DestructibleBody.new()
	body.name = "Grain"
	body.size = Vector3.ONE * 0.0004
	body.cells = Vector3i(2, 2, 2)
	body.material = steel
	body.position.y = 5.0
	scene.add_child(body)
	steel.friction = 0.3
	body.reset()
	print("--warning end")
	check_equal(body.get_softened_tet_count(), body.get_tet_count(), "softened tetrahedra")
	print("--no warning: steel in cells of 5 mm")
	var sound := DestructibleBody.new()
	sound.size = Vector3.ONE * 0.01
	sound.cells = Vector3i(2, 2, 2)
	sound.material = steel
	sound.position.y = 6.0
	scene.add_child(sound)
	print("--warning end")
	check_equal(sound.get_softened_tet_count(), 0, "softened tetrahedra of a larger cube")
	print("--one warning: a material that becomes too stiff")
	steel.stiffness = 1e13
	steel.density = 1.0
	print("--warning end")
	check(sound.get_softened_tet_count() > 0, "the material's new stiffness is not noticed")
