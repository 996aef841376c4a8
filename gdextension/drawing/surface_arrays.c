#include "drawing/surface_arrays.h"

#include "binding/conversions.h"

#include <string.h>

static float *make_floats(GdPackedFloat32Array *array, int64_t count) {
	*array = gd_packed_float32_array_new();
	gd_packed_float32_array_resize(array, count);
	return godot.packed_float32_array_operator_index(array, 0);
}

static GdVector2 *make_vectors2(GdPackedVector2Array *array, int64_t count) {
	*array = gd_packed_vector2_array_new();
	gd_packed_vector2_array_resize(array, count);
	return godot.packed_vector2_array_operator_index(array, 0);
}

static GdVector3 *make_vectors3(GdPackedVector3Array *array, int64_t count) {
	*array = gd_packed_vector3_array_new();
	gd_packed_vector3_array_resize(array, count);
	return godot.packed_vector3_array_operator_index(array, 0);
}

// What a surface does not have stays an empty array without memory.
void surface_arrays_create(SurfaceArrays *arrays, int32_t vertex_count, int32_t index_count, uint32_t flags) {
	int64_t vertices = vertex_count;
	*arrays = (SurfaceArrays){.flags = flags};
	arrays->positions = make_vectors3(&arrays->packed.positions, vertices);
	arrays->normals = make_vectors3(&arrays->packed.normals, vertices);
	arrays->tangents = make_floats(&arrays->packed.tangents, flags & SURFACE_TANGENTS ? 4 * vertices : 0);
	arrays->uvs = make_vectors2(&arrays->packed.uvs, flags & SURFACE_UVS ? vertices : 0);
	arrays->uvs2 = make_vectors2(&arrays->packed.uvs2, flags & SURFACE_UVS2 ? vertices : 0);
	for (int i = 0; i < 2; i++) {
		arrays->custom[i] = make_floats(&arrays->packed.custom[i], flags & SURFACE_EMBEDDED ? 4 * vertices : 0);
	}
	arrays->packed.colors = gd_packed_color_array_new();
	gd_packed_color_array_resize(&arrays->packed.colors, flags & SURFACE_COLORS ? vertices : 0);
	arrays->colors = godot.packed_color_array_operator_index(&arrays->packed.colors, 0);
	arrays->packed.indices = gd_packed_int32_array_new();
	gd_packed_int32_array_resize(&arrays->packed.indices, index_count);
	arrays->indices = godot.packed_int32_array_operator_index(&arrays->packed.indices, 0);
}

void surface_arrays_free(SurfaceArrays *arrays) {
	gd_packed_vector3_array_free(&arrays->packed.positions);
	gd_packed_vector3_array_free(&arrays->packed.normals);
	gd_packed_float32_array_free(&arrays->packed.tangents);
	gd_packed_vector2_array_free(&arrays->packed.uvs);
	gd_packed_vector2_array_free(&arrays->packed.uvs2);
	gd_packed_color_array_free(&arrays->packed.colors);
	for (int i = 0; i < 2; i++) {
		gd_packed_float32_array_free(&arrays->packed.custom[i]);
	}
	gd_packed_int32_array_free(&arrays->packed.indices);
	*arrays = (SurfaceArrays){0};
}

void surface_arrays_tie(SurfaceArrays *arrays, int32_t vertex, const int32_t nodes[4], const float weights[4]) {
	for (size_t i = 0; i < 4; i++) {
		arrays->custom[0][4 * (size_t)vertex + i] = (float)nodes[i];
		arrays->custom[1][4 * (size_t)vertex + i] = weights[i];
	}
}

// ---- handing over

static void add_array(GdArray *list, int slot, GDExtensionVariantType type, const void *packed) {
	array_take(list, slot, make_variant(type, packed));
}

static GdArray make_list(const SurfaceArrays *arrays) {
	GdArray list = gd_array_new();
	gd_array_resize(&list, GD_RENDERING_SERVER_ARRAY_MAX);
	add_array(&list, GD_RENDERING_SERVER_ARRAY_VERTEX, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR3_ARRAY,
		&arrays->packed.positions);
	add_array(&list, GD_RENDERING_SERVER_ARRAY_NORMAL, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR3_ARRAY,
		&arrays->packed.normals);
	add_array(
		&list, GD_RENDERING_SERVER_ARRAY_INDEX, GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY, &arrays->packed.indices);
	if (arrays->flags & SURFACE_TANGENTS) {
		add_array(&list, GD_RENDERING_SERVER_ARRAY_TANGENT, GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY,
			&arrays->packed.tangents);
	}
	if (arrays->flags & SURFACE_UVS) {
		add_array(&list, GD_RENDERING_SERVER_ARRAY_TEX_UV, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR2_ARRAY,
			&arrays->packed.uvs);
	}
	if (arrays->flags & SURFACE_UVS2) {
		add_array(&list, GD_RENDERING_SERVER_ARRAY_TEX_UV2, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR2_ARRAY,
			&arrays->packed.uvs2);
	}
	if (arrays->flags & SURFACE_COLORS) {
		add_array(&list, GD_RENDERING_SERVER_ARRAY_COLOR, GDEXTENSION_VARIANT_TYPE_PACKED_COLOR_ARRAY,
			&arrays->packed.colors);
	}
	for (int i = 0; i < 2 && arrays->flags & SURFACE_EMBEDDED; i++) {
		add_array(&list, GD_RENDERING_SERVER_ARRAY_CUSTOM0 + i, GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY,
			&arrays->packed.custom[i]);
	}
	return list;
}

static int64_t format_of(const SurfaceArrays *arrays) {
	static const int shifts[2] = {
		GD_RENDERING_SERVER_ARRAY_FORMAT_CUSTOM0_SHIFT, GD_RENDERING_SERVER_ARRAY_FORMAT_CUSTOM1_SHIFT};
	int64_t format = 0;
	for (int i = 0; i < 2 && arrays->flags & SURFACE_EMBEDDED; i++) {
		format |= (int64_t)GD_RENDERING_SERVER_ARRAY_CUSTOM_RGBA_FLOAT << shifts[i];
	}
	return format;
}

// Godot shows the coarse triangles where their error is under a pixel or so.
static GdDictionary make_lods(const SurfaceArrays *arrays) {
	GdDictionary lods = gd_dictionary_new();
	if (arrays->coarse_count > 0 && arrays->coarse_error > 0.0f) {
		GdPackedInt32Array indices = gd_packed_int32_array_new();
		gd_packed_int32_array_resize(&indices, arrays->coarse_count);
		int32_t *written = godot.packed_int32_array_operator_index(&indices, 0);
		memcpy(written, arrays->coarse_indices, (size_t)arrays->coarse_count * sizeof(int32_t));
		GdVariant key = make_variant_float((double)arrays->coarse_error);
		GdVariant value = make_variant(GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY, &indices);
		GdVariant *place = godot.dictionary_operator_index(&lods, &key);
		variant_free(place);
		*place = value;
		variant_free(&key);
		gd_packed_int32_array_free(&indices);
	}
	return lods;
}

void surface_arrays_add_to_server(const SurfaceArrays *arrays, GdRID mesh) {
	GdArray list = make_list(arrays), blend_shapes = gd_array_new();
	GdDictionary lods = make_lods(arrays);
	gd_rendering_server_mesh_add_surface_from_arrays(
		mesh, GD_RENDERING_SERVER_PRIMITIVE_TRIANGLES, &list, &blend_shapes, &lods, format_of(arrays));
	gd_array_free(&blend_shapes);
	gd_array_free(&list);
	gd_dictionary_free(&lods);
}

void surface_arrays_add_to_mesh(const SurfaceArrays *arrays, GDExtensionObjectPtr array_mesh) {
	GdArray list = make_list(arrays), blend_shapes = gd_array_new();
	GdDictionary lods = gd_dictionary_new();
	gd_array_mesh_add_surface_from_arrays(
		array_mesh, GD_RENDERING_SERVER_PRIMITIVE_TRIANGLES, &list, &blend_shapes, &lods, format_of(arrays));
	gd_array_free(&blend_shapes);
	gd_array_free(&list);
	gd_dictionary_free(&lods);
}
