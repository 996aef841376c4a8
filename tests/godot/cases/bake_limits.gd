extends "res://test_case.gd"
## Bodies of many tetrahedra: a slip in element_count must not stop the game.

const MAX := 100000


## A body that bakes its own DestructibleMesh, which tells what becomes of the bake.
func _add_large(mesh: DestructibleMesh) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = mesh
	scene.add_child(body)
	return body


func _large_mesh() -> DestructibleMesh:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = TorusMesh.new()
	mesh.element_count = MAX
	return mesh


## False when the bake goes on for more than some seconds.
func _bake_ends(mesh: DestructibleMesh) -> bool:
	for i in 1000:
		if not mesh.is_baking():
			return true
		OS.delay_msec(5)
		await tree.process_frame
	return false


func test_a_slip_does_not_stop_the_game() -> void:
	print("--one warning: an element_count of two thousand million")
	var body := DestructibleBody.new()
	body.name = "Slip"
	body.mesh = TorusMesh.new()
	body.element_count = 2_000_000_000
	if not check_equal(body.element_count, MAX, "element_count"):
		body.free()
		print("--warning end")
		return
	var began := Time.get_ticks_msec()
	scene.add_child(body)
	check(Time.get_ticks_msec() - began < 3000, "it enters the tree in %d ms" % (Time.get_ticks_msec() - began))
	print("--warning end")
	check(not body.is_simulated(), "it was baked at once")
	await ticks(5)
	began = Time.get_ticks_msec()
	body.free()
	check(Time.get_ticks_msec() - began < 1000, "it is freed in %d ms" % (Time.get_ticks_msec() - began))
	await ticks(5)


func test_a_slip_in_a_mesh() -> void:
	print("--one warning: an element_count of too many in a mesh")
	var mesh := DestructibleMesh.new()
	mesh.element_count = 9_000_000_000_000
	check_equal(mesh.element_count, MAX, "element_count")
	await ticks(2)
	print("--warning end")
	mesh.element_count = 500
	check_equal(mesh.element_count, 500, "element_count")


func test_many_elements_bake_in_the_background() -> void:
	var body := DestructibleBody.new()
	body.mesh = TorusMesh.new()
	body.element_count = 21000
	scene.add_child(body)
	check(not body.is_simulated(), "it was baked at once")
	for i in 2000:
		if body.is_simulated():
			break
		OS.delay_msec(5)
		await tree.process_frame
	check(body.is_simulated() and body.get_tet_count() > 15000, "it is never simulated")


func test_a_bake_ends_with_the_body_that_waits_for_it() -> void:
	var mesh := _large_mesh()
	var ends: Array[Error] = []
	mesh.bake_finished.connect(func(error: Error, _message: String) -> void: ends.append(error))
	var first := _add_large(mesh)
	var second := _add_large(mesh)
	check(mesh.is_baking(), "no bake is under way")
	first.free()
	await tree.process_frame
	await tree.process_frame
	check(ends.is_empty(), "it ends although another body waits: %s" % [ends])
	# Moved within the tree in one frame.
	scene.remove_child(second)
	scene.add_child(second)
	await tree.process_frame
	check(ends.is_empty(), "it ends when a body is moved: %s" % [ends])
	second.free()
	check(await _bake_ends(mesh), "it goes on without a body")
	check_equal(ends, [ERR_SKIP], "bake_finished")
	check(not mesh.is_baked(), "a cancelled bake has a result")


func test_a_cancelled_bake_begins_anew() -> void:
	var mesh := _large_mesh()
	mesh.element_count = 21000
	var body := _add_large(mesh)
	scene.remove_child(body)
	await tree.process_frame # it is cancelled, and perhaps not at its end yet
	scene.add_child(body)
	check(mesh.is_baking(), "no bake is under way")
	check(await _bake_ends(mesh), "the bake does not end")
	check(mesh.is_baked() and body.is_simulated(), "the body is not simulated")


## A bake that a script began is the script's.
func test_a_bake_of_a_script_goes_on() -> void:
	var mesh := _large_mesh()
	mesh.element_count = 3000
	check_equal(mesh.bake_async(), OK, "bake_async")
	var body := DestructibleBody.new()
	body.bake_in_background = true
	body.mesh = mesh
	scene.add_child(body)
	body.free()
	check(await _bake_ends(mesh) and mesh.is_baked(), "it was cancelled with a body")


## What an export keeps of a plain mesh is what the game would have baked.
func test_bake_mesh_is_what_the_body_bakes() -> void:
	var bodies: Array[DestructibleBody] = []
	for i in 2:
		var body := DestructibleBody.new()
		body.mesh = CylinderMesh.new()
		body.element_count = 300
		body.material = load("res://addons/fem_destruction/materials/oak.tres")
		if i == 1:
			body.mesh = body.bake_mesh()
		body.freeze = true
		scene.add_child(body)
		bodies.append(body)
	check(bodies[1].mesh is DestructibleMesh and bodies[1].mesh.get_baked_splinter_count() > 1, "there are no splinters")
	check(bodies[0].get_node_positions() == bodies[1].get_node_positions(), "the nodes are others")
	check(bodies[0].get_splinter_vertex_positions() == bodies[1].get_splinter_vertex_positions(), "the splinters are others")
	expect_errors("nothing to bake", ["has nothing to bake", "plain Mesh"])
	check(bodies[1].bake_mesh() == null, "a DestructibleMesh was baked")
	errors_end()
