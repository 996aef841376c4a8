// Which nodes move as one in the coarse space of a component: its parts, or, where cracks have cut parts up or copies
// of nodes have made them large, connected groups of nodes.
#ifndef FEM_DYNAMICS_COARSE_GROUPS_H
#define FEM_DYNAMICS_COARSE_GROUPS_H

#include "base/assert.h"
#include "base/range.h"
#include "topology/topology.h"

// Nodes and parts in numbers of the component. Null arrays: groups are its parts.
typedef struct FemCoarseGroups {
	int32_t count, node_count;
	int32_t *of_node; // [node]
	int32_t *start;   // [group], and one more: where its nodes begin in
	int32_t *nodes;   // group by group, ascending
	int32_t *order;   // elimination order of the groups
} FemCoarseGroups;

// `part_order`: elimination order of the parts. False when memory fails.
FEM_MUST_USE bool fem_coarse_groups_create(
	FemCoarseGroups *groups, const FemTopology *topology, int32_t component, const int32_t *part_order);
void fem_coarse_groups_free(FemCoarseGroups *groups);
size_t fem_coarse_groups_bytes(const FemCoarseGroups *groups);

#endif
