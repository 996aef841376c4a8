// What each pattern promises of the sizes and places of its splinters.
#include "cutting_rig.h"
#include "fem_test.h"

#include <stdlib.h>

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

// ---- faces of the cuts

typedef struct Cuts {
	int32_t count, splinter_count;
	FemVec3d *areas;     // m^2, along the outward normal, [triangle of the cuts]
	FemVec3d *corners;   // m, one of each
	FemVec3d *centroids; // m, mean of a splinter's vertices
} Cuts;

static void mean_vertices(const FemSplinterMesh *mesh, FemVec3d *out) {
	int32_t *sizes = calloc((size_t)mesh->splinter_count + 1, sizeof *sizes);
	for (int32_t v = 0; v < mesh->vertex_count; v++) {
		FemVec3d *mean = &out[mesh->vertex_splinters[v]];
		FemVec3d offset = fem_vec3d_sub(fem_vec3d_from(mesh->positions[v]), *mean);
		*mean = fem_vec3d_add(*mean, fem_vec3d_scale(offset, 1.0 / ++sizes[mesh->vertex_splinters[v]]));
	}
	free(sizes);
}

static Cuts cuts_of_box(FemVec3 size, const FemCutDef *def) {
	FemBakedMesh mesh;
	Cuts cuts = {0};
	if (fem_cutting_bake(fem_surface_box(size, 2), 100, &mesh) &&
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, def, NULL), FEM_OK)) {
		const FemSplinterMesh *from = &mesh.splinters;
		int32_t last = from->surface_count - 1, end = from->index_starts[last + 1];
		cuts.splinter_count = from->splinter_count;
		cuts.areas = calloc((size_t)from->index_count + 1, sizeof *cuts.areas);
		cuts.corners = calloc((size_t)from->index_count + 1, sizeof *cuts.corners);
		cuts.centroids = calloc((size_t)from->splinter_count + 1, sizeof *cuts.centroids);
		mean_vertices(from, cuts.centroids);
		for (int32_t n = from->index_starts[last]; n < end; n += 3) {
			FemVec3d p[3];
			for (int v = 0; v < 3; v++)
				p[v] = fem_vec3d_from(from->positions[from->vertex_starts[last] + from->indices[n + v]]);
			FemVec3d normal = fem_vec3d_cross(fem_vec3d_sub(p[1], p[0]), fem_vec3d_sub(p[2], p[0]));
			cuts.corners[cuts.count] = p[0];
			cuts.areas[cuts.count++] = fem_vec3d_scale(normal, 0.5);
		}
	}
	fem_baked_mesh_free(&mesh);
	return cuts;
}

static void free_cuts(Cuts *cuts) {
	free(cuts->areas);
	free(cuts->corners);
	free(cuts->centroids);
}

// Area that looks up between two heights, m^2.
static double area_up(const Cuts *cuts, double low, double high) {
	double sum = 0.0;
	for (int32_t n = 0; n < cuts->count; n++)
		sum += cuts->corners[n].y > low && cuts->corners[n].y < high ? fmax(cuts->areas[n].y, 0.0) : 0.0;
	return sum;
}

// A joint crumbles with a chance of 0.08 and goes else with the brick below or above, at even chances: either face of
// it is open with a chance of 0.54. Three standard deviations of a hundred joints are 0.15. Fails when all joints go
// with one hand.
FEM_TEST(cutting_patterns, mortar_goes_with_either_brick) {
	FemCutDef def = fem_default_cut_def();
	def.pattern = FEM_PATTERN_BRICK;
	def.brick_size = (FemVec3){0.2f, 0.1f, 0.1f};
	def.mortar = 0.02f;
	def.broken_share = def.roughness = 0.0f;
	def.joins = false;
	Cuts cuts = cuts_of_box((FemVec3){11.0f, 0.22f, 0.1f}, &def);
	double wall = 1.1, middle = 0.005; // m^2; m, within the joint
	double above_brick = area_up(&cuts, -0.1, middle) / wall, above_joint = area_up(&cuts, middle, 0.1) / wall;
	printf("  open above bricks %.2f, above joints %.2f of the wall\n", above_brick, above_joint);
	FEM_CHECK_NEAR(above_brick, 0.54, 0.15);
	FEM_CHECK_NEAR(above_joint, 0.54, 0.15);
	free_cuts(&cuts);
}

// Sizes of splinters go as 0.35 + 2.5 d at d sides of the cube from the corner that is struck: 0.35 there, 2.5 in the
// middle, 4.7 at the far end. Fails when impacts are ignored, which gives either half as many.
FEM_TEST(cutting_patterns, splinters_crowd_at_an_impact) {
	FemCutDef def = fem_default_cut_def();
	def.pattern = FEM_PATTERN_GLASS;
	def.splinter_count = 200;
	def.roughness = def.unevenness = 0.0f;
	def.joins = false;
	def.impact_count = 1;
	def.impacts[0] = (FemVec3){-0.5f, -0.5f, -0.5f};
	Cuts cuts = cuts_of_box((FemVec3){1.0f, 1.0f, 1.0f}, &def);
	int32_t near = 0;
	for (int32_t n = 0; n < cuts.splinter_count; n++)
		near += cuts.centroids[n].x + cuts.centroids[n].y + cuts.centroids[n].z < 0.0;
	printf("  %d of %d splinters in the half around the impact\n", (int)near, (int)cuts.splinter_count);
	FEM_CHECK(cuts.splinter_count > 150 && near > 2 * (cuts.splinter_count - near));
	free_cuts(&cuts);
}

// ---- wood

// Straight fibres along z, which end at places by chance.
static FemCutDef plank_def(float width, float length) {
	FemCutDef def = fem_default_cut_def();
	def.pattern = FEM_PATTERN_WOOD;
	def.grain = (FemVec3){0.0f, 0.0f, 1.0f};
	def.section_width = width;
	def.section_height = 0.1f;
	def.section_length = length;
	def.random_width = def.random_height = def.roughness = 0.0f;
	def.horizontal_frequency = 1;
	def.horizontal_amplitude = 0.0f;
	def.vertical_frequency = 0;
	def.joins = false;
	return def;
}

static bool is_end(FemVec3d area) {
	return hypot(area.x, area.y) < 1e-3 * fabs(area.z);
}

// Different places along the grain at which a fibre ends.
static int32_t count_ends(FemVec3 size, const FemCutDef *def) {
	Cuts cuts = cuts_of_box(size, def);
	int32_t count = 0;
	for (int32_t n = 0; n < cuts.count; n++) {
		bool is_new = is_end(cuts.areas[n]);
		for (int32_t m = 0; m < n && is_new; m++)
			is_new = !is_end(cuts.areas[m]) || fabs(cuts.corners[m].z - cuts.corners[n].z) > 1e-5;
		count += is_new;
	}
	free_cuts(&cuts);
	return count;
}

// Eight planks of four lengths each: every one ends four times, all at places of their own. Fails when planks start in
// line, which leaves four places at most.
FEM_TEST(cutting_patterns, planks_end_at_places_of_their_own) {
	FemCutDef def = plank_def(0.2f, 0.24f);
	FEM_CHECK_INT(count_ends((FemVec3){1.6f, 0.1f, 0.96f}, &def), 32);
}

// One plank of four fibres ends in four planes when its fibres end together, and fibre by fibre when they do not: each
// of them ends three times at least. Fails when horizontal_amplitude changes nothing.
FEM_TEST(cutting_patterns, fibres_of_a_plank_end_apart) {
	FemCutDef def = plank_def(0.8f, 0.24f);
	def.horizontal_frequency = 4;
	FEM_CHECK_INT(count_ends((FemVec3){0.8f, 0.1f, 0.96f}, &def), 4);
	def.horizontal_amplitude = 0.35f;
	FEM_CHECK(count_ends((FemVec3){0.8f, 0.1f, 0.96f}, &def) >= 12);
}

// The border of two planks of length l whose middles are d apart along the grain slopes by d / (1.2 l) in the metric of
// wood. For ends at random the mean of d is l / 3, which gives 0.28. Fails when cells are not stretched along the
// grain: borders then slope by d / w at a width of w, here l / 8.
FEM_TEST(cutting_patterns, planks_are_slender) {
	FemCutDef def = plank_def(0.1f, 0.8f);
	Cuts cuts = cuts_of_box((FemVec3){0.8f, 0.1f, 1.6f}, &def);
	double along = 0.0, across = 0.0;
	for (int32_t n = 0; n < cuts.count; n++) {
		along += is_end(cuts.areas[n]) ? 0.0 : fabs(cuts.areas[n].z);
		across += is_end(cuts.areas[n]) ? 0.0 : hypot(cuts.areas[n].x, cuts.areas[n].y);
	}
	printf("  borders between planks slope by %.2f\n", along / across);
	FEM_CHECK_NEAR(along / across, 0.28, 0.1);
	free_cuts(&cuts);
}
