extends "res://picture_script.gd"
## Breaks a pane, a wall and a bowl and draws them before, at and after the blow; the tets below each.
##
## godot --fixed-fps 60 --path tests/godot --script res://fracture_pictures.gd -- FOLDER
##
## Writes FOLDER/fracture_NAME.png: a row of moments, drawn as a player sees them, and a row of the tets at the same
## moments. Prints "ok NAME" or "FAIL NAME: CAUSE" for each check and ends with "FRACTURE PICTURES DONE".

const CELL := Vector2i(480, 360) # pixels
const BACKGROUND := Color(0.55, 0.62, 0.7)


func _take_all(folder: String, only: String) -> void:
	root.size = CELL
	var stage := _build_stage()
	for scene: Dictionary in _scenes():
		if only == "" or scene.name == only:
			await _take_pictures(stage, scene, folder)
	stage.free()
	await process_frame


# -- The scenes -------------------------------------------------------------------------------------------------------


func _scenes() -> Array[Dictionary]:
	return [
		{name = "pane", build = _build_pane, eye = Vector3(1.3, 1.6, 2.6), target = Vector3(0, 0.85, 0),
			moments = [1, 9, 13, 20, 40, 150]},
		{name = "wall", build = _build_wall, eye = Vector3(3.2, 2.4, 4.6), target = Vector3(0, 0.8, 0),
			moments = [1, 9, 13, 20, 40, 150]},
		{name = "bowl", build = _build_bowl, eye = Vector3(0.6, 0.8, 1.1), target = Vector3(0, 0.15, 0),
			moments = [1, 27, 30, 34, 45, 150]},
	]


func _look(color: Color, roughness := 0.8) -> StandardMaterial3D:
	var look := StandardMaterial3D.new()
	look.albedo_color = color
	look.roughness = roughness
	return look


func _substance(stiffness: float, density: float, toughness: float) -> MaterialResource:
	var material := MaterialResource.new()
	material.stiffness = stiffness
	material.density = density
	material.breakable = toughness > 0.0
	material.toughness = toughness
	material.damping = 0.001
	return material


func _bake(mesh: Mesh, elements: int) -> DestructibleMesh:
	var baked := DestructibleMesh.new()
	baked.source_mesh = mesh
	baked.element_count = elements
	check(baked.bake() == OK, "bake", "see the error above")
	return baked


func _add_ball(parent: Node3D, radius: float, position: Vector3, velocity: Vector3, density: float) -> DestructibleBody:
	var sphere := SphereMesh.new()
	sphere.radius = radius
	sphere.height = 2.0 * radius
	sphere.radial_segments = 24
	sphere.rings = 12
	var ball := DestructibleBody.new()
	ball.mesh = _bake(sphere, 300)
	ball.material = _substance(5e8, density, 0.0)
	ball.surface_material = _look(Color(0.2, 0.2, 0.22), 0.4)
	ball.position = position
	ball.start_velocity = velocity
	parent.add_child(ball)
	return ball


## 1.4 x 1.4 m of glass, 2 cm thick, held at all four edges, struck by an iron ball.
func _build_pane(parent: Node3D) -> DestructibleBody:
	var box := BoxMesh.new()
	box.size = Vector3(1.4, 1.4, 0.02)
	var pane := DestructibleBody.new()
	pane.mesh = _bake(box, 1600)
	pane.material = _substance(3e7, 2500.0, 6e4)
	var glass := _look(Color(0.65, 0.85, 0.85, 0.55), 0.05)
	glass.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
	glass.cull_mode = BaseMaterial3D.CULL_DISABLED
	pane.surface_material = glass
	pane.position = Vector3(0, 1.0, 0)
	var rim := 0.02
	pane.anchors = [
		AABB(Vector3(-0.71, -0.71, -0.1), Vector3(1.42, rim, 0.2)), AABB(Vector3(-0.71, 0.71 - rim, -0.1), Vector3(1.42, rim, 0.2)),
		AABB(Vector3(-0.71, -0.71, -0.1), Vector3(rim, 1.42, 0.2)), AABB(Vector3(0.71 - rim, -0.71, -0.1), Vector3(rim, 1.42, 0.2)),
	]
	parent.add_child(pane)
	_add_ball(parent, 0.1, Vector3(0.15, 1.1, 1.2), Vector3(0, 0.6, -8), 7800.0)
	return pane


## A wall of concrete that stands on the ground, struck by a heavy ball: brittle 1999, figure 9.
func _build_wall(parent: Node3D) -> DestructibleBody:
	var wall := DestructibleBody.new()
	wall.size = Vector3(4.0, 2.0, 0.25)
	wall.cells = Vector3i(18, 9, 1)
	wall.material = _substance(5e8, 2400.0, 5e5)
	wall.surface_material = _look(Color(0.75, 0.72, 0.66))
	wall.position = Vector3(0, 1.0, 0)
	wall.anchors = [AABB(Vector3(-2.1, -1.1, -0.2), Vector3(4.2, 0.15, 0.4))]
	parent.add_child(wall)
	_add_ball(parent, 0.35, Vector3(0.4, 1.3, 2.4), Vector3(0, 0.8, -14), 7800.0)
	return wall


## A bowl that falls onto the ground.
func _build_bowl(parent: Node3D) -> DestructibleBody:
	var bowl := DestructibleBody.new()
	bowl.mesh = _bake(_bowl(0.3, 0.03), 2500)
	bowl.material = _substance(3e7, 2400.0, 4e4)
	bowl.surface_material = _look(Color(0.85, 0.82, 0.75), 0.5)
	bowl.transform = Transform3D(Basis(Vector3(0, 0, 1), 0.5), Vector3(0, 1.2, 0))
	parent.add_child(bowl)
	return bowl


## From the pole below along the outside to the rim and back along the inside, turned round the y axis.
func _bowl(radius: float, wall: float) -> ArrayMesh:
	var profile := PackedVector2Array()
	for i in 17:
		profile.append(Vector2.from_angle(-PI / 2 + PI / 2 * i / 16) * radius)
	for i in 17:
		profile.append(Vector2.from_angle(-PI / 2 * i / 16) * (radius - wall))
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	for i in profile.size():
		var a := profile[i]
		var b := profile[(i + 1) % profile.size()]
		for s in 48:
			var from := TAU * s / 48
			var to := TAU * (s + 1) / 48
			for corner: Vector3 in [_revolved(a, from), _revolved(a, to), _revolved(b, to), _revolved(a, from), _revolved(b, to), _revolved(b, from)]:
				tool.add_vertex(corner)
	tool.generate_normals()
	return tool.commit()


func _revolved(point: Vector2, angle: float) -> Vector3:
	return Vector3(point.x * cos(angle), point.y, point.x * sin(angle))


# -- The pictures -----------------------------------------------------------------------------------------------------


func _build_stage() -> Node3D:
	var stage := Node3D.new()
	root.add_child(stage)
	add_environment(stage, BACKGROUND, 0.35, Color(0.8, 0.85, 1.0))
	add_sun(stage, Vector3(-0.6, -1.0, -0.7), 0.5, 20.0)
	add_ground(stage, 40.0, _look(Color(0.42, 0.45, 0.4)))
	_camera = Camera3D.new()
	_camera.fov = 45.0
	stage.add_child(_camera)
	return stage


## Time stands still while a picture is taken.
func _take_pictures(stage: Node3D, scene: Dictionary, folder: String) -> void:
	var parent := Node3D.new()
	stage.add_child(parent)
	var body: DestructibleBody = scene.build.call(parent)
	_camera.look_at_from_position(scene.eye, scene.target)
	var moments: Array = scene.moments
	var sheet := Image.create_empty(CELL.x * moments.size(), CELL.y * 2, false, Image.FORMAT_RGB8)
	var tick := 0
	var ms := 0.0
	var phases := {}
	for i in moments.size():
		while tick < moments[i]:
			await physics_frame
			tick += 1
			var statistics := DestructionServer.get_statistics()
			if statistics.step_ms > ms:
				ms = statistics.step_ms
				phases = statistics.phase_ms
		paused = true
		sheet.blit_rect(await draw_frame(), Rect2i(Vector2i.ZERO, CELL), Vector2i(CELL.x * i, 0))
		body.debug_draw_tets = true
		sheet.blit_rect(await draw_frame(), Rect2i(Vector2i.ZERO, CELL), Vector2i(CELL.x * i, CELL.y))
		body.debug_draw_tets = false
		paused = false
		var free := 0
		for piece in body.get_pieces():
			free += int(not body.get_piece_data(piece).attached)
		print("-- %s, tick %d: %d pieces, %d of them free, %d nodes of %d tets, box %s, slowest step so far %.1f ms" % [
			scene.name, tick, body.get_piece_count(), free, body.get_node_count(), body.get_tet_count(), body.get_aabb_world(), ms])
	print("-- slowest step of %s: %s" % [scene.name, phases])
	check(body.get_piece_count() > 5, scene.name + "_breaks", "%d pieces" % body.get_piece_count())
	var path := folder.path_join("fracture_%s.png" % scene.name)
	check(sheet.save_png(path) == OK, scene.name + "_picture_saved", path + " cannot be written")
	parent.free()
	await physics_frame
