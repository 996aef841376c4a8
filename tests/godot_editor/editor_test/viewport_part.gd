@tool
extends "part.gd"
## Bodies in the 3D viewport, without a screen: boxes, handles, drops, previews, and how long selecting takes.


func run() -> void:
	await open_room()
	_test_boxes()
	await _test_anchor_math()
	await _test_drops()
	await _test_previews()
	await _test_bake_from_the_toolbar()
	await _test_selecting_takes_no_time()
	await close_room()


func _test_boxes() -> void:
	check(body("Oak").get_aabb() == AABB(Vector3(-0.4, -0.6, -0.15), Vector3(0.8, 1.2, 0.3)), "box_of_a_body", "it is %s" % body("Oak").get_aabb())
	check(body("Torus").get_aabb().is_equal_approx(TorusMesh.new().get_aabb()), "box_of_a_mesh", "it is %s" % body("Torus").get_aabb())


## Without a screen: what a handle does to boxes of every kind, a scale of 0 and a camera that looks along the axis included.
func _test_anchor_math() -> void:
	var handles: Script = load("res://addons/fem_destruction/editor/box_handles.gd")
	var camera := Camera3D.new()
	room.add_child(camera)
	camera.global_transform = Transform3D(Basis.IDENTITY, Vector3(0, 0, 5))
	var is_sound := true
	for box: AABB in [AABB(Vector3.ZERO, Vector3.ONE), AABB(Vector3.ONE, -Vector3.ONE), AABB(), AABB(Vector3(1e6, 0, 0), Vector3(1e-9, 0, 5))]:
		for transform: Transform3D in [Transform3D.IDENTITY, Transform3D(Basis.from_scale(Vector3.ZERO), Vector3.ZERO), Transform3D(Basis.from_scale(Vector3(-1, 2, 3)), Vector3.ONE)]:
			for id in 7:
				var made: AABB = handles.dragged(box, id, transform, camera, Vector2(100, 100 * id), 0.25 if id % 2 == 0 else 0.0)
				is_sound = is_sound and made.is_finite() and (made == box or (made.size.x >= 0.0 and made.size.y >= 0.0 and made.size.z >= 0.0))
	check(is_sound, "handles_of_any_box", "one is not finite or turned inside out")
	camera.free()
	# What is no box, or has no size, is drawn without a word.
	var oak := body("Oak")
	await select([oak])
	oak.anchors = [AABB(), AABB(Vector3.ZERO, Vector3(-1, -1, -1))]
	await frames(3)
	oak.anchors = []
	oak.size = Vector3(0, -1, 0)
	await frames(3)
	oak.size = Vector3(0.8, 1.2, 0.3)
	await frames(3)


func _test_drops() -> void:
	var drop: Control = load("res://addons/fem_destruction/editor/viewport_drop.gd").new()
	drop.undo = host.get_undo_redo()
	drop.viewport = EditorInterface.get_editor_viewport_3d(0)
	var oak := body("Oak")
	var mesh := CapsuleMesh.new()
	drop.drop(mesh, oak, Vector2.ZERO)
	check(oak.mesh == mesh, "drop_a_mesh", "it has %s" % oak.mesh)
	history().undo()
	check(oak.mesh == null, "undo_a_mesh", "it has %s" % oak.mesh)
	drop.drop(material("stone"), room.get_node("Plain"), Vector2.ZERO)
	check(room.get_node("Plain") is DestructibleBody and body("Plain").material == material("stone"), "a_material_makes_destructible", "it is %s" % room.get_node("Plain"))
	history().undo()
	await frames(2)
	check(room.get_node("Plain") is MeshInstance3D, "undo_that", "it is %s" % room.get_node("Plain"))
	var count := room.get_child_count()
	if drop.viewport.get_camera_3d() != null:
		drop.drop(material("stone"), null, Vector2(300, 300))
		check(room.get_child_count() == count + 1 and room.get_child(count) is DestructibleBody, "a_material_makes_a_box", "it does not")
		history().undo()
		check(room.get_child_count() == count, "undo_the_box", "it is still there")
	drop.free()


func _test_previews() -> void:
	for body_name: String in ["Oak", "Torus"]:
		await select([body(body_name)])
		var view: OptionButton = button("View")
		for kind in [1, 2, 3, 0]:
			view.select(kind)
			view.item_selected.emit(kind)
			await frames(1)
			check(button("Message").text == "", "preview_%d_of_%s" % [kind, body_name], button("Message").text)
	# Spread by the slider; gone with the selection; what has no pieces says why.
	button("View").select(1)
	button("View").item_selected.emit(1)
	(button("Spread") as Slider).value = 0.8
	await frames(1)
	await select([])
	check(not tools().toolbar.visible, "toolbar_goes", "it stays")
	var torus := body("Torus")
	torus.material = MaterialResource.new()
	await select([torus])
	button("View").select(1)
	button("View").item_selected.emit(1)
	check(button("Message").text.contains("not breakable"), "preview_says_why_not", button("Message").text)
	torus.material = material("ceramic")


func _test_bake_from_the_toolbar() -> void:
	var torus := body("Torus")
	await select([torus])
	var bake: Button = button("Bake")
	bake.pressed.emit()
	var mesh := torus.mesh as DestructibleMesh
	check(mesh != null and mesh.is_baking() and mesh.source_mesh is TorusMesh, "toolbar_bakes", "the mesh is %s" % torus.mesh)
	if mesh == null:
		return
	await host._wait_for_bake(mesh)
	check(mesh.is_baked() and mesh.get_baked_splinter_count() > 5, "toolbar_baked", "it has %d splinters" % mesh.get_baked_splinter_count())
	mesh.element_count = 30000
	bake.pressed.emit()
	await frames(2)
	check(bake.text == "Cancel Bake", "toolbar_can_cancel", "it says " + bake.text)
	bake.pressed.emit()
	await host._wait_for_bake(mesh)
	check(mesh.get_tet_count() < 5000 and bake.text == "Bake", "toolbar_cancels", "%d tets" % mesh.get_tet_count())
	history().undo()
	history().undo()
	await frames(2)
	check(torus.mesh is TorusMesh, "undo_the_bake", "the mesh is %s" % torus.mesh)


## The first time and again; the editor's own work for the inspector included.
func _test_selecting_takes_no_time() -> void:
	var big: DestructibleBody = add(DestructibleBody.new(), "Big", Vector3(0, 0.5, -3))
	big.material = material("oak")
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = SphereMesh.new()
	mesh.element_count = 5000
	mesh.splinter_pattern = DestructibleMesh.SPLINTERS_VORONOI
	mesh.bake()
	big.mesh = mesh
	await frames(5)
	await select([])
	var spent := INF # the least of some: other programs take time, too
	for i in 4:
		EditorInterface.get_selection().add_node(big)
		var start := Time.get_ticks_usec()
		tools()._on_selection_changed()
		tools().gizmos.triangles_of(big)
		big.get_estimate()
		spent = minf(spent, (Time.get_ticks_usec() - start) * 1e-3)
		await select([])
	print("  selecting %d tets: %.1f ms of the addon" % [mesh.get_tet_count(), spent])
	check(spent < 50.0, "selecting_5000_tets", "%.1f ms" % spent)
	await select([])
	big.free()
