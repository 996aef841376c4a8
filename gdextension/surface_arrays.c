#include "surface_arrays.h"

#include "conversions.h"

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
void surface_arrays_create(SurfaceArrays *arrays, int32_t vertex_count, int32_t index_count, uint32_t parts) {
	int64_t vertices = vertex_count;
	*arrays = (SurfaceArrays){.parts = parts};
	arrays->positions = make_vectors3(&arrays->packed.positions, vertices);
	arrays->normals = make_vectors3(&arrays->packed.normals, vertices);
	arrays->tangents = make_floats(&arrays->packed.tangents, parts & SURFACE_TANGENTS ? 4 * vertices : 0);
	arrays->uvs = make_vectors2(&arrays->packed.uvs, parts & SURFACE_UVS ? vertices : 0);
	arrays->uvs2 = make_vectors2(&arrays->packed.uvs2, parts & SURFACE_UVS2 ? vertices : 0);
	for (int i = 0; i < 4; i++) {
		arrays->custom[i] = make_floats(&arrays->packed.custom[i], parts & SURFACE_RIDES ? 4 * vertices : 0);
	}
	arrays->packed.colors = gd_packed_color_array_new();
	gd_packed_color_array_resize(&arrays->packed.colors, parts & SURFACE_COLORS ? vertices : 0);
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
	for (int i = 0; i < 4; i++) {
		gd_packed_float32_array_free(&arrays->packed.custom[i]);
	}
	gd_packed_int32_array_free(&arrays->packed.indices);
	*arrays = (SurfaceArrays){0};
}

// --------------------------------------------------------------------------------------------------------------- riding

static FemVec3 subtract(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static FemVec3 cross(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static float dot(FemVec3 a, FemVec3 b) {
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

void surface_arrays_tie(SurfaceArrays *arrays, int32_t vertex, const int32_t nodes[4], const FemVec3 corners[4],
	const float weights[4], FemVec3 normal, const float tangent[4]) {
	float *custom[4];
	FemVec3 edges[3], along = {tangent[0], tangent[1], tangent[2]};
	for (int i = 0; i < 4; i++) {
		custom[i] = &arrays->custom[i][4 * (size_t)vertex];
	}
	for (int i = 0; i < 4; i++) {
		custom[0][i] = (float)nodes[i];
		custom[1][i] = weights[i];
	}
	for (int i = 0; i < 3; i++) {
		edges[i] = subtract(corners[i + 1], corners[0]);
	}
	float det = dot(edges[0], cross(edges[1], edges[2]));
	for (int i = 0; i < 3; i++) {
		FemVec3 row = cross(edges[(i + 1) % 3], edges[(i + 2) % 3]); // row i of inverse(Dm), times det
		custom[2][i] = dot(edges[i], normal) * (det < 0.0f ? -1.0f : 1.0f);
		custom[3][i] = det != 0.0f ? dot(row, along) / det : 0.0f;
	}
	custom[2][3] = 0.0f;
	custom[3][3] = tangent[3];
}

// ------------------------------------------------------------------------------------------------------------- handing over

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
	if (arrays->parts & SURFACE_TANGENTS) {
		add_array(&list, GD_RENDERING_SERVER_ARRAY_TANGENT, GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY,
			&arrays->packed.tangents);
	}
	if (arrays->parts & SURFACE_UVS) {
		add_array(&list, GD_RENDERING_SERVER_ARRAY_TEX_UV, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR2_ARRAY,
			&arrays->packed.uvs);
	}
	if (arrays->parts & SURFACE_UVS2) {
		add_array(&list, GD_RENDERING_SERVER_ARRAY_TEX_UV2, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR2_ARRAY,
			&arrays->packed.uvs2);
	}
	if (arrays->parts & SURFACE_COLORS) {
		add_array(&list, GD_RENDERING_SERVER_ARRAY_COLOR, GDEXTENSION_VARIANT_TYPE_PACKED_COLOR_ARRAY,
			&arrays->packed.colors);
	}
	for (int i = 0; i < 4 && arrays->parts & SURFACE_RIDES; i++) {
		add_array(&list, GD_RENDERING_SERVER_ARRAY_CUSTOM0 + i, GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY,
			&arrays->packed.custom[i]);
	}
	return list;
}

static int64_t format_of(const SurfaceArrays *arrays) {
	static const int shifts[4] = {GD_RENDERING_SERVER_ARRAY_FORMAT_CUSTOM0_SHIFT,
		GD_RENDERING_SERVER_ARRAY_FORMAT_CUSTOM1_SHIFT, GD_RENDERING_SERVER_ARRAY_FORMAT_CUSTOM2_SHIFT,
		GD_RENDERING_SERVER_ARRAY_FORMAT_CUSTOM3_SHIFT};
	int64_t format = 0;
	for (int i = 0; i < 4 && arrays->parts & SURFACE_RIDES; i++) {
		format |= (int64_t)GD_RENDERING_SERVER_ARRAY_CUSTOM_RGBA_FLOAT << shifts[i];
	}
	return format;
}

void surface_arrays_add_to_server(const SurfaceArrays *arrays, GdRID mesh) {
	GdArray list = make_list(arrays), blend_shapes = gd_array_new();
	GdDictionary lods = gd_dictionary_new();
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
