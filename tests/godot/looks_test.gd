extends "res://picture_script.gd"
## Draws the same things twice, as Godot draws them and as bodies, and compares the two pictures pixel by pixel: every
## kind of StandardMaterial3D and ORMMaterial3D on a body at rest, and a bent body against a mesh that was bent here.
##
## godot --fixed-fps 60 --path tests/godot --script res://looks_test.gd -- RENDERING_METHOD PICTURE.png [PART]
##
## PART is looks, mixed, bent, breaking or moving; without it all but `looks`, in Compatibility all but `mixed`. A look is
## 8 s of compiling shaders on a processor in Forward+ with nothing kept from a run before, so the mixed ones have all
## that the single ones have, in a third of the shaders; the single ones tell which of it is wrong.
##
## Prints "ok NAME" or "FAIL NAME: CAUSE" for each check and ends with "LOOKS TEST DONE".

const COLUMNS := 8
const TOLERANCE := 0.012 # mean difference of a tile's colours, 0 to 1

var _albedo_map := _make_map(func(x: int, y: int) -> Color: return Color(0.9, 0.4, 0.2) if (x / 8 + y / 8) % 2 else Color(0.2, 0.5, 0.8, 0.3))
var _bump_map := _make_map(func(x: int, y: int) -> Color: return Color(0.5 + 0.3 * sin(x * 0.4), 0.5 + 0.3 * sin(y * 0.4), 0.9))
var _channel_map := _make_map(func(x: int, y: int) -> Color: return Color(x / 64.0, y / 64.0, 1.0 - x / 64.0, 0.5 + y / 128.0))


func _take_all(_method: String, picture: String) -> void:
	DestructionServer.gravity_override = true
	DestructionServer.gravity = Vector3.ZERO
	DestructionServer.ground_enabled = false
	_build_stage()
	await _shoot() # only now the window has its size
	var part := argument(2, "")
	var is_quick := RenderingServer.get_current_rendering_method() == "gl_compatibility"
	if part == "looks" or part == "" and is_quick:
		await _compare_looks(_make_looks(), picture)
	if part == "mixed" or part == "" and not is_quick:
		await _compare_looks(_make_mixed_looks(), picture)
	if part in ["", "bent"]:
		await _compare_bent(picture)
	if part in ["", "breaking"]:
		await _check_breaking(picture)
	if part in ["", "moving"]:
		await _compare_moving("interpolated", picture)
	if part in ["", "moving"] and RenderingServer.get_current_rendering_method() == "forward_plus":
		root.use_taa = true
		await _compare_moving("moving_with_taa", picture)
		root.use_taa = false
		root.scaling_3d_mode = Viewport.SCALING_3D_MODE_FSR2
		root.scaling_3d_scale = 0.5
		await _compare_moving("moving_with_fsr2", picture)
		root.scaling_3d_mode = Viewport.SCALING_3D_MODE_BILINEAR
		root.scaling_3d_scale = 1.0
	await process_frame


# -- Materials --------------------------------------------------------------------------------------------------------


func _make_map(color_at: Callable) -> ImageTexture:
	var image := Image.create(64, 64, true, Image.FORMAT_RGBA8)
	for y in 64:
		for x in 64:
			image.set_pixel(x, y, color_at.call(x, y))
	image.generate_mipmaps()
	return ImageTexture.create_from_image(image)


func _look(values: Dictionary, orm := false) -> BaseMaterial3D:
	var look: BaseMaterial3D = ORMMaterial3D.new() if orm else StandardMaterial3D.new()
	look.albedo_color = Color(0.8, 0.7, 0.5)
	look.roughness = 0.5
	for key: String in values:
		look.set(key, values[key])
	return look


func _make_looks() -> Dictionary:
	var outline := _look({"albedo_color": Color.BLACK, "shading_mode": BaseMaterial3D.SHADING_MODE_UNSHADED,
			"cull_mode": BaseMaterial3D.CULL_FRONT, "grow": true, "grow_amount": 0.05})
	var looks := {
		"plain": _look({}),
		"metal": _look({"metallic": 1.0, "roughness": 0.3}),
		"albedo_texture": _look({"albedo_texture": _albedo_map, "uv1_scale": Vector3(3, 2, 1), "uv1_offset": Vector3(0.1, 0.2, 0)}),
		"nearest_filter": _look({"albedo_texture": _albedo_map, "texture_filter": BaseMaterial3D.TEXTURE_FILTER_NEAREST}),
		"no_repeat": _look({"albedo_texture": _albedo_map, "uv1_scale": Vector3(3, 3, 3), "texture_repeat": false}),
		"normal_map": _look({"normal_enabled": true, "normal_texture": _bump_map, "normal_scale": 0.8, "uv1_scale": Vector3(2, 2, 2)}),
		"channels": _look({"metallic": 0.9, "metallic_texture": _channel_map, "metallic_texture_channel": BaseMaterial3D.TEXTURE_CHANNEL_GREEN,
				"roughness": 0.9, "roughness_texture": _channel_map, "roughness_texture_channel": BaseMaterial3D.TEXTURE_CHANNEL_BLUE}),
		"orm": _look({"orm_texture": _channel_map, "ao_enabled": true, "ao_light_affect": 0.8}, true),
		"emission_add": _look({"emission_enabled": true, "emission": Color(0.1, 0.3, 0.1), "emission_texture": _channel_map,
				"emission_energy_multiplier": 0.7}),
		"emission_multiply": _look({"emission_enabled": true, "emission": Color(0.5, 0.9, 0.5), "emission_texture": _channel_map,
				"emission_operator": BaseMaterial3D.EMISSION_OP_MULTIPLY}),
		"alpha": _look({"albedo_color": Color(0.2, 0.8, 0.4, 0.4), "transparency": BaseMaterial3D.TRANSPARENCY_ALPHA}),
		"scissor": _look({"albedo_texture": _albedo_map, "transparency": BaseMaterial3D.TRANSPARENCY_ALPHA_SCISSOR}),
		"depth_prepass": _look({"albedo_texture": _albedo_map, "transparency": BaseMaterial3D.TRANSPARENCY_ALPHA_DEPTH_PRE_PASS}),
		"two_sided": _look({"albedo_texture": _albedo_map, "transparency": BaseMaterial3D.TRANSPARENCY_ALPHA_SCISSOR,
				"cull_mode": BaseMaterial3D.CULL_DISABLED}),
		"front_culled": _look({"cull_mode": BaseMaterial3D.CULL_FRONT, "disable_receive_shadows": true}),
		"blend_add": _look({"blend_mode": BaseMaterial3D.BLEND_MODE_ADD}),
		"blend_mul": _look({"blend_mode": BaseMaterial3D.BLEND_MODE_MUL}),
		"unshaded": _look({"shading_mode": BaseMaterial3D.SHADING_MODE_UNSHADED}),
		"per_vertex": _look({"shading_mode": BaseMaterial3D.SHADING_MODE_PER_VERTEX}),
		"triplanar": _look({"albedo_texture": _albedo_map, "uv1_triplanar": true, "uv1_scale": Vector3(1.5, 1.5, 1.5)}),
		"triplanar_bump": _look({"normal_enabled": true, "normal_texture": _bump_map, "uv1_triplanar": true, "uv1_triplanar_sharpness": 4.0}),
		"vertex_color": _look({"vertex_color_use_as_albedo": true}),
		"vertex_color_srgb": _look({"vertex_color_use_as_albedo": true, "vertex_color_is_srgb": true}),
		"toon": _look({"diffuse_mode": BaseMaterial3D.DIFFUSE_TOON, "specular_mode": BaseMaterial3D.SPECULAR_TOON}),
		"rim": _look({"rim_enabled": true, "rim": 0.9, "rim_tint": 0.2}),
		"clearcoat": _look({"clearcoat_enabled": true, "clearcoat": 1.0, "clearcoat_roughness": 0.1, "roughness": 1.0}),
		"anisotropy": _look({"anisotropy_enabled": true, "anisotropy": 0.8, "metallic": 0.7, "roughness": 0.4}),
		"ao": _look({"ao_enabled": true, "ao_texture": _channel_map, "ao_light_affect": 1.0}),
		"backlight": _look({"backlight_enabled": true, "backlight": Color(0.5, 0.1, 0.1)}),
		"detail": _look({"detail_enabled": true, "detail_albedo": _albedo_map, "detail_blend_mode": BaseMaterial3D.BLEND_MODE_MUL}),
		"detail_uv2": _look({"detail_enabled": true, "detail_albedo": _albedo_map, "detail_uv_layer": BaseMaterial3D.DETAIL_UV_2,
				"uv2_scale": Vector3(2, 2, 2)}),
		"height": _look({"heightmap_enabled": true, "heightmap_texture": _channel_map, "heightmap_scale": 8.0, "albedo_texture": _albedo_map}),
		"grow": _look({"grow": true, "grow_amount": 0.1}),
		"outline": _look({"next_pass": outline}),
		"refraction": _look({"albedo_color": Color(0.8, 1, 0.9, 0.2), "refraction_enabled": true, "refraction_scale": 0.1}),
		"no_shadows": _look({"disable_receive_shadows": true, "disable_ambient_light": true}),
	}
	if RenderingServer.get_current_rendering_method() == "forward_plus":
		looks["subsurface"] = _look({"subsurf_scatter_enabled": true, "subsurf_scatter_strength": 0.6,
				"subsurf_scatter_transmittance_enabled": true, "subsurf_scatter_transmittance_color": Color.RED})
	return looks


## All that the single looks have, several in one where none hides the other.
func _make_mixed_looks() -> Dictionary:
	var single := _make_looks()
	var looks := {
		"mixed_maps": _mix(single, ["albedo_texture", "normal_map", "channels", "emission_add", "rim", "ao", "backlight"]),
		"mixed_orm": _mix(single, ["orm", "clearcoat", "nearest_filter"]),
		"mixed_metal": _mix(single, ["metal", "anisotropy", "vertex_color_srgb", "detail"]),
		"mixed_alpha": _mix(single, ["alpha", "vertex_color", "emission_multiply", "no_shadows"]),
		"mixed_scissor": _mix(single, ["scissor", "two_sided", "no_repeat", "toon"]),
		"mixed_prepass": _mix(single, ["depth_prepass", "per_vertex", "grow"]),
		"mixed_triplanar": _mix(single, ["triplanar", "triplanar_bump", "unshaded"]),
		"mixed_culled": _mix(single, ["front_culled", "triplanar_bump", "detail_uv2"]),
		"mixed_height": _mix(single, ["height", "outline"]),
	}
	for alone: String in ["plain", "blend_add", "blend_mul", "refraction", "subsurface"]:
		if single.has(alone):
			looks[alone] = single[alone]
	return looks


## The first of these looks with whatever the others set.
func _mix(looks: Dictionary, names: Array) -> BaseMaterial3D:
	var plain := _look({})
	var mixed: BaseMaterial3D = looks[names[0]]
	for other: String in names.slice(1):
		for property in plain.get_property_list():
			var value: Variant = looks[other].get(property.name)
			if property.usage & PROPERTY_USAGE_STORAGE and value != plain.get(property.name):
				mixed.set(property.name, value)
	return mixed


# -- The stage --------------------------------------------------------------------------------------------------------


func _build_stage() -> void:
	add_environment(root, Color(0.25, 0.3, 0.4), 0.3)
	add_sun(root, Vector3(0.6, -1.0, -0.8))
	_camera = Camera3D.new()
	_camera.projection = Camera3D.PROJECTION_ORTHOGONAL
	root.add_child(_camera)


## With texture coordinates, tangents and colours.
func _make_sphere() -> ArrayMesh:
	var sphere := SphereMesh.new()
	sphere.radial_segments = 32
	sphere.rings = 16
	var arrays := sphere.get_mesh_arrays()
	var vertices: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
	var colors := PackedColorArray()
	for vertex in vertices:
		colors.append(Color8(128 + int(200 * vertex.x), 128 + int(200 * vertex.y), 60))
	arrays[Mesh.ARRAY_COLOR] = colors
	arrays[Mesh.ARRAY_TEX_UV2] = arrays[Mesh.ARRAY_TEX_UV]
	var mesh := ArrayMesh.new()
	mesh.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
	return mesh


# -- At rest ----------------------------------------------------------------------------------------------------------


func _compare_looks(looks: Dictionary, picture: String) -> void:
	var rows := ceili(looks.size() / float(COLUMNS))
	_camera.size = 1.3 * rows
	_camera.look_at_from_position(Vector3(0.65 * (COLUMNS - 1), -0.65 * (rows - 1), 10), Vector3(0.65 * (COLUMNS - 1), -0.65 * (rows - 1), 0))
	var sphere := _make_sphere()
	var baked := DestructibleMesh.new()
	baked.source_mesh = sphere
	baked.element_count = 200
	check(baked.bake() == OK, "sphere_is_baked", "see the error above")
	var bodies := Node3D.new()
	var originals := Node3D.new()
	root.add_child(bodies)
	root.add_child(originals)
	for look: BaseMaterial3D in looks.values():
		var place := Vector3(1.3 * (bodies.get_child_count() % COLUMNS), -1.3 * (bodies.get_child_count() / COLUMNS), 0)
		var body := DestructibleBody.new()
		body.mesh = baked
		body.surface_material = look
		body.position = place
		bodies.add_child(body)
		var original := MeshInstance3D.new()
		original.mesh = sphere
		original.material_override = look
		original.position = place
		originals.add_child(original)
	originals.hide()
	var drawn := await _shoot()
	originals.show()
	bodies.hide()
	var expected := await _shoot()
	if picture:
		_save_both(drawn, expected, picture)
	var names := looks.keys()
	for i in names.size():
		var difference := _difference(drawn, expected, Vector3(1.3 * (i % COLUMNS), -1.3 * (i / COLUMNS), 0), 0.6)
		check(difference < TOLERANCE, names[i], "its pixels differ by %.4f on average" % difference)
	bodies.free()
	originals.free()


func _save_both(drawn: Image, expected: Image, picture: String) -> void:
	var both := Image.create(drawn.get_width(), 2 * drawn.get_height(), false, Image.FORMAT_RGB8)
	both.blit_rect(drawn, Rect2i(Vector2i.ZERO, drawn.get_size()), Vector2i.ZERO)
	both.blit_rect(expected, Rect2i(Vector2i.ZERO, drawn.get_size()), Vector2i(0, drawn.get_height()))
	check(both.save_png(picture) == OK, "picture_saved", picture + " cannot be written")


func _difference(a: Image, b: Image, center: Vector3, radius: float) -> float:
	var low := Vector2i(_camera.unproject_position(center - Vector3(radius, -radius, 0))).clamp(Vector2i.ZERO, a.get_size())
	var high := Vector2i(_camera.unproject_position(center + Vector3(radius, -radius, 0))).clamp(Vector2i.ZERO, a.get_size())
	var sum := 0.0
	for y in range(low.y, high.y):
		for x in range(low.x, high.x):
			var p := a.get_pixel(x, y)
			var q := b.get_pixel(x, y)
			sum += (absf(p.r - q.r) + absf(p.g - q.g) + absf(p.b - q.b)) / 3.0
	return sum / maxf(1.0, (high.x - low.x) * (high.y - low.y))


# -- Bent -------------------------------------------------------------------------------------------------------------


## A rod that hangs from one end is bent by its weight, far more than a tetrahedron long; beside it the same triangles at
## the places that the simulation tells, with normals from those triangles.
func _compare_bent(picture: String) -> void:
	var rod := CylinderMesh.new()
	rod.top_radius = 0.25
	rod.bottom_radius = 0.25
	rod.height = 2.4
	rod.radial_segments = 40
	rod.rings = 48
	var baked := DestructibleMesh.new()
	baked.source_mesh = rod
	baked.element_count = 250
	check(baked.bake() == OK, "rod_is_baked", "see the error above")
	var body := DestructibleBody.new()
	body.mesh = baked
	body.material = MaterialResource.new()
	body.material.stiffness = 3e5
	body.material.damping = 0.5
	body.surface_material = _stripes(true)
	body.rotation = Vector3(0, 0, PI / 2)
	body.anchors = [AABB(Vector3(-1, 0.9, -1), Vector3(2, 1, 2))]
	DestructionServer.gravity = Vector3(0, -9.8, 0)
	root.add_child(body)
	RenderingServer.render_loop_enabled = false # nobody looks
	for i in 90:
		await physics_frame
	RenderingServer.render_loop_enabled = true
	for i in 8: # normals become smooth when a look now and then finds the body bent
		await process_frame
	paused = true
	_camera.size = 2.6
	_camera.look_at_from_position(Vector3(0, -0.4, 8), Vector3(0, -0.4, 0))
	var drawn := await _shoot()
	var copy := MeshInstance3D.new()
	copy.mesh = _bent_copy(rod, body.get_vertex_positions())
	copy.material_override = _stripes(false)
	root.add_child(copy)
	body.hide()
	var expected := await _shoot()
	if picture:
		_save_both(drawn, expected, picture.replace(".png", "_bent.png"))
	var bounds := body.get_aabb_world()
	check(bounds.size.y > 1.2, "rod_is_bent", "it is %.2f m high" % bounds.size.y)
	var difference := _difference(drawn, expected, bounds.get_center(), 1.0)
	check(difference < 4.0 * TOLERANCE, "bent_rod", "its pixels differ by %.4f on average" % difference)
	# The triangles have a kink wherever they pass from one tetrahedron to the next; the body's normals must not.
	var kinks := _kinks(drawn)
	var kinks_of_triangles := _kinks(expected)
	check(kinks < 1.2 * kinks_of_triangles, "normals_are_smooth", "kinks %.4f, those of the triangles %.4f" % [kinks, kinks_of_triangles])
	copy.free()
	body.free()
	paused = false


## Stripes by the direction of the normal: a reflection of a striped room, which shows the least kink.
func _stripes(follows: bool) -> ShaderMaterial:
	var look := ShaderMaterial.new()
	look.shader = Shader.new()
	look.shader.code = ("shader_type spatial;\nrender_mode unshaded;\n"
			+ ("#include \"res://addons/fem_destruction/shaders/fem_position.gdshaderinc\"\n" if follows else "")
			+ "void vertex() {\n"
			+ ("fem_deform(VERTEX, NORMAL, TANGENT, BINORMAL, CUSTOM0, CUSTOM1, MODEL_MATRIX);\n" if follows else "")
			+ "}\nvoid fragment() { vec3 n = normalize(NORMAL); ALBEDO = vec3(0.5 + 0.5 * sin(12.0 * n.x), 0.5 + 0.5 * sin(12.0 * n.y), 0.5); }\n")
	return look


## How much the colour's slope changes from pixel to pixel along the rod, away from its outline; of the sharpest hundredth.
func _kinks(image: Image) -> float:
	var changes := PackedFloat64Array()
	var background := image.get_pixel(2, 2)
	for y in range(4, image.get_height() - 4):
		for x in range(4, image.get_width() - 4):
			var inside := true
			for step: Vector2i in [Vector2i(-4, 0), Vector2i(4, 0), Vector2i(0, -4), Vector2i(0, 4)]:
				inside = inside and not image.get_pixel(x + step.x, y + step.y).is_equal_approx(background)
			if inside:
				var a := image.get_pixel(x - 1, y)
				var b := image.get_pixel(x, y)
				var c := image.get_pixel(x + 1, y)
				changes.append(absf(a.r - 2.0 * b.r + c.r) + absf(a.g - 2.0 * b.g + c.g))
	changes.sort()
	return changes[changes.size() * 99 / 100] if changes else 0.0


func _bent_copy(source: PrimitiveMesh, positions: PackedVector3Array) -> ArrayMesh:
	var arrays := source.get_mesh_arrays()
	var indices: PackedInt32Array = arrays[Mesh.ARRAY_INDEX]
	var rest: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
	var rest_normals: PackedVector3Array = arrays[Mesh.ARRAY_NORMAL]
	# Vertices of one place and normal share theirs, as where the texture begins and ends.
	var sums := {}
	for i in range(0, indices.size(), 3):
		var a := positions[indices[i]]
		var area := (positions[indices[i + 2]] - a).cross(positions[indices[i + 1]] - a)
		for k in 3:
			var key := [rest[indices[i + k]].snappedf(0.001), rest_normals[indices[i + k]].snappedf(0.01)]
			sums[key] = sums.get(key, Vector3.ZERO) + area
	var normals := PackedVector3Array()
	for i in positions.size():
		normals.append(sums[[rest[i].snappedf(0.001), rest_normals[i].snappedf(0.01)]].normalized())
	arrays[Mesh.ARRAY_VERTEX] = positions
	arrays[Mesh.ARRAY_NORMAL] = normals
	arrays[Mesh.ARRAY_TANGENT] = null
	var mesh := ArrayMesh.new()
	mesh.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
	return mesh


# -- Moving -----------------------------------------------------------------------------------------------------------


## A body that flies along between slow ticks, and a mesh beside it that is put where the body should be drawn. With TAA
## both leave the same traces only if the body's motion vectors are right.
func _compare_moving(test_name: String, picture: String) -> void:
	const SPEED := 3.0
	const BACK := 0.1 # seconds: what is drawn lies one tick behind
	Engine.physics_ticks_per_second = 10
	physics_interpolation = true
	DestructionServer.gravity = Vector3.ZERO
	_camera.size = 5.0
	_camera.look_at_from_position(Vector3(0, 0, 10), Vector3.ZERO)
	var pixel := _camera.size / root.size.y
	var apart := roundf(1.6 / pixel) * pixel # whole pixels; edges not between two
	var upper := 0.5 * apart + 0.37 * pixel
	var look := _look({"albedo_texture": _albedo_map, "uv1_scale": Vector3(2, 2, 2), "shading_mode": BaseMaterial3D.SHADING_MODE_UNSHADED})
	var box := BoxMesh.new()
	var baked := DestructibleMesh.new()
	baked.source_mesh = box
	baked.element_count = 60
	check(baked.bake() == OK, test_name + "_box_is_baked", "see the error above")
	var body := DestructibleBody.new()
	body.mesh = baked
	body.surface_material = look
	body.start_velocity = Vector3(SPEED, 0, 0)
	body.position = Vector3(-3.0, upper, 0)
	root.add_child(body)
	var copy := MeshInstance3D.new()
	copy.mesh = box
	copy.material_override = look
	copy.physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF
	root.add_child(copy)
	var worst := 0.0
	for frame in 32:
		await process_frame
		# After this signal nodes take their places for the frame; the fraction is that of the frame.
		var center := body.get_center_of_mass().x - SPEED * BACK * (1.0 - Engine.get_physics_interpolation_fraction())
		copy.position = Vector3(center, upper - apart, 0)
		await RenderingServer.frame_post_draw
		if frame < 18:
			continue
		var image := root.get_texture().get_image()
		image.convert(Image.FORMAT_RGB8)
		var difference := _difference_apart(image, roundi(apart / pixel))
		if difference > worst and picture:
			image.save_png(picture.replace(".png", "_%s.png" % test_name))
		worst = maxf(worst, difference)
	print("-- %s: the worst frame differs by %.4f on average" % [test_name, worst])
	check(worst < TOLERANCE, test_name, "the worst frame differs by %.4f on average" % worst)
	if test_name == "interpolated":
		await _check_paused()
	body.free()
	copy.free()
	physics_interpolation = false
	Engine.physics_ticks_per_second = 60


## Frames go on between the ticks of a paused game; what is drawn in them does not.
func _check_paused() -> void:
	paused = true
	for i in 8: # more than a tick
		await process_frame
	var first := await _shoot()
	await process_frame
	await process_frame
	check(first.get_data() == (await _shoot()).get_data(), "paused_between_ticks", "the body moves")
	paused = false


## Of the upper half of the picture from what is drawn `rows` below.
func _difference_apart(image: Image, rows: int) -> float:
	var sum := 0.0
	var half := image.get_height() / 2
	for y in range(half - rows + 10, half - 4):
		for x in image.get_width():
			var p := image.get_pixel(x, y)
			var q := image.get_pixel(x, y + rows)
			sum += (absf(p.r - q.r) + absf(p.g - q.g) + absf(p.b - q.b)) / 3.0
	return sum / ((rows - 14.0) * image.get_width() * 0.2)


# -- Breaking ---------------------------------------------------------------------------------------------------------


## A slab that is torn shows its inside in the material for that, or in its own colour, darker; free pieces fade and go.
func _check_breaking(picture: String) -> void:
	DestructionServer.gravity = Vector3.ZERO
	_camera.size = 6.0
	_camera.look_at_from_position(Vector3(0, 0, 10), Vector3.ZERO)
	var inside := _look({"albedo_color": Color(1, 0, 1), "shading_mode": BaseMaterial3D.SHADING_MODE_UNSHADED})
	var own := _add_brittle(Vector3(-1.3, 0, 0), inside)
	var plain := _add_brittle(Vector3(1.3, 0, 0), null)
	RenderingServer.render_loop_enabled = false
	for body: DestructibleBody in [own, plain]:
		body.apply_impulse(Vector3(400, 900, 2500), body.position + Vector3(0.5, 0.2, 0))
	for i in 24:
		await physics_frame
	RenderingServer.render_loop_enabled = true
	paused = true
	var image := await _shoot()
	if picture:
		image.save_png(picture.replace(".png", "_breaking.png"))
	check(own.get_piece_count() > 2, "slab_is_broken", "it has %d pieces" % own.get_piece_count())
	check(_count(image, _is_magenta) > 30, "interior_material", "%d pixels show it" % _count(image, _is_magenta))
	check(_count(image, _is_dark_green) > 30, "inside_without_material", "%d pixels show it" % _count(image, _is_dark_green))
	own.hide()
	image = await _shoot()
	var before := _count(image, _is_green)
	paused = false
	plain.debris_lifetime = 1.0
	plain.debris_fade = 0.55
	RenderingServer.render_loop_enabled = false
	for i in 27: # with the 0.4 s before: most of the fading is over
		await physics_frame
	RenderingServer.render_loop_enabled = true
	paused = true
	image = await _shoot()
	if picture:
		image.save_png(picture.replace(".png", "_fading.png"))
	var after := _count(image, _is_green)
	check(after > 0.3 * before and after < 0.95 * before, "pieces_fade", "%d of %d pixels are left" % [after, before])
	paused = false
	own.free()
	plain.free()


func _add_brittle(place: Vector3, interior: Material) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = Vector3(2.0, 1.2, 0.4)
	body.cells = Vector3i(8, 5, 2)
	body.material = MaterialResource.new()
	body.material.stiffness = 2e6
	body.material.breakable = true
	body.material.toughness = 1.5e4
	body.material.interior_material = interior
	body.surface_material = _look({"albedo_color": Color(0.1, 0.8, 0.2), "roughness": 1.0})
	body.position = place
	root.add_child(body)
	return body


func _count(image: Image, matches: Callable) -> int:
	var count := 0
	for y in image.get_height():
		for x in image.get_width():
			count += int(matches.call(image.get_pixel(x, y)))
	return count


func _is_magenta(pixel: Color) -> bool:
	return pixel.r > 0.8 and pixel.b > 0.8 and pixel.g < 0.3


func _is_green(pixel: Color) -> bool:
	return pixel.g > 1.5 * maxf(pixel.r, pixel.b)


func _is_dark_green(pixel: Color) -> bool:
	return _is_green(pixel) and pixel.g < 0.42
