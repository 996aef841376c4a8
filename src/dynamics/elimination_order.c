#include "dynamics/elimination_order.h"

#include "base/memory.h"

#include <string.h>

static size_t word_total(const FemAdjacency *graph) {
	return 2 * (size_t)graph->node_count * (size_t)graph->word_count;
}

bool fem_adjacency_create(FemAdjacency *graph, int32_t node_count) {
	*graph = (FemAdjacency){.node_count = node_count, .word_count = (node_count + 63) / 64};
	graph->bits = FEM_ALLOC_ARRAY(uint64_t, word_total(graph)); // zeroed
	graph->degree = FEM_ALLOC_ARRAY(int32_t, node_count);
	if (!graph->bits || !graph->degree)
		fem_adjacency_free(graph);
	return graph->bits != NULL;
}

void fem_adjacency_free(FemAdjacency *graph) {
	FEM_FREE_ARRAY(graph->bits, word_total(graph));
	FEM_FREE_ARRAY(graph->degree, graph->node_count);
	*graph = (FemAdjacency){0};
}

static uint64_t *row_of(const FemAdjacency *graph, int32_t node) {
	return graph->bits + (size_t)node * (size_t)graph->word_count;
}

static void set_bit(uint64_t *row, int32_t bit) {
	row[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static void clear_bit(uint64_t *row, int32_t bit) {
	row[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

void fem_adjacency_join(FemAdjacency *graph, int32_t a, int32_t b) {
	set_bit(row_of(graph, a), b);
	set_bit(row_of(graph, b), a);
}

int32_t fem_adjacency_rows(const FemAdjacency *graph, int32_t *row_start, int32_t *column) {
	int32_t count = 0;
	for (int32_t i = 0; i < graph->node_count; i++) {
		const uint64_t *row = row_of(graph, i);
		row_start[i] = count;
		for (int32_t w = 0; w < graph->word_count; w++) {
			for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
				if (column)
					column[count] = 64 * w + __builtin_ctzll(bits);
				count++;
			}
		}
	}
	row_start[graph->node_count] = count;
	return count;
}

static int32_t degree_of(const uint64_t *row, int32_t word_count) {
	int32_t degree = 0;
	for (int32_t w = 0; w < word_count; w++)
		degree += __builtin_popcountll(row[w]);
	return degree;
}

// The neighbours of an eliminated node become neighbours of each other. Returns the least degree among them; rows
// differ little from what they are joined with, so that only new bits are counted.
static int32_t eliminate(FemAdjacency *graph, uint64_t *left, int32_t node) {
	size_t words = (size_t)graph->word_count, begin = 0, end = words;
	const uint64_t *gone = left + (size_t)node * words;
	int32_t least = graph->node_count;
	graph->degree[node] = -1;
	while (begin < end && !gone[begin])
		begin++;
	while (end > begin && !gone[end - 1])
		end--;
	for (size_t w = begin; w < end; w++) {
		for (uint64_t bits = gone[w]; bits; bits &= bits - 1) {
			int32_t other = 64 * (int32_t)w + __builtin_ctzll(bits), more = 0;
			uint64_t *row = left + (size_t)other * words;
			set_bit(row, other);
			for (size_t k = begin; k < end; k++) {
				uint64_t added = gone[k] & ~row[k];
				more += added ? __builtin_popcountll(added) : 0;
				row[k] |= added;
			}
			clear_bit(row, other);
			clear_bit(row, node);
			graph->degree[other] += more - 1;
			least = graph->degree[other] < least ? graph->degree[other] : least;
		}
	}
	return least;
}

// The first node of the least degree. bound: none has less.
static int32_t find_least(const FemAdjacency *graph, int32_t bound) {
	int32_t least = -1;
	for (int32_t i = 0; i < graph->node_count; i++) {
		if (graph->degree[i] < 0 || (least >= 0 && graph->degree[i] >= graph->degree[least]))
			continue;
		least = i;
		if (graph->degree[i] <= bound)
			break;
	}
	return least;
}

void fem_adjacency_order(FemAdjacency *graph, int32_t *order) {
	size_t half = word_total(graph) / 2;
	uint64_t *left = graph->bits + half;
	int32_t bound = 0;
	memcpy(left, graph->bits, sizeof *left * half);
	for (int32_t i = 0; i < graph->node_count; i++)
		graph->degree[i] = degree_of(row_of(graph, i), graph->word_count);
	for (int32_t k = 0; k < graph->node_count; k++) {
		order[k] = find_least(graph, bound);
		int32_t degree = graph->degree[order[k]], least = eliminate(graph, left, order[k]);
		bound = least < degree ? least : degree; // all others have theirs still
	}
}
