// The rigid rotation between two sets of points.
#ifndef POINT_MATCHING_H
#define POINT_MATCHING_H

#include "fem_destruction.h"

#include <stdint.h>

// Rotates `rotation` (that of the last tick is a good start) so that it brings `points` nearest to `wanted`, both
// about their means; answers how far the worst of them is off.
float point_matching_rotate(const FemVec3 *points, const FemVec3 *wanted, int32_t count, FemQuat *rotation);

#endif
