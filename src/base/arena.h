// A stack of memory for one step: taken front to back, dropped as a whole. It grows only by fem_arena_reserve(), which
// creation calls use; a step never asks the system for memory.
#ifndef FEM_BASE_ARENA_H
#define FEM_BASE_ARENA_H

#include "base/memory.h"

#include <stdbool.h>

typedef struct FemArena {
	char *block;
	size_t capacity, used, used_peak;
} FemArena;

bool fem_arena_reserve(FemArena *arena, size_t capacity); // contents are lost; false when the system gives no memory
void fem_arena_free(FemArena *arena);
void fem_arena_reset(FemArena *arena);

// 64-byte aligned, not zeroed; null when the reserve is used up.
void *fem_arena_take(FemArena *arena, size_t bytes);

#define FEM_ARENA_TAKE(arena, type, count) ((type *)fem_arena_take((arena), sizeof(type) * (size_t)(count)))

#endif
