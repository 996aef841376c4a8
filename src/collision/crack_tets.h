// Tets of two pieces that were one, where the crack between them has hardly opened.
#ifndef FEM_COLLISION_CRACK_TETS_H
#define FEM_COLLISION_CRACK_TETS_H

#include "base/vec.h"
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

// Whether two tets need not be tested against each other: they have a closed face in common, or an edge or a corner
// whose copies are still near each other.
bool fem_crack_tets_rest(const FemCrackTets *cracks, int32_t tet, int32_t other);

// Whether two copies of a node, one of each tet, are nearer to each other than a share of the edge of either tet.
// `apart_sq`: square of their distance, m^2.
bool fem_crack_copies_are_near(const FemCrackTets *cracks, int32_t tet, int32_t other, float apart_sq, double share);

#endif
