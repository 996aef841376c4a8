#include "base/arena.h"

#include "base/spoil.h"

bool fem_arena_reserve(FemArena *arena, size_t capacity) {
	if (capacity <= arena->capacity)
		return true;
	// A quarter more than asked, so that a scene built body by body reserves a few times, not once a body.
	capacity = fem_align_up(capacity + capacity / 4);
	char *block = fem_alloc_unset(capacity);
	if (!block)
		return false;
	fem_free(arena->block, arena->capacity);
	*arena = (FemArena){.block = block, .capacity = capacity};
	return true;
}

void fem_arena_free(FemArena *arena) {
	fem_free(arena->block, arena->capacity);
	*arena = (FemArena){0};
}

void fem_arena_reset(FemArena *arena) {
	arena->used = 0;
}

void *fem_arena_take(FemArena *arena, size_t bytes) {
	bytes = fem_align_up(bytes);
	if (bytes > arena->capacity - arena->used)
		return NULL;
	void *pointer = arena->block + arena->used;
	arena->used += bytes;
	if (arena->used > arena->used_peak)
		arena->used_peak = arena->used;
	FEM_SPOIL(pointer, bytes);
	return pointer;
}
