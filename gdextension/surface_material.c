#include "surface_material.h"

#include "conversions.h"
#include "node_textures.h"

#include <stdio.h>
#include <string.h>

static const char shader_path[] = "res://addons/fem_destruction/shaders/fem_body.gdshader";

// What cannot be a value of a material but needs a shader of its own.
typedef struct Variant {
	uint8_t transparency, blend, cull, is_unshaded, has_no_depth_test; // values of BaseMaterial3D's enumerations
} Variant;

enum { VARIANTS_MAX = 300 }; // there are 5 * 5 * 3 * 2 * 2 of them

static struct {
	GDExtensionObjectPtr shader; // a reference to the Shader resource
	GdRID plain, colored;
	bool has_plain, has_colored, has_failed;
	Variant variants[VARIANTS_MAX];
	GDExtensionObjectPtr variant_shaders[VARIANTS_MAX]; // references
	int variant_count;
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

// ------------------------------------------------------------------------------------------------------------- variants

static Variant variant_of(GDExtensionObjectPtr source) {
	return (Variant){
		.transparency = (uint8_t)gd_base_material3d_get_transparency(source),
		.blend = (uint8_t)gd_base_material3d_get_blend_mode(source),
		.cull = (uint8_t)gd_base_material3d_get_cull_mode(source),
		.is_unshaded = gd_base_material3d_get_shading_mode(source) == GD_BASE_MATERIAL3D_SHADING_MODE_UNSHADED,
		.has_no_depth_test = gd_base_material3d_get_flag(source, GD_BASE_MATERIAL3D_FLAG_DISABLE_DEPTH_TEST) != 0,
	};
}

static void write_code(Variant variant, char *out, size_t capacity) {
	static const char *const blends[] = {"blend_mix", "blend_add", "blend_sub", "blend_mul", "blend_premul_alpha"};
	static const char *const culls[] = {"cull_back", "cull_front", "cull_disabled"};
	// Other blending than mixing goes with transparency only, as in Godot's own materials.
	bool has_alpha = variant.transparency != GD_BASE_MATERIAL3D_TRANSPARENCY_DISABLED || variant.blend != 0;
	snprintf(out, capacity,
		"shader_type spatial;\nrender_mode %s,%s%s%s%s;\n%s%s%s"
		"#include \"res://addons/fem_destruction/shaders/fem_body.gdshaderinc\"\n",
		blends[variant.blend < 5 ? variant.blend : 0], culls[variant.cull < 3 ? variant.cull : 0],
		variant.is_unshaded ? ",unshaded" : "", variant.has_no_depth_test ? ",depth_test_disabled" : "",
		variant.transparency == GD_BASE_MATERIAL3D_TRANSPARENCY_ALPHA_DEPTH_PRE_PASS ? ",depth_prepass_alpha" : "",
		has_alpha ? "#define FEM_ALPHA\n" : "",
		variant.transparency == GD_BASE_MATERIAL3D_TRANSPARENCY_ALPHA_SCISSOR ? "#define FEM_ALPHA_SCISSOR\n" : "",
		variant.transparency == GD_BASE_MATERIAL3D_TRANSPARENCY_ALPHA_HASH ? "#define FEM_ALPHA_HASH\n" : "");
}

// The shader of a variant, made when first asked for. Null when the plain one is missing.
static GDExtensionObjectPtr variant_shader(Variant variant) {
	static const Variant plain = {0};
	if (!load_shader() || memcmp(&variant, &plain, sizeof(variant)) == 0) {
		return shared.shader;
	}
	for (int i = 0; i < shared.variant_count; i++) {
		if (memcmp(&shared.variants[i], &variant, sizeof(variant)) == 0) {
			return shared.variant_shaders[i];
		}
	}
	GDExtensionObjectPtr shader = shared.variant_count < VARIANTS_MAX ? make_ref_counted("Shader") : NULL;
	if (!shader) {
		return shared.shader;
	}
	char text[512];
	write_code(variant, text, sizeof(text));
	GdString code = make_string(text);
	gd_shader_set_code(shader, &code);
	gd_string_free(&code);
	shared.variants[shared.variant_count] = variant;
	shared.variant_shaders[shared.variant_count++] = shader;
	return shader;
}

// ------------------------------------------------------------------------------------------------------------ materials

static void set_param(GdRID material, const GdStringName *name, GDExtensionVariantType type, const void *value) {
	GdVariant variant = make_variant(type, value);
	gd_rendering_server_material_set_param(material, name, &variant);
	variant_free(&variant);
}

static void set_textures(GdRID material) {
	GdRID positions = texel_atlas_rid(&node_positions), stencils = texel_atlas_rid(&node_stencils);
	set_param(material, &names.fem_positions, GDEXTENSION_VARIANT_TYPE_RID, &positions);
	set_param(material, &names.fem_stencils, GDEXTENSION_VARIANT_TYPE_RID, &stencils);
}

static GdRID make_material(Variant variant) {
	GdRID material = gd_rendering_server_material_create();
	GDExtensionObjectPtr shader = variant_shader(variant);
	if (shader) {
		gd_rendering_server_material_set_shader(material, gd_resource_get_rid(shader));
	}
	set_textures(material);
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

static void copy_transparency(GdRID material, GDExtensionObjectPtr source) {
	double threshold = gd_base_material3d_get_alpha_scissor_threshold(source);
	double scale = gd_base_material3d_get_alpha_hash_scale(source);
	set_param(material, &names.alpha_scissor_threshold, GDEXTENSION_VARIANT_TYPE_FLOAT, &threshold);
	set_param(material, &names.alpha_hash_scale, GDEXTENSION_VARIANT_TYPE_FLOAT, &scale);
	gd_rendering_server_material_set_render_priority(material, gd_material_get_render_priority(source));
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
		GdRID rid = gd_resource_get_rid(source);
		set_textures(rid);
		return (SurfaceMaterial){rid, false};
	}
	if (object_cast(source, "BaseMaterial3D")) {
		SurfaceMaterial material = {make_material(variant_of(source)), true};
		copy_values(material.rid, source);
		copy_features(material.rid, source);
		copy_transparency(material.rid, source);
		return material;
	}
	if (!shared.has_plain) {
		shared.plain = make_material((Variant){0});
		shared.has_plain = true;
	}
	return (SurfaceMaterial){shared.plain, false};
}

SurfaceMaterial surface_material_create_inside(GDExtensionObjectPtr source) {
	static const float darker = 0.6f;
	if (object_cast(source, "ShaderMaterial")) {
		return surface_material_create(source);
	}
	bool is_base = object_cast(source, "BaseMaterial3D") != NULL;
	SurfaceMaterial material = {make_material(is_base ? variant_of(source) : (Variant){0}), true};
	GdColor albedo = is_base ? gd_base_material3d_get_albedo(source) : (GdColor){0.8f, 0.8f, 0.8f, 1.0f};
	albedo = (GdColor){darker * albedo.r, darker * albedo.g, darker * albedo.b, albedo.a};
	double roughness = 1.0;
	set_param(material.rid, &names.albedo, GDEXTENSION_VARIANT_TYPE_COLOR, &albedo);
	set_param(material.rid, &names.roughness, GDEXTENSION_VARIANT_TYPE_FLOAT, &roughness);
	if (is_base) {
		copy_transparency(material.rid, source);
	}
	return material;
}

SurfaceMaterial surface_material_create_colored(void) {
	if (!shared.has_colored) {
		GDExtensionBool has_colors = true;
		shared.colored = make_material((Variant){0});
		shared.has_colored = true;
		set_param(shared.colored, &names.vertex_color_use_as_albedo, GDEXTENSION_VARIANT_TYPE_BOOL, &has_colors);
	}
	return (SurfaceMaterial){shared.colored, false};
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
	if (shared.has_colored) {
		gd_rendering_server_free_rid(shared.colored);
	}
	for (int i = 0; i < shared.variant_count; i++) {
		object_unreference(shared.variant_shaders[i]);
	}
	object_unreference(shared.shader);
	memset(&shared, 0, sizeof(shared));
}
