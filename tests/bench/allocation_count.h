// Counts every allocation of the whole program (the engine's and its libraries'), by taking the place of malloc.
#ifndef FEM_BENCH_ALLOCATION_COUNT_H
#define FEM_BENCH_ALLOCATION_COUNT_H

#include <stdbool.h>
#include <stdint.h>

// Calls of malloc, calloc, realloc, aligned_alloc, memalign, posix_memalign and operator new since the start; frees do
// not count. 0 where allocation_count_works() is false.
int64_t allocation_count(void);

// False with sanitizers and C libraries other than glibc, where malloc cannot be replaced this way.
bool allocation_count_works(void);

#endif
