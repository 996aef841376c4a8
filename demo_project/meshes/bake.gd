extends SceneTree
## Makes the meshes of the playground anew: godot --headless --path demo_project --script res://meshes/bake.gd
##
## Their texture coordinates are metres, so that bricks and grain are as large on all of them.


func _initialize() -> void:
	_save("wall", box(Vector3(2.5, 1.62, 0.12)), 560, DestructibleMesh.SPLINTERS_BRICK,
			{interior_material = load("res://looks/brick_inside.tres"), brick_size = Vector3(0.24, 0.071, 0.12)})
	_save("board", box(Vector3(1.96, 0.2, 0.045)), 90, DestructibleMesh.SPLINTERS_WOOD,
			{interior_material = load("res://looks/board_inside.tres"), splinter_direction = Vector3.RIGHT, splinter_triangle_limit = 12000})
	_save("pane", box(Vector3(1.5, 1.5, 0.02)), 460, DestructibleMesh.SPLINTERS_GLASS,
			{impact_points = [Vector3(0.15, 0.12, 0)]})
	_save("sheet", box(Vector3(1.8, 1.2, 0.02), 36), 420, DestructibleMesh.SPLINTERS_NONE)
	_save("pudding", lathe(_pudding_profile(), 10, 0.06), 420, DestructibleMesh.SPLINTERS_NONE)
	_save("column", lathe(_column_profile(), 12, 0.05), 300, DestructibleMesh.SPLINTERS_VORONOI,
			{interior_material = load("res://looks/stone_inside.tres"), splinter_triangle_limit = 12000})
	_save("stone", box(Vector3(0.6, 0.36, 0.42), 1, 0.07), 60, DestructibleMesh.SPLINTERS_VORONOI,
			{interior_material = load("res://looks/stone_inside.tres"), splinter_triangle_limit = 2000})
	quit()


func _save(name: String, source: Mesh, elements: int, pattern: int, settings := {}) -> void:
	var baked := DestructibleMesh.new()
	baked.source_mesh = source
	baked.element_count = elements
	baked.splinter_pattern = pattern
	baked.splinter_seed = 7
	for key: String in settings:
		baked.set(key, settings[key])
	var from := Time.get_ticks_msec()
	if baked.bake() != OK:
		quit(1)
		return
	baked.source_mesh = null
	var path := "res://meshes/%s.res" % name
	if ResourceSaver.save(baked, path, ResourceSaver.FLAG_COMPRESS) != OK:
		quit(1)
		return
	print("%s: %d tets, %d splinters, %d kB, %d ms" % [name, baked.get_tet_count(), baked.get_baked_splinter_count(),
		FileAccess.get_file_as_bytes(path).size() / 1024, Time.get_ticks_msec() - from])


## A box whose faces are cut into [param cuts] x [param cuts] quads, so that they are seen to bend, and whose corners
## may be moved at random by up to [param jitter] m.
func box(size: Vector3, cuts := 1, jitter := 0.0) -> ArrayMesh:
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	for axis in 3:
		for side: float in [-1.0, 1.0]:
			var normal := Vector3.ZERO
			normal[axis] = side
			var up := Vector3.UP if axis != 1 else Vector3(0, 0, -side)
			_add_face(tool, size, normal, up, cuts, jitter)
	if jitter > 0.0:
		tool.generate_normals()
	tool.index()
	tool.generate_tangents()
	return tool.commit()


func _add_face(tool: SurfaceTool, size: Vector3, normal: Vector3, up: Vector3, cuts: int, jitter: float) -> void:
	var right := up.cross(normal)
	for y in cuts:
		for x in cuts:
			for corner: Vector2 in [Vector2(0, 0), Vector2(1, 1), Vector2(1, 0), Vector2(0, 0), Vector2(0, 1), Vector2(1, 1)]:
				var place := (Vector2(x, y) + corner) * 2.0 / cuts - Vector2.ONE
				var at := (normal + right * place.x + up * place.y) * size * 0.5
				tool.set_smooth_group(-1)
				tool.set_normal(normal)
				tool.set_uv(Vector2(at.dot(right), -at.dot(up)))
				tool.add_vertex(at + jitter * _random_offset(at))


## The same for the same place, hence for the corners of neighbouring faces.
func _random_offset(at: Vector3) -> Vector3:
	var random := RandomNumberGenerator.new()
	random.seed = hash(at.snapped(Vector3.ONE * 0.001) + Vector3.ZERO)
	return Vector3(random.randf_range(-1, 1), random.randf_range(-1, 1), random.randf_range(-1, 1))


## Turns a profile (radius, height), from the pole below to that above, round the y axis, with flutes.
func lathe(profile: PackedVector2Array, flutes: int, depth: float) -> ArrayMesh:
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	var steps := flutes * 5
	for i in profile.size() - 1:
		tool.set_smooth_group(0 if absf(profile[i + 1].y - profile[i].y) > 0.02 else i + 1)
		for s in steps:
			var low := profile[i]
			var high := profile[i + 1]
			for corner: Vector2i in [Vector2i(0, 0), Vector2i(0, 1), Vector2i(1, 1), Vector2i(0, 0), Vector2i(1, 1), Vector2i(1, 0)]:
				var point := high if corner.x == 1 else low
				var angle := TAU * (s + corner.y) / steps
				var radius := point.x * (1.0 - depth * (0.5 - 0.5 * cos(flutes * angle)))
				tool.set_uv(Vector2(float(s + corner.y) / steps * 1.5, -point.y))
				tool.add_vertex(Vector3(radius * cos(angle), point.y, radius * sin(angle)))
	tool.generate_normals()
	tool.index()
	tool.generate_tangents()
	return tool.commit()


func _pudding_profile() -> PackedVector2Array:
	return PackedVector2Array([Vector2(0, 0), Vector2(0.48, 0), Vector2(0.47, 0.1), Vector2(0.44, 0.22), Vector2(0.4, 0.34),
		Vector2(0.37, 0.42), Vector2(0.33, 0.47), Vector2(0.26, 0.485), Vector2(0, 0.485)])


func _column_profile() -> PackedVector2Array:
	return PackedVector2Array([Vector2(0, 0), Vector2(0.24, 0), Vector2(0.23, 0.6), Vector2(0.22, 1.2), Vector2(0.2, 1.9), Vector2(0, 1.9)])
