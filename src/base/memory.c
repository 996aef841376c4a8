#include "base/memory.h"

#include "base/heap_block.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int64_t bytes_now, bytes_peak, allocations;

static void count_bytes(int64_t change) {
	int64_t now = atomic_fetch_add(&bytes_now, change) + change;
	int64_t peak = atomic_load(&bytes_peak);
	while (now > peak && !atomic_compare_exchange_weak(&bytes_peak, &peak, now)) {
	}
}

// Large blocks come straight from the kernel as zero pages; touching them here would make reserved memory resident.
static void *system_alloc(size_t bytes) {
	char *raw = calloc(1, bytes + FEM_ALIGNMENT);
	if (!raw)
		return NULL;
	// The byte before the aligned block says how far back the system's block begins (1..64).
	size_t shift = FEM_ALIGNMENT - ((uintptr_t)raw & (FEM_ALIGNMENT - 1));
	raw[shift - 1] = (char)shift;
	return raw + shift;
}

static unsigned char shift_of(const void *pointer) {
	return ((const unsigned char *)pointer)[-1];
}

void *fem_alloc(size_t bytes) {
	if (bytes == 0 || bytes > PTRDIFF_MAX - FEM_ALIGNMENT)
		return NULL;
	void *pointer = fem_heap_take(bytes);
	if (pointer)
		return pointer;
	pointer = system_alloc(bytes);
	if (!pointer)
		return NULL;
	count_bytes((int64_t)bytes);
	atomic_fetch_add(&allocations, 1);
	return pointer;
}

void fem_free(void *pointer, size_t bytes) {
	if (!pointer)
		return;
	if (shift_of(pointer) == 0) {
		fem_heap_give_back(pointer);
		return;
	}
	count_bytes(-(int64_t)bytes);
	free((char *)pointer - shift_of(pointer));
}

void *fem_realloc(void *pointer, size_t old_bytes, size_t new_bytes) {
	void *moved = fem_alloc(new_bytes);
	if (!moved)
		return NULL;
	if (pointer)
		memcpy(moved, pointer, old_bytes < new_bytes ? old_bytes : new_bytes);
	fem_free(pointer, old_bytes);
	return moved;
}

int64_t fem_memory_bytes(void) {
	return atomic_load(&bytes_now);
}

int64_t fem_memory_peak(void) {
	return atomic_load(&bytes_peak);
}

void fem_memory_restart_peak(void) {
	atomic_store(&bytes_peak, atomic_load(&bytes_now));
}

int64_t fem_memory_allocations(void) {
	return atomic_load(&allocations);
}
