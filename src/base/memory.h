// All memory of the engine passes through here: aligned for SIMD, counted, freed with its size.
#ifndef FEM_BASE_MEMORY_H
#define FEM_BASE_MEMORY_H

#include "base/assert.h"

#include <stddef.h>
#include <stdint.h>

#define FEM_ALIGNMENT 64 // bytes: a cache line, and the widest vector there is

// Zeroed, 64-byte aligned; null when the system gives none, and for 0 bytes.
FEM_MUST_USE void *fem_alloc(size_t bytes);

// The same holding anything, for what is written before it is read. Reserves for the worst case are mostly never
// touched: zeroing them would cost more than all else that is done for a new body.
FEM_MUST_USE void *fem_alloc_unset(size_t bytes);

void fem_free(void *pointer, size_t bytes);

// The contents move, the new part is zeroed; on failure the old block stays and null is returned.
FEM_MUST_USE void *fem_realloc(void *pointer, size_t old_bytes, size_t new_bytes);

int64_t fem_memory_bytes(void);
int64_t fem_memory_peak(void);
void fem_memory_restart_peak(void);   // from what is held now
int64_t fem_memory_allocations(void); // calls that asked the system

// The bytes of an array of so many.
static inline size_t fem_array_bytes(size_t size, int64_t count) {
	FEM_ASSERT(count >= 0 && (size_t)count <= PTRDIFF_MAX / size);
	return size * (size_t)count;
}

#define FEM_ALLOC_ARRAY(type, count) ((type *)fem_alloc(fem_array_bytes(sizeof(type), (int64_t)(count))))
#define FEM_ALLOC_ARRAY_UNSET(type, count) ((type *)fem_alloc_unset(fem_array_bytes(sizeof(type), (int64_t)(count))))
#define FEM_FREE_ARRAY(pointer, count) fem_free((pointer), sizeof *(pointer) * (size_t)(count))

static inline size_t fem_align_up(size_t bytes) {
	return (bytes + (FEM_ALIGNMENT - 1)) & ~(size_t)(FEM_ALIGNMENT - 1);
}

#endif
