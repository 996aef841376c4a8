// Memory reserved for splits: blocks are distinct, zeroed, aligned, reused, and given back to where they are from.
#include "base/heap.h"
#include "base/memory.h"
#include "fem_test.h"

FEM_TEST(heap, blocks_come_from_the_reserve_and_go_back) {
	int64_t bytes = fem_memory_bytes();
	FemHeap *heap = fem_heap_create();
	FEM_REQUIRE(heap && fem_heap_reserve(heap, 1 << 20));
	int64_t calls = fem_memory_allocations();
	unsigned char *blocks[200];
	for (int round = 0; round < 50; round++) {
		fem_heap_begin(heap);
		for (int i = 0; i < 200; i++) {
			size_t size = (size_t)(1 + (i * 37 + round * 11) % 3000);
			blocks[i] = fem_alloc(size);
			FEM_REQUIRE(blocks[i] && (uintptr_t)blocks[i] % FEM_ALIGNMENT == 0);
			for (size_t k = 0; k < size; k++)
				FEM_REQUIRE(blocks[i][k] == 0);
			memset(blocks[i], i + 1, size);
		}
		fem_heap_end();
		for (int i = 0; i < 200; i++) {
			size_t size = (size_t)(1 + (i * 37 + round * 11) % 3000);
			FEM_CHECK(blocks[i][0] == (unsigned char)(i + 1) && blocks[i][size - 1] == (unsigned char)(i + 1));
			fem_free(blocks[i], size);
		}
	}
	FEM_CHECK_INT(fem_memory_allocations(), calls);
	fem_heap_destroy(heap);
	FEM_CHECK_INT(fem_memory_bytes(), bytes);
}

// What was given out is never touched, and warming goes on to the end and no further.
FEM_TEST(heap, warming_leaves_blocks_alone) {
	FemHeap *heap = fem_heap_create();
	FEM_REQUIRE(heap && fem_heap_reserve(heap, 1 << 20) && fem_heap_reserve(heap, 3 << 20));
	unsigned char *blocks[24];
	for (int i = 0; i < 24; i++) {
		fem_heap_begin(heap);
		blocks[i] = fem_alloc(100000);
		fem_heap_end();
		FEM_REQUIRE(blocks[i] != NULL);
		memset(blocks[i], i + 1, 100000);
		fem_heap_warm(heap, (size_t)i * 40000);
	}
	for (int i = 0; i < 24; i++) {
		for (int k = 0; k < 100000; k += 999)
			FEM_CHECK(blocks[i][k] == (unsigned char)(i + 1));
		fem_free(blocks[i], 100000);
	}
	fem_heap_destroy(heap);
}

// Used up: the system steps in, and is counted; blocks of both kinds may be freed in any order.
FEM_TEST(heap, the_system_steps_in) {
	FemHeap *heap = fem_heap_create();
	FEM_REQUIRE(heap && fem_heap_reserve(heap, 1));
	int64_t calls = fem_memory_allocations(), bytes = fem_memory_bytes();
	void *blocks[64];
	fem_heap_begin(heap);
	for (int i = 0; i < 64; i++)
		FEM_REQUIRE((blocks[i] = fem_alloc(100000)) != NULL);
	fem_heap_end();
	FEM_CHECK(fem_memory_allocations() > calls && fem_memory_allocations() < calls + 64);
	for (int i = 63; i >= 0; i--)
		fem_free(blocks[i], 100000);
	FEM_CHECK_INT(fem_memory_bytes(), bytes);
	fem_heap_destroy(heap);
}
