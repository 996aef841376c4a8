extends Object
## What shots and blasts look like, by nodes that remove themselves. Dust and chips of what breaks are of DestructionEffects.

const Emitters := preload("res://addons/fem_destruction/effects/effect_emitters.gd")


static func puff(parent: Node3D, at: Vector3, size: float, color: Color) -> void:
	var dust := CPUParticles3D.new()
	dust.mesh = _puff_mesh(color)
	dust.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	dust.emitting = true
	dust.one_shot = true
	dust.explosiveness = 0.9
	dust.amount = 6 + int(12.0 * size)
	dust.lifetime = 1.4
	dust.emission_shape = CPUParticles3D.EMISSION_SHAPE_SPHERE
	dust.emission_sphere_radius = 0.25 * size
	dust.direction = Vector3.UP
	dust.spread = 180.0
	dust.gravity = Vector3(0, -0.6, 0)
	dust.initial_velocity_min = 0.2
	dust.initial_velocity_max = 0.5 + 0.9 * size
	dust.damping_min = 1.0
	dust.damping_max = 2.0
	dust.scale_amount_min = 0.12 + 0.25 * size
	dust.scale_amount_max = 0.25 + 0.5 * size
	dust.scale_amount_curve = Emitters.growing(0.35, 1.0)
	dust.color_ramp = Gradient.new()
	dust.color_ramp.set_color(0, Color(1, 1, 1, 0.5))
	dust.color_ramp.set_color(1, Color(1, 1, 1, 0))
	dust.finished.connect(dust.queue_free)
	parent.add_child(dust)
	dust.global_position = at


static func flash(parent: Node3D, at: Vector3, radius: float) -> void:
	var light := OmniLight3D.new()
	light.light_color = Color(1, 0.75, 0.4)
	light.light_energy = 8.0
	light.omni_range = 2.0 * radius
	var ball := MeshInstance3D.new()
	ball.mesh = SphereMesh.new()
	ball.scale = Vector3.ONE * 0.3
	var look := StandardMaterial3D.new()
	look.shading_mode = BaseMaterial3D.SHADING_MODE_UNSHADED
	look.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
	look.albedo_color = Color(1, 0.85, 0.55, 0.95)
	ball.material_override = look
	ball.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	light.add_child(ball)
	parent.add_child(light)
	light.global_position = at
	var tween := light.create_tween().set_parallel()
	tween.tween_property(light, ^"light_energy", 0.0, 0.35)
	tween.tween_property(ball, ^"scale", Vector3.ONE * 0.55 * radius, 0.22).set_ease(Tween.EASE_OUT)
	tween.tween_property(look, ^"albedo_color", Color(1, 0.4, 0.1, 0), 0.22)
	tween.chain().tween_callback(light.queue_free)
	puff(parent, at, 1.0, Color(0.45, 0.42, 0.4))


static func tracer(parent: Node3D, from: Vector3, to: Vector3) -> void:
	if from.distance_to(to) < 0.1:
		return
	var line := MeshInstance3D.new()
	line.mesh = BoxMesh.new()
	line.mesh.size = Vector3(0.012, 0.012, from.distance_to(to))
	var look := StandardMaterial3D.new()
	look.shading_mode = BaseMaterial3D.SHADING_MODE_UNSHADED
	look.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
	look.albedo_color = Color(1, 0.9, 0.6, 0.8)
	line.material_override = look
	line.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	parent.add_child(line)
	line.look_at_from_position(0.5 * (from + to), to, Vector3.UP if absf(from.direction_to(to).y) < 0.99 else Vector3.RIGHT)
	var tween := line.create_tween()
	tween.tween_property(look, ^"albedo_color:a", 0.0, 0.12)
	tween.tween_callback(line.queue_free)


static func _puff_mesh(color: Color) -> QuadMesh:
	var look := StandardMaterial3D.new()
	look.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
	look.shading_mode = BaseMaterial3D.SHADING_MODE_UNSHADED
	look.billboard_mode = BaseMaterial3D.BILLBOARD_PARTICLES
	look.billboard_keep_scale = true # without, those that wait for their turn are drawn at the world's origin
	look.vertex_color_use_as_albedo = true
	look.albedo_color = color
	look.albedo_texture = Emitters.puff_texture()
	var quad := QuadMesh.new()
	quad.material = look
	return quad
