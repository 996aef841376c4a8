extends "res://test_case.gd"
## Boxes without a mesh are simulated while another thread cuts them into splinters. Each test has kinds of its own, since what
## was cut is kept.


func _box(size: float, height: float) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = Vector3.ONE * size
	body.material = MaterialResource.new()
	body.material.stiffness = 1e8
	body.material.density = 2000.0
	body.material.breakable = true
	body.material.toughness = 2e4
	body.material.splinter_pattern = MaterialResource.SPLINTERS_VORONOI
	body.transform = Transform3D(Basis(Vector3.BACK, 0.5), Vector3.UP * height)
	return body


func _awaited() -> int:
	return DestructionServer.get_statistics().splinters_awaited


## Ticks without work take no time here, and the other thread needs some.
func _wait_until_cut() -> void:
	for i in 1500:
		if _awaited() == 0:
			return
		OS.delay_msec(20)
		await ticks(1)


func _vertices(body: DestructibleBody) -> int:
	return body.get_splinter_vertex_positions().size()


func test_nothing_waits_for_the_cut() -> void:
	var bodies: Array[DestructibleBody] = []
	for i in 3:
		var body := _box(1.01, 1.2)
		body.position.x = 3.0 * i
		body.gravity_scale = 0.0
		scene.add_child(body)
		bodies.append(body)
		check(body.is_simulated(), "box %d is not simulated at once" % i)
	check_equal(_awaited(), 3, "boxes that await their splinters")
	await _wait_until_cut()
	check_equal(_awaited(), 0, "boxes that still await their splinters")
	check_equal(_vertices(bodies[2]), 0, "vertices of splinters of a whole box")
	var late := _box(1.01, 1.2)
	late.position.x = 12.0
	scene.add_child(late)
	check_equal(_awaited(), 0, "boxes of a kind that is cut which await splinters")
	bodies.append(late)
	for body in bodies:
		body.start_velocity = Vector3(0, -12, 0)
		body.reset()
	await ticks(20)
	for body in bodies:
		check(body.get_piece_count() > 1, "%d pieces" % body.get_piece_count())
		check(_vertices(body) > 1000, "%d vertices of splinters" % _vertices(body))


## It is only waited for when something is to be seen of it.
func test_a_box_that_breaks_first_has_splinters() -> void:
	var body := _box(1.02, 1.2)
	body.start_velocity = Vector3(0, -12, 0)
	scene.add_child(body)
	for i in 60:
		await ticks(1)
		if body.get_piece_count() > 1:
			break
	check(body.get_piece_count() > 1, "%d pieces" % body.get_piece_count())
	check_equal(_awaited(), 0, "boxes that await their splinters")
	check(_vertices(body) > 1000, "%d vertices of splinters" % _vertices(body))


func test_in_the_background_nothing_ever_waits() -> void:
	var body := _box(1.03, 1.2)
	body.bake_in_background = true
	body.start_velocity = Vector3(0, -12, 0)
	scene.add_child(body)
	await ticks(20)
	body.freeze = true # no crack after the cut tells of splinters
	check(body.get_piece_count() > 1, "%d pieces" % body.get_piece_count())
	var pieces := body.get_piece_count()
	await _wait_until_cut()
	await ticks(1)
	check_equal(_awaited(), 0, "boxes that still await their splinters")
	check(body.get_piece_count() >= pieces, "the pieces are gone")
	check(_vertices(body) > 1000, "%d vertices of splinters" % _vertices(body))
	for vertex in body.get_splinter_vertex_positions():
		if vertex.is_finite() and vertex.length() > 50.0:
			check(false, "a vertex is at %s" % vertex)
			break


## Many kinds are cut by turns; bodies that go meanwhile take nothing with them.
func test_bodies_that_come_and_go() -> void:
	var bodies: Array[DestructibleBody] = []
	for i in 8:
		var body := _box(0.9 + 0.001 * i, 1.0)
		body.cells = Vector3i(2, 2, 2)
		body.position.x = 2.0 * i
		scene.add_child(body)
		bodies.append(body)
	await ticks(1)
	bodies[0].free()
	bodies[1].cells = Vector3i(1, 2, 2)
	bodies[2].queue_free()
	bodies[3].material.splinter_pattern = MaterialResource.SPLINTERS_NONE
	bodies[4].material.breakable = false
	scene.remove_child(bodies[5])
	await ticks(2)
	bodies[5].free()
	await _wait_until_cut()
	check_equal(_awaited(), 0, "boxes that still await their splinters")
	for i in [1, 6, 7]:
		check(bodies[i].is_simulated() and positions_are_finite(bodies[i]), "box %d is not well" % i)


## A state that was saved before there were splinters.
func test_state_of_before_the_cut() -> void:
	var body := _box(1.04, 1.2)
	scene.add_child(body)
	check_equal(_awaited(), 1, "boxes that await their splinters")
	var state := body.get_state()
	await _wait_until_cut()
	body.start_velocity = Vector3(0, -12, 0)
	body.reset()
	await ticks(20)
	check(_vertices(body) > 1000, "%d vertices of splinters" % _vertices(body))
	check_equal(body.set_state(state), OK, "the result of set_state()")
	check_equal(_vertices(body), 0, "vertices of splinters of the state of before")
	body.apply_impulse(Vector3(0, -20.0 * body.get_mass(), 0), body.get_center_of_mass())
	await ticks(20)
	check(body.get_piece_count() > 1, "%d pieces" % body.get_piece_count())
	check(_vertices(body) > 1000, "%d vertices of splinters after that" % _vertices(body))
