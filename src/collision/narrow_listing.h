// The first half of the narrow phase: units of work, listed on one thread in a fixed order.
#ifndef FEM_COLLISION_NARROW_LISTING_H
#define FEM_COLLISION_NARROW_LISTING_H

#include "collision/narrow_phase.h"

// A group whose tet boxes have to be made before units can run.
typedef struct FemGroupClaim {
	FemSurfaceTrees *trees;
	int32_t group;
} FemGroupClaim;

static inline int32_t fem_narrow_least(int32_t a, int32_t b) {
	return a < b ? a : b;
}

// All pairs, with crossings of a body's own triangles. Then, when those have run, bodies that touch themselves.
void fem_narrow_list_first_round(FemNarrowPhase *phase);
void fem_narrow_list_second_round(FemNarrowPhase *phase);

// Whether a piece of a broken body has too few tets to fold onto itself.
bool fem_narrow_may_cross_itself(const FemSurfaceTrees *trees, int32_t component);

#endif
