extends "res://test_case.gd"
## Bakes of plain meshes that are kept on disk from one start of a project to the next.

const SETTING := "physics/fem_destruction/keep_bakes"
const FOLDER := "res://.godot/destructible_meshes"
const KEPT_IN_MEMORY := 64


func _plain(mesh: Mesh) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.element_count = 250
	body.bake_in_background = true
	body.material = load("res://addons/fem_destruction/materials/ceramic.tres")
	body.position.y = 4.0
	scene.add_child(body)
	return body


func _torus() -> TorusMesh:
	var torus := TorusMesh.new()
	torus.inner_radius = 0.33
	torus.rings = 24
	torus.ring_segments = 12
	return torus


func _wait(body: DestructibleBody) -> void:
	var began := Time.get_ticks_msec()
	while not body.is_simulated() and Time.get_ticks_msec() < began + 10000:
		OS.delay_msec(5)
		await tree.process_frame


## Other bakes push everything out of memory, as a new start of the project would.
func _forget() -> void:
	ProjectSettings.set_setting(SETTING, false)
	for i in KEPT_IN_MEMORY:
		var box := BoxMesh.new()
		box.size = Vector3(0.5, 0.5 + 0.001 * i, 0.5)
		var body := DestructibleBody.new()
		body.mesh = box
		body.element_count = 5
		scene.add_child(body)
		body.free()
	ProjectSettings.set_setting(SETTING, true)


func _empty_folder() -> void:
	for file in DirAccess.get_files_at(FOLDER):
		DirAccess.remove_absolute(FOLDER.path_join(file))


func _file() -> String:
	var files := DirAccess.get_files_at(FOLDER)
	check_equal(files.size(), 1, "files of the store")
	return FOLDER.path_join(files[0]) if files.size() > 0 else ""


func _begin() -> void:
	DirAccess.make_dir_recursive_absolute(FOLDER)
	_empty_folder()
	ProjectSettings.set_setting(SETTING, true)


func _end() -> void:
	_empty_folder()
	ProjectSettings.set_setting(SETTING, false)


## The tets of a body that enters, is simulated and falls.
func _tets_of(body: DestructibleBody) -> int:
	await _wait(body)
	var tets := body.get_tet_count()
	await ticks(40)
	check(body.get_center_of_mass().y < 4.0, "it does not fall")
	body.free()
	return tets


func test_a_second_start_bakes_nothing() -> void:
	_begin()
	var body := _plain(_torus())
	check(not body.is_simulated(), "the first bake did not run in the background")
	var tets: int = await _tets_of(body)
	check(tets > 100, "%d tets" % tets)
	var first := FileAccess.get_file_as_bytes(_file())
	_empty_folder()
	# The file of another mesh under its name: whoever reads it has that mesh's tets, whoever bakes has not.
	var other := _torus()
	other.inner_radius = 0.6
	var others: int = await _tets_of(_plain(other))
	check(others != tets, "both have %d tets" % tets)
	var path := _file()
	FileAccess.open(path, FileAccess.WRITE).store_buffer(first)
	for background: bool in [true, false]:
		_forget()
		ProjectSettings.set_setting("physics/fem_destruction/bake_in_background", background)
		body = DestructibleBody.new()
		body.mesh = other
		body.element_count = 250
		body.material = load("res://addons/fem_destruction/materials/ceramic.tres")
		body.position.y = 4.0
		scene.add_child(body)
		check_equal(body.is_simulated(), not background, "simulated at once")
		check_equal(await _tets_of(body), tets, "tets from the store")
	ProjectSettings.set_setting("physics/fem_destruction/bake_in_background", false)
	_end()


func test_a_damaged_file_is_baked_again() -> void:
	_begin()
	var tets: int = await _tets_of(_plain(_torus()))
	var whole := FileAccess.get_file_as_bytes(_file())
	for at: float in [0.02, 0.5, 0.999]:
		_forget()
		var file := FileAccess.open(_file(), FileAccess.READ_WRITE)
		file.seek(int(at * (file.get_length() - 8)))
		file.store_64(0x0123456789abcdef)
		file.close()
		var body := _plain(_torus())
		check(not body.is_simulated(), "a damaged file was taken")
		check_equal(await _tets_of(body), tets, "tets after a damaged file")
		check_equal(FileAccess.get_file_as_bytes(_file()), whole, "the file after that")
	_end()


func test_leaving_while_it_is_read() -> void:
	_begin()
	var tets: int = await _tets_of(_plain(_torus()))
	_forget()
	var body := _plain(_torus())
	scene.remove_child(body)
	await tree.process_frame
	await tree.process_frame
	scene.add_child(body)
	check_equal(await _tets_of(body), tets, "tets of a body that left and came back")
	_forget()
	body = _plain(_torus())
	body.free()
	await tree.process_frame
	_end()


# -- What happens meanwhile -------------------------------------------------------------------------------------------


## A plate of some 5,000 triangles: its bake takes long enough for things to fall on it.
func _slow_plate() -> ArrayMesh:
	var box := BoxMesh.new()
	box.size = Vector3(2.0, 0.4, 2.0)
	box.subdivide_width = 28
	box.subdivide_depth = 28
	box.subdivide_height = 4
	var mesh := ArrayMesh.new()
	mesh.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, box.get_mesh_arrays())
	return mesh


func test_others_lie_on_what_is_being_baked() -> void:
	var plate := DestructibleBody.new()
	plate.mesh = _slow_plate()
	plate.element_count = 20000
	plate.bake_in_background = true
	plate.scale = Vector3(1.0, 0.5, 1.0)
	plate.position.y = 3.0
	scene.add_child(plate)
	var ball := RigidBody3D.new()
	ball.add_child(CollisionShape3D.new())
	ball.get_child(0).shape = SphereShape3D.new()
	ball.position = Vector3(0.5, 3.62, 0.5)
	ball.can_sleep = false
	scene.add_child(ball)
	var box := DestructibleBody.new()
	box.size = Vector3(0.3, 0.3, 0.3)
	box.cells = Vector3i(2, 2, 2)
	box.position = Vector3(-0.5, 3.27, -0.5)
	scene.add_child(box)
	var frames := 0
	while not plate.is_simulated() and frames < 30:
		await ticks(1)
		frames += 1
	check(frames > 5, "the bake took %d ticks only" % frames)
	check(ball.position.y > 3.55, "a ball fell through what is being baked: %.3f m" % ball.position.y)
	check(box.get_center_of_mass().y > 3.2, "a box fell through it: %.3f m" % box.get_center_of_mass().y)
	check_near(plate.get_center_of_mass().y if plate.is_simulated() else plate.position.y, 3.0, 0.02, "its height")
	var space := scene.get_world_3d().direct_space_state
	var hit := space.intersect_ray(PhysicsRayQueryParameters3D.create(Vector3(0, 5, 0), Vector3(0, 2, 0)))
	check(hit.get("collider") == plate, "a ray meets %s" % hit.get("collider"))
	scene.remove_child(plate)
	await ticks(30)
	check(ball.position.y < 3.5, "a ball lies on what is gone")
	check(box.get_center_of_mass().y < 3.1, "a box lies on what is gone")
	plate.free()


# -- What entering costs ----------------------------------------------------------------------------------------------


const ENTRY_MS := 100.0  # of the main thread that a plain mesh of 5,000 triangles may take


func _ball_of_5000() -> SphereMesh:
	var ball := SphereMesh.new()
	ball.radial_segments = 50
	ball.rings = 49
	return ball


## Milliseconds of the main thread: of entering the tree, and of the longest frame until it is simulated.
func _entry_ms(mesh: Mesh, preset: String) -> Array[float]:
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.bake_in_background = true
	body.material = load("res://addons/fem_destruction/materials/%s.tres" % preset)
	body.position.y = 4.0
	await ticks(20)  # Godot makes up for ticks that long frames left out
	var began := Time.get_ticks_usec()
	scene.add_child(body)
	var entering := Time.get_ticks_usec() - began
	var longest := 0
	began = Time.get_ticks_msec()
	while not body.is_simulated() and Time.get_ticks_msec() < began + 60000:
		var frame := Time.get_ticks_usec()
		await tree.process_frame
		longest = maxi(longest, Time.get_ticks_usec() - frame)
		OS.delay_msec(2)
	check(body.is_simulated(), "a bake does not end")
	var frames: Array[float] = [0.001 * entering, 0.001 * longest, float(Time.get_ticks_msec() - began)]
	body.free()
	await tree.process_frame
	return frames


## Baked and cut by workers, the first time, and read by them the second.
func test_plain_meshes_of_5000_triangles_enter_at_once() -> void:
	_begin()
	for preset: String in ["ceramic", "oak", "concrete"]:
		for start in 2:
			var ms: Array[float] = await _entry_ms(_ball_of_5000(), preset)
			print("  %s, start %d: entering %.1f ms, longest frame %.1f ms, simulated after %.0f ms" % [preset, start + 1, ms[0], ms[1], ms[2]])
			check(ms[0] + ms[1] < ENTRY_MS, "%s: entering took %.1f ms and a frame %.1f ms" % [preset, ms[0], ms[1]])
			if start == 0:
				_forget()
	_end()


## A bake that many bodies share tells all of them of its name, and each that hears of it looks it up again: in all of
## their orders, that took minutes for ten.
func test_many_equal_meshes_enter_on_the_first_start() -> void:
	_begin()
	_forget()
	_empty_folder()
	var bodies: Array[DestructibleBody] = []
	for i in 9:
		var mesh := CylinderMesh.new()
		mesh.height = 0.5
		mesh.top_radius = 0.12
		mesh.bottom_radius = 0.12
		bodies.append(_plain(mesh))
		bodies[-1].wall_thickness = 0.008
		bodies[-1].position.x = i
	var began := Time.get_ticks_msec()
	for body in bodies:
		await _wait(body)
		check(body.is_simulated(), "one is not simulated after 10 s")
	check(Time.get_ticks_msec() - began < 10000, "nine equal bodies take %d ms to enter" % (Time.get_ticks_msec() - began))
	_end()
