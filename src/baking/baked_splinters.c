// Splinters within a baked mesh: the section SPLN and its checks.
#include "baking/baked_splinters.h"

#include "baking/baked_reader.h"
#include "baking/baked_writer.h"
#include "base/error.h"
#include "base/memory.h"
#include "cutting/cut_output.h"
#include "fem_constants.h"

// ---- write

void fem_baked_write_splinters(FemBakedWriter *writer, const FemBakedMesh *mesh) {
	const FemSplinterMesh *m = &mesh->splinters;
	int32_t counts[7] = {m->splinter_count, m->surface_count, m->vertex_count, m->outer_count, m->index_count,
		m->face_count, m->coarse_count};
	if (m->splinter_count == 0)
		return;
	begin_section_with(writer, FEM_TAG_SPLINTERS, 0);
	for (int n = 0; n < 7; n++)
		put_uint(writer, (uint32_t)counts[n], 4);
	for (int32_t s = 0; s <= m->surface_count; s++) {
		put_uint(writer, (uint32_t)m->vertex_starts[s], 4);
		put_uint(writer, (uint32_t)m->index_starts[s], 4);
		put_uint(writer, (uint32_t)m->coarse_starts[s], 4);
	}
	put_indices(writer, m->home_tets, (size_t)m->splinter_count, mesh->tet_mesh.tet_count);
	for (int32_t v = 0; v < m->vertex_count; v++)
		put_floats(writer, &m->positions[v].x, 3);
	put_indices(writer, m->vertex_splinters, (size_t)m->vertex_count, m->splinter_count);
	put_indices(writer, m->vertex_tets, (size_t)m->vertex_count, mesh->tet_mesh.tet_count);
	uint64_t form = choose_form(m->vertex_weights, m->vertex_count);
	put_uint(writer, form, 1);
	put_weights(writer, form, m->vertex_weights, m->vertex_count);
	for (int32_t v = 0; v < m->outer_count; v++) {
		put_uint(writer, (uint32_t)m->source_triangles[v], 4);
		put_floats(writer, m->source_weights[v], 2);
	}
	for (int32_t v = 0; v < m->vertex_count - m->outer_count; v++) {
		put_normal(writer, m->normals[v]);
		put_tangent(writer, m->tangents[v]);
		put_floats(writer, m->uvs[v], 2);
	}
	for (int32_t s = 0; s < m->surface_count; s++)
		put_indices(writer, m->indices + m->index_starts[s], (size_t)(m->index_starts[s + 1] - m->index_starts[s]),
			m->vertex_starts[s + 1] - m->vertex_starts[s]);
	for (int32_t s = 0; s < m->surface_count; s++)
		put_indices(writer, m->coarse_indices + m->coarse_starts[s],
			(size_t)(m->coarse_starts[s + 1] - m->coarse_starts[s]), m->vertex_starts[s + 1] - m->vertex_starts[s]);
	put_float(writer, m->coarse_error);
	for (int32_t f = 0; f < m->face_count; f++) // half the vertices of each
		put_uint(writer, (uint32_t)(m->face_starts[f + 1] - m->face_starts[f]) / 2, 4);
	end_section(writer);
}

// ---- read

// From 0 to the end without a step back.
static bool starts_good(const int32_t *starts, int32_t count, int32_t end) {
	bool good = starts[0] == 0 && starts[count] == end;
	for (int32_t n = 0; n < count; n++)
		good = good && starts[n] <= starts[n + 1];
	return good;
}

static bool take_counts(FemBakedReader *reader, FemSplinterMesh *m) {
	int32_t *counts[7] = {&m->splinter_count, &m->surface_count, &m->vertex_count, &m->outer_count, &m->index_count,
		&m->face_count, &m->coarse_count};
	uint64_t left = fem_bytes_left(&reader->bytes);
	bool good = true;
	for (int n = 0; n < 7; n++) {
		uint64_t count = fem_bytes_uint(&reader->bytes, 4);
		good = good && count <= INT32_MAX && count <= left; // each thing takes a byte and more
		*counts[n] = good ? (int32_t)count : 0;
	}
	return good && !reader->bytes.failed && m->splinter_count > 0 &&
		m->surface_count == reader->mesh->render.surface_count + 1 && m->surface_count > 1 && m->vertex_count >= 3 &&
		m->outer_count >= 0 && m->outer_count <= m->vertex_count && m->index_count >= 3 && m->index_count % 3 == 0 &&
		m->face_count <= m->vertex_count && m->splinter_count <= m->vertex_count &&
		left / 20 >= (uint64_t)m->vertex_count;
}

static bool take_starts(FemBakedReader *reader, FemSplinterMesh *m) {
	for (int32_t s = 0; s <= m->surface_count; s++) {
		m->vertex_starts[s] = (int32_t)(fem_bytes_uint(&reader->bytes, 4) & INT32_MAX);
		m->index_starts[s] = (int32_t)(fem_bytes_uint(&reader->bytes, 4) & INT32_MAX);
		m->coarse_starts[s] = (int32_t)(fem_bytes_uint(&reader->bytes, 4) & INT32_MAX);
	}
	return !reader->bytes.failed && starts_good(m->vertex_starts, m->surface_count, m->vertex_count) &&
		starts_good(m->index_starts, m->surface_count, m->index_count) &&
		starts_good(m->coarse_starts, m->surface_count, m->coarse_count) &&
		m->vertex_starts[m->surface_count - 1] == m->outer_count;
}

static bool take_vertices(FemBakedReader *reader, FemSplinterMesh *m) {
	int32_t tets = reader->mesh->tet_mesh.tet_count, inner = m->vertex_count - m->outer_count;
	if (!take_indices(reader, m->home_tets, (size_t)m->splinter_count, tets))
		return false;
	for (int32_t v = 0; v < m->vertex_count; v++)
		take_floats(reader, &m->positions[v].x, 3);
	if (!take_indices(reader, m->vertex_splinters, (size_t)m->vertex_count, m->splinter_count) ||
		!take_indices(reader, m->vertex_tets, (size_t)m->vertex_count, tets))
		return false;
	uint64_t form = fem_bytes_uint(&reader->bytes, 1);
	if (form >= FEM_WEIGHT_FORMS)
		return false;
	for (int32_t v = 0; v < m->vertex_count; v++)
		take_weights(reader, form, m->vertex_weights[v]);
	for (int32_t v = 0; v < m->outer_count; v++) {
		m->source_triangles[v] = (int32_t)(fem_bytes_uint(&reader->bytes, 4) & INT32_MAX);
		take_floats(reader, m->source_weights[v], 2);
		m->source_weights[v][2] = 1.0f - m->source_weights[v][0] - m->source_weights[v][1];
	}
	for (int32_t v = 0; v < inner; v++) {
		take_normal(reader, &m->normals[v]);
		take_tangent(reader, m->tangents[v]);
		take_floats(reader, m->uvs[v], 2);
	}
	return !reader->bytes.failed;
}

static bool take_numbers(FemBakedReader *reader, const FemSplinterMesh *m, int32_t *out, const int32_t *starts) {
	for (int32_t s = 0; s < m->surface_count; s++) {
		size_t count = (size_t)(starts[s + 1] - starts[s]);
		if (count > 0 && !take_indices(reader, out + starts[s], count, m->vertex_starts[s + 1] - m->vertex_starts[s]))
			return false;
	}
	return true;
}

static bool take_faces(FemBakedReader *reader, FemSplinterMesh *m) {
	int64_t at = 0;
	for (int32_t f = 0; f < m->face_count; f++) {
		at += 2 * (int64_t)fem_bytes_uint(&reader->bytes, 4);
		if (at > m->vertex_count)
			return false;
		m->face_starts[f + 1] = (int32_t)at;
	}
	return !reader->bytes.failed && m->face_starts[m->face_count] == m->vertex_count - m->outer_count;
}

FemResult fem_baked_read_splinters(FemBakedReader *reader) {
	FemSplinterMesh *out = &reader->mesh->splinters, counts = {0};
	if (out->splinter_count || !reader->mesh->tet_mesh.tets || !take_counts(reader, &counts))
		return fail_damaged(reader, "a wrong count");
	*out = counts;
	if (!fem_splinter_mesh_reserve(out))
		return fail_memory(reader);
	if (!take_starts(reader, out) || !take_vertices(reader, out))
		return fail_damaged(reader, "a number that is not there");
	if (!take_numbers(reader, out, out->indices, out->index_starts) ||
		!take_numbers(reader, out, out->coarse_indices, out->coarse_starts))
		return fail_damaged(reader, "a vertex that is not there");
	out->coarse_error = fem_bytes_float(&reader->bytes);
	return take_faces(reader, out) ? FEM_OK : fail_damaged(reader, "a wrong count");
}

// ---- check

static bool within(const float *values, int count, float low, float high) {
	for (int n = 0; n < count; n++)
		if (!(values[n] >= low && values[n] <= high))
			return false;
	return true;
}

static bool vertex_good(const FemBakedMesh *mesh, int32_t v) {
	const FemSplinterMesh *m = &mesh->splinters;
	const float *w = m->vertex_weights[v];
	return within(&m->positions[v].x, 3, -FEM_REST_MAX, FEM_REST_MAX) && m->vertex_splinters[v] >= 0 &&
		m->vertex_splinters[v] < m->splinter_count && m->vertex_tets[v] >= 0 &&
		m->vertex_tets[v] < mesh->tet_mesh.tet_count && within(w, 4, -FEM_BAKED_WEIGHT_MAX, FEM_BAKED_WEIGHT_MAX) &&
		fabs((double)w[0] + (double)w[1] + (double)w[2] + (double)w[3] - 1.0) <= 1e-3;
}

static bool outer_good(const FemBakedMesh *mesh, int32_t surface, int32_t v) {
	const FemSplinterMesh *m = &mesh->splinters;
	return m->source_triangles[v] >= 0 && m->source_triangles[v] < mesh->render.surfaces[surface].index_count / 3 &&
		within(m->source_weights[v], 3, -0.01f, 1.01f);
}

FemResult fem_baked_check_splinters(const FemBakedMesh *mesh, const char *name) {
	const FemSplinterMesh *m = &mesh->splinters;
	bool good = m->splinter_count == 0 ||
		(m->surface_count == mesh->render.surface_count + 1 && within(&m->coarse_error, 1, 0.0f, FEM_REST_MAX));
	for (int32_t s = 0, v = 0; good && s < m->surface_count; s++) {
		for (; good && v < m->vertex_starts[s + 1]; v++)
			good = vertex_good(mesh, v) && (s + 1 == m->surface_count || outer_good(mesh, s, v));
		int32_t count = m->vertex_starts[s + 1] - m->vertex_starts[s];
		for (int32_t n = m->index_starts[s]; good && n < m->index_starts[s + 1]; n++)
			good = m->indices[n] >= 0 && m->indices[n] < count;
		for (int32_t n = m->coarse_starts[s]; good && n < m->coarse_starts[s + 1]; n++)
			good = m->coarse_indices[n] >= 0 && m->coarse_indices[n] < count;
	}
	for (int32_t v = 0; good && v < m->vertex_count - m->outer_count; v++)
		good = within(m->uvs[v], 2, -1e9f, 1e9f) && within(&m->normals[v].x, 3, -1.1f, 1.1f);
	for (int32_t p = 0; good && p < m->splinter_count; p++)
		good = m->home_tets[p] >= 0 && m->home_tets[p] < mesh->tet_mesh.tet_count;
	return good ? FEM_OK
				: fem_fail(FEM_ERROR_MESH, "%.60s has splinters that do not fit it: bake the mesh again.", name);
}
