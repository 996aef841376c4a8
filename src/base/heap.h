// Memory reserved for work inside a step that must allocate: the solver's and the trees' memory of pieces that break off.
// Between fem_heap_begin() and fem_heap_end() allocations of the same thread take from the heap, without asking the
// system; fem_free() gives such blocks back to their heap, at any time and on any thread. When the heap is used up,
// they ask the system as always, and are counted.
#ifndef FEM_BASE_HEAP_H
#define FEM_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct FemHeap FemHeap;

FemHeap *fem_heap_create(void); // null when memory fails
void fem_heap_destroy(FemHeap *heap); // all of its blocks must have been freed

// Room for at least so many bytes in all. False when the system gives no memory; what is there stays.
bool fem_heap_reserve(FemHeap *heap, size_t bytes);

// Touches so many more bytes of the reserve, so that the system has given them before they are needed: pages that come with
// the first write cost a tenth of a step in which much breaks.
void fem_heap_warm(FemHeap *heap, size_t bytes);

void fem_heap_begin(FemHeap *heap); // null: the system
void fem_heap_end(void);

#endif
