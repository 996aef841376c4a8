// After cuts: components, parts and nodes are numbered anew, then every table is derived from the tets. Nodes keep
// their order within a part, copies follow their part's nodes; parts keep their order within a component. Components in
// which nothing changed keep their inner order, so that what others keep for them stays true.
#include "topology/splitting.h"

#include "base/assert.h"
#include "base/union_find.h"
#include "topology/surface.h"
#include "topology/topology.h"
#include "topology/topology_fill.h"

#include <string.h>

// Nodes: a smaller rest of a part joins the next one; chosen: at most five quarters of a part then.
#define PART_NODES_MIN (FEM_PART_NODES / 4)

// ---- components

static int32_t old_component(const FemTopology *t, int32_t node) {
	const FemSplitState *s = t->split;
	FEM_ASSERT_INDEX(s->part_of_old[node], s->old_part_count);
	return s->old_part_component[s->part_of_old[node]];
}

// Marks in cursor[] the components of before in which a node changed.
static void mark_touched(FemTopology *t, int32_t *touched) {
	FemSplitState *s = t->split;
	memset(touched, 0, sizeof(int32_t) * (size_t)t->component_count);
	for (int32_t i = 0; i < s->node_count; i++)
		touched[old_component(t, i)] |= s->changed[i];
}

static void join_tets(FemTopology *t, const int32_t *touched) {
	FemSplitState *s = t->split;
	for (int32_t i = 0; i < s->node_count; i++)
		s->root[i] = touched[old_component(t, i)] ? i : t->component_nodes[old_component(t, i)].begin;
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		int32_t first = fem_tet_node(t, tet, 0);
		if (t->user_of_tet[tet] < 0 || !touched[old_component(t, first)])
			continue;
		for (int32_t v = 1; v < 4; v++)
			fem_union_join(s->root, first, fem_tet_node(t, tet, v));
	}
}

// Components in the order of their first nodes; s->root becomes the component of each node, -1 of removed ones.
static void number_components(FemTopology *t, const int32_t *touched) {
	FemSplitState *s = t->split;
	int32_t count = 0;
	for (int32_t i = 0; i < s->node_count; i++) {
		int32_t root = fem_union_root(s->root, i), old = old_component(t, i);
		if (root == i) {
			bool leaves = s->removed[old] || s->leaves[i];
			s->component_of_root[i] = leaves ? -1 : count;
			if (!leaves) {
				FEM_ASSERT(count < t->component_capacity);
				s->component_source[count] = touched[old] ? -1 : old;
				s->component_parent[count++] = old;
			}
		}
	}
	for (int32_t i = 0; i < s->node_count; i++)
		s->order[i] = s->component_of_root[fem_union_root(s->root, i)];
	memcpy(s->root, s->order, sizeof(int32_t) * (size_t)s->node_count);
	s->old_component_count = t->component_count;
	t->component_count = count;
}

// ---- parts and nodes

// A stable counting sort of `in` (null: 0, 1, 2 ...) by key[]; keys below 0 are left out. Returns how many stayed.
static int32_t sort_nodes(
	const int32_t *in, int32_t count, const int32_t *key, int32_t key_count, int32_t *cursor, int32_t *out) {
	memset(cursor, 0, sizeof(int32_t) * ((size_t)key_count + 1));
	for (int32_t i = 0; i < count; i++) {
		int32_t node = in ? in[i] : i;
		if (key[node] >= 0)
			cursor[key[node] + 1]++;
	}
	for (int32_t k = 0; k < key_count; k++)
		cursor[k + 1] += cursor[k];
	int32_t kept = cursor[key_count];
	FEM_ASSERT(kept <= count);
	for (int32_t i = 0; i < count; i++) {
		int32_t node = in ? in[i] : i;
		if (key[node] >= 0)
			out[cursor[key[node]]++] = node;
	}
	return kept;
}

// Whether the node at `at`, of another old part than the one before it, begins a new part. Pieces of a part's size are
// one part; a changed component does not keep small rests of parts.
static bool begins_part(const FemTopology *t, int32_t component, int32_t part_begin, int32_t at, int32_t end) {
	const FemSplitState *s = t->split;
	if (s->component_source[component] >= 0)
		return true;
	int32_t left = t->component_count - component; // each must still get a part
	return end - t->component_nodes[component].begin > FEM_PART_NODES && at - part_begin >= PART_NODES_MIN &&
		end - at >= PART_NODES_MIN && t->part_count + left < t->part_capacity;
}

static void number_parts(FemTopology *t) {
	FemSplitState *s = t->split;
	t->part_count = 0;
	for (int32_t begin = 0, end, c = 0; begin < t->node_count; begin = end, c++) {
		for (end = begin + 1; end < t->node_count && s->root[s->old_of_new[end]] == c;)
			end++;
		t->component_nodes[c] = (FemRange){begin, end};
		t->component_parts[c].begin = t->part_count;
		int32_t part_begin = begin;
		for (int32_t i = begin; i < end; i++) {
			int32_t old_part = s->part_of_old[s->old_of_new[i]];
			bool differs = i == begin || old_part != s->part_of_old[s->old_of_new[i - 1]];
			if (i == begin || (differs && begins_part(t, c, part_begin, i, end))) {
				part_begin = i;
				FEM_ASSERT(t->part_count < t->part_capacity && c < t->component_count);
				t->part_nodes[t->part_count] = (FemRange){i, i};
				t->part_component[t->part_count] = c;
				s->part_source[t->part_count++] = old_part;
			}
			t->part_nodes[t->part_count - 1].end = i + 1;
			t->node_part[i] = t->part_count - 1;
		}
		t->component_parts[c].end = t->part_count;
		FEM_ASSERT(t->component_parts[c].begin < t->component_parts[c].end);
	}
}

// Copies get the next user numbers in the order of their making, which no renumbering changes.
static void number_users(FemTopology *t, int32_t before) {
	FemSplitState *s = t->split;
	for (int32_t i = before; i < s->node_count; i++) {
		if (s->leaves[i]) // was only ever there to part from what stays
			continue;
		int32_t user = t->user_node_count++;
		FEM_ASSERT(user < t->node_capacity);
		s->source_of_user[user] = s->source_of_user[t->user_of_node[s->parent[i]]];
		t->user_of_node[i] = user;
	}
	for (int32_t user = 0; user < t->user_node_count; user++)
		t->node_of_user[user] = -1;
	for (int32_t i = 0; i < t->node_count; i++)
		s->order[i] = t->user_of_node[s->old_of_new[i]];
	for (int32_t i = 0; i < t->node_count; i++) {
		FEM_ASSERT(t->node_of_user[s->order[i]] < 0); // each number is given once
		t->user_of_node[i] = s->order[i];
		t->node_of_user[s->order[i]] = i;
	}
}

void fem_split_remove_tet(FemTopology *t, int32_t tet) {
	FEM_ASSERT_INDEX(t->user_of_tet[tet], t->user_tet_count);
	t->tet_of_user[t->user_of_tet[tet]] = -1;
	t->user_of_tet[tet] = -1;
	t->tet_count--;
	for (int32_t v = 0; v < 4; v++)
		t->neighbours[tet * 4 + v] = -1; // those across go too: a component goes as a whole
}

// Lanes without a tet repeat the one before, or the first there is.
static void rename_tets(FemTopology *t) {
	FemSplitState *s = t->split;
	int32_t last = -1, lanes = t->batch_count * FEM_LANES;
	memset(t->component_tets, 0, sizeof(int32_t) * (size_t)t->component_count);
	for (int32_t tet = 0; tet < lanes; tet++) {
		if (t->user_of_tet[tet] >= 0 && s->new_of_old[fem_tet_node(t, tet, 0)] < 0)
			fem_split_remove_tet(t, tet);
		if (t->user_of_tet[tet] < 0)
			continue;
		for (int32_t v = 0; v < 4; v++) {
			int32_t node = s->new_of_old[fem_tet_node(t, tet, v)];
			FEM_ASSERT_INDEX(node, t->node_count); // a component goes as a whole
			*fem_tet_node_place(t, tet, v) = node;
		}
		t->component_tets[t->part_component[t->node_part[fem_tet_node(t, tet, 0)]]]++;
		last = last < 0 ? tet : last;
	}
	for (int32_t tet = 0; tet < lanes; tet++) {
		last = t->user_of_tet[tet] >= 0 ? tet : last;
		for (int32_t v = 0; last != tet && v < 4; v++)
			*fem_tet_node_place(t, tet, v) = last < 0 ? 0 : fem_tet_node(t, last, v);
	}
}

// ---- derived

// Adds what is not marked yet to the row; false when it is full.
static bool list_neighbour(FemTopology *t, int32_t row, int32_t node, int32_t *count) {
	FemSplitState *s = t->split;
	if (s->order[node] == row)
		return true;
	s->order[node] = row;
	if (*count == 2 * t->edge_capacity)
		return false;
	s->columns[(*count)++] = node;
	return true;
}

// Those of the cell that a tet is in, if that is whole.
static bool list_cell(FemTopology *t, int32_t row, int32_t tet, int32_t *count) {
	int32_t index = fem_plate_cell_count(&t->cells) > 0 ? t->cell_of_tet[tet] : -1;
	if (index < 0 || !t->cell_is_whole[index])
		return true;
	const FemPlateCell *cell = &t->cells.cells[index];
	for (int32_t corner = 0; corner < 2 * fem_cell_column_count(cell); corner++) {
		int32_t at = cell->corners[corner];
		if (!list_neighbour(t, row, fem_tet_node(t, at / 4, at % 4), count))
			return false;
	}
	return true;
}

// Each node's neighbours in any order first; listing node by node who has it as neighbour then sorts them all at once.
static bool fill_rows(FemTopology *t) {
	FemSplitState *s = t->split;
	int32_t *mark = s->order, count = 0;
	memset(mark, 0xff, sizeof(int32_t) * (size_t)t->node_count);
	for (int32_t i = 0; i < t->node_count; i++) {
		t->row_start[i] = count;
		mark[i] = i;
		for (int32_t k = t->node_tet_start[i]; k < t->node_tet_start[i + 1]; k++) {
			const int32_t *nodes = fem_tet_node_place(t, t->node_tets[k] / 4, 0);
			for (int32_t v = 0; v < 4; v++) {
				if (!list_neighbour(t, i, nodes[v * FEM_LANES], &count))
					return false;
			}
			if (!list_cell(t, i, t->node_tets[k] / 4, &count))
				return false;
		}
	}
	t->row_start[t->node_count] = count;
	memcpy(s->cursor, t->row_start, sizeof(int32_t) * (size_t)t->node_count);
	for (int32_t i = 0; i < t->node_count; i++) {
		for (int32_t k = t->row_start[i]; k < t->row_start[i + 1]; k++)
			t->row_column[s->cursor[s->columns[k]]++] = i;
	}
	FEM_ASSERT(fem_topology_rows_hold(t));
	return true;
}

static int32_t lowest_corner(const FemTopology *t, int32_t face) {
	const int32_t *corners = fem_face_corners[face % 4];
	int32_t low = fem_tet_node(t, face / 4, corners[0]);
	for (int32_t v = 1; v < 3; v++) {
		int32_t node = fem_tet_node(t, face / 4, corners[v]);
		low = node < low ? node : low;
	}
	return low;
}

// By lowest node, then by tet: a part's faces stand together, as trees want them.
bool fem_split_fill_triangles(FemTopology *t) {
	FemSplitState *s = t->split;
	int32_t *cursor = s->cursor, faces = t->batch_count * FEM_LANES * 4;
	memset(cursor, 0, sizeof(int32_t) * ((size_t)t->node_count + 1));
	for (int32_t face = 0; face < faces; face++) {
		if (t->user_of_tet[face / 4] >= 0 && t->neighbours[face] < 0)
			cursor[lowest_corner(t, face) + 1]++;
	}
	for (int32_t i = 0; i < t->node_count; i++)
		cursor[i + 1] += cursor[i];
	t->triangle_count = cursor[t->node_count];
	if (t->triangle_count > t->triangle_capacity)
		return false;
	for (int32_t face = 0; face < faces; face++) {
		if (t->user_of_tet[face / 4] < 0 || t->neighbours[face] >= 0)
			continue;
		int32_t place = cursor[lowest_corner(t, face)]++;
		t->triangle_tets[place] = face / 4;
		for (int32_t v = 0; v < 3; v++)
			t->triangles[3 * (size_t)place + (size_t)v] = fem_tet_node(t, face / 4, fem_face_corners[face % 4][v]);
	}
	return true;
}

bool fem_split_refill(FemTopology *t) {
	FemSplitState *s = t->split;
	s->is_open = s->is_shuffled = false;
	fem_topology_fill_node_tets(t, s->cursor);
	fem_topology_fill_cells(t);
	if (!fill_rows(t))
		return false;
	fem_topology_fill_edges(t, s->cursor);
	fem_topology_fill_edge_tets(t, s->order);
	fem_topology_fill_edge_cells(t);
	return fem_split_fill_triangles(t);
}

// Keeps the counts and parts of before the renumbering, by which others compare old and new numbers.
static void note_before(FemTopology *t) {
	FemSplitState *s = t->split;
	int32_t before = t->node_count;
	memcpy(s->part_of_old, t->node_part, sizeof(int32_t) * (size_t)before);
	memcpy(s->old_part_component, t->part_component, sizeof(int32_t) * (size_t)t->part_count);
	s->old_part_count = t->part_count;
	s->old_node_count = before;
	s->old_tet_count = t->tet_count;
	for (int32_t i = before; i < s->node_count; i++)
		s->part_of_old[i] = s->part_of_old[s->parent[i]];
}

// Numbers parts, nodes and users' nodes anew; s->root is the component of each node.
static bool renumber(FemTopology *t) {
	FemSplitState *s = t->split;
	sort_nodes(NULL, s->node_count, s->part_of_old, s->old_part_count, s->cursor, s->new_of_old);
	t->node_count = sort_nodes(s->new_of_old, s->node_count, s->root, t->component_count, s->cursor, s->old_of_new);
	number_parts(t);
	memset(s->new_of_old, 0xff, sizeof(int32_t) * (size_t)s->node_count);
	for (int32_t i = 0; i < t->node_count; i++)
		s->new_of_old[s->old_of_new[i]] = i;
	number_users(t, s->old_node_count);
	rename_tets(t);
	return fem_split_refill(t);
}

// Leaves the tables of edges and outer faces empty when those of the new shape did not fit.
static void clear_tables(FemTopology *t) {
	t->edge_count = t->triangle_count = 0;
	memset(t->row_start, 0, sizeof(int32_t) * ((size_t)t->node_count + 1));
	memset(t->node_edge_start, 0, sizeof(int32_t) * ((size_t)t->node_count + 1));
	t->edge_tet_start[0] = 0;
	if (t->edge_cell_start)
		t->edge_cell_start[0] = 0;
}

bool fem_split_rebuild(FemTopology *t) {
	int32_t *touched = t->split->cursor;
	FEM_ASSERT(t->split->is_open && t->split->node_count <= t->node_capacity);
	note_before(t);
	mark_touched(t, touched);
	join_tets(t, touched);
	number_components(t, touched);
	bool fits = renumber(t);
	FEM_ASSERT(fem_topology_faces_hold(t));
	FEM_ASSERT(fits);
	if (!fits)
		clear_tables(t);
	return fits;
}

bool fem_split_restore(
	FemTopology *t, const int32_t *parents, int32_t copy_count, const int32_t *components, int32_t component_count) {
	FemSplitState *s = t->split;
	if (copy_count > t->node_capacity - t->node_count || component_count > t->component_capacity || !fem_split_open(t))
		return false;
	s->node_count = t->node_count + copy_count;
	for (int32_t i = 0; i < s->node_count; i++)
		s->parent[i] = i < t->node_count ? i : parents[i - t->node_count];
	note_before(t);
	memcpy(s->root, components, sizeof(int32_t) * (size_t)s->node_count);
	s->old_component_count = t->component_count;
	t->component_count = component_count;
	for (int32_t c = 0; c < component_count; c++) {
		s->component_source[c] = -1;
		s->component_parent[c] = 0;
	}
	return renumber(t);
}
