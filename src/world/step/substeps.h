// Steps that are cut into several: what colliders do meanwhile.
#ifndef FEM_WORLD_SUBSTEPS_H
#define FEM_WORLD_SUBSTEPS_H

#include "world/world.h"

// ---- collider_substeps.c
void fem_colliders_begin_substep(FemWorld *world, int32_t substep, float dt);
void fem_colliders_end_substeps(FemWorld *world);

#endif
