#include "drawing/material_values.h"

#include "binding/conversions.h"
#include "binding/hashing.h"
#include "drawing/surface_material.h"

static void set_param(GdRID material, const char *name, GDExtensionVariantType type, const void *value) {
	GdVariant variant = value ? make_variant(type, value) : (GdVariant){0};
	GdStringName key = make_string_name(name);
	gd_rendering_server_material_set_param(material, &key, &variant);
	gd_string_name_free(&key);
	variant_free(&variant);
}

static const struct {
	const char *name;
	double (*get)(GDExtensionObjectPtr material);
} numbers[] = {
	{"specular", gd_base_material3d_get_specular},
	{"metallic", gd_base_material3d_get_metallic},
	{"roughness", gd_base_material3d_get_roughness},
	{"normal_scale", gd_base_material3d_get_normal_scale},
	{"emission_energy", gd_base_material3d_get_emission_energy_multiplier},
	{"rim", gd_base_material3d_get_rim},
	{"rim_tint", gd_base_material3d_get_rim_tint},
	{"clearcoat", gd_base_material3d_get_clearcoat},
	{"clearcoat_roughness", gd_base_material3d_get_clearcoat_roughness},
	{"anisotropy", gd_base_material3d_get_anisotropy},
	{"ao_light_affect", gd_base_material3d_get_ao_light_affect},
	{"height_scale", gd_base_material3d_get_heightmap_scale},
	{"subsurface_strength", gd_base_material3d_get_subsurface_scattering_strength},
	{"transmittance_depth", gd_base_material3d_get_transmittance_depth},
	{"transmittance_boost", gd_base_material3d_get_transmittance_boost},
	{"refraction", gd_base_material3d_get_refraction},
	{"grow", gd_base_material3d_get_grow},
	{"alpha_scissor_threshold", gd_base_material3d_get_alpha_scissor_threshold},
	{"alpha_hash_scale", gd_base_material3d_get_alpha_hash_scale},
	{"alpha_edge", gd_base_material3d_get_alpha_antialiasing_edge},
	{"distance_fade_min", gd_base_material3d_get_distance_fade_min_distance},
	{"distance_fade_max", gd_base_material3d_get_distance_fade_max_distance},
	{"uv1_sharpness", gd_base_material3d_get_uv1_triplanar_blend_sharpness},
	{"uv2_sharpness", gd_base_material3d_get_uv2_triplanar_blend_sharpness},
};

static const struct {
	const char *name;
	GdColor (*get)(GDExtensionObjectPtr material);
} colors[] = {
	{"albedo", gd_base_material3d_get_albedo},
	{"emission", gd_base_material3d_get_emission},
	{"transmittance_color", gd_base_material3d_get_transmittance_color},
	{"backlight", gd_base_material3d_get_backlight},
};

static const struct {
	const char *name;
	GdVector3 (*get)(GDExtensionObjectPtr material);
} vectors[] = {
	{"uv1_scale", gd_base_material3d_get_uv1_scale},
	{"uv1_offset", gd_base_material3d_get_uv1_offset},
	{"uv2_scale", gd_base_material3d_get_uv2_scale},
	{"uv2_offset", gd_base_material3d_get_uv2_offset},
};

static const struct {
	const char *name;
	int64_t (*get)(GDExtensionObjectPtr material);
} channels[] = {
	{"metallic_texture_channel", gd_base_material3d_get_metallic_texture_channel},
	{"roughness_texture_channel", gd_base_material3d_get_roughness_texture_channel},
	{"ao_texture_channel", gd_base_material3d_get_ao_texture_channel},
	{"refraction_texture_channel", gd_base_material3d_get_refraction_texture_channel},
};

static const struct {
	const char *name;
	int64_t slot;
	bool is_inside; // kept on the inside, too
} textures[] = {
	{"albedo_texture", GD_BASE_MATERIAL3D_TEXTURE_ALBEDO, true},
	{"metallic_texture", GD_BASE_MATERIAL3D_TEXTURE_METALLIC, false},
	{"roughness_texture", GD_BASE_MATERIAL3D_TEXTURE_ROUGHNESS, false},
	{"orm_texture", GD_BASE_MATERIAL3D_TEXTURE_ORM, false},
	{"normal_texture", GD_BASE_MATERIAL3D_TEXTURE_NORMAL, false},
	{"emission_texture", GD_BASE_MATERIAL3D_TEXTURE_EMISSION, false},
	{"rim_texture", GD_BASE_MATERIAL3D_TEXTURE_RIM, false},
	{"clearcoat_texture", GD_BASE_MATERIAL3D_TEXTURE_CLEARCOAT, false},
	{"anisotropy_texture", GD_BASE_MATERIAL3D_TEXTURE_FLOWMAP, false},
	{"ao_texture", GD_BASE_MATERIAL3D_TEXTURE_AMBIENT_OCCLUSION, false},
	{"height_texture", GD_BASE_MATERIAL3D_TEXTURE_HEIGHTMAP, false},
	{"subsurface_texture", GD_BASE_MATERIAL3D_TEXTURE_SUBSURFACE_SCATTERING, false},
	{"transmittance_texture", GD_BASE_MATERIAL3D_TEXTURE_SUBSURFACE_TRANSMITTANCE, false},
	{"backlight_texture", GD_BASE_MATERIAL3D_TEXTURE_BACKLIGHT, false},
	{"refraction_texture", GD_BASE_MATERIAL3D_TEXTURE_REFRACTION, false},
	{"detail_mask", GD_BASE_MATERIAL3D_TEXTURE_DETAIL_MASK, false},
	{"detail_albedo", GD_BASE_MATERIAL3D_TEXTURE_DETAIL_ALBEDO, false},
	{"detail_normal", GD_BASE_MATERIAL3D_TEXTURE_DETAIL_NORMAL, false},
};

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

// The source material, which the body holds, keeps the texture alive.
static void copy_texture(GdRID material, const char *name, GDExtensionObjectPtr source, int64_t slot) {
	GDExtensionObjectPtr texture = gd_base_material3d_get_texture(source, slot);
	GdRID rid = texture ? gd_resource_get_rid(texture) : (GdRID){{0}};
	set_param(material, name, GDEXTENSION_VARIANT_TYPE_RID, texture ? &rid : NULL);
	object_unreference(texture);
}

// Weights of red, green, blue and alpha for a BaseMaterial3D.TextureChannel; the last is the grey value. A Plane is
// four numbers, too.
static void copy_channel(GdRID material, const char *name, int64_t channel) {
	static const float masks[5][4] = {// by channel
		{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {1.0f / 3.0f, 1.0f / 3.0f, 1.0f / 3.0f, 0}};
	set_param(material, name, GDEXTENSION_VARIANT_TYPE_VECTOR4, masks[channel >= 0 && channel < 5 ? channel : 0]);
}

// Broken faces are rough; those of clear materials keep their polish.
static void roughen(GdRID material, GDExtensionObjectPtr source) {
	bool is_clear = gd_base_material3d_get_transparency(source) != GD_BASE_MATERIAL3D_TRANSPARENCY_DISABLED;
	double roughness = gd_base_material3d_get_roughness(source), metallic = gd_base_material3d_get_metallic(source);
	roughness = is_clear ? roughness : 0.5 + 0.5 * roughness;
	set_param(material, "roughness", GDEXTENSION_VARIANT_TYPE_FLOAT, &roughness);
	set_param(material, "metallic", GDEXTENSION_VARIANT_TYPE_FLOAT, &metallic);
}

void material_values_copy(GdRID material, GDExtensionObjectPtr source, uint32_t use) {
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		double value = numbers[i].get(source);
		set_param(material, numbers[i].name, GDEXTENSION_VARIANT_TYPE_FLOAT, &value);
	}
	for (size_t i = 0; i < COUNT_OF(colors); i++) {
		GdColor value = colors[i].get(source);
		set_param(material, colors[i].name, GDEXTENSION_VARIANT_TYPE_COLOR, &value);
	}
	for (size_t i = 0; i < COUNT_OF(vectors); i++) {
		GdVector3 value = vectors[i].get(source);
		set_param(material, vectors[i].name, GDEXTENSION_VARIANT_TYPE_VECTOR3, &value);
	}
	for (size_t i = 0; i < COUNT_OF(channels); i++) {
		copy_channel(material, channels[i].name, channels[i].get(source));
	}
	for (size_t i = 0; i < COUNT_OF(textures); i++) {
		if (textures[i].is_inside || !(use & SURFACE_INSIDE)) {
			copy_texture(material, textures[i].name, source, textures[i].slot);
		}
	}
	if (use & SURFACE_INSIDE) {
		roughen(material, source);
	}
}

uint64_t material_values_hash(GDExtensionObjectPtr source) {
	uint64_t hash = HASH_START;
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		double value = numbers[i].get(source);
		hash = hash_mix(hash, &value, sizeof(value));
	}
	for (size_t i = 0; i < COUNT_OF(colors); i++) {
		GdColor value = colors[i].get(source);
		hash = hash_mix(hash, &value, sizeof(value));
	}
	for (size_t i = 0; i < COUNT_OF(vectors); i++) {
		GdVector3 value = vectors[i].get(source);
		hash = hash_mix(hash, &value, sizeof(value));
	}
	for (size_t i = 0; i < COUNT_OF(channels); i++) {
		int64_t value = channels[i].get(source);
		hash = hash_mix(hash, &value, sizeof(value));
	}
	for (size_t i = 0; i < COUNT_OF(textures); i++) {
		GDExtensionObjectPtr texture = gd_base_material3d_get_texture(source, textures[i].slot);
		uint64_t id = texture ? godot.object_get_instance_id(texture) : 0;
		hash = hash_mix(hash, &id, sizeof(id));
		object_unreference(texture);
	}
	return hash;
}
