extends "res://text_case.gd"
## The examples in the class reference.


func test_destructible_mesh_1() -> void:
	var node := node_with(text_of("class_reference.destructible_mesh_1.gdscript"))
	scene.add_child(node)
	node.run()
	await ticks(2)
	if check_equal(node.get_child_count(), 1, "bodies added"):
		var body: DestructibleBody = node.get_child(0)
		check(body.is_simulated() and body.get_tet_count() > 500, "the body has %d tetrahedra" % body.get_tet_count())


## Goes on from the first: the settings are made before the bake.
func test_destructible_mesh_2() -> void:
	ResourceSaver.save(StandardMaterial3D.new(), "res://split_oak.tres")
	var before := "var mesh := DestructibleMesh.new()\nset_meta(\"mesh\", mesh)\n"
	var node := node_with(text_of("class_reference.destructible_mesh_2.gdscript"), before)
	scene.add_child(node)
	node.run()
	var mesh: DestructibleMesh = node.get_meta("mesh")
	mesh.source_mesh = BoxMesh.new()
	mesh.element_count = 300
	check_equal(mesh.bake(), OK, "bake()")
	check(mesh.get_baked_splinter_count() > 1, "it was cut into %d splinters" % mesh.get_baked_splinter_count())
	check(mesh.interior_material is StandardMaterial3D, "the cuts have no look")


func test_destruction_server_apply_bullet_1() -> void:
	add_level()
	var body := add_slab("pane_glass.tres", 0.6, 90.0)
	var node := node_with(text_of("class_reference.destruction_server_apply_bullet_1.gdscript"))
	node.muzzle = Vector3(5, 0.6, 0)
	node.direction = Vector3.LEFT
	scene.add_child(node)
	await ticks(10)
	node.run()
	check(await wait_for_pieces(body, 2, 2.0), "the pane that was shot at is in one piece")


func test_destruction_server_get_license_text_1() -> void:
	var node := node_with(text_of("class_reference.destruction_server_get_license_text_1.gdscript"))
	var credits := RichTextLabel.new()
	credits.name = "Credits"
	node.add_child(credits)
	scene.add_child(node)
	node.run()
	for words: String in ["Godot Engine contributors", "fem_destruction contributors", "Regents of the University of Minnesota",
			"END OF TERMS AND CONDITIONS", "Pierre Terdiman", "Russell L. Smith"]:
		check(credits.text.contains(words), "the credits do not name %s" % words)
