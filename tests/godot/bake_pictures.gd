extends "res://picture_script.gd"
## Bakes the shapes that are hard to bake and draws, one above the other: what the eye sees, the surface of the tets, the
## tets drawn apart, and the same cut open.
##
## godot --path tests/godot --script res://bake_pictures.gd -- FOLDER
##
## Writes FOLDER/bakes.png. Prints "ok NAME" or "FAIL NAME: CAUSE" for each check and ends with "BAKE PICTURES DONE".

const CELL := 160 # pixels
const MARGIN := 0.62 # m from the middle of a cell to its edge; shapes are at most 1 m across
const VIEW := Vector3(0.45, 0.5, 1.0)
const BACKGROUND := Color(0.12, 0.13, 0.16)
const ROWS := 4

var _camera_basis := Basis.looking_at(-VIEW)


func _take_all(folder: String, _only: String) -> void:
	var shapes: Array[Dictionary] = [
		{name = "torus", mesh = _revolve(_circle(Vector2(0.35, 0), 0.14)), elements = 1000, overlap = 0.93},
		{name = "bowl", mesh = _revolve(_bowl(0.48, 0.06)), elements = 3000, overlap = 0.93},
		{name = "vase", mesh = _revolve(_vase(0.04)), elements = 6000, overlap = 0.93},
		{name = "thin_shell", mesh = _shell(0.48, 0.05), elements = 6000, overlap = 0.95},
		{name = "plate", mesh = _box(Vector3(1.0, 0.6, 0.02)), elements = 300, overlap = 0.97},
		{name = "beam", mesh = _box(Vector3(1.0, 0.08, 0.08)), elements = 100, overlap = 0.95},
		{name = "nested_boxes", mesh = _nested(0.8, 0.4), elements = 2000, overlap = 0.97},
		{name = "thin_vase", mesh = _revolve(_vase(0.013)), elements = 600, overlap = 0.9},
		{name = "bottle", mesh = _revolve(_bottle(0.012)), elements = 1000, overlap = 0.9},
		{name = "tube", mesh = _revolve(_tube(0.1, 0.008)), elements = 600, overlap = 0.9},
		{name = "teapot", mesh = _teapot(), elements = 1500, overlap = 0.85, wall = 0.012},
		{name = "car_body", mesh = _car_body(), elements = 2000, overlap = 0.85, wall = 0.008},
		{name = "shelf", mesh = _shelf(0.03), elements = 2000, overlap = 0.7},
		{name = "rooms", mesh = _rooms(0.03), elements = 2000, overlap = 0.85},
		{name = "moebius", mesh = _moebius(0.36, 0.2), elements = 2000, overlap = 0.5, thickness = 0.03},
	]
	var stage := _build_stage(shapes.size())
	for i in shapes.size():
		_add_column(stage, i, shapes[i])
	for i in 3:
		await process_frame
	await RenderingServer.frame_post_draw
	var image := root.get_texture().get_image()
	image.convert(Image.FORMAT_RGB8)
	var path := folder.path_join("bakes.png")
	check(image.save_png(path) == OK, "picture_saved", path + " cannot be written")
	for i in shapes.size():
		_check_column(image, i, shapes[i])
	stage.free()
	await process_frame


# -- The stage --------------------------------------------------------------------------------------------------------


func _build_stage(columns: int) -> Node3D:
	root.size = Vector2i(CELL * columns, CELL * ROWS)
	var stage := Node3D.new()
	root.add_child(stage)
	add_environment(stage, BACKGROUND, 0.5)
	var light := DirectionalLight3D.new()
	light.transform.basis = Basis.looking_at(Vector3(-0.2, -1.0, -0.6))
	light.light_energy = 0.7
	stage.add_child(light)
	_camera = Camera3D.new()
	_camera.projection = Camera3D.PROJECTION_ORTHOGONAL
	_camera.keep_aspect = Camera3D.KEEP_HEIGHT
	_camera.size = 2.0 * MARGIN * ROWS
	_camera.near = 0.1
	_camera.far = 100.0
	_camera.transform = Transform3D(_camera_basis, _camera_basis.z * 20.0)
	stage.add_child(_camera)
	return stage


## Where the middle of a cell is in the picture, and in the scene.
func _pixel(column: int, row: int) -> Vector2i:
	return Vector2i(CELL * column + CELL / 2, CELL * row + CELL / 2)


func _place(column: int, row: int) -> Vector3:
	var offset := Vector2(_pixel(column, row)) - Vector2(root.size) / 2.0
	return (_camera_basis.x * offset.x - _camera_basis.y * offset.y) * 2.0 * MARGIN / CELL


func _add_column(stage: Node3D, column: int, shape: Dictionary) -> void:
	var baked := DestructibleMesh.new()
	baked.source_mesh = shape.mesh
	baked.element_count = shape.elements
	baked.sheet_thickness = shape.get("thickness", 0.0)
	baked.wall_thickness = shape.get("wall", 0.0)
	var start := Time.get_ticks_msec()
	check(baked.bake() == OK, shape.name + "_bakes", "see the error above")
	print("-- %s in %d ms: %s" % [shape.name, Time.get_ticks_msec() - start, baked.get_report().strip_edges().replace("\n", " ")])
	var plain := StandardMaterial3D.new()
	plain.albedo_color = Color(0.75, 0.75, 0.72)
	plain.cull_mode = BaseMaterial3D.CULL_DISABLED
	var colored := StandardMaterial3D.new()
	colored.vertex_color_use_as_albedo = true
	_add_mesh(stage, shape.mesh, _place(column, 0), plain)
	_add_mesh(stage, baked.get_tet_mesh_surface(), _place(column, 1), colored)
	_add_mesh(stage, baked.get_exploded_mesh(0.2, Plane()), _place(column, 2), colored)
	_add_mesh(stage, baked.get_exploded_mesh(0.1, Plane(VIEW.normalized(), 0.0)), _place(column, 3), colored)


func _add_mesh(stage: Node3D, mesh: Mesh, position: Vector3, look: Material) -> void:
	var instance := MeshInstance3D.new()
	instance.mesh = mesh
	instance.material_override = look
	instance.position = position
	stage.add_child(instance)


# -- Checks -----------------------------------------------------------------------------------------------------------


func _is_drawn(image: Image, pixel: Vector2i) -> bool:
	var color := image.get_pixelv(pixel)
	return absf(color.r - BACKGROUND.r) + absf(color.g - BACKGROUND.g) + absf(color.b - BACKGROUND.b) > 0.08


## The tets must be seen where the mesh is seen; drawn apart they cover less, cut open no more than whole.
func _check_column(image: Image, column: int, shape: Dictionary) -> void:
	var counts := PackedInt32Array()
	counts.resize(ROWS)
	var both := 0
	var either := 0
	for y in CELL:
		for x in CELL:
			var drawn: Array[bool] = []
			for row in ROWS:
				drawn.append(_is_drawn(image, Vector2i(CELL * column + x, CELL * row + y)))
				counts[row] += int(drawn[row])
			both += int(drawn[0] and drawn[1])
			either += int(drawn[0] or drawn[1])
	var overlap := float(both) / maxf(1.0, either)
	print("-- %s: %.1f %% of the outline agrees" % [shape.name, 100.0 * overlap])
	check(counts[0] > CELL * CELL / 50, shape.name + "_is_seen", "%d pixels" % counts[0])
	check(overlap >= shape.overlap, shape.name + "_covers_what_is_seen", "%.1f %% of the outline agrees" % (100.0 * overlap))
	check(counts[2] > counts[0] / 4 and counts[2] <= counts[1] * 1.02, shape.name + "_exploded", "%d of %d pixels" % [counts[2], counts[1]])
	check(counts[3] > counts[0] / 8 and counts[3] <= counts[1] * 1.02, shape.name + "_cut", "%d of %d pixels" % [counts[3], counts[1]])


# -- Shapes -----------------------------------------------------------------------------------------------------------


## A closed line of points (distance from the axis, height), counter-clockwise, turned round the y axis. Points on the
## axis make poles.
func _revolve(profile: PackedVector2Array, steps := 48) -> ArrayMesh:
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	for i in profile.size():
		var a := profile[i]
		var b := profile[(i + 1) % profile.size()]
		for s in steps:
			var from := TAU * s / steps
			var to := TAU * (s + 1) / steps
			_add_quad(tool, _revolved(a, from), _revolved(a, to), _revolved(b, to), _revolved(b, from))
	tool.generate_normals()
	return tool.commit()


func _revolved(point: Vector2, angle: float) -> Vector3:
	return Vector3(point.x * cos(angle), point.y, point.x * sin(angle))


func _add_quad(tool: SurfaceTool, a: Vector3, b: Vector3, c: Vector3, d: Vector3) -> void:
	for corner: Vector3 in [a, b, c, a, c, d]:
		tool.add_vertex(corner)


func _circle(center: Vector2, radius: float) -> PackedVector2Array:
	var points := PackedVector2Array()
	for i in 24:
		points.append(center + Vector2.from_angle(TAU * i / 24) * radius)
	return points


## From the pole below along the outside to the rim and back along the inside.
func _bowl(radius: float, wall: float) -> PackedVector2Array:
	var points := PackedVector2Array()
	for i in 17:
		points.append(Vector2.from_angle(-PI / 2 + PI / 2 * i / 16) * radius + Vector2(0, 0.2))
	for i in 17:
		points.append(Vector2.from_angle(-PI / 2 * i / 16) * (radius - wall) + Vector2(0, 0.2))
	return points


func _vase(wall: float) -> PackedVector2Array:
	var points := PackedVector2Array([Vector2(0, -0.48)])
	for i in 25:
		points.append(Vector2(_vase_radius(i / 24.0), -0.48 + 0.96 * i / 24))
	for i in 25:
		points.append(Vector2(_vase_radius(1.0 - i / 24.0) - wall, 0.48 - (0.96 - wall) * i / 24))
	points.append(Vector2(0, -0.48 + wall))
	return points


## With a bottom four times as thick as its wall.
func _bottle(wall: float) -> PackedVector2Array:
	var outer := PackedVector2Array([Vector2(0, -0.48)])
	for i in 25:
		outer.append(Vector2(_bottle_radius(i / 24.0), -0.48 + 0.96 * i / 24))
	for i in 25:
		outer.append(Vector2(_bottle_radius(1.0 - i / 24.0) - wall, 0.48 - (0.96 - 4.0 * wall) * i / 24))
	outer.append(Vector2(0, -0.48 + 4.0 * wall))
	return outer


func _bottle_radius(height: float) -> float:
	return lerpf(0.17, 0.05, smoothstep(0.6, 0.8, height))


func _tube(radius: float, wall: float) -> PackedVector2Array:
	return PackedVector2Array([Vector2(radius, -0.48), Vector2(radius, 0.48), Vector2(radius - wall, 0.48), Vector2(radius - wall, -0.48)])


## A belly, a lid, a spout and a handle that cross each other: the outside alone, as artists make them.
func _teapot() -> ArrayMesh:
	var parts: Array[Array] = []
	var belly := SphereMesh.new()
	belly.radius = 0.28
	belly.height = 0.44
	parts.append([belly, Transform3D(Basis(), Vector3(0, 0, 0))])
	var knob := SphereMesh.new()
	knob.radius = 0.06
	knob.height = 0.1
	parts.append([knob, Transform3D(Basis(), Vector3(0, 0.24, 0))])
	var spout := CylinderMesh.new()
	spout.bottom_radius = 0.07
	spout.top_radius = 0.035
	spout.height = 0.3
	parts.append([spout, Transform3D(Basis(Vector3(0, 0, 1), -0.8), Vector3(0.33, 0.05, 0))])
	var handle := TorusMesh.new()
	handle.inner_radius = 0.1
	handle.outer_radius = 0.15
	parts.append([handle, Transform3D(Basis(Vector3(1, 0, 0), PI / 2), Vector3(-0.3, 0.02, 0))])
	return _joined(parts)


## A closed shell of a cabin on a chassis.
func _car_body() -> ArrayMesh:
	var parts: Array[Array] = []
	parts.append([_box(Vector3(0.96, 0.2, 0.4)), Transform3D(Basis(), Vector3(0, -0.08, 0))])
	var cabin := PrismMesh.new()
	cabin.size = Vector3(0.6, 0.22, 0.36)
	parts.append([cabin, Transform3D(Basis(), Vector3(-0.05, 0.1, 0))])
	return _joined(parts)


## A frame with two boards in it: walls that meet walls.
func _shelf(wall: float) -> ArrayMesh:
	var parts: Array[Array] = []
	for x: float in [-0.4, 0.4]:
		parts.append([_box(Vector3(wall, 0.9, 0.3)), Transform3D(Basis(), Vector3(x, 0, 0))])
	for y: float in [-0.4, 0.0, 0.4]:
		parts.append([_box(Vector3(0.8, wall, 0.3)), Transform3D(Basis(), Vector3(0, y, 0))])
	return _joined(parts)


## A room of six walls amid six others, on a floor: boards that run into each other.
func _rooms(wall: float) -> ArrayMesh:
	var parts: Array[Array] = []
	for k in 6:
		var middle := Basis(Vector3.UP, (k + 0.5) * PI / 3.0)
		for side: float in [0.24, 0.48]:
			var away := middle * Vector3(side * sqrt(0.75), 0, 0)
			parts.append([_box(Vector3(wall, 0.3, side)), Transform3D(middle, away)])
		var corner := Basis(Vector3.UP, k * PI / 3.0)
		parts.append([_box(Vector3(0.24, 0.3, wall)), Transform3D(corner, corner * Vector3(0.36, 0, 0))])
	var floor_mesh := CylinderMesh.new()
	floor_mesh.top_radius = 0.5
	floor_mesh.bottom_radius = 0.5
	floor_mesh.height = wall
	floor_mesh.radial_segments = 6
	floor_mesh.rings = 0
	parts.append([floor_mesh, Transform3D(Basis(Vector3.UP, PI / 6.0), Vector3(0, -0.15, 0))])
	return _joined(parts)


## Meshes with their transforms, as one surface.
func _joined(parts: Array[Array]) -> ArrayMesh:
	var tool := SurfaceTool.new()
	for part in parts:
		tool.append_from(part[0], 0, part[1])
	return tool.commit()


func _vase_radius(height: float) -> float:
	return 0.24 + 0.1 * sin(height * 5.0)


func _shell(radius: float, wall: float) -> ArrayMesh:
	var points := PackedVector2Array()
	for i in 25:
		points.append(Vector2.from_angle(-PI / 2 + PI * i / 24) * radius)
	for i in 25:
		points.append(Vector2.from_angle(PI / 2 - PI * i / 24) * (radius - wall))
	return _revolve(points)


func _box(size: Vector3) -> Mesh:
	var box := BoxMesh.new()
	box.size = size
	return box


## A box with a hollow in it, both surfaces facing the solid's outside.
func _nested(outer: float, inner: float) -> ArrayMesh:
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	tool.set_smooth_group(-1) # flat
	var faces := BoxMesh.new().get_faces()
	for i in faces.size():
		tool.add_vertex(faces[i] * outer)
	for i in faces.size():
		tool.add_vertex(faces[i - i % 3 + (2 - i % 3)] * inner)
	tool.generate_normals()
	return tool.commit()


func _moebius(radius: float, width: float) -> ArrayMesh:
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	for s in 64:
		var edges: Array[Vector3] = []
		for k in 2:
			var angle := TAU * (s + k) / 64
			for side: float in [-0.5, 0.5]:
				var across := Vector2.from_angle(angle / 2) * side * width
				edges.append(_revolved(Vector2(radius + across.x, across.y), angle))
		_add_quad(tool, edges[0], edges[1], edges[3], edges[2])
	tool.generate_normals()
	return tool.commit()
