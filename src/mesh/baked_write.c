// Writing a baked mesh. The same walk measures (no bytes given) and writes, so that they cannot disagree.
#include "mesh/baked_format.h"

#include <math.h>
#include <string.h>

typedef struct Writer {
	uint8_t *out; // null while measuring
	size_t at;
	uint32_t chunk_count;
	size_t chunk_start; // of the open chunk's content
} Writer;

static void put_uint(Writer *writer, uint64_t value, int width) {
	for (int i = 0; writer->out && i < width; i++)
		writer->out[writer->at + (size_t)i] = (uint8_t)(value >> 8 * i);
	writer->at += (size_t)width;
}

static void put_float(Writer *writer, float value) {
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	put_uint(writer, bits, 4);
}

static void put_floats(Writer *writer, const float *values, size_t count) {
	for (size_t i = 0; i < count; i++)
		put_float(writer, values[i]);
}

static void put_text(Writer *writer, const char *text) {
	size_t length = strlen(text);
	put_uint(writer, length, 2);
	if (writer->out)
		memcpy(writer->out + writer->at, text, length);
	writer->at += length;
}

static void put_indices(Writer *writer, const int32_t *indices, size_t count, int64_t range) {
	int width = fem_index_width(range);
	for (size_t i = 0; i < count; i++)
		put_uint(writer, (uint32_t)indices[i], width);
}

static void begin_chunk_with(Writer *writer, uint32_t tag, uint32_t flags) {
	put_uint(writer, tag, 4);
	put_uint(writer, flags, 4);
	put_uint(writer, 0, 8);
	writer->chunk_start = writer->at;
	writer->chunk_count++;
}

static void begin_chunk(Writer *writer, uint32_t tag) {
	begin_chunk_with(writer, tag, FEM_BAKED_REQUIRED);
}

static void end_chunk(Writer *writer) {
	size_t end = writer->at;
	writer->at = writer->chunk_start - 8;
	put_uint(writer, end - writer->chunk_start, 8);
	writer->at = end;
}

// ---------------------------------------------------------------------------------------------------------------- tets

static void write_nodes_and_tets(Writer *writer, const FemTetArrays *mesh) {
	begin_chunk(writer, FEM_TAG_NODES);
	put_uint(writer, (uint32_t)mesh->node_count, 4);
	for (int32_t i = 0; i < mesh->node_count; i++)
		put_floats(writer, &mesh->nodes[i].x, 3);
	end_chunk(writer);
	begin_chunk(writer, FEM_TAG_TETS);
	put_uint(writer, (uint32_t)mesh->tet_count, 4);
	put_indices(writer, mesh->tets, 4 * (size_t)mesh->tet_count, mesh->node_count);
	end_chunk(writer);
}

static void write_regions(Writer *writer, const FemTetArrays *mesh) {
	bool any = false;
	for (int32_t t = 0; mesh->tet_regions && t < mesh->tet_count; t++)
		any = any || mesh->tet_regions[t] != 0;
	if (!any)
		return;
	begin_chunk(writer, FEM_TAG_REGIONS);
	for (int32_t t = 0; t < mesh->tet_count; t++)
		put_uint(writer, (uint32_t)mesh->tet_regions[t], 1);
	end_chunk(writer);
}

// The different strengths in order of appearance; 0 when there are more than a byte can name.
static int collect_strengths(const FemTetArrays *mesh, float strengths[255]) {
	int count = 0;
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		int i = 0;
		while (i < count && strengths[i] != mesh->tet_plates[t])
			i++;
		if (i == 255)
			return 0;
		if (i == count)
			strengths[count++] = mesh->tet_plates[t];
	}
	return count;
}

static int place_of(const float *strengths, float strength) {
	int i = 0;
	while (strengths[i] != strength)
		i++;
	return i;
}

static void write_plates(Writer *writer, const FemTetArrays *mesh) {
	float strengths[255] = {0.0f};
	if (!mesh->tet_plates)
		return;
	int count = collect_strengths(mesh, strengths);
	if (count == 1 && strengths[0] == 0.0f)
		return;
	begin_chunk(writer, FEM_TAG_PLATES);
	put_uint(writer, (uint32_t)count, 1);
	put_floats(writer, strengths, (size_t)count);
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		if (count)
			put_uint(writer, (uint32_t)place_of(strengths, mesh->tet_plates[t]), 1);
		else
			put_float(writer, mesh->tet_plates[t]);
	}
	end_chunk(writer);
}

static void write_names(Writer *writer, const FemBakedMesh *mesh) {
	if (mesh->region_name_count == 0)
		return;
	begin_chunk(writer, FEM_TAG_NAMES);
	put_uint(writer, (uint32_t)mesh->region_name_count, 4);
	for (int32_t i = 0; i < mesh->region_name_count; i++)
		put_text(writer, mesh->region_names[i].name);
	end_chunk(writer);
}

// ------------------------------------------------------------------------------------------------------------ surfaces

static void put_normal(Writer *writer, FemVec3 normal) {
	int32_t code[2];
	fem_octahedral_encode(normal, 32767, code);
	put_uint(writer, (uint16_t)code[0], 2);
	put_uint(writer, (uint16_t)code[1], 2);
}

static void put_tangent(Writer *writer, const float tangent[4]) {
	int32_t code[2];
	fem_octahedral_encode((FemVec3){tangent[0], tangent[1], tangent[2]}, 16383, code);
	put_uint(writer, (uint16_t)code[0], 2);
	put_uint(writer, (uint16_t)(code[1] * 2 + (tangent[3] < 0.0f)), 2);
}

static void write_surface(Writer *writer, const FemRenderSurface *surface) {
	size_t count = (size_t)surface->vertex_count;
	begin_chunk(writer, FEM_TAG_SURFACE);
	put_text(writer, surface->name);
	put_text(writer, surface->material);
	put_uint(writer, (uint32_t)surface->vertex_count, 4);
	put_uint(writer, (uint32_t)surface->index_count, 4);
	put_uint(writer, surface->attributes, 4);
	for (size_t v = 0; v < count; v++)
		put_floats(writer, &surface->positions[v].x, 3);
	for (size_t v = 0; surface->normals && v < count; v++)
		put_normal(writer, surface->normals[v]);
	for (size_t v = 0; surface->tangents && v < count; v++)
		put_tangent(writer, surface->tangents[v]);
	for (size_t v = 0; surface->uvs && v < count; v++)
		put_floats(writer, surface->uvs[v], 2);
	for (size_t v = 0; surface->uvs2 && v < count; v++)
		put_floats(writer, surface->uvs2[v], 2);
	for (size_t i = 0; surface->colors && i < 4 * count; i++)
		put_uint(writer, surface->colors[i / 4][i % 4], 1);
	put_indices(writer, surface->indices, (size_t)surface->index_count, surface->vertex_count);
	end_chunk(writer);
}

// ----------------------------------------------------------------------------------------------------------- embedding

static bool weights_within(const FemBakedEmbedding *embedding, double low, double high) {
	for (int32_t i = 0; i < embedding->count; i++) {
		for (int v = 0; v < 3; v++) {
			double weight = (double)embedding->weights[i][v];
			if (!(weight >= low && weight <= high))
				return false;
		}
	}
	return true;
}

static uint64_t choose_form(const FemBakedEmbedding *embedding) {
	for (uint64_t form = 1; form < FEM_WEIGHT_FORMS; form++) {
		if (weights_within(embedding, fem_weight_low(form), fem_weight_low(form) + fem_weight_span(form)))
			return form;
	}
	return 0;
}

static uint64_t steps_of(uint64_t form, float weight) {
	return (uint64_t)llrint(((double)weight - fem_weight_low(form)) / fem_weight_span(form) * FEM_WEIGHT_STEPS);
}

// The last weight is 1 minus the others.
static void write_embedding(Writer *writer, const FemBakedEmbedding *embedding, int32_t tet_count) {
	if (embedding->count == 0)
		return;
	uint64_t form = choose_form(embedding);
	begin_chunk(writer, FEM_TAG_EMBEDDING);
	put_uint(writer, (uint32_t)embedding->count, 4);
	put_uint(writer, form, 1);
	put_indices(writer, embedding->tets, (size_t)embedding->count, tet_count);
	for (int32_t i = 0; i < embedding->count; i++) {
		const float *w = embedding->weights[i];
		if (form)
			put_uint(writer, steps_of(form, w[0]) | steps_of(form, w[1]) << 21 | steps_of(form, w[2]) << 42, 8);
		else
			put_floats(writer, w, 3);
	}
	end_chunk(writer);
}

static void write_report(Writer *writer, const FemBakedMesh *mesh) {
	if (!mesh->report)
		return;
	begin_chunk_with(writer, FEM_TAG_REPORT, 0);
	for (int32_t i = 0; i + 1 < mesh->report_size; i++)
		put_uint(writer, (uint8_t)mesh->report[i], 1);
	end_chunk(writer);
}

static void write_all(Writer *writer, const FemBakedMesh *mesh) {
	writer->at = FEM_BAKED_HEADER_SIZE;
	write_nodes_and_tets(writer, &mesh->tet_mesh);
	write_regions(writer, &mesh->tet_mesh);
	write_plates(writer, &mesh->tet_mesh);
	write_names(writer, mesh);
	for (int32_t i = 0; i < mesh->render.surface_count; i++)
		write_surface(writer, &mesh->render.surfaces[i]);
	write_embedding(writer, &mesh->embedding, mesh->tet_mesh.tet_count);
	write_report(writer, mesh);
}

size_t fem_baked_mesh_size(const FemBakedMesh *mesh) {
	Writer writer = {0};
	write_all(&writer, mesh);
	return writer.at;
}

void fem_baked_mesh_write(const FemBakedMesh *mesh, void *out, size_t size) {
	Writer writer = {.out = out};
	write_all(&writer, mesh);
	writer.at = 8;
	put_uint(&writer, FEM_BAKED_VERSION, 4);
	put_uint(&writer, writer.chunk_count, 4);
	memcpy(out, fem_baked_magic, sizeof fem_baked_magic);
	fem_baked_mesh_seal(out, size);
}
