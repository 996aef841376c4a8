extends "res://picture_script.gd"
## Draws bodies at known places and checks the picture against the positions that the simulation gives.
##
## godot --fixed-fps 60 --path tests/godot --script res://render_test.gd -- RENDERING_METHOD PICTURE.png
##
## Prints "ok NAME" or "FAIL NAME: CAUSE" for each check and ends with "RENDER TEST DONE".

const TICKS := 36
const EDGE_TOLERANCE := 3.0 # pixels
const BODY_SIZE := Vector3(1.2, 1.2, 1.2)
const CELLS := Vector3i(4, 4, 4)
const LIGHT_DIRECTION := Vector3(0.75, -1.0, -0.35)
const BACKGROUND := Color(0.1, 0.15, 0.3)

var _image: Image


func _take_all(wanted_method: String, picture: String) -> void:
	var stage := _build_stage()
	# The first: when it needs room for more nodes, that of the others comes next.
	var broken := _add_brittle(stage, Vector3(3.8, 1.5, -0.4), _plain_look(Color(0.05, 0.7, 0.7)))
	var red := _add_body(stage, Vector3(-1.3, 1.9, 0), _plain_look(Color(0.9, 0.05, 0.05)))
	# Starts far above the picture, so it is only drawn if the box used for culling follows it.
	var green := _add_body(stage, Vector3(1.5, 11.4, 0.3), _shader_look(Color(0.05, 0.8, 0.05)))
	green.start_velocity = Vector3(0, -13.5, 0)
	green.reset()
	var torus := _add_torus(stage, Vector3(0.1, 2.3, -1.8), _plain_look(Color(0.85, 0.05, 0.85)))
	var glass := _add_glass(stage, Vector3(-2.6, 4.6, -3.5), BaseMaterial3D.TRANSPARENCY_ALPHA, 0.5)
	# Its alpha is below the threshold everywhere.
	_add_glass(stage, Vector3(2.4, 4.6, -3.5), BaseMaterial3D.TRANSPARENCY_ALPHA_SCISSOR, 0.4)
	var hidden := _add_body(stage, Vector3(0, 1.0, 1.0), _plain_look(Color(0.05, 0.05, 0.95)))
	hidden.hide()
	# Freed soon: the others must not be drawn with its nodes.
	var short_lived := _add_body(stage, Vector3(0, 3, 0), _plain_look(Color.WHITE))
	for tick in TICKS:
		await physics_frame
		if tick == 3:
			short_lived.queue_free()
			broken.apply_impulse(Vector3(0, 60, 0), broken.position)
	await RenderingServer.frame_post_draw
	_image = root.get_texture().get_image()
	_image.convert(Image.FORMAT_RGB8)
	if picture:
		check(_image.save_png(picture) == OK, "picture_saved", picture + " cannot be written")
	var method := RenderingServer.get_current_rendering_method()
	check(method == wanted_method, "renderer", "%s is in use instead of %s" % [method, wanted_method])
	_check_body("red", red, _is_red)
	_check_body("green", green, _is_green)
	_check_broken(broken)
	_check_torus(torus)
	_check_glass(glass)
	_check_deformed(red)
	_check_background()
	_check_light(red)
	_check_shadow(green)
	check(_count(_is_blue) == 0, "hidden_body_is_not_drawn", "%d pixels are blue" % _count(_is_blue))
	await _check_removed(broken)
	stage.free()
	await process_frame


# -- The stage --------------------------------------------------------------------------------------------------------


func _build_stage() -> Node3D:
	var stage := Node3D.new()
	root.add_child(stage)
	add_environment(stage, BACKGROUND, 0.25)
	add_sun(stage, LIGHT_DIRECTION, 0.7, 30.0)
	add_ground(stage, 14.0, _plain_look(Color(0.6, 0.6, 0.6)))
	_camera = Camera3D.new()
	_camera.fov = 50.0
	stage.add_child(_camera)
	_camera.look_at_from_position(Vector3(0, 3.6, 6.5), Vector3(0, 0.9, 0))
	return stage


func _plain_look(color: Color) -> StandardMaterial3D:
	var look := StandardMaterial3D.new()
	look.albedo_color = color
	look.roughness = 1.0
	look.metallic_specular = 0.0
	return look


## A shader as users write them.
func _shader_look(color: Color) -> ShaderMaterial:
	var look := ShaderMaterial.new()
	look.shader = load("res://own_shader.gdshader")
	look.set_shader_parameter("color", color)
	return look


func _add_body(stage: Node3D, position: Vector3, look: Material) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = BODY_SIZE
	body.cells = CELLS
	body.material = MaterialResource.new()
	body.material.stiffness = 1.2e5
	body.surface_material = look
	body.transform = Transform3D(Basis(Vector3.UP, deg_to_rad(35.0)), position)
	stage.add_child(body)
	return body


## Comes apart when it is struck from below.
func _add_brittle(stage: Node3D, position: Vector3, look: Material) -> DestructibleBody:
	var body := DestructibleBody.new()
	body.size = Vector3(1.0, 0.3, 0.3)
	body.cells = Vector3i(8, 2, 2)
	body.material = MaterialResource.new()
	body.material.stiffness = 2e6
	body.material.breakable = true
	body.material.toughness = 1e4
	body.surface_material = look
	body.position = position
	stage.add_child(body)
	return body


## A baked mesh that shows the material of its own surface.
func _add_torus(stage: Node3D, position: Vector3, look: Material) -> DestructibleBody:
	var source := TorusMesh.new()
	source.inner_radius = 0.25
	source.outer_radius = 0.75
	source.material = look
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = source
	mesh.element_count = 600
	check(mesh.bake() == OK, "torus_is_baked", "see the error above")
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.material = MaterialResource.new()
	body.material.stiffness = 1.2e5
	body.transform = Transform3D(Basis(Vector3.RIGHT, deg_to_rad(70.0)), position)
	stage.add_child(body)
	return body


## A pane that nothing lights, so that its colour is known.
func _add_glass(stage: Node3D, position: Vector3, transparency: BaseMaterial3D.Transparency, alpha: float) -> DestructibleBody:
	var look := StandardMaterial3D.new()
	look.albedo_color = Color(1, 1, 1, alpha)
	look.shading_mode = BaseMaterial3D.SHADING_MODE_UNSHADED
	look.transparency = transparency
	var source := BoxMesh.new()
	source.size = Vector3(1.2, 0.8, 0.02)
	source.material = look
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = source
	mesh.element_count = 100
	check(mesh.bake() == OK, "glass_is_baked", "see the error above")
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.position = position
	stage.add_child(body)
	return body


# -- Checks -----------------------------------------------------------------------------------------------------------


## The coloured pixels must be just where the simulated nodes are projected to.
func _check_body(body_name: String, body: DestructibleBody, is_colored: Callable) -> void:
	var points := PackedVector2Array()
	for position in body.get_node_positions():
		points.append(_camera.unproject_position(position))
	var hull := Geometry2D.convex_hull(points)
	var expected := Rect2(points[0], Vector2.ZERO)
	for point in points:
		expected = expected.expand(point)
	var found := _colored_box(is_colored)
	var error := (found.position - expected.position).abs().max((found.end - expected.end).abs())
	check(maxf(error.x, error.y) <= EDGE_TOLERANCE, body_name + "_is_in_its_place", "it is drawn at %s, its nodes are at %s" % [found, expected])
	var covered := _count(is_colored) / maxf(1.0, _area(hull))
	check(covered > 0.9 and covered < 1.05, body_name + "_fills_its_outline", "%.0f %% of it is filled" % (100.0 * covered))
	var rest := _camera.unproject_position(body.global_position)
	check(found.has_area() and not found.has_point(rest), body_name + "_has_moved", "it is drawn where it started")


## Its pieces are where their nodes are, the copies that breaking made included, with gaps between them.
func _check_broken(body: DestructibleBody) -> void:
	check(body.get_piece_count() > 1 and body.get_node_count() > 9 * 3 * 3, "broken_body_is_broken", "%d pieces" % body.get_piece_count())
	var expected := Rect2(_camera.unproject_position(body.get_node_positions()[0]), Vector2.ZERO)
	for position in body.get_node_positions():
		expected = expected.expand(_camera.unproject_position(position))
	expected = expected.intersection(Rect2(Vector2.ZERO, _image.get_size()))
	var found := _colored_box(_is_cyan)
	var error := (found.position - expected.position).abs().max((found.end - expected.end).abs())
	check(maxf(error.x, error.y) <= EDGE_TOLERANCE, "broken_body_is_in_its_place", "it is drawn at %s, its nodes are at %s" % [found, expected])
	var seen := 0
	for piece in body.get_pieces():
		var at := Vector2i(_camera.unproject_position(body.get_piece_data(piece).center))
		seen += int(not Rect2i(Vector2i.ZERO, _image.get_size()).has_point(at) or _is_cyan(_image.get_pixelv(at)))
	check(seen >= 0.7 * body.get_piece_count(), "pieces_are_drawn", "%d of %d" % [seen, body.get_piece_count()])


## A piece that is removed leaves the picture, time standing still.
func _check_removed(body: DestructibleBody) -> void:
	var outermost := 0
	var place := Vector2i.ZERO
	for piece in body.get_pieces():
		var at := Vector2i(_camera.unproject_position(body.get_piece_data(piece).center))
		if at.x > place.x:
			place = at
			outermost = piece
	check(_is_cyan(_image.get_pixelv(place)), "piece_is_seen", "there is %s at %s" % [_image.get_pixelv(place), place])
	var seen_before := _count(_is_cyan)
	paused = true
	body.remove_piece(outermost)
	await process_frame
	await RenderingServer.frame_post_draw
	_image = root.get_texture().get_image()
	_image.convert(Image.FORMAT_RGB8)
	# Another piece may lie behind it: fewer pixels are left, whatever is seen in its place.
	check(_count(_is_cyan) < seen_before - 30, "removed_piece_is_not_seen", "%d pixels are left of %d" % [_count(_is_cyan), seen_before])
	check(_count(_is_cyan) > 100, "other_pieces_stay", "%d pixels are left" % _count(_is_cyan))
	paused = false


## The drawn vertices must be where the tets that they ride on have taken them, and only there.
func _check_torus(body: DestructibleBody) -> void:
	var points := body.get_vertex_positions()
	var expected := Rect2(_camera.unproject_position(points[0]), Vector2.ZERO)
	for point in points:
		expected = expected.expand(_camera.unproject_position(point))
	var found := _colored_box(_is_magenta)
	var error := (found.position - expected.position).abs().max((found.end - expected.end).abs())
	check(maxf(error.x, error.y) <= EDGE_TOLERANCE, "torus_is_in_its_place", "it is drawn at %s, its vertices are at %s" % [found, expected])
	var covered := _count(_is_magenta) / maxf(1.0, expected.get_area())
	check(covered > 0.35 and covered < 0.85, "torus_has_its_hole", "%.0f %% of its box is filled" % (100.0 * covered))


## Halfway between the pane's white and what is behind it; the pane that is cut away by its threshold is not seen at all.
func _check_glass(body: DestructibleBody) -> void:
	var at := _camera.unproject_position(body.get_center_of_mass())
	var pixel := _image.get_pixelv(Vector2i(at))
	check(pixel.r > BACKGROUND.r + 0.15 and pixel.r < 0.9, "glass_is_half_transparent", "its middle is %s" % pixel)
	var mirrored := Vector2i(_image.get_width() - int(at.x), int(at.y))
	check(_is_like(_image.get_pixelv(mirrored), BACKGROUND, 0.03), "scissor_cuts_away", "there is %s" % _image.get_pixelv(mirrored))


func _check_deformed(body: DestructibleBody) -> void:
	var bounds := body.get_aabb_world()
	var change := absf(bounds.size.y - BODY_SIZE.y) / BODY_SIZE.y
	check(change > 0.08, "body_is_deformed", "its height has changed by %.1f %% only" % (100.0 * change))


func _check_background() -> void:
	var size := _image.get_size()
	for x: int in [2, size.x - 3]:
		var pixel := _image.get_pixel(x, 2)
		check(_is_like(pixel, BACKGROUND, 0.03), "background_at_%d" % x, "it is %s" % pixel)


## Faces are lit by the angle between their normals and the light.
func _check_light(body: DestructibleBody) -> void:
	var positions := body.get_node_positions()
	var top := _face_brightness(positions, Vector3i(2, 4, 2))
	var left := _face_brightness(positions, Vector3i(0, 2, 2))
	var front := _face_brightness(positions, Vector3i(2, 2, 4))
	check(top > 1.15 * front, "top_is_lit_more_than_front", "brightness %.3f and %.3f" % [top, front])
	check(absf(left - front) > 0.03, "sides_are_lit_differently", "brightness %.3f and %.3f" % [left, front])
	var expected_front := _face_light(positions, Vector3i(2, 2, 4), Vector3i(1, 0, 0), Vector3i(0, 1, 0))
	var expected_top := _face_light(positions, Vector3i(2, 4, 2), Vector3i(0, 0, 1), Vector3i(1, 0, 0))
	check((expected_top > expected_front) == (top > front), "light_follows_the_normals",
			"expected light %.3f on top and %.3f in front" % [expected_top, expected_front])


func _check_shadow(body: DestructibleBody) -> void:
	var center := body.get_center_of_mass()
	var shaded := center + LIGHT_DIRECTION * (center.y / -LIGHT_DIRECTION.y)
	var lit := Vector3(0.0, 0.0, 2.0)
	var dark := _brightness_at(shaded)
	var bright := _brightness_at(lit)
	check(dark < 0.75 * bright, "shadow_on_the_ground", "brightness %.3f in the shadow, %.3f in the light" % [dark, bright])


# -- Helpers ----------------------------------------------------------------------------------------------------------


func _grid_node(cell: Vector3i) -> int:
	return (cell.z * (CELLS.y + 1) + cell.y) * (CELLS.x + 1) + cell.x


func _face_brightness(positions: PackedVector3Array, cell: Vector3i) -> float:
	return _brightness_at(positions[_grid_node(cell)])


## How much light the face at a grid node gets, from the two grid directions across it.
func _face_light(positions: PackedVector3Array, cell: Vector3i, u: Vector3i, v: Vector3i) -> float:
	var along_u := positions[_grid_node(cell + u)] - positions[_grid_node(cell - u)]
	var along_v := positions[_grid_node(cell + v)] - positions[_grid_node(cell - v)]
	return maxf(0.0, along_u.cross(along_v).normalized().dot(-LIGHT_DIRECTION.normalized()))


func _brightness_at(position: Vector3) -> float:
	var center := Vector2i(_camera.unproject_position(position))
	var sum := 0.0
	for y in range(-2, 3):
		for x in range(-2, 3):
			var pixel := _image.get_pixelv((center + Vector2i(x, y)).clamp(Vector2i.ZERO, _image.get_size() - Vector2i.ONE))
			sum += maxf(pixel.r, maxf(pixel.g, pixel.b))
	return sum / 25.0


func _area(polygon: PackedVector2Array) -> float:
	var sum := 0.0
	for i in polygon.size() - 1:
		sum += polygon[i].cross(polygon[i + 1])
	return absf(sum) / 2.0


func _colored_box(is_colored: Callable) -> Rect2:
	var low := Vector2(INF, INF)
	var high := -low
	for y in _image.get_height():
		for x in _image.get_width():
			if is_colored.call(_image.get_pixel(x, y)):
				low = low.min(Vector2(x, y))
				high = high.max(Vector2(x + 1, y + 1))
	return Rect2(low, high - low) if high.x > low.x else Rect2()


func _count(is_colored: Callable) -> int:
	var count := 0
	for y in _image.get_height():
		for x in _image.get_width():
			if is_colored.call(_image.get_pixel(x, y)):
				count += 1
	return count


func _is_red(pixel: Color) -> bool:
	return pixel.r > 1.8 * maxf(pixel.g, pixel.b) and pixel.r > 0.12


func _is_green(pixel: Color) -> bool:
	return pixel.g > 1.8 * maxf(pixel.r, pixel.b) and pixel.g > 0.12


func _is_magenta(pixel: Color) -> bool:
	return minf(pixel.r, pixel.b) > 2.0 * pixel.g and absf(pixel.r - pixel.b) < 0.3 * pixel.r and pixel.r > 0.12


func _is_cyan(pixel: Color) -> bool:
	return minf(pixel.g, pixel.b) > 2.5 * pixel.r and absf(pixel.g - pixel.b) < 0.25 * pixel.g and pixel.g > 0.08


func _is_blue(pixel: Color) -> bool:
	return pixel.b > 2.5 * maxf(pixel.r, pixel.g) and pixel.b > 0.12


func _is_like(pixel: Color, color: Color, tolerance: float) -> bool:
	return maxf(absf(pixel.r - color.r), maxf(absf(pixel.g - color.g), absf(pixel.b - color.b))) <= tolerance
