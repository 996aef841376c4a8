// Lays several arrays into one block. Run once with a null base to learn the size, then again with the block.
#ifndef FEM_BASE_CARVE_H
#define FEM_BASE_CARVE_H

#include "base/memory.h"

typedef struct FemCarver {
	char *base;
	size_t used;
} FemCarver;

// 64-byte aligned; null while measuring.
static inline void *fem_carve(FemCarver *carver, size_t bytes) {
	void *pointer = carver->base ? carver->base + carver->used : NULL;
	FEM_ASSERT(bytes <= PTRDIFF_MAX && carver->used % FEM_ALIGNMENT == 0);
	carver->used += fem_align_up(bytes);
	return pointer;
}

#define FEM_CARVE(carver, type, count) ((type *)fem_carve((carver), fem_array_bytes(sizeof(type), (int64_t)(count))))

#endif
