// Which piece each tet of a mesh is to be of, for bodies that are cut beforehand.
#ifndef FEM_FRACTURE_PIECE_LABELS_H
#define FEM_FRACTURE_PIECE_LABELS_H

#include "base/assert.h"
#include "topology/topology.h"

// Pieces grow from seeds, each by a tet in turn (the flood fill of Li et al. 2018). Labels are by tets inside; -1 where
// there is no tet. Seeds are user numbers; those that name the same tet are one. False when memory fails.
FEM_MUST_USE bool fem_labels_grow(const FemTopology *whole, const int32_t *seeds, int32_t seed_count, int32_t *labels);

// So many different tets at random.
void fem_labels_choose_seeds(const FemTopology *whole, uint64_t seed, int32_t *out_seeds, int32_t count);

// Makes pieces of labels: the tets of a plate cell go together, what has one label but does not hang together is
// several, and what has fewer tets than a piece must goes to the neighbour that it shares most faces with. The mesh may
// have broken. Returns how many there are; -1 when memory fails.
FEM_MUST_USE int32_t fem_labels_settle(const FemTopology *topology, int32_t *labels);

#endif
