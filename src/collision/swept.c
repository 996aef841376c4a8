#include "collision/swept.h"

#include "collision/overlap.h"
#include "collision/tree_walk.h"
#include "collision/triangle_tests.h"
#include "fem_basics.h"
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

// ---- what of two swept pieces may come together: triangles of one and tets of the other, block by block

#define NEARBY_BLOCK 128 // triangles, and tets, looked at together; chosen

// A triangle of a and a tet of b in the frame that moves with the mean displacement of b: at a fraction f of the step
// their corners are at start + f displacement.
typedef struct SweptFace {
	Float4 start[3], displacement[3]; // m
	Box4 box;                         // over the fractions that are looked at
	int32_t tet;                      // behind it
} SweptFace;

typedef struct SweptSolid {
	Float4 start[4], displacement[4];
	Box4 box;
	int32_t tet;
} SweptSolid;

// A face and up to four tets whose boxes it meets. True ends the search.
typedef bool VisitSwept(void *context, const SweptFace *face, const SweptSolid *const solids[4], int32_t count);

typedef struct Nearby {
	const FemSweptPiece *a, *b;
	Float4 offset;      // from the frame of a to that of b, m
	float fractions[2]; // of the step that are looked at
	float reach;        // m, by which boxes are grown besides what nodes deviate from the mean displacement
	FemSweptWork *work; // visits are counted; beyond visits_max the search ends
	VisitSwept *visit;
	void *context;
	bool ended;
	SweptFace faces[NEARBY_BLOCK];
	SweptSolid solids[NEARBY_BLOCK];
	int32_t face_count, solid_count;
} Nearby;

static void face_at(const SweptFace *face, float fraction, Float4 out[3]) {
	for (int k = 0; k < 3; k++)
		out[k] = face->start[k] + all4(fraction) * face->displacement[k];
}

static void solid_at(const SweptSolid *solid, float fraction, Float4 out[4]) {
	for (int k = 0; k < 4; k++)
		out[k] = solid->start[k] + all4(fraction) * solid->displacement[k];
}

static Float4 float4_from(FemVec3 v) {
	return (Float4){v.x, v.y, v.z, 0.0f};
}

static Box4 moved_box(Box4 box, Float4 by) {
	return (Box4){box.min + by, box.max + by};
}

static Box4 grown_box(Box4 box, float by) {
	return (Box4){box.min - all4(by), box.max + all4(by)};
}

static void nearby_start(
	Nearby *nearby, const FemSweptPiece *a, const FemSweptPiece *b, VisitSwept *visit, void *context) {
	FemPosition from = a->body->origin, to = b->body->origin;
	nearby->a = a;
	nearby->b = b;
	nearby->offset = (Float4){(float)(from.x - to.x), (float)(from.y - to.y), (float)(from.z - to.z), 0.0f};
	nearby->reach = 0.0f;
	nearby->visit = visit;
	nearby->context = context;
	nearby->ended = false;
	nearby->face_count = nearby->solid_count = 0;
}

// A node in the frame that moves with the mean displacement of b: start and displacement, m. Grows the box to hold its
// path.
static void place_node(
	const Nearby *nearby, const FemSweptPiece *piece, int32_t node, Float4 *start, Float4 *displacement, Box4 *box) {
	*start = fem_swept_point(piece, node, 0.0f);
	*displacement = fem_swept_point(piece, node, 1.0f) - *start - float4_from(nearby->b->shift);
	if (piece == nearby->a)
		*start += nearby->offset;
	for (int end = 0; end < 2; end++) {
		Float4 p = *start + all4(nearby->fractions[end]) * *displacement;
		*box = (Box4){min4(p, box->min), max4(p, box->max)};
	}
}

static void visit_face(Nearby *nearby, const SweptFace *face) {
	const SweptSolid *met[4];
	int32_t count = 0;
	for (int32_t j = 0; j < nearby->solid_count && !nearby->ended; j++) {
		if (boxes_meet4(face->box, nearby->solids[j].box))
			met[count++] = &nearby->solids[j];
		if (count == 4) {
			nearby->ended = nearby->visit(nearby->context, face, met, count);
			count = 0;
		}
	}
	if (count > 0 && !nearby->ended)
		nearby->ended = nearby->visit(nearby->context, face, met, count);
}

static void visit_pairs(Nearby *nearby) {
	for (int32_t i = 0; i < nearby->face_count && !nearby->ended; i++) {
		visit_face(nearby, &nearby->faces[i]);
		nearby->work->visits += nearby->solid_count;
		nearby->ended |= nearby->work->visits >= nearby->work->visits_max;
	}
	nearby->solid_count = 0;
}

static void add_solid(Nearby *nearby, int32_t tet, Box4 all_faces) {
	for (int32_t i = 0; i < nearby->solid_count; i++) {
		if (nearby->solids[i].tet == tet)
			return; // several of its faces are outside
	}
	SweptSolid *solid = &nearby->solids[nearby->solid_count];
	solid->tet = tet;
	solid->box = empty_box4();
	for (int k = 0; k < 4; k++)
		place_node(nearby, nearby->b, fem_tet_node(nearby->b->body->topology, tet, k), &solid->start[k],
			&solid->displacement[k], &solid->box);
	if (boxes_meet4(solid->box, all_faces) && ++nearby->solid_count == NEARBY_BLOCK)
		visit_pairs(nearby);
}

// All tets of b behind triangles that the faces at hand may cross.
static void visit_solids(Nearby *nearby) {
	const FemSurfaceTrees *trees = nearby->b->body->trees;
	Box4 all_faces = empty_box4();
	TreeWalk walk;
	for (int32_t i = 0; i < nearby->face_count; i++)
		all_faces = joint_box4(nearby->faces[i].box, all_faces);
	Box4 near = grown_box(all_faces, nearby->b->slack + nearby->reach);
	for (int32_t i = nearby->b->span.trees.begin; i < nearby->b->span.trees.end && nearby->face_count > 0; i++) {
		if (!boxes_meet4(trees->trees[i].box, near))
			continue;
		walk_start(&walk, &trees->trees[i], near);
		for (int32_t t; !nearby->ended && (t = walk_next(&walk)) >= 0;) {
			if (t < trees->trees[i].triangles.end)
				add_solid(nearby, trees->topology->triangle_tets[t], all_faces);
		}
	}
	visit_pairs(nearby);
	nearby->face_count = 0;
}

static void add_face(Nearby *nearby, int32_t triangle, Box4 partner) {
	const FemTopology *topology = nearby->a->body->topology;
	SweptFace *face = &nearby->faces[nearby->face_count];
	face->tet = topology->triangle_tets[triangle];
	face->box = empty_box4();
	for (int k = 0; k < 3; k++)
		place_node(nearby, nearby->a, topology->triangles[3 * (size_t)triangle + (size_t)k], &face->start[k],
			&face->displacement[k], &face->box);
	if (boxes_meet4(face->box, partner) && ++nearby->face_count == NEARBY_BLOCK)
		visit_solids(nearby);
}

// The box of b over these fractions, seen from where a's trees are.
static Box4 partner_box(const Nearby *nearby) {
	Box4 start = fem_swept_box(nearby->b), box = empty_box4();
	for (int end = 0; end < 2; end++) {
		Float4 against = all4(nearby->fractions[end]) * (float4_from(nearby->b->shift) - float4_from(nearby->a->shift));
		box = joint_box4(moved_box(start, against - nearby->offset), box);
	}
	return grown_box(box, nearby->a->slack + nearby->b->slack + nearby->reach);
}

// After fractions and reach were set.
static void nearby_visit(Nearby *nearby) {
	const FemSurfaceTrees *trees = nearby->a->body->trees;
	Box4 box = partner_box(nearby), partner = grown_box(fem_swept_box(nearby->b), nearby->b->slack + nearby->reach);
	TreeWalk walk;
	for (int32_t i = nearby->a->span.trees.begin; i < nearby->a->span.trees.end; i++) {
		if (!boxes_meet4(trees->trees[i].box, box))
			continue;
		walk_start(&walk, &trees->trees[i], box);
		for (int32_t t; !nearby->ended && (t = walk_next(&walk)) >= 0;) {
			if (t < trees->trees[i].triangles.end)
				add_face(nearby, t, partner);
		}
	}
	visit_solids(nearby);
}

// ---- time

#define WINDOW_SHARE 0.5f // of a piece's size: how far it goes in a window; chosen
#define WINDOWS_MAX 32    // of a path; chosen: each walks the trees again

// (Volume of its box)^(1/3), m.
static float size_of(const FemSweptPiece *piece) {
	Box4 box = fem_swept_box(piece);
	Float4 extent = box.max - box.min;
	return cbrtf(extent[0] * extent[1] * extent[2]);
}

int32_t fem_swept_window(const FemSweptPiece *a, const FemSweptPiece *b, float displacement, int32_t count) {
	float size = b ? fminf(size_of(a), size_of(b)) : size_of(a);
	float samples = fmaxf(WINDOW_SHARE * size / displacement, 1.0f / WINDOWS_MAX) * (float)count;
	return samples > 1.0f ? (int32_t)fminf(samples, (float)count) : 1;
}

typedef struct Search {
	Nearby nearby;
	int32_t count, begin; // samples; the first of the window that is looked at
	int32_t end;          // of that window, or where an overlap was found in it
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
static void search_pair(Search *search, const SweptFace *face, const SweptSolid *solid) {
	for (int32_t k = search->begin; k < search->end;) {
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
		search->nearby.work->clips++;
		if (face_meets_solid(triangle, tet))
			search->end = k;
		k++;
	}
}

static bool search_pairs(void *context, const SweptFace *face, const SweptSolid *const solids[4], int32_t count) {
	Search *search = context;
	for (int32_t i = 0; i < count; i++)
		search_pair(search, face, solids[i]);
	return search->end <= search->begin || search->nearby.work->clips >= search->nearby.work->clips_max;
}

// Whether the samples [begin, end) hold an overlap; then `end` is the first of them.
static bool search_window(Search *search, int32_t begin, int32_t end) {
	search->begin = begin;
	search->end = end;
	search->nearby.fractions[0] = (float)begin / (float)search->count;
	search->nearby.fractions[1] = (float)(end - 1) / (float)search->count;
	nearby_visit(&search->nearby);
	return search->end < end;
}

int32_t fem_swept_first_overlap(
	const FemSweptPiece *a, const FemSweptPiece *b, float displacement, int32_t count, FemSweptWork *work) {
	Search search;
	float fractions[2];
	nearby_start(&search.nearby, a, b, search_pairs, &search);
	search.count = count;
	search.step = displacement / (float)count;
	search.nearby.work = work;
	search.nearby.reach = search.step; // a face may have gone so far behind the one it crossed
	Box4 box_a = fem_swept_box(a);
	box_a = (Box4){box_a.min + search.nearby.offset, box_a.max + search.nearby.offset};
	if (!fem_swept_boxes_meet(
			box_a, a->shift, fem_swept_box(b), b->shift, a->slack + b->slack + search.step, fractions))
		return count + 1;
	int32_t begin = (int32_t)fmaxf(floorf(fractions[0] * (float)count), 1.0f);
	int32_t last = (int32_t)fmaxf(fminf(ceilf(fractions[1] * (float)count), (float)count), (float)begin);
	int32_t window = fem_swept_window(a, b, displacement, count);
	for (; begin <= last && !search.nearby.ended; begin += window) {
		if (search_window(&search, begin, begin + window < last + 1 ? begin + window : last + 1))
			return search.end;
	}
	return count + 1;
}

// ---- depth

// Of the number of pairs of tets remembered (8 KB): several faces of one tet reach into another. Chosen.
#define SEEN_BITS 10
#define DEPTH_VISITS_MAX (1 << 20) // pairs of boxes of a face and a tet: 3 ms; chosen, no scene has come to a tenth

typedef struct Clipper {
	Nearby nearby;
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

static void clip_pair(Clipper *clipper, const SweptFace *face, const SweptSolid *solid) {
	const Nearby *nearby = &clipper->nearby;
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

static bool clip_pairs(void *context, const SweptFace *face, const SweptSolid *const solids[4], int32_t count) {
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
	FemSweptWork work = {.visits_max = DEPTH_VISITS_MAX};
	clipper.at = at;
	clipper.depth = 0.0f;
	memset(clipper.seen, 0, sizeof clipper.seen);
	for (int order = 0; order < 2 && clipper.depth <= at->enough && at->clips < at->clips_max; order++) {
		clipper.flipped = order == 1;
		nearby_start(&clipper.nearby, order ? b : a, order ? a : b, clip_pairs, &clipper);
		clipper.nearby.work = &work;
		clipper.nearby.fractions[0] = clipper.nearby.fractions[1] = at->fraction;
		nearby_visit(&clipper.nearby);
	}
	return clipper.depth;
}
