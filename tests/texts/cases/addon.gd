extends "res://text_case.gd"
## The addon's README.md.


func test_start_step_1() -> void:
	says("addon.start_step_1.step", "Add a `DestructibleBody` to a 3D scene and lift it to y = 3.")
	check(ClassDB.is_parent_class("DestructibleBody", "Node3D"), "DestructibleBody is no node of a 3D scene")


func test_start_step_2() -> void:
	says("addon.start_step_2.step", "a `CSGBox3D` of size 10, 0.2, 10 with *Use Collision* on")
	says("addon.start_step_2.step", "any level geometry")
	add_floor() # a StaticBody3D, top at y = 0
	var body := add_body(Vector3(0, 3, 0), Vector3.ONE, Vector3i(4, 4, 4))
	await seconds(3.0)
	check_near(lowest_node(body), 0.0, 0.05, "height of its underside on a StaticBody3D (m)")


func test_start_step_3() -> void:
	says("addon.start_step_3.step", "It falls onto the floor and bounces.")
	says("addon.start_step_3.step", "Without a floor it falls for ever, unless the project setting `physics/fem_destruction/ground_enabled` puts a plane at y = 0.")
	check_equal(ProjectSettings.get_setting("physics/fem_destruction/ground_enabled"), false, "ground_enabled in a fresh project")
	check_equal(ProjectSettings.get_setting("physics/fem_destruction/ground_height"), 0.0, "ground_height in a fresh project")
	var lost := add_body(Vector3(0, 3, 0), Vector3.ONE, Vector3i(4, 4, 4))
	await seconds(3.0)
	check(lost.get_center_of_mass().y < -20.0, "without a floor it is at y = %.2f after 3 s" % lost.get_center_of_mass().y)
	lost.free()
	DestructionServer.ground_enabled = true # what the project setting does at the start
	var grounded := add_body(Vector3(0, 3, 0), Vector3.ONE, Vector3i(4, 4, 4))
	await seconds(3.0)
	check_near(lowest_node(grounded), 0.0, 0.05, "height of its underside on the ground plane (m)")
	grounded.free()
	DestructionServer.ground_enabled = false
	add_level()
	await check_bounces(add_body(Vector3(0, 3, 0), Vector3.ONE, Vector3i(4, 4, 4)))


## Headless Godot compiles shaders, too, and prints an error when that fails.
func test_own_shaders_1() -> void:
	var shader := Shader.new()
	shader.code = text_of("addon.own_shaders_1.glsl")
	check(shader.get_shader_uniform_list().size() > 0, "the shader does not compile")
	# "`fem_fade(CUSTOM0, MODEL_MATRIX)` tells how much is left of a piece that fades away"
	var fading := Shader.new()
	fading.code = shader.code.replace("void vertex() {", "varying float left;\nvoid vertex() {\n\tleft = fem_fade(CUSTOM0, MODEL_MATRIX);")
	check(fading.get_shader_uniform_list().size() > 0, "a shader with fem_fade() does not compile")
	add_level()
	var body := DestructibleBody.new()
	body.surface_material = ShaderMaterial.new()
	body.surface_material.shader = shader
	body.position.y = 1.0
	scene.add_child(body)
	await seconds(0.5)
	check(body.is_simulated(), "a body with this shader is not simulated")
