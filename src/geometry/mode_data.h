// Modes as data: what computes them (modes/) and what keeps them (baking/) have this in common.
#ifndef FEM_GEOMETRY_MODE_DATA_H
#define FEM_GEOMETRY_MODE_DATA_H

#include "base/assert.h"
#include "fem_modes.h"

#define FEM_CIRCLE 6.283185307179586 // 2 pi: rad/s per Hz

// Zeroed arrays; false when memory fails, and the modes are then empty.
FEM_MUST_USE bool fem_modes_reserve(FemModes *modes, int32_t node_count, int32_t mode_count);

// The displacement of a node in a mode.
static inline float *fem_mode_shape(const FemModes *modes, int32_t mode, int32_t node) {
	return modes->shapes + ((size_t)mode * (size_t)modes->node_count + (size_t)node) * 3;
}

#endif
