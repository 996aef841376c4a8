#include "cutting/cut_output.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "cutting/cut_making.h"
#include "cutting/splinter_homes.h"

#include <string.h>

#define TANGENT_LEAST 1e-6 // square of a length: shorter tangents lie along the normal; chosen
#define NOT_ALONG 0.7 // component of a unit vector: an axis with less than this crosses it well; 1/sqrt(3) and more

void fem_cut_make_index(FemCutMaking *out, int32_t surface, int32_t made, bool is_coarse) {
	int32_t **indices = is_coarse ? &out->coarse_indices : &out->indices;
	int32_t *count = is_coarse ? &out->coarse_count : &out->index_count;
	int32_t *capacity = is_coarse ? &out->coarse_capacity : &out->index_capacity;
	if (made < 0 || !fem_grow(indices, *count, capacity, sizeof **indices)) {
		out->failed = true;
		return;
	}
	(*indices)[(*count)++] = made - out->vertex_starts[surface];
}

int32_t fem_cut_make_vertex(FemCutMaking *out, const int32_t key[FEM_KEY_SIZE], bool *is_new) {
	int32_t made = fem_key_map_number(&out->map, key, is_new);
	if (made < 0 || !FEM_GROW(out->made, out->made_count, &out->made_capacity)) {
		out->failed = true;
		return -1;
	}
	if (*is_new)
		out->made_count++;
	return made;
}

void fem_cut_make_surface(FemCutMaking *out, int32_t surface) {
	out->vertex_starts[surface] = out->made_count;
	out->index_starts[surface] = out->index_count;
	out->coarse_starts[surface] = out->coarse_count;
}

FemVec3d fem_cut_unit(FemVec3d v) {
	double length = sqrt(fem_vec3d_dot(v, v));
	return length > 0.0 ? fem_vec3d_scale(v, 1.0 / length) : (FemVec3d){0.0, 1.0, 0.0};
}

// ---- arrays

// Normals of unit length, away from the tangent.
static void finish_normal(FemCutMade *m, FemVec3 *out_normal, float out_tangent[4]) {
	FemVec3d n = fem_cut_unit(fem_vec3d_from(m->normal)),
			 t = {(double)m->tangent[0], (double)m->tangent[1], (double)m->tangent[2]};
	t = fem_vec3d_sub(t, fem_vec3d_scale(n, fem_vec3d_dot(n, t)));
	if (fem_vec3d_dot(t, t) < TANGENT_LEAST)
		t = fem_vec3d_cross(n, fabs(n.x) < NOT_ALONG ? (FemVec3d){1.0, 0.0, 0.0} : (FemVec3d){0.0, 1.0, 0.0});
	FemVec3 tangent = fem_vec3d_to_vec3(fem_cut_unit(t));
	*out_normal = fem_vec3d_to_vec3(n);
	memcpy(out_tangent, &tangent, sizeof tangent);
	out_tangent[3] = m->tangent[3];
}

// Leaves no numbers to splinters of which nothing is shown.
static bool number_splinters(FemCutMaking *out) {
	int32_t *numbers_plus_1 = FEM_ALLOC_ARRAY(int32_t, out->splinters.splinter_count), count = 0,
			old = out->splinters.splinter_count;
	if (!numbers_plus_1)
		return false;
	for (int32_t v = 0; v < out->made_count; v++) {
		int32_t *number = &numbers_plus_1[out->made[v].splinter];
		if (*number == 0)
			*number = ++count;
		out->made[v].splinter = *number - 1;
	}
	FEM_ASSERT(count <= old);
	out->splinters.splinter_count = count;
	FEM_FREE_ARRAY(numbers_plus_1, old);
	return true;
}

// Vertices of the render mesh are where they were to the last bit.
static FemVec3 position_of(const FemCutMaking *out, const FemCutMade *m, int32_t surface) {
	const FemCutSource *source = out->source;
	const FemCutSolid *solid = m->solid ? source->inside : source->outside;
	if (surface < source->render->surface_count && solid->vertices[m->vertex].kind == FEM_CUT_MESH_VERTEX)
		for (int n = 0; n < 3; n++)
			if (m->weights[n] == 1.0f)
				return source->render->surfaces[surface]
					.positions[source->render->surfaces[surface].indices[3 * m->triangle + n]];
	return fem_vec3d_to_vec3(fem_frame_to_user(&source->frame, solid->vertices[m->vertex].at));
}

static void fill_arrays(FemCutMaking *out, FemSplinterMesh *m) {
	int32_t surface = 0;
	FEM_ASSERT(fem_are_starts(out->vertex_starts, m->surface_count) &&
		out->vertex_starts[m->surface_count] == m->vertex_count);
	FEM_ASSERT(
		fem_are_starts(out->index_starts, m->surface_count) && out->index_starts[m->surface_count] == m->index_count);
	memcpy(m->vertex_starts, out->vertex_starts, sizeof(int32_t) * (size_t)(m->surface_count + 1));
	memcpy(m->index_starts, out->index_starts, sizeof(int32_t) * (size_t)(m->surface_count + 1));
	memcpy(m->indices, out->indices, sizeof(int32_t) * (size_t)m->index_count);
	memcpy(m->coarse_starts, out->coarse_starts, sizeof(int32_t) * (size_t)(m->surface_count + 1));
	if (m->coarse_count > 0)
		memcpy(m->coarse_indices, out->coarse_indices, sizeof(int32_t) * (size_t)m->coarse_count);
	for (int32_t f = 0; f < m->face_count; f++)
		m->face_starts[f] = out->face_starts[f] - m->outer_count;
	m->face_starts[m->face_count] = m->vertex_count - m->outer_count;
	for (int32_t v = 0; v < m->vertex_count; v++) {
		FemCutMade *made = &out->made[v];
		while (v >= m->vertex_starts[surface + 1])
			surface++;
		m->positions[v] = position_of(out, made, surface);
		m->vertex_splinters[v] = made->splinter;
		if (v < m->outer_count) {
			m->source_triangles[v] = made->triangle;
			memcpy(m->source_weights[v], made->weights, sizeof made->weights);
			continue;
		}
		int32_t inner = v - m->outer_count;
		finish_normal(made, &m->normals[inner], m->tangents[inner]);
		memcpy(m->uvs[inner], made->uv, sizeof made->uv);
	}
}

static FemResult fail_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to cut the mesh: ask for fewer pieces.");
}

// Each vertex of a solid is looked for once, however many splinters share it.
static FemResult tie_vertices(const FemCutMaking *out, const FemEmbedMesh *tets, FemSplinterMesh *m) {
	int32_t first = out->source->outside->vertex_count, slot_count = first + out->source->inside->vertex_count,
			count = 0;
	int32_t *slots = FEM_ALLOC_ARRAY(int32_t, slot_count);
	FemVec3 *points = FEM_ALLOC_ARRAY(FemVec3, m->vertex_count);
	FemEmbedding embedding = {0};
	FemResult result = slots && points ? FEM_OK : fail_memory();
	for (int32_t v = 0; result == FEM_OK && v < m->vertex_count; v++) {
		int32_t *slot = &slots[out->made[v].vertex + (out->made[v].solid ? first : 0)];
		if (*slot == 0) {
			points[count] = m->positions[v];
			*slot = ++count;
		}
	}
	FEM_ASSERT(count <= m->vertex_count);
	if (result == FEM_OK)
		result = fem_embed(tets, points, NULL, count, &embedding);
	for (int32_t v = 0; result == FEM_OK && v < m->vertex_count; v++) {
		int32_t at = slots[out->made[v].vertex + (out->made[v].solid ? first : 0)] - 1;
		m->vertex_tets[v] = embedding.tets[at];
		memcpy(m->vertex_weights[v], embedding.weights[at], sizeof *m->vertex_weights);
	}
	fem_embedding_free(&embedding);
	FEM_FREE_ARRAY(slots, slot_count);
	FEM_FREE_ARRAY(points, m->vertex_count);
	return result;
}

static bool number_sources(FemCutMaking *out) {
	const FemRenderMesh *render = out->source->render;
	int32_t vertex = 0, at = 0;
	out->source_count = (int32_t)fem_render_mesh_triangle_count(render);
	out->surface_of = FEM_ALLOC_ARRAY(int32_t, out->source_count);
	out->triangle_of = FEM_ALLOC_ARRAY(int32_t, out->source_count);
	if (!out->surface_of || !out->triangle_of)
		return false;
	for (int32_t s = 0; s < render->surface_count; s++) {
		out->first_render_vertex[s] = vertex;
		vertex += render->surfaces[s].vertex_count;
		for (int32_t t = 0; t < render->surfaces[s].index_count / 3; t++, at++) {
			out->surface_of[at] = s;
			out->triangle_of[at] = t;
		}
	}
	return true;
}

FemResult fem_cut_output(const FemCutSource *source, FemSplinterMesh *out_mesh) {
	FemCutMaking *out = FEM_ALLOC_ARRAY(FemCutMaking, 1);
	FemResult result = FEM_OK;
	*out_mesh = (FemSplinterMesh){0};
	if (!out)
		return fail_memory();
	out->source = source;
	out->is_rough = source->inside->noise.spacing > 0.0;
	out->face_starts = FEM_ALLOC_ARRAY(int32_t, source->inside->face_count + 1);
	out->failed = !out->face_starts || !number_sources(out) || !fem_cut_splinters_create(&out->splinters, source);
	if (!out->failed)
		fem_cut_make_outside(out);
	for (int32_t n = 0; n < source->inside->face_count && !out->failed; n++)
		fem_cut_make_face(out, n);
	fem_cut_make_surface(out, source->render->surface_count + 1);
	if (!out->failed && number_splinters(out))
		*out_mesh = (FemSplinterMesh){.splinter_count = out->splinters.splinter_count,
			.surface_count = source->render->surface_count + 1,
			.vertex_count = out->made_count,
			.outer_count = out->vertex_starts[source->render->surface_count],
			.index_count = out->index_count,
			.face_count = source->inside->face_count,
			.coarse_count = out->coarse_count,
			.coarse_error = (float)(2.0 * source->inside->noise.amplitude * source->frame.size)};
	if (out_mesh->splinter_count == 0 || !fem_splinter_mesh_reserve(out_mesh))
		result = fail_memory();
	if (result == FEM_OK) {
		FemEmbedMesh tets = {
			source->tets->node_count, source->tets->tet_count, source->tets->nodes, source->tets->tets, NULL};
		fill_arrays(out, out_mesh);
		result = fem_splinter_mesh_find_homes(out_mesh, &tets);
		if (result == FEM_OK)
			result = tie_vertices(out, &tets, out_mesh);
	}
	if (result != FEM_OK)
		fem_splinter_mesh_free(out_mesh);
	FEM_FREE_ARRAY(out->face_starts, source->inside->face_count + 1);
	fem_cut_splinters_free(&out->splinters);
	fem_key_map_free(&out->map);
	FEM_FREE_ARRAY(out->made, out->made_capacity);
	FEM_FREE_ARRAY(out->indices, out->index_capacity);
	FEM_FREE_ARRAY(out->coarse_indices, out->coarse_capacity);
	FEM_FREE_ARRAY(out->surface_of, out->source_count);
	FEM_FREE_ARRAY(out->triangle_of, out->source_count);
	fem_loop_mesh_free(&out->loops);
	FEM_FREE_ARRAY(out, 1);
	return result;
}
