extends "res://test_case.gd"
## Blows, states and new materials for bodies that sleep, are frozen, paused or invulnerable, or have left the tree.

const BAR := Vector3(2.0, 0.2, 0.2)
const HIGH := Vector3(0, 5, 0)


func _bar(material: MaterialResource, cells := Vector3i(20, 2, 2)) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = BAR
	body.cells = cells
	body.position = HIGH
	body.material = material
	return body


func _stiff(toughness := 0.0) -> MaterialResource:
	var material := MaterialResource.new()
	material.stiffness = 1e8
	material.damping = 0.003
	material.breakable = toughness > 0.0
	material.toughness = maxf(toughness, 1.0)
	return material


func _held_bar(toughness: float) -> DestructibleBody:
	var body := _bar(_stiff(toughness))
	body.anchors = [AABB(Vector3(-1.01, -0.2, -0.2), Vector3(0.12, 0.4, 0.4))]
	scene.add_child(body)
	return body


func _hit(body: DestructibleBody) -> void:
	body.apply_impulse(Vector3(0, -600, 0), body.position + Vector3(0.95, 0, 0))


func _largest_displacement(a: PackedVector3Array, b: PackedVector3Array) -> float:
	var largest := 0.0
	for i in a.size():
		largest = maxf(largest, a[i].distance_to(b[i]))
	return largest


## All ways to push, one at a time.
func _pushes(body: DestructibleBody) -> Array[Callable]:
	var at := body.get_center_of_mass()
	return [
		body.apply_central_impulse.bind(Vector3(5000, 0, 0)),
		body.apply_impulse.bind(Vector3(5000, 0, 0), at),
		body.apply_explosion.bind(at + Vector3(1, 0, 0), 3.0, 5000.0),
		DestructionServer.apply_explosion.bind(at + Vector3(1, 0, 0), 3.0, 5000.0),
		body.apply_force.bind(Vector3(1e5, 0, 0), at),
		body.apply_central_force.bind(Vector3(1e5, 0, 0)),
		body.apply_bullet.bind(at + Vector3(0.5, 0, 0), Vector3.LEFT, 1e5),
	]


func test_nothing_moves_a_frozen_body() -> void:
	var body := add_body(HIGH)
	body.gravity_scale = 0.0
	body.freeze = true
	await ticks(2)
	var before := body.get_node_positions()
	for push in _pushes(body):
		push.call()
		await ticks(5)
		check(_largest_displacement(before, body.get_node_positions()) < 1e-5, "%s moves it" % push.get_method())
	body.freeze = false
	await ticks(5)
	check_near(body.get_linear_velocity().length(), 0.0, 1e-3, "velocity when let go")


## As with Godot's own bodies, the velocity changes at once and shows when time goes on.
func test_impulses_wait_for_the_end_of_a_pause() -> void:
	var body := add_body(HIGH)
	add_body(HIGH + Vector3(5, 0, 0)) # goes on meanwhile
	body.gravity_scale = 0.0
	await ticks(2)
	for is_all_paused: bool in [true, false]:
		tree.paused = is_all_paused
		body.process_mode = Node.PROCESS_MODE_INHERIT if is_all_paused else Node.PROCESS_MODE_DISABLED
		await ticks(2)
		var before := body.get_node_positions()
		var velocity := body.get_linear_velocity()
		body.apply_central_impulse(Vector3(0, 0, 1000))
		body.apply_impulse(Vector3(0, 0, 500), body.get_center_of_mass())
		await ticks(10)
		check(_largest_displacement(before, body.get_node_positions()) < 1e-5, "it moves while it is paused")
		tree.paused = false
		body.process_mode = Node.PROCESS_MODE_INHERIT
		await ticks(2)
		check_near(body.get_linear_velocity().z, 1.5 if is_all_paused else 3.0, 0.02, "velocity after the pause")


## A body of many parts must not take those that still sleep for a wall.
func test_blows_move_sleepers_as_others() -> void:
	for kind in 3:
		var momenta: Array[float] = []
		for is_asleep: bool in [false, true]:
			var body := _bar(_stiff(), Vector3i(30, 4, 4))
			body.gravity_scale = 0.0
			body.start_asleep = is_asleep
			scene.add_child(body)
			await ticks(2)
			check_equal(body.is_asleep(), is_asleep, "whether it sleeps")
			var at := body.get_center_of_mass() + Vector3(0.9, 0, 0)
			match kind:
				0: body.apply_impulse(Vector3(0, 0, 60), at)
				1: body.apply_explosion(at + Vector3(0, 0, -0.6), 2.0, 2000.0)
				2: DestructionServer.apply_explosion(at + Vector3(0, 0, -0.6), 2.0, 2000.0)
			await ticks(5)
			momenta.append(body.get_linear_velocity().z * body.get_mass())
			body.free()
			await ticks(2)
		check(momenta[0] > 20.0, "way %d gives it %.1f N s" % [kind, momenta[0]])
		check_near(momenta[1], momenta[0], 0.02 * momenta[0], "momentum of a sleeper, way %d" % kind)


func test_a_small_blow_leaves_most_of_a_sleeper_asleep() -> void:
	var body := _bar(_stiff(), Vector3i(30, 4, 4))
	body.gravity_scale = 0.0
	body.start_asleep = true
	scene.add_child(body)
	await ticks(2)
	body.apply_impulse(Vector3(0, 0, 0.5), body.get_center_of_mass() + Vector3(0.9, 0, 0))
	await ticks(1)
	var live: int = DestructionServer.get_statistics().live_nodes
	check(live > 0 and live < body.get_node_count() / 2, "%d of %d nodes are awake" % [live, body.get_node_count()])


## What was shot at while nothing could hurt it is as strong as ever afterwards.
func test_bullets_do_not_weaken_the_invulnerable() -> void:
	var nodes: Array[PackedVector3Array] = []
	for is_shot: bool in [false, true]:
		var body := _held_bar(1e7)
		body.invulnerable = true
		await ticks(2)
		for i in 4:
			var at := body.position + Vector3(-0.6 + 0.02 * i, 0.1, 0)
			if is_shot:
				body.apply_bullet(at, Vector3.DOWN, 1.0)
			else:
				body.apply_impulse(Vector3(0, -2.0 / 300.0, 0), at) # of a bullet of 300 m/s
		body.trigger()
		_hit(body)
		await ticks(40)
		nodes.append(body.get_node_positions())
		body.free()
		await ticks(2)
	check(nodes[0] == nodes[1], "bullets weakened it: %d nodes instead of %d" % [nodes[1].size(), nodes[0].size()])
	# The same shots weaken what is not.
	var hurt := _held_bar(1e7)
	await ticks(2)
	for i in 4:
		hurt.apply_bullet(hurt.position + Vector3(-0.6 + 0.02 * i, 0.1, 0), Vector3.DOWN, 1.0)
	await ticks(40)
	check(hurt.get_node_count() > 21 * 9, "bullets do not weaken what can be hurt")


func test_out_of_the_tree() -> void:
	var body := add_body(HIGH)
	await ticks(2)
	var state := body.get_state()
	scene.remove_child(body)
	check(not body.is_simulated(), "a body outside the tree is said to be simulated")
	expect_errors("a state for a body outside the tree", [body.name, "put it into the tree"])
	check_equal(body.set_state(state), ERR_UNCONFIGURED, "result of set_state()")
	errors_end()
	scene.add_child(body)
	check(body.is_simulated(), "it does not come back")


func test_step_failed_is_told() -> void:
	var body := add_body(HIGH)
	var messages: Array[String] = []
	body.step_failed.connect(func(message: String) -> void: messages.append(message))
	body.apply_impulse(Vector3(3e38, 0, 0), body.position)
	body.apply_force(Vector3(3e38, 0, 0), body.position)
	await ticks(10)
	check_equal(messages.size(), 1, "number of step_failed signals")
	check(messages.size() > 0 and messages[0].contains("stiffness"), "it says no remedy: %s" % [messages])
	check(positions_are_finite(body), "it was not put back")
	await ticks(20)
	check(body.get_center_of_mass().y < 5.0, "it does not go on")


# -- Materials and splinters ------------------------------------------------------------------------------------------


func _plate(material: MaterialResource) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = Vector3(2, 0.1, 0.4)
	body.cells = Vector3i(12, 1, 3)
	body.material = material
	body.transform = Transform3D(Basis(Vector3.BACK, 0.5), Vector3(0, 5, 0))
	scene.add_child(body)
	return body


func _ceramic(pattern: MaterialResource.SplinterPattern) -> MaterialResource:
	var material: MaterialResource = load("res://addons/fem_destruction/materials/ceramic.tres").duplicate()
	material.splinter_pattern = pattern
	return material


func _check_splinters(body: DestructibleBody, what: String) -> void:
	for i in 120:
		await tree.physics_frame
		if body.get_piece_count() > 1:
			break
	await ticks(5)
	check(body.get_piece_count() > 1, "it does not break: " + what)
	check(body.get_splinter_vertex_positions().size() > 0, "it breaks without splinters: " + what)


## Scripts often add the node first and give it a material then.
func test_a_material_given_later_brings_its_splinters() -> void:
	var box := _plate(null)
	var start := box.get_node_positions()
	await ticks(5)
	var velocity := box.get_linear_velocity()
	box.material = _ceramic(MaterialResource.SPLINTERS_VORONOI)
	check_near_vector(box.get_linear_velocity(), velocity, 1e-5, "velocity with the new material")
	check(box.get_node_positions()[0].y < start[0].y, "it starts over")
	await _check_splinters(box, "box")
	box.free()
	var outside := _plate(null)
	await ticks(2)
	scene.remove_child(outside)
	outside.material = _ceramic(MaterialResource.SPLINTERS_VORONOI)
	scene.add_child(outside)
	await _check_splinters(outside, "given outside the tree")
	outside.free()
	var plain := DestructibleBody.new()
	plain.mesh = BoxMesh.new()
	plain.mesh.size = Vector3(2, 0.1, 0.4)
	plain.element_count = 200
	plain.transform = Transform3D(Basis(Vector3.BACK, 0.5), Vector3(0, 5, 0))
	scene.add_child(plain)
	await ticks(2)
	plain.material = _ceramic(MaterialResource.SPLINTERS_VORONOI)
	await _check_splinters(plain, "plain mesh")


func test_a_pattern_changed_during_play() -> void:
	var body := _plate(_ceramic(MaterialResource.SPLINTERS_NONE))
	var lamp := Node3D.new()
	scene.add_child(lamp)
	lamp.position = body.get_center_of_mass()
	body.attach_node(lamp)
	await ticks(5)
	body.material.splinter_pattern = MaterialResource.SPLINTERS_VORONOI
	await ticks(5)
	check_near_vector(lamp.position, body.get_center_of_mass(), 0.02, "what rides on it")
	await _check_splinters(body, "pattern changed")
	# What is broken stays as it is.
	var vertices := body.get_splinter_vertex_positions().size()
	body.material.splinter_pattern = MaterialResource.SPLINTERS_GLASS
	await ticks(2)
	check_equal(body.get_splinter_vertex_positions().size(), vertices, "vertices of a broken body with another pattern")


func test_regions_bring_splinters() -> void:
	var body := _plate(null)
	body.region_materials = [_ceramic(MaterialResource.SPLINTERS_VORONOI)]
	await _check_splinters(body, "material of a region")


## States of the time when the material did not break, or the mesh was cut in another way.
func test_states_and_other_materials() -> void:
	var body := _held_bar(2e5)
	body.material.breakable = false
	await ticks(2)
	var state := body.get_state()
	body.material.breakable = true
	check_equal(body.set_state(state), OK, "result of set_state()")
	_hit(body)
	await ticks(40)
	check(body.get_piece_count() > 1, "it cannot break any more")


func _cut_mesh(seed: int, count: int) -> DestructibleMesh:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = BoxMesh.new()
	mesh.source_mesh.size = BAR
	mesh.element_count = 200
	mesh.splinter_pattern = DestructibleMesh.SPLINTERS_VORONOI
	mesh.splinter_seed = seed
	mesh.splinter_count = count
	check_equal(mesh.bake(), OK, "bake")
	return mesh


func test_a_state_from_before_the_mesh_was_cut_anew() -> void:
	var body := _bar(_stiff(2e5))
	body.mesh = _cut_mesh(1, 40)
	body.anchors = [AABB(Vector3(-1.01, -0.2, -0.2), Vector3(0.12, 0.4, 0.4))]
	scene.add_child(body)
	await ticks(2)
	_hit(body)
	await ticks(20)
	check(body.get_piece_count() > 1, "the bar does not break")
	var state := body.get_state()
	var other := _cut_mesh(2, 90)
	body.mesh = other
	check_equal(body.set_state(state), OK, "result of set_state()")
	var vertices := body.get_splinter_vertex_positions()
	check_equal(vertices.size(), other.get_splinter_positions().size(), "vertices of the splinters")
	var places: Array[AABB] = []
	for piece in body.get_pieces():
		places.append((body.get_piece_data(piece).box as AABB).grow(0.1))
	var lost := 0
	for vertex in vertices:
		lost += int(vertex.is_finite() and not places.any(func(box: AABB) -> bool: return box.has_point(vertex)))
	check_equal(lost, 0, "vertices that are at no piece")
