#include "base/arena.h"

// Sanitizer builds bring to light what reads memory of an earlier step: as NaN, or by the memory sanitizer's own means.
#if defined(__SANITIZE_ADDRESS__)
#include <string.h>
#define SPOIL(pointer, bytes) memset(pointer, 0xff, bytes)
#elif defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define SPOIL(pointer, bytes) __msan_allocated_memory(pointer, bytes)
#endif
#endif
#ifndef SPOIL
#define SPOIL(pointer, bytes) ((void)0)
#endif

bool fem_arena_reserve(FemArena *arena, size_t capacity) {
	if (capacity <= arena->capacity)
		return true;
	// A quarter more than asked, so that a scene built body by body reserves a few times, not once a body.
	capacity = fem_align_up(capacity + capacity / 4);
	char *block = fem_alloc(capacity);
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
	SPOIL(pointer, bytes);
	return pointer;
}
