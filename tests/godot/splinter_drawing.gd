extends "res://picture_script.gd"
## What drawing splinters costs, and where their vertices are seen when a crack gives them to another tet.
##
## godot --fixed-fps 60 --path tests/godot --script res://splinter_drawing.gd -- FOLDER
##
## Writes FOLDER/splinter_blend.png. Prints "ok NAME" or "FAIL NAME: CAUSE" for each check and ends with "SPLINTER DRAWING DONE".

const Bars := preload("res://cases/splinter_blend.gd")
const SIZE := Vector2i(480, 480)
const METRES := 0.3 # height of the picture in which a vertex is looked for
const FRONT := 0.2 # m, z of what the camera sees of the bar, nearly
const SPOT := """
shader_type spatial;
render_mode unshaded, cull_disabled, depth_test_disabled;
#include "res://addons/fem_destruction/shaders/fem_position.gdshaderinc"
uniform int chosen = -1;
varying float mark;
void vertex() {
	mark = VERTEX_ID == chosen ? 1.0 : 0.0;
	fem_deform(VERTEX, NORMAL, TANGENT, BINORMAL, CUSTOM0, CUSTOM1, MODEL_MATRIX);
}
void fragment() {
	if (mark < 0.75) { discard; }
	ALBEDO = vec3(1.0, 0.0, 1.0);
}
"""


func _take_all(folder: String, _only: String) -> void:
	root.size = SIZE
	_camera = Camera3D.new()
	root.add_child(_camera)
	await _check_costs()
	await _check_blend(folder)
	_camera.free()
	await process_frame


# -- Costs ------------------------------------------------------------------------------------------------------------


func _draw_costs() -> Vector2i:
	await draw_frame()
	await draw_frame()
	return Vector2i(
			RenderingServer.get_rendering_info(RenderingServer.RENDERING_INFO_TOTAL_DRAW_CALLS_IN_FRAME),
			RenderingServer.get_rendering_info(RenderingServer.RENDERING_INFO_TOTAL_PRIMITIVES_IN_FRAME))


## A box whose top is a surface of its own, so that there are two calls to count.
func _box_with_a_lid() -> ArrayMesh:
	var box := BoxMesh.new()
	box.size = Vector3(1.0, 0.4, 0.4)
	box.subdivide_width = 5
	var arrays := box.get_mesh_arrays()
	var normals: PackedVector3Array = arrays[Mesh.ARRAY_NORMAL]
	var mesh := ArrayMesh.new()
	for is_lid: bool in [false, true]:
		var chosen := PackedInt32Array()
		for index: int in box.get_mesh_arrays()[Mesh.ARRAY_INDEX]:
			if (normals[index].y > 0.5) == is_lid:
				chosen.append(index)
		arrays[Mesh.ARRAY_INDEX] = chosen
		mesh.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
	return mesh


## Calls and triangles of the unbroken body are those of its source; the broken one has fewer triangles from far away.
func _check_costs() -> void:
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = _box_with_a_lid()
	mesh.element_count = 300
	mesh.refine_surface = false # that adds triangles, to show bending
	mesh.splinter_pattern = DestructibleMesh.SPLINTERS_VORONOI
	check(mesh.bake() == OK, "bakes", "see the error above")
	_camera.look_at_from_position(Vector3(0, 1.5, 2.5), Vector3(0, 1, 0))
	var empty := await _draw_costs()
	var source := MeshInstance3D.new()
	source.mesh = mesh.source_mesh
	source.position.y = 1.0
	root.add_child(source)
	var expected := await _draw_costs()
	source.free()
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.material = MaterialResource.new()
	body.material.stiffness = 1e8
	body.material.density = 2000.0
	body.material.breakable = true
	body.material.toughness = 5e4
	body.position.y = 1.0
	root.add_child(body)
	var unbroken := await _draw_costs()
	print("-- calls and triangles: empty %s, source %s, body %s" % [empty, expected, unbroken])
	check(expected.x > empty.x and expected.y > empty.y, "costs_are_counted", "%s beside %s" % [expected, empty])
	check(unbroken == expected, "unbroken_costs_as_its_source", "%s calls and triangles, its source %s" % [unbroken, expected])
	body.rotation.z = 0.5
	body.start_velocity = Vector3(0, -14, 0)
	body.reset()
	for i in 20:
		await physics_frame
	check(body.get_piece_count() > 3, "breaks", "%d pieces" % body.get_piece_count())
	paused = true
	_camera.look_at_from_position(Vector3(0, 0.5, 0.9), Vector3(0, 0.1, 0))
	var near := await _draw_costs()
	_camera.look_at_from_position(Vector3(0, 1.5, 90), Vector3(0, 1, 0))
	var far := await _draw_costs()
	print("-- broken: %s, from far away %s" % [near, far])
	check(near.y > expected.y, "splinters_are_drawn", "%s beside %s" % [near, expected])
	check(far.y - empty.y < 0.85 * (near.y - empty.y) and far.y > empty.y, "far_ones_have_fewer_triangles", "%s, near %s" % [far, near])
	paused = false
	body.free()
	await physics_frame


# -- Blend ------------------------------------------------------------------------------------------------------------


func _record(blend: float) -> Array[PackedVector3Array]:
	var case: RefCounted = Bars.new()
	case.begin(self)
	var record: Array[PackedVector3Array] = await case._record(blend)
	await case.end()
	return record


## The vertex of the front that goes the longest way to its new tet, and the tick in which that begins, after the first
## splinters.
func _find_longest(jumping: Array[PackedVector3Array], blended: Array[PackedVector3Array]) -> Vector2i:
	var case: RefCounted = Bars.new()
	var best := Vector2i(-1, -1)
	var longest := 0.0
	for tick in range(2, Bars.TICKS):
		for vertex in jumping[tick].size():
			var way := jumping[tick][vertex] - blended[tick][vertex]
			var displacement := Vector2(way.x, way.y).length() # what the camera sees of it
			var is_in_front := blended[tick][vertex].z > FRONT
			if is_in_front and displacement > longest and displacement < INF and case._is_change(jumping, blended, tick, vertex):
				longest = displacement
				best = Vector2i(vertex, tick)
	return best


## The marked vertex in the picture, m.
func _find_spot(image: Image) -> Vector2:
	var sum := Vector2.ZERO
	var count := 0
	for y in image.get_height():
		for x in image.get_width():
			var pixel := image.get_pixel(x, y)
			if pixel.r > 0.6 and pixel.b > 0.6 and pixel.g < 0.4:
				sum += Vector2(x + 0.5, y + 0.5)
				count += 1
	var middle := sum / count - Vector2(SIZE) / 2.0 if count > 0 else Vector2.INF
	return Vector2(middle.x, -middle.y) * METRES / SIZE.y


## Seen from the front, orthogonally, so that pixels are metres. The spot is the part of the triangles around the vertex that
## is nearest to it: not the vertex itself, but it goes with it.
func _check_blend(folder: String) -> void:
	var jumping := await _record(0.0)
	var blended := await _record(Bars.BLEND)
	var found := _find_longest(jumping, blended)
	if found.x < 0:
		check(false, "a_vertex_changes_its_tet", "none does")
		return
	var drawn: Array[Vector2] = []
	for blend: float in [0.0, Bars.BLEND]:
		drawn.append_array(await _draw_changes(blend, found.x, found.y, blended[found.y][found.x], folder))
	var displacement := jumping[found.y][found.x] - blended[found.y][found.x]
	var jump := (drawn[1] - drawn[0]).length()
	var step := (drawn[3] - drawn[2]).length()
	print("-- vertex %d is drawn %.4f m apart in two ticks, %.4f m with a blend; its way is %s" % [found.x, jump, step, displacement])
	check(drawn[0].is_finite() and drawn[3].is_finite(), "vertex_is_seen", "%s" % [drawn])
	check(jump > 0.003, "vertex_jumps_without_a_blend", "by %.4f m" % jump)
	check(step < 0.4 * jump, "vertex_does_not_jump_with_a_blend", "by %.4f m, without %.4f m" % [step, jump])


## Where the vertex is drawn in the tick before its change and in that of it.
func _draw_changes(blend: float, vertex: int, tick: int, place: Vector3, folder: String) -> Array[Vector2]:
	var case: RefCounted = Bars.new()
	case.begin(self)
	Engine.physics_ticks_per_second = Bars.RATE
	var body: DestructibleBody = case._add_bar(blend)
	body.surface_material = ShaderMaterial.new()
	body.surface_material.shader = Shader.new()
	body.surface_material.shader.code = SPOT
	body.surface_material.set_shader_parameter("chosen", vertex)
	case.scene.add_child(body)
	_camera.projection = Camera3D.PROJECTION_ORTHOGONAL
	_camera.size = METRES
	_camera.look_at_from_position(place + Vector3(0, 0, 2), place)
	RenderingServer.render_loop_enabled = false
	await case._wait_for_splinters(body)
	var drawn: Array[Vector2] = []
	for i in tick + 1:
		if i >= tick - 1:
			paused = true
			RenderingServer.render_loop_enabled = true
			var image := await draw_frame()
			drawn.append(_find_spot(image))
			if blend > 0.0 and i == tick:
				image.save_png(folder.path_join("splinter_blend.png"))
			RenderingServer.render_loop_enabled = false
			paused = false
		await physics_frame
	RenderingServer.render_loop_enabled = true
	await case.end()
	return drawn
