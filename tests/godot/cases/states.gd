extends "res://test_case.gd"
## How large saved states are, and that they survive a file and a new scene.

const RIGID_BYTES := 200
const NODE_BYTES := 40
const FIXED_BYTES := 200
const PATH := "user://state_test.bin"


func _crate(position: Vector3, material: MaterialResource) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.name = "Crate"
	body.mesh = BoxMesh.new()
	body.element_count = 200
	body.material = material
	body.position = position
	scene.add_child(body)
	return body


func _oak() -> MaterialResource:
	return load("res://addons/fem_destruction/materials/oak.tres").duplicate()


func _glass() -> MaterialResource:
	return load("res://addons/fem_destruction/materials/pane_glass.tres").duplicate()


func _report(what: String, body: DestructibleBody) -> int:
	var start := Time.get_ticks_usec()
	var state := body.get_state()
	var saved := Time.get_ticks_usec()
	check_equal(body.set_state(state), OK, "result of set_state() for the %s" % what)
	var loaded := Time.get_ticks_usec()
	var size: int = state.data.size()
	print("  %s: %d tets, %d nodes, %d pieces, %d bytes, got in %.2f ms, set in %.2f ms" % [what, body.get_tet_count(),
			body.get_node_positions().size(), body.get_piece_count(), size, (saved - start) * 1e-3, (loaded - saved) * 1e-3])
	return size


## Splinters and all: what a body that can break has before it breaks.
func test_a_crate_that_rests_is_a_pose() -> void:
	var body := _crate(Vector3(0, 0.6, 0), _oak())
	await ticks(5)
	check(_report("untouched crate", body) < RIGID_BYTES, "the untouched crate's state is too large")
	check(await wait_for_sleep(body, 600), "the crate does not sleep")
	check(_report("sleeping crate", body) < RIGID_BYTES, "the sleeping crate's state is too large")
	check(body.is_asleep(), "set_state() woke it")


func test_what_bent_and_broke_is_saved_by_the_node() -> void:
	var jelly := _crate(Vector3(3, 0.6, 0), MaterialResource.new())
	var body := _crate(Vector3(0, 0.6, 0), _glass())
	body.material.toughness = 1e5
	await ticks(5)
	body.apply_explosion(body.position + Vector3(0.2, 0.2, 1.0), 4.0, 60000.0)
	await ticks(30)
	check(body.get_piece_count() > 3, "%d pieces" % body.get_piece_count())
	var size := _report("soft crate", jelly)
	check(size > NODE_BYTES / 2 * jelly.get_node_positions().size(), "the soft crate has not sagged")
	check(size < FIXED_BYTES + NODE_BYTES * jelly.get_node_positions().size(), "the soft crate's state is too large")
	check(_report("broken crate", body) < FIXED_BYTES + NODE_BYTES * body.get_node_positions().size(), "the broken crate's state is too large")


## As a save game does: stored with FileAccess, the scene freed, another made.
func test_save_game() -> void:
	var body := _crate(Vector3(0, 0.6, 0), _glass())
	body.material.toughness = 1e5
	await ticks(2)
	body.apply_explosion(body.position + Vector3(0.2, 0.2, 1.0), 4.0, 60000.0)
	await ticks(30)
	var pieces := body.get_pieces()
	var positions := body.get_node_positions()
	var vertices := body.get_splinter_vertex_positions()
	check(pieces.size() > 3, "%d pieces" % pieces.size())
	var file := FileAccess.open(PATH, FileAccess.WRITE)
	file.store_var(body.get_state())
	file.close()
	var material := body.material
	scene.free()
	await ticks(2)
	begin(tree)
	body = _crate(Vector3(5, 0.6, 5), material)
	await ticks(2)
	file = FileAccess.open(PATH, FileAccess.READ)
	var state: Dictionary = file.get_var()
	file.close()
	DirAccess.remove_absolute(PATH)
	check_equal(body.set_state(state), OK, "result of set_state()")
	check_equal(body.get_pieces(), pieces, "pieces")
	check_equal(body.get_node_positions(), positions, "positions")
	check_near_vector(body.position, Vector3(0, 0.6, 0), 1e-5, "place of the node")
	check_equal(body.get_state().data, state.data, "state saved again")
	await ticks(1)
	var drawn := body.get_splinter_vertex_positions()
	check_equal(drawn.size(), vertices.size(), "vertices of splinters")
	var farthest := 0.0
	var flown := 0.0
	var now := body.get_node_positions()
	for i in mini(now.size(), positions.size()): # it may break further, which adds nodes
		flown = maxf(flown, now[i].distance_to(positions[i]))
	for i in mini(drawn.size(), vertices.size()):
		# Cuts that opened and closed again before the state was saved are not drawn after it: they are at infinity.
		if drawn[i].is_finite() and vertices[i].is_finite():
			farthest = maxf(farthest, drawn[i].distance_to(vertices[i]))
	# Splinters reach beyond the tets that they follow, and spin with them: a little farther than any node flew.
	check(flown > 0.1 and farthest < 1.5 * flown + 0.1,
		"a vertex of a splinter is %.3f m from where it was a tick ago, the fastest node %.3f" % [farthest, flown])
	await ticks(30)
	check(positions_are_finite(body), "positions are not finite")


func test_states_of_other_versions_and_cut_short() -> void:
	var body := _crate(Vector3(0, 0.6, 0), _oak())
	await ticks(2)
	var state := body.get_state()
	var positions := body.get_node_positions()
	var older: PackedByteArray = state.data.duplicate()
	var version: int = state.data.decode_u32(4)
	older.encode_u32(4, version - 1)
	expect_errors("a state of an older version", ["Crate", "version %d" % (version - 1), "save anew"])
	check_equal(body.set_state({transform = state.transform, data = older}), ERR_INVALID_DATA, "result for an older version")
	errors_end()
	var newer: PackedByteArray = state.data.duplicate()
	newer.encode_u32(4, version + 1)
	expect_errors("a state of a newer version", ["Crate", "version %d" % (version + 1), "newer release"])
	check_equal(body.set_state({transform = state.transform, data = newer}), ERR_INVALID_DATA, "result for a newer version")
	errors_end()
	expect_errors("a state cut short", ["Crate", "cut short", "pass all"])
	check_equal(body.set_state({transform = state.transform, data = state.data.slice(0, -1)}), ERR_INVALID_DATA, "result for one cut short")
	errors_end()
	check_equal(body.get_node_positions(), positions, "positions")
	var other := add_body(Vector3(5, 0.6, 0))
	other.name = "Other"
	await ticks(1)
	expect_errors("a state of another body", ["Other", "tets", "the mesh it was saved with"])
	check_equal(other.set_state(state), ERR_INVALID_DATA, "result for another body's")
	errors_end()
