#include "surface_material.h"

#include "conversions.h"
#include "position_texture.h"

static const char shader_path[] = "res://addons/fem_destruction/shaders/fem_body.gdshader";

static struct {
	GDExtensionObjectPtr shader; // a reference to the Shader resource
	GdRID plain;
	bool has_plain, has_failed;
} shared;

static bool load_shader(void) {
	if (shared.shader || shared.has_failed) {
		return shared.shader != NULL;
	}
	GdString path = make_string(shader_path), type = make_string("Shader");
	shared.shader = gd_resource_loader_load(&path, &type, GD_RESOURCE_LOADER_CACHE_MODE_REUSE);
	gd_string_free(&path);
	gd_string_free(&type);
	if (!shared.shader) {
		shared.has_failed = true; // said once, not for every body
		report_error("DestructibleBody: the shader %s cannot be loaded, so bodies are not drawn right; install the "
					 "addon at that path.",
			shader_path);
	}
	return shared.shader != NULL;
}

static void set_param(GdRID material, const GdStringName *name, GDExtensionVariantType type, const void *value) {
	GdVariant variant = make_variant(type, value);
	gd_rendering_server_material_set_param(material, name, &variant);
	variant_free(&variant);
}

static GdRID make_material(void) {
	GdRID material = gd_rendering_server_material_create();
	if (load_shader()) {
		gd_rendering_server_material_set_shader(material, gd_resource_get_rid(shared.shader));
	}
	GdRID texture = position_texture_rid();
	set_param(material, &names.fem_positions, GDEXTENSION_VARIANT_TYPE_RID, &texture);
	return material;
}

static void copy_texture(GdRID material, const GdStringName *name, GDExtensionObjectPtr source, int64_t slot) {
	GDExtensionObjectPtr texture = gd_base_material3d_get_texture(source, slot);
	if (texture) {
		GdRID rid = gd_resource_get_rid(texture);
		set_param(material, name, GDEXTENSION_VARIANT_TYPE_RID, &rid);
		object_unreference(texture); // the source material, which the body holds, keeps it alive
	}
}

static void copy_values(GdRID material, GDExtensionObjectPtr source) {
	GdColor albedo = gd_base_material3d_get_albedo(source);
	double roughness = gd_base_material3d_get_roughness(source);
	double metallic = gd_base_material3d_get_metallic(source);
	double specular = gd_base_material3d_get_specular(source);
	GdVector3 scale = gd_base_material3d_get_uv1_scale(source);
	GdVector3 offset = gd_base_material3d_get_uv1_offset(source);
	set_param(material, &names.albedo, GDEXTENSION_VARIANT_TYPE_COLOR, &albedo);
	set_param(material, &names.roughness, GDEXTENSION_VARIANT_TYPE_FLOAT, &roughness);
	set_param(material, &names.metallic, GDEXTENSION_VARIANT_TYPE_FLOAT, &metallic);
	set_param(material, &names.specular, GDEXTENSION_VARIANT_TYPE_FLOAT, &specular);
	set_param(material, &names.uv1_scale, GDEXTENSION_VARIANT_TYPE_VECTOR3, &scale);
	set_param(material, &names.uv1_offset, GDEXTENSION_VARIANT_TYPE_VECTOR3, &offset);
	GDExtensionBool has_colors = gd_base_material3d_get_flag(source, GD_BASE_MATERIAL3D_FLAG_ALBEDO_FROM_VERTEX_COLOR);
	set_param(material, &names.vertex_color_use_as_albedo, GDEXTENSION_VARIANT_TYPE_BOOL, &has_colors);
	copy_texture(material, &names.albedo_texture, source, GD_BASE_MATERIAL3D_TEXTURE_ALBEDO);
	copy_texture(material, &names.roughness_texture, source, GD_BASE_MATERIAL3D_TEXTURE_ROUGHNESS);
	copy_texture(material, &names.metallic_texture, source, GD_BASE_MATERIAL3D_TEXTURE_METALLIC);
}

static void copy_features(GdRID material, GDExtensionObjectPtr source) {
	if (gd_base_material3d_get_feature(source, GD_BASE_MATERIAL3D_FEATURE_NORMAL_MAPPING)) {
		double scale = gd_base_material3d_get_normal_scale(source);
		set_param(material, &names.normal_scale, GDEXTENSION_VARIANT_TYPE_FLOAT, &scale);
		copy_texture(material, &names.normal_texture, source, GD_BASE_MATERIAL3D_TEXTURE_NORMAL);
	}
	if (gd_base_material3d_get_feature(source, GD_BASE_MATERIAL3D_FEATURE_EMISSION)) {
		GdColor emission = gd_base_material3d_get_emission(source);
		float energy = (float)gd_base_material3d_get_emission_energy_multiplier(source);
		emission = (GdColor){emission.r * energy, emission.g * energy, emission.b * energy, 1.0f};
		set_param(material, &names.emission, GDEXTENSION_VARIANT_TYPE_COLOR, &emission);
		copy_texture(material, &names.emission_texture, source, GD_BASE_MATERIAL3D_TEXTURE_EMISSION);
	}
}

bool surface_material_is_supported(GDExtensionObjectPtr source) {
	return !source || object_cast(source, "BaseMaterial3D") || object_cast(source, "ShaderMaterial");
}

SurfaceMaterial surface_material_create(GDExtensionObjectPtr source) {
	if (object_cast(source, "ShaderMaterial")) {
		GdRID rid = gd_resource_get_rid(source), texture = position_texture_rid();
		set_param(rid, &names.fem_positions, GDEXTENSION_VARIANT_TYPE_RID, &texture);
		return (SurfaceMaterial){rid, false};
	}
	if (object_cast(source, "BaseMaterial3D")) {
		SurfaceMaterial material = {make_material(), true};
		copy_values(material.rid, source);
		copy_features(material.rid, source);
		return material;
	}
	if (!shared.has_plain) {
		shared.plain = make_material();
		shared.has_plain = true;
	}
	return (SurfaceMaterial){shared.plain, false};
}

void surface_material_free(SurfaceMaterial *material) {
	if (material->is_owned) {
		gd_rendering_server_free_rid(material->rid);
	}
	*material = (SurfaceMaterial){0};
}

void surface_material_unload(void) {
	if (shared.has_plain) {
		gd_rendering_server_free_rid(shared.plain);
	}
	object_unreference(shared.shader);
	shared.shader = NULL;
	shared.has_plain = shared.has_failed = false;
}
