// Steps that are cut into several: why, and what colliders do meanwhile.
#ifndef FEM_WORLD_SUBSTEPS_H
#define FEM_WORLD_SUBSTEPS_H

#include "world/world.h"

// ---- blow_substeps.c
// An explosion has changed the velocity of a node, m/s: the next step may want to be cut. Impulses at a point are not
// told: panes of one layer of cells, which show little of their bending, break better when these are spread.
void fem_world_note_blow(FemWorld *world, const FemBody *body, int32_t node, FemVec3d change);

// ---- collider_substeps.c
void fem_colliders_begin_substep(FemWorld *world, int32_t substep, float dt);
void fem_colliders_end_substeps(FemWorld *world);

#endif
