// Numbering, batches, rows and edges of a tet mesh. Every sort is a counting sort or a walk in ascending order, so that
// the time is linear in nodes and tets for any mesh, and the result depends on the input alone.
#include "topology/topology.h"

#include "base/assert.h"
#include "base/carve.h"
#include "base/search.h"
#include "topology/splitting.h"
#include "topology/surface.h"
#include "topology/topology_fill.h"

#include <string.h>

// What the making of a topology needs besides the result.
typedef struct Builder {
	int32_t node_count, tet_count;
	const int32_t *tets;      // user numbers
	const int32_t *node_part; // user's part of each user node
	FemNodeGraph graph;       // user numbers
	int32_t component_count, part_count, batch_count;
	int32_t *component_of;           // [user node]
	int32_t *order;                  // [place]: user nodes breadth first, component by component
	int32_t *part_of;                // [user node]: dense part in order of first touch
	int32_t *part_start;             // [part + 1]
	int32_t *node_of_user;           // [user node]
	int32_t *cursor;                 // [node + 1], scratch
	int32_t *component_tets;         // [component]
	int32_t *table_key, *table_part; // hash from the user's part number to the part of the component at hand
	int32_t table_size;
	FemSurface surface;
	FemPlateCells *cells; // user numbers, or null
	void *block;
	size_t bytes;
} Builder;

// ---- numbering

// Breadth first from `seed`, appended to the order; returns the new end. Rows are ascending, so the walk is fixed.
static int32_t walk_component(Builder *b, int32_t seed, int32_t begin, int32_t component) {
	int32_t end = begin;
	b->component_of[seed] = component;
	b->order[end++] = seed;
	for (int32_t at = begin; at < end; at++) {
		int32_t node = b->order[at];
		for (int32_t s = b->graph.row_start[node]; s < b->graph.row_start[node + 1]; s++) {
			int32_t other = b->graph.column[s];
			if (b->component_of[other] == component)
				continue;
			b->component_of[other] = component;
			b->order[end++] = other;
		}
	}
	return end;
}

// Cuthill-McKee in spirit: the second walk starts at the far end found by the first, so that levels are slices.
static void order_nodes(Builder *b) {
	for (int32_t i = 0; i < b->node_count; i++)
		b->component_of[i] = -1;
	int32_t end = 0;
	for (int32_t i = 0; i < b->node_count; i++) {
		if (b->component_of[i] >= 0)
			continue;
		int32_t begin = end;
		end = walk_component(b, i, begin, b->component_count);
		int32_t seed = b->order[end - 1];
		for (int32_t at = begin; at < end; at++)
			b->component_of[b->order[at]] = -1;
		walk_component(b, seed, begin, b->component_count++);
	}
}

static int32_t *find_part(Builder *b, int32_t key) {
	uint32_t mask = (uint32_t)b->table_size - 1;
	uint32_t at = (uint32_t)key * 2654435769u & mask;
	while (b->table_part[at] >= 0 && b->table_key[at] != key)
		at = (at + 1) & mask;
	b->table_key[at] = key;
	return &b->table_part[at];
}

// A part of the user that spans components becomes one part in each of them.
static void number_parts(Builder *b) {
	memset(b->table_part, 0xff, sizeof(int32_t) * (size_t)b->table_size);
	for (int32_t at = 0; at < b->node_count; at++) {
		int32_t node = b->order[at];
		int32_t *part = find_part(b, b->node_part ? b->node_part[node] : 0);
		// part_start[p + 1] holds the first node's place until the counts replace it below.
		bool known = *part >= 0 && b->component_of[b->order[b->part_start[*part]]] == b->component_of[node];
		if (!known) {
			*part = b->part_count;
			b->part_start[b->part_count++] = at;
		}
		b->part_of[node] = *part;
	}
}

// Within a part nodes keep the breadth-first order.
static void number_nodes(Builder *b) {
	memset(b->part_start, 0, sizeof(int32_t) * ((size_t)b->part_count + 1));
	for (int32_t i = 0; i < b->node_count; i++)
		b->part_start[b->part_of[i] + 1]++;
	for (int32_t p = 0; p < b->part_count; p++)
		b->part_start[p + 1] += b->part_start[p];
	memcpy(b->cursor, b->part_start, sizeof(int32_t) * (size_t)b->part_count);
	for (int32_t at = 0; at < b->node_count; at++) {
		int32_t node = b->order[at];
		b->node_of_user[node] = b->cursor[b->part_of[node]]++;
	}
}

static void count_batches(Builder *b) {
	for (int32_t t = 0; t < b->tet_count; t++)
		b->component_tets[b->component_of[b->tets[4 * (size_t)t]]]++;
	for (int32_t c = 0; c < b->component_count; c++)
		b->batch_count += (b->component_tets[c] + FEM_LANES - 1) / FEM_LANES;
}

// ---- storage

static size_t place_builder(Builder *b, char *base) {
	FemCarver carver = {.base = base};
	size_t nodes = (size_t)b->node_count;
	b->component_of = FEM_CARVE(&carver, int32_t, nodes);
	b->order = FEM_CARVE(&carver, int32_t, nodes);
	b->part_of = FEM_CARVE(&carver, int32_t, nodes);
	b->part_start = FEM_CARVE(&carver, int32_t, nodes + 1);
	b->node_of_user = FEM_CARVE(&carver, int32_t, nodes);
	b->cursor = FEM_CARVE(&carver, int32_t, nodes + 1);
	b->component_tets = FEM_CARVE(&carver, int32_t, nodes);
	b->table_key = FEM_CARVE(&carver, int32_t, b->table_size);
	b->table_part = FEM_CARVE(&carver, int32_t, b->table_size);
	return carver.used;
}

void fem_topology_place(FemTopology *t, FemCarver *carver) {
	size_t nodes = (size_t)t->node_capacity, edges = (size_t)t->edge_capacity, tets = (size_t)t->user_tet_count;
	size_t lanes = (size_t)t->batch_count * FEM_LANES;
	t->batch_nodes = FEM_CARVE(carver, int32_t, lanes * 4);
	t->user_of_node = FEM_CARVE(carver, int32_t, nodes);
	t->node_of_user = FEM_CARVE(carver, int32_t, nodes);
	t->user_of_tet = FEM_CARVE(carver, int32_t, lanes);
	t->tet_of_user = FEM_CARVE(carver, int32_t, tets);
	t->component_nodes = FEM_CARVE(carver, FemRange, t->component_capacity);
	t->component_parts = FEM_CARVE(carver, FemRange, t->component_capacity);
	t->component_tets = FEM_CARVE(carver, int32_t, t->component_capacity);
	t->part_nodes = FEM_CARVE(carver, FemRange, t->part_capacity);
	t->node_part = FEM_CARVE(carver, int32_t, nodes);
	t->part_component = FEM_CARVE(carver, int32_t, t->part_capacity);
	t->row_start = FEM_CARVE(carver, int32_t, nodes + 1);
	t->row_column = FEM_CARVE(carver, int32_t, edges * 2);
	t->edge_slots = FEM_CARVE(carver, int32_t, edges * 2);
	t->edge_tet_start = FEM_CARVE(carver, int32_t, edges + 1);
	t->edge_tets = FEM_CARVE(carver, int32_t, tets * 6);
	t->node_edge_start = FEM_CARVE(carver, int32_t, nodes + 1);
	t->node_tet_start = FEM_CARVE(carver, int32_t, nodes + 1);
	t->node_tets = FEM_CARVE(carver, int32_t, tets * 4);
	bool has_cells = fem_plate_cell_count(&t->cells) > 0;
	size_t prisms = (size_t)t->cells.count[0], hexahedra = (size_t)t->cells.count[1];
	t->cell_of_tet = FEM_CARVE(carver, int32_t, has_cells ? lanes : 0);
	t->cell_is_whole = FEM_CARVE(carver, uint8_t, prisms + hexahedra);
	t->cell_nodes = FEM_CARVE(
		carver, int32_t, FEM_LANES * (6 * fem_cell_batch_count(&t->cells, 0) + 8 * fem_cell_batch_count(&t->cells, 1)));
	t->edge_cell_start = FEM_CARVE(carver, int32_t, has_cells ? edges + 1 : 0);
	t->edge_cells = FEM_CARVE(carver, int32_t, 15 * prisms + 28 * hexahedra);
	t->neighbours = FEM_CARVE(carver, int32_t, lanes * 4);
	t->triangles = FEM_CARVE(carver, int32_t, (size_t)t->triangle_capacity * 3);
	t->triangle_tets = FEM_CARVE(carver, int32_t, t->triangle_capacity);
}

// The record stands at the front of its own block.
static FemTopology *allocate(const Builder *b) {
	FemTopology sizes = {
		.node_count = b->node_count,
		.user_node_count = b->node_count,
		.node_capacity = b->node_count,
		.tet_count = b->tet_count,
		.user_tet_count = b->tet_count,
		.batch_count = b->batch_count,
		.component_count = b->component_count,
		.component_capacity = b->component_count,
		.part_count = b->part_count,
		.part_capacity = b->part_count,
		.edge_count = b->graph.row_start[b->node_count] / 2,
		.edge_capacity = b->graph.row_start[b->node_count] / 2,
		.triangle_count = b->surface.count,
		.triangle_capacity = b->surface.count,
		.cells = b->cells ? *b->cells : (FemPlateCells){.capacity = 0},
	};
	FemCarver measure = {0};
	fem_carve(&measure, sizeof(FemTopology));
	fem_topology_place(&sizes, &measure);
	char *block = fem_alloc(measure.used);
	if (!block)
		return NULL;
	FemCarver carver = {.base = block};
	FemTopology *topology = fem_carve(&carver, sizeof(FemTopology));
	*topology = sizes;
	topology->block = block;
	topology->bytes = measure.used;
	fem_topology_place(topology, &carver);
	return topology;
}

// ---- filling in

static void fill_nodes(FemTopology *t, const Builder *b) {
	memcpy(t->node_of_user, b->node_of_user, sizeof(int32_t) * (size_t)t->node_count);
	for (int32_t i = 0; i < t->node_count; i++)
		t->user_of_node[t->node_of_user[i]] = i;
	FEM_ASSERT(fem_are_starts(b->part_start, t->part_count) && b->part_start[t->part_count] == t->node_count);
	for (int32_t p = 0; p < t->part_count; p++) {
		t->part_nodes[p] = (FemRange){b->part_start[p], b->part_start[p + 1]};
		t->part_component[p] = b->component_of[t->user_of_node[b->part_start[p]]];
		for (int32_t i = b->part_start[p]; i < b->part_start[p + 1]; i++)
			t->node_part[i] = p;
	}
	for (int32_t p = 0; p < t->part_count; p++) {
		int32_t c = t->part_component[p];
		if (p == 0 || t->part_component[p - 1] != c) {
			t->component_parts[c].begin = p;
			t->component_nodes[c].begin = t->part_nodes[p].begin;
		}
		t->component_parts[c].end = p + 1;
		t->component_nodes[c].end = t->part_nodes[p].end;
	}
	memcpy(t->component_tets, b->component_tets, sizeof(int32_t) * (size_t)t->component_count);
}

static int32_t lowest_node(const FemTopology *t, const int32_t *user_tet) {
	int32_t lowest = INT32_MAX;
	for (int v = 0; v < 4; v++) {
		int32_t node = t->node_of_user[user_tet[v]];
		FEM_ASSERT_INDEX(node, t->node_count);
		lowest = node < lowest ? node : lowest;
	}
	return lowest;
}

static void put_tet(FemTopology *t, const int32_t *user_tet, int32_t tet) {
	for (int v = 0; v < 4; v++)
		t->batch_nodes[(tet / FEM_LANES * 4 + v) * FEM_LANES + tet % FEM_LANES] = t->node_of_user[user_tet[v]];
}

// Counting sort by lowest node; components are contiguous in nodes, so their tets come out contiguous too.
static void fill_batches(FemTopology *t, const Builder *b) {
	int32_t *cursor = b->cursor;
	memset(cursor, 0, sizeof(int32_t) * ((size_t)t->node_count + 1));
	for (int32_t user = 0; user < t->tet_count; user++)
		cursor[lowest_node(t, b->tets + 4 * (size_t)user) + 1]++;
	int32_t place = 0;
	for (int32_t c = 0; c < t->component_count; c++) {
		place = (place + FEM_LANES - 1) / FEM_LANES * FEM_LANES; // each component begins a batch
		for (int32_t i = t->component_nodes[c].begin; i < t->component_nodes[c].end; i++) {
			int32_t count = cursor[i + 1];
			cursor[i] = place; // the count in cursor[i] was read in the iteration before
			place += count;
		}
	}
	FEM_ASSERT(place <= t->batch_count * FEM_LANES);
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++)
		t->user_of_tet[tet] = -1;
	for (int32_t user = 0; user < t->tet_count; user++) {
		const int32_t *nodes = b->tets + 4 * (size_t)user;
		int32_t tet = cursor[lowest_node(t, nodes)]++;
		FEM_ASSERT(t->user_of_tet[tet] < 0);
		t->tet_of_user[user] = tet;
		t->user_of_tet[tet] = user;
		put_tet(t, nodes, tet);
	}
}

// Padding lanes repeat the nodes of the last tet, so that kernels may read through them.
static void fill_padding(FemTopology *t, const Builder *b) {
	int32_t last = 0;
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		if (t->user_of_tet[tet] >= 0)
			last = tet;
		else
			put_tet(t, b->tets + 4 * (size_t)t->user_of_tet[last], tet);
	}
}

void fem_topology_fill_node_tets(FemTopology *t, int32_t *cursor) {
	memset(t->node_tet_start, 0, sizeof(int32_t) * ((size_t)t->node_count + 1));
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		for (int v = 0; v < 4 && t->user_of_tet[tet] >= 0; v++)
			t->node_tet_start[fem_tet_node(t, tet, v) + 1]++;
	}
	for (int32_t i = 0; i < t->node_count; i++) {
		t->node_tet_start[i + 1] += t->node_tet_start[i];
		cursor[i] = t->node_tet_start[i];
	}
	FEM_ASSERT(t->node_tet_start[t->node_count] == 4 * t->tet_count);
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		for (int v = 0; v < 4 && t->user_of_tet[tet] >= 0; v++)
			t->node_tets[cursor[fem_tet_node(t, tet, v)]++] = tet * 4 + v;
	}
}

// The graph's rows under the new numbers, sorted by listing each node with its neighbours in ascending order.
static void fill_rows(FemTopology *t, const Builder *b) {
	for (int32_t i = 0; i < t->node_count; i++) {
		int32_t user = t->user_of_node[i];
		t->row_start[i + 1] = t->row_start[i] + b->graph.row_start[user + 1] - b->graph.row_start[user];
		b->cursor[i] = t->row_start[i];
	}
	for (int32_t i = 0; i < t->node_count; i++) {
		int32_t user = t->user_of_node[i];
		for (int32_t s = b->graph.row_start[user]; s < b->graph.row_start[user + 1]; s++)
			t->row_column[b->cursor[t->node_of_user[b->graph.column[s]]]++] = i;
	}
	FEM_ASSERT(fem_topology_rows_hold(t));
}

// Neighbours ascending, none its own, each a node.
bool fem_topology_rows_hold(const FemTopology *t) {
	bool holds = fem_are_starts(t->row_start, t->node_count) && t->row_start[t->node_count] <= 2 * t->edge_capacity;
	for (int32_t i = 0; i < t->node_count && holds; i++) {
		const int32_t *row = t->row_column + t->row_start[i];
		int32_t count = t->row_start[i + 1] - t->row_start[i];
		holds = fem_is_ascending(row, count) && fem_are_indices(row, count, t->node_count);
		for (int32_t k = 0; k < count; k++)
			holds = holds && row[k] != i;
	}
	return holds;
}

// With i ascending, row j meets its lower neighbours in the order of its own slots.
void fem_topology_fill_edges(FemTopology *t, int32_t *cursor) {
	memcpy(cursor, t->row_start, sizeof(int32_t) * (size_t)t->node_count);
	int32_t edge = 0;
	for (int32_t i = 0; i < t->node_count; i++) {
		t->node_edge_start[i] = edge;
		for (int32_t s = t->row_start[i]; s < t->row_start[i + 1]; s++) {
			int32_t j = t->row_column[s];
			if (j < i)
				continue;
			FEM_ASSERT(edge < t->edge_capacity && t->row_column[cursor[j]] == i);
			t->edge_slots[2 * (size_t)edge] = s;
			t->edge_slots[2 * (size_t)edge + 1] = cursor[j]++;
			edge++;
		}
	}
	t->node_edge_start[t->node_count] = edge;
	t->edge_count = edge;
	FEM_ASSERT(2 * edge == t->row_start[t->node_count]); // each edge stands in two rows
}

// Walks the tets around each lower end; edge_of[j] is the edge (i, j) while node i is at hand.
static void walk_edge_tets(FemTopology *t, int32_t *edge_of, bool counting) {
	for (int32_t i = 0; i < t->node_count; i++) {
		for (int32_t e = t->node_edge_start[i]; e < t->node_edge_start[i + 1]; e++)
			edge_of[t->row_column[t->edge_slots[2 * (size_t)e]]] = e;
		for (int32_t s = t->node_tet_start[i]; s < t->node_tet_start[i + 1]; s++) {
			int32_t tet = t->node_tets[s] / 4, local_i = t->node_tets[s] % 4;
			for (int32_t local_j = 0; local_j < 4; local_j++) {
				int32_t j = fem_tet_node(t, tet, local_j);
				if (j <= i)
					continue;
				if (counting)
					t->edge_tet_start[edge_of[j] + 1]++;
				else
					t->edge_tets[t->edge_tet_start[edge_of[j]]++] = tet * 16 + local_i * 4 + local_j;
			}
		}
	}
}

void fem_topology_fill_edge_tets(FemTopology *t, int32_t *cursor) {
	memset(t->edge_tet_start, 0, sizeof(int32_t) * ((size_t)t->edge_count + 1));
	walk_edge_tets(t, cursor, true);
	for (int32_t e = 0; e < t->edge_count; e++)
		t->edge_tet_start[e + 1] += t->edge_tet_start[e];
	// Filling moves each start to the next edge's start; shifted back by one place, the starts are right again.
	walk_edge_tets(t, cursor, false);
	memmove(t->edge_tet_start + 1, t->edge_tet_start, sizeof(int32_t) * (size_t)t->edge_count);
	t->edge_tet_start[0] = 0;
	FEM_ASSERT(t->edge_tet_start[t->edge_count] == 6 * t->tet_count);
}

// ---- cells

static int32_t corner_node(const FemTopology *t, const FemPlateCell *cell, int32_t corner) {
	return fem_tet_node(t, cell->corners[corner] / 4, cell->corners[corner] % 4);
}

// A cell that is a piece by itself does not count: there is nothing to bend it, and folded over it would find its shape
// again more slowly than its tets.
static bool is_whole(const FemTopology *t, const FemPlateCell *cell) {
	int32_t component = t->part_component[t->node_part[corner_node(t, cell, 0)]];
	if (t->component_tets[component] < 2 * FEM_PIECE_TETS_MIN)
		return false;
	for (int32_t k = 0; k < fem_cell_tet_count(cell); k++) {
		if (t->user_of_tet[cell->tets[k]] < 0)
			return false;
		for (int v = 0; v < 4; v++) {
			if (fem_tet_node(t, cell->tets[k], v) != corner_node(t, cell, cell->place[k][v]))
				return false;
		}
	}
	return true;
}

void fem_topology_fill_cells(FemTopology *t) {
	for (int set = 0, first = 0; set < FEM_CELL_SETS; first += t->cells.count[set++]) {
		int32_t count = t->cells.count[set], lanes = fem_cell_batch_count(&t->cells, set) * FEM_LANES;
		for (int32_t i = 0; i < lanes; i++) {
			const FemPlateCell *cell = &t->cells.cells[first + (i < count ? i : count - 1)]; // padding repeats the last
			int32_t *nodes = fem_cell_batch_nodes(t, set, i / FEM_LANES) + i % FEM_LANES;
			for (int32_t corner = 0; corner < 2 * fem_cell_columns(set); corner++)
				nodes[corner * FEM_LANES] = corner_node(t, cell, corner);
			if (i < count)
				t->cell_is_whole[first + i] = is_whole(t, cell);
		}
	}
}

static void start_cells(FemTopology *t) {
	int32_t count = fem_plate_cell_count(&t->cells);
	if (count == 0)
		return;
	fem_plate_cells_rename(&t->cells, t->tet_of_user);
	memset(t->cell_of_tet, 0xff, sizeof(int32_t) * (size_t)t->batch_count * FEM_LANES);
	for (int32_t i = 0; i < count; i++) {
		for (int32_t k = 0; k < fem_cell_tet_count(&t->cells.cells[i]); k++)
			t->cell_of_tet[t->cells.cells[i].tets[k]] = i;
	}
	fem_topology_fill_cells(t);
}

// The edge from a node to a higher neighbour: these are the last of its row.
static int32_t edge_between(const FemTopology *t, int32_t i, int32_t j) {
	int32_t first = t->node_edge_start[i], count = t->node_edge_start[i + 1] - first;
	const int32_t *higher = t->row_column + t->row_start[i + 1] - count;
	int32_t place = fem_first_not_below(higher, count, j);
	FEM_ASSERT(i < j && place < count && higher[place] == j);
	return first + place;
}

// Counts a pair of corners at its edge, or lists it there.
static void note_pair(FemTopology *t, int32_t index, int32_t low, int32_t high, const int32_t *nodes, bool counting) {
	int32_t edge = edge_between(t, nodes[low], nodes[high]);
	if (counting)
		t->edge_cell_start[edge + 1]++;
	else
		t->edge_cells[t->edge_cell_start[edge]++] = index * 64 + low * 8 + high;
}

static void walk_edge_cells(FemTopology *t, bool counting) {
	for (int32_t index = 0; index < fem_plate_cell_count(&t->cells); index++) {
		const FemPlateCell *cell = &t->cells.cells[index];
		int32_t nodes[FEM_CELL_CORNERS], corners = t->cell_is_whole[index] ? 2 * fem_cell_column_count(cell) : 0;
		for (int32_t a = 0; a < corners; a++) {
			nodes[a] = corner_node(t, cell, a);
			for (int32_t b = 0; b < a; b++)
				note_pair(t, index, nodes[a] < nodes[b] ? a : b, nodes[a] < nodes[b] ? b : a, nodes, counting);
		}
	}
}

void fem_topology_fill_edge_cells(FemTopology *t) {
	if (fem_plate_cell_count(&t->cells) == 0)
		return;
	memset(t->edge_cell_start, 0, sizeof(int32_t) * ((size_t)t->edge_count + 1));
	walk_edge_cells(t, true);
	for (int32_t e = 0; e < t->edge_count; e++)
		t->edge_cell_start[e + 1] += t->edge_cell_start[e];
	walk_edge_cells(t, false); // moves each start to the next edge's
	memmove(t->edge_cell_start + 1, t->edge_cell_start, sizeof(int32_t) * (size_t)t->edge_count);
	t->edge_cell_start[0] = 0;
}

// What lies across a face has that face across, and neither is a lane without a tet.
bool fem_topology_faces_hold(const FemTopology *t) {
	int32_t faces = t->batch_count * FEM_LANES * 4;
	for (int32_t face = 0; face < faces; face++) {
		int32_t across = t->neighbours[face];
		if (across >= 0 && (across >= faces || t->neighbours[across] != face || t->user_of_tet[face / 4] < 0))
			return false;
	}
	return true;
}

static void fill_neighbours(FemTopology *t, const Builder *b) {
	for (int32_t face = 0; face < t->batch_count * FEM_LANES * 4; face++) {
		int32_t user = t->user_of_tet[face / 4], across = user < 0 ? -1 : b->surface.across[4 * user + face % 4];
		t->neighbours[face] = across < 0 ? -1 : t->tet_of_user[across / 4] * 4 + across % 4;
	}
	FEM_ASSERT(fem_topology_faces_hold(t));
}

static void fill_triangles(FemTopology *t, const Builder *b) {
	for (int32_t f = 0; f < t->triangle_count; f++) {
		int32_t user_tet = b->surface.faces[f] / 4, opposite = b->surface.faces[f] % 4;
		t->triangle_tets[f] = t->tet_of_user[user_tet];
		for (int v = 0; v < 3; v++) {
			int32_t user = b->tets[4 * (size_t)user_tet + (size_t)fem_face_corners[opposite][v]];
			t->triangles[3 * (size_t)f + (size_t)v] = t->node_of_user[user];
		}
	}
}

static FemTopology *build(Builder *b) {
	order_nodes(b);
	number_parts(b);
	number_nodes(b);
	count_batches(b);
	if (!fem_surface_create(&b->surface, b->node_of_user, b->node_count, b->tets, b->tet_count))
		return NULL;
	FemTopology *t = allocate(b);
	if (t) {
		fill_nodes(t, b);
		fill_batches(t, b);
		fill_padding(t, b);
		fem_topology_fill_node_tets(t, b->cursor);
		start_cells(t);
		fill_neighbours(t, b);
		fill_rows(t, b);
		fem_topology_fill_edges(t, b->cursor);
		fem_topology_fill_edge_tets(t, b->cursor);
		fem_topology_fill_edge_cells(t);
		fill_triangles(t, b);
	}
	fem_surface_free(&b->surface);
	return t;
}

static bool make_graph(Builder *b) {
	int32_t count;
	if (!b->cells || fem_plate_cell_count(b->cells) == 0)
		return fem_node_graph_create(&b->graph, b->node_count, b->tets, b->tet_count);
	int32_t *pattern = fem_plate_cells_pattern(b->cells, b->tets, b->tet_count, &count);
	bool ok = pattern && fem_node_graph_create(&b->graph, b->node_count, pattern, count);
	FEM_FREE_ARRAY(pattern, 4 * (int64_t)count);
	return ok;
}

static FemTopology *create(Builder b) {
	int32_t node_count = b.node_count;
	if (!make_graph(&b))
		return NULL;
	while (b.table_size < 2 * node_count)
		b.table_size *= 2;
	FemTopology *topology = NULL;
	b.bytes = place_builder(&b, NULL);
	b.block = fem_alloc(b.bytes);
	if (b.block) {
		place_builder(&b, b.block);
		topology = build(&b);
		fem_free(b.block, b.bytes);
	}
	fem_node_graph_free(&b.graph);
	return topology;
}

FemTopology *fem_topology_create(int32_t node_count, const int32_t *tets, int32_t tet_count, const int32_t *node_part) {
	return create((Builder){
		.node_count = node_count, .tet_count = tet_count, .tets = tets, .node_part = node_part, .table_size = 2});
}

FemTopology *fem_topology_create_with_cells(
	int32_t node_count, const int32_t *tets, int32_t tet_count, const int32_t *node_part, FemPlateCells *cells) {
	FemTopology *topology = create((Builder){.node_count = node_count,
		.tet_count = tet_count,
		.tets = tets,
		.node_part = node_part,
		.table_size = 2,
		.cells = cells});
	if (topology)
		*cells = (FemPlateCells){.capacity = 0};
	fem_plate_cells_free(cells);
	return topology;
}

void fem_topology_free(FemTopology *topology) {
	if (topology && topology->split)
		fem_split_end(topology);
	else if (topology)
		fem_plate_cells_free(&topology->cells);
	if (topology)
		fem_free(topology->block, topology->bytes);
}
