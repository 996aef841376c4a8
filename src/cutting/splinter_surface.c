// The arrays of splinters, and what a renderer is given of them: attributes of the render mesh between the corners of
// their source triangles.
#include "base/error.h"
#include "base/memory.h"
#include "base/vec.h"
#include "cutting/cut_output.h"

#include <string.h>

#define LENGTH_LEAST 1e-6f // of a sum of unit vectors: shorter ones cancel out; chosen

bool fem_splinter_mesh_reserve(FemSplinterMesh *m) {
	int32_t inner = m->vertex_count - m->outer_count;
	m->home_tets = FEM_ALLOC_ARRAY(int32_t, m->splinter_count);
	m->vertex_starts = FEM_ALLOC_ARRAY(int32_t, m->surface_count + 1);
	m->index_starts = FEM_ALLOC_ARRAY(int32_t, m->surface_count + 1);
	m->positions = FEM_ALLOC_ARRAY(FemVec3, m->vertex_count);
	m->vertex_splinters = FEM_ALLOC_ARRAY(int32_t, m->vertex_count);
	m->vertex_tets = FEM_ALLOC_ARRAY(int32_t, m->vertex_count);
	m->vertex_weights = fem_alloc(sizeof *m->vertex_weights * (size_t)m->vertex_count);
	m->source_triangles = FEM_ALLOC_ARRAY(int32_t, m->outer_count);
	m->source_weights = fem_alloc(sizeof *m->source_weights * (size_t)m->outer_count);
	m->normals = FEM_ALLOC_ARRAY(FemVec3, inner);
	m->tangents = fem_alloc(sizeof *m->tangents * (size_t)inner);
	m->uvs = fem_alloc(sizeof *m->uvs * (size_t)inner);
	m->indices = FEM_ALLOC_ARRAY(int32_t, m->index_count);
	m->face_starts = FEM_ALLOC_ARRAY(int32_t, m->face_count + 1);
	m->coarse_indices = FEM_ALLOC_ARRAY(int32_t, m->coarse_count);
	m->coarse_starts = FEM_ALLOC_ARRAY(int32_t, m->surface_count + 1);
	bool has_inner = inner == 0 || (m->normals && m->tangents && m->uvs);
	bool has_outer = m->outer_count == 0 || (m->source_triangles && m->source_weights);
	return m->home_tets && m->vertex_starts && m->index_starts && m->positions && m->vertex_splinters &&
		m->vertex_tets && m->vertex_weights && has_outer && has_inner && m->indices && m->face_starts &&
		m->coarse_starts && (m->coarse_indices || m->coarse_count == 0);
}

void fem_splinter_mesh_free(FemSplinterMesh *m) {
	int32_t inner = m->vertex_count - m->outer_count;
	FEM_FREE_ARRAY(m->home_tets, m->splinter_count);
	FEM_FREE_ARRAY(m->vertex_starts, m->surface_count + 1);
	FEM_FREE_ARRAY(m->index_starts, m->surface_count + 1);
	FEM_FREE_ARRAY(m->positions, m->vertex_count);
	FEM_FREE_ARRAY(m->vertex_splinters, m->vertex_count);
	FEM_FREE_ARRAY(m->vertex_tets, m->vertex_count);
	FEM_FREE_ARRAY(m->vertex_weights, m->vertex_count);
	FEM_FREE_ARRAY(m->source_triangles, m->outer_count);
	FEM_FREE_ARRAY(m->source_weights, m->outer_count);
	FEM_FREE_ARRAY(m->normals, inner);
	FEM_FREE_ARRAY(m->tangents, inner);
	FEM_FREE_ARRAY(m->uvs, inner);
	FEM_FREE_ARRAY(m->indices, m->index_count);
	FEM_FREE_ARRAY(m->face_starts, m->face_count + 1);
	FEM_FREE_ARRAY(m->coarse_indices, m->coarse_count);
	FEM_FREE_ARRAY(m->coarse_starts, m->surface_count + 1);
	*m = (FemSplinterMesh){0};
}

// ---- attributes

static void mix(const float *values, int width, const int32_t corners[3], const float weights[3], float *out) {
	for (int n = 0; n < width; n++)
		out[n] = weights[0] * values[width * corners[0] + n] + weights[1] * values[width * corners[1] + n] +
			weights[2] * values[width * corners[2] + n];
}

// At one corner the sum is that corner's to the last bit; between them it is shorter than 1.
static void normalize(float *v, const float *other) {
	float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
	for (int n = 0; n < 3; n++)
		v[n] = length > LENGTH_LEAST ? v[n] / length : other[n];
}

static void copy_corner(const FemRenderSurface *from, FemRenderSurface *out, int32_t v, int32_t corner) {
	if (from->normals)
		out->normals[v] = from->normals[corner];
	if (from->tangents)
		memcpy(out->tangents[v], from->tangents[corner], sizeof *out->tangents);
	if (from->uvs)
		memcpy(out->uvs[v], from->uvs[corner], sizeof *out->uvs);
	if (from->uvs2)
		memcpy(out->uvs2[v], from->uvs2[corner], sizeof *out->uvs2);
	if (from->colors)
		memcpy(out->colors[v], from->colors[corner], sizeof *out->colors);
}

static void mix_corners(
	const FemRenderSurface *from, FemRenderSurface *out, int32_t v, const int32_t c[3], const float w[3]) {
	if (from->normals) {
		mix(&from->normals->x, 3, c, w, &out->normals[v].x);
		normalize(&out->normals[v].x, &from->normals[c[0]].x);
	}
	if (from->tangents) {
		mix(*from->tangents, 4, c, w, out->tangents[v]);
		normalize(out->tangents[v], from->tangents[c[0]]);
		out->tangents[v][3] = from->tangents[c[0]][3];
	}
	if (from->uvs)
		mix(*from->uvs, 2, c, w, out->uvs[v]);
	if (from->uvs2)
		mix(*from->uvs2, 2, c, w, out->uvs2[v]);
	for (int n = 0; from->colors && n < 4; n++) {
		float sum = 0.5f;
		for (int k = 0; k < 3; k++)
			sum += w[k] * (float)from->colors[c[k]][n];
		out->colors[v][n] = (uint8_t)fminf(fmaxf(sum, 0.0f), 255.0f);
	}
}

static void fill_outer(const FemSplinterMesh *m, int32_t surface, const FemRenderSurface *from, FemRenderSurface *out) {
	for (int32_t v = 0; v < out->vertex_count; v++) {
		int32_t vertex = m->vertex_starts[surface] + v, whole = -1;
		const int32_t *corners = from->indices + 3 * (size_t)m->source_triangles[vertex];
		const float *weights = m->source_weights[vertex];
		for (int n = 0; n < 3; n++)
			whole = weights[n] == 1.0f ? corners[n] : whole;
		if (whole >= 0)
			copy_corner(from, out, v, whole);
		else
			mix_corners(from, out, v, corners, weights);
	}
}

static void fill_inner(const FemSplinterMesh *m, FemRenderSurface *out) {
	memcpy(out->normals, m->normals, sizeof *out->normals * (size_t)out->vertex_count);
	memcpy(out->tangents, m->tangents, sizeof *out->tangents * (size_t)out->vertex_count);
	memcpy(out->uvs, m->uvs, sizeof *out->uvs * (size_t)out->vertex_count);
}

FemResult fem_baked_mesh_splinter_surface(const FemBakedMesh *mesh, int32_t surface, FemRenderSurface *out) {
	*out = (FemRenderSurface){0};
	if (!mesh || surface < 0 || surface >= mesh->splinters.surface_count)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "There is no surface %d among the splinters: cut the mesh first.", surface);
	const FemSplinterMesh *m = &mesh->splinters;
	const FemRenderSurface *from = surface + 1 < m->surface_count ? &mesh->render.surfaces[surface] : NULL;
	int32_t vertices = m->vertex_starts[surface + 1] - m->vertex_starts[surface];
	int32_t indices = m->index_starts[surface + 1] - m->index_starts[surface];
	if (vertices == 0)
		return FEM_OK;
	if (!fem_render_surface_reserve(out, vertices, indices,
			from ? from->attributes : FEM_ATTRIBUTE_NORMAL | FEM_ATTRIBUTE_TANGENT | FEM_ATTRIBUTE_UV)) {
		fem_render_surface_free(out);
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the splinters of a mesh.");
	}
	if (from) {
		memcpy(out->name, from->name, sizeof out->name);
		memcpy(out->material, from->material, sizeof out->material);
	}
	memcpy(out->positions, m->positions + m->vertex_starts[surface], sizeof *out->positions * (size_t)vertices);
	memcpy(out->indices, m->indices + m->index_starts[surface], sizeof *out->indices * (size_t)indices);
	if (from)
		fill_outer(m, surface, from, out);
	else
		fill_inner(m, out);
	return FEM_OK;
}
