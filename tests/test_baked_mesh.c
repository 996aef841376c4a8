// The block of bytes that a baked mesh is stored in.
#include "base/error.h"
#include "base/memory.h"
#include "fem_bake/files/baked_file.h"
#include "fem_bake/files/file_bytes.h"
#include "fem_test.h"
#include "mesh_files.h"
#include "scenes/box_mesh.h"

#include <stdlib.h>

// A box with two regions, plates, two surfaces (one with all attributes, one with none) and weights of all sizes.
static FemBakedMesh make_mesh(int32_t cells, bool plates) {
	FemBakedMesh mesh = {0};
	FemBoxMesh box = fem_box_mesh(cells, cells, cells, (FemVec3){1, 2, 3}, FEM_CELLS_KUHN);
	mesh.tet_mesh = (FemTetArrays){.node_count = box.node_count, .tet_count = box.tet_count};
	mesh.tet_mesh.nodes = FEM_ALLOC_ARRAY(FemVec3, box.node_count);
	mesh.tet_mesh.tets = FEM_ALLOC_ARRAY(int32_t, 4 * (size_t)box.tet_count);
	mesh.tet_mesh.tet_regions = FEM_ALLOC_ARRAY(int32_t, box.tet_count);
	mesh.tet_mesh.tet_plates = plates ? FEM_ALLOC_ARRAY(float, box.tet_count) : NULL;
	memcpy(mesh.tet_mesh.nodes, box.positions, sizeof(FemVec3) * (size_t)box.node_count);
	memcpy(mesh.tet_mesh.tets, box.tets, 4 * sizeof(int32_t) * (size_t)box.tet_count);
	for (int32_t t = 0; t < box.tet_count; t++) {
		mesh.tet_mesh.tet_regions[t] = t % 2;
		if (plates)
			mesh.tet_mesh.tet_plates[t] = (float)(t % 3) * 0.5f;
	}
	fem_box_mesh_free(&box);
	mesh.region_name_count = 2;
	mesh.region_names = FEM_ALLOC_ARRAY(FemRegionName, 2);
	snprintf(mesh.region_names[0].name, FEM_REGION_NAME_SIZE, "wood");
	snprintf(mesh.region_names[1].name, FEM_REGION_NAME_SIZE, "Stahl \xc3\xa4");
	return mesh;
}

static float noise(uint32_t *state) {
	*state = *state * 1664525u + 1013904223u;
	return (float)(*state >> 8) / 8388608.0f - 1.0f;
}

static void fill_vertex(FemRenderSurface *surface, int32_t v, uint32_t *state) {
	FemVec3 n = {noise(state), noise(state), noise(state)};
	float length = sqrtf(n.x * n.x + n.y * n.y + n.z * n.z);
	surface->positions[v] = (FemVec3){noise(state), noise(state), noise(state)};
	if (!surface->normals)
		return;
	surface->normals[v] = (FemVec3){n.x / length, n.y / length, n.z / length};
	memcpy(surface->tangents[v], (float[4]){n.y / length, -n.z / length, n.x / length, v % 2 ? 1.0f : -1.0f},
		sizeof(float[4]));
	memcpy(surface->uvs[v], (float[2]){noise(state), 5.0f * noise(state)}, sizeof(float[2]));
	memcpy(surface->uvs2[v], (float[2]){noise(state), noise(state)}, sizeof(float[2]));
	memcpy(surface->colors[v], (uint8_t[4]){(uint8_t)v, 1, 2, 255}, 4);
}

static void add_surface(FemBakedMesh *mesh, const char *name, int32_t vertices, uint32_t attributes) {
	uint32_t state = (uint32_t)vertices;
	FemRenderSurface *surface = fem_render_mesh_add(&mesh->render, name, "res://materials/a.tres");
	fem_render_surface_reserve(surface, vertices, 6 * vertices, attributes);
	for (int32_t v = 0; v < vertices; v++)
		fill_vertex(surface, v, &state);
	for (int32_t i = 0; i < surface->index_count; i++)
		surface->indices[i] = i % vertices;
}

// The first three weights within -reach..reach.
static void embed(FemBakedMesh *mesh, float reach) {
	uint32_t state = 7;
	int32_t count = (int32_t)fem_render_mesh_vertex_count(&mesh->render);
	FEM_CHECK(fem_baked_embedding_reserve(&mesh->embedding, count));
	for (int32_t i = 0; i < count; i++) {
		float *w = mesh->embedding.weights[i];
		mesh->embedding.tets[i] = (i * 7) % mesh->tet_mesh.tet_count;
		for (int v = 0; v < 3; v++)
			w[v] = noise(&state) * reach;
		w[3] = 1.0f - (w[0] + w[1] + w[2]);
	}
}

static FemBakedMesh make_full(int32_t cells, float reach) {
	FemBakedMesh mesh = make_mesh(cells, true);
	add_surface(&mesh, "shell", 40, FEM_ATTRIBUTE_ALL);
	add_surface(&mesh, "", cells == 1 ? 20 : 300, 0); // over 256: numbers of 2 bytes
	embed(&mesh, reach);
	FEM_CHECK(fem_baked_mesh_set_report(&mesh, "Parts: 1 compact.\nNote: small.\nThe surface has holes: fill them.\n"));
	return mesh;
}

static FemTestFile to_bytes(const FemBakedMesh *mesh) {
	FemTestFile file = {.size = fem_baked_mesh_size(mesh)};
	file.bytes = malloc(file.size);
	fem_baked_mesh_write(mesh, file.bytes, file.size);
	return file;
}

// ---- round trips

static void check_surface(const FemRenderSurface *a, const FemRenderSurface *b) {
	FEM_CHECK(strcmp(a->name, b->name) == 0 && strcmp(a->material, b->material) == 0);
	FEM_CHECK_INT(a->vertex_count, b->vertex_count);
	FEM_CHECK_INT(a->index_count, b->index_count);
	FEM_CHECK_INT(a->attributes, b->attributes);
	size_t count = (size_t)a->vertex_count;
	FEM_CHECK(memcmp(a->positions, b->positions, sizeof *a->positions * count) == 0);
	FEM_CHECK(memcmp(a->indices, b->indices, sizeof *a->indices * (size_t)a->index_count) == 0);
	if (!a->normals)
		return;
	FEM_CHECK(memcmp(a->uvs, b->uvs, sizeof *a->uvs * count) == 0);
	FEM_CHECK(memcmp(a->uvs2, b->uvs2, sizeof *a->uvs2 * count) == 0);
	FEM_CHECK(memcmp(a->colors, b->colors, sizeof *a->colors * count) == 0);
	for (size_t v = 0; v < count; v++) {
		FEM_CHECK_NEAR(a->normals[v].x, b->normals[v].x, 1e-4);
		FEM_CHECK_NEAR(a->normals[v].y, b->normals[v].y, 1e-4);
		FEM_CHECK_NEAR(a->normals[v].z, b->normals[v].z, 1e-4);
		for (int i = 0; i < 3; i++)
			FEM_CHECK_NEAR(a->tangents[v][i], b->tangents[v][i], 2e-4);
		FEM_CHECK(a->tangents[v][3] == b->tangents[v][3]);
	}
}

static void check_same(const FemBakedMesh *a, const FemBakedMesh *b, float weight_error) {
	const FemTetArrays *x = &a->tet_mesh, *y = &b->tet_mesh;
	FEM_REQUIRE(x->node_count == y->node_count && x->tet_count == y->tet_count);
	FEM_CHECK(memcmp(x->nodes, y->nodes, sizeof *x->nodes * (size_t)x->node_count) == 0);
	FEM_CHECK(memcmp(x->tets, y->tets, 4 * sizeof *x->tets * (size_t)x->tet_count) == 0);
	FEM_CHECK(memcmp(x->tet_regions, y->tet_regions, sizeof *x->tet_regions * (size_t)x->tet_count) == 0);
	FEM_CHECK(!x->tet_plates == !y->tet_plates);
	if (x->tet_plates && y->tet_plates)
		FEM_CHECK(memcmp(x->tet_plates, y->tet_plates, sizeof *x->tet_plates * (size_t)x->tet_count) == 0);
	FEM_CHECK_INT(a->region_name_count, b->region_name_count);
	FEM_CHECK(strcmp(a->region_names[1].name, b->region_names[1].name) == 0);
	FEM_CHECK(!a->report == !b->report && (!a->report || strcmp(a->report, b->report) == 0));
	FEM_REQUIRE(a->render.surface_count == b->render.surface_count);
	for (int32_t i = 0; i < a->render.surface_count; i++)
		check_surface(&a->render.surfaces[i], &b->render.surfaces[i]);
	FEM_REQUIRE(a->embedding.count == b->embedding.count);
	for (int32_t i = 0; i < a->embedding.count; i++) {
		FEM_CHECK_INT(a->embedding.tets[i], b->embedding.tets[i]);
		for (int v = 0; v < 4; v++)
			FEM_CHECK_NEAR(
				a->embedding.weights[i][v], b->embedding.weights[i][v], v == 3 ? 4.0f * weight_error : weight_error);
	}
}

static void check_round_trip(FemBakedMesh mesh, float weight_error) {
	FemBakedMesh back, again;
	FemTestFile bytes = to_bytes(&mesh);
	FemResult result = fem_baked_mesh_read("m", bytes.bytes, bytes.size, &back);
	if (fem_test_check(result == FEM_OK, __FILE__, __LINE__, "%s", fem_last_error())) {
		check_same(&mesh, &back, weight_error);
		// What was read is written alike, and again: quantised numbers do not drift.
		FemTestFile second = to_bytes(&back);
		FEM_CHECK(fem_baked_mesh_read("m", second.bytes, second.size, &again) == FEM_OK);
		FemTestFile third = to_bytes(&again);
		FEM_CHECK(second.size == bytes.size && third.size == second.size &&
			memcmp(second.bytes, third.bytes, third.size) == 0);
		fem_baked_mesh_free(&again);
		fem_test_file_free(&second);
		fem_test_file_free(&third);
	}
	fem_baked_mesh_free(&back);
	fem_baked_mesh_free(&mesh);
	fem_test_file_free(&bytes);
}

FEM_TEST(baked_mesh, round_trip) {
	int64_t before = fem_memory_bytes();
	check_round_trip(make_full(3, 0.9f), 1e-6f);
	check_round_trip(make_full(3, 3.9f), 3e-6f);
	check_round_trip(make_full(3, 30.0f), 1e-5f); // kept as floats
	check_round_trip(make_mesh(1, false), 0.0f);
	check_round_trip(make_full(42, 0.9f), 1e-6f); // over 65536 nodes and tets: numbers of 3 bytes
	FEM_CHECK(fem_memory_bytes() == before);
}

// ---- modes

static void compute_modes(FemBakedMesh *mesh) {
	const FemModeMaterial glass = {7e10f, 0.22f, 2500.0f};
	FemModesDef def = fem_default_modes_def();
	def.node_count = mesh->tet_mesh.node_count;
	def.node_positions = mesh->tet_mesh.nodes;
	def.tet_count = mesh->tet_mesh.tet_count;
	def.tets = mesh->tet_mesh.tets;
	def.materials = &glass;
	def.material_count = 1;
	def.mode_count = 5;
	def.frequency_max = 0.0f;
	FEM_CHECK_INT(fem_modes_compute(&def, &mesh->modes), FEM_OK);
}

FEM_TEST(baked_mesh, modes_are_kept) {
	FemBakedMesh mesh = make_mesh(2, false), back;
	compute_modes(&mesh);
	FemTestFile bytes = to_bytes(&mesh);
	FEM_REQUIRE(fem_baked_mesh_read("m", bytes.bytes, bytes.size, &back) == FEM_OK);
	const FemModes *a = &mesh.modes, *b = &back.modes;
	FEM_REQUIRE(b->mode_count == 5 && b->node_count == a->node_count);
	FEM_CHECK_INT(b->rigid_count, 6);
	FEM_CHECK(memcmp(a->eigenvalues, b->eigenvalues, 5 * sizeof(double)) == 0);
	FEM_CHECK(memcmp(a->radiation, b->radiation, 5 * sizeof(float)) == 0 && b->material.density == 2500.0f);
	for (int k = 0; k < 5; k++) {
		float largest = 0.0f;
		for (int i = 0; i < 3 * a->node_count; i++)
			largest = fmaxf(largest, fabsf(a->shapes[k * 3 * a->node_count + i]));
		for (int i = k * 3 * a->node_count; i < (k + 1) * 3 * a->node_count; i++)
			FEM_CHECK_NEAR(b->shapes[i], a->shapes[i], 2e-5 * (double)largest);
	}
	// Damaged ones, behind the checksum, are refused and harm nothing.
	for (size_t at = bytes.size - 200; at < bytes.size; at++) {
		FemBakedMesh other;
		bytes.bytes[at] ^= 0xff;
		fem_baked_mesh_seal(bytes.bytes, bytes.size);
		if (fem_baked_mesh_read("m", bytes.bytes, bytes.size, &other) == FEM_OK)
			fem_baked_mesh_free(&other);
		bytes.bytes[at] ^= 0xff;
	}
	fem_baked_mesh_free(&back);
	mesh.modes.eigenvalues[1] = NAN;
	FEM_CHECK_INT(fem_baked_mesh_check(&mesh, "m"), FEM_ERROR_MESH);
	mesh.modes.eigenvalues[1] = 1.0;
	mesh.modes.shapes[4] = INFINITY;
	FEM_CHECK_INT(fem_baked_mesh_check(&mesh, "m"), FEM_ERROR_MESH);
	fem_baked_mesh_free(&mesh);
	fem_test_file_free(&bytes);
}

FEM_TEST(baked_mesh, report_tells_warnings_apart) {
	FemBakedMesh mesh = make_full(1, 0.9f);
	char text[128];
	fem_bake_report_warnings(mesh.report, text, sizeof text);
	FEM_CHECK(strcmp(text, "The surface has holes: fill them.") == 0);
	fem_bake_report_warnings("Parts.\n" FEM_REPORT_GOOD "\n", text, sizeof text);
	FEM_CHECK(text[0] == 0);
	FEM_CHECK_INT(
		fem_bake_report_warnings("Parts.\nfirst\nlonger than there is room\nlast", text, 12), 5 + 1 + 25 + 1 + 4 + 1);
	FEM_CHECK_INT(fem_bake_report_warnings("Parts.\nfirst", NULL, 0), 6);
	FEM_CHECK(strcmp(text, "first\nlast") == 0);
	FEM_CHECK(fem_baked_mesh_set_report(&mesh, "") && mesh.report == NULL);
	fem_baked_mesh_free(&mesh);
}

// A box of tets has 2 triangles on each outer square; each vertex stands on the corner of a tet that it follows.
FEM_TEST(baked_mesh, outer_faces_as_the_only_surface) {
	FemBakedMesh mesh = make_mesh(2, false);
	FEM_CHECK_INT(fem_baked_mesh_add_tet_surface(&mesh), FEM_OK);
	FEM_REQUIRE(mesh.render.surface_count == 1);
	FEM_CHECK_INT(fem_render_mesh_check(&mesh.render, "box"), FEM_OK);
	FEM_CHECK_INT(fem_render_mesh_triangle_count(&mesh.render), 6 * 2 * 2 * 2);
	FEM_CHECK_INT(mesh.embedding.count, fem_render_mesh_vertex_count(&mesh.render));
	for (int32_t i = 0; i < mesh.embedding.count; i++) {
		const float *w = mesh.embedding.weights[i];
		FEM_CHECK_NEAR(w[0] + w[1] + w[2] + w[3], 1.0, 0.0);
	}
	fem_baked_mesh_free(&mesh);
}

FEM_TEST(baked_mesh, many_plate_strengths) {
	FemBakedMesh mesh = make_mesh(4, true);
	for (int32_t t = 0; t < mesh.tet_mesh.tet_count; t++)
		mesh.tet_mesh.tet_plates[t] = (float)t / 64.0f;
	check_round_trip(mesh, 0.0f);
}

// The table of baked_mesh.h.
FEM_TEST(baked_mesh, bytes_a_tet_and_vertex) {
	FemBakedMesh mesh = make_mesh(8, false), more = make_mesh(8, true);
	memset(mesh.tet_mesh.tet_regions, 0, sizeof(int32_t) * (size_t)mesh.tet_mesh.tet_count);
	size_t fixed = 32 + 2 * (16 + 4) + 16 + 4 + 2 * 2 + 4 + 8; // header, NODE, TETS, NAME
	size_t tets = (size_t)mesh.tet_mesh.tet_count, nodes = (size_t)mesh.tet_mesh.node_count;
	FEM_CHECK_INT(fem_baked_mesh_size(&mesh), fixed + 12 * nodes + 8 * tets);
	FEM_CHECK_INT(fem_baked_mesh_size(&more), fixed + 12 * nodes + 10 * tets + 16 + 16 + 1 + 12);
	size_t bare = fem_baked_mesh_size(&mesh);
	add_surface(&mesh, "s", 1000, FEM_ATTRIBUTE_ALL);
	embed(&mesh, 0.9f);
	size_t surface = 16 + 2 + 1 + 2 + strlen("res://materials/a.tres") + 12;
	FEM_CHECK_INT(
		fem_baked_mesh_size(&mesh) - bare, surface + 16 + 5 + 1000 * (12 + 4 + 4 + 8 + 8 + 4 + 2 + 8) + 6000 * 2);
	fem_baked_mesh_free(&mesh);
	fem_baked_mesh_free(&more);
}

static FemResult load(const char *path, FemBakedMesh *out) {
	FemFileBytes file;
	FemResult result = fem_file_read(path, &file);
	if (result == FEM_OK)
		result = fem_baked_mesh_read(path, file.bytes, file.size, out);
	fem_file_free(&file);
	return result;
}

FEM_TEST(baked_mesh, save_and_load) {
	const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : getenv("TEMP") ? getenv("TEMP") : "/tmp";
	char path[512];
	FemBakedMesh mesh = make_full(2, 0.9f), back;
	snprintf(path, sizeof path, "%s/fem_test_baked.femmesh", folder);
	FEM_CHECK(fem_baked_mesh_save(&mesh, path) == FEM_OK);
	FEM_CHECK(load(path, &back) == FEM_OK);
	check_same(&mesh, &back, 1e-6f);
	fem_baked_mesh_free(&back);
	remove(path);
	FEM_CHECK(load(path, &back) != FEM_OK);
	mesh.embedding.weights[0][0] += 0.5f; // no longer 1 in all
	FEM_CHECK(fem_baked_mesh_save(&mesh, path) != FEM_OK);
	mesh.embedding.weights[0][0] = NAN;
	FEM_CHECK(fem_baked_mesh_save(&mesh, path) != FEM_OK);
	FEM_CHECK(load(path, &back) != FEM_OK); // nothing was written
	fem_baked_mesh_free(&mesh);
}

// ---- damage

static void check_refused(const FemTestFile *file, size_t size, const char *word, int line) {
	FemBakedMesh mesh;
	int64_t before = fem_memory_bytes();
	FemResult result = fem_baked_mesh_read("folder/m.femmesh", file->bytes, size, &mesh);
	fem_test_check(result != FEM_OK && strstr(fem_last_error(), "m.femmesh") && strstr(fem_last_error(), word),
		__FILE__, line, "\"%s\" lacks \"%s\"", result == FEM_OK ? "(was read)" : fem_last_error(), word);
	FEM_CHECK(fem_memory_bytes() == before && !mesh.tet_mesh.nodes);
}

FEM_TEST(baked_mesh, truncated_at_every_byte) {
	FemBakedMesh mesh = make_full(1, 0.9f);
	FemTestFile file = to_bytes(&mesh);
	for (size_t size = 0; size < file.size; size++) {
		FemTestFile exact = {.bytes = malloc(size ? size : 1)};
		memcpy(exact.bytes, file.bytes, size);
		check_refused(&exact, size, size < 8 ? "no baked mesh" : "cut short", __LINE__);
		if (size >= 32) { // also with a header that says so
			fem_baked_mesh_seal(exact.bytes, size);
			check_refused(&exact, size, "", __LINE__);
		}
		fem_test_file_free(&exact);
	}
	fem_baked_mesh_free(&mesh);
	fem_test_file_free(&file);
}

// Every single bit is guarded by the checksum; and without it nothing bad comes through.
FEM_TEST(baked_mesh, flipped_bits) {
	FemBakedMesh mesh = make_full(1, 0.9f), back;
	FemTestFile file = to_bytes(&mesh), copy = to_bytes(&mesh);
	for (size_t bit = 0; bit < 8 * file.size; bit++) {
		copy.bytes[bit / 8] ^= (char)(1u << bit % 8);
		FEM_CHECK(fem_baked_mesh_read("m", copy.bytes, copy.size, &back) != FEM_OK);
		fem_baked_mesh_seal(copy.bytes, copy.size);
		if (fem_baked_mesh_read("m", copy.bytes, copy.size, &back) == FEM_OK)
			FEM_CHECK(fem_baked_mesh_check(&back, "m") == FEM_OK);
		fem_baked_mesh_free(&back);
		memcpy(copy.bytes, file.bytes, 32);
		copy.bytes[bit / 8] = file.bytes[bit / 8];
	}
	FEM_CHECK(memcmp(copy.bytes, file.bytes, file.size) == 0);
	fem_baked_mesh_free(&mesh);
	fem_test_file_free(&file);
	fem_test_file_free(&copy);
}

FEM_TEST(baked_mesh, other_versions_and_files) {
	FemBakedMesh mesh = make_full(1, 0.9f);
	FemTestFile file = to_bytes(&mesh);
	file.bytes[8] = FEM_BAKED_VERSION + 1;
	check_refused(&file, file.size, "update the addon", __LINE__);
	fem_baked_mesh_seal(file.bytes, file.size);
	check_refused(&file, file.size, "format 2", __LINE__);
	file.bytes[8] = 0;
	fem_baked_mesh_seal(file.bytes, file.size);
	check_refused(&file, file.size, "damaged", __LINE__);
	file.bytes[0] = 'x';
	check_refused(&file, file.size, "no baked mesh", __LINE__);
	FEM_CHECK(!fem_baked_mesh_is(file.bytes, file.size) && !fem_baked_mesh_is(NULL, 0));
	fem_baked_mesh_free(&mesh);
	fem_test_file_free(&file);
}

static FemTestFile with_section(
	const FemBakedMesh *mesh, const char *tag, uint32_t flags, uint64_t claimed, size_t content) {
	FemTestFile file = to_bytes(mesh);
	file.capacity = file.size;
	fem_test_put(&file, tag, 4);
	fem_test_put_uint(&file, flags, 4, false);
	fem_test_put_uint(&file, claimed, 8, false);
	for (size_t i = 0; i < content; i++)
		fem_test_put(&file, "\1", 1);
	file.bytes[12]++;
	fem_baked_mesh_seal(file.bytes, file.size);
	return file;
}

// Sections of tomorrow: skipped, unless they say that they must not be.
FEM_TEST(baked_mesh, unknown_sections) {
	FemBakedMesh mesh = make_full(1, 0.9f), back;
	FemTestFile file = with_section(&mesh, "MORE", 0, 100, 100);
	FEM_CHECK(fem_baked_mesh_read("m", file.bytes, file.size, &back) == FEM_OK);
	check_same(&mesh, &back, 1e-6f);
	fem_baked_mesh_free(&back);
	fem_test_file_free(&file);
	file = with_section(&mesh, "NEWS", 1, 100, 100);
	check_refused(&file, file.size, "NEWS is unknown", __LINE__);
	fem_test_file_free(&file);
	static const struct {
		const char *tag;
		uint64_t claimed;
	} bad[] = {{"MORE", 101}, {"MORE", UINT64_MAX}, {"MORE", 99}, {"NODE", 100}, {"TETS", 100}, {"EMBD", 100},
		{"SURF", 100}, {"NAME", 100}, {"PLAT", 100}, {"REPT", 100}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		file = with_section(&mesh, bad[i].tag, 0, bad[i].claimed, 100);
		check_refused(&file, file.size, "damaged", __LINE__);
		fem_test_file_free(&file);
	}
	fem_baked_mesh_free(&mesh);
}

// Numbers that are whole but wrong, sealed as a careless program would.
static void check_changed(void (*change)(FemBakedMesh *), const char *word, int line) {
	FemBakedMesh mesh = make_full(1, 0.9f);
	change(&mesh);
	FemTestFile file = to_bytes(&mesh);
	check_refused(&file, file.size, word, line);
	fem_baked_mesh_free(&mesh);
	fem_test_file_free(&file);
}

static void make_node_nan(FemBakedMesh *mesh) {
	mesh->tet_mesh.nodes[3].y = NAN;
}

static void invert_tet(FemBakedMesh *mesh) {
	int32_t *tet = mesh->tet_mesh.tets, node = tet[0];
	tet[0] = tet[1];
	tet[1] = node;
}

static void flatten_tet(FemBakedMesh *mesh) {
	mesh->tet_mesh.tets[0] = mesh->tet_mesh.tets[1];
}

static void misname_node(FemBakedMesh *mesh) {
	mesh->tet_mesh.tets[0] = mesh->tet_mesh.node_count;
}

static void misname_vertex(FemBakedMesh *mesh) {
	mesh->render.surfaces[0].indices[5] = 40;
}

static void misname_tet(FemBakedMesh *mesh) {
	mesh->embedding.tets[5] = mesh->tet_mesh.tet_count;
}

static void make_weight_nan(FemBakedMesh *mesh) {
	mesh->embedding.weights[5][1] = NAN;
}

static void make_weight_huge(FemBakedMesh *mesh) {
	mesh->embedding.weights[5][1] = 1e6f;
}

static void make_position_infinite(FemBakedMesh *mesh) {
	mesh->render.surfaces[1].positions[7].z = INFINITY;
}

static void make_uv_nan(FemBakedMesh *mesh) {
	mesh->render.surfaces[0].uvs[7][1] = NAN;
}

static void lose_a_surface(FemBakedMesh *mesh) {
	mesh->embedding.count -= 10;
}

static void make_plate_negative(FemBakedMesh *mesh) {
	mesh->tet_mesh.tet_plates[2] = -1.0f;
}

static void make_report_unreadable(FemBakedMesh *mesh) {
	mesh->report[3] = '\x01';
}

FEM_TEST(baked_mesh, wrong_numbers_are_refused) {
	check_changed(make_node_nan, "Node 3", __LINE__);
	check_changed(invert_tet, "inside out", __LINE__);
	check_changed(flatten_tet, "no volume", __LINE__);
	check_changed(misname_node, "TETS", __LINE__);
	check_changed(misname_vertex, "SURF", __LINE__);
	check_changed(misname_tet, "EMBD", __LINE__);
	check_changed(make_weight_nan, "vertex 5", __LINE__);
	check_changed(make_weight_huge, "vertex 5", __LINE__);
	check_changed(make_position_infinite, "vertex 7 of surface 1", __LINE__);
	check_changed(make_uv_nan, "texture coordinate", __LINE__);
	check_changed(make_plate_negative, "plate strength", __LINE__);
	check_changed(make_report_unreadable, "REPT", __LINE__);
}

FEM_TEST(baked_mesh, embedding_must_fit_the_vertices) {
	FemBakedMesh mesh = make_full(1, 0.9f);
	int32_t count = mesh.embedding.count;
	lose_a_surface(&mesh);
	FemTestFile file = to_bytes(&mesh);
	check_refused(&file, file.size, "ties 50 vertices", __LINE__);
	mesh.embedding.count = count;
	fem_baked_mesh_free(&mesh);
	fem_test_file_free(&file);
}
