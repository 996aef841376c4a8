// Where a fast piece first overlaps a collider on its path through the step.
//
// The path is looked at window by window (fem_swept_window()). Within one, first the piece as a whole is looked up in
// the tree of the collider, then the tets near what was found there, each at the samples at which boxes can meet.
#include "base/vec.h"
#include "collision/overlap.h"
#include "collision/tree_walk.h"
#include "model/body.h"
#include "topology/topology.h"
#include "world/contact/fast_objects.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

#define JOINED_MAX 256 // sub-shapes whose boxes are joined; of more the piece's own box stands for them; chosen
#define SEEN_TETS 64   // remembered by their last digits: several faces of a tet may be outside; chosen

typedef struct Search {
	const FemSweptPiece *piece;
	const FemCollider *collider;
	int32_t count;      // samples along the path
	int32_t begin, end; // of the window: its samples
	int32_t first;      // sample with an overlap: no later one is of interest
	float step;         // m, most that a node goes between two of them
	FemSweptWork *work;
	FemSweepBox met; // m, of all sub-shapes that the piece may meet in the window
	int32_t met_count;
	int32_t tet;             // at hand
	FemVec3 corners[2][4];   // m, of that tet at `begin` and at the last sample before `end`, from the body's origin
	FemSweepBox ends[2];     // m, world: its boxes there
	int32_t seen[SEEN_TETS]; // tets looked at in the window; -1: none
} Search;

static float fraction_of(const Search *search, int32_t sample) {
	return (float)sample / (float)search->count;
}

static void tet_at(const Search *search, float fraction, FemVec3 out[4]) {
	for (int k = 0; k < 4; k++) {
		Float4 p =
			fem_swept_point(search->piece, fem_tet_node(search->piece->body->topology, search->tet, k), fraction);
		out[k] = (FemVec3){p[0], p[1], p[2]};
	}
}

static FemSweepBox box_of(const FemBody *body, const FemVec3 corners[4]) {
	FemSweepBox box;
	const double *origin = &body->origin.x;
	for (int i = 0; i < 3; i++) {
		float low = (&corners[0].x)[i], high = low;
		for (int k = 1; k < 4; k++) {
			low = fminf(low, (&corners[k].x)[i]);
			high = fmaxf(high, (&corners[k].x)[i]);
		}
		box.min[i] = origin[i] + (double)low;
		box.max[i] = origin[i] + (double)high;
	}
	return box;
}

static double box_gap(const FemSweepBox *a, const FemSweepBox *b) {
	double gap = -INFINITY;
	for (int i = 0; i < 3; i++)
		gap = fmax(gap, fmax(a->min[i] - b->max[i], b->min[i] - a->max[i]));
	return gap;
}

static FemSweepBox joint_box(const FemSweepBox *a, const FemSweepBox *b) {
	FemSweepBox box;
	for (int i = 0; i < 3; i++) {
		box.min[i] = fmin(a->min[i], b->min[i]);
		box.max[i] = fmax(a->max[i], b->max[i]);
	}
	return box;
}

// Narrows [t0, t1] to where from + t (to - from) >= 0.
static void keep_not_negative(double from, double to, double t[2]) {
	if (from < 0.0 && to < 0.0)
		t[1] = -1.0;
	else if (from < 0.0)
		t[0] = fmax(t[0], from / (from - to));
	else if (to < 0.0)
		t[1] = fmin(t[1], from / (from - to));
}

// The samples of the window at which the tet's box can meet another; none: begin >= end. Corners go straight on, so
// the box at a fraction lies within the one interpolated between its ends: a largest coordinate is a convex function of
// time, a smallest one concave. One sample more on either side is for rounding.
static FemRange samples_near(const Search *search, const FemSweepBox *box) {
	const FemSweepBox *from = &search->ends[0], *to = &search->ends[1];
	double t[2] = {0.0, 1.0}, last = search->end - 1 - search->begin;
	for (int i = 0; i < 3; i++) {
		keep_not_negative(from->max[i] - box->min[i], to->max[i] - box->min[i], t);
		keep_not_negative(box->max[i] - from->min[i], box->max[i] - to->min[i], t);
	}
	FemRange samples = {
		search->begin + (int32_t)floor(t[0] * last) - 1, search->begin + (int32_t)ceil(t[1] * last) + 2};
	if (t[0] > t[1])
		return (FemRange){0, 0};
	samples.begin = samples.begin > search->begin ? samples.begin : search->begin;
	samples.end = samples.end < search->first ? samples.end : search->first;
	return samples;
}

// Whether a plane of the shape has all of the corners outside: a tet's at one sample, or at both ends of the window,
// between which they go straight on.
static bool is_apart(const Search *search, const FemConvex *shape, const FemVec3 *corners, int32_t count) {
	FemVec3 shift = fem_vec3d_to_vec3(fem_position_sub(search->piece->body->origin, shape->origin));
	for (int32_t p = 0; p < shape->plane_count; p++) {
		FemVec4 plane = shape->planes[p];
		float limit = plane.w - (plane.x * shift.x + plane.y * shift.y + plane.z * shift.z), least = INFINITY;
		for (int32_t k = 0; k < count; k++)
			least = fminf(least, plane.x * corners[k].x + plane.y * corners[k].y + plane.z * corners[k].z);
		if (least > limit)
			return true;
	}
	return false;
}

static bool overlaps_at(Search *search, const FemVec3 corners[4], int32_t sub_shape) {
	const FemBody *body = search->piece->body;
	FemConvexTet storage;
	FemConvex tet;
	FemOverlap overlap;
	search->work->clips++;
	return fem_convex_tet(body->origin, corners, body->tet_exterior[search->tet], &storage, &tet) &&
		fem_collider_overlap(search->collider, &tet, sub_shape, &overlap);
}

// Tests the current tet against one sub-shape of the collider. Beyond the bound on clips only the sample in the middle
// of those at which boxes meet is left: what is thick is still found.
static bool search_sub_shape(void *context, int32_t sub_shape, const FemSweepBox *box) {
	Search *search = context;
	FemRange samples = samples_near(search, box);
	FemConvexStorage storage;
	FemConvex shape = {.plane_count = 0};
	search->work->visits++;
	bool is_flat =
		samples.begin < samples.end && fem_collider_flat_shape(search->collider, sub_shape, &storage, &shape);
	if (is_flat && is_apart(search, &shape, &search->corners[0][0], 8))
		samples.end = samples.begin;
	for (int32_t k = samples.begin; k < samples.end;) {
		if (search->work->clips >= search->work->clips_max) {
			k = (samples.begin + samples.end) / 2;
			samples.end = k + 1;
		}
		FemVec3 corners[4];
		tet_at(search, fraction_of(search, k), corners);
		FemSweepBox at = box_of(search->piece->body, corners);
		double gap = box_gap(&at, box);
		if (gap > 0.0) {
			double skipped = gap / (double)search->step;
			k += skipped > 1.0 ? (int32_t)fmin(skipped, (double)search->count) : 1;
			continue;
		}
		if (!(is_flat && is_apart(search, &shape, corners, 4)) && overlaps_at(search, corners, sub_shape)) {
			search->first = k;
			break;
		}
		k++;
	}
	return search->first <= search->begin || search->work->visits >= search->work->visits_max;
}

// Tests one tet at the samples of the window before the first overlap found so far.
static bool search_tet(Search *search, int32_t tet) {
	int32_t last = (search->end < search->first ? search->end : search->first) - 1;
	int32_t *seen = &search->seen[tet % SEEN_TETS];
	if (*seen == tet || last < search->begin)
		return false;
	*seen = search->tet = tet;
	search->end = last + 1;
	for (int end = 0; end < 2; end++) {
		tet_at(search, fraction_of(search, end ? last : search->begin), search->corners[end]);
		search->ends[end] = box_of(search->piece->body, search->corners[end]);
	}
	FemSweepBox box = joint_box(&search->ends[0], &search->ends[1]);
	return fem_collider_visit_near(search->collider, &box, search_sub_shape, search);
}

// ---- windows

static bool join_sub_shape(void *context, int32_t sub_shape, const FemSweepBox *box) {
	Search *search = context;
	(void)sub_shape;
	search->met = joint_box(&search->met, box);
	search->work->visits++;
	return ++search->met_count > JOINED_MAX;
}

// The box of the piece over the window, world.
static FemSweepBox window_box(const Search *search, float grow) {
	Box4 start = fem_swept_box(search->piece);
	const double *origin = &search->piece->body->origin.x;
	const float *shift = &search->piece->shift.x;
	float from = fraction_of(search, search->begin), to = fraction_of(search, search->end);
	FemSweepBox box;
	for (int i = 0; i < 3; i++) {
		box.min[i] = origin[i] + (double)(start.min[i] + fminf(from * shift[i], to * shift[i]) - grow);
		box.max[i] = origin[i] + (double)(start.max[i] + fmaxf(from * shift[i], to * shift[i]) + grow);
	}
	return box;
}

// A box as seen from the trees of the piece, which stand where it was at the start of the step.
static Box4 box_from_trees(const Search *search, const FemSweepBox *box, float grow) {
	const double *origin = &search->piece->body->origin.x;
	const float *shift = &search->piece->shift.x;
	float from = fraction_of(search, search->begin), to = fraction_of(search, search->end);
	Box4 out = {all4(0.0f), all4(0.0f)};
	for (int i = 0; i < 3; i++) {
		float low = (float)fmax(box->min[i] - origin[i], -1e6), high = (float)fmin(box->max[i] - origin[i], 1e6);
		out.min[i] = low - fmaxf(from * shift[i], to * shift[i]) - grow;
		out.max[i] = high - fminf(from * shift[i], to * shift[i]) + grow;
	}
	return out;
}

static void search_near(Search *search, Box4 near) {
	const FemSurfaceTrees *trees = search->piece->body->trees;
	for (int32_t i = search->piece->span.trees.begin; i < search->piece->span.trees.end; i++) {
		TreeWalk walk;
		if (!boxes_meet4(trees->trees[i].box, near))
			continue;
		walk_start(&walk, &trees->trees[i], near);
		for (int32_t t; (t = walk_next(&walk)) >= 0;) {
			if (t < trees->trees[i].triangles.end && search_tet(search, trees->topology->triangle_tets[t]))
				return;
		}
	}
}

static void search_window(Search *search, float grow) {
	FemSweepBox box = window_box(search, grow);
	search->met = (FemSweepBox){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
	search->met_count = 0;
	if (fem_collider_visit_near(search->collider, &box, join_sub_shape, search))
		search->met = box;
	if (search->met_count == 0)
		return;
	memset(search->seen, 0xff, sizeof search->seen);
	search_near(search, box_from_trees(search, &search->met, grow));
}

// The box of the collider relative to the body's origin, m.
static Box4 collider_box(const FemSweptPiece *piece, const FemCollider *collider) {
	FemSweepBox box = fem_collider_box(collider);
	const double *origin = &piece->body->origin.x;
	Box4 out = {all4(0.0f), all4(0.0f)};
	for (int i = 0; i < 3; i++) {
		out.min[i] = (float)fmax(box.min[i] - origin[i], -1e6);
		out.max[i] = (float)fmin(box.max[i] - origin[i], 1e6);
	}
	return out;
}

int32_t fem_fast_first_in_collider(
	const FemSweptPiece *piece, const FemCollider *collider, float displacement, int32_t count, FemSweptWork *work) {
	Search search = {.piece = piece,
		.collider = collider,
		.count = count,
		.first = count + 1,
		.step = displacement / (float)count,
		.work = work};
	Box4 box = collider_box(piece, collider);
	float fractions[2], grow = piece->slack + search.step;
	if (!fem_swept_boxes_meet(fem_swept_box(piece), piece->shift, box, (FemVec3){0}, grow, fractions))
		return count + 1;
	int32_t next = (int32_t)fmaxf(floorf(fractions[0] * (float)count), 1.0f);
	int32_t last = (int32_t)fminf(ceilf(fractions[1] * (float)count) + 1.0f, (float)count);
	int32_t window = fem_swept_window(piece, NULL, displacement, count);
	for (; next <= last && search.first > count && work->visits < work->visits_max; next += window) {
		search.begin = next;
		search.end = next + window < last + 1 ? next + window : last + 1;
		search_window(&search, grow);
	}
	return search.first;
}
