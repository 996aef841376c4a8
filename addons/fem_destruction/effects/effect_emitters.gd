extends Node3D
## A pool of particle emitters, half of them for dust and half for chips. The oldest is used anew when all are busy.

const Looks := preload("effect_looks.gd")
const POOL := 24 # emitters of each kind
const DUST_LIFETIME := 1.6 # s
const CHIP_LIFETIME := 2.5
const BURST_MAX := 48 # particles of one kind
const SPEED_MAX := 6.0 # m/s

var _dust: Array[CPUParticles3D] = []
var _chips: Array[CPUParticles3D] = []
var _ends: Dictionary[CPUParticles3D, float] = {} # s, of the clock below
var _time := 0.0


func _ready() -> void:
	for i in POOL:
		_dust.append(_make_dust())
		_chips.append(_make_chips())


func _process(delta: float) -> void:
	_time += delta


func get_live_count() -> int:
	var count := 0
	for emitter: CPUParticles3D in _ends:
		if _ends[emitter] > _time:
			count += emitter.amount
	return count


## area in m², energy in J.
func emit_burst(look: Looks.Look, point: Vector3, normal: Vector3, area: float, energy: float, amount: float, budget: int) -> void:
	var speed := clampf(sqrt(2.0 * maxf(energy, 0.0) / maxf(area * 20.0, 0.01)), 0.4, SPEED_MAX) # of a layer of 20 kg/m²
	var extent := clampf(sqrt(maxf(area, 0.0)) * 0.5, 0.02, 1.0)
	_start(_dust, look.dust * area * amount, DUST_LIFETIME, look, point, normal, 0.4 * speed, extent, budget)
	_start(_chips, look.chips * area * amount, CHIP_LIFETIME, look, point, normal, speed, extent, budget)


func _start(pool: Array[CPUParticles3D], wanted: float, lifetime: float, look: Looks.Look, point: Vector3, normal: Vector3,
		speed: float, extent: float, budget: int) -> void:
	var count := mini(mini(int(wanted + 0.5), BURST_MAX), budget - get_live_count())
	if count <= 0 or not is_finite(speed):
		return
	var emitter := pool[0]
	for other in pool:
		if _ends.get(other, 0.0) < _ends.get(emitter, 0.0):
			emitter = other
	emitter.amount = count
	emitter.global_position = point
	emitter.direction = normal
	emitter.initial_velocity_min = 0.3 * speed
	emitter.initial_velocity_max = speed
	emitter.emission_sphere_radius = extent
	_paint(emitter, look, pool == _dust, extent, normal)
	_ends[emitter] = _time + lifetime
	emitter.restart()


func _paint(emitter: CPUParticles3D, look: Looks.Look, is_dust: bool, extent: float, normal: Vector3) -> void:
	var color := look.color
	if is_dust:
		var pale := color.lerp(Color(color.get_luminance(), color.get_luminance(), color.get_luminance()), 0.45) # fine dust is paler than what it is of
		emitter.color = Color(pale.lightened(0.3), 0.55)
		emitter.global_position += 0.3 * extent * normal # a puff within the surface is cut off by it
		emitter.scale_amount_min = 0.3 + extent
		emitter.scale_amount_max = 0.6 + 2.0 * extent
		return
	emitter.color = Color(color.lightened(0.4 * look.chip_gleam), 1.0)
	emitter.scale_amount_min = 0.4 * look.chip_size
	emitter.scale_amount_max = 1.6 * look.chip_size
	var chip: BoxMesh = emitter.mesh
	chip.size = Vector3(look.chip_stretch, 0.5, 0.8) / pow(look.chip_stretch, 1.0 / 3.0)
	var material: StandardMaterial3D = chip.material
	material.roughness = 1.0 - 0.9 * look.chip_gleam


func _make_emitter(lifetime: float) -> CPUParticles3D:
	var emitter := CPUParticles3D.new()
	emitter.emitting = false
	emitter.one_shot = true
	emitter.explosiveness = 0.95
	emitter.lifetime = lifetime
	emitter.lifetime_randomness = 0.4
	emitter.emission_shape = CPUParticles3D.EMISSION_SHAPE_SPHERE
	emitter.spread = 70.0
	emitter.local_coords = false
	emitter.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	add_child(emitter)
	return emitter


func _make_dust() -> CPUParticles3D:
	var emitter := _make_emitter(DUST_LIFETIME)
	var quad := QuadMesh.new()
	var material := StandardMaterial3D.new()
	material.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
	material.vertex_color_use_as_albedo = true
	material.billboard_mode = BaseMaterial3D.BILLBOARD_PARTICLES
	material.billboard_keep_scale = true # without, puffs that wait for their turn are black and 1 m wide at the world's origin
	material.albedo_texture = puff_texture()
	material.roughness = 1.0
	material.specular_mode = BaseMaterial3D.SPECULAR_DISABLED
	quad.material = material
	emitter.mesh = quad
	emitter.gravity = Vector3(0, -0.25, 0)
	emitter.damping_min = 1.5
	emitter.damping_max = 3.0
	emitter.angle_min = -180.0
	emitter.angle_max = 180.0
	emitter.scale_amount_curve = growing(0.5, 1.0)
	emitter.color_ramp = _fading(0.0, 1.0, 0.1)
	return emitter


func _make_chips() -> CPUParticles3D:
	var emitter := _make_emitter(CHIP_LIFETIME)
	var chip := BoxMesh.new()
	var material := StandardMaterial3D.new()
	material.vertex_color_use_as_albedo = true
	chip.material = material
	emitter.mesh = chip
	emitter.particle_flag_rotate_y = true
	emitter.angle_min = -180.0
	emitter.angle_max = 180.0
	emitter.angular_velocity_min = -400.0
	emitter.angular_velocity_max = 400.0
	emitter.scale_amount_curve = growing(1.0, 1.0, 0.0)
	return emitter


## How large a particle is over its life: up to four fifths of it, and at its end.
static func growing(from: float, to: float, end := -1.0) -> Curve:
	var curve := Curve.new()
	curve.add_point(Vector2(0.0, from))
	curve.add_point(Vector2(0.8, to))
	curve.add_point(Vector2(1.0, end if end >= 0.0 else to))
	return curve


static func _fading(from: float, to: float, rise: float) -> Gradient:
	var gradient := Gradient.new()
	gradient.offsets = PackedFloat32Array([0.0, rise, 1.0])
	gradient.colors = PackedColorArray([Color(1, 1, 1, from), Color(1, 1, 1, to), Color(1, 1, 1, 0)])
	return gradient


## A soft disc.
static func puff_texture() -> GradientTexture2D:
	var texture := GradientTexture2D.new()
	texture.width = 64
	texture.height = 64
	texture.fill = GradientTexture2D.FILL_RADIAL
	texture.fill_from = Vector2(0.5, 0.5)
	texture.fill_to = Vector2(1.0, 0.5)
	texture.gradient = Gradient.new()
	texture.gradient.offsets = PackedFloat32Array([0.0, 0.5, 1.0])
	texture.gradient.colors = PackedColorArray([Color(1, 1, 1, 0.7), Color(1, 1, 1, 0.3), Color(1, 1, 1, 0)])
	return texture
