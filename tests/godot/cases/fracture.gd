extends "res://test_case.gd"
## Bodies that break: signals, pieces, limits, and what games do meanwhile.

const BAR := Vector3(2.0, 0.2, 0.2)
const BAR_CELLS := Vector3i(20, 2, 2)
const HIGH := Vector3(0, 5, 0)
## Pa. Its own weight alone bends the bar with 5e5 Pa.
const WEAK := 2e5

var _seen: Array[Dictionary] = []


func _brittle(toughness := 1.5e6) -> MaterialResource:
	var material := MaterialResource.new()
	material.stiffness = 1e8
	material.damping = 0.003
	material.breakable = true
	material.toughness = toughness
	return material


## A bar held at its left end.
func _add_bar(material: MaterialResource, position := HIGH) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = BAR
	body.cells = BAR_CELLS
	body.position = position
	body.material = material
	body.anchors = [AABB(Vector3(-1.01, -0.2, -0.2), Vector3(0.12, 0.4, 0.4))]
	scene.add_child(body)
	return body


func _watch(body: DestructibleBody) -> void:
	_seen.clear()
	body.fractured.connect(func(point: Vector3, normal: Vector3, energy: float, area: float) -> void:
		_seen.append({kind = "fractured", point = point, normal = normal, energy = energy, area = area}))
	body.piece_detached.connect(func(piece: int) -> void:
		_seen.append({kind = "detached", piece = piece}))


func _hit(body: DestructibleBody) -> void:
	body.apply_impulse(Vector3(0, -600, 0), body.position + Vector3(0.95, 0, 0))


## Hits the bar until it is in two or more pieces.
func _break(body: DestructibleBody) -> bool:
	_hit(body)
	for i in 60:
		await tree.physics_frame
		if body.get_piece_count() > 1:
			return true
	return check(false, "the bar does not break")


func test_a_bar_breaks_and_says_so() -> void:
	var body := _add_bar(_brittle())
	var mass := body.get_mass()
	_watch(body)
	await ticks(10)
	check_equal(_seen.size(), 0, "signals before the blow")
	check_equal(body.get_pieces(), PackedInt32Array([1]), "pieces before the blow")
	var nodes := body.get_node_count()
	if not await _break(body):
		return
	await ticks(5)
	check(body.get_node_count() > nodes, "no node was split")
	check_near(body.get_mass(), mass, 1e-3 * mass, "mass of all")
	var box := AABB(body.position - BAR / 2, BAR).grow(2.0) # the tip goes 1.3 m while it breaks
	var fractures := 0
	var detached := PackedInt32Array()
	for event in _seen:
		if event.kind == "fractured":
			fractures += 1
			check(box.has_point(event.point), "the crack is at %s" % event.point)
			check_near(event.normal.length(), 1.0, 1e-3, "length of the normal")
			check(event.energy > 0.0 and event.energy < 1e5, "the energy is %s J" % event.energy)
			check(event.area > 1e-4 and event.area < 5.0, "the area is %s m²" % event.area)
		else:
			detached.append(event.piece)
	check(fractures > 0, "no fractured signal")
	check_equal(detached.size(), body.get_piece_count() - 1, "piece_detached signals")
	for piece in detached:
		check(body.get_pieces().has(piece), "piece %d is not listed" % piece)
	check(DestructionServer.get_statistics().pieces >= body.get_piece_count(), "the statistics know of no pieces")


func test_one_fractured_signal_a_tick() -> void:
	var body := _add_bar(_brittle(WEAK))
	var ticks_seen := {}
	body.fractured.connect(func(_point: Vector3, _normal: Vector3, _energy: float, _area: float) -> void:
		var tick := Engine.get_physics_frames()
		ticks_seen[tick] = ticks_seen.get(tick, 0) + 1)
	await _break(body)
	for tick: int in ticks_seen:
		check_equal(ticks_seen[tick], 1, "signals in one tick")


func test_what_does_not_break() -> void:
	var material := _brittle()
	material.breakable = false
	var body := _add_bar(material)
	_watch(body)
	_hit(body)
	await ticks(60)
	check_equal(_seen.size(), 0, "signals of an unbreakable bar")
	check_equal(body.get_piece_count(), 1, "pieces of an unbreakable bar")
	expect_errors("removing the only piece")
	body.remove_piece(1)
	errors_end()


func test_breakable_switched_during_play() -> void:
	var material := _brittle()
	material.breakable = false
	var body := _add_bar(material)
	body.debris_cap = 1
	body.debris_fade = 0.0
	await ticks(5)
	material.breakable = true
	await _break(body)
	await ticks(30)
	check(_free_pieces(body) <= 2, "the cap is lost: %d free pieces" % _free_pieces(body))
	var other := _add_bar(_brittle(), HIGH + Vector3(0, 0, 3))
	other.material.toughness = 1e12
	_hit(other)
	await ticks(30)
	check_equal(other.get_piece_count(), 1, "pieces of a bar that became tough")


func test_piece_data() -> void:
	var body := _add_bar(_brittle())
	if not await _break(body):
		return
	await ticks(10)
	var mass := 0.0
	var volume := 0.0
	var tets := 0
	var attached := 0
	var positions := body.get_node_positions()
	for piece in body.get_pieces():
		var data := body.get_piece_data(piece)
		mass += data.mass
		volume += data.volume
		tets += data.tets.size()
		attached += int(data.attached)
		check(data.nodes.size() >= 4, "the piece has %d nodes" % data.nodes.size())
		for node: int in data.nodes:
			check(data.box.grow(1e-4).has_point(positions[node]), "node %d is outside of its piece" % node)
		check(data.box.grow(0.01).has_point(data.center), "the centre %s is outside %s" % [data.center, data.box])
		check(data.velocity.is_finite() and data.angular_velocity.is_finite(), "the velocity is %s" % data.velocity)
		check_near_vector(data.transform.origin, data.center, 1e-5, "origin of the transform")
		check_near(data.transform.basis.determinant(), 1.0, 1e-3, "determinant of the transform")
		check_equal(body.get_piece_transform(piece), data.transform, "get_piece_transform()")
		check(data.asleep == false, "a falling piece sleeps")
		if data.attached:
			check(data.center.x < body.position.x, "the piece at the wall is at %s" % data.center)
			check_near_vector(data.transform.basis.x, Vector3.RIGHT, 0.5, "axis of the piece at the wall")
	check_near(mass, body.get_mass(), 1e-3 * mass, "mass of all pieces")
	check_near(volume, 2.0 * 0.2 * 0.2, 1e-5, "volume of all pieces")
	check_equal(tets, body.get_tet_count(), "tets of all pieces")
	check_equal(attached, 1, "pieces that are held")
	expect_errors("a piece that is not there")
	check(body.get_piece_data(9999).is_empty(), "there are data of piece 9999")
	check_equal(body.get_piece_transform(-1), Transform3D.IDENTITY, "transform of piece -1")
	errors_end()


func test_remove_piece() -> void:
	var body := _add_bar(_brittle())
	if not await _break(body):
		return
	var mass := body.get_mass()
	var count := body.get_piece_count()
	for piece in body.get_pieces():
		var data := body.get_piece_data(piece)
		if not data.attached:
			body.remove_piece(piece)
			check_equal(body.get_piece_count(), count - 1, "pieces after removing one")
			check_near(body.get_mass(), mass - data.mass, 1e-3 * mass, "mass after removing one")
			check(not body.get_pieces().has(piece), "the removed piece is still listed")
			break
	await ticks(20)
	check(positions_are_finite(body), "positions are not finite")
	expect_errors("a piece that is gone")
	body.remove_piece(-5)
	errors_end()


func test_remove_pieces_in_their_signal() -> void:
	var body := _add_bar(_brittle(WEAK))
	body.piece_detached.connect(func(piece: int) -> void:
		if body.get_pieces().has(piece):
			body.remove_piece(piece))
	_hit(body)
	await ticks(60)
	check_equal(body.get_piece_count(), 1, "pieces when all that break off are removed")


func test_debris_cap_and_lifetime() -> void:
	var capped := _add_bar(_brittle(WEAK))
	capped.debris_cap = 2
	var short_lived := _add_bar(_brittle(WEAK), HIGH + Vector3(0, 0, 3))
	short_lived.debris_lifetime = 0.25
	var most := 0
	_hit(capped)
	_hit(short_lived)
	for i in 150:
		await tree.physics_frame
		most = maxi(most, short_lived.get_piece_count())
	check(_free_pieces(capped) <= 3, "%d free pieces with a cap of 2" % _free_pieces(capped))
	check(most > 1, "nothing broke off")
	# The largest piece and those at the wall are no debris.
	var old := 0
	for piece in short_lived.get_pieces():
		var data := short_lived.get_piece_data(piece)
		old += int(data.age > 0.3 and not data.attached)
	check(old <= 1, "%d of at most %d pieces are older than their lifetime" % [old, most])


## The largest is no debris, and may be among them.
func _free_pieces(body: DestructibleBody) -> int:
	var count := 0
	for piece in body.get_pieces():
		count += int(not body.get_piece_data(piece).attached)
	return count


func test_seeds_differ() -> void:
	var results: Array[PackedVector3Array] = []
	for fracture_seed: int in [1, 1, 2]:
		var body := _add_bar(_brittle(WEAK))
		body.fracture_seed = fracture_seed
		body.material.toughness_variation = 0.4
		_hit(body)
		await ticks(20)
		results.append(body.get_node_positions())
		body.free()
		await ticks(2)
	check(results[0] == results[1], "the same seed breaks differently")
	check(results[0] != results[2], "another seed breaks alike")


## A frozen bar bears a blow that breaks it as soon as it is let go.
func test_a_frozen_bar_stays_whole() -> void:
	var body := _add_bar(_brittle(WEAK))
	body.freeze = true
	_watch(body)
	_hit(body)
	var ball := add_body(body.position + Vector3(0.8, 0.8, 0))
	ball.start_velocity = Vector3(0, -15, 0)
	ball.reset()
	await ticks(30)
	check_equal(body.get_piece_count(), 1, "pieces while frozen")
	check_equal(_seen.size(), 0, "signals while frozen")
	ball.free()
	body.freeze = false
	await _break(body)
	check(_seen.size() > 0, "no signal when let go")


func test_free_in_the_own_signal() -> void:
	for kind in 2:
		var body := _add_bar(_brittle(WEAK))
		var call_free := func() -> void:
			if is_instance_valid(body) and not body.is_queued_for_deletion():
				body.queue_free()
		if kind == 0:
			body.fractured.connect(func(_p: Vector3, _n: Vector3, _e: float, _a: float) -> void: call_free.call())
		else:
			body.piece_detached.connect(func(_piece: int) -> void: call_free.call())
		_hit(body)
		await ticks(60)
		check(not is_instance_valid(body), "the body did not break")
	await ticks(2)
	check_equal(DestructionServer.get_statistics().bodies, 0, "bodies left")


func test_reset_in_the_own_signal() -> void:
	var body := _add_bar(_brittle(WEAK))
	var resets := [0]
	body.fractured.connect(func(_p: Vector3, _n: Vector3, _e: float, _a: float) -> void:
		resets[0] += 1
		body.reset())
	_hit(body)
	await ticks(20)
	check(resets[0] > 0, "the body did not break")
	check_equal(body.get_piece_count(), 1, "pieces after the reset")
	check_equal(body.get_node_count(), 21 * 3 * 3, "nodes after the reset")


func test_reload_while_breaking() -> void:
	var bytes: int = DestructionServer.get_statistics().memory_bytes # of bakes that are kept
	for round in 5:
		var body := _add_bar(_brittle(WEAK))
		_hit(body)
		await ticks(2 + round)
		body.reset()
		_hit(body)
		await ticks(2)
		scene.remove_child(body)
		if round % 2 == 0:
			await ticks(2)
		scene.add_child(body)
		_hit(body)
		await ticks(3)
		body.free()
	await ticks(2)
	check_equal(DestructionServer.get_statistics().bodies, 0, "bodies left")
	check_equal(DestructionServer.get_statistics().memory_bytes, bytes, "bytes left")


func test_pause_while_broken() -> void:
	var body := _add_bar(_brittle())
	var other := add_body(Vector3(0, 20, 0))
	if not await _break(body):
		return
	body.process_mode = Node.PROCESS_MODE_DISABLED
	await ticks(1)
	var before := body.get_node_positions()
	for piece in body.get_pieces():
		if not body.get_piece_data(piece).attached and body.get_piece_count() > 1:
			body.remove_piece(piece)
	await ticks(10)
	check(other.get_center_of_mass().y < 20.0, "the other body does not go on")
	check_near_vector(body.get_node_positions()[0], before[0], 1e-5, "a node of the held body")
	body.process_mode = Node.PROCESS_MODE_INHERIT
	await ticks(10)
	check(positions_are_finite(body), "positions are not finite")


func test_anchors_hold() -> void:
	var body := _add_bar(_brittle(1e9))
	await ticks(60)
	check(body.get_center_of_mass().y > 4.5, "the anchored bar fell to %s" % body.get_center_of_mass())
	body.anchors = []
	await ticks(60)
	check(body.get_center_of_mass().y < 3.0, "the bar without anchors does not fall")


func test_debug_drawing_of_tets() -> void:
	var body := _add_bar(_brittle(WEAK))
	body.debug_draw_tets = true
	await ticks(2)
	_hit(body)
	await ticks(20)
	body.debug_draw_tets = false
	await ticks(5)
	body.debug_draw_tets = true
	body.surface_material = StandardMaterial3D.new()
	body.reset()
	await ticks(5)
	check(body.is_simulated(), "the body is not simulated")


func test_a_baked_body_breaks() -> void:
	var source := BoxMesh.new()
	source.size = Vector3(1, 1, 0.05)
	source.material = StandardMaterial3D.new()
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = source
	mesh.element_count = 600
	check_equal(mesh.bake(), OK, "result of the bake")
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.material = _brittle(1e4)
	body.position = HIGH
	body.anchors = [AABB(Vector3(-0.6, -0.6, -0.1), Vector3(1.2, 0.15, 0.2)), AABB(Vector3(-0.6, 0.45, -0.1), Vector3(1.2, 0.15, 0.2))]
	scene.add_child(body)
	_watch(body)
	await ticks(5)
	body.apply_impulse(Vector3(0, 0, -60), body.position)
	await ticks(40)
	check(_seen.size() > 0, "the pane does not break")
	check(body.get_piece_count() > 1, "the pane stays in one piece")
	check_equal(body.get_vertex_positions().size(), 0, "vertices of the mesh, which is no longer drawn")
	check(positions_are_finite(body), "positions are not finite")


func test_strength_scale() -> void:
	var strong := _add_bar(_brittle())
	strong.strength_scale = 1000.0
	_hit(strong)
	await ticks(60)
	check_equal(strong.get_piece_count(), 1, "pieces of a bar made strong")
	strong.strength_scale = 1.0
	await _break(strong)


func test_invulnerable_until_triggered() -> void:
	var body := _add_bar(_brittle())
	body.invulnerable = true
	body.apply_damage(body.position, 5.0, 1.0)
	_hit(body)
	await ticks(60)
	check_equal(body.get_piece_count(), 1, "pieces of an invulnerable bar")
	body.trigger()
	check(not body.invulnerable, "trigger() leaves it invulnerable")
	await _break(body)


func test_damage_weakens() -> void:
	var whole := _add_bar(_brittle(4e7))
	var hurt := _add_bar(_brittle(4e7), HIGH + Vector3(0, 0, 3))
	hurt.apply_damage(hurt.position + Vector3(-0.6, 0, 0), 0.5, 1.0)
	_hit(whole)
	_hit(hurt)
	await ticks(60)
	check_equal(whole.get_piece_count(), 1, "pieces of the whole bar")
	check(hurt.get_piece_count() > 1, "the damaged bar does not break")
	expect_errors("damage that makes no sense")
	hurt.apply_damage(Vector3(NAN, 0, 0), 1.0, 1.0)
	hurt.apply_damage(Vector3.ZERO, -1.0, 1.0)
	errors_end()


func test_explosion_breaks() -> void:
	var body := _add_bar(_brittle(1e6))
	body.apply_explosion(body.position + Vector3(0.5, -0.6, 0), 3.0, 8000.0)
	await ticks(40)
	check(body.get_piece_count() > 1, "the explosion does not break the bar")


func test_state_of_a_broken_body() -> void:
	var body := _add_bar(_brittle())
	var whole := body.get_state()
	if not await _break(body):
		return
	await ticks(5)
	var broken := body.get_state()
	var pieces := body.get_pieces()
	var positions := body.get_node_positions()
	check_equal(body.set_state(whole), OK, "result of set_state()")
	check_equal(body.get_piece_count(), 1, "pieces of the bar made whole")
	await ticks(5)
	check_equal(body.set_state(broken), OK, "result of set_state()")
	check_equal(body.get_pieces(), pieces, "pieces of the bar broken again")
	check_equal(body.get_node_positions(), positions, "positions of the bar broken again")
	await ticks(10)
	body.reset()
	await ticks(2)
	check_equal(body.get_piece_count(), 1, "pieces after the reset")


func test_debris_fades() -> void:
	var body := _add_bar(_brittle(WEAK))
	body.debris_lifetime = 0.5
	body.debris_fade = 0.3
	if not await _break(body):
		return
	var with_an_end := 0
	for piece in body.get_pieces():
		var data := body.get_piece_data(piece)
		if is_finite(data.time_left):
			with_an_end += 1
			check_near(data.age + data.time_left, 0.5, 1e-4, "life of a piece")
	check(with_an_end > 0, "no piece has an end")
	await ticks(60)
	check(positions_are_finite(body), "positions are not finite")


## What is one too many stays for as long as it fades.
func test_debris_beyond_the_cap_fades() -> void:
	var body := _add_bar(_brittle(WEAK))
	if not await _break(body):
		return
	await ticks(20)
	var before := _free_pieces(body)
	body.debris_fade = 0.4
	body.debris_cap = 1
	await ticks(2)
	var with_an_end := 0
	for piece in body.get_pieces():
		with_an_end += int(body.get_piece_data(piece).time_left <= 0.4)
	check(with_an_end > 0, "no piece of %d has an end" % before)
	check(_free_pieces(body) > 2, "pieces went at once")
	await ticks(120) # some break again as they land
	check(_free_pieces(body) <= 2, "%d free pieces with a cap of 1" % _free_pieces(body))


## What broke is broken in another world, too, and goes on there.
func test_broken_body_into_another_world() -> void:
	var viewport := SubViewport.new()
	viewport.own_world_3d = true
	scene.add_child(viewport)
	var body := _add_bar(_brittle(WEAK))
	if not await _break(body):
		return
	await ticks(5)
	var pieces := body.get_pieces()
	var positions := body.get_node_positions()
	var speed := body.get_linear_velocity()
	body.reparent(viewport)
	check_equal(body.get_pieces(), pieces, "pieces in the new world")
	check_equal(body.get_node_positions(), positions, "positions in the new world")
	check_near_vector(body.get_linear_velocity(), speed, 1e-5, "velocity in the new world")
	await ticks(20)
	check(body.get_piece_count() >= pieces.size(), "pieces were lost")
	check(positions_are_finite(body), "positions are not finite")
	check(not positions[0].is_equal_approx(positions[-1]) and body.get_node_positions() != positions, "nothing moves there")


## A pane held along its rim, struck in the middle.
func _add_pane(prestress: float) -> DestructibleBody:
	var material := _brittle(4e5)
	material.stiffness = 1e9
	material.density = 2500.0
	material.prestress = prestress
	var pane := DestructibleBody.new()
	var box := BoxMesh.new()
	box.size = Vector3(1.0, 0.012, 0.8)
	pane.mesh = box
	pane.element_count = 400
	pane.material = material
	pane.position = HIGH
	pane.anchors = [AABB(Vector3(-0.55, -0.1, -0.5), Vector3(0.08, 0.2, 1)), AABB(Vector3(0.47, -0.1, -0.5), Vector3(0.08, 0.2, 1))]
	scene.add_child(pane)
	return pane


## What breaks plain glass leaves it whole; a crack goes through all of it within a tick.
func test_tempered_glass_holds_and_then_goes_to_dice() -> void:
	var plain := _add_pane(0.0)
	var tempered := _add_pane(1.5e6)
	plain.position.x += 3.0
	await ticks(20)
	for pane in [plain, tempered] as Array[DestructibleBody]:
		pane.apply_impulse(Vector3(0, -1, 0), pane.position)
	await ticks(10)
	check(plain.get_piece_count() > 1, "plain glass holds the weak blow")
	check_equal(tempered.get_piece_count(), 1, "pieces of tempered glass after the weak blow")
	_watch(tempered)
	tempered.apply_impulse(Vector3(0, -60, 0), tempered.position)
	await ticks(2)
	check(tempered.get_piece_count() > 60, "tempered glass is in %d pieces" % tempered.get_piece_count())
	var area := 0.0
	for event in _seen:
		area += event.get("area", 0.0)
	check(area > 0.1, "only %.3f m² of glass opened" % area)


## Only 10 times the toughness counts.
func test_prestress_beyond_strength_is_limited() -> void:
	var material := _add_pane(5e6).material
	check_near(material.get_strain_at_break(), 11 * 4e5 / 1e9, 1e-6, "strain at break")
	material.prestress = -1.0
	check_equal(material.prestress, 0.0, "a negative prestress")
	await ticks(2)


## A block of stone on the ground, and a heavy ball that comes down on it.
func test_stone_is_crushed_under_a_ball() -> void:
	var block := DestructibleBody.new()
	block.size = Vector3(0.6, 0.2, 0.6)
	block.cells = Vector3i(12, 4, 12)
	block.material = load("res://addons/fem_destruction/materials/stone.tres").duplicate()
	block.material.toughness = 5e6 # it shall only be dented
	block.position = Vector3(0, 0.1, 0)
	scene.add_child(block)
	var effects: Node3D = load("res://addons/fem_destruction/effects/destruction_effects.gd").new()
	scene.add_child(effects)
	var bursts: Array[StringName] = []
	effects.burst.connect(func(kind: StringName, _body: DestructibleBody, _point: Vector3, _normal: Vector3, _size: float) -> void:
		bursts.append(kind))
	var seen: Array[Dictionary] = []
	block.crushed.connect(func(point: Vector3, velocity: Vector3, volume: float, mass: float) -> void:
		seen.append({point = point, velocity = velocity, volume = volume, mass = mass}))
	var before := block.get_mass()
	var ball := DestructibleBody.new()
	var sphere := SphereMesh.new()
	sphere.radius = 0.1
	sphere.height = 0.2
	ball.mesh = sphere
	ball.element_count = 300
	ball.material = MaterialResource.new()
	ball.material.stiffness = 1e9
	ball.material.density = 11000.0
	ball.position = Vector3(0.03, 0.35, 0.02)
	ball.start_velocity = Vector3(0, -12, 0)
	scene.add_child(ball)
	await ticks(30)
	if not check(not seen.is_empty(), "nothing was crushed"):
		return
	var volume := 0.0
	var mass := 0.0
	for event in seen:
		volume += event.volume
		mass += event.mass
		check(event.point.distance_to(Vector3(0, 0.2, 0)) < 0.2 and event.velocity.is_finite(), "grains at %s" % event.point)
	check(volume > 2e-5 and volume < 3e-4, "%.0f cm³ were crushed" % (1e6 * volume))
	check_near(mass, 2700.0 * volume, 0.01, "mass of the grains")
	check_near(block.get_mass() + mass, before, 0.01, "mass of block and grains")
	check(bursts.has(&"crush"), "no effect was shown")
