extends "res://text_case.gd"
## Sentences outside lists and blocks that tell a user what to call.

const README := "README.md"
const ADDON := "addon_README.md"


func _written(file: String, words: String) -> String:
	check(FileAccess.get_file_as_string("res://texts/" + file).contains(words), "%s no longer says \"%s\": check what it says now" % [file, words])
	return words


## Runs one expression as it is written and returns its value.
func _value_of(expression: String, before := "") -> Variant:
	var node := node_with("set_meta(\"value\", %s)\n" % expression, before)
	scene.add_child(node)
	node.run()
	return node.get_meta("value", null)


func test_command_line_bake() -> void:
	var mesh: DestructibleMesh = _value_of(_written(README, 'DestructibleMesh.load_baked("res://statue.femmesh")'))
	if check(mesh != null, "what fem_bake wrote does not load"):
		check(mesh.get_tet_count() > 500, "it has %d tetrahedra" % mesh.get_tet_count())
		var before := 'var mesh := DestructibleMesh.load_baked("res://statue.femmesh")\n'
		var inside: Mesh = _value_of(_written(README, "mesh.get_exploded_mesh(0.2, Plane(Vector3.BACK, 0.0))"), before)
		check(inside != null and inside.get_surface_count() > 0, "there is nothing to see inside")


func test_explosion() -> void:
	_written(README, "`DestructionServer.apply_explosion(position, radius, strength)` pushes, and when it is strong enough breaks, everything near")
	add_level()
	var pane := add_slab("pane_glass.tres", 1.2, 90.0)
	pane.anchors = [AABB(Vector3(-1.1, -0.1, -0.3), Vector3(0.2, 0.2, 0.6))]
	var ball := RigidBody3D.new()
	ball.position = Vector3(-1, 0.7, 2)
	ball.add_child(CollisionShape3D.new())
	ball.get_child(0).shape = SphereShape3D.new()
	scene.add_child(ball)
	await ticks(30)
	check_equal(DestructionServer.apply_explosion(Vector3(0.8, 1.2, 0), 4.0, 1000.0), 2, "bodies reached")
	check(await wait_for_pieces(pane, 2, 2.0), "a pane beside a blast is in one piece")
	check(ball.linear_velocity.length() > 0.1, "the ball beside it does not move")


func test_invulnerable_until_triggered() -> void:
	_written(README, "*Invulnerable* holds a body together until `trigger()`")
	add_level()
	var body := add_slab("ceramic.tres")
	body.invulnerable = true
	await seconds(2.0)
	check_equal(body.get_piece_count(), 1, "pieces of an invulnerable slab")
	body.trigger()
	body.position.y += 3.0
	body.rotation_degrees.z = 45.0
	check(await wait_for_pieces(body, 2, 3.0), "after trigger() it still holds together")


func test_state_brings_back_the_cracks() -> void:
	_written(README, "`get_state()` and `set_state()` save and bring back a body with all its cracks")
	add_level()
	var body := add_slab("ceramic.tres")
	await wait_for_pieces(body, 10, 3.0)
	var state: Variant = body.get_state()
	var count := body.get_piece_count()
	var place := body.get_center_of_mass()
	body.reset()
	await ticks(2)
	check_equal(body.get_piece_count(), 1, "pieces of a body that was reset")
	body.set_state(state)
	check(count >= 10, "%d pieces were saved" % count)
	check_equal(body.get_piece_count(), count, "pieces that came back")
	check_near_vector(body.get_center_of_mass(), place, 0.01, "where they are")


func test_anchors_hold() -> void:
	_written(README, "A pane in its frame or a post in the ground is held by *Anchors*, boxes in the body's own space.")
	var post := DestructibleBody.new()
	post.size = Vector3(0.2, 2, 0.2)
	post.cells = Vector3i(2, 8, 2)
	post.material = load(MATERIALS.path_join("oak.tres"))
	post.anchors = [AABB(Vector3(-0.2, -1.1, -0.2), Vector3(0.4, 0.3, 0.4))]
	scene.add_child(post)
	await seconds(1.0)
	check_near_vector(post.get_center_of_mass(), Vector3.ZERO, 0.01, "centre of a post in the ground, with no floor")


func test_materials_there_are() -> void:
	_written(ADDON, "the folder `materials` has twenty-one ready ones, from jelly to steel.")
	check_equal(Array(DirAccess.get_files_at(MATERIALS)).filter(func(file: String) -> bool: return file.ends_with(".tres")).size(), 21, "materials")


func test_licences_to_show() -> void:
	for file: String in [README, ADDON]:
		_written(file, "`DestructionServer.get_license_text()`")
		_written(file, "`Engine.get_license_text()`")
	var text := DestructionServer.get_license_text()
	for part: String in ["LICENSE", "THIRD_PARTY.md"]:
		var full := FileAccess.get_file_as_string("res://addons/fem_destruction/" + part)
		check(full.length() > 1000 and text.contains(full), "get_license_text() does not hold all of " + part)
