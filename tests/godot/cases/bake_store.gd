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


func test_a_second_start_bakes_nothing() -> void:
	DirAccess.make_dir_recursive_absolute(FOLDER)
	_empty_folder()
	ProjectSettings.set_setting(SETTING, true)
	var body := _plain(_torus())
	check(not body.is_simulated(), "the first bake did not run in the background")
	await _wait(body)
	var tets := body.get_tet_count()
	check(tets > 100, "%d tets" % tets)
	check_equal(DirAccess.get_files_at(FOLDER).size(), 1, "files of the store")
	body.free()
	_forget()
	body = _plain(_torus())
	check(body.is_simulated(), "what was baked before is baked again")
	check_equal(body.get_tet_count(), tets, "tets from the store")
	check_equal(DirAccess.get_files_at(FOLDER).size(), 1, "files after the second start")
	await ticks(40)
	check(body.get_center_of_mass().y < 4.0, "it does not fall")
	body.free()
	_forget()
	var file := FileAccess.open(FOLDER.path_join(DirAccess.get_files_at(FOLDER)[0]), FileAccess.READ_WRITE)
	file.seek(file.get_length() / 2)
	file.store_64(0x0123456789abcdef)
	file.close()
	body = _plain(_torus())
	check(not body.is_simulated(), "a damaged file was taken")
	await _wait(body)
	check_equal(body.get_tet_count(), tets, "tets after a damaged file")
	body.free()
	_forget()
	body = _plain(_torus())
	check(body.is_simulated(), "the damaged file was not replaced")
	body.free()
	_empty_folder()
	ProjectSettings.set_setting(SETTING, false)
