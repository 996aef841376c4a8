#include "filling/member_search.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "filling/coverage.h"
#include "geometry/principal_box.h"

#include <math.h>
#include <string.h>

#define THIN_ATTEMPTS 4 // cell sizes tried for each thickening; chosen
// Most cells of the lattice for a tet wanted; chosen: a member that fills a fortieth of its box.
#define LATTICE_CELLS 40.0
#define DEBRIS_SHARE 0.03        // of the volume: bodies smaller than this that hang on nothing are left out; chosen
#define LOST_SHARE 0.6           // of the input's volume: less means that walls fell through the lattice; chosen
#define VOLUME_COLUMNS 1200      // that go through an open member and measure its volume to some 2 %; chosen
#define VOLUME_FEW 12            // of as many that are taken first: where no more go through it, it has none; chosen
#define VOLUME_POINTS 2e5        // that are asked in columns at the most, about 5 us each; chosen
#define COLUMN_POINTS 24         // that are asked in a column as high as the box, where nothing crosses it; chosen
#define BORDER_POINTS 8000.0     // of a surface at which both its sides are asked, about ...
#define BORDER_POINTS_MOST 400.0 // ... pairs of them in a triangle ...
#define BORDER_TRIANGLES 10000   // ... of meshes of so many at most, about 10 us a point; all chosen
#define CROSSING_COLUMNS 200     // in which an overlap of a closed surface is looked for; chosen
#define TWICE 1.5 // difference of winding numbers that a surface which does not cross itself cannot have: it has 1
#define SPREAD_U 0.7548776662466927 // steps of a sequence that covers the unit square evenly: see coverage.c
#define SPREAD_V 0.5698402909980532 // the same
// Points of the surface that must have a tet near: a hole of 0.2 % of it is found 19 times of 20.
#define COVERAGE_SAMPLES 1500
#define COVERAGE_GAP 0.3     // of a cell: farther from any tet, a point of the surface is not covered; chosen
#define CLOSE_GAP 0.02       // of a cell: farthest that a surface which counts as met may lie from the tets; chosen
#define BOUNDARY_SAMPLES 600 // triangles at which the winding number is asked on both sides; chosen
// Winding number from which on a side counts as inside: the mean of 1/2, which it has at the rim of a hole, and 1.
#define SURE_WINDING 0.75
// Of the frame, which is about as large as the member: how far from the surface both its sides are asked; chosen.
#define SIDE_OFFSET 1e-5
#define WHOLE_SCORE 0.4       // |ln(tets / target)|: a whole body this near is better than a nearer one in bits; chosen
#define FOLLOW_LEAST 0.6      // factor by which a cell size changes from one attempt to the next, at the least ...
#define FOLLOW_MOST 1.6       // ... and at the most; both chosen
#define FOLLOW_EMPTY 0.7      // the same where nothing came of an attempt; chosen
#define COUNT_IS_RIGHT 0.05   // |ln(tets / target)| from which on other cells are tried for their shape; chosen
#define THIN_LEAST 0.02       // of a cell: least thickening of a wall; chosen
#define THIN_SHIFT 0.3        // of a cell: where the lattice of thin walls lies; chosen, off their planes
#define THIN_FOLLOW_LEAST 0.7 // as FOLLOW_LEAST, for walls, whose count goes with the square of the size ...
#define THIN_FOLLOW_MOST 1.5  // ... and at the most; both chosen

bool fem_member_report(const FemMemberRequest *request, double share) {
	const FemBakeDef *def = request->def;
	if (!def->progress)
		return true;
	double all = (double)request->share_begin + share * (double)(request->share_end - request->share_begin);
	if (def->progress(def->progress_context, (float)all))
		return true;
	*request->cancelled = true;
	return false;
}

// ---- volume

typedef struct Column {
	double x, y;
	double stops[FEM_CROSSING_MAX + 2]; // heights: the bottom, where the surface crosses, the top
	int32_t stop_count;
} Column;

// Number i of columns that are spread evenly over the box (see coverage.c for the steps).
static void take_column(const FemSolid *solid, int32_t i, Column *column) {
	const double *half = solid->half_extents;
	FemCrossing crossings[FEM_CROSSING_MAX];
	column->x = half[0] * (2.0 * fmod(SPREAD_U * i, 1.0) - 1.0);
	column->y = half[1] * (2.0 * fmod(SPREAD_V * i, 1.0) - 1.0);
	FemVec3d bottom = {column->x, column->y, -half[2]}, top = {column->x, column->y, half[2]};
	int32_t count = fem_bvh_crossings(&solid->bvh, bottom, top, 0.0, crossings);
	column->stop_count = 0;
	column->stops[column->stop_count++] = bottom.z;
	for (int32_t c = 0; c < count; c++)
		column->stops[column->stop_count++] = bottom.z + crossings[c].t * (top.z - bottom.z);
	column->stops[column->stop_count++] = top.z;
}

// The length of a column's stretch that lies inside. Points spread over it are asked, since a hole in the surface ends
// the inside without a crossing.
static double length_inside(const FemSolid *solid, const Column *column, int32_t stretch, double *io_asked) {
	double from = column->stops[stretch], length = column->stops[stretch + 1] - from;
	int32_t count = 1 + (int32_t)(length * COLUMN_POINTS / (2.0 * solid->half_extents[2])), inside = 0;
	for (int32_t i = 0; i < count; i++)
		inside +=
			fem_winding_inside(&solid->winding, (FemVec3d){column->x, column->y, from + length * (i + 0.5) / count});
	*io_asked += count;
	return length * inside / count;
}

// For surfaces with holes, or that cross themselves. Of a figure of sticks most columns meet nothing: those that do are
// counted.
static double sampled_volume(const FemSolid *solid) {
	double sum = 0.0, asked = 0.0;
	int32_t taken = 0;
	for (int32_t met = 0; met < VOLUME_COLUMNS && asked < VOLUME_POINTS && !fem_stop_asked();) {
		if (taken == VOLUME_COLUMNS && met < VOLUME_FEW)
			break; // a sheet, or nearly so
		Column column;
		double before = sum;
		take_column(solid, ++taken, &column);
		for (int32_t s = 0; s + 1 < column.stop_count; s++)
			sum += length_inside(solid, &column, s, &asked);
		met += sum > before;
	}
	return taken > 0 ? 4.0 * solid->half_extents[0] * solid->half_extents[1] * sum / taken : 0.0;
}

// The share of a triangle that parts inside from outside: 1 where the inside lies behind it, -1 where it lies before
// it.
static double bordering_share(const FemSolid *solid, int32_t t, int32_t count) {
	const FemTriangles *triangles = &solid->triangles;
	FemVec3d n = fem_triangle_area_vector(triangles, t), a = fem_triangle_corner(triangles, t, 0);
	FemVec3d b = fem_vec3d_sub(fem_triangle_corner(triangles, t, 1), a);
	FemVec3d c = fem_vec3d_sub(fem_triangle_corner(triangles, t, 2), a);
	FemVec3d step = fem_vec3d_scale(n, SIDE_OFFSET / sqrt(fem_vec3d_dot(n, n)));
	double sum = 0.0;
	for (int32_t i = 0; i < count; i++) {
		double u = fmod(SPREAD_U * (i / 2 + 1), 1.0), v = fmod(SPREAD_V * (i / 2 + 1), 1.0);
		if (u + v > 1.0)
			u = 1.0 - u, v = 1.0 - v;
		// Both ways, so that the two faces of a slab are asked at the same places.
		FemVec3d at =
			fem_vec3d_add(a, fem_vec3d_add(fem_vec3d_scale(b, i % 2 ? v : u), fem_vec3d_scale(c, i % 2 ? u : v)));
		double above = fem_winding_number(&solid->winding, fem_vec3d_add(at, step));
		sum += (fabs(above + 1.0) > 0.5) - (fabs(above) > 0.5);
	}
	return sum / count;
}

// For closed surfaces that cross: the divergence theorem over what of them is the border of the whole. Thin slabs,
// which columns hardly meet, come out exactly but for where they cross others.
static double bordered_volume(const FemSolid *solid) {
	const FemTriangles *triangles = &solid->triangles;
	double sum = 0.0, all = fem_solid_area(solid);
	for (int32_t t = 0; t < triangles->triangle_count && !fem_stop_asked(); t++) {
		FemVec3d n = fem_triangle_area_vector(triangles, t);
		double wanted = BORDER_POINTS * sqrt(fem_vec3d_dot(n, n)) / all;
		int32_t count = 2 * (int32_t)fmin(fmax(ceil(0.5 * wanted), 1.0), BORDER_POINTS_MOST);
		sum += bordering_share(solid, t, count) * fem_vec3d_dot(fem_triangle_corner(triangles, t, 0), n) / 3.0;
	}
	return sum;
}

// Whether a closed surface goes round something twice, or round one thing one way and round another the other way.
static bool crosses_itself(const FemSolid *solid) {
	double least = 0.0, most = 0.0;
	for (int32_t i = 1; i <= CROSSING_COLUMNS && most - least < TWICE; i++) {
		Column column;
		take_column(solid, i, &column);
		for (int32_t s = 0; s + 1 < column.stop_count; s++) {
			double z = 0.5 * (column.stops[s] + column.stops[s + 1]);
			double w = fem_winding_number(&solid->winding, (FemVec3d){column.x, column.y, z});
			least = fmin(least, w);
			most = fmax(most, w);
		}
	}
	return most - least >= TWICE;
}

// The share of the surface that parts inside from outside. Winding numbers of a sheet are little off 1/2 on either
// side.
double fem_member_bounding_share(const FemSolid *solid) {
	const FemTriangles *triangles = &solid->triangles;
	int32_t stride = triangles->triangle_count / BOUNDARY_SAMPLES + 1;
	double area = 0.0, bounding = 0.0;
	for (int32_t t = 0; t < triangles->triangle_count; t += stride) {
		FemVec3d n = fem_triangle_area_vector(triangles, t), middle = {0};
		double size = sqrt(fem_vec3d_dot(n, n));
		for (int v = 0; v < 3; v++)
			middle = fem_vec3d_add(middle, fem_vec3d_scale(fem_triangle_corner(triangles, t, v), 1.0 / 3.0));
		FemVec3d step = fem_vec3d_scale(n, SIDE_OFFSET / size);
		double out = fabs(fem_winding_number(&solid->winding, fem_vec3d_add(middle, step)));
		double in = fabs(fem_winding_number(&solid->winding, fem_vec3d_sub(middle, step)));
		area += size;
		bounding += fmax(in, out) > SURE_WINDING ? size : 0.0;
	}
	return bounding / area;
}

double fem_member_box_volume(const FemSolid *solid) {
	return 8.0 * solid->half_extents[0] * solid->half_extents[1] * solid->half_extents[2];
}

FemResult fem_member_make_solid(const FemMemberRequest *request, FemMemberSearch *search) {
	FemPrincipalBox box;
	FemResult result = fem_principal_box(request->triangles, request->groups, request->group, &box);
	if (result == FEM_OK)
		result = fem_triangles_extract(
			request->triangles, request->groups, request->group, &box.frame, &search->solid.triangles);
	if (result == FEM_OK)
		result = fem_triangle_bvh_create(&search->solid.bvh, &search->solid.triangles);
	if (result == FEM_OK)
		result = fem_winding_create(&search->solid.winding, &search->solid.bvh);
	if (result != FEM_OK)
		return result;
	search->frame = box.frame;
	for (int axis = 0; axis < 3; axis++)
		search->solid.half_extents[axis] = box.half_extents[axis];
	double whole = fem_member_box_volume(&search->solid), exact = fem_solid_volume(&search->solid);
	// The theorem counts what overlaps twice: then points must be counted.
	bool trusted = request->closed && request->triangles->component_count == 1 && exact <= whole &&
		!crosses_itself(&search->solid);
	bool borders = request->closed && search->solid.triangles.triangle_count <= BORDER_TRIANGLES;
	search->volume = trusted ? exact : borders ? bordered_volume(&search->solid) : sampled_volume(&search->solid);
	if (search->volume <= 0.0 && request->closed)
		search->volume = fmin(exact, whole);
	return FEM_OK;
}

// ---- search

bool fem_member_keep_sound(FemMemberSearch *search, FemTetList *list, bool *out_memory) {
	int32_t capacity = list->tet_count + 1, *bodies = FEM_ALLOC_ARRAY(int32_t, capacity), kept = 0;
	int32_t count = bodies ? fem_tet_list_bodies(list, bodies) : 0;
	double *volumes = count ? FEM_ALLOC_ARRAY(double, count) : NULL, all = 0.0;
	*out_memory = list->tet_count == 0 || volumes;
	if (volumes) {
		for (int32_t t = 0; t < list->tet_count; t++)
			volumes[bodies[t]] += fem_tet_list_volume(list, t);
		for (int32_t b = 0; b < count; b++)
			all += volumes[b];
		for (int32_t b = 0; b < count; b++)
			kept += volumes[b] >= DEBRIS_SHARE * all;
		for (int32_t t = 0; t < list->tet_count; t++)
			bodies[t] = volumes[bodies[t]] >= DEBRIS_SHARE * all;
		*out_memory = fem_tet_list_keep(list, bodies, 1);
	}
	FEM_FREE_ARRAY(volumes, count);
	FEM_FREE_ARRAY(bodies, capacity);
	return kept == 1 && all >= LOST_SHARE * search->volume;
}

// How far the count of the trial is from what is asked for.
static double score_of_trial(const FemMemberSearch *search) {
	double ratio = (double)search->trial.tet_count / search->request->target;
	return ratio > 0.0 ? fabs(log(ratio)) : FEM_MEMBER_NO_SCORE;
}

void fem_member_keep_trial(FemMemberSearch *search, double cell, bool whole) {
	search->best_score = score_of_trial(search);
	FemTetList kept = search->best;
	search->best = search->trial;
	search->trial = kept;
	search->best_cell = cell;
	search->best_whole = whole;
	search->best_solid = search->solid;
}

void fem_member_judge(FemMemberSearch *search, double cell, bool whole) {
	double score = score_of_trial(search);
	bool better = whole != search->best_whole ? whole && (score < WHOLE_SCORE || score < search->best_score)
											  : score < search->best_score;
	if (search->best.tet_count == 0 || better)
		fem_member_keep_trial(search, cell, whole);
}

FemResult fem_member_try(
	FemMemberSearch *search, const double stretch[3], double cell, bool fitted, double shift, int32_t *out_count) {
	// Scattered bits in a large box would ask for a lattice of mostly empty cells.
	cell = fmax(cell, cbrt(fem_member_box_volume(&search->solid) / (LATTICE_CELLS * (double)search->request->target)));
	double cells[3] = {cell * stretch[0], cell * stretch[1], cell * stretch[2]};
	bool memory;
	fem_tet_list_clear(&search->trial);
	FemResult result = fem_stuffing_fill(&search->solid, cells, fitted, shift, &search->trial);
	if (result != FEM_OK)
		return result;
	bool whole = fem_member_keep_sound(search, &search->trial, &memory);
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
	if (!cubic || !fitted || fem_tet_list_min_dihedral(&search->trial) >= FEM_MEMBER_COMPACT_DIHEDRAL)
		fem_member_judge(search, cell, whole);
	return FEM_OK;
}

bool fem_member_found_good(const FemMemberSearch *search) {
	return search->best.tet_count > 0 && search->best_whole && search->best_score < FEM_MEMBER_GOOD_RATIO;
}

// Cells fitted to the box that follow its flat faces and sharp edges, with a count that may pass: free ones would only
// be nearer to the count.
static bool fits_closely(const FemMemberSearch *search) {
	if (!search->best_whole || search->best_score > FEM_MEMBER_COUNT_RATIO)
		return false;
	double gap = fem_coverage_gap(&search->solid.triangles, &search->best, COVERAGE_SAMPLES);
	return gap >= 0.0 && gap < CLOSE_GAP * search->best_cell;
}

// Cells fitted to the box first (exact for boxes), then free ones, whose count follows the size more smoothly.
FemResult fem_member_search_cells(FemMemberSearch *search, const double stretch[3], double cell, int attempts) {
	double next = cell;
	for (int i = 0; i < attempts && !fem_member_found_good(search); i++) {
		bool fitted = i < attempts / 2;
		// Unlike sides let a cube have 3 x 3 x 4 cells, where 3 are too few and 4 too many.
		static const double skews[3][3] = {{1.0, 1.0, 1.0}, {1.0, 1.1, 0.91}, {1.05, 1.05, 0.91}};
		const double *skew = skews[fitted ? i % 3 : 0];
		double bent[3] = {stretch[0] * skew[0], stretch[1] * skew[1], stretch[2] * skew[2]};
		int32_t count = 0;
		if (!fem_member_report(search->request, (double)i / attempts))
			return fem_fail_stopped();
		if (i == attempts / 2 && fits_closely(search))
			return FEM_OK;
		if (i == attempts / 2 && search->best.tet_count)
			next = search->best_cell * cbrt((double)search->best.tet_count / search->request->target);
		FemResult result = fem_member_try(search, bent, next, fitted, 0.25 * (i % 4), &count);
		if (result != FEM_OK)
			return result;
		double ratio = (double)count / search->request->target;
		next *= ratio > 0.0 ? fmin(fmax(cbrt(ratio), FOLLOW_LEAST), FOLLOW_MOST) : FOLLOW_EMPTY;
		if (i + 1 < attempts / 2 && fabs(log(ratio)) < COUNT_IS_RIGHT)
			i = attempts / 2 - 1; // count is right but the shape is not: free cells
	}
	return FEM_OK;
}

// Walls that fall through the lattice are thickened to a good part of a cell, ever more until all hangs together.
// (Points within one whole cell: every tet that the surface touches has all its nodes inside, so a connected surface
// gives a connected body.) Nodes are drawn back to the surface later.
FemResult fem_member_search_thin(FemMemberSearch *search, double wall, double cell) {
	// Thicknesses tried, in cells: chosen, from just connected to what is certain to be. Cells as long along every
	// axis.
	static const double shares[] = {1.1, 1.25, 1.4, 1.6, 2.0};
	static const double even[3] = {1.0, 1.0, 1.0};
	const size_t share_count = sizeof shares / sizeof *shares;
	for (size_t s = 0; s < share_count && !(search->best_whole && search->best_score < FEM_MEMBER_COUNT_RATIO); s++) {
		double next = cell;
		for (int i = 0; i < THIN_ATTEMPTS && !fem_member_found_good(search); i++) {
			int32_t count = 0;
			search->solid.inflation = fmax(0.5 * (shares[s] * next - wall), THIN_LEAST * next);
			if (!fem_member_report(search->request, ((double)s + (double)i / THIN_ATTEMPTS) / (double)share_count))
				return fem_fail_stopped();
			FemResult result = fem_member_try(search, even, next, false, THIN_SHIFT, &count);
			if (result != FEM_OK)
				return result;
			double ratio = (double)count / search->request->target;
			next *= ratio > 0.0 ? fmin(fmax(sqrt(ratio), THIN_FOLLOW_LEAST), THIN_FOLLOW_MOST) : FOLLOW_EMPTY;
		}
	}
	return FEM_OK;
}
