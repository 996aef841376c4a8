#include "drawing/material_shader.h"

#include "binding/conversions.h"
#include "drawing/surface_material.h"

#include <stdlib.h>
#include <string.h>

static const char shader_path[] = "res://addons/fem_destruction/shaders/fem_body.gdshader";
static const char include_line[] = "#include \"res://addons/fem_destruction/shaders/fem_body.gdshaderinc\"\n";

// Bits of MaterialShader.words, in this order.
// clang-format off
#define WORDS(X) \
	X(TRIPLANAR) X(TRIPLANAR_2) X(UV2) X(COLOR) X(COLOR_SRGB) X(ORM) X(NORMAL_MAP) X(EMISSION) X(EMISSION_MULTIPLY) \
	X(EMISSION_UV2) X(RIM) X(CLEARCOAT) X(ANISOTROPY) X(AO) X(AO_UV2) X(HEIGHT) X(HEIGHT_INVERT) X(SUBSURFACE) \
	X(TRANSMITTANCE) X(BACKLIGHT) X(REFRACTION) X(DETAIL) X(DETAIL_UV2) X(DETAIL_ADD) X(DETAIL_SUB) X(DETAIL_MUL) \
	X(GROW) X(PER_VERTEX) X(ALPHA) X(ALPHA_SCISSOR) X(ALPHA_HASH) X(ALPHA_EDGE) X(DISTANCE_FADE) X(INSIDE) X(FADE)
// clang-format on

enum {
#define NAME_WORD(name) WORD_##name,
	WORDS(NAME_WORD)
#undef NAME_WORD
		WORD_COUNT
};

static const char *const word_names[WORD_COUNT] = {
#define WORD_TEXT(name) "FEM_" #name,
	WORDS(WORD_TEXT)
#undef WORD_TEXT
};

static struct {
	MaterialShader *keys;
	GDExtensionObjectPtr *shaders; // references
	int32_t count, capacity;
	bool has_failed;
} cache;

// ---- from material

static uint64_t word_if(bool condition, int word) {
	return condition ? (uint64_t)1 << word : 0;
}

static bool flag(GDExtensionObjectPtr material, int64_t which) {
	return gd_base_material3d_get_flag(material, which);
}

static bool feature(GDExtensionObjectPtr material, int64_t which) {
	return gd_base_material3d_get_feature(material, which);
}

// Features that the inside of a body does without: all that is drawn on the outside.
static uint64_t surface_words(GDExtensionObjectPtr m) {
	int64_t detail = gd_base_material3d_get_detail_blend_mode(m);
	bool uv2_ao = flag(m, GD_BASE_MATERIAL3D_FLAG_AO_ON_UV2),
		 uv2_glow = flag(m, GD_BASE_MATERIAL3D_FLAG_EMISSION_ON_UV2);
	bool uv2_detail = gd_base_material3d_get_detail_uv(m) == GD_BASE_MATERIAL3D_DETAIL_UV_2;
	bool has_detail = feature(m, GD_BASE_MATERIAL3D_FEATURE_DETAIL),
		 glows = feature(m, GD_BASE_MATERIAL3D_FEATURE_EMISSION);
	bool has_ao = feature(m, GD_BASE_MATERIAL3D_FEATURE_AMBIENT_OCCLUSION);
	bool triplanar = flag(m, GD_BASE_MATERIAL3D_FLAG_UV1_USE_TRIPLANAR);
	return word_if(triplanar, WORD_TRIPLANAR) |
		word_if(flag(m, GD_BASE_MATERIAL3D_FLAG_UV2_USE_TRIPLANAR), WORD_TRIPLANAR_2) |
		word_if(uv2_ao || uv2_glow || uv2_detail || flag(m, GD_BASE_MATERIAL3D_FLAG_UV2_USE_TRIPLANAR), WORD_UV2) |
		word_if(flag(m, GD_BASE_MATERIAL3D_FLAG_ALBEDO_FROM_VERTEX_COLOR), WORD_COLOR) |
		word_if(flag(m, GD_BASE_MATERIAL3D_FLAG_SRGB_VERTEX_COLOR), WORD_COLOR_SRGB) |
		word_if(feature(m, GD_BASE_MATERIAL3D_FEATURE_NORMAL_MAPPING), WORD_NORMAL_MAP) |
		word_if(glows, WORD_EMISSION) |
		word_if(gd_base_material3d_get_emission_operator(m) == GD_BASE_MATERIAL3D_EMISSION_OP_MULTIPLY,
			WORD_EMISSION_MULTIPLY) |
		word_if(uv2_glow, WORD_EMISSION_UV2) | word_if(has_ao, WORD_AO) | word_if(uv2_ao, WORD_AO_UV2) |
		word_if(feature(m, GD_BASE_MATERIAL3D_FEATURE_ANISOTROPY), WORD_ANISOTROPY) |
		word_if(feature(m, GD_BASE_MATERIAL3D_FEATURE_HEIGHT_MAPPING) && !triplanar, WORD_HEIGHT) |
		word_if(flag(m, GD_BASE_MATERIAL3D_FLAG_INVERT_HEIGHTMAP), WORD_HEIGHT_INVERT) |
		word_if(has_detail, WORD_DETAIL) | word_if(uv2_detail, WORD_DETAIL_UV2) |
		word_if(detail == GD_BASE_MATERIAL3D_BLEND_MODE_ADD, WORD_DETAIL_ADD) |
		word_if(detail == GD_BASE_MATERIAL3D_BLEND_MODE_SUB, WORD_DETAIL_SUB) |
		word_if(detail == GD_BASE_MATERIAL3D_BLEND_MODE_MUL, WORD_DETAIL_MUL) |
		word_if(object_cast(m, "ORMMaterial3D") != NULL, WORD_ORM);
}

static uint64_t common_words(GDExtensionObjectPtr m, const MaterialShader *key) {
	int64_t transparency = key->transparency;
	bool scissor = transparency == GD_BASE_MATERIAL3D_TRANSPARENCY_ALPHA_SCISSOR;
	bool hash = transparency == GD_BASE_MATERIAL3D_TRANSPARENCY_ALPHA_HASH;
	bool fades = gd_base_material3d_get_distance_fade(m) == GD_BASE_MATERIAL3D_DISTANCE_FADE_PIXEL_ALPHA;
	// Other blending than mixing goes with transparency only, as in Godot's own materials.
	bool has_alpha = transparency != GD_BASE_MATERIAL3D_TRANSPARENCY_DISABLED || key->blend != 0 || fades ||
		flag(m, GD_BASE_MATERIAL3D_FLAG_USE_SHADOW_TO_OPACITY);
	return word_if(has_alpha, WORD_ALPHA) |
		word_if(key->shading == GD_BASE_MATERIAL3D_SHADING_MODE_PER_VERTEX, WORD_PER_VERTEX) |
		word_if(scissor, WORD_ALPHA_SCISSOR) | word_if(hash, WORD_ALPHA_HASH) |
		word_if((scissor || hash) && key->alpha_edges > 0, WORD_ALPHA_EDGE) | word_if(fades, WORD_DISTANCE_FADE) |
		word_if(feature(m, GD_BASE_MATERIAL3D_FEATURE_RIM), WORD_RIM) |
		word_if(feature(m, GD_BASE_MATERIAL3D_FEATURE_CLEARCOAT), WORD_CLEARCOAT) |
		word_if(feature(m, GD_BASE_MATERIAL3D_FEATURE_SUBSURFACE_SCATTERING), WORD_SUBSURFACE) |
		word_if(feature(m, GD_BASE_MATERIAL3D_FEATURE_SUBSURFACE_TRANSMITTANCE), WORD_TRANSMITTANCE) |
		word_if(feature(m, GD_BASE_MATERIAL3D_FEATURE_BACKLIGHT), WORD_BACKLIGHT) |
		word_if(feature(m, GD_BASE_MATERIAL3D_FEATURE_REFRACTION), WORD_REFRACTION) |
		word_if(gd_base_material3d_is_grow_enabled(m), WORD_GROW);
}

static const int64_t mode_flags[] = {GD_BASE_MATERIAL3D_FLAG_DISABLE_DEPTH_TEST,
	GD_BASE_MATERIAL3D_FLAG_DONT_RECEIVE_SHADOWS, GD_BASE_MATERIAL3D_FLAG_DISABLE_AMBIENT_LIGHT,
	GD_BASE_MATERIAL3D_FLAG_USE_SHADOW_TO_OPACITY, GD_BASE_MATERIAL3D_FLAG_DISABLE_FOG,
	GD_BASE_MATERIAL3D_FLAG_SUBSURFACE_MODE_SKIN};
static const char *const mode_names[] = {"depth_test_disabled", "shadows_disabled", "ambient_light_disabled",
	"shadow_to_opacity", "fog_disabled", "sss_mode_skin"};
enum { MODE_COUNT = sizeof(mode_flags) / sizeof(mode_flags[0]) };

MaterialShader material_shader_of(GDExtensionObjectPtr m, uint32_t use) {
	MaterialShader key;
	memset(&key, 0, sizeof(key));
	key.filter = GD_BASE_MATERIAL3D_TEXTURE_FILTER_LINEAR_WITH_MIPMAPS;
	key.shading = GD_BASE_MATERIAL3D_SHADING_MODE_PER_PIXEL;
	key.repeats = 1;
	if (m) {
		key.transparency = (uint8_t)gd_base_material3d_get_transparency(m);
		key.blend = (uint8_t)gd_base_material3d_get_blend_mode(m);
		key.cull = (uint8_t)gd_base_material3d_get_cull_mode(m);
		key.depth_draw = (uint8_t)gd_base_material3d_get_depth_draw_mode(m);
		key.shading = (uint8_t)gd_base_material3d_get_shading_mode(m);
		key.diffuse = (uint8_t)gd_base_material3d_get_diffuse_mode(m);
		key.specular = (uint8_t)gd_base_material3d_get_specular_mode(m);
		key.filter = (uint8_t)gd_base_material3d_get_texture_filter(m);
		key.alpha_edges = (uint8_t)gd_base_material3d_get_alpha_antialiasing(m);
		key.repeats = flag(m, GD_BASE_MATERIAL3D_FLAG_USE_TEXTURE_REPEAT);
		for (int i = 0; i < MODE_COUNT; i++) {
			key.modes |= (uint8_t)(flag(m, mode_flags[i]) << i);
		}
		key.words = common_words(m, &key) | (use & SURFACE_INSIDE ? 0 : surface_words(m));
	}
	key.words |= word_if(use & SURFACE_INSIDE, WORD_INSIDE) | word_if(use & SURFACE_FADES, WORD_FADE) |
		word_if(use & SURFACE_COLORED, WORD_COLOR);
	return key;
}

// ---- code

typedef struct Text {
	char data[4096];
	size_t length;
} Text;

static void append(Text *text, const char *addition) {
	size_t length = strlen(addition), room = sizeof(text->data) - 1 - text->length;
	length = length < room ? length : room;
	memcpy(&text->data[text->length], addition, length);
	text->length += length;
	text->data[text->length] = 0;
}

static void append_mode(Text *text, const char *mode) {
	append(text, ", ");
	append(text, mode);
}

static const char *one_of(const char *const *list, uint8_t count, uint8_t index) {
	return list[index < count ? index : 0];
}

static void write_modes(Text *text, const MaterialShader *key) {
	static const char *const blends[] = {"blend_mix", "blend_add", "blend_sub", "blend_mul", "blend_premul_alpha"};
	static const char *const culls[] = {"cull_back", "cull_front", "cull_disabled"};
	static const char *const draws[] = {"depth_draw_opaque", "depth_draw_always", "depth_draw_never"};
	static const char *const diffuses[] = {"diffuse_burley", "diffuse_lambert", "diffuse_lambert_wrap", "diffuse_toon"};
	static const char *const speculars[] = {"specular_schlick_ggx", "specular_toon", "specular_disabled"};
	append(text, "render_mode ");
	append(text, one_of(blends, 5, key->blend));
	append_mode(text, one_of(culls, 3, key->cull));
	append_mode(text, one_of(draws, 3, key->depth_draw));
	append_mode(text, one_of(diffuses, 4, key->diffuse));
	append_mode(text, one_of(speculars, 3, key->specular));
	for (int i = 0; i < MODE_COUNT; i++) {
		if (key->modes >> i & 1) {
			append_mode(text, mode_names[i]);
		}
	}
	if (key->shading != GD_BASE_MATERIAL3D_SHADING_MODE_PER_PIXEL) {
		append_mode(text, key->shading == GD_BASE_MATERIAL3D_SHADING_MODE_UNSHADED ? "unshaded" : "vertex_lighting");
	}
	if (key->transparency == GD_BASE_MATERIAL3D_TRANSPARENCY_ALPHA_DEPTH_PRE_PASS) {
		append_mode(text, "depth_prepass_alpha");
	}
	if (key->words >> WORD_ALPHA_EDGE & 1) {
		append_mode(text, key->alpha_edges == 1 ? "alpha_to_coverage" : "alpha_to_coverage_and_one");
	}
	append(text, ";\n");
}

static void write_code(Text *text, const MaterialShader *key) {
	static const char *const filters[] = {"filter_nearest", "filter_linear", "filter_nearest_mipmap",
		"filter_linear_mipmap", "filter_nearest_mipmap_anisotropic", "filter_linear_mipmap_anisotropic"};
	append(text, "shader_type spatial;\n");
	write_modes(text, key);
	append(text, "#define FEM_FILTER ");
	append(text, one_of(filters, 6, key->filter));
	append_mode(text, key->repeats ? "repeat_enable\n" : "repeat_disable\n");
	for (int i = 0; i < WORD_COUNT; i++) {
		if (key->words >> i & 1) {
			append(text, "#define ");
			append(text, word_names[i]);
			append(text, "\n");
		}
	}
	append(text, include_line);
}

// The addon's own file: if it is not there, what is made here cannot find its include either.
static bool is_installed(void) {
	if (cache.count > 0 || cache.has_failed) {
		return !cache.has_failed;
	}
	GdString path = make_string(shader_path), type = make_string("Shader");
	GDExtensionObjectPtr shader = gd_resource_loader_load(&path, &type, GD_RESOURCE_LOADER_CACHE_MODE_REUSE);
	gd_string_free(&path);
	gd_string_free(&type);
	object_unreference(shader);
	if (!shader) {
		cache.has_failed = true; // said once, not for every body
		report_error("DestructibleBody: the shader %s cannot be loaded, so bodies are not drawn right; install the "
					 "addon at that path.",
			shader_path);
	}
	return shader != NULL;
}

static bool reserve(void) {
	if (cache.count < cache.capacity) {
		return true;
	}
	int32_t capacity = cache.capacity ? 2 * cache.capacity : 16;
	MaterialShader *keys = realloc(cache.keys, (size_t)capacity * sizeof(MaterialShader));
	cache.keys = keys ? keys : cache.keys;
	GDExtensionObjectPtr *shaders =
		keys ? realloc(cache.shaders, (size_t)capacity * sizeof(GDExtensionObjectPtr)) : NULL;
	if (!shaders) {
		return false;
	}
	cache.shaders = shaders;
	cache.capacity = capacity;
	return true;
}

GDExtensionObjectPtr material_shader_get(const MaterialShader *key) {
	for (int32_t i = 0; i < cache.count; i++) {
		if (memcmp(&cache.keys[i], key, sizeof(*key)) == 0) {
			return cache.shaders[i];
		}
	}
	GDExtensionObjectPtr shader = is_installed() && reserve() ? make_ref_counted("Shader") : NULL;
	if (!shader) {
		return NULL;
	}
	Text text = {.length = 0};
	write_code(&text, key);
	GdString code = make_string(text.data);
	gd_shader_set_code(shader, &code);
	gd_string_free(&code);
	cache.keys[cache.count] = *key;
	cache.shaders[cache.count++] = shader;
	return shader;
}

void material_shader_unload(void) {
	for (int32_t i = 0; i < cache.count; i++) {
		object_unreference(cache.shaders[i]);
	}
	free(cache.keys);
	free(cache.shaders);
	memset(&cache, 0, sizeof(cache));
}
