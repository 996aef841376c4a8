#include "filling/member_graded.h"

#include "base/error.h"
#include "base/growing.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "filling/coverage.h"
#include "filling/graded_stuffing.h"
#include "filling/surface_carve.h"
#include "filling/surface_fit.h"

#include <math.h>
#include <string.h>

#define SAMPLES 3000          // points of the surface at which its thickness is measured, at the most; chosen
#define COVERAGE_POINTS 30000 // vertices that are looked at, at the most; chosen
#define GAP_MARGIN 0.95       // of what is promised, for rounding; chosen
// The same of meshes of which not all vertices are looked at; chosen: scans came to 1.03 of the promise with 0.95.
#define GAP_SAMPLED 0.85
#define ANY_SHARE 1e9     // cells over thickness where thin parts ask for nothing
#define ROUNDS 3          // of making cells smaller where vertices are not covered; chosen
#define ROUNDS_ALONE 5    // ... where nothing else makes them smaller; chosen: 0.6^5 is 1/13
#define SMALLER 0.6       // factor on a cell from one round to the next: two bisections; chosen
#define FAILING_MOST 4000 // points at which cells are made smaller in a round; chosen
// Times the farthest that a vertex may lie outside: what a plate may miss; chosen, since it bends rightly and a lattice
// does not.
#define PLATE_POOR 8.0
#define FLOOR 3.0      // times the farthest that a vertex may lie outside: no thickness asks for smaller cells; chosen
#define THIN 1.0       // of a cell: tets of thinner parts are kept whole; chosen: thicker ones hold nodes
#define TRIM_SHARE 0.6 // of the farthest that a vertex may lie outside: how far nodes go in for the volume; chosen
#define VOLUME_HOPELESS 1.2 // times what the volume may be off: cells that only cover more do not mend it; chosen
// Counted in vertices that are looked at, about 10 us each: 15 s, after which the best try is taken. Counted, not
// timed, so that a bake is the same on any machine.
#define WORK_MOST 1.5e6
#define WORK_TET 8.0           // measured: of a tet that is drawn to the surface ...
#define WORK_LEAF 0.5          // ... and of a leaf of the lattice
#define THIN_DIHEDRAL 5.0      // degrees that are kept where parts are drawn back
#define TRIES_COARSEST 1.6     // largest factor on the trunk's cells in try_all() ...
#define TRIES_ALONE_FINEST 0.5 // smallest of those that nothing but vertices makes smaller ...
#define TRIES_ALONE_STEP 0.79  // ... each from the one before: twice the tets; chosen
#define TRIES_EVEN_FINEST 0.2  // the same where thin parts took too many ...
#define TRIES_EVEN_STEP 0.87   // ... each from the one before; chosen
#define ELEMENTS_ALONE 1000.0  // tets, whose cells are tried whatever fewer was asked for; chosen: usual counts
#define ALONE_PROGRESS 0.5     // share of the time that these take, for progress bars; roughly
#define TRIES_FINEST 0.7       // ... and smallest on the thickness
#define VOLUME_FINE 0.04       // share by which the volume may be off from ELEMENTS_FINE on: 5 % are promised
#define VOLUME_USUAL 0.09      // ... from ELEMENTS_FEW on: 10 % are promised from 1,000
#define VOLUME_COARSE 0.25     // ... and below ELEMENTS_FEW; chosen
#define ELEMENTS_FEW 90        // tets: fewer are asked for by who wants few above all; chosen
#define ELEMENTS_FINE 4500     // tets: what a wish of 5,000 may come to
#define LEAVES_PER_TET 6       // leaves of the lattice for each tet that may come out: most lie outside; chosen
#define TETS_LEAST 12000      // that may come out whatever was asked for; chosen: more than most shapes of the set take
#define TETS_PROMISED 30000   // ... from ELEMENTS_PROMISED on; chosen: a house of many rooms takes 29,000
#define ELEMENTS_PROMISED 900 // tets: what a wish of 1,000 may come to, from which on the volume is promised
#define EXCESS_MOST 8         // times the count that was asked for; chosen
#define LATTICE_SHIFT 0.3     // of a cube: where the lattice lies; chosen, off the planes of symmetric shapes
#define COST_OFF 10.0         // |ln(tets / target)| that a promise missed by once its bound is worth; chosen
#define COUNT_LOW 0.25        // |ln(tets / target)| by which fewer tets than asked for are well; chosen
#define SPREAD_U 0.7548776662466927 // steps that cover the unit square evenly: see coverage.c
#define SPREAD_V 0.5698402909980532 // the same

typedef struct Graded {
	FemMemberSearch *search;
	FemThickness thickness;
	FemGradedDemand *samples; // middles of thin parts and their thickness
	int32_t sample_count, sample_capacity;
	FemGradedDemand *demands;
	int32_t demand_count, demand_capacity;
	double share;      // cells over thickness of thin parts
	double cell;       // of the trunk
	double gap, error; // of the last try: farthest vertex, unit space; |volume / input - 1|
	bool whole, thickened;
	bool fits;    // the last try: no more tets and leaves than may be
	bool patient; // goes on where the volume is hopeless
	double best_cost, best_cell, best_share, best_gap;
	double work; // of all tries, see WORK_MOST
} Graded;

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.");
}

double fem_member_gap_allowed(const FemMemberSearch *search) {
	double margin = search->solid.triangles.vertex_count > COVERAGE_POINTS ? GAP_SAMPLED : GAP_MARGIN;
	return margin * FEM_MEMBER_GAP * search->request->triangles->frame.size / search->frame.size;
}

static double volume_error(const FemMemberSearch *search, const FemTetList *list) {
	return search->volume > 0.0 ? fabs(fem_tet_list_volume_sum(list) / search->volume - 1.0) : 0.0;
}

static double volume_bound(const FemMemberSearch *search) {
	int32_t asked = search->request->def->element_count;
	return asked >= ELEMENTS_FINE ? VOLUME_FINE : asked >= ELEMENTS_FEW ? VOLUME_USUAL : VOLUME_COARSE;
}

FemResult fem_member_cover(const FemMemberSearch *search, FemTetList *list, FemMemberFit *out) {
	FemCover cover = {fem_member_gap_allowed(search), FEM_MEMBER_COMPACT_DIHEDRAL, COVERAGE_POINTS};
	*out = (FemMemberFit){.gap = FEM_MEMBER_NO_SCORE};
	if (list->tet_count == 0)
		return FEM_OK;
	FemResult result = fem_surface_cover(&search->solid, &cover, list, &out->gap);
	out->good = out->gap <= cover.limit && volume_error(search, list) <= volume_bound(search);
	return result;
}

FemResult fem_member_is_lost(const FemMemberSearch *search, bool *out_lost) {
	*out_lost =
		search->best.tet_count == 0 || !search->best_whole || volume_error(search, &search->best) > VOLUME_COARSE;
	if (*out_lost)
		return FEM_OK;
	double gap = fem_coverage_of_vertices(&search->solid.triangles, &search->best, COVERAGE_POINTS);
	*out_lost = gap > PLATE_POOR * fem_member_gap_allowed(search);
	return gap < 0.0 ? no_memory() : FEM_OK;
}

// ---- demands

FEM_MUST_USE static bool demand(Graded *graded, FemVec3d at, double size) {
	if (!FEM_GROW(graded->demands, graded->demand_count, &graded->demand_capacity))
		return false;
	graded->demands[graded->demand_count++] = (FemGradedDemand){at, size};
	return true;
}

// The middle of the wall below a point of the surface; without one where the surface is no border.
static bool sample_at(Graded *graded, int32_t triangle, FemVec3d at) {
	const FemSolid *solid = &graded->search->solid;
	if (!fem_solid_is_border(solid, triangle, at))
		return true;
	double thickness = fem_solid_thickness(solid, triangle, at, graded->thickness.limit);
	if (thickness >= graded->thickness.limit)
		return true;
	if (!FEM_GROW(graded->samples, graded->sample_count, &graded->sample_capacity))
		return false;
	FemVec3d n = fem_triangle_area_vector(&solid->triangles, triangle);
	FemVec3d half = fem_vec3d_scale(n, 0.5 * thickness / sqrt(fem_vec3d_dot(n, n)));
	FemVec3d below = fem_vec3d_sub(at, half), above = fem_vec3d_add(at, half);
	graded->samples[graded->sample_count++] =
		(FemGradedDemand){fem_winding_inside(&solid->winding, below) ? below : above, thickness};
	return true;
}

// Points spread evenly over the area.
static bool take_samples(Graded *graded) {
	const FemTriangles *triangles = &graded->search->solid.triangles;
	double all = fem_solid_area(&graded->search->solid), passed = 0.0;
	int32_t count = 0;
	for (int32_t t = 0; t < triangles->triangle_count && !fem_stop_asked(); t++) {
		FemVec3d n = fem_triangle_area_vector(triangles, t), a = fem_triangle_corner(triangles, t, 0);
		FemVec3d b = fem_vec3d_sub(fem_triangle_corner(triangles, t, 1), a);
		FemVec3d c = fem_vec3d_sub(fem_triangle_corner(triangles, t, 2), a);
		passed += sqrt(fem_vec3d_dot(n, n));
		for (; count < SAMPLES && (count + 0.5) * all < passed * SAMPLES; count++) {
			double u = fmod(SPREAD_U * (count + 1), 1.0), v = fmod(SPREAD_V * (count + 1), 1.0);
			if (u + v > 1.0)
				u = 1.0 - u, v = 1.0 - v;
			if (!sample_at(graded, t, fem_vec3d_add(a, fem_vec3d_add(fem_vec3d_scale(b, u), fem_vec3d_scale(c, v)))))
				return false;
		}
	}
	return true;
}

static bool demand_thin_parts(Graded *graded) {
	for (int32_t i = 0; i < graded->sample_count; i++) {
		double size = fmax(graded->share * graded->samples[i].size, FLOOR * fem_member_gap_allowed(graded->search));
		if (size < graded->cell && !demand(graded, graded->samples[i].at, size))
			return false;
	}
	return true;
}

// ---- a try

// The lattice is for the caller to look at and to free.
static FemResult fill(Graded *graded, FemGradedLattice *lattice, bool *out_fits) {
	FemMemberSearch *search = graded->search;
	int32_t most = EXCESS_MOST * search->request->target;
	int32_t least = search->request->def->element_count >= ELEMENTS_PROMISED ? TETS_PROMISED : TETS_LEAST;
	most = most > least ? most : least;
	fem_tet_list_clear(&search->trial);
	*out_fits = false;
	FemResult result = fem_graded_create(lattice, search->solid.half_extents, graded->cell, LATTICE_SHIFT);
	if (result == FEM_OK)
		result = fem_graded_refine(lattice, graded->demands, graded->demand_count, LEAVES_PER_TET * most, out_fits);
	FemGradedFilling filling = {&search->solid, &graded->thickness, THIN, most, false, false};
	if (result == FEM_OK && *out_fits)
		result = fem_graded_fill(lattice, &filling, &search->trial);
	graded->thickened = filling.thickened;
	graded->work += filling.is_too_much ? WORK_TET * most : WORK_TET * search->trial.tet_count;
	*out_fits = *out_fits && search->trial.tet_count > 0 && search->trial.tet_count <= most;
	return result;
}

static FemResult fit(Graded *graded) {
	FemMemberSearch *search = graded->search;
	search->solid.inflation = graded->thickened ? graded->cell : 0.0;
	FemResult result =
		fem_surface_fit(&search->solid, graded->cell, THIN_DIHEDRAL, FEM_MEMBER_COMPACT_DIHEDRAL, &search->trial);
	search->solid.inflation = 0.0;
	if (result == FEM_OK && search->volume > 0.0)
		result = fem_surface_trim(
			search->volume, TRIM_SHARE * fem_member_gap_allowed(search), THIN_DIHEDRAL, &search->trial);
	return result;
}

// Tets of thin parts that were kept whole are too many where two layers lie side by side, or where a gap is filled.
static FemResult carve(Graded *graded) {
	FemMemberSearch *search = graded->search;
	double bound = search->volume * (1.0 + volume_bound(search));
	if (!graded->thickened || search->volume <= 0.0 || fem_tet_list_volume_sum(&search->trial) <= bound)
		return FEM_OK;
	FemCarving carving = {search->volume, fem_member_gap_allowed(search), COVERAGE_POINTS};
	FemResult result = fem_surface_carve(&search->solid, &carving, &search->trial);
	return result == FEM_OK ? fit(graded) : result;
}

static FemResult draw_to_surface(Graded *graded) {
	FemMemberSearch *search = graded->search;
	bool memory;
	graded->whole = fem_member_keep_sound(search, &search->trial, &memory);
	if (!memory)
		return no_memory();
	FemResult result = fit(graded);
	if (result == FEM_OK)
		result = carve(graded);
	FemCover cover = {fem_member_gap_allowed(search), THIN_DIHEDRAL, COVERAGE_POINTS};
	if (result == FEM_OK)
		result = fem_surface_cover(&search->solid, &cover, &search->trial, &graded->gap);
	graded->error = volume_error(search, &search->trial);
	return result;
}

// Vertices that no tet is near to ask for smaller cells.
static FemResult demand_failing(Graded *graded, const FemGradedLattice *lattice, int32_t *out_failing) {
	FemMemberSearch *search = graded->search;
	FemVec3d *far = FEM_ALLOC_ARRAY(FemVec3d, FAILING_MOST);
	int32_t count = far ? fem_coverage_far_vertices(&search->solid.triangles, &search->trial, COVERAGE_POINTS,
							  fem_member_gap_allowed(search), far, FAILING_MOST, &graded->gap)
						: -1;
	bool memory = count >= 0;
	for (int32_t i = 0; i < count && memory; i++) {
		int32_t leaf = fem_graded_find(lattice, far[i]);
		if (leaf >= 0)
			memory = demand(graded, far[i], SMALLER * fem_graded_size(lattice, leaf));
	}
	*out_failing = count;
	FEM_FREE_ARRAY(far, FAILING_MOST);
	return memory ? FEM_OK : no_memory();
}

// What is missed of what is promised: not in one piece, not covered, off in volume; in shares of the bounds.
static double missed(const Graded *graded) {
	const FemMemberSearch *search = graded->search;
	return fmax(graded->gap / fem_member_gap_allowed(search), 1.0) - 1.0 +
		fmax(graded->error / volume_bound(search), 1.0) - 1.0 + !graded->whole;
}

static void keep(Graded *graded) {
	FemMemberSearch *search = graded->search;
	// Of thin walls: what their cells are to their thickness decides how stiffly they bend.
	double wall = 2.0 * search->volume / fem_solid_area(&search->solid);
	double cell = fmin(graded->cell, fmax(graded->share * wall, FLOOR * fem_member_gap_allowed(search)));
	fem_member_keep_trial(search, cell, graded->whole);
}

static FemResult try_once(Graded *graded, bool *out_fits, int32_t *out_failing) {
	FemGradedLattice lattice = {0};
	FemResult result = fill(graded, &lattice, out_fits);
	if (result == FEM_OK && *out_fits)
		result = draw_to_surface(graded);
	if (result == FEM_OK && *out_fits)
		result = demand_failing(graded, &lattice, out_failing);
	const FemTriangles *triangles = &graded->search->solid.triangles;
	graded->work += fmin(triangles->vertex_count, COVERAGE_POINTS) + WORK_LEAF * lattice.leaf_count;
	fem_graded_free(&lattice);
	return result;
}

// Takes the last try when it is better than those before; true when nothing better is to be hoped for.
static bool judge(Graded *graded, bool *io_found) {
	const FemMemberSearch *search = graded->search;
	double excess = log((double)search->trial.tet_count / search->request->target), off = missed(graded);
	double cost = COST_OFF * off + fabs(excess);
	if (cost < graded->best_cost) {
		graded->best_cost = cost;
		graded->best_cell = graded->cell;
		graded->best_share = graded->share;
		graded->best_gap = graded->gap;
		keep(graded);
		*io_found = true;
	}
	return off <= 0.0 && excess > -COUNT_LOW;
}

// Cells are made smaller where vertices are not covered, a few times over.
static FemResult try_share(Graded *graded, bool *io_found, bool *out_done) {
	int32_t failing = 1, tets_before = -1;
	double gap_before = 0.0;
	graded->demand_count = 0;
	*out_done = false;
	if (!demand_thin_parts(graded))
		return no_memory();
	int rounds = graded->share < ANY_SHARE ? ROUNDS : ROUNDS_ALONE;
	for (int round = 0; round < rounds && failing > 0; round++) {
		FemResult result = try_once(graded, &graded->fits, &failing);
		if (result != FEM_OK || !graded->fits)
			return result;
		*out_done = judge(graded, io_found);
		bool is_stuck = graded->search->trial.tet_count == tets_before && graded->gap >= gap_before;
		bool is_hopeless = !graded->patient && graded->error > VOLUME_HOPELESS * volume_bound(graded->search);
		if (*out_done || is_stuck || is_hopeless)
			return FEM_OK;
		tets_before = graded->search->trial.tet_count;
		gap_before = graded->gap;
	}
	return FEM_OK;
}

// Vertices that were not looked at before, too.
static FemResult cover_all(FemMemberSearch *search) {
	double gap;
	FemCover cover = {fem_member_gap_allowed(search), THIN_DIHEDRAL, INT32_MAX};
	return fem_surface_cover(&search->solid, &cover, &search->best, &gap);
}

static FemResult try_cells(Graded *graded, double cell, double share, double progress, bool *io_found, bool *out_done) {
	graded->cell = cell;
	graded->share = share;
	if (*io_found && graded->work > WORK_MOST) { // the best so far is good enough
		*out_done = true;
		return FEM_OK;
	}
	if (!fem_member_report(graded->search->request, progress))
		return fem_fail_stopped();
	return try_share(graded, io_found, out_done);
}

// Cells of one size, smaller only where vertices are not covered: sharp edges and tips are thin as well, but ask for
// nothing. From coarse to fine, down to what ELEMENTS_ALONE would have, so that who asks for fewer gets no more.
static FemResult try_alone(Graded *graded, double cell, bool *io_found, bool *out_done) {
	double few = cbrt(fmin(1.0, (double)graded->search->request->target / ELEMENTS_ALONE));
	double first = TRIES_COARSEST, last = TRIES_ALONE_FINEST * few;
	for (double factor = first; factor >= last && !*out_done; factor *= TRIES_ALONE_STEP) {
		double progress = ALONE_PROGRESS * log(first / factor) / log(first / last);
		FemResult result = try_cells(graded, cell * factor, ANY_SHARE, progress, io_found, out_done);
		if (result != FEM_OK)
			return result;
	}
	return FEM_OK;
}

// Where most is thin and full of gaps, cells asked for by thickness are too many: ones of one size, as small as may be.
static FemResult try_even(Graded *graded, double cell, double progress, bool *io_found, bool *out_done) {
	double few = cbrt(fmin(1.0, (double)graded->search->request->target / ELEMENTS_ALONE));
	FemResult result = FEM_OK;
	for (double factor = TRIES_ALONE_FINEST; factor > TRIES_EVEN_FINEST && !*out_done; factor *= TRIES_EVEN_STEP) {
		result = try_cells(graded, cell * few * factor, ANY_SHARE, progress, io_found, out_done);
		if (result != FEM_OK || !graded->fits)
			break;
	}
	return result;
}

// From coarse to fine until all that is promised is kept, with about as many tets as were asked for.
static FemResult try_all(Graded *graded, double cell, bool *io_found) {
	// Cells of the trunk over those asked for, by try; chosen.
	static const double cells[] = {TRIES_COARSEST, 1.25, 1.0, 1.0, 0.8, 0.8, 0.7};
	// Cells of thin parts over their thickness; chosen: the last resolves round limbs without keeping tets whole.
	static const double shares[] = {3.0, 3.0, 3.0, 2.0, 1.4, 1.0, TRIES_FINEST};
	const size_t count = sizeof cells / sizeof *cells;
	bool done = false, even = false;
	FemResult result = try_alone(graded, cell, io_found, &done);
	for (size_t i = 0; i < count && !done && result == FEM_OK; i++) {
		double progress = ALONE_PROGRESS + (1.0 - ALONE_PROGRESS) * (double)i / (double)count;
		result = try_cells(graded, cell * cells[i], shares[i], progress, io_found, &done);
		if (result == FEM_OK && !done && !even && (!graded->fits || i + 1 == count)) {
			even = true;
			result = try_even(graded, cell, progress, io_found, &done);
		}
	}
	return result;
}

// The best may have been given up for its volume before all of it was covered.
static FemResult cover_best(Graded *graded) {
	bool found = true, done;
	if (graded->best_gap <= fem_member_gap_allowed(graded->search))
		return FEM_OK;
	graded->patient = true;
	graded->cell = graded->best_cell;
	graded->share = graded->best_share;
	return try_share(graded, &found, &done);
}

FemResult fem_member_search_graded(FemMemberSearch *search, double cell, bool *out_found) {
	Graded graded = {.search = search, .best_cost = FEM_MEMBER_NO_SCORE};
	*out_found = false;
	search->solid.inflation = 0.0;
	double limit = fmax(TRIES_COARSEST * cell / TRIES_FINEST, TRIES_COARSEST * cell * THIN);
	if (!fem_thickness_create(&graded.thickness, &search->solid, limit))
		return no_memory();
	FemResult result = take_samples(&graded) ? FEM_OK : no_memory();
	if (result == FEM_OK)
		result = try_all(&graded, cell, out_found);
	if (result == FEM_OK && *out_found)
		result = cover_best(&graded);
	if (result == FEM_OK && *out_found)
		result = cover_all(search);
	fem_thickness_free(&graded.thickness);
	FEM_FREE_ARRAY(graded.samples, graded.sample_capacity);
	FEM_FREE_ARRAY(graded.demands, graded.demand_capacity);
	return result;
}
