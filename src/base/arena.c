#include "base/arena.h"

#include "base/spoil.h"

// More than asked: needs that rise from step to step do not ask the system in every one, which gives pages that must be
// cleared again. What is not used of it is not resident. Chosen; huge pages were tried: all of a page is cleared, and
// most of what is asked for is for the worst case. The slowest ticks of a level took a sixth longer.
#define SPARE(bytes) ((bytes) / 4)
#define SHRINK_STEPS 600             // chosen: ten seconds of a game
#define SHRINK_SHARE 4               // times too large for so long: chosen, a game's peaks come back
#define KEPT_BYTES ((size_t)1 << 18) // not worth giving back; chosen

// Nothing is in it: the old block goes first, so that the two never stand side by side.
static bool resize(FemArena *arena, size_t bytes) {
	size_t capacity = fem_align_up(bytes + SPARE(bytes));
	fem_arena_free(arena);
	char *block = fem_alloc_unset(capacity);
	if (block)
		*arena = (FemArena){.block = block, .capacity = capacity};
	return block != NULL;
}

static void give_back(FemArena *arena) {
	if (arena->capacity > KEPT_BYTES && arena->most < arena->capacity / SHRINK_SHARE)
		resize(arena, arena->most + KEPT_BYTES / SHRINK_SHARE);
	arena->most = 0;
	arena->steps = 0;
}

bool fem_arena_begin(FemArena *arena, size_t bytes) {
	bytes = bytes > 0 ? bytes : 1; // what is taken of 0 bytes is a place, too
	arena->used = 0;
	arena->most = bytes > arena->most ? bytes : arena->most;
	if (++arena->steps > SHRINK_STEPS)
		give_back(arena);
	return bytes <= arena->capacity || resize(arena, bytes);
}

void fem_arena_free(FemArena *arena) {
	fem_free(arena->block, arena->capacity);
	*arena = (FemArena){0};
}

void *fem_arena_take(FemArena *arena, size_t bytes) {
	bytes = fem_align_up(bytes);
	FEM_ASSERT(arena->used % FEM_ALIGNMENT == 0 && arena->used <= arena->capacity);
	FEM_ASSERT(bytes <= arena->capacity - arena->used); // the stage's count of its bytes is wrong
	if (!arena->block || bytes > arena->capacity - arena->used)
		return NULL;
	void *pointer = arena->block + arena->used;
	arena->used += bytes;
	FEM_SPOIL(pointer, bytes);
	return pointer;
}
