@tool
extends EditorResourcePreviewGenerator
## Draws a ball of each MaterialResource for the file dock and the preset picker. Works on a thread, without the renderer: the
## noise and the colours of its textures are asked for directly.

const LIGHT := Vector3(-0.4, 0.65, 0.65)


func _handles(type: String) -> bool:
	return type == "MaterialResource"


func _can_generate_small_preview() -> bool:
	return true


func _generate(resource: Resource, size: Vector2i, _metadata: Dictionary) -> Texture2D:
	var material := resource as MaterialResource
	if material == null:
		return null
	var side := clampi(mini(size.x, size.y), 16, 96)
	var image := Image.create_empty(side, side, false, Image.FORMAT_RGBA8)
	var look := material.surface_material as BaseMaterial3D
	for y in side:
		for x in side:
			var at := Vector2(x + 0.5, y + 0.5) / side * 2.0 - Vector2.ONE
			var depth := 0.92 - at.length_squared()
			if depth > 0.0:
				image.set_pixel(x, y, _shade(look, Vector3(at.x, -at.y, sqrt(depth)).normalized()))
	return ImageTexture.create_from_image(image)


func _shade(look: BaseMaterial3D, normal: Vector3) -> Color:
	var light := LIGHT.normalized()
	var color := _color(look, normal)
	var roughness := look.roughness if look != null else 0.8
	var metallic := look.metallic if look != null else 0.0
	var half := (light + Vector3.BACK).normalized()
	var gleam := pow(maxf(normal.dot(half), 0.0), lerpf(120.0, 6.0, roughness)) * lerpf(0.9, 0.15, roughness)
	var share := (0.3 + 0.7 * maxf(normal.dot(light), 0.0)) * (1.0 - 0.3 * metallic)
	var lit := Color(color.r * share + gleam, color.g * share + gleam, color.b * share + gleam)
	lit.a = maxf(color.a, clampf(0.35 + gleam + 0.5 * (1.0 - normal.z), 0.0, 1.0)) if color.a < 1.0 else 1.0
	return lit


func _color(look: BaseMaterial3D, normal: Vector3) -> Color:
	if look == null:
		return Color(0.7, 0.7, 0.7)
	var color := look.albedo_color
	var texture := look.albedo_texture as NoiseTexture2D
	if texture != null and texture.noise != null:
		var at := normal * 0.5 * look.uv1_scale * 256.0
		var value := clampf(0.5 + 0.9 * texture.noise.get_noise_2d(at.x, at.y), 0.0, 1.0)
		color *= texture.color_ramp.sample(value) if texture.color_ramp != null else Color(value, value, value)
	return color
