#include "filling/member_mesher.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "filling/coverage.h"
#include "filling/member_blocks.h"
#include "filling/member_finer.h"
#include "filling/member_graded.h"
#include "filling/member_search.h"
#include "filling/member_walls.h"
#include "filling/plate_grid.h"
#include "filling/soup_sheets.h"
#include "filling/surface_fit.h"

#include <math.h>
#include <string.h>

#define ATTEMPTS 14       // cell sizes tried; chosen: the count follows the size closely
#define PLACES 60         // of the lattice tried for small counts; chosen
#define FEW 500           // tets: with more the count follows the cell size, and other places are not tried; chosen
#define WALL_DIHEDRAL 8.2 // degrees, of walls drawn back; costs under 1 % of volume up to the aspect below ...
#define WALL_ASPECT 2.5   // cells: ... and another 10 % beyond it, where
#define THIN_DIHEDRAL 4.0 // degrees are kept
#define VOLUME_MIN 1e-3   // of the box: a member that encloses less is a sheet; chosen
#define THIN_SHARE 0.3    // of the smallest extent: thinner walls are walls; chosen
#define TINY_TARGET 20    // tets: a member of fewer is a box of plain cells; chosen
#define FLAT_SHARE 0.2    // height over width of a sheet that counts as flat; chosen
// Plates are to have cells this many times as long as their layer is thick, beams are corrected so. Chosen from the
// table below.
#define FLAT_ASPECT 1.5f
// Plates and walls are corrected from here on; chosen: where the table below has gains for both.
#define PLATE_ASPECT 1.2f
// Of a plate: even uncorrected cells as long as thick are then under 1 % too stiff, (2.9 - 1) / 16^2.
#define LAYERS_MAX 16.0
#define CELL_TETS 5.0        // tets of a plain cell
#define LATTICE_TETS 12.0    // tets of a lattice cell: the body-centred cubic lattice has 12 for each cube
#define WALL_TETS 8.0        // tets for each square of a cell in a thickened wall: a first guess that the search mends
#define SHEET_TETS 12.0      // the same of a thickened sheet
#define FILL_LEAST 0.05      // share of a plate's outline that counts as filled at the least; chosen
#define LAYER_ROUNDING 0.1   // layers, by which their number may fall short before another is added; chosen
#define PLATE_CELLS_MAX 1e7  // of a plate: 100 times as many as the most tets a bake may have
#define FOLLOW_MOST 3.0      // factor by which a count of cells changes from one attempt to the next, at the most ...
#define FOLLOW_LEAST 0.3     // ... and at the least; both chosen
#define ROD_FOLLOW_MOST 2.0  // the same of a rod's cell length ...
#define ROD_FOLLOW_LEAST 0.5 // ... at the least
#define ROD_FOLLOW_EMPTY 0.6 // ... and where nothing came of an attempt; chosen
#define BOX_CELLS 12         // a side that a box of plain cells may have: 8640 tets, far over FEW; chosen
#define MISS_FREE 0.1        // |ln(tets / target)| that costs a box nothing, so that cubic cells decide; chosen
#define STRETCH_COST 0.3     // |ln(tets / target)| that a cell e times as long as wide is worth; chosen
#define WALL_CELLS 1.1       // of a cell: walls thinner than this fall through the lattice; chosen
#define PLACE_SIZES 20       // cell sizes tried at other places of the lattice, ...
#define PLACE_SIZE_FIRST 0.8 // ... from this factor on, ...
#define PLACE_SIZE_STEP 0.02 // ... by this step; chosen
#define GOLDEN 0.618         // share of a cell by which the lattice moves on: the golden ratio spreads places evenly
#define ROD_CELLS 2.0        // half widths in cells under which a slim member is meshed as a rod; chosen
#define ROD_FILL 0.5         // share of a rod's outline, seen from above, that is solid at the least; chosen
#define ROD_VOLUME 0.4       // share of a rod's box that is solid at the least: a round one has 0.79; chosen
#define BOX_SHARE 0.98       // of its box's outline and volume: a member that fills more is a box; chosen
#define BOX_VOLUME_KEPT 0.99 // of a box's volume: a lattice that keeps less has cut its edges; chosen
#define FLAT_EXTENT 1e-6     // of the frame: a member thinner than this encloses nothing; chosen
#define BOUNDING_SHARE 0.5   // of an open surface: where less parts inside from outside it is a sheet; chosen
#define THICKNESS_LEAST 1e-9 // of the frame, so that a quotient stays finite
#define LENGTH_LEAST 1e-30   // m, the same
#define BOWL_WALLS 1.5       // half heights over the thickness of a plate that may be a bowl; chosen
#define STEEP_SHARE 0.25     // of the surface of such a bowl; a half sphere has 0.5, thick panels 0.15; chosen
#define PLATE_GAP 0.01 // of the mesh's size: farthest that vertices of such a plate may lie from its tets; promised
// Times as far as vertices may lie outside: nodes of thinner plates do not go out to them. Chosen: a panel of 2 % of
// its size bent 0.79 instead of 0.86 as far as theory says, since it had become thicker.
#define MOVED_THICK 6.0
#define COVERAGE_POINTS 20000 // vertices that are looked at for that, at the most; chosen
#define HOLLOW_MOST 0.5       // of twice the volume over the area: thicker walls leave a ball less than a third; chosen
#define SKINS_LEAST 1e-6      // of the frame: half of the least thickness that floats can tell from none; chosen
// Beyond 1, of one layer of plate cells along a curved wall: measured 0.05 to 0.2 (tests/test_curved_walls.c), and
// falling with the square of the layers as in plates.
#define WALL_PRISM_EXCESS 0.1f
#define SLENDER 3.0 // extents in this ratio make a plate or a beam; chosen

// ---- kinds

// Between the rows of a table, straight on log-log paper; beyond its end with the square of the aspect.
static double look_up(const double at[4], const double values[4], double aspect) {
	if (aspect <= at[0])
		return values[0];
	for (int i = 0; i < 3; i++) {
		double t = log(aspect / at[i]) / log(at[i + 1] / at[i]);
		if (t <= 1.0)
			return values[i] * pow(values[i + 1] / values[i], t);
	}
	return values[3] * pow(aspect / at[3], 2.0);
}

// Stiffness against beam theory of clamped strips, measured with this engine at Poisson ratio 0.3
// (tests/test_plates.c); cells 1, 2.5, 5, 10 times as long as thick. Plate cells bend as theory says. What is too much
// is so within each layer, and goes with the square of their number. Wide: sheets of prisms, clamped on one and on four
// sides alike; else 5-tet cells.
static double plate_excess(double aspect, bool is_corrected, int32_t layers, bool wide) {
	// Aspects, and how many times too stiff strips and sheets are there.
	static const double at[4] = {1.0, 2.5, 5.0, 10.0};
	static const double plain[2][4] = {{2.9, 6.7, 21.0, 77.0}, {4.0, 10.0, 31.0, 115.0}};
	double one = is_corrected ? 1.0 : look_up(at, plain[wide], aspect);
	return 1.0 + (one - 1.0) / ((double)layers * layers);
}

// The correction also softens what is not flat (a bar of cubes by 1.4): only cells longer than their layer is thick.
bool fem_member_is_corrected(const FemTetMember *member) {
	int32_t layers = member->layers > 0 ? member->layers : 1;
	if (layers == 1 && (member->kind == FEM_MEMBER_PLATE || member->kind == FEM_MEMBER_BEAM))
		return true; // made of plate cells
	float limit = member->kind == FEM_MEMBER_BEAM ? FLAT_ASPECT : PLATE_ASPECT;
	return member->kind != FEM_MEMBER_COMPACT && member->cell * (float)layers > limit * member->thickness;
}

// Cells shorter than thick would be three times too stiff, and not flat enough for the correction: with more tets a
// plate gets more layers. Of n tets in L layers over an area A, cells are sqrt(5 L A / n) long and t / L thick.
static int32_t enough_layers(const FemMemberSearch *search, const FemPlateSurvey *survey) {
	int32_t asked = search->request->def->plate_layers;
	if (search->member->kind == FEM_MEMBER_BEAM)
		return asked;
	double area = 4.0 * search->solid.half_extents[0] * search->solid.half_extents[1] * fmax(survey->fill, FILL_LEAST);
	double cell = sqrt(CELL_TETS * area / search->request->target);
	double layers = ceil(pow(FLAT_ASPECT * survey->thickness / cell, 2.0 / 3.0) - LAYER_ROUNDING);
	return layers > asked ? (int32_t)fmin(layers, LAYERS_MAX) : asked;
}

static double wall_excess(double aspect) {
	// The same of curved walls, which are corrected (tests/test_curved_walls.c).
	static const double at[4] = {1.25, 2.5, 5.0, 10.0};
	static const double corrected[4] = {1.6, 2.0, 5.6, 19.0};
	return look_up(at, corrected, aspect);
}

static FemResult fill_plate(
	FemMemberSearch *search, const int32_t cells[2], int32_t layers, double thickness, int32_t *out_count) {
	bool memory;
	fem_tet_list_clear(&search->trial);
	FemResult result = fem_plate_fill(&search->solid, cells, layers, thickness, &search->trial);
	if (result != FEM_OK)
		return result;
	*out_count = search->trial.tet_count;
	bool whole = fem_member_keep_sound(search, &search->trial, &memory);
	if (!memory)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.");
	double side = fmax(search->solid.half_extents[0] / cells[0], search->solid.half_extents[1] / cells[1]);
	fem_member_judge(search, 2.0 * side, whole);
	return FEM_OK;
}

// The second count is kept while the first follows the target: a beam has one cell across and any number along.
static FemResult search_plate(FemMemberSearch *search, const FemPlateSurvey *survey) {
	const double *half = search->solid.half_extents;
	int32_t layers = enough_layers(search, survey);
	double wanted = fmax(1.0, search->request->target / (CELL_TETS * layers * fmax(survey->fill, FILL_LEAST)));
	bool wide = false;
	for (int i = 0; i < ATTEMPTS && !fem_member_found_good(search); i++) {
		double across = fmax(1.0, floor(sqrt(wanted * half[1] / half[0]) + 0.5));
		double along = fmax(1.0, floor(wanted / across + 0.5));
		if (along * across > PLATE_CELLS_MAX)
			return fem_fail(
				FEM_ERROR_LIMIT, "The plate would need %.0f cells: ask for fewer elements.", along * across);
		int32_t cells[2] = {(int32_t)along, (int32_t)across}, count = 0;
		wide = fem_plate_is_wide(cells, layers);
		if (!fem_member_report(search->request, (double)i / ATTEMPTS))
			return fem_fail_stopped();
		FemResult result = fill_plate(search, cells, layers, survey->thickness, &count);
		if (result != FEM_OK)
			return result;
		wanted *=
			count > 0 ? fmin(fmax((double)search->request->target / count, FOLLOW_LEAST), FOLLOW_MOST) : FOLLOW_MOST;
	}
	search->member->thickness = (float)(survey->thickness * search->frame.size);
	search->member->cell = (float)(search->best_cell * search->frame.size);
	search->member->layers = layers;
	double aspect = search->best_cell * layers / fmax(survey->thickness, THICKNESS_LEAST);
	search->member->stiffness_excess =
		(float)plate_excess(aspect, fem_member_is_corrected(search->member), layers, wide);
	return FEM_OK;
}

// Plain cells for boxes of few tets, where the lattice's count goes in leaps: the whole numbers of cells that come
// nearest to the target, and of those the most cubic.
static FemResult search_box(FemMemberSearch *search, const FemPlateSurvey *survey) {
	const double *half = search->solid.half_extents;
	int32_t best[3] = {1, 1, 1}, count;
	double best_cost = FEM_MEMBER_NO_SCORE;
	for (int32_t n = 0; n < BOX_CELLS * BOX_CELLS * BOX_CELLS; n++) {
		int32_t cells[3] = {n / (BOX_CELLS * BOX_CELLS) + 1, n / BOX_CELLS % BOX_CELLS + 1, n % BOX_CELLS + 1};
		double side[3] = {half[0] / cells[0], half[1] / cells[1], half[2] / cells[2]};
		double longest = fmax(side[0], fmax(side[1], side[2])), shortest = fmin(side[0], fmin(side[1], side[2]));
		double miss = fabs(log(CELL_TETS * cells[0] * cells[1] * cells[2] / search->request->target));
		double cost = fmax(miss, MISS_FREE) + STRETCH_COST * log(longest / shortest);
		if (miss < FEM_MEMBER_COUNT_RATIO && cost < best_cost) {
			best_cost = cost;
			memcpy(best, cells, sizeof best);
		}
	}
	if (best_cost >= FEM_MEMBER_NO_SCORE)
		return FEM_OK;
	fem_tet_list_clear(&search->best);
	search->best_score = FEM_MEMBER_NO_SCORE;
	search->member->kind = FEM_MEMBER_COMPACT;
	return fill_plate(search, best, best[2], survey->thickness, &count);
}

// A rod that is not a box: cells in its section as asked, stretched along it to meet the count.
static FemResult search_rod(FemMemberSearch *search, double cubic) {
	double across = 2.0 * search->solid.half_extents[1] / (1.0 + search->request->def->plate_layers);
	double along = fmin(cubic * cubic * cubic / (across * across), 1.0);
	for (int i = 0; i < ATTEMPTS && !fem_member_found_good(search); i++) {
		double stretch[3] = {along / across, 1.0, 1.0};
		int32_t count = 0;
		if (!fem_member_report(search->request, (double)i / ATTEMPTS))
			return fem_fail_stopped();
		FemResult result = fem_member_try(search, stretch, across, true, 0.0, &count);
		if (result != FEM_OK)
			return result;
		double ratio = (double)count / search->request->target;
		along *= ratio > 0.0 ? fmin(fmax(ratio, ROD_FOLLOW_LEAST), ROD_FOLLOW_MOST) : ROD_FOLLOW_EMPTY;
		along = fmin(along, 1.0);
	}
	search->best_cell = along;
	search->member->thickness = (float)(2.0 * search->solid.half_extents[2] * search->frame.size);
	return FEM_OK;
}

static FemResult search_sheet(FemMemberSearch *search, double thickness) {
	search->solid.sheet_half = 0.5 * thickness / search->frame.size;
	search->member->kind = FEM_MEMBER_SHEET;
	search->member->thickness = (float)thickness;
	double area = fem_solid_area(&search->solid);
	search->volume = 0.0;
	FemPlateSurvey survey = fem_plate_survey(&search->solid);
	if (survey.fits && search->solid.half_extents[2] < FLAT_SHARE * search->solid.half_extents[1])
		return search_plate(search, &survey);
	bool found;
	FemResult result = fem_member_search_sheet(search, thickness / search->frame.size, &found);
	if (result != FEM_OK || found)
		return result;
	return fem_member_search_thin(search, 0.0, sqrt(SHEET_TETS * area / search->request->target));
}

// `wall` is twice the volume over the area: a wall's thickness.
static bool has_thin_walls(const FemMemberSearch *search, double wall, double cell) {
	return wall < THIN_SHARE * 2.0 * search->solid.half_extents[2] && wall < WALL_CELLS * cell;
}

// Few tets: the count goes in leaps, so other places of the lattice are tried too.
static FemResult search_places(FemMemberSearch *search, double cell) {
	static const double even[3] = {1.0, 1.0, 1.0}; // cells as long along every axis
	for (int i = 0; i < PLACES && search->best_score > FEM_MEMBER_COUNT_RATIO && search->request->target < FEW; i++) {
		int32_t count;
		FemResult result = fem_member_try(search, even, cell * (PLACE_SIZE_FIRST + PLACE_SIZE_STEP * (i % PLACE_SIZES)),
			false, fmod(GOLDEN * i, 1.0), &count);
		if (result != FEM_OK)
			return result;
	}
	return FEM_OK;
}

static FemResult search_compact(FemMemberSearch *search, double cell) {
	static const double even[3] = {1.0, 1.0, 1.0}; // cells as long along every axis
	double area = fem_solid_area(&search->solid), wall = 2.0 * search->volume / area;
	bool is_thin = has_thin_walls(search, wall, cell);
	if (!is_thin) {
		FemResult result = fem_member_search_cells(search, even, cell, ATTEMPTS);
		if (result == FEM_OK)
			result = search_places(search, cell);
		if (result != FEM_OK || search->best_whole)
			return result;
	}
	// Else limbs or walls between rooms: mend_lattice() goes on.
	bool found;
	FemResult result = fem_member_search_walls(search, wall, &found);
	if (result == FEM_OK && !found && is_thin)
		result = fem_member_search_plan(search, wall, &found);
	search->member->kind = found ? FEM_MEMBER_WALL : FEM_MEMBER_THIN_WALL;
	if (result != FEM_OK || found)
		return result;
	search->member->thickness = (float)(wall * search->frame.size);
	return FEM_OK;
}

// Of the surface: what is steeper than 60 degrees over the box's first two axes.
static double steep_share(const FemSolid *solid) {
	double steep = 0.0, all = 0.0;
	for (int32_t t = 0; t < solid->triangles.triangle_count; t++) {
		FemVec3d n = fem_triangle_area_vector(&solid->triangles, t);
		double area = sqrt(fem_vec3d_dot(n, n));
		steep += fabs(n.z) < 0.5 * area ? area : 0.0;
		all += area;
	}
	return steep / all;
}

// Bowls look like plates from above, but their sides are too steep for columns.
static FemResult mend_bowl(FemMemberSearch *search, const FemPlateSurvey *survey) {
	if (search->solid.half_extents[2] < BOWL_WALLS * survey->thickness || steep_share(&search->solid) < STEEP_SHARE)
		return FEM_OK;
	double gap = fem_coverage_of_vertices(&search->solid.triangles, &search->best, COVERAGE_POINTS);
	double size = search->request->triangles->frame.size / search->frame.size;
	if (gap < 0.0)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.");
	bool found = false;
	FemResult result = gap < PLATE_GAP * size
		? FEM_OK
		: fem_member_search_walls(search, 2.0 * search->volume / fem_solid_area(&search->solid), &found);
	if (found)
		search->member->kind = FEM_MEMBER_WALL;
	return result;
}

static FemResult fit_surface(FemMemberSearch *search) {
	FemMemberKind kind = search->member->kind;
	if (search->fitted || kind == FEM_MEMBER_PLATE || kind == FEM_MEMBER_WALL ||
		(kind == FEM_MEMBER_SHEET && search->best_solid.inflation <= 0.0))
		return FEM_OK;
	search->solid.inflation = search->best_solid.inflation;
	search->solid.sheet_half =
		kind == FEM_MEMBER_SHEET ? 0.5 * (double)search->member->thickness / search->frame.size : 0.0;
	double aspect = search->best_cell * search->frame.size / fmax((double)search->member->thickness, LENGTH_LEAST);
	double limit = aspect <= WALL_ASPECT ? WALL_DIHEDRAL : THIN_DIHEDRAL;
	return fem_surface_fit(&search->solid, search->best_cell, limit, FEM_MEMBER_COMPACT_DIHEDRAL, &search->best);
}

// What a lattice with cells of one size does not cover gets smaller ones where that is.
static FemResult search_limbs(FemMemberSearch *search, double cell) {
	FemMemberKind kind = search->member->kind;
	bool found;
	FemResult result = fem_member_search_graded(search, cell, &found);
	if (found) {
		search->member->kind = kind == FEM_MEMBER_THIN_WALL ? kind : FEM_MEMBER_COMPACT;
		search->member->layers = 0;
		search->fitted = true;
	} else if (result == FEM_OK && search->best.tet_count == 0) {
		double area = fem_solid_area(&search->solid);
		result = fem_member_search_thin(
			search, 2.0 * search->volume / area, sqrt(WALL_TETS * area / search->request->target));
	}
	return result;
}

static FemResult mend_lattice(FemMemberSearch *search, double cell) {
	bool good = search->member->kind == FEM_MEMBER_WALL;
	FemResult result = FEM_OK;
	if (!good && search->best_whole) {
		result = fit_surface(search);
		FemMemberFit fit = {0};
		if (result == FEM_OK)
			result = fem_member_cover(search, &search->best, &fit);
		good = fit.good;
		search->fitted = true;
	}
	if (result == FEM_OK && !good && search->member->kind == FEM_MEMBER_COMPACT)
		result = fem_member_search_finer(search, cell, &good);
	return result == FEM_OK && !good ? search_limbs(search, cell) : result;
}

static FemResult mend_plate(FemMemberSearch *search, double cell) {
	bool lost = false;
	if (search->member->kind == FEM_MEMBER_WALL)
		return FEM_OK;
	FemMemberFit fit;
	FemResult result = fem_member_is_lost(search, &lost);
	bool is_thick =
		(double)search->member->thickness > MOVED_THICK * fem_member_gap_allowed(search) * search->frame.size;
	if (result == FEM_OK && !lost && is_thick) {
		result = fem_member_cover(search, &search->best, &fit);
		search->fitted = true;
		lost = search->member->kind == FEM_MEMBER_COMPACT && fit.gap > fem_member_gap_allowed(search);
	}
	return result == FEM_OK && lost ? search_limbs(search, cell) : result;
}

// Boards and bars at right angles, thin against the whole.
static FemResult search_boards(FemMemberSearch *search, double cell, bool *out_found) {
	double wall = 2.0 * search->volume / fem_solid_area(&search->solid);
	*out_found = false;
	if (!has_thin_walls(search, wall, cell))
		return FEM_OK;
	FemResult result = fem_member_search_blocks(search, wall, out_found);
	if (*out_found)
		search->member->kind = FEM_MEMBER_WALL;
	return result;
}

static FemResult search_beam(FemMemberSearch *search, bool *out_found) {
	FemResult result = fem_member_search_beam(search, out_found);
	if (*out_found)
		search->member->kind = FEM_MEMBER_BEAM;
	return result;
}

static FemResult search_by_kind(FemMemberSearch *search) {
	const double *half = search->solid.half_extents;
	double cell = cbrt(LATTICE_TETS * search->volume / search->request->target);
	FemPlateSurvey survey = fem_plate_survey(&search->solid);
	bool tiny = search->request->target < TINY_TARGET && survey.thickness > 0.0;
	bool flat = half[1] > SLENDER * 0.5 * survey.thickness, slim = half[0] > SLENDER * half[1];
	bool coarse = survey.thickness < 2.0 * cell;
	// A round rod's columns differ in thickness.
	bool rod = slim && half[1] < cell * ROD_CELLS && survey.fill > ROD_FILL &&
		search->volume > ROD_VOLUME * fem_member_box_volume(&search->solid);
	bool found;
	FemResult result = search_boards(search, cell, &found);
	if (result == FEM_OK && !found && !tiny && !flat && (rod || (coarse && survey.fits_rod && slim)))
		result = search_beam(search, &found);
	if (result != FEM_OK || found)
		return result;
	if (tiny || (coarse && ((survey.fits && flat) || (survey.fits_rod && slim)))) {
		search->member->kind = flat ? FEM_MEMBER_PLATE : slim ? FEM_MEMBER_BEAM : FEM_MEMBER_COMPACT;
		result = search_plate(search, &survey);
		if (result == FEM_OK && flat && !tiny)
			result = mend_bowl(search, &survey);
		return result == FEM_OK ? mend_plate(search, cell) : result;
	}
	if (rod) { // whose section is not seen whole from its middle: a lattice along it, unless cubic cells do
		search->member->kind = FEM_MEMBER_BEAM;
		result = search_rod(search, cell);
		return result == FEM_OK ? mend_plate(search, cell) : result;
	}
	result = search_compact(search, cell);
	bool is_box =
		survey.fits && survey.fill > BOX_SHARE && search->volume > BOX_SHARE * fem_member_box_volume(&search->solid);
	// Free lattices cut the edges of a box.
	bool poor = search->best_score > FEM_MEMBER_GOOD_RATIO ||
		fem_tet_list_volume_sum(&search->best) < BOX_VOLUME_KEPT * search->volume;
	if (result == FEM_OK && is_box && poor)
		return search_box(search, &survey);
	return result == FEM_OK ? mend_lattice(search, cell) : result;
}

// Two skins so near to each other that they hardly enclose anything.
static FemResult search_skins(FemMemberSearch *search, bool *out_found) {
	double area = fem_solid_area(&search->solid), exact = fem_solid_volume(&search->solid);
	bool has_walls = search->request->closed && exact > SKINS_LEAST * area;
	FemResult result = has_walls ? fem_member_search_walls(search, 2.0 * exact / area, out_found) : FEM_OK;
	if (*out_found)
		search->member->kind = FEM_MEMBER_WALL;
	return result;
}

// What is open enough to enclose nothing is a sheet of its wall.
static double sheet_thickness_of(const FemMemberSearch *search) {
	const FemBakeDef *def = search->request->def;
	float given = def->sheet_thickness > 0.0f ? def->sheet_thickness : def->wall_thickness;
	return given > 0.0f || !search->request->gives_thickness ? (double)given : FEM_SHEET_SHARE * search->frame.size;
}

// A mesh that has walls already, or would have no hollow, is filled as it is.
static bool is_to_be_hollow(const FemMemberSearch *search) {
	double thickness = (double)search->request->def->wall_thickness / search->frame.size;
	double wall = 2.0 * search->volume / fem_solid_area(&search->solid);
	return thickness > 0.0 && wall > THIN_SHARE * search->solid.half_extents[2] && thickness < HOLLOW_MOST * wall;
}

static FemResult search_hollow(FemMemberSearch *search, bool *out_found) {
	double thickness = (double)search->request->def->wall_thickness / search->frame.size;
	FemResult result = fem_member_search_hollow(search, thickness, out_found);
	if (*out_found) {
		search->member->kind = FEM_MEMBER_WALL;
		search->member->hollow = true;
		search->volume = 0.0; // no volume of the mesh to compare with
	}
	return result;
}

// ---- results

static void append_best(const FemMemberSearch *search, FemTetList *out) {
	int32_t first = out->node_count;
	for (int32_t n = 0; n < search->best.node_count; n++)
		fem_tet_list_add_node(out, fem_frame_to_user(&search->frame, search->best.nodes[n]));
	for (int32_t t = 0; t < search->best.tet_count && !out->failed; t++) {
		const int32_t *tet = search->best.tets[t];
		fem_tet_list_add_tet(out, first + tet[0], first + tet[1], first + tet[2], first + tet[3]);
	}
}

static void describe(const FemMemberSearch *search, FemTetMember *member) {
	double cube = pow(search->frame.size, 3.0);
	member->whole = search->best_whole;
	member->volume = (float)(fem_tet_list_volume_sum(&search->best) * cube);
	member->input_volume = (float)(search->volume * cube);
	member->min_dihedral = (float)fem_tet_list_min_dihedral(&search->best);
	member->cell = (float)(search->best_cell * search->frame.size);
	if (member->kind == FEM_MEMBER_THIN_WALL ||
		(member->kind == FEM_MEMBER_SHEET && search->best_solid.inflation > 0.0))
		member->stiffness_excess = (float)wall_excess((double)member->cell / (double)member->thickness);
	else if (member->kind == FEM_MEMBER_WALL || (member->kind == FEM_MEMBER_SHEET && member->stiffness_excess == 1.0f))
		member->stiffness_excess = 1.0f + WALL_PRISM_EXCESS / (float)(member->layers * member->layers);
}

static FemResult mesh_solid(FemMemberSearch *search, FemTetList *out) {
	const FemMemberRequest *request = search->request;
	FemResult result = fem_member_make_solid(request, search);
	if (result != FEM_OK)
		return result;
	bool sheet = search->volume < VOLUME_MIN * fem_member_box_volume(&search->solid) ||
		search->solid.half_extents[2] < FLAT_EXTENT ||
		(!request->closed && fem_member_bounding_share(&search->solid) < BOUNDING_SHARE);
	double thickness = sheet_thickness_of(search);
	bool found = false;
	if (sheet && !(thickness > 0.0))
		result = search_skins(search, &found);
	else if (!sheet && is_to_be_hollow(search))
		result = search_hollow(search, &found);
	if (result != FEM_OK)
		return result;
	if (sheet && !found && !(thickness > 0.0))
		return fem_fail(FEM_ERROR_MESH,
			"Part %d of the mesh (%d triangles) encloses no volume: close its holes or give it "
			"thickness (Solidify in Blender), or set sheet_thickness or wall_thickness.",
			request->group, search->solid.triangles.triangle_count);
	if (!found)
		result = sheet ? search_sheet(search, thickness) : search_by_kind(search);
	search->member->has_given_thickness = sheet && !found && request->gives_thickness;
	if (result != FEM_OK)
		return result;
	if (search->best.tet_count == 0)
		return fem_fail(FEM_ERROR_MESH,
			"No tets could be made for part %d of the mesh: raise element_count, or remove the "
			"part if it is a stray triangle.",
			request->group);
	result = fit_surface(search);
	if (result != FEM_OK)
		return result;
	describe(search, search->member);
	append_best(search, out);
	return out->failed ? fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.")
					   : FEM_OK;
}

FemResult fem_member_mesh(const FemMemberRequest *request, FemTetList *out, FemTetMember *member) {
	FemMemberSearch search = {.request = request, .member = member, .best_score = FEM_MEMBER_NO_SCORE};
	*member = (FemTetMember){.kind = FEM_MEMBER_COMPACT, .stiffness_excess = 1.0f};
	FemResult result = mesh_solid(&search, out);
	fem_tet_list_free(&search.best);
	fem_tet_list_free(&search.trial);
	fem_solid_free(&search.solid);
	return result;
}
