extends Node3D
## Marks where bodies struck level geometry: soft discs just above the surface, which fade. Quads instead of Decals: those are not
## drawn by the Compatibility renderer.

const Looks := preload("effect_looks.gd")
const Emitters := preload("effect_emitters.gd")
const LIFT := 0.004 # m, above the surface
const NEAR := 0.15 # m, within which a mark takes the place of another one

var _marks: Array[MeshInstance3D] = []
var _ages: Dictionary[MeshInstance3D, float] = {} # s left
var _lifetimes: Dictionary[MeshInstance3D, float] = {}
var _texture: Texture2D


func get_live_count() -> int:
	return _marks.filter(func(mark: MeshInstance3D) -> bool: return mark.visible).size()


static func basis_along(normal: Vector3) -> Basis:
	var up := normal.normalized() if normal.length_squared() > 1e-12 and normal.is_finite() else Vector3.UP
	var side := up.cross(Vector3.RIGHT if absf(up.x) < 0.9 else Vector3.FORWARD).normalized()
	return Basis(side, up, side.cross(up))


## impulse in N s.
func add_mark(look: Looks.Look, point: Vector3, normal: Vector3, impulse: float, budget: int, lifetime: float) -> void:
	var mark := _free_mark(point, budget)
	var size := clampf(0.12 * pow(impulse, 1.0 / 3.0), 0.1, 1.5)
	mark.global_transform = Transform3D(basis_along(normal).rotated(basis_along(normal).y, randf() * TAU) * Basis.from_scale(Vector3(size, 1, size)), point + normal * LIFT)
	var material: StandardMaterial3D = mark.material_override
	material.albedo_color = Color(look.color.darkened(0.3), 0.5)
	_ages[mark] = lifetime
	_lifetimes[mark] = lifetime
	mark.show()


func _free_mark(point: Vector3, budget: int) -> MeshInstance3D:
	var oldest: MeshInstance3D = null
	for mark in _marks:
		if not mark.visible or mark.global_position.distance_to(point) < NEAR:
			return mark
		if oldest == null or _ages[mark] < _ages[oldest]:
			oldest = mark
	if _marks.size() >= budget and oldest != null:
		return oldest
	var made := MeshInstance3D.new()
	made.mesh = PlaneMesh.new()
	made.mesh.size = Vector2.ONE
	made.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	if _texture == null:
		_texture = Emitters.puff_texture()
	var material := StandardMaterial3D.new()
	material.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
	material.albedo_texture = _texture
	material.roughness = 1.0
	material.specular_mode = BaseMaterial3D.SPECULAR_DISABLED
	material.render_priority = -1
	made.material_override = material
	add_child(made)
	_marks.append(made)
	return made


func _process(delta: float) -> void:
	for mark in _marks:
		if mark.visible:
			_ages[mark] -= delta
			(mark.material_override as StandardMaterial3D).albedo_color.a = 0.5 * clampf(2.0 * _ages[mark] / _lifetimes[mark], 0.0, 1.0)
			mark.visible = _ages[mark] > 0.0
