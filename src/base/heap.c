// Two-level segregated fit (Masmano, Ripoll, Crespo, Real, "TLSF: a new dynamic memory allocator for real-time
// systems", 2004): free blocks in lists by size, four to each doubling, found by a bit scan; what is left of a block is
// split off, and neighbours that are free are joined at once. Taking and giving back are a few dozen instructions.
// Tried before: size classes without splitting or joining. Pieces and rigid spaces change their sizes from step to
// step, and the blocks of sizes no longer asked for came to several times what was in use.
#include "base/heap.h"

#include "base/heap_block.h"
#include "base/memory.h"
#include "base/thread.h"

#include <string.h>

#define CLASS_COUNT 160               // lists of free blocks: 8, then four to each of 38 doublings, beyond any size
#define SEGMENT_MIN ((size_t)1 << 16) // bytes taken from the system at once, at least; chosen
#define UNIT ((size_t)FEM_ALIGNMENT)
// A heap with so many times what is to be ready, for so many steps, gives whole segments back. Both chosen, ten seconds
// of a game: bodies fall asleep and wake, and to map and clear the same 16 MB again and again was a tenth of the time
// of a level's ticks.
#define SURPLUS 4
#define SURPLUS_STEPS 600
// Bytes that are kept ready at most because the last step had to ask the system for them. Chosen: what a step makes
// anew at each split. A level whose thirty vases burst at once took 190 MB for splinters of their own, and stood still
// for half a second while the next 190 MB were cleared, which nobody asked for again.
#define MISSED_MAX ((size_t)1 << 23)

typedef struct Segment {
	struct Segment *next;
	size_t bytes; // with this header
} Segment;

struct FemHeap {
	FemMutex mutex;
	Segment *segments;
	size_t held, free_bytes;
	size_t missed;                            // that the system gave in its place, since it was last topped up
	int32_t surplus_steps;                    // in a row in which it had too much
	uint64_t filled[(CLASS_COUNT + 63) / 64]; // classes that have a free block
	FemHeapBlock *free[CLASS_COUNT];
};

static _Thread_local FemHeap *current;

// Classes begin at 1, 2 ... 8 units, then four to each doubling: 10, 12, 14, 16, 20 ... The class of a block is the
// last one that it fills; `up`: the first in which every block holds that many units.
static int class_of(size_t units, bool up) {
	int shift = 0;
	while (units >> shift > 8)
		shift++;
	size_t top = units >> shift;
	int index = shift == 0 ? (int)top - 1 : 8 + (shift - 1) * 4 + (int)top - 5;
	bool is_more = (top << shift) < units;
	return index + (up && is_more);
}

static FemHeapBlock *behind(FemHeapBlock *block) {
	FEM_ASSERT(block->bytes > 0); // nothing is behind the end of a segment
	return (FemHeapBlock *)((char *)block + block->bytes);
}

static void list_free(FemHeap *heap, FemHeapBlock *block) {
	int index = class_of(block->bytes / UNIT, false);
	index = index < CLASS_COUNT ? index : CLASS_COUNT - 1;
	FEM_ASSERT(!block->is_free && block->heap == heap && block->bytes % UNIT == 0);
	block->is_free = true;
	block->previous = NULL;
	block->next = heap->free[index];
	if (block->next)
		block->next->previous = block;
	heap->free[index] = block;
	heap->filled[index / 64] |= (uint64_t)1 << (index % 64);
	heap->free_bytes += block->bytes;
}

static void unlist_free(FemHeap *heap, FemHeapBlock *block) {
	FEM_ASSERT(block->is_free && block->heap == heap && heap->free_bytes >= block->bytes);
	int index = class_of(block->bytes / UNIT, false);
	index = index < CLASS_COUNT ? index : CLASS_COUNT - 1;
	if (block->next)
		block->next->previous = block->previous;
	if (block->previous)
		block->previous->next = block->next;
	else
		heap->free[index] = block->next;
	if (!heap->free[index])
		heap->filled[index / 64] &= ~((uint64_t)1 << (index % 64));
	block->is_free = false;
	heap->free_bytes -= block->bytes;
}

// ---- segments

static FemHeapBlock *first_block(Segment *segment) {
	return (FemHeapBlock *)((char *)segment + fem_align_up(sizeof(Segment)));
}

FemHeap *fem_heap_create(void) {
	FemHeap *heap = fem_alloc(sizeof *heap);
	if (heap)
		fem_mutex_init(&heap->mutex);
	return heap;
}

void fem_heap_destroy(FemHeap *heap) {
	if (!heap)
		return;
	for (Segment *segment = heap->segments, *next; segment; segment = next) {
		next = segment->next;
		FEM_ASSERT(first_block(segment)->is_free && behind(first_block(segment))->bytes == 0);
		fem_free(segment, segment->bytes);
	}
	fem_mutex_destroy(&heap->mutex);
	fem_free(heap, sizeof *heap);
}

// One free block, and an end that is never free.
static bool add_segment(FemHeap *heap, size_t bytes) {
	bytes = fem_align_up(bytes < SEGMENT_MIN ? SEGMENT_MIN : bytes);
	size_t all = fem_align_up(sizeof(Segment)) + bytes + sizeof(FemHeapBlock);
	Segment *segment = fem_alloc_unset(all);
	if (!segment)
		return false;
	memset(segment, 0, all);
	*segment = (Segment){.next = heap->segments, .bytes = all};
	FemHeapBlock *block = first_block(segment);
	*block = (FemHeapBlock){.heap = heap, .bytes = bytes};
	*behind(block) = (FemHeapBlock){.heap = heap, .before = block};
	heap->segments = segment;
	heap->held += all;
	list_free(heap, block);
	return true;
}

// Segments of which nothing is in use, as long as `bytes` stay free without them.
static void give_segments_back(FemHeap *heap, size_t bytes) {
	for (Segment **link = &heap->segments; *link;) {
		Segment *segment = *link;
		FemHeapBlock *block = first_block(segment);
		bool is_unused = block->is_free && behind(block)->bytes == 0;
		if (!is_unused || heap->free_bytes - block->bytes < bytes) {
			link = &segment->next;
			continue;
		}
		unlist_free(heap, block);
		*link = segment->next;
		heap->held -= segment->bytes;
		fem_free(segment, segment->bytes);
	}
}

bool fem_heap_keep_ready(FemHeap *heap, size_t bytes) {
	fem_mutex_lock(&heap->mutex);
	size_t wanted = bytes + (heap->missed < MISSED_MAX ? heap->missed : MISSED_MAX);
	bool ok = true;
	heap->surplus_steps = heap->free_bytes > SURPLUS * wanted ? heap->surplus_steps + 1 : 0;
	if (heap->free_bytes < wanted)
		ok = add_segment(heap, wanted - heap->free_bytes + wanted / 8); // no block is split to its last byte
	else if (heap->surplus_steps >= SURPLUS_STEPS)
		give_segments_back(heap, wanted);
	heap->missed = 0;
	fem_mutex_unlock(&heap->mutex);
	return ok;
}

// ---- blocks

void fem_heap_begin(FemHeap *heap) {
	FEM_ASSERT(!current);
	current = heap;
}

void fem_heap_end(void) {
	current = NULL;
}

static FemHeapBlock *find_free(const FemHeap *heap, size_t units) {
	int index = class_of(units, true);
	for (int word = index / 64; index < CLASS_COUNT && word < (int)(sizeof heap->filled / sizeof *heap->filled);
		 word++) {
		uint64_t bits = heap->filled[word];
		if (word == index / 64)
			bits &= ~(uint64_t)0 << (index % 64);
		if (bits)
			return heap->free[word * 64 + __builtin_ctzll(bits)];
	}
	return NULL;
}

// What is behind the first `bytes` becomes a free block of its own, if it can hold anything.
static void split(FemHeap *heap, FemHeapBlock *block, size_t bytes) {
	if (block->bytes < bytes + 2 * UNIT)
		return;
	FemHeapBlock *rest = (FemHeapBlock *)((char *)block + bytes);
	*rest = (FemHeapBlock){.heap = heap, .before = block, .bytes = block->bytes - bytes};
	behind(block)->before = rest;
	block->bytes = bytes;
	list_free(heap, rest);
}

// A step that needs more than was kept ready, as one that breaks in many passes, asks the system once for many blocks;
// large blocks it gives one by one.
static FemHeapBlock *find_in_new_segment(FemHeap *heap, size_t units) {
	if (units * UNIT > SEGMENT_MIN / 4)
		return NULL;
	current = NULL; // the segment comes from the system
	bool added = add_segment(heap, heap->held / 8);
	current = heap;
	return added ? find_free(heap, units) : NULL;
}

void *fem_heap_take(size_t bytes) {
	FemHeap *heap = current;
	if (!heap)
		return NULL;
	size_t units = 1 + (bytes + UNIT - 1) / UNIT;
	fem_mutex_lock(&heap->mutex);
	FemHeapBlock *block = find_free(heap, units);
	block = block ? block : find_in_new_segment(heap, units);
	if (block) {
		FEM_ASSERT(block->bytes >= units * UNIT);
		unlist_free(heap, block);
		split(heap, block, units * UNIT);
	} else {
		heap->missed += units * UNIT;
	}
	fem_mutex_unlock(&heap->mutex);
	return block ? block + 1 : NULL;
}

void fem_heap_give_back(void *pointer) {
	FemHeapBlock *block = (FemHeapBlock *)pointer - 1;
	FemHeap *heap = block->heap;
	fem_mutex_lock(&heap->mutex);
	FemHeapBlock *next = behind(block), *before = block->before;
	FEM_ASSERT(next->before == block && (!before || behind(before) == block));
	if (next->is_free) {
		unlist_free(heap, next);
		block->bytes += next->bytes;
	}
	if (before && before->is_free) {
		unlist_free(heap, before);
		before->bytes += block->bytes;
		block = before;
	}
	behind(block)->before = block;
	list_free(heap, block);
	fem_mutex_unlock(&heap->mutex);
}
