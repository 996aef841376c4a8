// Making a topology that can be split, and the cuts themselves. The rebuild stands in splitting_rebuild.c.
#include "topology/splitting.h"

#include "base/assert.h"
#include "base/carve.h"
#include "topology/surface.h"
#include "topology/topology.h"
#include "topology/topology_fill.h"

#include <string.h>

// ---- storage

// The most a component of `tets` tets can become, whatever breaks.
static int32_t most_nodes(int32_t tets, int32_t nodes) {
	int32_t most = tets < 3 ? tets + 3 : 2 * tets;
	return most > nodes ? most : nodes;
}

static void set_capacities(FemTopology *t, const FemTopology *from) {
	t->node_capacity = t->component_capacity = 0;
	for (int32_t c = 0; c < from->component_count; c++) {
		FemRange nodes = from->component_nodes[c];
		int32_t tets = from->component_tets[c];
		t->node_capacity += most_nodes(tets, nodes.end - nodes.begin);
		t->component_capacity += tets < 6 ? 1 : tets / 3;
	}
	t->part_capacity = from->part_count + t->component_capacity;
	// A cell of five tets by itself has 28 edges.
	int32_t a_tet = fem_plate_cell_count(&from->cells) > 0 ? 6 : 4;
	int32_t edges = 6 * from->component_count + a_tet * from->tet_count,
			triangles = 4 * from->component_count + 3 * from->tet_count;
	t->edge_capacity = edges > from->edge_count ? edges : from->edge_count;
	t->triangle_capacity = triangles > from->triangle_count ? triangles : from->triangle_count;
}

static int32_t longest(int32_t a, int32_t b) {
	return a > b ? a : b;
}

static void place_work(const FemTopology *t, FemSplitState *s, FemCarver *carver) {
	size_t nodes = (size_t)t->node_capacity;
	int32_t list = longest(longest(t->node_capacity, t->part_capacity), t->triangle_capacity);
	s->parent = FEM_CARVE(carver, int32_t, nodes);
	s->star = FEM_CARVE(carver, FemRange, nodes);
	s->changed = FEM_CARVE(carver, uint8_t, nodes);
	s->removed = FEM_CARVE(carver, uint8_t, t->component_capacity);
	s->leaves = FEM_CARVE(carver, uint8_t, nodes);
	s->tet_leaves = FEM_CARVE(carver, uint8_t, t->batch_count * FEM_LANES);
	s->old_of_new = FEM_CARVE(carver, int32_t, nodes);
	s->new_of_old = FEM_CARVE(carver, int32_t, nodes);
	s->component_source = FEM_CARVE(carver, int32_t, t->component_capacity);
	s->component_parent = FEM_CARVE(carver, int32_t, t->component_capacity);
	s->part_source = FEM_CARVE(carver, int32_t, t->part_capacity);
	s->part_of_old = FEM_CARVE(carver, int32_t, nodes);
	s->root = FEM_CARVE(carver, int32_t, nodes);
	s->order = FEM_CARVE(carver, int32_t, nodes);
	s->cursor = FEM_CARVE(carver, int32_t, (size_t)list + 1);
	s->columns = FEM_CARVE(carver, int32_t, (size_t)t->edge_capacity * 2);
	s->component_of_root = FEM_CARVE(carver, int32_t, nodes);
	s->old_part_component = FEM_CARVE(carver, int32_t, t->part_capacity);
}

// Room for the work of a split; kept while one is open.
static bool take_work(FemTopology *t) {
	FemSplitState sizes = {0}, *s = t->split;
	FemCarver measure = {0};
	if (s->work)
		return true;
	place_work(t, &sizes, &measure);
	s->work = fem_alloc_unset(measure.used);
	s->work_bytes = measure.used;
	FemCarver carver = {.base = s->work};
	if (s->work)
		place_work(t, s, &carver);
	return s->work != NULL;
}

void fem_split_end(FemTopology *t) {
	fem_free(t->split->work, t->split->work_bytes);
	t->split->work = NULL;
}

static void copy_tables(FemTopology *t, const FemTopology *from) {
	size_t nodes = (size_t)from->node_count, lanes = (size_t)from->batch_count * FEM_LANES,
		   edges = (size_t)from->edge_count;
	memcpy(t->batch_nodes, from->batch_nodes, sizeof(int32_t) * lanes * 4);
	memcpy(t->user_of_node, from->user_of_node, sizeof(int32_t) * nodes);
	memcpy(t->node_of_user, from->node_of_user, sizeof(int32_t) * nodes);
	memcpy(t->user_of_tet, from->user_of_tet, sizeof(int32_t) * lanes);
	memcpy(t->tet_of_user, from->tet_of_user, sizeof(int32_t) * (size_t)from->user_tet_count);
	memcpy(t->component_nodes, from->component_nodes, sizeof(FemRange) * (size_t)from->component_count);
	memcpy(t->component_parts, from->component_parts, sizeof(FemRange) * (size_t)from->component_count);
	memcpy(t->component_tets, from->component_tets, sizeof(int32_t) * (size_t)from->component_count);
	memcpy(t->part_nodes, from->part_nodes, sizeof(FemRange) * (size_t)from->part_count);
	memcpy(t->part_component, from->part_component, sizeof(int32_t) * (size_t)from->part_count);
	memcpy(t->node_part, from->node_part, sizeof(int32_t) * nodes);
	memcpy(t->node_tet_start, from->node_tet_start, sizeof(int32_t) * (nodes + 1));
	memcpy(t->node_tets, from->node_tets, sizeof(int32_t) * 4 * (size_t)from->tet_count);
	memcpy(t->neighbours, from->neighbours, sizeof(int32_t) * lanes * 4);
	memcpy(t->row_start, from->row_start, sizeof(int32_t) * (nodes + 1));
	memcpy(t->row_column, from->row_column, sizeof(int32_t) * edges * 2);
	memcpy(t->edge_slots, from->edge_slots, sizeof(int32_t) * edges * 2);
	memcpy(t->node_edge_start, from->node_edge_start, sizeof(int32_t) * (nodes + 1));
	memcpy(t->edge_tet_start, from->edge_tet_start, sizeof(int32_t) * (edges + 1));
	memcpy(t->edge_tets, from->edge_tets, sizeof(int32_t) * 6 * (size_t)from->tet_count);
	if (fem_plate_cell_count(&from->cells) > 0) {
		memcpy(t->cell_of_tet, from->cell_of_tet, sizeof(int32_t) * lanes);
		memcpy(t->edge_cell_start, from->edge_cell_start, sizeof(int32_t) * (edges + 1));
		memcpy(t->edge_cells, from->edge_cells, sizeof(int32_t) * (size_t)from->edge_cell_start[edges]);
	}
	fem_topology_fill_cells(t);
	for (int32_t user = 0; user < t->user_node_count; user++)
		t->split->source_of_user[user] = user;
}

FemTopology *fem_topology_create_splittable(const FemTopology *from) {
	FEM_ASSERT(!from->split); // it is a mesh's
	FemTopology sizes = *from;
	sizes.split = NULL;
	set_capacities(&sizes, from);
	FemCarver measure = {0};
	fem_carve(&measure, sizeof(FemTopology));
	fem_carve(&measure, sizeof(FemSplitState));
	fem_topology_place(&sizes, &measure);
	fem_carve(&measure, sizeof(int32_t) * (size_t)sizes.node_capacity);
	char *block = fem_alloc_unset(measure.used); // most of it is for pieces that may never be
	if (!block)
		return NULL;
	FemCarver carver = {.base = block};
	FemTopology *t = fem_carve(&carver, sizeof(FemTopology));
	*t = sizes;
	t->split = fem_carve(&carver, sizeof(FemSplitState));
	*t->split = (FemSplitState){0};
	t->block = block;
	t->bytes = measure.used;
	fem_topology_place(t, &carver);
	t->split->source_of_user = FEM_CARVE(&carver, int32_t, t->node_capacity);
	copy_tables(t, from);
	if (!take_work(t)) {
		fem_topology_free(t);
		return NULL;
	}
	bool fits = fem_split_fill_triangles(t);
	FEM_ASSERT(fits); // there is room for those of the whole mesh
	fem_split_end(t);
	if (!fits) {
		fem_topology_free(t);
		return NULL;
	}
	return t;
}

// ---- cuts

bool fem_split_open(FemTopology *t) {
	FemSplitState *s = t->split;
	if (s->is_open)
		return true;
	if (!take_work(t))
		return false;
	s->is_open = true;
	s->node_count = t->node_count;
	for (int32_t i = 0; i < t->node_count; i++) {
		s->parent[i] = i;
		s->star[i] = (FemRange){t->node_tet_start[i], t->node_tet_start[i + 1]};
		s->changed[i] = 0;
	}
	memset(s->removed, 0, (size_t)t->component_count);
	memset(s->leaves, 0, (size_t)t->node_capacity);
	memset(s->tet_leaves, 0, (size_t)t->batch_count * FEM_LANES);
	return true;
}

// The order of a star is part of the state: sums are taken in it.
void fem_split_close(FemTopology *t) {
	if (t->split->is_shuffled)
		fem_topology_fill_node_tets(t, t->split->cursor);
	t->split->is_open = t->split->is_shuffled = false;
	fem_split_end(t);
}

void fem_split_cut(FemTopology *t, int32_t face, int32_t across) {
	FEM_ASSERT(t->neighbours[face] < 0 || t->neighbours[face] == across); // open already beside a removed tet
	FEM_ASSERT(t->neighbours[across] < 0 || t->neighbours[across] == face);
	t->neighbours[face] = -1;
	t->neighbours[across] = -1;
}

void fem_split_mend(FemTopology *t, int32_t face, int32_t across) {
	FEM_ASSERT(t->neighbours[face] < 0 && t->neighbours[across] < 0);
	t->neighbours[face] = across;
	t->neighbours[across] = face;
}

// A star is a few dozen tets: the search by index is faster than any table.
int32_t fem_split_gather(const FemTopology *t, int32_t *rest, int32_t count) {
	FEM_ASSERT(count > 0);
	int32_t found = 1;
	for (int32_t at = 0; at < found; at++) {
		int32_t tet = rest[at] / 4, local = rest[at] % 4;
		for (int32_t v = 0; v < 4; v++) {
			int32_t across = v == local ? -1 : t->neighbours[tet * 4 + v];
			if (across < 0)
				continue;
			for (int32_t k = found; k < count; k++) {
				if (rest[k] / 4 != across / 4)
					continue;
				int32_t moved = rest[k];
				rest[k] = rest[found];
				rest[found++] = moved;
				break;
			}
		}
	}
	return found;
}

bool fem_split_read(FemTopology *t) {
	bool ok = take_work(t) && fem_split_refill(t);
	fem_split_end(t);
	return ok;
}

int32_t fem_split_regroup(FemTopology *t, int32_t node) {
	FemSplitState *s = t->split;
	FemRange star = s->star[node];
	int32_t first_end = 0, groups = 0;
	FEM_ASSERT(s->is_open && node >= 0 && node < s->node_count && star.begin < star.end);
	for (int32_t k = star.begin; k < star.end; k++)
		FEM_ASSERT(fem_tet_node(t, t->node_tets[k] / 4, t->node_tets[k] % 4) == node);
	for (int32_t begin = star.begin; begin < star.end; groups++) {
		begin += fem_split_gather(t, t->node_tets + begin, star.end - begin);
		first_end = groups == 0 ? begin : first_end;
	}
	if (groups == 1) {
		s->is_shuffled = true;
		return 0;
	}
	if (s->node_count + groups - 1 > t->node_capacity) {
		s->is_shuffled = true;
		return -1;
	}
	s->star[node].end = first_end;
	s->changed[node] = 1;
	for (int32_t begin = first_end, end; begin < star.end; begin = end) {
		int32_t copy = s->node_count++;
		end = begin + fem_split_gather(t, t->node_tets + begin, star.end - begin);
		FEM_ASSERT(copy < t->node_capacity && s->parent[node] < t->node_count); // of a node of before
		s->parent[copy] = s->parent[node];
		s->star[copy] = (FemRange){begin, end};
		s->changed[copy] = 1;
		for (int32_t k = begin; k < end; k++)
			*fem_tet_node_place(t, t->node_tets[k] / 4, t->node_tets[k] % 4) = copy;
	}
	return groups - 1;
}

void fem_split_remove_component(FemTopology *t, int32_t component) {
	FEM_ASSERT(t->split->is_open);
	FEM_ASSERT_INDEX(component, t->component_count);
	t->split->removed[component] = 1;
}

// ---- tets that leave

// Each of its 4 nodes gets a copy of its own, and what stays around the node may fall into as many groups more as the
// tet has faces there, less one.
int32_t fem_split_removable(const FemTopology *t) {
	int32_t by_nodes = (t->node_capacity - t->node_count) / 12, by_users = (t->node_capacity - t->user_node_count) / 8;
	return by_nodes < by_users ? by_nodes : by_users;
}

// The first group of a star keeps the node: that must be one of what stays.
static void let_stay_first(FemTopology *t, int32_t node) {
	FemRange star = t->split->star[node];
	int32_t place = star.begin;
	for (int32_t k = star.begin; k < star.end; k++) {
		int32_t entry = t->node_tets[k];
		if (t->split->tet_leaves[entry / 4])
			continue;
		t->node_tets[k] = t->node_tets[place];
		t->node_tets[place++] = entry;
	}
	t->split->is_shuffled = true;
}

void fem_split_remove_tets(FemTopology *t, const int32_t *tets, int32_t count) {
	FemSplitState *s = t->split;
	FEM_ASSERT(s->is_open);
	for (int32_t i = 0; i < count; i++)
		s->tet_leaves[tets[i]] = 1;
	for (int32_t i = 0; i < 4 * count; i++) {
		int32_t node = fem_tet_node(t, tets[i / 4], i % 4);
		let_stay_first(t, node);
		int32_t copies = fem_split_regroup(t, node);
		FEM_ASSERT(copies >= 0);
		(void)copies;
	}
	for (int32_t i = 0; i < 4 * count; i++)
		s->leaves[fem_tet_node(t, tets[i / 4], i % 4)] = 1;
}
