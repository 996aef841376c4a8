// Memory kept ready for splits: blocks are distinct, zeroed, aligned, reused, joined, and given back to where they are
// from.
#include "base/arena.h"
#include "base/heap.h"
#include "base/memory.h"
#include "fem_test.h"

static size_t size_of(int i, int round) {
	return (size_t)(1 + (i * 37 + round * 11) % 3000);
}

FEM_TEST(heap, blocks_come_from_the_heap_and_go_back) {
	int64_t bytes = fem_memory_bytes();
	FemHeap *heap = fem_heap_create();
	FEM_REQUIRE(heap && fem_heap_keep_ready(heap, 1 << 20));
	int64_t calls = fem_memory_allocations();
	unsigned char *blocks[200];
	for (int round = 0; round < 50; round++) {
		fem_heap_begin(heap);
		for (int i = 0; i < 200; i++) {
			size_t size = size_of(i, round);
			blocks[i] = fem_alloc(size);
			FEM_REQUIRE(blocks[i] && (uintptr_t)blocks[i] % FEM_ALIGNMENT == 0);
			for (size_t k = 0; k < size; k++)
				FEM_REQUIRE(blocks[i][k] == 0);
			memset(blocks[i], i + 1, size);
		}
		fem_heap_end();
		for (int i = 0; i < 200; i++) {
			size_t size = size_of(i, round);
			FEM_CHECK(blocks[i][0] == (unsigned char)(i + 1) && blocks[i][size - 1] == (unsigned char)(i + 1));
			fem_free(blocks[i], size);
		}
	}
	FEM_CHECK_INT(fem_memory_allocations(), calls);
	fem_heap_destroy(heap);
	FEM_CHECK_INT(fem_memory_bytes(), bytes);
}

// Fails when neighbours are not joined: small blocks freed in any order must make room for a large one.
FEM_TEST(heap, small_blocks_become_a_large_one_again) {
	FemHeap *heap = fem_heap_create();
	FEM_REQUIRE(heap && fem_heap_keep_ready(heap, 1 << 20));
	int64_t calls = fem_memory_allocations();
	void *blocks[1000];
	fem_heap_begin(heap);
	for (int i = 0; i < 1000; i++)
		FEM_REQUIRE((blocks[i] = fem_alloc(900)) != NULL);
	for (int i = 0; i < 1000; i++)
		fem_free(blocks[i * 389 % 1000], 900);
	void *large = fem_alloc(900000);
	fem_heap_end();
	FEM_CHECK_INT(fem_memory_allocations(), calls);
	fem_free(large, 900000);
	fem_heap_destroy(heap);
}

// Splinters of thirty bodies that break at once are asked for once: to clear as much again stops a game for half a
// second.
FEM_TEST(heap, what_was_asked_for_once_is_not_kept_ready) {
	int64_t before = fem_memory_bytes();
	FemHeap *heap = fem_heap_create();
	void *blocks[16];
	FEM_REQUIRE(heap && fem_heap_keep_ready(heap, 1000));
	fem_heap_begin(heap);
	for (int i = 0; i < 16; i++)
		FEM_REQUIRE((blocks[i] = fem_alloc(4000000)) != NULL);
	fem_heap_end();
	int64_t taken = fem_memory_bytes() - before;
	FEM_REQUIRE(fem_heap_keep_ready(heap, 1000));
	FEM_CHECK(fem_memory_bytes() - before - taken < 12000000); // 64 MB again when all that was missed is kept ready
	for (int i = 0; i < 16; i++)
		fem_free(blocks[i], 4000000);
	fem_heap_destroy(heap);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

// Used up: the system steps in, and is counted; blocks of both kinds may be freed in any order. What it gave is ready
// the next time, and goes back to the system once it has not been asked for in ten seconds. Fails when it goes at once:
// bodies that sleep and wake would have it mapped and cleared again each time.
FEM_TEST(heap, the_system_steps_in) {
	int64_t before = fem_memory_bytes();
	FemHeap *heap = fem_heap_create();
	FEM_REQUIRE(heap && fem_heap_keep_ready(heap, 1000));
	for (int round = 0; round < 2; round++) {
		int64_t calls = fem_memory_allocations();
		void *blocks[64];
		fem_heap_begin(heap);
		for (int i = 0; i < 64; i++)
			FEM_REQUIRE((blocks[i] = fem_alloc(100000)) != NULL);
		fem_heap_end();
		FEM_CHECK_INT(fem_memory_allocations() - calls, round == 0 ? 64 : 0);
		for (int i = 63; i >= 0; i--)
			fem_free(blocks[i], 100000);
		FEM_REQUIRE(fem_heap_keep_ready(heap, 1000));
	}
	FEM_REQUIRE(fem_heap_keep_ready(heap, 1000));
	FEM_CHECK(fem_memory_bytes() - before > 6000000);
	for (int step = 0; step < 600; step++)
		FEM_REQUIRE(fem_heap_keep_ready(heap, 1000));
	FEM_CHECK(fem_memory_bytes() - before < 200000);
	fem_heap_destroy(heap);
}

// Fails when a freed block is given out for more than it holds: its neighbour is written over. Sizes just above a
// class.
FEM_TEST(heap, a_block_holds_what_it_is_given_for) {
	FemHeap *heap = fem_heap_create();
	FEM_REQUIRE(heap && fem_heap_keep_ready(heap, 1 << 20));
	fem_heap_begin(heap);
	for (size_t units = 7; units < 60; units++) {
		char *gap = fem_alloc(64 * units), *kept = fem_alloc(64);
		memset(kept, 7, 64);
		fem_free(gap, 64 * units);
		char *larger = fem_alloc(64 * (units + 1));
		FEM_REQUIRE(larger && kept);
		FEM_CHECK(larger + 64 * (units + 1) <= kept || larger >= kept + 64);
		memset(larger, 9, 64 * (units + 1));
		for (int i = 0; i < 64; i++)
			FEM_REQUIRE(kept[i] == 7);
		fem_free(larger, 64 * (units + 1));
		fem_free(kept, 64);
	}
	fem_heap_end();
	fem_heap_destroy(heap);
}

// Fails when memory that one large step needed is kept for ever, or given back while steps still need it.
FEM_TEST(heap, the_arena_shrinks_after_a_while) {
	FemArena arena = {0};
	FEM_REQUIRE(fem_arena_begin(&arena, 8 << 20));
	for (int step = 0; step < 1300; step++) {
		FEM_REQUIRE(fem_arena_begin(&arena, 100000));
		FEM_CHECK(fem_arena_take(&arena, 100000) != NULL);
	}
	FEM_CHECK(arena.capacity >= 100000 && arena.capacity < 1 << 20);
	fem_arena_free(&arena);
}
