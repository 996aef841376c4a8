extends SceneTree
## What scripts that draw and check pictures have in common. Each draws in _take_all() and is named in what it prints.

var _failed := 0
var _camera: Camera3D


func _initialize() -> void:
	await _take_all(argument(0, "user://"), argument(1, ""))
	print("%s DONE" % _name().replace("_", " ").to_upper())
	quit(0 if _failed == 0 else 1)


## Into `folder`; `only`, if given, names the one picture that is wanted.
func _take_all(_folder: String, _only: String) -> void:
	pass


func check(condition: bool, test_name: String, cause := "") -> void:
	if condition:
		print("ok %s.%s" % [_name(), test_name])
	else:
		_failed += 1
		print("FAIL %s.%s: %s" % [_name(), test_name, cause])


## The window, some frames from now.
func _shoot() -> Image:
	for i in 2:
		await process_frame
	return await draw_frame()


## One colour behind everything, and even light from all sides.
func add_environment(parent: Node, background: Color, light_energy: float, light_color := Color.WHITE) -> void:
	var environment := Environment.new()
	environment.background_mode = Environment.BG_COLOR
	environment.background_color = background
	environment.ambient_light_source = Environment.AMBIENT_SOURCE_COLOR
	environment.ambient_light_color = light_color
	environment.ambient_light_energy = light_energy
	var world := WorldEnvironment.new()
	world.environment = environment
	parent.add_child(world)


## Light that casts shadows as far as this.
func add_sun(parent: Node, direction: Vector3, energy := 1.0, shadow_distance := 100.0) -> DirectionalLight3D:
	var light := DirectionalLight3D.new()
	light.light_energy = energy
	light.shadow_enabled = true
	light.directional_shadow_max_distance = shadow_distance
	parent.add_child(light)
	light.look_at_from_position(Vector3.ZERO, direction)
	return light


## A plane to stand on, with edges of this length.
func add_ground(parent: Node, size: float, look: Material) -> void:
	var ground := MeshInstance3D.new()
	var plane := PlaneMesh.new()
	plane.size = Vector2(size, size)
	plane.material = look
	ground.mesh = plane
	parent.add_child(ground)


## The frame that is drawn next.
func draw_frame() -> Image:
	await process_frame
	await RenderingServer.frame_post_draw
	var image := root.get_texture().get_image()
	image.convert(Image.FORMAT_RGB8)
	return image


static func argument(index: int, otherwise: String) -> String:
	var arguments := OS.get_cmdline_user_args()
	return arguments[index] if arguments.size() > index else otherwise


## Textures of noise are made by a thread.
func wait_for_textures(preset: MaterialResource) -> void:
	for look: StandardMaterial3D in [preset.surface_material, preset.interior_material]:
		for texture: Texture2D in [look.albedo_texture, look.normal_texture]:
			while texture != null and texture.get_image() == null:
				await process_frame


func _name() -> String:
	return get_script().resource_path.get_file().get_basename()
