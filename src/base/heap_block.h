// What fem_alloc() and a heap know of each other: the unit before a block tells where it is from.
#ifndef FEM_BASE_HEAP_BLOCK_H
#define FEM_BASE_HEAP_BLOCK_H

#include "base/memory.h"

#include <stdbool.h>

struct FemHeap;

typedef struct FemHeapBlock {
	struct FemHeap *heap;
	struct FemHeapBlock *before; // its neighbour in memory, in front of it; null: it is the first of its segment
	struct FemHeapBlock *next, *previous; // of its size class, while it is free
	size_t bytes;                         // with this header; 0: the end of a segment
	bool is_free;
	char unused[FEM_ALIGNMENT - 5 * sizeof(void *) - 2];
	unsigned char shift; // the byte before the block: 0, which no block of the system has
} FemHeapBlock;

_Static_assert(sizeof(FemHeapBlock) == FEM_ALIGNMENT, "a heap block's header must keep its alignment");

void *fem_heap_take(size_t bytes); // of this thread's heap; null for none or when it is used up
void fem_heap_give_back(void *pointer);

#endif
