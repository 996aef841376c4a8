extends "res://test_case.gd"
## DestructibleBody.splinter_blend: vertices that a crack gives to another tet go there, and do not jump.

const BLEND := 0.1 # s
const RATE := 480 # ticks a second: recoil moves things little in one of them, jumps do not depend on it
const TICKS := 80 # looked at, from the first splinters on


## A soft bar that hangs and is pulled down until it tears: strained so far that its vertices change place when they change
## their tet. Made anew it does the same to the last bit.
func _add_bar(blend: float) -> DestructibleBody:
	var box := BoxMesh.new()
	box.size = Vector3(0.45, 1.2, 0.45) # too thick for a beam, whose cells part as a whole
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = box
	mesh.element_count = 200
	mesh.splinter_count = 600 # small ones: their vertices have tets of their own
	mesh.splinter_pattern = DestructibleMesh.SPLINTERS_VORONOI
	mesh.splinter_seed = 7
	mesh.bake()
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.material = MaterialResource.new()
	body.material.stiffness = 1e5
	body.material.density = 1000.0
	body.material.breakable = true
	body.material.toughness = 2.5e4
	body.splinter_blend = blend
	body.position = Vector3(0, 5, 0)
	body.anchors = [AABB(Vector3(-1, 0.5, -1), Vector3(2, 1, 2))]
	body.start_velocity = Vector3(0, -4, 0)
	return body


func end() -> void:
	Engine.physics_ticks_per_second = 60
	await super()


func _wait_for_splinters(body: DestructibleBody) -> bool:
	for tick in RATE:
		if body.get_splinter_vertex_positions().size() > 0:
			return true
		await tree.physics_frame
	return check(false, "it does not break")


## Where all vertices of the splinters are drawn after each tick.
func _record(blend: float) -> Array[PackedVector3Array]:
	Engine.physics_ticks_per_second = RATE
	var body := _add_bar(blend)
	var record: Array[PackedVector3Array] = []
	scene.add_child(body)
	await _wait_for_splinters(body)
	for tick in TICKS:
		record.append(body.get_splinter_vertex_positions())
		await tree.physics_frame
	await ticks(RATE / 2)
	record.append(body.get_splinter_vertex_positions())
	body.free()
	await ticks(2)
	return record


## At the tick in which a vertex changes its tet both runs part; the one that blends goes on as the vertex moved before.
func test_vertices_do_not_jump() -> void:
	var jumping := await _record(0.0)
	var blended := await _record(BLEND)
	var count := 0
	var jumps := 0.0 # m, in all: from where vertices would be had they kept their velocity
	var blended_jumps := 0.0 # m, the same of those that are blended
	var longest := 0.0 # m
	for tick in range(2, TICKS):
		for vertex in jumping[tick].size():
			if not _is_change(jumping, blended, tick, vertex):
				continue
			var expected := 2.0 * blended[tick - 1][vertex] - blended[tick - 2][vertex]
			count += 1
			jumps += jumping[tick][vertex].distance_to(expected)
			blended_jumps += blended[tick][vertex].distance_to(expected)
			longest = maxf(longest, jumping[tick][vertex].distance_to(blended[tick][vertex]))
	print("-- %d blends, the longest of %.4f m; jumps of %.3f m in all, with blends %.3f m" % [count, longest, jumps, blended_jumps])
	check(count > 20 and longest > 0.005, "%d vertices jump, by %.4f m at most: too few to see anything" % [count, longest])
	check(blended_jumps < 0.25 * jumps, "vertices with a blend jump by %.4f m, without by %.4f m" % [blended_jumps, jumps])
	check_near(_farthest(jumping[TICKS], blended[TICKS]), 0.0, 1e-5, "what is left of the way in the end")


func _is_change(jumping: Array[PackedVector3Array], blended: Array[PackedVector3Array], tick: int, vertex: int) -> bool:
	for i in 3:
		if blended[tick - i].size() <= vertex or not blended[tick - i][vertex].is_finite() or not jumping[tick - i][vertex].is_finite():
			return false
	return (jumping[tick - 1][vertex].distance_to(blended[tick - 1][vertex]) < 1e-6
			and jumping[tick][vertex].distance_to(blended[tick][vertex]) > 1e-3)


func _farthest(a: PackedVector3Array, b: PackedVector3Array) -> float:
	var farthest := 0.0 if a.size() == b.size() and a.size() > 0 else INF
	for i in mini(a.size(), b.size()):
		if a[i].is_finite() and b[i].is_finite():
			farthest = maxf(farthest, a[i].distance_to(b[i]))
	return farthest


## Its time is that of the simulation.
func test_stands_still_while_paused() -> void:
	Engine.physics_ticks_per_second = RATE
	var body := _add_bar(BLEND)
	scene.add_child(body)
	await _wait_for_splinters(body)
	await ticks(10)
	tree.paused = true
	await ticks(1)
	var before := body.get_splinter_vertex_positions()
	await ticks(RATE / 4)
	check_equal(_farthest(before, body.get_splinter_vertex_positions()), 0.0, "the way made in the pause")
	tree.paused = false
	await ticks(RATE / 4)
	check(_farthest(before, body.get_splinter_vertex_positions()) > 0.001, "nothing moves after the pause")


## States restored and bodies started over in the middle of a blend show no trace of it.
func test_starting_over_in_the_middle() -> void:
	Engine.physics_ticks_per_second = RATE
	var body := _add_bar(BLEND)
	scene.add_child(body)
	await _wait_for_splinters(body)
	await ticks(10)
	var state := body.get_state()
	check_equal(body.set_state(state), OK, "set_state")
	check(body.get_splinter_vertex_positions().size() > 0, "the broken state is drawn without splinters")
	body.reset()
	check_equal(body.get_splinter_vertex_positions().size(), 0, "vertices of splinters after reset()")
	await ticks(20)
	check(positions_are_finite(body), "positions are not finite")


func test_values() -> void:
	var body := DestructibleBody.new()
	body.splinter_blend = -1.0
	check_equal(body.splinter_blend, 0.0, "set to -1")
	body.splinter_blend = 1e9
	check_equal(body.splinter_blend, 10.0, "set to 1e9")
	expect_errors("a time that is not a number")
	body.splinter_blend = NAN
	errors_end()
	check_equal(body.splinter_blend, 10.0, "set to NaN")
	body.free()
