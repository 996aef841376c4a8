// Fast objects: what the files of that name share.
#ifndef FEM_WORLD_FAST_OBJECTS_H
#define FEM_WORLD_FAST_OBJECTS_H

#include "collision/swept.h"
#include "world/step/step.h"
#include "world/world.h"

// ---- fast_objects.c
void fem_step_catch_fast_objects(FemStep *step);

// ---- fast_colliders.c
// The first of the samples 1..count at which the piece overlaps the collider, which stands; count + 1 when there is
// none.
int32_t fem_fast_first_in_collider(
	const FemSweptPiece *piece, const FemCollider *collider, float displacement, int32_t count, FemSweptWork *work);

#endif
