// Memory kept ready for work inside a step that must allocate: topology, solver and trees of pieces that break off.
// Between fem_heap_begin() and fem_heap_end() allocations of the same thread take from the heap, without asking the
// system; fem_free() gives such blocks back to their heap, at any time and on any thread. When the heap is used up,
// they ask the system as always, and are counted.
#ifndef FEM_BASE_HEAP_H
#define FEM_BASE_HEAP_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct FemHeap FemHeap;

FEM_MUST_USE FemHeap *fem_heap_create(void); // empty; null when memory fails
void fem_heap_destroy(FemHeap *heap);        // all of its blocks must have been freed

// At least so many free bytes, and as many more as the system had to give since the last call, up to 8 MB. New ones are
// written to, so that pages come now and not in a step. Far too many go back to the system. False when that gives no
// memory.
FEM_MUST_USE bool fem_heap_keep_ready(FemHeap *heap, size_t bytes);

void fem_heap_begin(FemHeap *heap); // null: the system
void fem_heap_end(void);

#endif
