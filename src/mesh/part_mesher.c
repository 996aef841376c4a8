#include "mesh/part_mesher.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/coverage.h"
#include "mesh/plate_grid.h"
#include "mesh/principal_box.h"
#include "mesh/stuffing.h"
#include "mesh/surface_fit.h"

#include <string.h>

#define ATTEMPTS 14
#define THIN_ATTEMPTS 4
#define PLACES 60
#define LATTICE_CELLS 40.0    // most cells of the lattice for a tet wanted
#define FEW 500
#define GOOD_RATIO 0.11       // |log(count / target)| that ends the search ...
#define COUNT_RATIO 0.18      // ... and what is promised: within 20 %
#define COMPACT_DIHEDRAL 8.5  // degrees; 8 are promised
#define WALL_DIHEDRAL 8.2    // degrees, of walls drawn back; costs under 1 % of volume up to the aspect below ...
#define WALL_ASPECT 2.5      // cells: ... and another 10 % beyond it, where
#define THIN_DIHEDRAL 4.0     // degrees are kept
#define DEBRIS_SHARE 0.03     // of the volume: bodies smaller than this that hang on nothing are left out
#define LOST_SHARE 0.6        // of the input's volume: less means that walls fell through the lattice
#define VOLUME_SAMPLES 20     // a side
#define COVERAGE_SAMPLES 1500
#define COVERAGE_GAP 0.3      // of a cell
#define CLOSE_GAP 0.02        // of a cell
#define BOUNDARY_SAMPLES 600
#define SURE_WINDING 0.75
#define VOLUME_MIN 1e-3       // of the box: a part that encloses less is a sheet
#define THIN_SHARE 0.3        // of the smallest extent: thinner walls are walls
#define TINY_TARGET 20        // tets: a part of fewer is a box of plain cells
#define FLAT_SHARE 0.2        // height over width of a sheet that counts as flat
#define FLAT_ASPECT 1.5f      // plates are to have cells this many times as long as their layer is thick, beams are corrected so
#define PLATE_ASPECT 1.2f     // plates and walls are corrected from here on
#define LAYERS_MAX 16.0
#define SLENDER 3.0           // extents in this ratio make a plate or a beam

typedef struct Search {
	const FemPartRequest *request;
	FemSolid solid;
	FemUnitFrame frame;
	FemTetPart *part;
	double volume; // of the soup, unit space
	FemTetList best, trial;
	double best_score, best_cell;
	bool best_whole; // one body, little volume lost
	int32_t best_dropped;
	FemSolid best_solid; // inflation of the best try; arrays are not its own
} Search;

static bool report_progress(const FemPartRequest *request, double share) {
	const FemBakeDef *def = request->def;
	if (!def->progress)
		return true;
	double all = (double)request->share_begin + share * (double)(request->share_end - request->share_begin);
	if (def->progress(def->progress_context, (float)all))
		return true;
	*request->cancelled = true;
	return false;
}

static FemResult stopped(void) {
	return fem_fail(FEM_ERROR_LIMIT, "The bake was cancelled.");
}

// ---------------------------------------------------------------------------------------------------------------- volume

static double sample_at(int32_t i) {
	return (2.0 * i + 1.0) / VOLUME_SAMPLES - 1.0;
}

// Winding numbers on a grid of points: for surfaces with holes.
static double sampled_volume(const FemSolid *solid) {
	int32_t inside = 0;
	const double *half = solid->half_extents;
	for (int32_t i = 0; i < VOLUME_SAMPLES; i++)
		for (int32_t j = 0; j < VOLUME_SAMPLES; j++)
			for (int32_t k = 0; k < VOLUME_SAMPLES; k++)
				inside += fem_winding_inside(&solid->winding, (FemPosition){half[0] * sample_at(i), half[1] * sample_at(j),
					half[2] * sample_at(k)});
	return 8.0 * half[0] * half[1] * half[2] * inside / (VOLUME_SAMPLES * VOLUME_SAMPLES * VOLUME_SAMPLES);
}

// The share of the surface that parts inside from outside. Winding numbers of a sheet are little off 1/2 on either side.
static double bounding_share(const FemSolid *solid) {
	const FemTriangles *triangles = &solid->triangles;
	int32_t stride = triangles->triangle_count / BOUNDARY_SAMPLES + 1;
	double area = 0.0, bounding = 0.0;
	for (int32_t t = 0; t < triangles->triangle_count; t += stride) {
		FemPosition n = fem_triangle_area_vector(triangles, t), middle = {0};
		double size = sqrt(fem_position_dot(n, n));
		for (int v = 0; v < 3; v++)
			middle = fem_position_add(middle, fem_position_scale(fem_triangle_corner(triangles, t, v), 1.0 / 3.0));
		FemPosition step = fem_position_scale(n, 1e-5 / size);
		double out = fabs(fem_winding_number(&solid->winding, fem_position_add(middle, step)));
		double in = fabs(fem_winding_number(&solid->winding, fem_position_sub(middle, step)));
		area += size;
		bounding += fmax(in, out) > SURE_WINDING ? size : 0.0;
	}
	return bounding / area;
}

static double box_volume(const FemSolid *solid) {
	return 8.0 * solid->half_extents[0] * solid->half_extents[1] * solid->half_extents[2];
}

static FemResult make_solid(const FemPartRequest *request, Search *search) {
	FemPrincipalBox box;
	FemResult result = fem_principal_box(request->triangles, request->groups, request->group, &box);
	if (result == FEM_OK)
		result = fem_triangles_extract(request->triangles, request->groups, request->group, &box.frame,
			&search->solid.triangles);
	if (result == FEM_OK)
		result = fem_triangle_bvh_create(&search->solid.bvh, &search->solid.triangles);
	if (result == FEM_OK)
		result = fem_winding_create(&search->solid.winding, &search->solid.bvh);
	if (result != FEM_OK)
		return result;
	search->frame = box.frame;
	for (int axis = 0; axis < 3; axis++)
		search->solid.half_extents[axis] = box.half_extents[axis];
	double whole = box_volume(&search->solid), exact = fem_solid_volume(&search->solid);
	// The theorem counts what overlaps twice: then points must be counted.
	bool trusted = request->closed && request->triangles->component_count == 1 && exact <= whole;
	search->volume = trusted ? exact : sampled_volume(&search->solid);
	if (search->volume <= 0.0 && request->closed)
		search->volume = fmin(exact, whole);
	return FEM_OK;
}

// ---------------------------------------------------------------------------------------------------------------- search

// Leaves the largest body and others of some size; true when one is left and most of the volume is there.
static bool keep_sound(Search *search, FemTetList *list, int32_t *out_dropped, bool *out_memory) {
	int32_t capacity = list->tet_count + 1, *bodies = FEM_ALLOC_ARRAY(int32_t, capacity), kept = 0;
	int32_t count = bodies ? fem_tet_list_bodies(list, bodies) : 0;
	double *volumes = count ? FEM_ALLOC_ARRAY(double, count) : NULL, all = 0.0;
	*out_memory = list->tet_count == 0 || volumes;
	*out_dropped = 0;
	if (volumes) {
		for (int32_t t = 0; t < list->tet_count; t++)
			volumes[bodies[t]] += fem_tet_list_volume(list, t);
		for (int32_t b = 0; b < count; b++)
			all += volumes[b];
		for (int32_t b = 0; b < count; b++) {
			kept += volumes[b] >= DEBRIS_SHARE * all;
			*out_dropped += volumes[b] < DEBRIS_SHARE * all;
		}
		for (int32_t t = 0; t < list->tet_count; t++)
			bodies[t] = volumes[bodies[t]] >= DEBRIS_SHARE * all;
		*out_memory = fem_tet_list_keep(list, bodies, 1);
	}
	FEM_FREE_ARRAY(volumes, count);
	FEM_FREE_ARRAY(bodies, capacity);
	return kept == 1 && all >= LOST_SHARE * search->volume;
}

// Takes the trial when it is sound where the best is not, or nearer to the count.
static void judge(Search *search, double cell, bool whole, int32_t dropped) {
	double ratio = (double)search->trial.tet_count / search->request->target;
	double score = ratio > 0.0 ? fabs(log(ratio)) : 1e9;
	bool better = whole != search->best_whole ? whole && (score < 0.4 || score < search->best_score)
		: score < search->best_score;
	if (search->best.tet_count > 0 && !better)
		return;
	FemTetList kept = search->best;
	search->best = search->trial;
	search->trial = kept;
	search->best_score = score;
	search->best_cell = cell;
	search->best_whole = whole;
	search->best_dropped = dropped;
	search->best_solid = search->solid;
}

static FemResult try_stuffing(Search *search, const double stretch[3], double cell, bool fitted, double shift,
	int32_t *out_count) {
	// Scattered bits in a large box would ask for a lattice of mostly empty cells.
	cell = fmax(cell, cbrt(box_volume(&search->solid) / (LATTICE_CELLS * (double)search->request->target)));
	double cells[3] = {cell * stretch[0], cell * stretch[1], cell * stretch[2]};
	int32_t dropped;
	bool memory;
	fem_tet_list_clear(&search->trial);
	FemResult result = fem_stuff(&search->solid, cells, fitted, shift, &search->trial);
	if (result != FEM_OK)
		return result;
	bool whole = keep_sound(search, &search->trial, &dropped, &memory);
	if (!memory)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.");
	*out_count = search->trial.tet_count;
	// A thickened surface lies within its tets: where it does not, the lattice has holes.
	if (whole && search->solid.inflation > 0.0) {
		double gap = fem_coverage_gap(&search->solid.triangles, &search->trial, COVERAGE_SAMPLES);
		if (gap < 0.0)
			return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.");
		whole = gap < COVERAGE_GAP * cell;
	}
	bool cubic = stretch[0] == 1.0 && search->solid.inflation <= 0.0;
	if (!cubic || !fitted || fem_tet_list_min_dihedral(&search->trial) >= COMPACT_DIHEDRAL)
		judge(search, cell, whole, dropped);
	return FEM_OK;
}

static bool found_good(const Search *search) {
	return search->best.tet_count > 0 && search->best_whole && search->best_score < GOOD_RATIO;
}

// Cells fitted to the box that follow its flat faces and sharp edges, with a count that may pass: free ones would only be
// nearer to the count.
static bool fits_closely(const Search *search) {
	if (!search->best_whole || search->best_score > COUNT_RATIO)
		return false;
	double gap = fem_coverage_gap(&search->solid.triangles, &search->best, COVERAGE_SAMPLES);
	return gap >= 0.0 && gap < CLOSE_GAP * search->best_cell;
}

// Cells fitted to the box first (exact for boxes), then free ones, whose count follows the size more smoothly.
static FemResult search_cells(Search *search, const double stretch[3], double cell, int attempts) {
	double next = cell;
	for (int i = 0; i < attempts && !found_good(search); i++) {
		bool fitted = i < attempts / 2;
		// Unlike sides let a cube have 3 x 3 x 4 cells, where 3 are too few and 4 too many.
		static const double skews[3][3] = {{1.0, 1.0, 1.0}, {1.0, 1.1, 0.91}, {1.05, 1.05, 0.91}};
		const double *skew = skews[fitted ? i % 3 : 0];
		double bent[3] = {stretch[0] * skew[0], stretch[1] * skew[1], stretch[2] * skew[2]};
		int32_t count = 0;
		if (!report_progress(search->request, (double)i / attempts))
			return stopped();
		if (i == attempts / 2 && fits_closely(search))
			return FEM_OK;
		if (i == attempts / 2 && search->best.tet_count)
			next = search->best_cell * cbrt((double)search->best.tet_count / search->request->target);
		FemResult result = try_stuffing(search, bent, next, fitted, 0.25 * (i % 4), &count);
		if (result != FEM_OK)
			return result;
		double ratio = (double)count / search->request->target;
		next *= ratio > 0.0 ? fmin(fmax(cbrt(ratio), 0.6), 1.6) : 0.7;
		if (i + 1 < attempts / 2 && fabs(log(ratio)) < 0.05)
			i = attempts / 2 - 1; // count is right but the shape is not: free cells
	}
	return FEM_OK;
}

// Walls that fall through the lattice are thickened to a good part of a cell, ever more until all hangs together. (Points
// within one whole cell: every tet that the surface touches has all its nodes inside, so a connected surface gives a
// connected body.) Nodes are drawn back to the surface later.
static FemResult search_thin(Search *search, double wall, double cell) {
	static const double shares[] = {1.1, 1.25, 1.4, 1.6, 2.0};
	static const double even[3] = {1.0, 1.0, 1.0};
	for (size_t s = 0; s < sizeof shares / sizeof *shares && !(search->best_whole && search->best_score < COUNT_RATIO); s++) {
		double next = cell;
		for (int i = 0; i < THIN_ATTEMPTS && !found_good(search); i++) {
			int32_t count = 0;
			search->solid.inflation = fmax(0.5 * (shares[s] * next - wall), 0.02 * next);
			if (!report_progress(search->request, 0.2 * (double)s + 0.2 * i / THIN_ATTEMPTS))
				return stopped();
			FemResult result = try_stuffing(search, even, next, false, 0.3, &count);
			if (result != FEM_OK)
				return result;
			double ratio = (double)count / search->request->target;
			next *= ratio > 0.0 ? fmin(fmax(sqrt(ratio), 0.7), 1.5) : 0.7;
		}
	}
	return FEM_OK;
}

// ----------------------------------------------------------------------------------------------------------------- kinds

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

// Stiffness against beam theory of clamped strips and arcs, measured with this engine at Poisson ratio 0.3
// (tests/test_plates.c, tests/test_curved_walls.c); cells 1, 2.5, 5, 10 times as long as thick.
// What is too much is so within each layer, and goes with the square of their number.
// Wide: sheets of prisms, clamped on one and on four sides alike; else 5-tet cells.
static double plate_excess(double aspect, double strength, int32_t layers, bool wide) {
	static const double at[4] = {1.0, 2.5, 5.0, 10.0};
	static const double plain[2][4] = {{2.9, 6.7, 21.0, 77.0}, {4.0, 10.0, 31.0, 115.0}};
	static const double corrected[2][4] = {{1.06, 1.41, 1.56, 1.59}, {1.2, 2.5, 2.5, 2.6}};
	double one = strength > 0.0 ? look_up(at, corrected[wide], fmin(aspect, at[3])) : look_up(at, plain[wide], aspect);
	return 1.0 + (one - 1.0) / ((double)layers * layers);
}

// The correction also softens what is not flat (a bar of cubes by 1.4): only cells longer than their layer is thick.
bool fem_part_is_corrected(const FemTetPart *part) {
	int32_t layers = part->layers > 0 ? part->layers : 1;
	float limit = part->kind == FEM_PART_BEAM ? FLAT_ASPECT : PLATE_ASPECT;
	return part->kind != FEM_PART_COMPACT && part->cell * (float)layers > limit * part->thickness;
}

// Cells shorter than thick would be three times too stiff, and not flat enough for the correction: with more tets a plate
// gets more layers. Of n tets in L layers over an area A, cells are sqrt(5 L A / n) long and t / L thick.
static int32_t enough_layers(const Search *search, const FemPlateSurvey *survey) {
	int32_t asked = search->request->def->plate_layers;
	if (search->part->kind == FEM_PART_BEAM)
		return asked;
	double area = 4.0 * search->solid.half_extents[0] * search->solid.half_extents[1] * fmax(survey->fill, 0.05);
	double cell = sqrt(5.0 * area / search->request->target);
	double layers = ceil(pow(FLAT_ASPECT * survey->thickness / cell, 2.0 / 3.0) - 0.1);
	return layers > asked ? (int32_t)fmin(layers, LAYERS_MAX) : asked;
}

static double wall_excess(double aspect, double strength) {
	static const double at[4] = {1.25, 2.5, 5.0, 10.0};
	static const double plain[4] = {2.3, 7.2, 80.0, 1000.0}, corrected[4] = {1.7, 3.5, 24.0, 420.0};
	return look_up(at, strength > 0.0 ? corrected : plain, aspect);
}

static FemResult fill_plate(Search *search, const int32_t cells[2], int32_t layers, double thickness,
	int32_t *out_count) {
	int32_t dropped;
	bool memory;
	fem_tet_list_clear(&search->trial);
	FemResult result = fem_plate_fill(&search->solid, cells, layers, thickness, &search->trial);
	if (result != FEM_OK)
		return result;
	*out_count = search->trial.tet_count;
	bool whole = keep_sound(search, &search->trial, &dropped, &memory);
	if (!memory)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.");
	double side = fmax(search->solid.half_extents[0] / cells[0], search->solid.half_extents[1] / cells[1]);
	judge(search, 2.0 * side, whole, dropped);
	return FEM_OK;
}

// The second count is kept while the first follows the target: a beam has one cell across and any number along.
static FemResult search_plate(Search *search, const FemPlateSurvey *survey) {
	const double *half = search->solid.half_extents;
	int32_t layers = enough_layers(search, survey);
	double wanted = fmax(1.0, search->request->target / (5.0 * layers * fmax(survey->fill, 0.05)));
	bool wide = false;
	for (int i = 0; i < ATTEMPTS && !found_good(search); i++) {
		double across = fmax(1.0, floor(sqrt(wanted * half[1] / half[0]) + 0.5));
		double along = fmax(1.0, floor(wanted / across + 0.5));
		if (along * across > 1e7)
			return fem_fail(FEM_ERROR_LIMIT, "The plate would need %.0f cells: ask for fewer elements.", along * across);
		int32_t cells[2] = {(int32_t)along, (int32_t)across}, count = 0;
		wide = fem_plate_is_wide(cells, layers);
		if (!report_progress(search->request, (double)i / ATTEMPTS))
			return stopped();
		FemResult result = fill_plate(search, cells, layers, survey->thickness, &count);
		if (result != FEM_OK)
			return result;
		wanted *= count > 0 ? fmin(fmax((double)search->request->target / count, 0.3), 3.0) : 3.0;
	}
	search->part->thickness = (float)(survey->thickness * search->frame.size);
	search->part->cell = (float)(search->best_cell * search->frame.size);
	search->part->layers = layers;
	double aspect = search->best_cell * layers / fmax(survey->thickness, 1e-9);
	double strength = fem_part_is_corrected(search->part) ? (double)search->request->def->plate_strength : 0.0;
	search->part->stiffness_excess = (float)plate_excess(aspect, strength, layers, wide);
	return FEM_OK;
}

// Plain cells for boxes of few tets, where the lattice's count goes in leaps: the whole numbers of cells that come nearest
// to the target, and of those the most cubic.
static FemResult search_box(Search *search, const FemPlateSurvey *survey) {
	const double *half = search->solid.half_extents;
	int32_t best[3] = {1, 1, 1}, count;
	double best_cost = 1e9;
	for (int32_t n = 0; n < 12 * 12 * 12; n++) {
		int32_t cells[3] = {n / 144 + 1, n / 12 % 12 + 1, n % 12 + 1};
		double side[3] = {half[0] / cells[0], half[1] / cells[1], half[2] / cells[2]};
		double longest = fmax(side[0], fmax(side[1], side[2])), shortest = fmin(side[0], fmin(side[1], side[2]));
		double miss = fabs(log(5.0 * cells[0] * cells[1] * cells[2] / search->request->target));
		double cost = fmax(miss, 0.1) + 0.3 * log(longest / shortest);
		if (miss < COUNT_RATIO && cost < best_cost) {
			best_cost = cost;
			memcpy(best, cells, sizeof best);
		}
	}
	if (best_cost >= 1e9)
		return FEM_OK;
	fem_tet_list_clear(&search->best);
	search->best_score = 1e9;
	search->part->kind = FEM_PART_COMPACT;
	return fill_plate(search, best, best[2], survey->thickness, &count);
}

// A rod that is not a box: cells in its section as asked, stretched along it to meet the count.
static FemResult search_rod(Search *search, double cubic) {
	double across = 2.0 * search->solid.half_extents[1] / (1.0 + search->request->def->plate_layers);
	double along = fmin(cubic * cubic * cubic / (across * across), 1.0);
	for (int i = 0; i < ATTEMPTS && !found_good(search); i++) {
		double stretch[3] = {along / across, 1.0, 1.0};
		int32_t count = 0;
		if (!report_progress(search->request, (double)i / ATTEMPTS))
			return stopped();
		FemResult result = try_stuffing(search, stretch, across, true, 0.0, &count);
		if (result != FEM_OK)
			return result;
		double ratio = (double)count / search->request->target;
		along *= ratio > 0.0 ? fmin(fmax(ratio, 0.5), 2.0) : 0.6;
		along = fmin(along, 1.0);
	}
	search->best_cell = along;
	search->part->thickness = (float)(2.0 * search->solid.half_extents[2] * search->frame.size);
	return FEM_OK;
}

static FemResult search_sheet(Search *search, double thickness) {
	search->solid.sheet_half = 0.5 * thickness / search->frame.size;
	search->part->kind = FEM_PART_SHEET;
	search->part->thickness = (float)thickness;
	double area = fem_solid_area(&search->solid);
	search->volume = 0.0;
	FemPlateSurvey survey = fem_plate_survey(&search->solid);
	if (survey.fits && search->solid.half_extents[2] < FLAT_SHARE * search->solid.half_extents[1])
		return search_plate(search, &survey);
	return search_thin(search, 0.0, sqrt(12.0 * area / search->request->target));
}

// Twice volume over area: a wall's thickness.
static bool has_thin_walls(const Search *search, double wall, double cell) {
	return wall < THIN_SHARE * 2.0 * search->solid.half_extents[2] && wall < 1.1 * cell;
}

// Few tets: the count goes in leaps, so other places of the lattice are tried too.
static FemResult search_places(Search *search, double cell) {
	static const double even[3] = {1.0, 1.0, 1.0};
	for (int i = 0; i < PLACES && search->best_score > COUNT_RATIO && search->request->target < FEW; i++) {
		int32_t count;
		FemResult result = try_stuffing(search, even, cell * (0.8 + 0.02 * (i % 20)), false, fmod(0.618 * i, 1.0), &count);
		if (result != FEM_OK)
			return result;
	}
	return FEM_OK;
}

static FemResult search_compact(Search *search, double cell) {
	static const double even[3] = {1.0, 1.0, 1.0};
	double area = fem_solid_area(&search->solid), wall = 2.0 * search->volume / area;
	if (!has_thin_walls(search, wall, cell)) {
		FemResult result = search_cells(search, even, cell, ATTEMPTS);
		if (result == FEM_OK)
			result = search_places(search, cell);
		if (result != FEM_OK || search->best_whole)
			return result;
	}
	search->part->kind = FEM_PART_THIN_WALL;
	search->part->thickness = (float)(wall * search->frame.size);
	return search_thin(search, wall, sqrt(8.0 * area / search->request->target));
}

static FemResult search_by_kind(Search *search) {
	const double *half = search->solid.half_extents;
	double cell = cbrt(12.0 * search->volume / search->request->target);
	FemPlateSurvey survey = fem_plate_survey(&search->solid);
	bool tiny = search->request->target < TINY_TARGET && survey.thickness > 0.0;
	bool flat = half[1] > SLENDER * 0.5 * survey.thickness, slim = half[0] > SLENDER * half[1];
	bool coarse = survey.thickness < 2.0 * cell;
	if (tiny || (coarse && ((survey.fits && flat) || (survey.fits_rod && slim)))) {
		search->part->kind = flat ? FEM_PART_PLATE : slim ? FEM_PART_BEAM : FEM_PART_COMPACT;
		return search_plate(search, &survey);
	}
	// A round rod's columns differ in thickness: cells along it, unless cubic ones do.
	if (slim && half[1] < cell * 2.0 && survey.fill > 0.5 && search->volume > 0.4 * box_volume(&search->solid)) {
		search->part->kind = FEM_PART_BEAM;
		return search_rod(search, cell);
	}
	FemResult result = search_compact(search, cell);
	bool is_box = survey.fits && survey.fill > 0.98 && search->volume > 0.98 * box_volume(&search->solid);
	// Free lattices cut the edges of a box.
	bool poor = search->best_score > GOOD_RATIO || fem_tet_list_volume_sum(&search->best) < 0.99 * search->volume;
	return result == FEM_OK && is_box && poor ? search_box(search, &survey) : result;
}

// --------------------------------------------------------------------------------------------------------------- results

static FemResult fit_surface(Search *search) {
	FemPartKind kind = search->part->kind;
	if (kind == FEM_PART_PLATE || (kind == FEM_PART_SHEET && search->best_solid.inflation <= 0.0))
		return FEM_OK;
	search->solid.inflation = search->best_solid.inflation;
	search->solid.sheet_half = kind == FEM_PART_SHEET ? 0.5 * (double)search->part->thickness / search->frame.size : 0.0;
	double aspect = search->best_cell * search->frame.size / fmax((double)search->part->thickness, 1e-30);
	double limit = aspect <= WALL_ASPECT ? WALL_DIHEDRAL : THIN_DIHEDRAL;
	return fem_surface_fit(&search->solid, search->best_cell, limit, COMPACT_DIHEDRAL, &search->best);
}

static void append_best(const Search *search, FemTetList *out) {
	int32_t first = out->node_count;
	for (int32_t n = 0; n < search->best.node_count; n++)
		fem_tet_list_add_node(out, fem_frame_to_user(&search->frame, search->best.nodes[n]));
	for (int32_t t = 0; t < search->best.tet_count && !out->failed; t++) {
		const int32_t *tet = search->best.tets[t];
		fem_tet_list_add_tet(out, first + tet[0], first + tet[1], first + tet[2], first + tet[3]);
	}
}

static void describe(const Search *search, FemTetPart *part) {
	double cube = pow(search->frame.size, 3.0);
	part->whole = search->best_whole;
	part->dropped_bodies = search->best_dropped;
	part->volume = (float)(fem_tet_list_volume_sum(&search->best) * cube);
	part->input_volume = (float)(search->volume * cube);
	part->min_dihedral = (float)fem_tet_list_min_dihedral(&search->best);
	part->cell = (float)(search->best_cell * search->frame.size);
	if (part->kind == FEM_PART_THIN_WALL || (part->kind == FEM_PART_SHEET && search->best_solid.inflation > 0.0))
		part->stiffness_excess = (float)wall_excess((double)part->cell / (double)part->thickness,
			(double)search->request->def->plate_strength);
}

static FemResult mesh_solid(Search *search, FemTetList *out) {
	const FemPartRequest *request = search->request;
	FemResult result = make_solid(request, search);
	if (result != FEM_OK)
		return result;
	bool sheet = search->volume < VOLUME_MIN * box_volume(&search->solid) || search->solid.half_extents[2] < 1e-6 ||
		(!request->closed && bounding_share(&search->solid) < 0.5);
	if (sheet && !(request->def->sheet_thickness > 0.0f))
		return fem_fail(FEM_ERROR_MESH, "Part %d of the mesh (%d triangles) encloses no volume: close its holes or give it "
			"thickness (Solidify in Blender), or set sheet_thickness.", request->group, search->solid.triangles.triangle_count);
	result = sheet ? search_sheet(search, (double)request->def->sheet_thickness) : search_by_kind(search);
	if (result != FEM_OK)
		return result;
	if (search->best.tet_count == 0)
		return fem_fail(FEM_ERROR_MESH, "No tets could be made for part %d of the mesh: raise element_count, or remove the "
			"part if it is a stray triangle.", request->group);
	result = fit_surface(search);
	if (result != FEM_OK)
		return result;
	describe(search, search->part);
	append_best(search, out);
	return out->failed ? fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.") : FEM_OK;
}

FemResult fem_part_mesh(const FemPartRequest *request, FemTetList *out, FemTetPart *part) {
	Search search = {.request = request, .part = part, .best_score = 1e9};
	*part = (FemTetPart){.kind = FEM_PART_COMPACT, .stiffness_excess = 1.0f};
	FemResult result = mesh_solid(&search, out);
	fem_tet_list_free(&search.best);
	fem_tet_list_free(&search.trial);
	fem_solid_free(&search.solid);
	return result;
}
