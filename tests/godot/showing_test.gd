extends "res://picture_script.gd"
## Whether bodies are drawn as a scene asks for it: materials of surfaces and regions, changes during play, tetrahedra, places far
## away, jumps, and a bent body in light and shadow beside a mesh that was bent here.
##
## godot --fixed-fps 60 --path tests/godot --script res://showing_test.gd -- RENDERING_METHOD PICTURE.png
##
## Prints "ok NAME" or "FAIL NAME: CAUSE" for each check and ends with "SHOWING TEST DONE".

const BACKGROUND := Color(0.25, 0.3, 0.4)
const TOLERANCE := 0.005 # mean difference of colours, 0 to 1

var _picture := ""


func _take_all(_method: String, picture: String) -> void:
	_picture = picture
	DestructionServer.gravity_override = true
	DestructionServer.gravity = Vector3.ZERO
	DestructionServer.ground_enabled = false
	_build_stage()
	await _shoot() # only now the window has its size
	await _check_surfaces()
	await _check_while_baking()
	await _check_changes()
	await _check_layers_and_shadows()
	await _check_tets()
	await _check_bare()
	await _check_far()
	await _check_worlds()
	await _check_jump()
	await _check_states()
	await _check_bent()
	await process_frame


# -- The stage --------------------------------------------------------------------------------------------------------


func _build_stage() -> void:
	add_environment(root, BACKGROUND, 0.3)
	_camera = Camera3D.new()
	_camera.projection = Camera3D.PROJECTION_ORTHOGONAL
	root.add_child(_camera)
	_look_from(Vector3(0, 0, 10), 4.0)


func _look_from(place: Vector3, size: float) -> void:
	_camera.size = size
	_camera.position = place


func _flat(color: Color) -> StandardMaterial3D:
	var look := StandardMaterial3D.new()
	look.albedo_color = color
	look.shading_mode = BaseMaterial3D.SHADING_MODE_UNSHADED
	return look


func _material_of(color: Color) -> MaterialResource:
	var material := MaterialResource.new()
	material.surface_material = _flat(color)
	return material


## Two cubes of 0.8 m at x = -1 and 1, each a surface.
func _two_cubes(first: Material, second: Material) -> ArrayMesh:
	var mesh := ArrayMesh.new()
	var box := BoxMesh.new()
	box.size = Vector3.ONE * 0.8
	for i in 2:
		var arrays := box.get_mesh_arrays()
		var positions: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
		for v in positions.size():
			positions[v].x += 2.0 * i - 1.0
		arrays[Mesh.ARRAY_VERTEX] = positions
		mesh.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
		mesh.surface_set_material(i, [first, second][i])
	return mesh


func _add(mesh: Mesh, at := Vector3.ZERO) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.element_count = 100
	body.position = at
	return body


func _pixel(image: Image, at: Vector3) -> Color:
	return image.get_pixelv(Vector2i(_camera.unproject_position(at)).clamp(Vector2i.ZERO, image.get_size() - Vector2i.ONE))


func _is_like(pixel: Color, color: Color) -> bool:
	return maxf(absf(pixel.r - color.r), maxf(absf(pixel.g - color.g), absf(pixel.b - color.b))) < 0.03


func _check_colors(image: Image, test_name: String, left: Color, right: Color, at := Vector3.ZERO) -> void:
	var found: Array[Color] = [_pixel(image, at + Vector3(-1, 0, 0)), _pixel(image, at + Vector3(1, 0, 0))]
	check(_is_like(found[0], left) and _is_like(found[1], right), test_name, "they are %s, expected %s and %s" % [found, left, right])


## A bar with one splinter for all of it. When it is broken the splinter goes with one piece; the others are seen without.
func _check_bare() -> void:
	var box := BoxMesh.new()
	box.size = Vector3(2.0, 0.3, 0.3)
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = box
	mesh.element_count = 200
	mesh.splinter_pattern = DestructibleMesh.SPLINTERS_SURFACES
	check(mesh.bake() == OK and mesh.get_baked_splinter_count() == 1, "bar_of_one_splinter", "%d splinters" % mesh.get_baked_splinter_count())
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.material = _material_of(Color.MAGENTA)
	body.material.interior_material = _flat(Color.MAGENTA)
	body.material.stiffness = 2e6
	body.material.breakable = true
	body.material.toughness = 1e4
	body.surface_material = _flat(Color.MAGENTA)
	root.add_child(body)
	for i in 3:
		await physics_frame
	for i in 3:
		body.apply_impulse(Vector3(0, 300.0 if i == 1 else -150.0, 0), Vector3(0.9 * (i - 1), 0.1, 0))
	for i in 10:
		await physics_frame
	var bare: Array[int] = []
	var shown: Array[int] = []
	for piece in body.get_pieces():
		if body.get_piece_data(piece).bare:
			bare.append(piece)
		else:
			shown.append(piece)
	check(shown.size() == 1 and bare.size() > 0, "one_piece_has_the_splinter", "%d of %d pieces" % [shown.size(), body.get_piece_count()])
	body.freeze = true
	body.remove_piece(shown[0]) # the splinter is as large as the whole bar, and hides them
	var image := await _shoot()
	var seen := 0
	for piece in bare:
		seen += int(_is_like(_pixel(image, body.get_piece_data(piece).center), Color.MAGENTA))
	check(seen == bare.size(), "pieces_without_a_splinter_are_seen", "%d of %d" % [seen, bare.size()])
	body.visible = false
	image = await _shoot()
	var left := 0
	for piece in bare:
		left += int(_is_like(_pixel(image, body.get_piece_data(piece).center), Color.MAGENTA))
	check(left == 0, "pieces_without_a_splinter_are_hidden", "%d are seen" % left)
	body.free()
	image = await _shoot()
	check(_is_like(image.get_pixel(240, 160), BACKGROUND), "pieces_without_a_splinter_go", "there is %s" % image.get_pixel(240, 160))


# -- Surfaces ---------------------------------------------------------------------------------------------------------


func _check_surfaces() -> void:
	var body := _add(_two_cubes(_flat(Color.RED), null))
	body.material = _material_of(Color.GREEN)
	root.add_child(body)
	_check_colors(await _shoot(), "a_surface_without_material_looks_like_its_stuff", Color.RED, Color.GREEN)
	body.mesh = _two_cubes(null, null)
	body.region_materials = [_material_of(Color.BLUE), _material_of(Color.YELLOW)]
	_check_colors(await _shoot(), "regions_look_like_their_stuff", Color.BLUE, Color.YELLOW)
	body.region_materials = [null, _material_of(Color.YELLOW)]
	_check_colors(await _shoot(), "a_region_without_material_looks_like_the_others", Color.GREEN, Color.YELLOW)
	body.surface_material = _flat(Color.WHITE)
	_check_colors(await _shoot(), "surface_material_covers_all", Color.WHITE, Color.WHITE)
	body.surface_material = null
	body.material = null
	body.region_materials = []
	var image := await _shoot()
	check(not _is_like(_pixel(image, Vector3(-1, 0, 0)), Color.GREEN), "materials_are_taken_away", "it is still green")
	body.free()


## Until its bake ends a body is drawn as its source.
func _check_while_baking() -> void:
	var body := _add(_two_cubes(null, null))
	body.element_count = 20000
	body.bake_in_background = true
	body.surface_material = _flat(Color.ORANGE)
	root.add_child(body)
	var image := await _shoot()
	if body.is_simulated():
		print("-- it has been baked within three frames: its source was not seen")
	_check_colors(image, "surface_material_while_baking", Color.ORANGE, Color.ORANGE)
	body.surface_material = null
	body.region_materials = [_material_of(Color.BLUE), _material_of(Color.YELLOW)]
	image = await _shoot()
	_check_colors(image, "regions_while_baking", Color.BLUE, Color.YELLOW)
	body.free()


## Neither Godot's materials nor scripts that change them say so.
func _check_changes() -> void:
	var look := _flat(Color.RED)
	var body := _add(_two_cubes(look, null))
	body.material = _material_of(Color.GREEN)
	root.add_child(body)
	await _shoot()
	look.albedo_color = Color.CYAN
	body.material.surface_material.albedo_color = Color.MAGENTA
	for i in 12:
		await process_frame
	_check_colors(await _shoot(), "colors_change_during_play", Color.CYAN, Color.MAGENTA)
	look.shading_mode = BaseMaterial3D.SHADING_MODE_PER_PIXEL
	look.emission_enabled = true
	look.emission = Color.WHITE
	for i in 12:
		await process_frame
	_check_colors(await _shoot(), "features_change_during_play", Color.WHITE, Color.MAGENTA)
	body.surface_material = _flat(Color.YELLOW)
	_check_colors(await _shoot(), "material_is_swapped_during_play", Color.YELLOW, Color.YELLOW)
	body.free()


## Cameras and lights tell layers apart; the settings stay when the body is made anew and when it breaks.
func _check_layers_and_shadows() -> void:
	var light := add_sun(root, Vector3(0, -1.0, -1.0))
	var wall := MeshInstance3D.new()
	wall.mesh = QuadMesh.new()
	wall.mesh.size = Vector2(8, 8)
	wall.position.z = -1.0
	root.add_child(wall)
	var body := DestructibleBody.new()
	body.surface_material = _flat(Color.WHITE)
	body.layers = 4
	root.add_child(body)
	var shade := Vector3(0, -1.0, -1.0)
	var image := await _shoot()
	check(_is_like(_pixel(image, Vector3.ZERO), Color.WHITE), "layer_is_seen", "it is %s" % _pixel(image, Vector3.ZERO))
	var dark := _pixel(image, shade).get_luminance()
	_camera.cull_mask = 0xfffff & ~4
	image = await _shoot()
	check(not _is_like(_pixel(image, Vector3.ZERO), Color.WHITE), "layer_is_hidden", "it is seen all the same")
	body.size = Vector3.ONE * 1.01 # it is made anew
	image = await _shoot()
	check(not _is_like(_pixel(image, Vector3.ZERO), Color.WHITE), "layer_stays_hidden", "it is seen after a change")
	_camera.cull_mask = 0xfffff
	body.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	image = await _shoot()
	var bright := _pixel(image, shade).get_luminance()
	check(dark < 0.8 * bright, "shadow_is_switched_off", "brightness %.3f with and %.3f without it" % [dark, bright])
	body.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_SHADOWS_ONLY
	image = await _shoot()
	check(_pixel(image, shade).get_luminance() < 0.8 * bright and not _is_like(_pixel(image, Vector3.ZERO), Color.WHITE), "shadow_only", "the body is seen, or its shadow is not")
	body.layers = 1
	for node: Node in [body, wall, light]:
		node.free()


func _check_tets() -> void:
	var body := DestructibleBody.new()
	body.cells = Vector3i(3, 3, 3)
	body.size = Vector3.ONE * 3.0
	body.surface_material = _flat(Color.WHITE)
	root.add_child(body)
	var light := DirectionalLight3D.new()
	root.add_child(light)
	var whole := await _shoot()
	check(_count(whole, Color.WHITE) > 1000, "box_is_white", "%d pixels are" % _count(whole, Color.WHITE))
	body.debug_draw_tets = true
	var tets := await _shoot()
	if _picture:
		tets.save_png(_picture.replace(".png", "_tets.png"))
	check(_count(tets, Color.WHITE) == 0, "tets_are_colored", "%d pixels are white" % _count(tets, Color.WHITE))
	var covered := 0.0
	for y in range(-12, 13):
		for x in range(-12, 13):
			covered += float(not _is_like(_pixel(tets, Vector3(x, y, 0) * 0.11), BACKGROUND))
	check(covered > 500, "tets_fill_the_box", "%d of 625 places are covered" % covered)
	body.debug_draw_tets = false
	var again := await _shoot()
	check(again.get_data() == whole.get_data(), "tets_can_be_switched_off", "the picture is another one")
	body.free()
	light.free()


func _count(image: Image, color: Color) -> int:
	var count := 0
	for y in image.get_height():
		for x in image.get_width():
			count += int(_is_like(image.get_pixel(x, y), color))
	return count


# -- Places -----------------------------------------------------------------------------------------------------------


## Positions are relative to the body: only what Godot does with the camera grows coarse, by 0.06 m at a million metres.
func _check_far() -> void:
	var counts: Array[int] = []
	for place: Vector3 in [Vector3.ZERO, Vector3(1e4, 0, -1e4), Vector3(1e6, 0, 1e6)]:
		var body := DestructibleBody.new()
		body.cells = Vector3i(4, 4, 4)
		body.surface_material = _flat(Color.WHITE)
		body.start_velocity = Vector3(0.5, 0, 0)
		body.rotation.z = 0.4
		body.position = place
		root.add_child(body)
		_look_from(place + Vector3(0, 0, 10), 4.0)
		for i in 10:
			await physics_frame
		counts.append(_count(await _shoot(), Color.WHITE))
		body.free()
	check(counts[0] > 1000 and absi(counts[1] - counts[0]) < 0.01 * counts[0], "ten_kilometres_away", "%d pixels instead of %d" % [counts[1], counts[0]])
	check(absi(counts[2] - counts[0]) < 0.15 * counts[0], "a_million_metres_away", "%d pixels instead of %d" % [counts[2], counts[0]])
	_look_from(Vector3(0, 0, 10), 4.0)


## A body is drawn in the world it is in, whole or broken, and goes from one to the other.
func _check_worlds() -> void:
	var viewport := SubViewport.new()
	viewport.size = Vector2i(64, 64)
	viewport.own_world_3d = true
	viewport.render_target_update_mode = SubViewport.UPDATE_ALWAYS
	root.add_child(viewport)
	var camera := Camera3D.new()
	camera.projection = Camera3D.PROJECTION_ORTHOGONAL
	camera.size = 4.0
	camera.position.z = 10.0
	viewport.add_child(camera)
	var body := DestructibleBody.new()
	body.size = Vector3.ONE * 1.5
	body.surface_material = _flat(Color.WHITE)
	root.add_child(body)
	for parent: Node in [root, viewport, root]:
		if body.get_parent() != parent:
			body.reparent(parent)
		var image := await _shoot()
		var inner := viewport.get_texture().get_image()
		var is_outside := _is_like(_pixel(image, Vector3.ZERO), Color.WHITE)
		var is_inside := _is_like(inner.get_pixel(32, 32), Color.WHITE)
		check(is_outside == (parent == root) and is_inside == (parent == viewport), "drawn_in_" + ("its_own_world" if parent == viewport else "the_main_world"),
				"it is drawn in the main world: %s, in the other: %s" % [is_outside, is_inside])
	var holder := Node3D.new()
	root.add_child(holder)
	body.reparent(holder)
	holder.hide()
	check(not _is_like(_pixel(await _shoot(), Vector3.ZERO), Color.WHITE), "hidden_with_its_parent", "it is seen")
	holder.show()
	check(_is_like(_pixel(await _shoot(), Vector3.ZERO), Color.WHITE), "shown_with_its_parent", "it is not seen")
	holder.free()
	viewport.free()


## With physics interpolation a body that is moved by its node jumps: no frame shows it in between.
func _check_jump() -> void:
	Engine.physics_ticks_per_second = 10
	physics_interpolation = true
	var body := DestructibleBody.new()
	body.cells = Vector3i(2, 2, 2)
	body.size = Vector3.ONE * 0.8
	body.surface_material = _flat(Color.WHITE)
	body.start_velocity = Vector3(0, 0.2, 0)
	body.position.x = -2.5
	root.add_child(body)
	for i in 4:
		await physics_frame
	body.position.x = 2.5
	var between := 0
	var arrived := 0
	for i in 14:
		await process_frame
		await RenderingServer.frame_post_draw
		var image := root.get_texture().get_image()
		image.convert(Image.FORMAT_RGB8)
		for x in range(-15, 16):
			between += int(_is_like(_pixel(image, Vector3(0.1 * x, 0.2, 0)), Color.WHITE))
		arrived += int(_is_like(_pixel(image, Vector3(2.5, 0.2, 0)), Color.WHITE))
	check(between == 0, "no_frame_shows_a_jump", "%d pixels on the way are white" % between)
	check(arrived > 6, "it_arrives", "it is there in %d frames" % arrived)
	body.free()
	physics_interpolation = false
	Engine.physics_ticks_per_second = 60


## A broken body, some of it removed, looks the same when its state is put into another one, with splinters and without.
func _check_states() -> void:
	var light := DirectionalLight3D.new()
	root.add_child(light)
	light.look_at_from_position(Vector3.ZERO, Vector3(0.3, -0.5, -1.0))
	for pattern: int in [MaterialResource.SPLINTERS_NONE, MaterialResource.SPLINTERS_VORONOI]:
		var test_name := "state_without_splinters" if pattern == MaterialResource.SPLINTERS_NONE else "state_with_splinters"
		var body := DestructibleBody.new()
		body.size = Vector3(2.0, 1.2, 0.4)
		body.cells = Vector3i(8, 5, 2)
		body.splinter_blend = 0.0
		body.material = MaterialResource.new()
		body.material.stiffness = 2e6
		body.material.breakable = true
		body.material.toughness = 1.5e4
		body.material.splinter_pattern = pattern
		body.surface_material = StandardMaterial3D.new()
		root.add_child(body)
		body.apply_impulse(Vector3(400, 900, 2500), body.position + Vector3(0.5, 0.2, 0))
		for i in 24:
			await physics_frame
		for i in 2:
			if body.get_piece_count() > 2:
				body.remove_piece(body.get_pieces()[body.get_piece_count() / 2])
		await physics_frame # what was removed is drawn until the next tick
		await physics_frame
		check(body.get_piece_count() > 2, test_name + "_is_broken", "it has %d pieces" % body.get_piece_count())
		paused = true
		var expected := await _shoot()
		var copy: DestructibleBody = body.duplicate()
		root.add_child(copy)
		check(copy.set_state(body.get_state()) == OK, test_name + "_is_taken", "see the error above")
		body.hide()
		var drawn := await _shoot()
		if _picture:
			expected.save_png(_picture.replace(".png", "_%s_a.png" % test_name))
			drawn.save_png(_picture.replace(".png", "_%s_b.png" % test_name))
		var seen := 0
		var others := 0
		for y in drawn.get_height():
			for x in drawn.get_width():
				seen += int(not _is_like(expected.get_pixel(x, y), BACKGROUND))
				others += int(not _is_like(drawn.get_pixel(x, y), expected.get_pixel(x, y)))
		# A vertex that lies as near to two tetrahedra may follow the other one, and normals become smooth by and by.
		check(seen > 3000 and others < 0.15 * seen, test_name, "%d of %d pixels are others" % [others, seen])
		paused = false
		body.free()
		copy.free()
	light.free()


# -- Bent -------------------------------------------------------------------------------------------------------------


## A rod that is bent by its weight, with a normal map, in light that casts its shadow onto a wall behind it.
func _check_bent() -> void:
	var light := add_sun(root, Vector3(0.3, -0.5, -1.0))
	var wall := MeshInstance3D.new()
	wall.mesh = QuadMesh.new()
	wall.mesh.size = Vector2(8, 8)
	wall.position.z = -0.8
	root.add_child(wall)
	var rod := CylinderMesh.new()
	rod.top_radius = 0.25
	rod.bottom_radius = 0.25
	rod.height = 2.4
	rod.radial_segments = 40
	rod.rings = 48
	rod.cap_top = true
	var baked := DestructibleMesh.new()
	baked.source_mesh = rod
	baked.element_count = 250
	baked.refine_surface = false
	check(baked.bake() == OK, "rod_is_baked", "see the error above")
	var body := DestructibleBody.new()
	body.mesh = baked
	body.material = MaterialResource.new()
	body.material.stiffness = 3e5
	body.material.damping = 0.5
	body.surface_material = _bumpy()
	body.rotation.z = PI / 2
	body.anchors = [AABB(Vector3(-1, 0.9, -1), Vector3(2, 1, 2))]
	DestructionServer.gravity = Vector3(0, -9.8, 0)
	root.add_child(body)
	for i in 90:
		await physics_frame
	for i in 8: # normals become smooth when a look now and then finds the body bent
		await process_frame
	paused = true
	_look_from(Vector3(0, -0.5, 8), 3.0)
	var drawn := await _shoot()
	var copy := MeshInstance3D.new()
	copy.mesh = _bent_copy(rod, body.get_vertex_positions())
	copy.material_override = body.surface_material
	root.add_child(copy)
	body.hide()
	var expected := await _shoot()
	copy.hide()
	var empty := await _shoot()
	if _picture:
		var both := Image.create(drawn.get_width(), 2 * drawn.get_height(), false, Image.FORMAT_RGB8)
		both.blit_rect(drawn, Rect2i(Vector2i.ZERO, drawn.get_size()), Vector2i.ZERO)
		both.blit_rect(expected, Rect2i(Vector2i.ZERO, drawn.get_size()), Vector2i(0, drawn.get_height()))
		both.save_png(_picture)
	check(body.get_aabb_world().size.y > 1.0, "rod_is_bent", "it is %.2f m high" % body.get_aabb_world().size.y)
	var changed := 0
	var sum := 0.0
	var worst := 0
	for y in drawn.get_height():
		for x in drawn.get_width():
			var p := drawn.get_pixel(x, y)
			var q := expected.get_pixel(x, y)
			var difference := (absf(p.r - q.r) + absf(p.g - q.g) + absf(p.b - q.b)) / 3.0
			if not _is_like(q, empty.get_pixel(x, y)) or not _is_like(p, empty.get_pixel(x, y)):
				changed += 1
				sum += difference
				worst += int(difference > 0.25)
	print("-- bent in light: %d pixels differ by %.4f on average, %d by more than 0.25" % [changed, sum / maxf(1.0, changed), worst])
	check(changed > 5000, "rod_and_shadow_are_seen", "%d pixels" % changed)
	check(sum / maxf(1.0, changed) < TOLERANCE, "bent_in_light_and_shadow", "pixels differ by %.4f on average" % (sum / maxf(1.0, changed)))
	paused = false
	for node: Node in [body, copy, wall, light]:
		node.free()


## Ridges along the rod: seen from the side they turn with the tangents.
func _bumpy() -> StandardMaterial3D:
	var image := Image.create(64, 64, true, Image.FORMAT_RGBA8)
	for y in 64:
		for x in 64:
			image.set_pixel(x, y, Color(0.5 + 0.35 * sin(TAU * x / 16.0), 0.5, 0.85))
	image.generate_mipmaps()
	var look := StandardMaterial3D.new()
	look.albedo_color = Color(0.9, 0.6, 0.3)
	look.roughness = 0.6
	look.normal_enabled = true
	look.normal_texture = ImageTexture.create_from_image(image)
	look.uv1_scale = Vector3(6, 6, 1)
	return look


## The same triangles at other places. Normals are those of the triangles around a vertex, tangents go round the rod.
func _bent_copy(source: PrimitiveMesh, positions: PackedVector3Array) -> ArrayMesh:
	var arrays := source.get_mesh_arrays()
	var indices: PackedInt32Array = arrays[Mesh.ARRAY_INDEX]
	var rest: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
	var rest_normals: PackedVector3Array = arrays[Mesh.ARRAY_NORMAL]
	var tangents: PackedFloat32Array = arrays[Mesh.ARRAY_TANGENT]
	var areas := {}
	var tangents_of := {}
	for i in range(0, indices.size(), 3):
		for k in 3:
			var a := indices[i + k]
			var key := [rest[a].snappedf(0.001), rest_normals[a].snappedf(0.01)]
			var area := (positions[indices[i + (k + 2) % 3]] - positions[a]).cross(positions[indices[i + (k + 1) % 3]] - positions[a])
			areas[key] = areas.get(key, Vector3.ZERO) + area
			# Edges of a vertex, by how far they go along its tangent at rest: their sum goes along the tangent now.
			var along := Vector3(tangents[4 * a], tangents[4 * a + 1], tangents[4 * a + 2])
			for step in [1, 2]:
				var b := indices[i + (k + step) % 3]
				var edge := rest[b] - rest[a]
				var share := along.dot(edge) / maxf(1e-9, edge.length_squared())
				if absf(along.dot(edge.normalized())) > 0.9:
					tangents_of[key] = tangents_of.get(key, Vector3.ZERO) + share * (positions[b] - positions[a])
	var normals := PackedVector3Array()
	for i in positions.size():
		var key := [rest[i].snappedf(0.001), rest_normals[i].snappedf(0.01)]
		normals.append(areas[key].normalized())
		var tangent: Vector3 = tangents_of.get(key, Vector3.RIGHT).normalized()
		for k in 3:
			tangents[4 * i + k] = tangent[k]
	arrays[Mesh.ARRAY_VERTEX] = positions
	arrays[Mesh.ARRAY_NORMAL] = normals
	arrays[Mesh.ARRAY_TANGENT] = tangents
	var mesh := ArrayMesh.new()
	mesh.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
	return mesh
