// Reading a baked mesh. Nothing in it is believed: sizes are held against the bytes that are there before memory is
// taken, and the finished mesh is checked as one from a stranger.
#include "baking/baked_reader.h"
#include "base/file_name.h"
#include "base/memory.h"

// ---- tets

static FemResult read_nodes(FemBakedReader *reader) {
	FemTetArrays *mesh = &reader->mesh->tet_mesh;
	int32_t count;
	if (mesh->nodes || !take_count(reader, sizeof(FemVec3), &count))
		return fail_damaged(reader, "a wrong count");
	mesh->nodes = FEM_ALLOC_ARRAY(FemVec3, count);
	mesh->node_count = count;
	if (!mesh->nodes)
		return fail_memory(reader);
	for (int32_t i = 0; i < count; i++)
		take_floats(reader, &mesh->nodes[i].x, 3);
	return FEM_OK;
}

static FemResult read_tets(FemBakedReader *reader) {
	FemTetArrays *mesh = &reader->mesh->tet_mesh;
	int32_t count;
	if (mesh->tets || !mesh->nodes || !take_count(reader, 4 * (size_t)fem_index_width(mesh->node_count), &count))
		return fail_damaged(reader, "a wrong count");
	mesh->tets = FEM_ALLOC_ARRAY(int32_t, 4 * (size_t)count);
	mesh->tet_regions = FEM_ALLOC_ARRAY(int32_t, count); // all 0 unless a section says otherwise
	mesh->tet_count = count;
	if (!mesh->tets || !mesh->tet_regions)
		return fail_memory(reader);
	return take_indices(reader, mesh->tets, 4 * (size_t)count, mesh->node_count)
		? FEM_OK
		: fail_damaged(reader, "a node that is not there");
}

static FemResult read_regions(FemBakedReader *reader) {
	FemTetArrays *mesh = &reader->mesh->tet_mesh;
	if (!mesh->tets || fem_bytes_left(&reader->bytes) < (size_t)mesh->tet_count)
		return fail_damaged(reader, "too few regions");
	for (int32_t t = 0; t < mesh->tet_count; t++)
		mesh->tet_regions[t] = (int32_t)fem_bytes_uint(&reader->bytes, 1);
	return FEM_OK;
}

static FemResult read_plates(FemBakedReader *reader) {
	FemTetArrays *mesh = &reader->mesh->tet_mesh;
	float strengths[255];
	uint64_t count = fem_bytes_uint(&reader->bytes, 1);
	size_t needed = count ? 4 * (size_t)count + (size_t)mesh->tet_count : 4 * (size_t)mesh->tet_count;
	if (!mesh->tets || mesh->tet_plates || fem_bytes_left(&reader->bytes) < needed)
		return fail_damaged(reader, "too few strengths");
	mesh->tet_plates = FEM_ALLOC_ARRAY(float, mesh->tet_count);
	if (!mesh->tet_plates)
		return fail_memory(reader);
	take_floats(reader, strengths, (size_t)count);
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		uint64_t index = count ? fem_bytes_uint(&reader->bytes, 1) : 0;
		if (count && index >= count)
			return fail_damaged(reader, "a strength that is not there");
		mesh->tet_plates[t] = count ? strengths[index] : fem_bytes_float(&reader->bytes);
	}
	return FEM_OK;
}

// Whether it makes sense is seen with the tets.
static FemResult read_stretch(FemBakedReader *reader) {
	take_floats(reader, &reader->mesh->tet_mesh.stretch.x, 3);
	return FEM_OK;
}

static FemResult read_names(FemBakedReader *reader) {
	FemBakedMesh *mesh = reader->mesh;
	int32_t count;
	if (mesh->region_names || !take_count(reader, 2, &count) || count > FEM_REGION_MAX)
		return fail_damaged(reader, "a wrong count");
	mesh->region_names = FEM_ALLOC_ARRAY(FemRegionName, count);
	mesh->region_name_count = count;
	if (!mesh->region_names)
		return fail_memory(reader);
	for (int32_t i = 0; i < count; i++) {
		if (!take_text(reader, mesh->region_names[i].name, sizeof mesh->region_names[i].name))
			return fail_damaged(reader, "a bad name");
	}
	return FEM_OK;
}

// ---- surfaces

static size_t bytes_a_vertex(uint32_t attributes) {
	return 12 + (attributes & FEM_ATTRIBUTE_NORMAL ? 4u : 0u) + (attributes & FEM_ATTRIBUTE_TANGENT ? 4u : 0u) +
		(attributes & FEM_ATTRIBUTE_UV ? 8u : 0u) + (attributes & FEM_ATTRIBUTE_UV2 ? 8u : 0u) +
		(attributes & FEM_ATTRIBUTE_COLOR ? 4u : 0u);
}

static FemResult take_arrays(FemBakedReader *reader, FemRenderSurface *surface) {
	size_t count = (size_t)surface->vertex_count;
	for (size_t v = 0; v < count; v++)
		take_floats(reader, &surface->positions[v].x, 3);
	for (size_t v = 0; surface->normals && v < count; v++)
		take_normal(reader, &surface->normals[v]);
	for (size_t v = 0; surface->tangents && v < count; v++)
		take_tangent(reader, surface->tangents[v]);
	for (size_t v = 0; surface->uvs && v < count; v++)
		take_floats(reader, surface->uvs[v], 2);
	for (size_t v = 0; surface->uvs2 && v < count; v++)
		take_floats(reader, surface->uvs2[v], 2);
	for (size_t i = 0; surface->colors && i < 4 * count; i++)
		surface->colors[i / 4][i % 4] = (uint8_t)fem_bytes_uint(&reader->bytes, 1);
	if (!take_indices(reader, surface->indices, (size_t)surface->index_count, surface->vertex_count))
		return fail_damaged(reader, "a vertex that is not there");
	return FEM_OK;
}

static FemResult read_surface(FemBakedReader *reader) {
	char name[FEM_SURFACE_NAME_SIZE] = "", material[FEM_MATERIAL_NAME_SIZE] = "";
	if (!take_text(reader, name, sizeof name) || !take_text(reader, material, sizeof material))
		return fail_damaged(reader, "a bad name");
	uint64_t vertices = fem_bytes_uint(&reader->bytes, 4), indices = fem_bytes_uint(&reader->bytes, 4);
	uint32_t attributes = (uint32_t)fem_bytes_uint(&reader->bytes, 4);
	uint64_t needed = vertices * bytes_a_vertex(attributes) + indices * (uint64_t)fem_index_width((int64_t)vertices);
	if (reader->bytes.failed || vertices < 3 || vertices > INT32_MAX || indices < 3 || indices > INT32_MAX ||
		attributes > FEM_ATTRIBUTE_ALL || needed > fem_bytes_left(&reader->bytes))
		return fail_damaged(reader, "a wrong count");
	FemRenderSurface *surface = fem_render_mesh_add(&reader->mesh->render, name, material);
	if (!surface)
		return fem_fail(
			FEM_ERROR_LIMIT, "%.60s has more than %d surfaces: join some of them.", reader->name, FEM_SURFACE_MAX);
	if (!fem_render_surface_reserve(surface, (int32_t)vertices, (int32_t)indices, attributes))
		return fail_memory(reader);
	return take_arrays(reader, surface);
}

// ---- embedding

static FemResult read_embedding(FemBakedReader *reader) {
	FemBakedEmbedding *embedding = &reader->mesh->embedding;
	int32_t tet_count = reader->mesh->tet_mesh.tet_count, count;
	if (embedding->tets || tet_count == 0 || !take_count(reader, (size_t)fem_index_width(tet_count) + 8, &count))
		return fail_damaged(reader, "a wrong count");
	uint64_t form = fem_bytes_uint(&reader->bytes, 1);
	size_t needed = (size_t)count * ((size_t)fem_index_width(tet_count) + (form ? 8 : 12));
	if (form >= FEM_WEIGHT_FORMS || needed > fem_bytes_left(&reader->bytes))
		return fail_damaged(reader, "a wrong count");
	if (!fem_baked_embedding_reserve(embedding, count))
		return fail_memory(reader);
	if (!take_indices(reader, embedding->tets, (size_t)count, tet_count))
		return fail_damaged(reader, "a tet that is not there");
	for (int32_t i = 0; i < count; i++)
		take_weights(reader, form, embedding->weights[i]);
	return FEM_OK;
}

// ---- report

static FemResult read_report(FemBakedReader *reader) {
	char text[FEM_REPORT_SIZE];
	size_t size = fem_bytes_left(&reader->bytes);
	if (reader->mesh->report || size >= sizeof text)
		return fail_damaged(reader, "a wrong count");
	memcpy(text, reader->bytes.at, size);
	text[size] = 0;
	for (size_t i = 0; i < size; i++)
		if ((text[i] < ' ' || text[i] > '~') && text[i] != '\n')
			return fail_damaged(reader, "a bad text");
	reader->bytes.at += size;
	return fem_baked_mesh_set_report(reader->mesh, text) ? FEM_OK : fail_memory(reader);
}

// ---- sections

static FemResult read_content(FemBakedReader *reader, uint32_t tag, uint32_t flags) {
	switch (tag) {
	case FEM_TAG_NODES: return read_nodes(reader);
	case FEM_TAG_TETS: return read_tets(reader);
	case FEM_TAG_REGIONS: return read_regions(reader);
	case FEM_TAG_PLATES: return read_plates(reader);
	case FEM_TAG_STRETCH: return read_stretch(reader);
	case FEM_TAG_NAMES: return read_names(reader);
	case FEM_TAG_SURFACE: return read_surface(reader);
	case FEM_TAG_EMBEDDING: return read_embedding(reader);
	case FEM_TAG_REPORT: return read_report(reader);
	case FEM_TAG_SPLINTERS: return fem_baked_read_splinters(reader);
	case FEM_TAG_MODES: return fem_baked_read_modes(reader);
	}
	reader->bytes.at = reader->bytes.end;
	if (flags & FEM_BAKED_REQUIRED)
		return fem_fail(FEM_ERROR_FORMAT,
			"%.60s needs a newer version of fem_destruction (chunk %s is unknown): update the addon.", reader->name,
			reader->tag);
	return FEM_OK;
}

static void name_tag(FemBakedReader *reader, uint32_t tag) {
	for (int i = 0; i < 4; i++) {
		char c = (char)(tag >> 8 * i & 0x7f);
		reader->tag[i] = c < ' ' || c > '~' ? '?' : c;
	}
}

static FemResult read_section(FemBakedReader *reader, FemBytes *rest) {
	uint32_t tag = (uint32_t)fem_bytes_uint(rest, 4), flags = (uint32_t)fem_bytes_uint(rest, 4);
	uint64_t size = fem_bytes_uint(rest, 8);
	name_tag(reader, tag);
	if (rest->failed || size > fem_bytes_left(rest))
		return fail_damaged(reader, "the block ends");
	reader->bytes = (FemBytes){.at = rest->at, .end = rest->at + size};
	rest->at += size;
	FemResult result = read_content(reader, tag, flags);
	if (result == FEM_OK && (reader->bytes.failed || reader->bytes.at != reader->bytes.end))
		result = fail_damaged(reader, "a wrong size");
	return result;
}

static FemResult check_header(const FemBakedReader *reader, const uint8_t *bytes, size_t size, uint32_t *out_sections) {
	if (!fem_baked_mesh_is(bytes, size))
		return fem_fail(
			FEM_ERROR_FORMAT, "%.60s is no baked mesh: bake one with fem_bake or in the editor.", reader->name);
	FemBytes header = {.at = bytes + 8, .end = bytes + size};
	uint64_t version = fem_bytes_uint(&header, 4), sections = fem_bytes_uint(&header, 4);
	uint64_t written = fem_bytes_uint(&header, 8), checksum = fem_bytes_uint(&header, 8);
	if (!header.failed && version > FEM_BAKED_VERSION)
		return fem_fail(FEM_ERROR_FORMAT,
			"%.60s is of format %.0f, and this version of fem_destruction reads up to %d: update the addon.",
			reader->name, (double)version, FEM_BAKED_VERSION);
	if (header.failed || written > size)
		return fem_fail(FEM_ERROR_FORMAT, "%.60s is cut short: copy it again or bake the mesh again.", reader->name);
	if (version == 0 || written < size || checksum != fem_baked_checksum(bytes, size))
		return fem_fail(FEM_ERROR_FORMAT,
			"%.60s is damaged (its checksum is wrong): copy it again or bake the mesh again.", reader->name);
	*out_sections = (uint32_t)sections;
	return FEM_OK;
}

static FemResult read_sections(FemBakedReader *reader, FemBytes rest, uint32_t sections) {
	FemResult result = FEM_OK;
	for (uint32_t i = 0; result == FEM_OK && i < sections; i++)
		result = read_section(reader, &rest);
	if (result == FEM_OK && rest.at != rest.end)
		result = fail_damaged(reader, "something behind it");
	if (result == FEM_OK && !reader->mesh->tet_mesh.tets)
		result = fem_fail(FEM_ERROR_FORMAT, "%.60s holds no tets: bake the mesh again.", reader->name);
	return result;
}

FemResult fem_baked_mesh_read(const char *name, const void *bytes, size_t size, FemBakedMesh *out) {
	FemBakedReader reader = {.mesh = out, .name = fem_file_name(name ? name : "The baked mesh"), .tag = "?"};
	uint32_t sections = 0;
	*out = (FemBakedMesh){0};
	FemResult result = check_header(&reader, bytes, size, &sections);
	if (result != FEM_OK)
		return result;
	const uint8_t *start = bytes;
	result = read_sections(&reader, (FemBytes){.at = start + FEM_BAKED_HEADER_SIZE, .end = start + size}, sections);
	if (result == FEM_OK)
		result = fem_baked_mesh_check(out, reader.name);
	if (result != FEM_OK)
		fem_baked_mesh_free(out);
	return result;
}
