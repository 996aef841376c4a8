#include "collision/crack_tets.h"

#include <math.h>

#define EDGE_CUBED 8.5 // of a regular tet over its volume: 6 sqrt(2) = 8.49
// Of a tet's edge: tets that have an edge or a corner in common whose copies are nearer only graze; chosen.
#define GRAZING_SHARE 0.25

// The square of the volume whose tet has an edge of 1 / share of the distance is compared with that of the smaller tet,
// for want of a root.
bool fem_crack_copies_are_near(const FemCrackTets *cracks, int32_t tet, int32_t other, float apart_sq, double share) {
	double a = (double)cracks->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
	double b = (double)cracks->batches[other / FEM_LANES].volume[other % FEM_LANES];
	double least = share * share * share * EDGE_CUBED * fmin(a, b), sq = (double)apart_sq;
	return sq * sq * sq < least * least;
}

static float distance_sq(const FemCrackTets *cracks, int32_t tet, int i, int32_t other, int j) {
	FemVec4 a = cracks->position[fem_tet_node(cracks->topology, tet, i)];
	FemVec4 b = cracks->position[fem_tet_node(cracks->topology, other, j)];
	FemVec3 offset = fem_vec3_sub(fem_vec3_from(a), fem_vec3_from(b));
	return fem_vec3_dot(offset, offset);
}

static float farthest_sq(const FemCrackTets *cracks, int32_t tet, int32_t other, const unsigned same[4]) {
	float most = 0.0f;
	for (int k = 0; k < 4; k++) {
		for (unsigned left = same[k]; left; left &= left - 1) {
			int i = __builtin_ctz(left);
			most = fmaxf(most, distance_sq(cracks, tet, i, other, (i + k) % 4));
		}
	}
	return most;
}

bool fem_crack_neighbours_rest(const FemCrackTets *cracks, int32_t tet, int32_t other, const unsigned same[4]) {
	unsigned alone = (same[0] | same[1] | same[2] | same[3]) ^ 15;
	if (alone != 0 && (alone & (alone - 1)) == 0) // a face
		return (cracks->closed[tet] >> __builtin_ctz(alone) & 1) != 0;
	return fem_crack_copies_are_near(cracks, tet, other, farthest_sq(cracks, tet, other, same), GRAZING_SHARE);
}
