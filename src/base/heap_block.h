// What fem_alloc() and a heap know of each other: the unit before a block tells where it is from.
#ifndef FEM_BASE_HEAP_BLOCK_H
#define FEM_BASE_HEAP_BLOCK_H

#include "base/memory.h"

struct FemHeap;

typedef struct FemHeapBlock {
	struct FemHeap *heap;
	struct FemHeapBlock *next; // while it is free
	int class_index;
	char unused[FEM_ALIGNMENT - 2 * sizeof(void *) - sizeof(int) - 1];
	unsigned char shift; // the byte before the block: 0, which no block of the system has
} FemHeapBlock;

_Static_assert(sizeof(FemHeapBlock) == FEM_ALIGNMENT, "a heap block's header must keep its alignment");

void *fem_heap_take(size_t bytes); // of this thread's heap; null for none or when it is used up
void fem_heap_give_back(void *pointer);

#endif
