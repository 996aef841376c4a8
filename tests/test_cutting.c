// Cutting: pieces that are closed, turned outward and together the body, for every shape and pattern.
#include "base/memory.h"
#include "cutting_rig.h"
#include "fem_test.h"

static const char *const pattern_names[] = {"none", "voronoi", "glass", "wood", "brick", "surfaces"};

static FemSurfaceMesh shape(int which) {
	switch (which) {
	case 0: return fem_surface_box((FemVec3){1.0f, 0.8f, 0.6f}, 4);
	case 1: return fem_surface_sphere(0.5, 16);
	case 2: return fem_surface_torus(0.5, 0.15, 32, 16);
	case 3: return fem_surface_window_wall((FemVec3){3.0f, 2.0f, 0.24f}, 0.4);
	case 4: return fem_surface_box((FemVec3){1.2f, 0.9f, 0.006f}, 1);
	default: return fem_surface_vase(0.4, 0.012, 20);
	}
}
#define SHAPES 6

static void check_cut(FemBakedMesh *mesh, const FemCutDef *def, const char *what) {
	char note[FEM_CUT_NOTE_SIZE];
	double volume = fem_cutting_volume(&mesh->render);
	if (!fem_test_check(
			fem_baked_mesh_cut(mesh, def, note) == FEM_OK, __FILE__, __LINE__, "%s: %s", what, fem_last_error()))
		return;
	FemPieceCheck check = fem_cutting_check(&mesh->splinters);
	fem_test_check(note[0] == 0, __FILE__, __LINE__, "%s: %s", what, note);
	fem_test_check(check.open_edges == 0, __FILE__, __LINE__, "%s: %d open edges", what, check.open_edges);
	fem_test_check(check.piece_count > 3, __FILE__, __LINE__, "%s: %d pieces", what, check.piece_count);
	fem_test_check(fabs(check.volume_sum - volume) < 1e-3 * volume, __FILE__, __LINE__, "%s: volume %g of %g", what,
		check.volume_sum, volume);
	fem_test_check(check.smallest > -1e-6 * volume, __FILE__, __LINE__, "%s: a piece of %g m3", what, check.smallest);
	fem_test_check(
		fem_baked_mesh_check(mesh, "The mesh") == FEM_OK, __FILE__, __LINE__, "%s: %s", what, fem_last_error());
}

// Every pattern on one shape.
static void cut_shape(int which) {
	FemBakedMesh mesh;
	if (fem_cutting_bake(shape(which), 300, &mesh))
		for (int n = 0; n < 7; n++) {
			char what[64];
			FemCutDef def = fem_default_cut_def();
			def.pattern = n < 2 ? FEM_PATTERN_VORONOI : (FemPattern)(FEM_PATTERN_GLASS + (n - 2) % 3);
			def.seed = 7 + (uint32_t)n;
			def.piece_count = 120;
			def.roughness = n == 0 ? 0.0f : n < 5 ? 0.5f : 1.0f;
			snprintf(what, sizeof what, "%s, roughness %g", pattern_names[def.pattern], (double)def.roughness);
			check_cut(&mesh, &def, what);
		}
	fem_baked_mesh_free(&mesh);
}

FEM_TEST(cutting, box_into_closed_pieces) {
	cut_shape(0);
}

FEM_TEST(cutting, sphere_into_closed_pieces) {
	cut_shape(1);
}

FEM_TEST(cutting, torus_into_closed_pieces) {
	cut_shape(2);
}

FEM_TEST(cutting, wall_with_a_window_into_closed_pieces) {
	cut_shape(3);
}

FEM_TEST(cutting, thin_pane_into_closed_pieces) {
	cut_shape(4);
}

FEM_TEST(cutting, vase_into_closed_pieces) {
	cut_shape(5);
}
