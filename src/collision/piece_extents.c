#include "collision/piece_extents.h"

#include "base/vec.h"
#include "topology/topology.h"

#include <math.h>

#define NODES_MAX 64 // of a piece that is looked at: larger ones are seldom apart along a whole axis. Chosen
// Of the extent of a piece: what is apart by less may touch by the rounding of floats.
#define APART_SHARE 1e-4f

// The three axes of a rest shape as it is turned now, one a lane.
typedef struct Axes {
	Float4 x, y, z;
} Axes;

// m, along the axes of the first piece and of the second.
typedef struct Extents {
	Float4 min[2], max[2];
} Extents;

static Axes axes_of(const FemSweptPiece *piece) {
	const FemTopology *t = piece->body->topology;
	FemVec4 q = piece->body->rotation[t->node_tets[t->node_tet_start[piece->nodes.begin]] >> 2];
	float x = q.x, y = q.y, z = q.z, w = q.w;
	return (Axes){
		.x = {1.0f - 2.0f * (y * y + z * z), 2.0f * (x * y - w * z), 2.0f * (x * z + w * y), 0.0f},
		.y = {2.0f * (x * y + w * z), 1.0f - 2.0f * (x * x + z * z), 2.0f * (y * z - w * x), 0.0f},
		.z = {2.0f * (x * z - w * y), 2.0f * (y * z + w * x), 1.0f - 2.0f * (x * x + y * y), 0.0f},
	};
}

static bool are_small(const FemSweptPiece *a, const FemSweptPiece *b) {
	int32_t first = a->nodes.end - a->nodes.begin, second = b->nodes.end - b->nodes.begin;
	return first > 0 && second > 0 && first <= NODES_MAX && second <= NODES_MAX;
}

// From a place near both pieces: with the offset of the body's origin from it, m.
static Extents find_extents(const FemSweptPiece *piece, FemVec3d offset, float fraction, const Axes axes[2]) {
	Extents out;
	Float4 shift = {(float)offset.x, (float)offset.y, (float)offset.z, 0.0f};
	for (int k = 0; k < 2; k++) {
		out.min[k] = all4(INFINITY);
		out.max[k] = all4(-INFINITY);
	}
	for (int32_t i = piece->nodes.begin; i < piece->nodes.end; i++) {
		Float4 p = fem_swept_point(piece, i, fraction) + shift;
		for (int k = 0; k < 2; k++) {
			Float4 at = axes[k].x * all4(p[0]) + axes[k].y * all4(p[1]) + axes[k].z * all4(p[2]);
			out.min[k] = min4(at, out.min[k]);
			out.max[k] = max4(at, out.max[k]);
		}
	}
	return out;
}

static void find_both(
	const FemSweptPiece *a, const FemSweptPiece *b, float fraction, const Axes axes[2], Extents out[2]) {
	out[0] = find_extents(a, (FemVec3d){0.0, 0.0, 0.0}, fraction, axes);
	out[1] = find_extents(b, fem_position_sub(b->body->origin, a->body->origin), fraction, axes);
}

float fem_pieces_common_depth(const FemSweptPiece *a, const FemSweptPiece *b, float fraction) {
	float least = INFINITY;
	if (!are_small(a, b))
		return INFINITY;
	Axes axes[2] = {axes_of(a), axes_of(b)};
	Extents of[2];
	find_both(a, b, fraction, axes, of);
	for (int k = 0; k < 2; k++) {
		Float4 depth = min4(of[0].max[k] - of[1].min[k], of[1].max[k] - of[0].min[k]) +
			all4(APART_SHARE) * (of[0].max[k] - of[0].min[k]);
		least = fminf(least, fminf(depth[0], fminf(depth[1], depth[2])));
	}
	return least;
}

// The farthest of points on straight paths is a convex function of time, the nearest a concave one: a gap is nowhere
// below the line between those at the start and the end of the step.
bool fem_pieces_stay_apart(const FemSweptPiece *a, const FemSweptPiece *b) {
	if (!are_small(a, b))
		return false;
	Axes axes[2] = {axes_of(a), axes_of(b)};
	Extents start[2], end[2];
	find_both(a, b, 0.0f, axes, start);
	find_both(a, b, 1.0f, axes, end);
	for (int k = 0; k < 2; k++) {
		Float4 above = min4(start[1].min[k] - start[0].max[k], end[1].min[k] - end[0].max[k]);
		Float4 below = min4(start[0].min[k] - start[1].max[k], end[0].min[k] - end[1].max[k]);
		Float4 gap = max4(above, below), enough = all4(APART_SHARE) * (start[0].max[k] - start[0].min[k]);
		if (gap[0] > enough[0] || gap[1] > enough[1] || gap[2] > enough[2])
			return true;
	}
	return false;
}
