// Size classes of at most a quarter's waste; blocks are cut from the reserve front to back and reused within their class.
// Nothing is joined again: a body breaks into ever smaller pieces, whose sizes come again and again.
#include "base/heap.h"

#include "base/heap_block.h"
#include "base/memory.h"
#include "base/thread.h"

#include <string.h>

#define CLASS_COUNT 160
#define SEGMENT_MIN ((size_t)1 << 20)
#define UNIT ((size_t)FEM_ALIGNMENT)

typedef struct Segment {
	struct Segment *next;
	size_t bytes, used; // with this header
	size_t warm;        // written to so far
} Segment;

struct FemHeap {
	FemMutex mutex;
	Segment *segments; // the last one reserved first
	size_t reserved;
	FemHeapBlock *free[CLASS_COUNT];
};

static _Thread_local FemHeap *current;

// Classes 0..3 are 1..4 units; then four to each doubling: 5, 6, 7, 8, 10, 12, 14, 16, 20 ...
static int class_of(size_t units, size_t *out_units) {
	int shift = 0;
	size_t top = units - 1;
	while (top >> shift > 7)
		shift++;
	top >>= shift;
	*out_units = (top + 1) << shift;
	return shift * 4 + (int)top;
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
		fem_free(segment, segment->bytes);
	}
	fem_mutex_destroy(&heap->mutex);
	fem_free(heap, sizeof *heap);
}

bool fem_heap_reserve(FemHeap *heap, size_t bytes) {
	if (bytes <= heap->reserved)
		return true;
	size_t more = bytes - heap->reserved + bytes / 4; // as in fem_arena_reserve()
	more = fem_align_up(more < SEGMENT_MIN ? SEGMENT_MIN : more) + fem_align_up(sizeof(Segment));
	Segment *segment = fem_alloc_unset(more);
	if (!segment)
		return false;
	*segment = (Segment){.next = heap->segments, .bytes = more, .used = fem_align_up(sizeof(Segment))};
	heap->segments = segment;
	heap->reserved += more;
	return true;
}

void fem_heap_warm(FemHeap *heap, size_t bytes) {
	fem_mutex_lock(&heap->mutex);
	for (Segment *segment = heap->segments; segment && bytes > 0; segment = segment->next) {
		size_t begin = segment->warm > segment->used ? segment->warm : segment->used;
		size_t count = segment->bytes - begin < bytes ? segment->bytes - begin : bytes;
		memset((char *)segment + begin, 0, count);
		segment->warm = begin + count;
		bytes -= count;
	}
	fem_mutex_unlock(&heap->mutex);
}

void fem_heap_begin(FemHeap *heap) {
	current = heap;
}

void fem_heap_end(void) {
	current = NULL;
}

static FemHeapBlock *take_free(FemHeap *heap, int class_index) {
	FemHeapBlock *block = heap->free[class_index];
	if (block)
		heap->free[class_index] = block->next;
	return block;
}

// One of its class, else from the reserve, else the next larger one there is.
static FemHeapBlock *take(FemHeap *heap, int *class_index, size_t bytes) {
	FemHeapBlock *block = take_free(heap, *class_index);
	if (block)
		return block;
	for (Segment *segment = heap->segments; segment; segment = segment->next) {
		if (segment->bytes - segment->used < bytes)
			continue;
		block = (FemHeapBlock *)((char *)segment + segment->used);
		segment->used += bytes;
		return block;
	}
	while (!block && ++*class_index < CLASS_COUNT)
		block = take_free(heap, *class_index);
	return block;
}

void *fem_heap_take(size_t bytes) {
	FemHeap *heap = current;
	size_t units;
	if (!heap)
		return NULL;
	int class_index = class_of(1 + (bytes + UNIT - 1) / UNIT, &units);
	if (class_index >= CLASS_COUNT)
		return NULL;
	fem_mutex_lock(&heap->mutex);
	FemHeapBlock *block = take(heap, &class_index, units * UNIT);
	fem_mutex_unlock(&heap->mutex);
	if (!block)
		return NULL;
	*block = (FemHeapBlock){.heap = heap, .class_index = class_index};
	return block + 1;
}

void fem_heap_give_back(void *pointer) {
	FemHeapBlock *block = (FemHeapBlock *)pointer - 1;
	FemHeap *heap = block->heap;
	fem_mutex_lock(&heap->mutex);
	block->next = heap->free[block->class_index];
	heap->free[block->class_index] = block;
	fem_mutex_unlock(&heap->mutex);
}
