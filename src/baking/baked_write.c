// Writing a baked mesh. The same walk measures (no bytes given) and writes, so that they cannot disagree.
#include "baking/baked_writer.h"
#include "baking/stretch.h"

// ---- tets

static void write_nodes_and_tets(FemBakedWriter *writer, const FemTetArrays *mesh) {
	begin_section(writer, FEM_TAG_NODES);
	put_uint(writer, (uint32_t)mesh->node_count, 4);
	for (int32_t i = 0; i < mesh->node_count; i++)
		put_floats(writer, &mesh->nodes[i].x, 3);
	end_section(writer);
	begin_section(writer, FEM_TAG_TETS);
	put_uint(writer, (uint32_t)mesh->tet_count, 4);
	put_indices(writer, mesh->tets, 4 * (size_t)mesh->tet_count, mesh->node_count);
	end_section(writer);
}

static void write_regions(FemBakedWriter *writer, const FemTetArrays *mesh) {
	bool any = false;
	for (int32_t t = 0; mesh->tet_regions && t < mesh->tet_count; t++)
		any = any || mesh->tet_regions[t] != 0;
	if (!any)
		return;
	begin_section(writer, FEM_TAG_REGIONS);
	for (int32_t t = 0; t < mesh->tet_count; t++)
		put_uint(writer, (uint32_t)mesh->tet_regions[t], 1);
	end_section(writer);
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

static void write_plates(FemBakedWriter *writer, const FemTetArrays *mesh) {
	float strengths[255] = {0.0f};
	if (!mesh->tet_plates)
		return;
	int count = collect_strengths(mesh, strengths);
	if (count == 1 && strengths[0] == 0.0f)
		return;
	begin_section(writer, FEM_TAG_PLATES);
	put_uint(writer, (uint32_t)count, 1);
	put_floats(writer, strengths, (size_t)count);
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		if (count)
			put_uint(writer, (uint32_t)place_of(strengths, mesh->tet_plates[t]), 1);
		else
			put_float(writer, mesh->tet_plates[t]);
	}
	end_section(writer);
}

static void write_stretch(FemBakedWriter *writer, const FemTetArrays *mesh) {
	if (fem_stretch_is_one(fem_stretch_or_one(mesh->stretch)))
		return;
	begin_section(writer, FEM_TAG_STRETCH);
	put_floats(writer, &mesh->stretch.x, 3);
	end_section(writer);
}

static void write_names(FemBakedWriter *writer, const FemBakedMesh *mesh) {
	if (mesh->region_name_count == 0)
		return;
	begin_section(writer, FEM_TAG_NAMES);
	put_uint(writer, (uint32_t)mesh->region_name_count, 4);
	for (int32_t i = 0; i < mesh->region_name_count; i++)
		put_text(writer, mesh->region_names[i].name);
	end_section(writer);
}

// ---- surfaces

static void write_surface(FemBakedWriter *writer, const FemRenderSurface *surface) {
	size_t count = (size_t)surface->vertex_count;
	begin_section(writer, FEM_TAG_SURFACE);
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
	end_section(writer);
}

// ---- embedding

static void write_embedding(FemBakedWriter *writer, const FemBakedEmbedding *embedding, int32_t tet_count) {
	if (embedding->count == 0)
		return;
	uint64_t form = choose_form(embedding->weights, embedding->count);
	begin_section(writer, FEM_TAG_EMBEDDING);
	put_uint(writer, (uint32_t)embedding->count, 4);
	put_uint(writer, form, 1);
	put_indices(writer, embedding->tets, (size_t)embedding->count, tet_count);
	put_weights(writer, form, embedding->weights, embedding->count);
	end_section(writer);
}

static void write_report(FemBakedWriter *writer, const FemBakedMesh *mesh) {
	if (!mesh->report)
		return;
	begin_section_with(writer, FEM_TAG_REPORT, 0);
	for (int32_t i = 0; i + 1 < mesh->report_size; i++)
		put_uint(writer, (uint8_t)mesh->report[i], 1);
	end_section(writer);
}

static void write_all(FemBakedWriter *writer, const FemBakedMesh *mesh) {
	writer->at = FEM_BAKED_HEADER_SIZE;
	write_nodes_and_tets(writer, &mesh->tet_mesh);
	write_regions(writer, &mesh->tet_mesh);
	write_plates(writer, &mesh->tet_mesh);
	write_stretch(writer, &mesh->tet_mesh);
	write_names(writer, mesh);
	for (int32_t i = 0; i < mesh->render.surface_count; i++)
		write_surface(writer, &mesh->render.surfaces[i]);
	write_embedding(writer, &mesh->embedding, mesh->tet_mesh.tet_count);
	fem_baked_write_splinters(writer, mesh);
	fem_baked_write_modes(writer, &mesh->modes);
	write_report(writer, mesh);
}

size_t fem_baked_mesh_size(const FemBakedMesh *mesh) {
	FemBakedWriter writer = {0};
	write_all(&writer, mesh);
	return writer.at;
}

void fem_baked_mesh_write(const FemBakedMesh *mesh, void *out, size_t size) {
	FemBakedWriter writer = {.out = out};
	write_all(&writer, mesh);
	writer.at = 8;
	put_uint(&writer, FEM_BAKED_VERSION, 4);
	put_uint(&writer, writer.section_count, 4);
	memcpy(out, fem_baked_magic, sizeof fem_baked_magic);
	fem_baked_mesh_seal(out, size);
}
