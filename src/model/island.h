// A connected set of what is live, and the units of work that it is cut into.
#ifndef FEM_MODEL_ISLAND_H
#define FEM_MODEL_ISLAND_H

#include "base/range.h"

#include <stdbool.h>

// A maximal connected set of live parts of one component: one linear system (P&O09 section 4).
typedef struct FemIsland {
	int32_t body;
	int32_t component;
	FemRange parts;       // into FemIslands.part_list
	FemRange node_chunks; // into FemIslands.node_chunks: fixed units of row work
	int32_t node_count;
	int32_t pinned_count;
	bool whole;         // all parts of the component are live
	int32_t iterations; // of the last solve: its expected cost
} FemIsland;

// A unit of row work: at most FEM_NODE_CHUNK nodes of one part. Sums are taken chunk by chunk in this order.
typedef struct FemNodeChunk {
	int32_t body;
	int32_t island;
	int32_t begin, end;
} FemNodeChunk;

// A unit of element work: batches of one body that touch a live node.
typedef struct FemBatchChunk {
	int32_t body;
	int32_t begin, end;
} FemBatchChunk;

#endif
