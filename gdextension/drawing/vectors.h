// Vectors of the engine, as far as drawing needs them.
#ifndef VECTORS_H
#define VECTORS_H

#include "fem_destruction.h"

#include <math.h>

static inline FemVec3 vector_subtract(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline FemVec3 vector_cross(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline float vector_dot(FemVec3 a, FemVec3 b) {
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline float vector_length(FemVec3 v) {
	return sqrtf(vector_dot(v, v));
}

static inline FemVec3 vector_scaled(FemVec3 v, FemVec3 by) {
	return (FemVec3){v.x * by.x, v.y * by.y, v.z * by.z};
}

#endif
