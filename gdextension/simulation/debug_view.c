#include "simulation/debug_view.h"

#include "binding/conversions.h"
#include "coupling/coupling.h"

#include <stdlib.h>

#define POINT_SIZE 0.02f // m, of the cross drawn for a point; chosen

enum { VERTICES_MAX = 3000000 }; // of a picture: some 250,000 tets, beyond which it would only be slow

typedef struct Vertices {
	GdVector3 *positions;
	GdColor *colors;
	int32_t count, capacity;
} Vertices;

// What is drawn in one frame.
typedef struct Picture {
	Vertices lines, triangles;
} Picture;

static struct {
	GDExtensionObjectPtr shader; // Shader, a reference
	GdRID material;
} shared;

// A little nearer to the camera than what it lies on.
static const char shader_code[] = "shader_type spatial;\n"
								  "render_mode unshaded, cull_disabled, shadows_disabled, skip_vertex_transform;\n"
								  "void vertex() {\n"
								  "	VERTEX = 0.98 * (MODELVIEW_MATRIX * vec4(VERTEX, 1.0)).xyz;\n"
								  "}\n"
								  "void fragment() {\n"
								  "	ALBEDO = pow(COLOR.rgb, vec3(OUTPUT_IS_SRGB ? 1.0 : 2.2));\n"
								  "}\n";

// ---- collecting

static void add_vertex(Vertices *vertices, FemPosition p, uint32_t rgba) {
	if (vertices->count == vertices->capacity) {
		int32_t capacity = vertices->capacity ? 2 * vertices->capacity : 4096;
		GdVector3 *positions =
			capacity <= VERTICES_MAX ? realloc(vertices->positions, (size_t)capacity * sizeof(GdVector3)) : NULL;
		if (!positions) {
			return;
		}
		vertices->positions = positions;
		GdColor *colors = realloc(vertices->colors, (size_t)capacity * sizeof(GdColor));
		if (!colors) {
			return;
		}
		vertices->colors = colors;
		vertices->capacity = capacity;
	}
	vertices->positions[vertices->count] = (GdVector3){(float)p.x, (float)p.y, (float)p.z};
	vertices->colors[vertices->count++] = (GdColor){(float)(rgba >> 24) / 255.0f, (float)(rgba >> 16 & 255) / 255.0f,
		(float)(rgba >> 8 & 255) / 255.0f, (float)(rgba & 255) / 255.0f};
}

static void draw_line(void *user, FemPosition from, FemPosition to, uint32_t color) {
	Picture *picture = user;
	add_vertex(&picture->lines, from, color);
	add_vertex(&picture->lines, to, color);
}

static void draw_triangle(void *user, const FemPosition corners[3], uint32_t color) {
	Picture *picture = user;
	for (int i = 0; i < 3; i++) {
		add_vertex(&picture->triangles, corners[i], color);
	}
}

static void draw_point(void *user, FemPosition at, uint32_t color) {
	for (int axis = 0; axis < 3; axis++) {
		FemPosition from = at, to = at;
		(&from.x)[axis] -= (double)POINT_SIZE;
		(&to.x)[axis] += (double)POINT_SIZE;
		draw_line(user, from, to, color);
	}
}

// ---- handing over

static void load_material(void) {
	if (shared.shader) {
		return;
	}
	GdString code = make_string(shader_code);
	shared.shader = make_ref_counted("Shader");
	gd_shader_set_code(shared.shader, &code);
	gd_string_free(&code);
	shared.material = gd_rendering_server_material_create();
	gd_rendering_server_material_set_shader(shared.material, gd_resource_get_rid(shared.shader));
}

static void add_surface(GdRID mesh, int64_t primitive, const Vertices *vertices, int32_t unit) {
	int32_t count = vertices->count - vertices->count % unit;
	if (count == 0) {
		return;
	}
	GdPackedVector3Array positions = gd_packed_vector3_array_new();
	GdPackedColorArray colors = gd_packed_color_array_new();
	gd_packed_vector3_array_resize(&positions, count);
	gd_packed_color_array_resize(&colors, count);
	for (int32_t i = 0; i < count; i++) {
		*(GdVector3 *)godot.packed_vector3_array_operator_index(&positions, i) = vertices->positions[i];
		*(GdColor *)godot.packed_color_array_operator_index(&colors, i) = vertices->colors[i];
	}
	GdArray list = gd_array_new(), blend_shapes = gd_array_new();
	GdDictionary lods = gd_dictionary_new();
	gd_array_resize(&list, GD_RENDERING_SERVER_ARRAY_MAX);
	array_take(&list, GD_RENDERING_SERVER_ARRAY_VERTEX,
		make_variant(GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR3_ARRAY, &positions));
	array_take(
		&list, GD_RENDERING_SERVER_ARRAY_COLOR, make_variant(GDEXTENSION_VARIANT_TYPE_PACKED_COLOR_ARRAY, &colors));
	gd_rendering_server_mesh_add_surface_from_arrays(mesh, primitive, &list, &blend_shapes, &lods, 0);
	gd_array_free(&list);
	gd_array_free(&blend_shapes);
	gd_dictionary_free(&lods);
	gd_packed_vector3_array_free(&positions);
	gd_packed_color_array_free(&colors);
}

static void create_instance(SimulationWorld *world) {
	world->debug_mesh = gd_rendering_server_mesh_create();
	world->debug_instance = gd_rendering_server_instance_create();
	gd_rendering_server_instance_set_base(world->debug_instance, world->debug_mesh);
	gd_rendering_server_instance_set_scenario(world->debug_instance, gd_world3d_get_scenario(world->world_3d));
	gd_rendering_server_instance_geometry_set_cast_shadows_setting(
		world->debug_instance, GD_RENDERING_SERVER_SHADOW_CASTING_SETTING_OFF);
	load_material();
	gd_rendering_server_instance_geometry_set_material_override(world->debug_instance, shared.material);
	world->has_debug_view = true;
}

void debug_view_show(SimulationWorld *world, uint32_t flags) {
	if (flags == 0) {
		debug_view_free(world);
		return;
	}
	if (!world->has_debug_view) {
		create_instance(world);
	}
	Picture picture = {0};
	FemDebugDraw draw = {.line = draw_line, .triangle = draw_triangle, .point = draw_point, .user = &picture};
	fem_world_debug_draw(world->id, flags & FEM_DRAW_ALL, &draw);
	if (flags & DEBUG_VIEW_PROXIES) {
		coupling_debug_draw(world, &draw);
	}
	gd_rendering_server_mesh_clear(world->debug_mesh);
	add_surface(world->debug_mesh, GD_RENDERING_SERVER_PRIMITIVE_TRIANGLES, &picture.triangles, 3);
	add_surface(world->debug_mesh, GD_RENDERING_SERVER_PRIMITIVE_LINES, &picture.lines, 2);
	free(picture.lines.positions);
	free(picture.lines.colors);
	free(picture.triangles.positions);
	free(picture.triangles.colors);
}

void debug_view_free(SimulationWorld *world) {
	if (world->has_debug_view) {
		gd_rendering_server_free_rid(world->debug_instance);
		gd_rendering_server_free_rid(world->debug_mesh);
		world->has_debug_view = false;
	}
}

void debug_view_unload(void) {
	if (shared.shader) {
		gd_rendering_server_free_rid(shared.material);
		object_reference_assign(&shared.shader, NULL);
	}
}
