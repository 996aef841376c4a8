#include "filling/member_blocks.h"

#include "base/error.h"
#include "base/memory.h"
#include "filling/beam_cells.h"
#include "filling/block_grid.h"
#include "filling/coverage.h"
#include "filling/plan_walls.h"

#define MERGE_WALLS 0.2       // walls: faces nearer to each other than this are one (grooves, bevels); chosen
#define CELL_MOST 0.25        // of the longest extent: a board held at both ends must have room to bend; chosen
#define CELL_LEAST 1e-3       // of the same; chosen
#define SEARCH_STEPS 60       // of the cell's length, each 1.09 times as short; chosen: counts go in leaps
#define PLAN_STEPS 8          // of the cell's length in plans, each by what the count is off; chosen
#define PLAN_TETS 3.0         // half the area of walls over that of a cell's sides, times this, is their tets: 6 a cell
#define ROUNDNESS 0.5         // of a beam's section that its cells follow where squares do not cover it; chosen
#define VOLUME_GOOD 0.05      // share by which the volume may differ: half of what is promised
#define COVERAGE_GOOD 0.01    // of the mesh's size: farthest of a vertex from the tets; promised
#define COVERAGE_POINTS 20000 // vertices that are looked at, at the most; chosen

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.");
}

// The length of cells whose number of tets is nearest to what is wanted.
static double choose_cell(const FemBlockGrid *grid, int32_t target) {
	double best = CELL_MOST, nearest = INFINITY;
	for (int i = 0; i <= SEARCH_STEPS; i++) {
		double cell = CELL_MOST * pow(CELL_LEAST / CELL_MOST, (double)i / SEARCH_STEPS);
		double miss = fabs(log(fem_block_grid_tets(grid, cell) / target));
		if (miss < nearest) {
			nearest = miss;
			best = cell;
		}
	}
	return best;
}

// Columns through thin walls miss some of them: rooms of a closed mesh have the volume of its surface, unless its parts
// overlap.
static bool has_volume(FemMemberSearch *search) {
	double volume = fem_tet_list_volume_sum(&search->trial), exact = fem_solid_volume(&search->solid);
	if (fabs(volume / search->volume - 1.0) <= VOLUME_GOOD)
		return true;
	if (!search->request->closed || fabs(volume - exact) > VOLUME_GOOD * exact)
		return false;
	search->volume = exact;
	return true;
}

static FemResult is_right(FemMemberSearch *search, bool *out_right) {
	int32_t capacity = search->trial.tet_count;
	*out_right = false;
	if (capacity == 0)
		return FEM_OK;
	int32_t *bodies = FEM_ALLOC_ARRAY(int32_t, capacity);
	if (!bodies)
		return no_memory();
	int32_t body_count = fem_tet_list_bodies(&search->trial, bodies);
	FEM_FREE_ARRAY(bodies, capacity);
	if (body_count != 1 || !has_volume(search))
		return FEM_OK;
	double size = search->request->triangles->frame.size / search->frame.size;
	double gap = fem_coverage_of_vertices(&search->solid.triangles, &search->trial, COVERAGE_POINTS);
	*out_right = gap <= COVERAGE_GOOD * size;
	return gap < 0.0 ? no_memory() : FEM_OK;
}

// Takes the trial if it is right.
static FemResult take(FemMemberSearch *search, double cell, double thickness, bool *out_found) {
	FemResult result = is_right(search, out_found);
	if (result != FEM_OK || !*out_found)
		return result;
	fem_member_keep_trial(search, cell, true);
	search->fitted = true;
	search->member->thickness = (float)(thickness * search->frame.size);
	search->member->layers = 1;
	return FEM_OK;
}

FemResult fem_member_search_blocks(FemMemberSearch *search, double wall, bool *out_found) {
	FemBlockGrid grid;
	*out_found = false;
	FemResult result = fem_block_grid_create(&search->solid, MERGE_WALLS * wall, &grid);
	if (result != FEM_OK)
		return result;
	if (grid.filled_count > 0 && search->volume > 0.0) {
		double cell = choose_cell(&grid, search->request->target);
		fem_tet_list_clear(&search->trial);
		result = fem_block_grid_fill(&grid, cell, &search->trial);
		if (result == FEM_OK)
			result = take(search, cell, wall, out_found);
	}
	fem_block_grid_free(&grid);
	return result;
}

// Divides the plan by cells whose number is nearest to what is wanted; 0 where there are none.
static FemResult choose_plan_cell(const FemMemberSearch *search, FemPlanWalls *walls, double *out_cell) {
	double target = search->request->target, nearest = INFINITY, tets;
	double cell = fmin(sqrt(PLAN_TETS * fem_solid_area(&search->solid) / target), CELL_MOST);
	*out_cell = 0.0;
	for (int i = 0; i < PLAN_STEPS && nearest > FEM_MEMBER_GOOD_RATIO; i++) {
		FemResult result = fem_plan_walls_divide(walls, cell, &tets);
		if (result != FEM_OK || !(tets > 0.0))
			return result;
		double miss = fabs(log(tets / target));
		if (miss < nearest) {
			nearest = miss;
			*out_cell = cell;
		}
		cell = fmin(fmax(cell * sqrt(tets / target), CELL_LEAST), CELL_MOST);
	}
	return fem_plan_walls_divide(walls, *out_cell, &tets);
}

FemResult fem_member_search_plan(FemMemberSearch *search, double wall, bool *out_found) {
	FemPlanWalls walls;
	double cell;
	*out_found = false;
	if (!(search->volume > 0.0))
		return FEM_OK;
	FemResult result = fem_plan_walls_create(&search->solid, wall, MERGE_WALLS * wall, &walls);
	if (result != FEM_OK)
		return result;
	result = choose_plan_cell(search, &walls, &cell);
	if (result == FEM_OK && cell > 0.0) {
		fem_tet_list_clear(&search->trial);
		result = fem_plan_walls_fill(&walls, cell, &search->trial);
		if (result == FEM_OK)
			result = take(search, cell, wall, out_found);
	}
	fem_plan_walls_free(&walls);
	return result;
}

// As many cells across as let them be as long as wide, and at least `least`.
static FemResult try_beam(FemMemberSearch *search, double roundness, int32_t least, bool *out_found) {
	const double *half = search->solid.half_extents;
	double wanted = fmax(1.0, (double)search->request->target / FEM_CUBE_TETS);
	double cell = cbrt(search->volume / wanted);
	int32_t cells[3];
	for (int i = 1; i < 3; i++)
		cells[i] = (int32_t)fmax(least, floor(2.0 * half[i] / cell + 0.5));
	cells[0] = (int32_t)fmax(1.0, floor(wanted / (cells[1] * cells[2]) + 0.5));
	fem_tet_list_clear(&search->trial);
	FemResult result = fem_beam_fill(&search->solid, cells, roundness, &search->trial, out_found);
	if (result == FEM_OK && *out_found)
		result = take(search, 2.0 * half[0] / cells[0], 2.0 * half[2], out_found);
	return result;
}

// Cells of a square bend best, but may leave too much of a round section uncovered.
FemResult fem_member_search_beam(FemMemberSearch *search, bool *out_found) {
	*out_found = false;
	if (!(search->volume > 0.0))
		return FEM_OK;
	FemResult result = try_beam(search, 0.0, 1, out_found);
	if (result == FEM_OK && !*out_found)
		result = try_beam(search, ROUNDNESS, 2, out_found);
	return result;
}
