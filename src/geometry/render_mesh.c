#include "fem_baking.h"

#include "base/error.h"
#include "base/growing.h"
#include "fem_constants.h"

#include <math.h>
#include <stdio.h>

#define UV_MAX 1e9f // texture coordinates past this are garbage: a float no longer holds their fraction

FemRenderSurface *fem_render_mesh_add(FemRenderMesh *mesh, const char *name, const char *material) {
	if (mesh->surface_count == FEM_SURFACE_MAX ||
		!FEM_GROW(mesh->surfaces, mesh->surface_count, &mesh->surface_capacity))
		return NULL;
	FemRenderSurface *surface = &mesh->surfaces[mesh->surface_count++];
	snprintf(surface->name, sizeof surface->name, "%s", name);
	snprintf(surface->material, sizeof surface->material, "%s", material);
	return surface;
}

bool fem_render_surface_reserve(
	FemRenderSurface *surface, int32_t vertex_count, int32_t index_count, uint32_t attributes) {
	surface->vertex_count = vertex_count;
	surface->index_count = index_count;
	surface->attributes = attributes;
	surface->positions = FEM_ALLOC_ARRAY(FemVec3, vertex_count);
	surface->indices = FEM_ALLOC_ARRAY(int32_t, index_count);
	bool all = surface->positions && surface->indices;
	if (attributes & FEM_ATTRIBUTE_NORMAL)
		all = (surface->normals = FEM_ALLOC_ARRAY(FemVec3, vertex_count)) && all;
	if (attributes & FEM_ATTRIBUTE_TANGENT)
		all = (surface->tangents = fem_alloc(sizeof *surface->tangents * (size_t)vertex_count)) && all;
	if (attributes & FEM_ATTRIBUTE_UV)
		all = (surface->uvs = fem_alloc(sizeof *surface->uvs * (size_t)vertex_count)) && all;
	if (attributes & FEM_ATTRIBUTE_UV2)
		all = (surface->uvs2 = fem_alloc(sizeof *surface->uvs2 * (size_t)vertex_count)) && all;
	if (attributes & FEM_ATTRIBUTE_COLOR)
		all = (surface->colors = fem_alloc(sizeof *surface->colors * (size_t)vertex_count)) && all;
	return all;
}

void fem_render_surface_free(FemRenderSurface *surface) {
	FEM_FREE_ARRAY(surface->positions, surface->vertex_count);
	FEM_FREE_ARRAY(surface->normals, surface->vertex_count);
	FEM_FREE_ARRAY(surface->tangents, surface->vertex_count);
	FEM_FREE_ARRAY(surface->uvs, surface->vertex_count);
	FEM_FREE_ARRAY(surface->uvs2, surface->vertex_count);
	FEM_FREE_ARRAY(surface->colors, surface->vertex_count);
	FEM_FREE_ARRAY(surface->indices, surface->index_count);
	*surface = (FemRenderSurface){0};
}

void fem_render_mesh_free(FemRenderMesh *mesh) {
	for (int32_t i = 0; i < mesh->surface_count; i++)
		fem_render_surface_free(&mesh->surfaces[i]);
	FEM_FREE_ARRAY(mesh->surfaces, mesh->surface_capacity);
	*mesh = (FemRenderMesh){0};
}

int64_t fem_render_mesh_vertex_count(const FemRenderMesh *mesh) {
	int64_t count = 0;
	for (int32_t i = 0; i < mesh->surface_count; i++)
		count += mesh->surfaces[i].vertex_count;
	return count;
}

int64_t fem_render_mesh_triangle_count(const FemRenderMesh *mesh) {
	int64_t count = 0;
	for (int32_t i = 0; i < mesh->surface_count; i++)
		count += mesh->surfaces[i].index_count / 3;
	return count;
}

// ---- checks

// NaN compares false.
static bool all_within(const float *values, int count, float limit) {
	for (int i = 0; i < count; i++) {
		if (!(fabsf(values[i]) <= limit))
			return false;
	}
	return true;
}

static bool is_unit(const float *v) {
	float length_sq = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
	return length_sq > 0.5f && length_sq < 2.0f;
}

// The name of what is wrong with a vertex, or null.
static const char *fault_of_vertex(const FemRenderSurface *surface, int32_t v) {
	if (!all_within(&surface->positions[v].x, 3, FEM_REST_MAX))
		return "position";
	if (surface->normals && !is_unit(&surface->normals[v].x))
		return "normal";
	if (surface->tangents && !(is_unit(surface->tangents[v]) && fabsf(surface->tangents[v][3]) == 1.0f))
		return "tangent";
	if (surface->uvs && !all_within(surface->uvs[v], 2, UV_MAX))
		return "texture coordinate";
	if (surface->uvs2 && !all_within(surface->uvs2[v], 2, UV_MAX))
		return "second texture coordinate";
	return NULL;
}

static FemResult check_surface(const FemRenderSurface *surface, const char *name, int32_t number) {
	if (surface->vertex_count < 3 || surface->index_count < 3 || surface->index_count % 3)
		return fem_fail(FEM_ERROR_MESH, "%.60s: surface %d has %d vertices and %d indices: it needs triangles.", name,
			number, surface->vertex_count, surface->index_count);
	for (int32_t v = 0; v < surface->vertex_count; v++) {
		const char *fault = fault_of_vertex(surface, v);
		if (fault)
			return fem_fail(FEM_ERROR_MESH,
				"%.60s: vertex %d of surface %d has a bad %s (not finite, too large or of no length): correct it.",
				name, v, number, fault);
	}
	for (int32_t i = 0; i < surface->index_count; i++) {
		if (surface->indices[i] < 0 || surface->indices[i] >= surface->vertex_count)
			return fem_fail(FEM_ERROR_MESH,
				"%.60s: triangle %d of surface %d names vertex %d: indices must be within 0..%d.", name, i / 3, number,
				surface->indices[i], surface->vertex_count - 1);
	}
	return FEM_OK;
}

FemResult fem_render_mesh_check(const FemRenderMesh *mesh, const char *name) {
	FemResult result = FEM_OK;
	for (int32_t i = 0; result == FEM_OK && i < mesh->surface_count; i++)
		result = check_surface(&mesh->surfaces[i], name, i);
	return result;
}
