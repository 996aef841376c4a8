extends RefCounted
## Scenes of two papers: figures 4 to 6 of O'Brien, Shen, Gatchalian 2002 (sound), 5 and 8 of Hauser, Shen, O'Brien 2003
## (modes). Each adds what it needs to a stage and returns its bodies. A rabbit of spheres stands for the Stanford Bunny.

static var _rabbit: DestructibleMesh


## Figure 5 of the paper on modes: two things of modes that collide in the air.
static func collide(stage: Node3D) -> Array[DestructibleBody]:
	var torus := TorusMesh.new()
	torus.inner_radius = 0.22
	torus.outer_radius = 0.5
	var ring := _bake(torus, 700, 24)
	var bodies: Array[DestructibleBody] = []
	for side: float in [-1.0, 1.0]:
		var body := _modal(ring, 6e4, Vector3(1.0 * side, 1.3, 0.03 * side))
		body.rotation = Vector3(1.2, 0.3 * side, 0)
		body.gravity_scale = 0.0
		body.start_velocity = Vector3(-3.0 * side, 0, 0)
		body.surface_material = _look(Color(0.8, 0.45, 0.3) if side < 0.0 else Color(0.3, 0.55, 0.8))
		stage.add_child(body)
		bodies.append(body)
	return bodies


## Figure 8 of the paper on modes: a rabbit that bounces off the ground.
static func bounce(stage: Node3D) -> Array[DestructibleBody]:
	var body := _modal(await rabbit(stage), 6e4, Vector3(0, 1.5, 0))
	body.rotation = Vector3(0.1, 0.5, 0.25)
	body.surface_material = _look(Color(0.85, 0.75, 0.65))
	stage.add_child(body)
	return [body]


## Figure 4 of the paper on sound: ceramic rabbits fall over shelves of plastic, metal and wood.
static func chute(stage: Node3D) -> Array[DestructibleBody]:
	var bodies: Array[DestructibleBody] = []
	for i in 3:
		var shelf := DestructibleBody.new()
		shelf.size = Vector3(1.3, 0.04, 0.5)
		shelf.cells = Vector3i(12, 1, 4)
		shelf.material = load("res://addons/fem_destruction/materials/%s.tres" % ["plastic", "aluminium", "oak"][i])
		shelf.dynamics = DestructibleBody.DYNAMICS_RIGID
		shelf.position = Vector3(0.45 if i % 2 == 0 else -0.45, 2.6 - 0.85 * i, 0)
		shelf.rotation.z = 0.6 if i % 2 == 0 else -0.6
		var end := 0.6 if i % 2 == 0 else -0.7
		shelf.anchors = [AABB(Vector3(end, -1, -1), Vector3(0.1, 2, 2))]
		shelf.surface_material = _look([Color(0.25, 0.4, 0.75), Color(0.75, 0.77, 0.8), Color(0.6, 0.42, 0.25)][i])
		stage.add_child(shelf)
		bodies.append(shelf)
	var ceramic: MaterialResource = load("res://addons/fem_destruction/materials/ceramic.tres")
	for i in 4:
		var body := DestructibleBody.new()
		body.mesh = await rabbit(stage)
		body.scale = Vector3.ONE * 0.32
		body.material = ceramic
		body.invulnerable = true
		body.position = Vector3(0.5 - 0.05 * i, 3.1 + 0.45 * i, 0.04 * (i % 2))
		body.rotation = Vector3(0.4 * i, i, 0.3 * i)
		body.surface_material = _look(Color(0.92, 0.9, 0.86))
		stage.add_child(body)
		bodies.append(body)
	return bodies


## Figure 5 of the paper on sound: hollow cubes with walls of 5 % of their width, knocked over. width: 0.05 or 0.5 m.
static func cubes(stage: Node3D, width: float) -> Array[DestructibleBody]:
	var wood := MaterialResource.new()
	wood.stiffness = 2.833e8
	wood.poisson_ratio = 0.4167
	wood.density = 550.0
	wood.breakable = false
	wood.sound_damping = 8e-6
	wood.sound_mass_damping = 50.0
	var mesh := _bake(_hollow_cube(width), 1000, 60)
	var bodies: Array[DestructibleBody] = []
	for row in 3:
		for i in 3 - row:
			var body := DestructibleBody.new()
			body.mesh = mesh
			body.material = wood
			body.position = Vector3((i - 1 + 0.5 * row) * 1.06, row + 0.5, 0) * width
			body.surface_material = _look(Color.from_hsv(0.07 + 0.05 * row, 0.5, 0.8 - 0.1 * i))
			stage.add_child(body)
			bodies.append(body)
	var ball := RigidBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = SphereShape3D.new()
	shape.shape.radius = 0.3 * width
	ball.add_child(shape)
	var drawn := MeshInstance3D.new()
	drawn.mesh = SphereMesh.new()
	drawn.mesh.radius = 0.3 * width
	drawn.mesh.height = 0.6 * width
	drawn.material_override = _look(Color(0.2, 0.2, 0.24))
	ball.add_child(drawn)
	ball.mass = 12.0 * 550.0 * 0.271 * pow(width, 3.0)
	ball.position = Vector3(0.3, 2.0, 4.0) * width
	ball.linear_velocity = Vector3(0, 1.0, -7.0) * sqrt(width / 0.5)
	stage.add_child(ball)
	return bodies


## Figure 6 of the paper on sound: two words fall.
static func the_end(stage: Node3D) -> Array[DestructibleBody]:
	var metal := MaterialResource.new()
	metal.stiffness = 2.05e9
	metal.poisson_ratio = 0.33
	metal.density = 2700.0
	metal.breakable = false
	metal.sound_damping = 2e-7
	metal.sound_mass_damping = 30.0
	var bodies: Array[DestructibleBody] = []
	var meshes := {}
	var text := "THEEND"
	for i in text.length():
		if not meshes.has(text[i]):
			var letter := TextMesh.new()
			letter.text = text[i]
			letter.font_size = 40
			letter.pixel_size = 0.01
			letter.depth = 0.08
			letter.curve_step = 4.0
			meshes[text[i]] = _bake(letter, 100, 40) # coarse, as in the paper
		var body := DestructibleBody.new()
		body.mesh = meshes[text[i]]
		body.material = metal
		body.position = Vector3(0.34 * (i % 3) - 0.34, 0.9 if i < 3 else 0.45, 0.0) + Vector3(0, 0.06 * (i % 2), 0)
		body.rotation = Vector3(0.05 * i, 0.1, 0.08 * (i - 2))
		body.surface_material = _look(Color(0.85, 0.66, 0.25))
		stage.add_child(body)
		bodies.append(body)
	return bodies


## Spheres, joined by Godot's CSG: body, head, ears, feet.
static func rabbit(stage: Node3D) -> DestructibleMesh:
	if _rabbit:
		return _rabbit
	var whole := CSGCombiner3D.new()
	var parts := [[Vector3(0, 0, 0), Vector3(0.3, 0.27, 0.24)], [Vector3(0.26, 0.26, 0), Vector3(0.17, 0.16, 0.15)],
		[Vector3(0.2, 0.5, 0.08), Vector3(0.06, 0.2, 0.045)], [Vector3(0.2, 0.5, -0.08), Vector3(0.06, 0.2, 0.045)],
		[Vector3(0.14, -0.24, 0.12), Vector3(0.16, 0.07, 0.07)], [Vector3(0.14, -0.24, -0.12), Vector3(0.16, 0.07, 0.07)],
		[Vector3(-0.31, -0.05, 0), Vector3(0.08, 0.08, 0.08)]]
	for part: Array in parts:
		var sphere := CSGSphere3D.new()
		sphere.radius = 1.0
		sphere.radial_segments = 20
		sphere.rings = 12
		sphere.position = part[0]
		sphere.scale = part[1]
		whole.add_child(sphere)
	whole.position.y = 1000.0
	stage.add_child(whole)
	await stage.get_tree().process_frame
	await stage.get_tree().process_frame
	_rabbit = _bake(whole.get_meshes()[1], 1200, 60)
	whole.queue_free()
	return _rabbit


static func _modal(mesh: DestructibleMesh, stiffness: float, at: Vector3) -> DestructibleBody:
	var soft := MaterialResource.new()
	soft.stiffness = stiffness
	soft.poisson_ratio = 0.35
	soft.density = 300.0
	soft.damping = 0.0005
	soft.breakable = false
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.material = soft
	body.mode_count = 24
	body.dynamics = DestructibleBody.DYNAMICS_MODAL
	body.position = at
	return body


static func _bake(source: Mesh, elements: int, modes: int) -> DestructibleMesh:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = source
	mesh.element_count = elements
	mesh.mode_count = modes
	mesh.bake()
	return mesh


static func _hollow_cube(width: float) -> ArrayMesh:
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	for inner in 2:
		var half := width * (0.5 if inner == 0 else 0.45)
		for axis in 3:
			for side: float in [-1.0, 1.0]:
				var normal := Vector3.ZERO
				normal[axis] = side
				var right := Vector3.ZERO
				right[(axis + 1) % 3] = 1.0
				var up := normal.cross(right)
				var corners := [normal - right - up, normal + right - up, normal + right + up, normal - right + up]
				for k: int in ([0, 2, 1, 0, 3, 2] if inner == 0 else [0, 1, 2, 0, 2, 3]):
					tool.set_normal(normal if inner == 0 else -normal)
					tool.add_vertex(corners[k] * half)
	tool.index()
	return tool.commit()


static func _look(color: Color) -> StandardMaterial3D:
	var look := StandardMaterial3D.new()
	look.albedo_color = color
	look.roughness = 0.6
	return look
