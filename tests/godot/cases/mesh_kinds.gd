extends "res://test_case.gd"
## Meshes that are no plain solids: text, cards that cross, bones and blend shapes.


func _baked(source: Mesh, elements: int) -> DestructibleMesh:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = source
	mesh.element_count = elements
	mesh.bake()
	return mesh


func _volume(mesh: DestructibleMesh) -> float:
	var body := DestructibleBody.new()
	body.mesh = mesh
	var iron := MaterialResource.new()
	iron.density = 1000.0
	body.material = iron
	scene.add_child(body)
	var volume := body.get_mass() / 1000.0
	body.free()
	return volume


## Letters are solids of their own; a dot is one, too.
func test_text() -> void:
	var text := TextMesh.new()
	text.text = "Mix"
	text.font_size = 64
	text.depth = 0.1
	var mesh := _baked(text, 600)
	if check(mesh.is_baked(), "text was not baked"):
		var box := text.get_aabb().size
		var volume := _volume(mesh)
		check(volume > 0.15 * box.x * box.y * box.z and volume < 0.6 * box.x * box.y * box.z, "%s m3 in a box of %s" % [volume, box])
		check(not mesh.get_report().contains("outside the tetrahedra:"), mesh.get_report())


## What is under a millimetre has no triangles for Jolt, which says so as an error: it has no shape there. Hills are as well.
func test_any_size_enters() -> void:
	for size: float in [1e-4, 1.0, 1e4]:
		var sphere := SphereMesh.new()
		sphere.radius = 0.5 * size
		sphere.height = size
		sphere.radial_segments = 12
		sphere.rings = 6
		var body := DestructibleBody.new()
		body.mesh = sphere
		body.element_count = 100
		body.bake_in_background = true
		body.material = load("res://addons/fem_destruction/materials/ceramic.tres")
		body.position.y = 3.0 * size
		scene.add_child(body)
		var began := Time.get_ticks_msec()
		while not body.is_simulated() and Time.get_ticks_msec() < began + 10000:
			OS.delay_msec(5)
			await tree.process_frame
		await ticks(3)
		check(body.get_tet_count() > 50, "%s m: %d tets" % [size, body.get_tet_count()])
		check(body.get_center_of_mass().y < 3.0 * size, "%s m: it does not fall" % size)
		body.free()


func test_cards_that_cross() -> void:
	var cards := ArrayMesh.new()
	for turn: float in [0.0, PI / 2]:
		var arrays := QuadMesh.new().get_mesh_arrays()
		var positions: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
		arrays[Mesh.ARRAY_VERTEX] = Transform3D(Basis(Vector3.UP, turn), Vector3.ZERO) * positions
		cards.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
	var mesh := _baked(cards, 600)
	check(mesh.get_report().contains("2 surfaces that enclose nothing"), mesh.get_report())
	var volume := _volume(mesh)
	check(absf(volume - 0.02) < 0.002, "%s m3 of two boards of 0.01" % volume)


func test_poses_are_told() -> void:
	var arrays := BoxMesh.new().get_mesh_arrays()
	var plain := ArrayMesh.new()
	plain.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
	check(not _baked(plain, 100).get_report().contains("bones or blend shapes"), "a plain mesh is told to have poses")
	var shape: Array = []
	shape.resize(Mesh.ARRAY_MAX)
	shape[Mesh.ARRAY_VERTEX] = arrays[Mesh.ARRAY_VERTEX]
	shape[Mesh.ARRAY_NORMAL] = arrays[Mesh.ARRAY_NORMAL]
	shape[Mesh.ARRAY_TANGENT] = arrays[Mesh.ARRAY_TANGENT]
	var shapes: Array[Array] = [shape.slice(0, Mesh.ARRAY_TANGENT + 1)]
	var mixed := ArrayMesh.new()
	mixed.add_blend_shape("same")
	mixed.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays, shapes)
	check(_baked(mixed, 100).get_report().contains("bones or blend shapes"), "a blend shape is not told of")
	var count: int = arrays[Mesh.ARRAY_VERTEX].size()
	var bones := PackedInt32Array()
	var weights := PackedFloat32Array()
	for i in 4 * count:
		bones.append(0)
		weights.append(1.0 if i % 4 == 0 else 0.0)
	arrays[Mesh.ARRAY_BONES] = bones
	arrays[Mesh.ARRAY_WEIGHTS] = weights
	var skinned := ArrayMesh.new()
	skinned.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
	check(_baked(skinned, 100).get_report().contains("bones or blend shapes"), "bones are not told of")
