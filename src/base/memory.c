#include "base/memory.h"

#include "base/error.h"
#include "base/heap_block.h"
#include "base/spoil.h"
#include "fem_hooks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int64_t bytes_now, bytes_peak, allocations;
static FemAllocator host; // changes only while nothing is held

static void count_bytes(int64_t change) {
	int64_t now = atomic_fetch_add(&bytes_now, change) + change;
	int64_t peak = atomic_load(&bytes_peak);
	while (now > peak && !atomic_compare_exchange_weak(&bytes_peak, &peak, now)) {
	}
}

// Large zeroed blocks mostly come from the kernel as zero pages; clearing them here would make all of them resident.
static void *system_alloc(size_t bytes, bool zeroed) {
	char *raw = host.allocate ? host.allocate(host.user, bytes + FEM_ALIGNMENT, FEM_ALIGNMENT)
		: zeroed              ? calloc(1, bytes + FEM_ALIGNMENT)
							  : malloc(bytes + FEM_ALIGNMENT);
	if (!raw)
		return NULL;
	if (host.allocate && zeroed)
		memset(raw, 0, bytes + FEM_ALIGNMENT);
	// The byte before the aligned block says how far back the system's block begins (1..64).
	size_t shift = FEM_ALIGNMENT - ((uintptr_t)raw & (FEM_ALIGNMENT - 1));
	FEM_ASSERT(shift > sizeof bytes); // what follows is the size it must be freed with
	memcpy(raw, &bytes, sizeof bytes);
	raw[shift - 1] = (char)shift;
	return raw + shift;
}

static unsigned char shift_of(const void *pointer) {
	return ((const unsigned char *)pointer)[-1];
}

// Freed with the size that it was taken with: the count of bytes, and a host's own allocator, rely on it.
static bool is_size_of(const void *pointer, size_t bytes) {
	const FemHeapBlock *block = (const FemHeapBlock *)pointer - 1;
	if (shift_of(pointer) == 0)
		return block->bytes >= sizeof *block + bytes && block->bytes < bytes + 4 * FEM_ALIGNMENT;
	size_t taken;
	memcpy(&taken, (const char *)pointer - shift_of(pointer), sizeof taken);
	return taken == bytes;
}

static void *count_system_block(void *pointer, size_t bytes) {
	if (!pointer)
		return NULL;
	count_bytes((int64_t)bytes);
	atomic_fetch_add(&allocations, 1);
	return pointer;
}

static bool is_sane(size_t bytes) {
	return bytes > 0 && bytes <= PTRDIFF_MAX - FEM_ALIGNMENT;
}

void *fem_alloc(size_t bytes) {
	if (!is_sane(bytes))
		return NULL;
	void *pointer = fem_heap_take(bytes);
	return pointer ? memset(pointer, 0, bytes) : count_system_block(system_alloc(bytes, true), bytes);
}

void *fem_alloc_unset(size_t bytes) {
	if (!is_sane(bytes))
		return NULL;
	void *pointer = fem_heap_take(bytes);
	if (!pointer)
		pointer = count_system_block(system_alloc(bytes, false), bytes);
	if (pointer)
		FEM_SPOIL(pointer, bytes);
	return pointer;
}

void fem_free(void *pointer, size_t bytes) {
	if (!pointer)
		return;
	FEM_ASSERT(shift_of(pointer) <= FEM_ALIGNMENT && is_size_of(pointer, bytes));
	if (shift_of(pointer) == 0) {
		fem_heap_give_back(pointer);
		return;
	}
	count_bytes(-(int64_t)bytes);
	void *raw = (char *)pointer - shift_of(pointer);
	if (host.release)
		host.release(host.user, raw, bytes + FEM_ALIGNMENT, FEM_ALIGNMENT);
	else
		free(raw);
}

FemResult fem_set_allocator(const FemAllocator *allocator) {
	if (allocator && (!allocator->allocate || !allocator->release))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The allocator lacks allocate or release: set both, or pass null for malloc and free.");
	if (atomic_load(&bytes_now) != 0)
		return fem_fail(FEM_ERROR_IN_USE,
			"The engine holds %lld bytes of the allocator it has: set another before the first world, "
			"or when all worlds and baked meshes are gone.",
			(long long)atomic_load(&bytes_now));
	host = allocator ? *allocator : (FemAllocator){0};
	return FEM_OK;
}

FemAllocator fem_get_allocator(void) {
	return host;
}

void *fem_realloc(void *pointer, size_t old_bytes, size_t new_bytes) {
	char *moved = fem_alloc_unset(new_bytes);
	if (!moved)
		return NULL;
	size_t kept = !pointer ? 0 : old_bytes < new_bytes ? old_bytes : new_bytes;
	if (kept > 0)
		memcpy(moved, pointer, kept);
	memset(moved + kept, 0, new_bytes - kept);
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
