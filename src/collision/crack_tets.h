// Tets of two pieces that were one, where the crack between them has hardly opened.
#ifndef FEM_COLLISION_CRACK_TETS_H
#define FEM_COLLISION_CRACK_TETS_H

#include "base/vec.h"
#include "collision/lanes4.h"
#include "model/tet_batches.h"
#include "topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

// Of one body that broke.
typedef struct FemCrackTets {
	const FemTopology *topology;
	const FemVec4 *position;  // m, [node]
	const int32_t *mesh_tets; // [user tet * 4 + local]: the node of the mesh
	const FemBatch *batches;  // for volumes
	const uint8_t *closed;    // [tet]: bit v when the face opposite local node v lies on the one that it was
} FemCrackTets;

// The nodes of the mesh that a tet has.
static inline Int4 fem_crack_tet_nodes(const FemCrackTets *cracks, int32_t tet) {
	return load_ints4(cracks->mesh_tets + 4 * (size_t)cracks->topology->user_of_tet[tet]);
}

// Of two tets with nodes in common. same[k]: bit i when node i of the first is node i + k (mod 4) of the second.
bool fem_crack_neighbours_rest(const FemCrackTets *cracks, int32_t tet, int32_t other, const unsigned same[4]);

// Whether two tets need not be tested against each other: they have a closed face in common, or an edge or a corner
// whose copies are still near each other. `nodes` are those of the first. Most have no node in common.
static inline bool fem_crack_tets_rest(const FemCrackTets *cracks, int32_t tet, Int4 nodes, int32_t other) {
	Int4 b = fem_crack_tet_nodes(cracks, other);
	unsigned same[4] = {equal4(nodes, b), equal4(nodes, __builtin_shufflevector(b, b, 1, 2, 3, 0)),
		equal4(nodes, __builtin_shufflevector(b, b, 2, 3, 0, 1)),
		equal4(nodes, __builtin_shufflevector(b, b, 3, 0, 1, 2))};
	return (same[0] | same[1] | same[2] | same[3]) != 0 && fem_crack_neighbours_rest(cracks, tet, other, same);
}

// Whether two copies of a node, one of each tet, are nearer to each other than a share of the edge of either tet.
// `apart_sq`: square of their distance, m^2.
bool fem_crack_copies_are_near(const FemCrackTets *cracks, int32_t tet, int32_t other, float apart_sq, double share);

#endif
