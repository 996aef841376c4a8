// A run of numbers.
#ifndef FEM_BASE_RANGE_H
#define FEM_BASE_RANGE_H

#include <stdint.h>

typedef struct FemRange {
	int32_t begin, end; // [begin, end)
} FemRange;

#endif
