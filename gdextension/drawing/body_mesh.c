#include "drawing/body_mesh.h"

#include "drawing/surface_arrays.h"
#include "drawing/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 6 }; // of a box

static const FemVec3 side_normals[SIDES] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
static const FemVec3 side_tangents[SIDES] = {{0, 0, 1}, {0, 0, -1}, {1, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {1, 0, 0}};

// Texture coordinates run from 0 to 1 over each side of the rest shape's box.
static GdVector2 side_uv(FemVec3 p, FemVec3 half, int side) {
	FemVec3 tangent = side_tangents[side], binormal = vector_cross(side_normals[side], tangent);
	FemVec3 unit = {p.x / half.x, p.y / half.y, p.z / half.z};
	return (GdVector2){0.5f + 0.5f * vector_dot(unit, tangent), 0.5f - 0.5f * vector_dot(unit, binormal)};
}

static FemVec3 half_extents(const BodyShape *shape) {
	FemVec3 half = {0};
	for (int32_t i = 0; i < shape->node_count; i++) {
		FemVec3 p = shape->positions[i];
		half = (FemVec3){fmaxf(half.x, fabsf(p.x)), fmaxf(half.y, fabsf(p.y)), fmaxf(half.z, fabsf(p.z))};
	}
	return half;
}

// Where the surface goes: into Godot's arrays, or into the engine's. Both null: it is only counted.
typedef struct Target {
	SurfaceArrays *arrays;
	FemRenderSurface *surface;
} Target;

static void write_vertex(
	const Target *target, int32_t v, const BodyShape *shape, int32_t triangle, int32_t node, FemVec3 half) {
	const int32_t *nodes = &shape->tets[4 * shape->triangle_tets[triangle]];
	int side = shape->triangle_sides[triangle];
	FemVec3 p = shape->positions[node], n = side_normals[side], t = side_tangents[side];
	float tangent[4] = {t.x, t.y, t.z, 1.0f}, weights[4];
	GdVector2 uv = side_uv(p, half, side);
	if (target->surface) {
		target->surface->positions[v] = p;
		target->surface->normals[v] = n;
		memcpy(target->surface->tangents[v], tangent, sizeof(tangent));
		target->surface->uvs[v][0] = uv.x;
		target->surface->uvs[v][1] = uv.y;
	}
	if (target->arrays) {
		target->arrays->positions[v] = (GdVector3){p.x, p.y, p.z};
		target->arrays->normals[v] = (GdVector3){n.x, n.y, n.z};
		target->arrays->uvs[v] = uv;
		memcpy(&target->arrays->tangents[4 * v], tangent, sizeof(tangent));
		for (int i = 0; i < 4; i++) {
			weights[i] = nodes[i] == node ? 1.0f : 0.0f;
		}
		surface_arrays_tie(target->arrays, v, nodes, weights);
	}
}

// One vertex for each node and side, so that a box keeps hard edges. Returns their number.
static int32_t build_surface(const Target *target, const BodyShape *shape, int32_t *vertex_of) {
	int32_t count = 0;
	FemVec3 half = half_extents(shape);
	for (int32_t i = 0; i < shape->node_count * SIDES; i++) {
		vertex_of[i] = -1;
	}
	for (int32_t i = 0; i < shape->triangle_count * 3; i++) {
		int32_t triangle = i / 3, corner = target->arrays ? 2 - i % 3 : i % 3; // Godot's front faces run clockwise
		int32_t node = shape->triangles[3 * triangle + corner];
		int32_t *vertex = &vertex_of[node * SIDES + shape->triangle_sides[triangle]];
		if (*vertex < 0) {
			*vertex = count++;
			write_vertex(target, *vertex, shape, triangle, node, half);
		}
		if (target->arrays) {
			target->arrays->indices[i] = *vertex;
		} else if (target->surface) {
			target->surface->indices[i] = *vertex;
		}
	}
	return count;
}

static void fill_mesh(GdRID mesh, const BodyShape *shape, int32_t *vertex_of) {
	SurfaceArrays arrays;
	int32_t count = build_surface(&(Target){0}, shape, vertex_of);
	surface_arrays_create(&arrays, count, shape->triangle_count * 3, SURFACE_TANGENTS | SURFACE_UVS | SURFACE_EMBEDDED);
	build_surface(&(Target){.arrays = &arrays}, shape, vertex_of);
	surface_arrays_add_to_server(&arrays, mesh);
	surface_arrays_free(&arrays);
}

static int32_t *make_vertex_table(const BodyShape *shape) {
	return shape->triangle_count > 0 ? malloc((size_t)shape->node_count * SIDES * sizeof(int32_t)) : NULL;
}

GdRID body_mesh_create(const BodyShape *shape) {
	GdRID mesh = gd_rendering_server_mesh_create();
	int32_t *vertex_of = make_vertex_table(shape);
	if (vertex_of) {
		fill_mesh(mesh, shape, vertex_of);
	}
	free(vertex_of);
	return mesh;
}

bool body_mesh_render(const BodyShape *shape, FemRenderMesh *out) {
	int32_t *vertex_of = make_vertex_table(shape);
	FemRenderSurface *surface = vertex_of ? fem_render_mesh_add(out, "", "") : NULL;
	int32_t count = surface ? build_surface(&(Target){0}, shape, vertex_of) : 0;
	bool is_made = surface &&
		fem_render_surface_reserve(
			surface, count, shape->triangle_count * 3, FEM_ATTRIBUTE_NORMAL | FEM_ATTRIBUTE_TANGENT | FEM_ATTRIBUTE_UV);
	if (is_made) {
		build_surface(&(Target){.surface = surface}, shape, vertex_of);
	}
	free(vertex_of);
	return is_made;
}
