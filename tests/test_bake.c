// From render surfaces to a baked mesh: regions by surface, the report, what a file gives back.
#include "fem_test.h"

#include "baking/bake.h"
#include "baking/surface_regions.h"
#include "base/memory.h"
#include "scenes/surface_meshes.h"

#include <stdlib.h>

// Sanitizers are slow: fewer triangles, and no word about time.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#define MILLION 100000
#else
#define SANITIZED false
#define MILLION 1000000
#endif

static void add_surface(
	FemBakedMesh *mesh, FemSurfaceMesh source, FemVec3d move, const char *name, const char *material) {
	fem_surface_transform(&source, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 1.0, move);
	FemRenderSurface *surface = fem_render_mesh_add(&mesh->render, name, material);
	if (FEM_CHECK(fem_render_surface_reserve(surface, source.vertex_count, 3 * source.triangle_count, 0))) {
		memcpy(surface->positions, source.vertices, sizeof(FemVec3) * (size_t)source.vertex_count);
		memcpy(surface->indices, source.triangles, sizeof(int32_t) * 3 * (size_t)source.triangle_count);
	}
	fem_surface_mesh_free(&source);
}

// A hammer: a head and a handle that reaches into it, so that they are one part.
static FemBakedMesh make_hammer(void) {
	FemBakedMesh mesh = {0};
	add_surface(&mesh, fem_surface_box((FemVec3){0.6f, 0.3f, 0.3f}, 2), (FemVec3d){0.0, 0.5, 0.0}, "head", "");
	add_surface(&mesh, fem_surface_box((FemVec3){0.2f, 1.0f, 0.2f}, 2), (FemVec3d){0.0, -0.1, 0.0}, "",
		"res://looks/wood.tres");
	return mesh;
}

static FemResult bake(FemBakedMesh *mesh, int32_t elements, bool regions) {
	FemBakeDef def = fem_default_bake_def();
	FemBakeInfo info;
	def.element_count = elements;
	def.surface_regions = regions;
	FemResult result = fem_bake_render_mesh(&def, mesh, &info);
	fem_bake_info_free(&info);
	return result;
}

FEM_TEST(bake, surfaces_become_regions) {
	int64_t before = fem_memory_bytes();
	FemBakedMesh mesh = make_hammer();
	FEM_REQUIRE(bake(&mesh, 800, true) == FEM_OK);
	FEM_REQUIRE(mesh.region_name_count == 2 && mesh.tet_mesh.tet_regions != NULL);
	FEM_CHECK(strcmp(mesh.region_names[0].name, "head") == 0);
	FEM_CHECK(strcmp(mesh.region_names[1].name, "wood.tres") == 0);
	int32_t counts[2] = {0};
	for (int32_t t = 0; t < mesh.tet_mesh.tet_count; t++) {
		double y = 0.0;
		for (int v = 0; v < 4; v++)
			y += 0.25 * (double)mesh.tet_mesh.nodes[mesh.tet_mesh.tets[4 * t + v]].y;
		counts[mesh.tet_mesh.tet_regions[t]]++;
		FEM_CHECK(y > 0.2 || mesh.tet_mesh.tet_regions[t] == 1); // below the head there is only the handle
	}
	FEM_CHECK(counts[0] > 100 && counts[1] > 100);
	FEM_CHECK(fem_baked_mesh_check(&mesh, "hammer") == FEM_OK);
	fem_baked_mesh_free(&mesh);
	mesh = make_hammer();
	FEM_REQUIRE(bake(&mesh, 800, false) == FEM_OK);
	FEM_CHECK(mesh.region_name_count == 0 && mesh.tet_mesh.tet_regions == NULL);
	fem_baked_mesh_free(&mesh);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

// A surface without area claims no tet, long names are cut between characters.
FEM_TEST(bake, odd_surfaces_are_regions_too) {
	FemBakedMesh mesh = make_hammer();
	char name[FEM_SURFACE_NAME_SIZE];
	memset(name, 'x', sizeof name);
	name[0] = 'a';
	for (size_t i = 1; i + 2 < sizeof name; i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	name[sizeof name - 1] = 0;
	FemRenderSurface *flat = fem_render_mesh_add(&mesh.render, name, "");
	FEM_REQUIRE(flat && fem_render_surface_reserve(flat, 3, 3, 0));
	flat->indices[1] = 1, flat->indices[2] = 2;
	FEM_REQUIRE(bake(&mesh, 300, true) == FEM_OK);
	FEM_CHECK_INT(mesh.region_name_count, 3);
	for (int32_t t = 0; t < mesh.tet_mesh.tet_count; t++)
		FEM_CHECK(mesh.tet_mesh.tet_regions[t] < 2);
	FEM_CHECK(strncmp(mesh.region_names[2].name, name, strlen(mesh.region_names[2].name)) == 0);
	fem_baked_mesh_free(&mesh);
}

// What is written and read again: the same report, and every vertex where it was to 1e-5 of the size.
FEM_TEST(bake, file_gives_the_vertices_and_the_report_back) {
	FemBakedMesh mesh = {0}, back;
	add_surface(&mesh, fem_surface_torus(0.5, 0.2, 60, 30), (FemVec3d){2.0, -1.0, 3.0}, "torus", "");
	FEM_REQUIRE(bake(&mesh, 4000, false) == FEM_OK);
	FEM_REQUIRE(mesh.report != NULL && strstr(mesh.report, "Parts: 1 compact") && strstr(mesh.report, FEM_REPORT_GOOD));
	size_t size = fem_baked_mesh_size(&mesh);
	void *bytes = malloc(size);
	fem_baked_mesh_write(&mesh, bytes, size);
	FEM_REQUIRE(fem_baked_mesh_read("torus", bytes, size, &back) == FEM_OK);
	FEM_CHECK(back.report && strcmp(back.report, mesh.report) == 0);
	double worst = 0.0;
	for (int32_t i = 0; i < back.embedding.count; i++) {
		double p[3] = {0.0, 0.0, 0.0}, far = 0.0;
		for (int k = 0; k < 12; k++)
			p[k % 3] += (double)back.embedding.weights[i][k / 3] *
				(double)(&back.tet_mesh.nodes[back.tet_mesh.tets[4 * back.embedding.tets[i] + k / 3]].x)[k % 3];
		for (int axis = 0; axis < 3; axis++)
			far += pow(p[axis] - (double)(&mesh.render.surfaces[0].positions[i].x)[axis], 2.0);
		worst = fmax(worst, sqrt(far));
	}
	printf("  vertices within %.2g of the size\n", worst / 1.4);
	FEM_CHECK(worst < 1e-5 * 1.4);
	free(bytes);
	fem_baked_mesh_free(&mesh);
	fem_baked_mesh_free(&back);
}

// ---- reach

typedef struct Cost {
	double ms, bytes; // a triangle: beyond the render mesh itself
} Cost;

static Cost bake_torus(int32_t ring, int32_t tube) {
	FemBakedMesh mesh = {0};
	Cost cost = {0};
	add_surface(&mesh, fem_surface_torus(0.5, 0.2, ring, tube), (FemVec3d){0}, "torus", "");
	int64_t triangles = fem_render_mesh_triangle_count(&mesh.render), before = fem_memory_bytes();
	fem_memory_restart_peak();
	double begin = fem_test_cpu_ms();
	if (FEM_CHECK(bake(&mesh, 3000, false) == FEM_OK)) {
		cost.ms = fem_test_cpu_ms() - begin;
		cost.bytes = (double)(fem_memory_peak() - before) / (double)triangles;
		printf("  %7d triangles to %d tets: %5.0f ms, %.2f us and %.0f bytes a triangle\n", (int)triangles,
			mesh.tet_mesh.tet_count, cost.ms, 1e3 * cost.ms / (double)triangles, cost.bytes);
		FEM_CHECK(abs(mesh.tet_mesh.tet_count - 3000) <= 600);
	}
	fem_baked_mesh_free(&mesh);
	return cost;
}

// The whole bake: tets, embedding, diagnosis, report. What the tets themselves take shows at few triangles.
FEM_TEST(bake, grows_in_proportion_to_the_triangles) {
	Cost small = bake_torus(350, 100), large = bake_torus(MILLION / 1000, 500);
	FEM_CHECK(large.bytes < 200.0);
	FEM_CHECK(SANITIZED || small.ms < 2000.0);
	FEM_CHECK(SANITIZED || large.ms / small.ms < 2.0 * MILLION / 70000.0);
}

FEM_TEST(bake, takes_two_million_triangles) {
	if (!getenv("FEM_LONG"))
		return;
	Cost cost = bake_torus(2 * MILLION / 1000, 500);
	FEM_CHECK(cost.bytes < 200.0);
	FEM_CHECK(SANITIZED || cost.ms < 30000.0);
}

// ---- bad input

static void refuse(FemBakedMesh mesh, float sheet, const char *word) {
	FemBakeDef def = fem_default_bake_def();
	FemBakeInfo info;
	def.sheet_thickness = sheet;
	FemResult result = fem_bake_render_mesh(&def, &mesh, &info);
	FEM_CHECK(result != FEM_OK && result != FEM_ERROR_MEMORY);
	fem_test_check(
		strstr(fem_last_error(), word) != NULL, __FILE__, __LINE__, "\"%s\" lacks \"%s\"", fem_last_error(), word);
	fem_bake_info_free(&info);
	fem_baked_mesh_free(&mesh);
}

FEM_TEST(bake, bad_meshes_are_refused_with_a_sentence) {
	int64_t before = fem_memory_bytes();
	FemBakedMesh mesh = {0};
	refuse(mesh, 0.0f, "no triangles");
	add_surface(&mesh, fem_surface_torus(0.5, 0.2, 12, 8), (FemVec3d){0}, "", "");
	mesh.render.surfaces[0].positions[5].z = NAN;
	refuse(mesh, 0.0f, "Vertex 5");
	mesh = (FemBakedMesh){0};
	add_surface(&mesh, fem_surface_box((FemVec3){1.0f, 0.0f, 0.0f}, 2), (FemVec3d){0}, "", ""); // a line: no area
	refuse(mesh, 0.1f, "area");
	mesh = (FemBakedMesh){0};
	add_surface(&mesh, fem_surface_random_soup(300000, 3), (FemVec3d){0}, "", ""); // loose ones
	refuse(mesh, 0.0f, "sheet_thickness");
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

// ---- public API

FEM_TEST(bake, thread_gives_the_same_bytes) {
	int64_t before = fem_memory_bytes();
	FemBakedMesh first = make_hammer(), second = make_hammer(), back;
	FemBakeDef def = fem_default_bake_def();
	FemBakeResult now, later;
	def.surface_regions = true;
	fem_bake_now(&first.render, &def, &now);
	FemBakeJob *job = fem_bake_start(&second.render, &def);
	FEM_REQUIRE(job != NULL && first.render.surface_count == 0 && second.render.surface_count == 0);
	fem_bake_finish(job, &later);
	FEM_REQUIRE(now.result == FEM_OK && later.result == FEM_OK && now.message[0] == 0);
	FEM_CHECK(now.size == later.size && memcmp(now.bytes, later.bytes, now.size) == 0);
	FEM_REQUIRE(fem_baked_mesh_read("hammer", now.bytes, now.size, &back) == FEM_OK);
	FEM_CHECK_INT(back.region_name_count, 2);
	fem_baked_mesh_free(&back);
	fem_bake_result_free(&now);
	fem_bake_result_free(&later);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

static bool is_same_mesh(const FemBakedMesh *a, const FemBakedMesh *b) {
	size_t size = fem_baked_mesh_size(a);
	uint8_t *first = malloc(size), *second = malloc(size);
	bool is_same = first && second && size > 0 && fem_baked_mesh_size(b) == size;
	if (is_same) {
		fem_baked_mesh_write(a, first, size);
		fem_baked_mesh_write(b, second, size);
		is_same = memcmp(first, second, size) == 0;
	}
	free(first);
	free(second);
	return is_same;
}

FEM_TEST(bake, threads_read_what_was_baked) {
	int64_t before = fem_memory_bytes();
	FemBakedMesh hammer = make_hammer(), back;
	FemBakeDef def = fem_default_bake_def();
	FemBakeResult baked, read;
	def.cut.pattern = FEM_PATTERN_VORONOI;
	fem_bake_now(&hammer.render, &def, &baked);
	FEM_REQUIRE(baked.result == FEM_OK);
	FEM_REQUIRE(fem_baked_mesh_read("hammer", baked.bytes, baked.size, &back) == FEM_OK);
	fem_bake_finish(fem_bake_read_start(baked.bytes, baked.size), &read);
	FEM_CHECK(read.result == FEM_OK && read.bytes == NULL && read.message[0] == 0);
	FEM_CHECK(back.splinters.splinter_count > 1 && is_same_mesh(&baked.mesh, &back) && is_same_mesh(&read.mesh, &back));
	fem_bake_result_free(&read);
	((uint8_t *)baked.bytes)[baked.size / 2] ^= 1u;
	fem_bake_finish(fem_bake_read_start(baked.bytes, baked.size), &read);
	FEM_CHECK(read.result == FEM_ERROR_FORMAT && strstr(read.message, "checksum") && read.mesh.tet_mesh.tet_count == 0);
	fem_bake_result_free(&read);
	fem_baked_mesh_free(&back);
	fem_bake_result_free(&baked);
	FEM_CHECK(fem_bake_read_start(NULL, 10) == NULL && fem_bake_read_start("x", 0) == NULL);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

// Fails when modes are lost on the way to the bytes, are of another shape, or go on after a cancel.
FEM_TEST(bake, keeps_modes_that_were_asked_for) {
	int64_t before = fem_memory_bytes();
	for (int cancels = 0; cancels < 2; cancels++) {
		FemBakedMesh hammer = make_hammer();
		FemBakeDef def = fem_default_bake_def();
		FemBakeResult baked;
		FemModes alone, copy;
		def.element_count = cancels ? 20000 : 600;
		def.mode_count = cancels ? FEM_MODES_MAX : 12;
		def.compute_modes = fem_modes_compute;
		FemBakeJob *job = fem_bake_start(&hammer.render, &def);
		FEM_REQUIRE(job != NULL);
		while (cancels && fem_bake_share(job) < 0.801f && !fem_bake_is_done(job)) // it is at its modes
			;
		if (cancels)
			fem_bake_cancel(job);
		fem_bake_finish(job, &baked);
		if (cancels) {
			FEM_CHECK(baked.result != FEM_OK && baked.is_cancelled && baked.mesh.modes.mode_count == 0);
			fem_bake_result_free(&baked);
			continue;
		}
		FEM_REQUIRE(baked.result == FEM_OK);
		const FemTetArrays *tets = &baked.mesh.tet_mesh;
		FemModesDef modes = fem_default_modes_def();
		modes.node_count = tets->node_count, modes.node_positions = tets->nodes;
		modes.tet_count = tets->tet_count, modes.tets = tets->tets, modes.tet_plates = tets->tet_plates;
		modes.materials = &def.mode_material, modes.material_count = 1;
		modes.mode_count = 12, modes.frequency_max = 0.0f;
		FEM_REQUIRE(fem_modes_compute(&modes, &alone) == FEM_OK);
		FEM_CHECK_INT(baked.mesh.modes.mode_count, 12);
		FEM_CHECK_INT(baked.mesh.modes.rigid_count, 6);
		for (int k = 0; k < 12; k++)
			FEM_CHECK_NEAR(fem_mode_frequency(&baked.mesh.modes, k), fem_mode_frequency(&alone, k),
				1e-4 * fem_mode_frequency(&alone, k));
		FEM_CHECK_INT(fem_modes_copy(&alone, &copy), FEM_OK);
		FEM_CHECK(copy.rigid_count == 6 && copy.material.density == 2700.0f &&
			memcmp(copy.shapes, alone.shapes, sizeof(float) * 36 * (size_t)alone.node_count) == 0 &&
			memcmp(copy.eigenvalues, alone.eigenvalues, sizeof(double) * 12) == 0);
		fem_modes_free(&copy);
		fem_modes_free(&alone);
		fem_bake_result_free(&baked);
		FEM_CHECK(fem_modes_copy(NULL, &copy) == FEM_ERROR_INVALID_ARGUMENT && copy.mode_count == 0);
		FemBakedMesh again = make_hammer();
		def.mode_count = -1;
		fem_bake_now(&again.render, &def, &baked);
		FEM_CHECK_INT(baked.result, FEM_ERROR_INVALID_ARGUMENT);
		fem_bake_result_free(&baked);
	}
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

FEM_TEST(bake, jobs_can_be_cancelled) {
	int64_t before = fem_memory_bytes();
	FemBakedMesh mesh = {0};
	FemBakeDef def = fem_default_bake_def();
	FemBakeResult result;
	add_surface(&mesh, fem_surface_torus(0.5, 0.2, 60, 30), (FemVec3d){0}, "", "");
	def.element_count = FEM_BAKE_ELEMENTS_MAX;
	FemBakeJob *job = fem_bake_start(&mesh.render, &def);
	FEM_REQUIRE(job != NULL);
	fem_bake_cancel(job);
	fem_bake_finish(job, &result);
	FEM_CHECK(result.result != FEM_OK && result.is_cancelled && result.bytes == NULL && result.message[0] != 0);
	fem_bake_result_free(&result);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

FEM_TEST(bake, public_calls_survive_nothing) {
	FemBakeDef def = fem_default_bake_def(), made_otherwise = {.element_count = 100};
	FemBakedMesh mesh = make_hammer();
	FemBakeResult result;
	FEM_CHECK(fem_bake_start(NULL, &def) == NULL && fem_bake_is_done(NULL) && fem_bake_share(NULL) == 0.0f);
	fem_bake_cancel(NULL);
	fem_bake_finish(NULL, &result);
	FEM_CHECK_INT(result.result, FEM_ERROR_INVALID_ARGUMENT);
	fem_bake_now(NULL, &def, &result);
	FEM_CHECK(result.result == FEM_ERROR_MESH && strstr(result.message, "no triangles"));
	fem_bake_now(&mesh.render, NULL, &result);
	FEM_CHECK_INT(result.result, FEM_ERROR_INVALID_ARGUMENT);
	mesh = make_hammer();
	fem_bake_now(&mesh.render, &made_otherwise, &result);
	FEM_CHECK(result.result == FEM_ERROR_INVALID_ARGUMENT && strstr(result.message, "fem_default_bake_def"));
	mesh = make_hammer();
	mesh.render.surfaces[1].indices[4] = 12345; // a vertex that is not there
	fem_bake_now(&mesh.render, &def, &result);
	FEM_CHECK(result.result != FEM_OK && result.message[0] != 0);
}

// A sheet that was given a thickness is not told to take one, or to close its rim.
FEM_TEST(bake, report_of_a_sheet_asks_for_nothing) {
	FemBakedMesh mesh = {0};
	FemBakeDef def = fem_default_bake_def();
	FemBakeInfo info;
	char warnings[1024];
	add_surface(&mesh, fem_surface_box((FemVec3){1.0f, 1.0f, 0.0f}, 2), (FemVec3d){0}, "", "");
	def.sheet_thickness = 0.05f;
	FEM_REQUIRE(fem_bake_render_mesh(&def, &mesh, &info) == FEM_OK);
	fem_bake_report_warnings(mesh.report, warnings, sizeof warnings);
	fem_test_check(warnings[0] == 0, __FILE__, __LINE__, "it warns: %s", warnings);
	FEM_CHECK(strstr(mesh.report, "Parts: 1 sheet") != NULL);
	fem_bake_info_free(&info);
	fem_baked_mesh_free(&mesh);
}

// Fails when a report praises a mesh beside a fault of its tets.
FEM_TEST(bake, report_has_no_praise_beside_a_fault) {
	FemTetMember member = {.kind = FEM_MEMBER_COMPACT, .volume = 1.0f, .input_volume = 1.0f};
	FemTetMesh tets = {.member_count = 1, .members = &member, .tet_count = 10};
	FemDiagnosis diagnosis = {.triangle_count = 12, .size = 1.0, .wall = 1.0, .volume_ratio = 1.0};
	FemEmbedding embedding = {.count = 8};
	char report[1024], warnings[1024];
	fem_bake_report_write(&tets, &embedding, &diagnosis, report, sizeof report);
	FEM_CHECK(strstr(report, FEM_REPORT_GOOD) != NULL);
	embedding.max_outside = 0.02f;
	fem_bake_report_write(&tets, &embedding, &diagnosis, report, sizeof report);
	fem_bake_report_warnings(report, warnings, sizeof warnings);
	FEM_CHECK(strstr(report, FEM_REPORT_GOOD) == NULL && strstr(warnings, "2.0 % of the size") != NULL);
	embedding.max_outside = 0.005f;
	snprintf(tets.warning, sizeof tets.warning, "Part 0 could not be covered.");
	fem_bake_report_write(&tets, &embedding, &diagnosis, report, sizeof report);
	FEM_CHECK(strstr(report, FEM_REPORT_GOOD) == NULL && strstr(report, tets.warning) != NULL);
}
