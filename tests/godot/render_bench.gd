extends SceneTree
## What drawing costs on the main thread, printed as figures.
##
## godot --path tests/godot --script res://render_bench.gd
##
## A hundred bodies of 200 nodes, all of which move: stiff ones, soft ones that need smooth normals, both with and without
## physics interpolation; beside them the same nodes in a texture for each body. Then a body whose splinters change owner. Ends with "RENDER BENCH DONE".

const BODIES := 100
const CELLS := Vector3i(4, 4, 7) # 200 nodes
const WARM_UP := 40 # frames
const FRAMES := 120


func _initialize() -> void:
	_run()


func _run() -> void:
	print("renderer %s, %d bodies of %d nodes" % [RenderingServer.get_current_rendering_method(), BODIES, 200])
	var camera := Camera3D.new()
	root.add_child(camera)
	camera.look_at_from_position(Vector3(0, 60, 90), Vector3.ZERO)
	for interpolates: bool in [false, true]:
		physics_interpolation = interpolates
		await _measure("stiff", 1e10, interpolates)
		await _measure("soft", 2e4, interpolates)
	await _measure_texture_each()
	await _measure_breaking()
	print("RENDER BENCH DONE")
	quit()


func _measure(title: String, stiffness: float, interpolates: bool) -> void:
	var stage := Node3D.new()
	root.add_child(stage)
	DestructionServer.ground_enabled = true
	var material := MaterialResource.new()
	material.stiffness = stiffness
	material.damping = 0.0
	for i in BODIES:
		var body := DestructibleBody.new()
		body.cells = CELLS
		body.size = Vector3(1, 1, 1.75)
		body.material = material
		body.position = Vector3(3.0 * (i % 10 - 5), 2.0 + 0.3 * (i % 7), 3.0 * (i / 10 - 5))
		body.rotation = Vector3(0.3 * i, 0.2, 0.1 * i)
		stage.add_child(body)
	for i in WARM_UP:
		await process_frame
	var draw := PackedFloat64Array()
	for i in FRAMES:
		await RenderingServer.frame_post_draw
		var statistics := DestructionServer.get_statistics()
		if statistics.live_nodes == statistics.nodes:
			draw.append(statistics.draw_ms)
	draw.sort()
	print("%-6s %s interpolation: least %.3f, median %.3f ms, 95 %% %.3f ms, of %d frames in which all moved" % [title,
			"with   " if interpolates else "without", draw[0] if draw else NAN, draw[draw.size() / 2] if draw else NAN,
			draw[draw.size() * 95 / 100] if draw else NAN, draw.size()])
	stage.free()
	await physics_frame
	await physics_frame


## The same nodes as above in a texture for each body.
func _measure_texture_each() -> void:
	var textures: Array[RID] = []
	var images: Array[Image] = []
	for i in BODIES:
		images.append(Image.create(16, 13, false, Image.FORMAT_RGBAF))
		textures.append(RenderingServer.texture_2d_create(images[i]))
	var times := PackedFloat64Array()
	for frame in FRAMES:
		await process_frame
		var start := Time.get_ticks_usec()
		for i in BODIES:
			RenderingServer.texture_2d_update(textures[i], images[i], 0)
		times.append((Time.get_ticks_usec() - start) / 1000.0)
	times.sort()
	print("a texture for each body, upload alone: median %.3f ms" % times[FRAMES / 2])
	for texture in textures:
		RenderingServer.free_rid(texture)


## A brittle block is thrown to the ground: what the frames cost in which its splinters' vertices change owner.
func _measure_breaking() -> void:
	physics_interpolation = false
	var source := BoxMesh.new()
	source.size = Vector3(2, 1, 1)
	var mesh := DestructibleMesh.new()
	mesh.source_mesh = source
	mesh.element_count = 1500
	mesh.splinter_pattern = DestructibleMesh.SPLINTERS_VORONOI
	mesh.splinter_count = 230
	mesh.splinter_roughness = 0.0
	mesh.bake()
	var body := DestructibleBody.new()
	body.mesh = mesh
	body.material = MaterialResource.new()
	body.material.stiffness = 5e7
	body.material.breakable = true
	body.material.toughness = 6e4
	body.position = Vector3(0, 2, 0)
	body.rotation = Vector3(0.5, 0.3, 0.4)
	body.start_velocity = Vector3(0, -8, 0)
	root.add_child(body)
	var pieces := 1
	var costs := PackedFloat64Array()
	var owners := PackedFloat64Array()
	for i in 60:
		await RenderingServer.frame_post_draw
		if body.get_piece_count() != pieces:
			pieces = body.get_piece_count()
			costs.append(DestructionServer.get_statistics().draw_ms)
			owners.append(DestructionServer.get_statistics().owners_ms)
	costs.sort()
	owners.sort()
	print("breaking, %d vertices, %d pieces, %d frames in which pieces came: owners median %.3f, worst %.3f ms; all drawing median %.3f, worst %.3f ms" % [
			mesh.get_splinter_positions().size(), pieces, costs.size(), owners[owners.size() / 2] if owners else NAN,
			owners[-1] if owners else NAN, costs[costs.size() / 2] if costs else NAN, costs[-1] if costs else NAN])
	body.free()
