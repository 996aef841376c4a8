// Builds the connectivity that the step works on from a plain list of tets.
#ifndef FEM_TOPOLOGY_TOPOLOGY_H
#define FEM_TOPOLOGY_TOPOLOGY_H

#include "fem_types.h"

// The node graph of a tet mesh: neighbours of each node, ascending, without the node itself. For partitioning.
typedef struct FemNodeGraph {
	int32_t node_count;
	int32_t *row_start; // [node_count + 1]
	int32_t *column;    // [row_start[node_count]]
} FemNodeGraph;

bool fem_node_graph_create(FemNodeGraph *graph, int32_t node_count, const int32_t *tets, int32_t tet_count);
void fem_node_graph_free(FemNodeGraph *graph);

// tets: 4 user node numbers each, positive volume, checked. node_part: a part number (any values >= 0) per user node;
// parts that span several components are cut at their borders. Null when memory fails.
FemTopology *fem_topology_create(int32_t node_count, const int32_t *tets, int32_t tet_count, const int32_t *node_part);
void fem_topology_free(FemTopology *topology);

// The local node 0..3 of a tet (inside numbers).
static inline int32_t fem_tet_node(const FemTopology *topology, int32_t tet, int32_t local) {
	return topology->batch_nodes[(tet / FEM_LANES * 4 + local) * FEM_LANES + tet % FEM_LANES];
}

#endif
