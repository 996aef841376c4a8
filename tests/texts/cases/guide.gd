extends "res://text_case.gd"
## The examples in the addon's guide.


func test_making_things_break_1() -> void:
	add_level()
	var node := node_with(text_of("guide.making_things_break_1.gdscript"))
	scene.add_child(node)
	node.run()
	await ticks(5)
	var window: DestructibleBody = node.get_child(0)
	check(window.is_simulated() and absf(window.get_center_of_mass().y - 1.0) < 0.05, "the window is not held")
	DestructionServer.apply_explosion(Vector3(0, 1.2, 0.8), 3.0, 3e4)
	check(await wait_for_pieces(window, 3, 2.0), "the window is in %d pieces" % window.get_piece_count())
	check(printed.text.contains("m² of new faces"), "nothing was printed")


func test_tuning_a_material_1() -> void:
	var node := node_with(text_of("guide.tuning_a_material_1.gdscript"))
	node.run()
	node.free()
	var lines := printed.text.strip_edges().split("\n") # before it Godot may say what it loads
	var numbers := lines[-1].split(" and ")
	if check_equal(numbers.size(), 2, "numbers printed"):
		check_near(numbers[0].to_float(), numbers[1].to_float(), 1e-4, "strain at break")


func test_performance_1() -> void:
	var node := node_with(text_of("guide.performance_1.gdscript"))
	scene.add_child(node)
	var body := add_slab("oak.tres")
	body.reparent(node)
	node.set_owner(null)
	body.owner = node
	node.run()
	check_equal(body.debris_cap, 40, "debris_cap")
	check(printed.text.contains(" ms"), "nothing was printed")
	await ticks(2)


func test_performance_2() -> void:
	var node := node_with(text_of("guide.performance_2.gdscript"))
	scene.add_child(node)
	var body := add_slab("concrete.tres")
	body.reparent(node)
	node.set_owner(null)
	body.owner = node
	await ticks(2)
	node.run()
	check_equal(body.dynamics, DestructibleBody.DYNAMICS_AUTO, "dynamics near by")
	body.global_position.x += 100.0
	await ticks(3)
	node.run()
	check_equal(body.dynamics, DestructibleBody.DYNAMICS_RIGID_PIECES, "dynamics far away")
	await ticks(2)
	check(body.get_piece_count() > 1, "one piece far away")
	body.global_position.x -= 100.0
	await ticks(2)
	node.run()
	await ticks(2)
	check_equal(body.get_piece_count(), 1, "pieces near by")


func test_saving_1() -> void:
	add_level()
	var node := node_with(text_of("guide.saving_1.gdscript"))
	scene.add_child(node)
	var body := add_slab("pane_glass.tres", 1.0, 0.0)
	body.reparent(node)
	body.owner = node
	await ticks(3)
	body.apply_explosion(body.position - Vector3(0, 0.4, 0), 3.0, 3e4)
	await ticks(10)
	var pieces := body.get_piece_count()
	node.run()
	check(pieces > 1 and body.get_piece_count() == pieces, "%d pieces, %d after loading" % [pieces, body.get_piece_count()])
