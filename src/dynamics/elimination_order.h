// A small graph as rows of bits, and the order in which to eliminate its nodes: made anew every step for the pieces of
// a heap, where nested dissection would take longer than the factor it serves.
#ifndef FEM_DYNAMICS_ELIMINATION_ORDER_H
#define FEM_DYNAMICS_ELIMINATION_ORDER_H

#include "base/assert.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct FemAdjacency {
	int32_t node_count, word_count; // words a row
	uint64_t *bits;                 // a second half for the elimination
	int32_t *degree;                // neighbours left, -1 when eliminated
} FemAdjacency;

FEM_MUST_USE bool fem_adjacency_create(FemAdjacency *graph, int32_t node_count); // no edges; false when memory fails
void fem_adjacency_free(FemAdjacency *graph);

void fem_adjacency_join(FemAdjacency *graph, int32_t a, int32_t b); // a != b

// Neighbours in ascending order as compressed rows; `column` null: only counts. Returns the number of entries.
int32_t fem_adjacency_rows(const FemAdjacency *graph, int32_t *row_start, int32_t *column);

// order[k] is eliminated k-th: always the node with the fewest neighbours left, the first of equals (minimum degree,
// Tinney and Walker 1967).
void fem_adjacency_order(FemAdjacency *graph, int32_t *order);

#endif
