// Where a fast piece first overlaps a collider on its path through the step.
#include "base/vec.h"
#include "collision/overlap.h"
#include "collision/tree_walk.h"
#include "model/body.h"
#include "topology/topology.h"
#include "world/contact/fast_objects.h"
#include "world/world.h"

#include <math.h>

typedef struct Search {
	const FemSweptPiece *piece;
	const FemCollider *collider;
	int32_t count, begin, first; // samples: how many along the path, the first to be tested, the first with an overlap
	float step;                  // m, most that a node goes between two of them
	int32_t tet;                 // at hand
} Search;

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

// Tests the current tet against one sub-shape of the collider.
static bool search_sub_shape(void *context, int32_t span, const FemSweepBox *box) {
	Search *search = context;
	const FemBody *body = search->piece->body;
	for (int32_t k = search->begin; k < search->first;) {
		FemVec3 corners[4];
		FemConvexTet storage;
		FemConvex tet;
		FemOverlap overlap;
		tet_at(search, (float)k / (float)search->count, corners);
		FemSweepBox at = box_of(body, corners);
		double gap = box_gap(&at, box);
		if (gap > 0.0) {
			double skipped = gap / (double)search->step;
			k += skipped > 1.0 ? (int32_t)fmin(skipped, (double)search->count) : 1;
			continue;
		}
		if (fem_convex_tet(body->origin, corners, body->tet_exterior[search->tet], &storage, &tet) &&
			fem_collider_overlap(search->collider, &tet, span, &overlap))
			search->first = k;
		k++;
	}
	return search->first <= search->begin;
}

// Tests one tet at the samples before the first overlap found so far.
static bool search_tet(Search *search, int32_t tet) {
	FemVec3 corners[2][4];
	search->tet = tet;
	tet_at(search, (float)search->begin / (float)search->count, corners[0]);
	tet_at(search, (float)search->first / (float)search->count, corners[1]);
	FemSweepBox box = box_of(search->piece->body, corners[0]), end = box_of(search->piece->body, corners[1]);
	for (int i = 0; i < 3; i++) {
		box.min[i] = fmin(box.min[i], end.min[i]);
		box.max[i] = fmax(box.max[i], end.max[i]);
	}
	return fem_collider_visit_near(search->collider, &box, search_sub_shape, search);
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
	const FemSweptPiece *piece, const FemCollider *collider, float displacement, int32_t count) {
	const FemSurfaceTrees *trees = piece->body->trees;
	Search search = {
		.piece = piece, .collider = collider, .count = count, .first = count + 1, .step = displacement / (float)count};
	Box4 box = collider_box(piece, collider);
	float fractions[2], grow = piece->slack + search.step;
	if (!fem_swept_boxes_meet(fem_swept_box(piece), piece->shift, box, (FemVec3){0}, grow, fractions))
		return count + 1;
	search.begin = (int32_t)fmaxf(floorf(fractions[0] * (float)count), 1.0f);
	Float4 shift = {
		piece->shift.x, piece->shift.y, piece->shift.z, 0.0f}; // relative to the piece the collider moves backward
	Box4 back = {box.min - shift, box.max - shift};
	box = joint_box4(box, back);
	box = (Box4){box.min - all4(grow), box.max + all4(grow)};
	for (int32_t i = piece->span.trees.begin; i < piece->span.trees.end; i++) {
		TreeWalk walk;
		if (!boxes_meet4(trees->trees[i].box, box))
			continue;
		walk_start(&walk, &trees->trees[i], box);
		for (int32_t t; (t = walk_next(&walk)) >= 0;) {
			if (t < trees->trees[i].triangles.end && search_tet(&search, trees->topology->triangle_tets[t]))
				return search.first;
		}
	}
	return search.first;
}
