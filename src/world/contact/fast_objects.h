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
	const FemSweptPiece *piece, const FemCollider *collider, float displacement, int32_t count);

// ---- fast_touched.c
typedef struct FemFastTouched {
	const FemKeyed
		*keys; // proxies of two pieces, or of a piece and a collider, that overlapped at the start of the step
	int32_t count;
} FemFastTouched;

FemFastTouched fem_fast_list_touched(FemWorld *world); // in memory of the narrow phase, until that runs again
bool fem_fast_has_touched(const FemFastTouched *touched, int32_t proxy, int32_t other);

#endif
