#include "dynamics/coarse_groups.h"

#include "base/memory.h"
#include "fem_constants.h"
#include "topology/splitting.h"

#include <string.h>

// Nodes. Copies make parts larger: from this on they are cut up, as those are that cracks have cut up. Chosen.
#define PART_NODES_MAX (3 * FEM_PART_NODES / 2)
// Nodes that a group of such a part has at most. Measured on the blow on a slab: 1,997 iterations over five seeds with
// 30, 1,824 with 20, 2,193 with 60, 2,930 with whole parts.
#define GROUP_NODES (FEM_PART_NODES / 2)
#define GROUP_NODES_MIN 6 // fewer join the largest group beside them: 2,439 iterations with 12

// What is needed while groups are made.
typedef struct Making {
	FemCoarseGroups *groups;
	const FemTopology *topology;
	FemRange nodes, parts;
	int32_t filled;         // nodes that have a group
	int32_t *size, *target; // [group]: nodes; the group that it joins, itself: none
	int32_t *part;          // [group]: of its first node
} Making;

// A connected group of up to `most` nodes of one part, breadth first from a node.
static void grow(Making *m, int32_t seed, int32_t most) {
	FemCoarseGroups *g = m->groups;
	const FemTopology *t = m->topology;
	int32_t group = g->count++, begin = m->filled, part = t->node_part[m->nodes.begin + seed];
	g->nodes[m->filled++] = seed;
	g->of_node[seed] = group;
	for (int32_t at = begin; at < m->filled; at++) {
		int32_t node = m->nodes.begin + g->nodes[at];
		for (int32_t k = t->row_start[node]; k < t->row_start[node + 1] && m->filled - begin < most; k++) {
			int32_t other = t->row_column[k] - m->nodes.begin;
			if (t->node_part[t->row_column[k]] != part || g->of_node[other] >= 0)
				continue;
			g->of_node[other] = group;
			g->nodes[m->filled++] = other;
		}
	}
	m->size[group] = m->filled - begin;
	m->target[group] = group;
	m->part[group] = part - m->parts.begin;
}

static void grow_in_part(Making *m, int32_t part) {
	FemRange nodes = m->topology->part_nodes[part];
	int32_t count = nodes.end - nodes.begin, most = count;
	if (count > PART_NODES_MAX) { // of equal sizes
		int32_t wanted = (count + GROUP_NODES - 1) / GROUP_NODES;
		most = (count + wanted - 1) / wanted;
	}
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		if (m->groups->of_node[i - m->nodes.begin] < 0)
			grow(m, i - m->nodes.begin, most);
	}
}

static int32_t joined(const Making *m, int32_t group) {
	while (m->target[group] != group)
		group = m->target[group];
	return group;
}

// Groups too small for motions of their own join the largest one beside them. `begin` is where a group's nodes stand.
static void join_small(Making *m) {
	const FemCoarseGroups *g = m->groups;
	const FemTopology *t = m->topology;
	for (int32_t group = 0, begin = 0, end; group < g->count; group++, begin = end) {
		int32_t best = -1;
		end = begin;
		while (end < g->node_count && g->of_node[g->nodes[end]] == group)
			end++;
		for (int32_t at = begin; at < end && m->size[joined(m, group)] < GROUP_NODES_MIN; at++) {
			int32_t node = m->nodes.begin + g->nodes[at];
			for (int32_t k = t->row_start[node]; k < t->row_start[node + 1]; k++) {
				int32_t other = joined(m, g->of_node[t->row_column[k] - m->nodes.begin]);
				if (other != joined(m, group) && (best < 0 || m->size[other] > m->size[best]))
					best = other;
			}
		}
		if (best < 0)
			continue;
		int32_t from = joined(m, group);
		m->size[best] += m->size[from];
		m->target[from] = best;
	}
}

// Numbers the groups that are left in their order, and lists their nodes.
static void number(Making *m) {
	FemCoarseGroups *g = m->groups;
	int32_t count = 0, *name = g->order; // of the groups that are left
	for (int32_t i = 0; i < g->node_count; i++)
		g->of_node[i] = joined(m, g->of_node[i]);
	for (int32_t group = 0; group < g->count; group++) {
		if (m->target[group] != group)
			continue;
		name[group] = count;
		m->part[count] = m->part[group];
		m->size[count++] = m->size[group];
	}
	g->count = count;
	g->start[0] = 0;
	for (int32_t group = 0; group < count; group++) {
		g->start[group + 1] = g->start[group] + m->size[group];
		m->size[group] = g->start[group];
	}
	for (int32_t i = 0; i < g->node_count; i++) {
		g->of_node[i] = name[g->of_node[i]];
		g->nodes[m->size[g->of_node[i]]++] = i;
	}
}

// Separators of parts are separators of their groups.
static void take_order(Making *m, const int32_t *part_order) {
	FemCoarseGroups *g = m->groups;
	int32_t placed = 0;
	for (int32_t k = 0; k < m->parts.end - m->parts.begin; k++) {
		for (int32_t group = 0; group < g->count; group++) {
			if (m->part[group] == part_order[k])
				g->order[placed++] = group;
		}
	}
	FEM_ASSERT(placed == g->count);
}

// Whether cracks have gone through the component. Where none have, parts are METIS's, and threads sum them as they are.
static bool is_cracked(const FemTopology *t, FemRange nodes) {
	bool has_copy = false;
	for (int32_t i = nodes.begin; t->split && i < nodes.end; i++)
		has_copy |= t->split->source_of_user[t->user_of_node[i]] != t->user_of_node[i];
	return has_copy;
}

// False: each part is one group.
static bool make(Making *m, const int32_t *part_order) {
	FemCoarseGroups *g = m->groups;
	memset(g->of_node, 0xff, sizeof *g->of_node * (size_t)g->node_count);
	for (int32_t p = m->parts.begin; p < m->parts.end; p++)
		grow_in_part(m, p);
	if (g->count == m->parts.end - m->parts.begin)
		return false;
	join_small(m);
	number(m);
	take_order(m, part_order);
	return true;
}

bool fem_coarse_groups_create(
	FemCoarseGroups *groups, const FemTopology *topology, int32_t component, const int32_t *part_order) {
	FemRange nodes = topology->component_nodes[component], parts = topology->component_parts[component];
	int32_t count = nodes.end - nodes.begin; // there are no more groups than nodes
	*groups = (FemCoarseGroups){.count = parts.end - parts.begin};
	if (!is_cracked(topology, nodes))
		return true;
	*groups = (FemCoarseGroups){
		.node_count = count,
		.of_node = FEM_ALLOC_ARRAY(int32_t, count),
		.start = FEM_ALLOC_ARRAY(int32_t, count + 1),
		.nodes = FEM_ALLOC_ARRAY(int32_t, count),
		.order = FEM_ALLOC_ARRAY(int32_t, count),
	};
	int32_t *scratch = FEM_ALLOC_ARRAY(int32_t, 3 * (size_t)count);
	Making making = {groups, topology, nodes, parts, 0, scratch, scratch + count, scratch + 2 * (size_t)count};
	bool ok = groups->of_node && groups->start && groups->nodes && groups->order && scratch;
	if (!ok || !make(&making, part_order)) {
		fem_coarse_groups_free(groups);
		groups->count = parts.end - parts.begin;
	}
	FEM_FREE_ARRAY(scratch, 3 * (size_t)count);
	return ok;
}

void fem_coarse_groups_free(FemCoarseGroups *groups) {
	FEM_FREE_ARRAY(groups->of_node, groups->node_count);
	FEM_FREE_ARRAY(groups->start, groups->node_count + 1);
	FEM_FREE_ARRAY(groups->nodes, groups->node_count);
	FEM_FREE_ARRAY(groups->order, groups->node_count);
	*groups = (FemCoarseGroups){0};
}

size_t fem_coarse_groups_bytes(const FemCoarseGroups *groups) {
	return groups->nodes ? sizeof(int32_t) * (4 * (size_t)groups->node_count + 1) : 0;
}
