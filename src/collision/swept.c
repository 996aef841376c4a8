#include "collision/swept.h"

#include "collision/overlap.h"
#include "collision/swept_nearby.h"
#include "collision/triangle_tests.h"
#include "model/body.h"
#include "topology/topology.h"

#include <math.h>

static Box4 tet_box(const Float4 v[4]) {
	return (Box4){min4(min4(v[0], v[1]), min4(v[2], v[3])), max4(max4(v[0], v[1]), max4(v[2], v[3]))};
}

Box4 fem_swept_box(const FemSweptPiece *piece) {
	Box4 box = empty_box4();
	for (int32_t i = piece->span.trees.begin; i < piece->span.trees.end; i++)
		box = joint_box4(piece->body->trees->trees[i].box, box);
	return box;
}

// Widest gap between two boxes along an axis, m; negative when they meet.
static float box_gap(Box4 a, Box4 b) {
	Float4 gap = max4(a.min - b.max, b.min - a.max);
	return fmaxf(gap[0], fmaxf(gap[1], gap[2]));
}

// Position of a node at a fraction of the step. Sleeping nodes stay, although driven ones among them keep a velocity
// for when they wake.
Float4 fem_swept_point(const FemSweptPiece *piece, int32_t node, float fraction) {
	const FemBody *body = piece->body;
	bool moves = body->kinematic || body->part_state[body->topology->node_part[node]] == FEM_ISLAND_LIVE;
	float time = moves ? fraction * piece->dt - piece->lead : 0.0f;
	Float4 point = load4(&body->position[node]) + all4(time) * load4(&body->velocity[node]);
	point[3] = 0.0f;
	return point;
}

bool fem_swept_boxes_meet(Box4 a, FemVec3 shift_a, Box4 b, FemVec3 shift_b, float slack, float out[2]) {
	Float4 relative_shift = {shift_a.x - shift_b.x, shift_a.y - shift_b.y, shift_a.z - shift_b.z, 0.0f};
	out[0] = 0.0f;
	out[1] = 1.0f;
	for (int i = 0; i < 3; i++) {
		float low = b.min[i] - slack - a.max[i],
			  high = b.max[i] + slack - a.min[i]; // the displacement of a relative to b must lie between these
		if (relative_shift[i] == 0.0f && (low > 0.0f || high < 0.0f))
			return false;
		if (relative_shift[i] == 0.0f)
			continue;
		float first = low / relative_shift[i], last = high / relative_shift[i];
		out[0] = fmaxf(out[0], fminf(first, last));
		out[1] = fminf(out[1], fmaxf(first, last));
	}
	return out[0] <= out[1];
}

// ---- time

typedef struct Search {
	FemNearby nearby;
	int32_t count, begin; // samples; the first to be looked at
	int32_t first;        // at which an overlap was found
	float step;           // m, most that two nodes go against each other between two samples
} Search;

static bool face_meets_solid(const Float4 triangle[3], const Float4 tet[4]) {
	Float4 four[4][4];
	for (int lane = 0; lane < 4; lane++)
		memcpy(four[lane], tet, sizeof four[lane]);
	return fem_triangle_meets_tets(triangle, four) & 1;
}

// Searches the first sample at which a face and a tet overlap. Samples that they cannot have reached across the gap
// between their boxes are skipped.
static void search_pair(Search *search, const FemSweptFace *face, const FemSweptSolid *solid) {
	for (int32_t k = search->begin; k < search->first;) {
		float fraction = (float)k / (float)search->count;
		Float4 triangle[3], tet[4];
		face_at(face, fraction, triangle);
		solid_at(solid, fraction, tet);
		float gap = box_gap(triangle_box4(triangle), tet_box(tet));
		if (gap > 0.0f) {
			float skipped = gap / search->step;
			k += skipped > 1.0f ? (int32_t)fminf(skipped, (float)search->count) : 1;
			continue;
		}
		if (face_meets_solid(triangle, tet))
			search->first = k;
		k++;
	}
}

static bool search_pairs(void *context, const FemSweptFace *face, const FemSweptSolid *const solids[4], int32_t count) {
	Search *search = context;
	for (int32_t i = 0; i < count; i++)
		search_pair(search, face, solids[i]);
	return search->first <= search->begin;
}

int32_t fem_swept_first_overlap(const FemSweptPiece *a, const FemSweptPiece *b, float displacement, int32_t count) {
	Search search;
	float *fractions = search.nearby.fractions;
	fem_nearby_start(&search.nearby, a, b, search_pairs, &search);
	search.count = count;
	search.first = count + 1;
	search.step = displacement / (float)count;
	search.nearby.reach = search.step; // a face may have gone so far behind the one it crossed
	Box4 box_a = fem_swept_box(a);
	box_a = (Box4){box_a.min + search.nearby.offset, box_a.max + search.nearby.offset};
	if (!fem_swept_boxes_meet(
			box_a, a->shift, fem_swept_box(b), b->shift, a->slack + b->slack + search.step, fractions))
		return count + 1;
	search.begin = (int32_t)fmaxf(floorf(fractions[0] * (float)count), 1.0f);
	fractions[0] = (float)search.begin / (float)count;
	fractions[1] = fmaxf(fminf(ceilf(fractions[1] * (float)count) / (float)count, 1.0f), fractions[0]);
	fem_nearby_visit(&search.nearby);
	return search.first;
}

// ---- depth

// Of the number of pairs of tets remembered (8 KB): several faces of one tet reach into another. Chosen.
#define SEEN_BITS 10

typedef struct Clipper {
	FemNearby nearby;
	FemSweptDepth *at;
	bool flipped; // faces of the second into tets of the first
	float depth;
	uint64_t seen[1 << SEEN_BITS];
} Clipper;

static bool is_new(Clipper *clipper, int32_t first, int32_t second) {
	uint64_t key = ((uint64_t)first << 32 | (uint32_t)second) + 1;
	uint64_t *place = &clipper->seen[key * 0x9e3779b97f4a7c15u >> (64 - SEEN_BITS)];
	bool known = *place == key;
	*place = key;
	return !known;
}

static bool tet_shape(const FemSweptPiece *piece, int32_t tet, float fraction, FemConvexTet *storage, FemConvex *out) {
	FemVec3 corners[4];
	for (int k = 0; k < 4; k++) {
		Float4 p = fem_swept_point(piece, fem_tet_node(piece->body->topology, tet, k), fraction);
		corners[k] = (FemVec3){p[0], p[1], p[2]};
	}
	return fem_convex_tet(piece->body->origin, corners, piece->body->tet_exterior[tet], storage, out);
}

static void clip_pair(Clipper *clipper, const FemSweptFace *face, const FemSweptSolid *solid) {
	const FemNearby *nearby = &clipper->nearby;
	int32_t first_tet = clipper->flipped ? solid->tet : face->tet,
			second_tet = clipper->flipped ? face->tet : solid->tet;
	float fraction = clipper->at->fraction;
	FemConvexTet storage[2];
	FemConvex first, second;
	FemOverlap overlap;
	if (!is_new(clipper, first_tet, second_tet))
		return;
	clipper->at->clips++;
	if (tet_shape(nearby->a, face->tet, fraction, &storage[0], &first) &&
		tet_shape(nearby->b, solid->tet, fraction, &storage[1], &second) && fem_overlap(&first, &second, &overlap))
		clipper->depth = fmaxf(clipper->depth, overlap.depth);
}

static bool clip_pairs(void *context, const FemSweptFace *face, const FemSweptSolid *const solids[4], int32_t count) {
	Clipper *clipper = context;
	const FemSweptDepth *at = clipper->at;
	Float4 triangle[3], tets[4][4];
	face_at(face, at->fraction, triangle);
	for (int32_t i = 0; i < 4; i++)
		solid_at(solids[i < count ? i : 0], at->fraction, tets[i]);
	unsigned met = fem_triangle_meets_tets(triangle, tets);
	for (int32_t i = 0; i < count && clipper->depth <= at->enough && at->clips < at->clips_max; i++) {
		if (met >> i & 1)
			clip_pair(clipper, face, solids[i]);
	}
	return clipper->depth > at->enough || at->clips >= at->clips_max;
}

float fem_swept_depth(const FemSweptPiece *a, const FemSweptPiece *b, FemSweptDepth *at) {
	Clipper clipper;
	clipper.at = at;
	clipper.depth = 0.0f;
	memset(clipper.seen, 0, sizeof clipper.seen);
	for (int order = 0; order < 2 && clipper.depth <= at->enough && at->clips < at->clips_max; order++) {
		clipper.flipped = order == 1;
		fem_nearby_start(&clipper.nearby, order ? b : a, order ? a : b, clip_pairs, &clipper);
		clipper.nearby.fractions[0] = clipper.nearby.fractions[1] = at->fraction;
		fem_nearby_visit(&clipper.nearby);
	}
	return clipper.depth;
}
