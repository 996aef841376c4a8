## Meshes with texture coordinates in metres, and materials of concrete, glass, wood and brick, all made by code.


static func box(size: Vector3) -> ArrayMesh:
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	for axis in 3:
		for side: float in [-1.0, 1.0]:
			var normal := Vector3.ZERO
			normal[axis] = side
			var up := Vector3.UP if axis != 1 else Vector3(0, 0, -side)
			var right := up.cross(normal)
			var corners: Array[Vector3] = []
			for corner: Vector2 in [Vector2(-1, -1), Vector2(1, -1), Vector2(1, 1), Vector2(-1, 1)]:
				corners.append((normal + right * corner.x + up * corner.y) * size * 0.5)
			for index: int in [0, 2, 1, 0, 3, 2]:
				var at := corners[index]
				tool.set_normal(normal)
				tool.set_uv(Vector2(at.dot(right), -at.dot(up)))
				tool.set_tangent(Plane(right, 1.0))
				tool.add_vertex(at)
	tool.index()
	return tool.commit()


## Turned round the y axis: outer wall up, over the lip, inner wall down; its foot at y = -height / 2.
static func vase(height: float, wall: float) -> ArrayMesh:
	var profile := PackedVector2Array([Vector2(0, -height / 2)])
	var steps := 28
	for i in steps + 1:
		profile.append(Vector2(_vase_radius(height, float(i) / steps), height * (float(i) / steps - 0.5)))
	for i in steps + 1:
		var t := 1.0 - float(i) / steps
		profile.append(Vector2(_vase_radius(height, t) - wall, wall + (height - wall) * t - height / 2))
	profile.append(Vector2(0, wall - height / 2))
	return turned(profile, steps)


## A profile turned round the y axis: the foot, `steps` rings of the outer wall, the lip, and the inner wall to the axis.
static func turned(profile: PackedVector2Array, steps: int) -> ArrayMesh:
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	for i in profile.size() - 1:
		tool.set_smooth_group(3 if i == 0 else 0 if i <= steps else 1 if i == steps + 1 else 2)
		for s in 48:
			_add_quad(tool, profile[i], profile[i + 1], s)
	tool.generate_normals()
	tool.index()
	tool.generate_tangents()
	return tool.commit()


static func _add_quad(tool: SurfaceTool, low: Vector2, high: Vector2, s: int) -> void:
	var angles: Array[float] = [TAU * s / 48, TAU * (s + 1) / 48]
	var corners: Array[Vector3] = [_revolved(low, angles[0]), _revolved(low, angles[1]), _revolved(high, angles[1]), _revolved(high, angles[0])]
	for triangle: Array in [[0, 1, 2], [0, 2, 3]]:
		if low.x == 0.0 and triangle[1] == 1 or high.x == 0.0 and triangle[1] == 2:
			continue
		for index: int in triangle:
			var sector := s + int(index == 1 or index == 2)
			tool.set_uv(Vector2(sector / 48.0 * 0.9, -corners[index].y))
			tool.add_vertex(corners[index])


static func _vase_radius(height: float, t: float) -> float:
	return height * (0.19 + 0.13 * sin(1.25 * PI * t + 0.25) + 0.03 * t * t)


static func _revolved(point: Vector2, angle: float) -> Vector3:
	return Vector3(point.x * cos(angle), point.y, point.x * sin(angle))


## A box of stones that touch, each a closed shell: courses along y, stones of random length along x.
static func stones(size: Vector3, courses: int, length: float) -> ArrayMesh:
	var tool := SurfaceTool.new()
	var random := RandomNumberGenerator.new()
	random.seed = 5
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	for course in courses:
		var low := -size / 2.0 + Vector3(0, size.y * course / courses, 0)
		var at := 0.0
		while at < size.x:
			var width := minf(length * random.randf_range(0.6, 1.4), size.x - at)
			width = size.x - at if size.x - at - width < 0.4 * length else width
			_add_stone(tool, low + Vector3(at, 0, 0), Vector3(width, size.y / courses, size.z), func(p: Vector3) -> Vector3: return p)
			at += width
	return _commit_stones(tool)


## The same round a vase, twelve stones a course.
static func vase_of_stones(height: float, wall: float) -> ArrayMesh:
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	var bend := func(p: Vector3) -> Vector3:
		return _revolved(Vector2(_vase_radius(height, p.y) - wall * (1.0 - p.z), height * (p.y - 0.5)), -TAU * p.x)
	for course in 14:
		for sector in 12:
			var shift := 0.5 * (course % 2) / 12.0
			_add_stone(tool, Vector3(sector / 12.0 + shift, course / 14.0, 0), Vector3(1.0 / 12.0, 1.0 / 14.0, 1), bend)
	return _commit_stones(tool)


static func _add_stone(tool: SurfaceTool, low: Vector3, size: Vector3, place: Callable) -> void:
	for axis in 3:
		for side in 2:
			var corners: Array[Vector3] = []
			for corner: Vector2 in [Vector2(0, 0), Vector2(1, 0), Vector2(1, 1), Vector2(0, 1)]:
				var p := Vector3.ZERO
				p[axis] = side
				p[(axis + 1) % 3] = corner.x
				p[(axis + 2) % 3] = corner.y
				corners.append(place.call(low + p * size))
			for index: int in ([0, 2, 1, 0, 3, 2] if side == 1 else [0, 1, 2, 0, 2, 3]):
				tool.set_smooth_group(-1)
				tool.set_uv(Vector2(corners[index].x + 0.3 * corners[index].z, -corners[index].y))
				tool.add_vertex(corners[index])


static func _commit_stones(tool: SurfaceTool) -> ArrayMesh:
	tool.generate_normals()
	tool.generate_tangents()
	return tool.commit()


# -- Materials --------------------------------------------------------------------------------------------------------


static func _noise(seed: int, frequency: float, octaves := 4) -> FastNoiseLite:
	var noise := FastNoiseLite.new()
	noise.seed = seed
	noise.frequency = frequency
	noise.fractal_octaves = octaves
	return noise


## Colours between two by noise that may be stretched along u and v, and a normal map of the same.
static func _textured(a: Color, b: Color, noise: FastNoiseLite, stretch: Vector2, metres: float, bumps: float) -> StandardMaterial3D:
	var size := 256
	var colors := Image.create_empty(size, size, false, Image.FORMAT_RGB8)
	var heights := Image.create_empty(size, size, false, Image.FORMAT_RGB8)
	for y in size:
		for x in size:
			# Seamless: a torus in four dimensions is too dear; two blended halves do.
			var blend := Vector2(x, y) / size
			var at := Vector2(x, y) / stretch
			var whole := Vector2(size, size) / stretch
			var value := lerpf(noise.get_noise_2d(at.x, at.y), noise.get_noise_2d(at.x - whole.x, at.y), blend.x)
			var below := lerpf(noise.get_noise_2d(at.x, at.y - whole.y), noise.get_noise_2d(at.x - whole.x, at.y - whole.y), blend.x)
			value = clampf(0.5 + 0.9 * lerpf(value, below, blend.y), 0.0, 1.0)
			colors.set_pixel(x, y, a.lerp(b, value))
			heights.set_pixel(x, y, Color(value, value, value))
	heights.bump_map_to_normal_map(bumps)
	heights.generate_mipmaps()
	colors.generate_mipmaps()
	var material := StandardMaterial3D.new()
	material.albedo_texture = ImageTexture.create_from_image(colors)
	material.normal_enabled = bumps > 0.0
	material.normal_texture = ImageTexture.create_from_image(heights)
	material.uv1_scale = Vector3(1.0 / metres, 1.0 / metres, 1)
	material.roughness = 0.9
	return material


static func concrete() -> StandardMaterial3D:
	return _textured(Color(0.29, 0.285, 0.27), Color(0.43, 0.42, 0.4), _noise(3, 0.03), Vector2.ONE, 0.8, 0.6)


static func concrete_inside() -> StandardMaterial3D:
	return _textured(Color(0.2, 0.19, 0.175), Color(0.5, 0.47, 0.43), _noise(5, 0.09), Vector2.ONE, 0.25, 3.0)


## Fibres along u, or upright along v.
static func wood(is_upright := false) -> StandardMaterial3D:
	var stretch := Vector2(9.0, 1.0) if not is_upright else Vector2(1.0, 9.0)
	var material := _textured(Color(0.24, 0.13, 0.06), Color(0.44, 0.27, 0.14), _noise(9, 0.06, 3), stretch, 0.5, 0.8)
	material.roughness = 0.6
	return material


static func wood_inside() -> StandardMaterial3D:
	return _textured(Color(0.36, 0.25, 0.15), Color(0.62, 0.49, 0.33), _noise(11, 0.12, 4), Vector2(14.0, 1.0), 0.25, 2.5)


static func glass() -> StandardMaterial3D:
	var material := StandardMaterial3D.new()
	material.albedo_color = Color(0.5, 0.62, 0.62, 0.16)
	material.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
	material.roughness = 0.04
	material.metallic_specular = 0.9
	return material


static func glass_inside() -> StandardMaterial3D:
	var material := StandardMaterial3D.new()
	material.albedo_color = Color(0.17, 0.28, 0.26, 0.42)
	material.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
	material.roughness = 0.12
	material.metallic_specular = 0.9
	return material


static func iron() -> StandardMaterial3D:
	var material := StandardMaterial3D.new()
	material.albedo_color = Color(0.12, 0.12, 0.13)
	material.metallic = 0.6
	material.roughness = 0.35
	return material


static func ground() -> StandardMaterial3D:
	var material := _textured(Color(0.2, 0.195, 0.18), Color(0.28, 0.27, 0.25), _noise(21, 0.05), Vector2.ONE, 3.0, 0.5)
	material.uv1_scale = Vector3(30, 30, 1)
	return material


## Two bricks of 0.24 m and four courses of 0.071 m with joints of 0.01 m, as splinters of a wall of 2.4 x 1.6 m lie.
static func brick() -> StandardMaterial3D:
	var metres := Vector2(0.5, 0.324)
	var size := Vector2i(512, 332)
	var noise := _noise(31, 0.05)
	var colors := Image.create_empty(size.x, size.y, false, Image.FORMAT_RGB8)
	var heights := Image.create_empty(size.x, size.y, false, Image.FORMAT_RGB8)
	for y in size.y:
		for x in size.x:
			var at := Vector2(x, size.y - 1 - y) / Vector2(size) * metres
			var course := int(at.y / 0.081)
			var along := at.x + (0.125 if course % 2 == 1 else 0.0)
			var number := int(along / 0.25) % 2 + 2 * course
			var inset := minf(minf(fposmod(along, 0.25), 0.25 - fposmod(along, 0.25)), minf(fposmod(at.y, 0.081), 0.081 - fposmod(at.y, 0.081)))
			var grain := noise.get_noise_2d(x, y)
			var edge := smoothstep(0.004, 0.007, inset + 0.001 * grain)
			var tone := Color(0.33, 0.12, 0.08).lerp(Color(0.46, 0.21, 0.13), fposmod(number * 0.37, 1.0))
			colors.set_pixel(x, y, Color(0.46, 0.44, 0.41).lerp(tone, edge) * (1.0 + 0.25 * grain))
			var height := 0.35 + 0.5 * edge + 0.12 * grain
			heights.set_pixel(x, y, Color(height, height, height))
	heights.bump_map_to_normal_map(3.0)
	heights.generate_mipmaps()
	colors.generate_mipmaps()
	var material := StandardMaterial3D.new()
	material.albedo_texture = ImageTexture.create_from_image(colors)
	material.normal_enabled = true
	material.normal_texture = ImageTexture.create_from_image(heights)
	material.uv1_scale = Vector3(1.0 / metres.x, 1.0 / metres.y, 1)
	material.uv1_offset = Vector3(1.2 / metres.x, -0.8 / metres.y, 0)
	material.roughness = 0.92
	return material


static func brick_inside() -> StandardMaterial3D:
	return _textured(Color(0.3, 0.12, 0.08), Color(0.55, 0.28, 0.19), _noise(41, 0.09), Vector2.ONE, 0.2, 2.5)
