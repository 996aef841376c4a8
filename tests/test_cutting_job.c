// Cutting on a thread of its own.
#include "base/memory.h"
#include "cutting/cut_output.h"
#include "cutting_rig.h"
#include "fem_test.h"

static FemCutDef voronoi(int32_t splinters) {
	FemCutDef def = fem_default_cut_def();
	def.pattern = FEM_PATTERN_VORONOI;
	def.splinter_count = splinters;
	return def;
}

static bool are_same(const FemSplinterMesh *a, const FemSplinterMesh *b) {
	return a->splinter_count > 0 && a->splinter_count == b->splinter_count && a->vertex_count == b->vertex_count &&
		a->index_count == b->index_count &&
		memcmp(a->positions, b->positions, sizeof *a->positions * (size_t)a->vertex_count) == 0 &&
		memcmp(a->indices, b->indices, sizeof *a->indices * (size_t)a->index_count) == 0 &&
		memcmp(a->vertex_tets, b->vertex_tets, sizeof *a->vertex_tets * (size_t)a->vertex_count) == 0;
}

FEM_TEST(cutting_job, gives_the_same_splinters) {
	FemBakedMesh mesh;
	FemSplinterMesh made[2] = {0};
	FemCutDef def = voronoi(60), other = voronoi(30);
	int64_t before = fem_memory_bytes();
	if (fem_cutting_bake(fem_surface_sphere(0.5, 16), 200, &mesh)) {
		FemCutJob *jobs[2] = {fem_cut_start(&mesh, &def), fem_cut_start(&mesh, &other)}; // both read the one mesh
		FEM_CHECK_INT(fem_cut_finish(jobs[0], &made[0]), FEM_OK);
		FEM_CHECK_INT(fem_cut_finish(jobs[1], &made[1]), FEM_OK);
		FEM_CHECK_INT(mesh.splinters.splinter_count, 0);
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, NULL), FEM_OK);
		FEM_CHECK(are_same(&made[0], &mesh.splinters));
		FEM_CHECK(!are_same(&made[1], &mesh.splinters));
		FEM_CHECK_INT(
			fem_cut_finish(fem_cut_start(&mesh, &other), &mesh.splinters), FEM_OK); // in place of the old ones
		FEM_CHECK(are_same(&made[1], &mesh.splinters));
	}
	fem_splinter_mesh_free(&made[0]);
	fem_splinter_mesh_free(&made[1]);
	fem_baked_mesh_free(&mesh);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

FEM_TEST(cutting_job, ends_when_cancelled_and_says_what_failed) {
	FemBakedMesh mesh, none = {0};
	FemCutDef def = voronoi(3000), bad = voronoi(20);
	bad.roughness = NAN;
	int64_t before = fem_memory_bytes();
	if (fem_cutting_bake(fem_surface_sphere(0.5, 40), 200, &mesh)) {
		FemCutJob *job = fem_cut_start(&mesh, &def);
		fem_cut_cancel(job);
		FEM_CHECK_INT(fem_cut_finish(job, &mesh.splinters), FEM_ERROR_LIMIT);
		FEM_CHECK(strstr(fem_last_error(), "cancelled") != NULL);
		FEM_CHECK_INT(mesh.splinters.splinter_count, 0);
		FEM_CHECK_INT(fem_cut_finish(fem_cut_start(&mesh, &bad), &mesh.splinters), FEM_ERROR_INVALID_ARGUMENT);
		FEM_CHECK(strstr(fem_last_error(), "roughness") != NULL);
		bad = voronoi(20);
		FEM_CHECK_INT(fem_cut_finish(fem_cut_start(&mesh, &bad), NULL), FEM_OK); // nobody wants them
		FEM_CHECK_INT(fem_cut_finish(fem_cut_start(&none, &bad), NULL), FEM_ERROR_MESH);
	}
	FEM_CHECK(fem_cut_start(NULL, &def) == NULL && fem_cut_start(&none, NULL) == NULL);
	FEM_CHECK(fem_cut_is_done(NULL));
	fem_cut_cancel(NULL);
	FEM_CHECK_INT(fem_cut_finish(NULL, NULL), FEM_ERROR_INVALID_ARGUMENT);
	fem_baked_mesh_free(&mesh);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}
