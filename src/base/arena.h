// A stack of memory for one step: taken front to back, dropped as a whole. Who takes from it says beforehand how much
// the step needs in all; it asks the system only when a step needs more than any before it.
#ifndef FEM_BASE_ARENA_H
#define FEM_BASE_ARENA_H

#include "base/memory.h"

#include <stdbool.h>

typedef struct FemArena {
	char *block;
	size_t capacity, used;
	size_t most;   // bytes asked for by one of the last steps,
	int32_t steps; // of which there were so many
} FemArena;

// Room for a step that takes so many bytes; what was taken before is dropped. A block that was four times too large for
// seconds is given back, so that a level at rest does not hold what its collapse needed. False when the system gives no
// memory.
FEM_MUST_USE bool fem_arena_begin(FemArena *arena, size_t bytes);
void fem_arena_free(FemArena *arena);

// 64-byte aligned, not zeroed. All that is taken was asked for at the beginning; null when there is no room.
void *fem_arena_take(FemArena *arena, size_t bytes);

#define FEM_ARENA_TAKE(arena, type, count) \
	((type *)fem_arena_take((arena), fem_array_bytes(sizeof(type), (int64_t)(count))))

#endif
