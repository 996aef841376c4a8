#include "body_mesh.h"

#include "conversions.h"

#include <math.h>
#include <stdlib.h>

enum { SIDES = 6 };

// Vertex arrays in the making; floats are written straight into Godot's packed arrays.
typedef struct MeshArrays {
	int32_t vertex_count;
	GdVector3 *positions, *normals;
	float *tangents; // 4 a vertex
	GdVector2 *uvs;
	float *custom[4]; // 4 a vertex
} MeshArrays;

static const FemVec3 side_normals[SIDES] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
static const FemVec3 side_tangents[SIDES] = {{0, 0, 1}, {0, 0, -1}, {1, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {1, 0, 0}};

static FemVec3 subtract(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static FemVec3 cross(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static float dot(FemVec3 a, FemVec3 b) {
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

// CUSTOM2 and CUSTOM3 of a vertex; see body_mesh.h.
static void write_rest_frame(const BodyShape *shape, int32_t tet, int side, float *normal_out, float *tangent_out) {
	const int32_t *nodes = &shape->tets[4 * tet];
	FemVec3 edges[3];
	for (int i = 0; i < 3; i++) {
		edges[i] = subtract(shape->positions[nodes[i + 1]], shape->positions[nodes[0]]);
	}
	float det = dot(edges[0], cross(edges[1], edges[2]));
	for (int i = 0; i < 3; i++) {
		FemVec3 row = cross(edges[(i + 1) % 3], edges[(i + 2) % 3]); // row i of inverse(Dm), times det
		normal_out[i] = dot(edges[i], side_normals[side]) * (det < 0.0f ? -1.0f : 1.0f);
		tangent_out[i] = dot(row, side_tangents[side]) / det;
	}
	normal_out[3] = 0.0f;
	tangent_out[3] = 1.0f;
}

// Texture coordinates run from 0 to 1 over each side of the rest shape's box.
static GdVector2 side_uv(FemVec3 p, FemVec3 half, int side) {
	FemVec3 tangent = side_tangents[side], binormal = cross(side_normals[side], tangent);
	FemVec3 unit = {p.x / half.x, p.y / half.y, p.z / half.z};
	return (GdVector2){0.5f + 0.5f * dot(unit, tangent), 0.5f - 0.5f * dot(unit, binormal)};
}

static FemVec3 half_extents(const BodyShape *shape) {
	FemVec3 half = {0};
	for (int32_t i = 0; i < shape->node_count; i++) {
		FemVec3 p = shape->positions[i];
		half = (FemVec3){fmaxf(half.x, fabsf(p.x)), fmaxf(half.y, fabsf(p.y)), fmaxf(half.z, fabsf(p.z))};
	}
	return half;
}

static void write_vertex(MeshArrays *arrays, const BodyShape *shape, int32_t triangle, int32_t node, FemVec3 half) {
	int32_t v = arrays->vertex_count++, tet = shape->triangle_tets[triangle];
	int side = shape->triangle_sides[triangle];
	FemVec3 p = shape->positions[node], n = side_normals[side], t = side_tangents[side];
	arrays->positions[v] = (GdVector3){p.x, p.y, p.z};
	arrays->normals[v] = (GdVector3){n.x, n.y, n.z};
	arrays->tangents[4 * v + 0] = t.x;
	arrays->tangents[4 * v + 1] = t.y;
	arrays->tangents[4 * v + 2] = t.z;
	arrays->tangents[4 * v + 3] = 1.0f;
	arrays->uvs[v] = side_uv(p, half, side);
	for (int i = 0; i < 4; i++) {
		arrays->custom[0][4 * v + i] = (float)shape->tets[4 * tet + i];
		arrays->custom[1][4 * v + i] = shape->tets[4 * tet + i] == node ? 1.0f : 0.0f;
	}
	write_rest_frame(shape, tet, side, &arrays->custom[2][4 * v], &arrays->custom[3][4 * v]);
}

// One vertex for each node and side, so that a box keeps hard edges. Fills `indices` (Godot's front faces run
// clockwise); with null arrays it only counts the vertices.
static int32_t build_surface(MeshArrays *arrays, const BodyShape *shape, int32_t *vertex_of, int32_t *indices) {
	int32_t count = 0;
	FemVec3 half = half_extents(shape);
	for (int32_t i = 0; i < shape->node_count * SIDES; i++) {
		vertex_of[i] = -1;
	}
	for (int32_t i = 0; i < shape->triangle_count * 3; i++) {
		int32_t triangle = i / 3, corner = 2 - i % 3, node = shape->triangles[3 * triangle + corner];
		int32_t *vertex = &vertex_of[node * SIDES + shape->triangle_sides[triangle]];
		if (*vertex < 0) {
			*vertex = count++;
			if (arrays) {
				write_vertex(arrays, shape, triangle, node, half);
			}
		}
		if (indices) {
			indices[i] = *vertex;
		}
	}
	return count;
}

static float *make_floats(GdPackedFloat32Array *array, int64_t count) {
	*array = gd_packed_float32_array_new();
	gd_packed_float32_array_resize(array, count);
	return godot.packed_float32_array_operator_index(array, 0);
}

static void add_array(GdArray *arrays, int slot, GDExtensionVariantType type, const void *packed) {
	array_take(arrays, slot, make_variant(type, packed));
}

// Hands the packed arrays to the mesh as its only surface.
static void add_surface(GdRID mesh, const GdArray *arrays) {
	int64_t format = 0;
	static const int shifts[4] = {GD_RENDERING_SERVER_ARRAY_FORMAT_CUSTOM0_SHIFT,
		GD_RENDERING_SERVER_ARRAY_FORMAT_CUSTOM1_SHIFT, GD_RENDERING_SERVER_ARRAY_FORMAT_CUSTOM2_SHIFT,
		GD_RENDERING_SERVER_ARRAY_FORMAT_CUSTOM3_SHIFT};
	for (int i = 0; i < 4; i++) {
		format |= (int64_t)GD_RENDERING_SERVER_ARRAY_CUSTOM_RGBA_FLOAT << shifts[i];
	}
	GdArray blend_shapes = gd_array_new();
	GdDictionary lods = gd_dictionary_new();
	gd_rendering_server_mesh_add_surface_from_arrays(
		mesh, GD_RENDERING_SERVER_PRIMITIVE_TRIANGLES, arrays, &blend_shapes, &lods, format);
	gd_array_free(&blend_shapes);
	gd_dictionary_free(&lods);
}

static void fill_mesh(GdRID mesh, const BodyShape *shape, int32_t *vertex_of) {
	int32_t count = build_surface(NULL, shape, vertex_of, NULL);
	GdPackedVector3Array positions = gd_packed_vector3_array_new(), normals = gd_packed_vector3_array_new();
	GdPackedVector2Array uvs = gd_packed_vector2_array_new();
	GdPackedInt32Array indices = gd_packed_int32_array_new();
	GdPackedFloat32Array tangents, custom[4];
	gd_packed_vector3_array_resize(&positions, count);
	gd_packed_vector3_array_resize(&normals, count);
	gd_packed_vector2_array_resize(&uvs, count);
	gd_packed_int32_array_resize(&indices, shape->triangle_count * 3);
	MeshArrays arrays = {
		.positions = godot.packed_vector3_array_operator_index(&positions, 0),
		.normals = godot.packed_vector3_array_operator_index(&normals, 0),
		.tangents = make_floats(&tangents, 4 * count),
		.uvs = godot.packed_vector2_array_operator_index(&uvs, 0),
	};
	for (int i = 0; i < 4; i++) {
		arrays.custom[i] = make_floats(&custom[i], 4 * count);
	}
	build_surface(&arrays, shape, vertex_of, godot.packed_int32_array_operator_index(&indices, 0));

	GdArray list = gd_array_new();
	gd_array_resize(&list, GD_RENDERING_SERVER_ARRAY_MAX);
	add_array(&list, GD_RENDERING_SERVER_ARRAY_VERTEX, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR3_ARRAY, &positions);
	add_array(&list, GD_RENDERING_SERVER_ARRAY_NORMAL, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR3_ARRAY, &normals);
	add_array(&list, GD_RENDERING_SERVER_ARRAY_TANGENT, GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY, &tangents);
	add_array(&list, GD_RENDERING_SERVER_ARRAY_TEX_UV, GDEXTENSION_VARIANT_TYPE_PACKED_VECTOR2_ARRAY, &uvs);
	add_array(&list, GD_RENDERING_SERVER_ARRAY_INDEX, GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY, &indices);
	for (int i = 0; i < 4; i++) {
		add_array(
			&list, GD_RENDERING_SERVER_ARRAY_CUSTOM0 + i, GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY, &custom[i]);
	}
	add_surface(mesh, &list);

	gd_array_free(&list);
	for (int i = 0; i < 4; i++) {
		gd_packed_float32_array_free(&custom[i]);
	}
	gd_packed_float32_array_free(&tangents);
	gd_packed_int32_array_free(&indices);
	gd_packed_vector2_array_free(&uvs);
	gd_packed_vector3_array_free(&normals);
	gd_packed_vector3_array_free(&positions);
}

GdRID body_mesh_create(const BodyShape *shape) {
	GdRID mesh = gd_rendering_server_mesh_create();
	int32_t *vertex_of = malloc((size_t)shape->node_count * SIDES * sizeof(int32_t));
	if (vertex_of && shape->triangle_count > 0) {
		fill_mesh(mesh, shape, vertex_of);
	}
	free(vertex_of);
	return mesh;
}
