// Checks of numbers at the public boundary.
#ifndef FEM_WORLD_CHECKS_H
#define FEM_WORLD_CHECKS_H

#include "fem_basics.h"
#include "fem_constants.h"

static inline bool fem_is_finite(float value) {
	return value - value == 0.0f;
}

static inline bool fem_vec3_is_finite(FemVec3 v) {
	return fem_is_finite(v.x) && fem_is_finite(v.y) && fem_is_finite(v.z);
}

static inline bool fem_position_is_valid(FemPosition p) {
	return p.x >= -FEM_COORDINATE_MAX && p.x <= FEM_COORDINATE_MAX && p.y >= -FEM_COORDINATE_MAX &&
		p.y <= FEM_COORDINATE_MAX && p.z >= -FEM_COORDINATE_MAX && p.z <= FEM_COORDINATE_MAX;
}

#endif
