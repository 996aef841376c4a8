// What each pattern promises of the sizes and places of its splinters.
#include "cutting_rig.h"
#include "fem_test.h"

static FemSplinterCheck cut_box(FemVec3 size, const FemCutDef *def) {
	FemBakedMesh mesh;
	FemSplinterCheck check = {0};
	if (fem_cutting_bake(fem_surface_box(size, 2), 100, &mesh)) {
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, def, NULL), FEM_OK);
		check = fem_cutting_check(&mesh.splinters);
	}
	fem_baked_mesh_free(&mesh);
	return check;
}

// Two courses of a wall two bricks long: two whole ones below, a half, a whole and a half one above. Fails when courses
// are not shifted by half a brick against each other.
FEM_TEST(cutting_patterns, bricks_lie_in_bond) {
	FemCutDef def = fem_default_cut_def();
	def.pattern = FEM_PATTERN_BRICK;
	def.brick_size = (FemVec3){1.0f, 0.5f, 0.5f};
	def.mortar = def.broken_share = def.roughness = 0.0f;
	def.joins = false;
	FemSplinterCheck check = cut_box((FemVec3){2.0f, 1.0f, 0.5f}, &def);
	FEM_CHECK_INT(check.splinter_count, 5);
	FEM_CHECK_NEAR(check.smallest, 0.125, 1e-4);
}

// Places at random give a spread of 0.42 (Poisson-Voronoi cells, Kumar et al. 1992). Fails when sites are not spread
// out, or when unevenness changes nothing.
FEM_TEST(cutting_patterns, unevenness_spreads_sizes) {
	FemCutDef def = fem_default_cut_def();
	def.pattern = FEM_PATTERN_VORONOI;
	def.splinter_count = 200;
	def.roughness = 0.0f;
	def.joins = false;
	def.unevenness = 0.0f;
	double even = cut_box((FemVec3){1.0f, 1.0f, 1.0f}, &def).spread;
	def.unevenness = 1.0f;
	double uneven = cut_box((FemVec3){1.0f, 1.0f, 1.0f}, &def).spread;
	printf("  spread of volumes %.2f even, %.2f uneven\n", even, uneven);
	FEM_CHECK(even < 0.36);
	FEM_CHECK(uneven > 1.3 * even);
}
