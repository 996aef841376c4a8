extends "res://picture_script.gd"
## The scenes of Li et al. 2018, "Energized Rigid Body Fracture": bodies of joined rigid pieces that break, with none, half, all
## and more of the energy of the break given back.
##
## godot --fixed-fps 60 --path tests/godot --script res://joined_pictures.gd -- FOLDER [SCENE]
##
## Writes FOLDER/joined_NAME.png, a row for each share of energy and a column for each moment, and
## FOLDER/joined_NAME_energy.png, kinetic energy of pieces beside their mean motion over time, the least share blue, the largest red. Prints "ok NAME" or
## "FAIL NAME: CAUSE" for each check and ends with "JOINED PICTURES DONE".

const CELL := Vector2i(400, 300) # pixels
const PLOT := Vector2i(800, 400) # pixels
const COLORS: Array[Color] = [Color(0.1, 0.3, 0.9), Color(0.1, 0.7, 0.5), Color(0.9, 0.6, 0.1), Color(0.9, 0.1, 0.1)]


func _take_all(folder: String, only: String) -> void:
	root.size = CELL
	DestructionServer.ground_enabled = false
	for scene: Dictionary in _scenes():
		if only.is_empty() or only == scene.name:
			await _take_scene(scene, folder)


func _scenes() -> Array[Dictionary]:
	return [
		{name = "beam", build = _build_beam, shares = [0.0, 0.5, 1.0, 1.5], eye = Vector3(0.5, 2.3, 2.2), target = Vector3(0, 0.9, -0.2), moments = [6, 9, 13, 20]},
		{name = "plate", build = _build_plate, shares = [0.0, 0.5, 1.0, 1.5], eye = Vector3(1.2, 1.5, 1.8), target = Vector3(0, 0.4, 0), moments = [8, 14, 20, 32]},
		{name = "chain", build = _build_chain, shares = [0.0, 0.5, 1.0, 2.0], eye = Vector3(0.3, 1.5, 3.0), target = Vector3(0, 1.1, 0), moments = [10, 20, 30, 45]},
		{name = "hollow", build = _build_hollow, shares = [0.0, 0.5, 1.0, 2.0], eye = Vector3(1.2, 1.4, 1.9), target = Vector3(0, 0.5, 0), moments = [3, 6, 10, 20]},
	]


func _look(color: Color) -> StandardMaterial3D:
	var look := StandardMaterial3D.new()
	look.albedo_color = color
	look.roughness = 0.7
	return look


## Stiff and brittle, and holds much energy for its weight.
func _material(toughness: float) -> MaterialResource:
	var material := MaterialResource.new()
	material.stiffness = 1e8
	material.density = 1000.0
	material.breakable = true
	material.toughness = toughness
	material.toughness_variation = 0.05
	material.splinter_pattern = MaterialResource.SPLINTERS_VORONOI
	return material


func _make_body(share: float, pieces: int, material: MaterialResource) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.material = material
	body.surface_material = _look(Color(0.75, 0.7, 0.6))
	body.dynamics = DestructibleBody.DYNAMICS_RIGID_PIECES
	body.rigid_piece_count = pieces
	body.energy_release = share
	return body


func _add_static(stage: Node3D, position: Vector3, shape: Shape3D, mesh: Mesh) -> void:
	var body := StaticBody3D.new()
	var collision := CollisionShape3D.new()
	var instance := MeshInstance3D.new()
	collision.shape = shape
	instance.mesh = mesh
	instance.material_override = _look(Color(0.3, 0.35, 0.45))
	body.add_child(collision)
	body.add_child(instance)
	body.position = position
	stage.add_child(body)


func _add_static_box(stage: Node3D, position: Vector3, size: Vector3) -> void:
	var shape := BoxShape3D.new()
	var mesh := BoxMesh.new()
	shape.size = size
	mesh.size = size
	_add_static(stage, position, shape, mesh)


func _add_static_ball(stage: Node3D, position: Vector3, radius: float) -> void:
	var shape := SphereShape3D.new()
	var mesh := SphereMesh.new()
	shape.radius = radius
	mesh.radius = radius
	mesh.height = 2.0 * radius
	_add_static(stage, position, shape, mesh)


func _add_block(stage: Node3D, position: Vector3, velocity: Vector3, mass: float) -> void:
	var block := RigidBody3D.new()
	var collision := CollisionShape3D.new()
	var instance := MeshInstance3D.new()
	collision.shape = BoxShape3D.new()
	collision.shape.size = Vector3.ONE * 0.3
	instance.mesh = BoxMesh.new()
	instance.mesh.size = Vector3.ONE * 0.3
	instance.material_override = _look(Color(0.2, 0.35, 0.7))
	block.add_child(collision)
	block.add_child(instance)
	block.mass = mass
	block.position = position
	block.linear_velocity = velocity
	stage.add_child(block)


# Pinned between two posts as a block strikes.
func _build_beam(stage: Node3D, share: float) -> DestructibleBody:
	var body := _make_body(share, 2, _material(5e5))
	body.size = Vector3(2.0, 0.2, 0.2)
	body.cells = Vector3i(10, 1, 1)
	body.position = Vector3(0, 1.0, 0.21)
	body.gravity_scale = 0.0
	for x: float in [-0.8, 0.8]:
		_add_static_box(stage, Vector3(x, 1.0, 0), Vector3(0.1, 2.0, 0.2))
	_add_block(stage, Vector3(0, 1.0, 1.2), Vector3(0, 0, -12), 20.0)
	return body


# Of 25 pieces, falls on a ball.
func _build_plate(stage: Node3D, share: float) -> DestructibleBody:
	var body := _make_body(share, 25, _material(3e5))
	body.size = Vector3(1.5, 0.1, 1.5)
	body.cells = Vector3i(10, 1, 10)
	body.position = Vector3(0, 1.1, 0)
	body.start_velocity = Vector3(0, -4, 0)
	_add_static_ball(stage, Vector3(0.05, 0.3, 0.05), 0.3)
	return body


# Held at both ends, and pulled in the middle until it breaks, one joint after the other.
func _build_chain(stage: Node3D, share: float) -> DestructibleBody:
	var body := _make_body(share, 12, _material(1e6))
	body.size = Vector3(3.0, 0.06, 0.06)
	body.cells = Vector3i(36, 1, 1)
	body.position = Vector3(0, 1.4, 0)
	body.breaks_per_second = 30.0
	body.anchors = [AABB(Vector3(-1.51, -1, -1), Vector3(0.05, 2, 2)), AABB(Vector3(1.46, -1, -1), Vector3(0.05, 2, 2))]
	_add_block(stage, Vector3(0, 1.75, 0), Vector3(0, -5, 0), 30.0)
	return body


# A hollow thing of 10 pieces lands on a ball.
func _build_hollow(stage: Node3D, share: float) -> DestructibleBody:
	var body := _make_body(share, 10, _material(2e5))
	var mesh := SphereMesh.new()
	mesh.radius = 0.4
	mesh.height = 1.0
	mesh.radial_segments = 24
	mesh.rings = 12
	body.mesh = mesh
	body.wall_thickness = 0.05
	body.element_count = 800
	body.bake_in_background = false
	body.position = Vector3(0, 1.5, 0)
	body.start_velocity = Vector3(0, -14, 0)
	_add_static_ball(stage, Vector3(0.05, 0.25, 0), 0.25)
	return body


func _build_stage() -> Node3D:
	var stage := Node3D.new()
	_camera = Camera3D.new()
	stage.add_child(_camera)
	root.add_child(stage)
	add_environment(stage, Color(0.55, 0.62, 0.7), 1.0, Color(0.5, 0.55, 0.65))
	add_sun(stage, Vector3(0.4, -1.0, -0.6))
	_add_static_box(stage, Vector3(0, -0.5, 0), Vector3(30, 1, 30))
	return stage


## J, of all pieces beside what they have in common: what a break sets free.
func _kinetic_energy(body: DestructibleBody) -> float:
	var mass := 0.0
	var momentum := Vector3.ZERO
	var sum := 0.0
	for piece in body.get_pieces():
		var data := body.get_piece_data(piece)
		mass += data.mass
		momentum += data.mass * data.velocity
		sum += 0.5 * float(data.mass) * (data.velocity as Vector3).length_squared()
	return sum - 0.5 * momentum.length_squared() / mass if mass > 0.0 else 0.0


func _take_scene(scene: Dictionary, folder: String) -> void:
	var moments: Array = scene.moments
	var shares: Array = scene.shares
	var sheet := Image.create(CELL.x * moments.size(), CELL.y * shares.size(), false, Image.FORMAT_RGB8)
	var energies: Array[PackedFloat64Array] = []
	for row in shares.size():
		var stage := _build_stage()
		var body: DestructibleBody = scene.build.call(stage, shares[row])
		stage.add_child(body)
		var energy := PackedFloat64Array()
		_camera.look_at_from_position(scene.eye, scene.target)
		for tick in range(1, moments[-1] + 1):
			await physics_frame
			energy.append(_kinetic_energy(body))
			var place := moments.find(tick)
			if place >= 0:
				sheet.blit_rect(await draw_frame(), Rect2i(Vector2i.ZERO, CELL), Vector2i(CELL.x * place, CELL.y * row))
		energies.append(energy)
		var states := body.get_pieces()
		print("%s, energy %.1f: %d pieces, %.1f J at the end, %.1f J at most" % [scene.name, shares[row], states.size(), energy[-1], Array(energy).max()])
		stage.free()
		await process_frame
	check(sheet.save_png(folder.path_join("joined_%s.png" % scene.name)) == OK, scene.name + "_is_saved")
	check(_plot(energies).save_png(folder.path_join("joined_%s_energy.png" % scene.name)) == OK, scene.name + "_energy_is_saved")


func _plot(energies: Array[PackedFloat64Array]) -> Image:
	var image := Image.create(PLOT.x, PLOT.y, false, Image.FORMAT_RGB8)
	image.fill(Color.WHITE)
	var most := 1e-9
	for energy in energies:
		most = maxf(most, Array(energy).max())
	for k in energies.size():
		for x in PLOT.x:
			var at := float(x) / PLOT.x * (energies[k].size() - 1)
			var value := lerpf(energies[k][int(at)], energies[k][mini(int(at) + 1, energies[k].size() - 1)], at - int(at))
			var y := clampi(int((1.0 - 0.95 * value / most) * (PLOT.y - 1)), 0, PLOT.y - 2)
			image.set_pixel(x, y, COLORS[k])
			image.set_pixel(x, y + 1, COLORS[k])
	return image
