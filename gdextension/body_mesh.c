#include "body_mesh.h"

#include "surface_arrays.h"

#include <math.h>
#include <stdlib.h>

enum { SIDES = 6 };

static const FemVec3 side_normals[SIDES] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
static const FemVec3 side_tangents[SIDES] = {{0, 0, 1}, {0, 0, -1}, {1, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {1, 0, 0}};

static FemVec3 cross(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static float dot(FemVec3 a, FemVec3 b) {
	return a.x * b.x + a.y * b.y + a.z * b.z;
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

static void write_vertex(
	SurfaceArrays *arrays, int32_t v, const BodyShape *shape, int32_t triangle, int32_t node, FemVec3 half) {
	const int32_t *nodes = &shape->tets[4 * shape->triangle_tets[triangle]];
	int side = shape->triangle_sides[triangle];
	FemVec3 p = shape->positions[node], n = side_normals[side], t = side_tangents[side];
	float tangent[4] = {t.x, t.y, t.z, 1.0f}, weights[4];
	arrays->positions[v] = (GdVector3){p.x, p.y, p.z};
	arrays->normals[v] = (GdVector3){n.x, n.y, n.z};
	arrays->uvs[v] = side_uv(p, half, side);
	for (int i = 0; i < 4; i++) {
		arrays->tangents[4 * v + i] = tangent[i];
		weights[i] = nodes[i] == node ? 1.0f : 0.0f;
	}
	surface_arrays_tie(arrays, v, nodes, weights);
}

// One vertex for each node and side, so that a box keeps hard edges. With null arrays it only counts the vertices.
static int32_t build_surface(SurfaceArrays *arrays, const BodyShape *shape, int32_t *vertex_of) {
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
				write_vertex(arrays, *vertex, shape, triangle, node, half);
			}
		}
		if (arrays) {
			arrays->indices[i] = *vertex;
		}
	}
	return count;
}

static void fill_mesh(GdRID mesh, const BodyShape *shape, int32_t *vertex_of) {
	SurfaceArrays arrays;
	int32_t count = build_surface(NULL, shape, vertex_of);
	surface_arrays_create(&arrays, count, shape->triangle_count * 3, SURFACE_TANGENTS | SURFACE_UVS | SURFACE_RIDES);
	build_surface(&arrays, shape, vertex_of);
	surface_arrays_add_to_server(&arrays, mesh);
	surface_arrays_free(&arrays);
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
