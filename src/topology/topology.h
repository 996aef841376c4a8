// The connectivity that the step works on, built from a plain list of tets.
//
// Numbering. Users number nodes and tets as in their mesh; inside, both are renumbered once, when the mesh is made:
// nodes component by component and part by part (a METIS part is a contiguous range of nodes), tets by the lowest node
// they touch and packed in batches of 8. `node` and `tet` always mean the inside numbers; user numbers are converted at
// the public API and in published positions only.
#ifndef FEM_TOPOLOGY_TOPOLOGY_H
#define FEM_TOPOLOGY_TOPOLOGY_H

#include "base/assert.h"
#include "base/range.h"
#include "fem_constants.h"
#include "topology/plate_cells.h"

#include <stdbool.h>
#include <stddef.h>

// The connectivity of a tet mesh and everything derived from it. Made once a mesh and shared by its bodies; a body that
// can break has one of its own, with room for the most nodes it can come to (topology/splitting.h).
// Padding lanes repeat the nodes of a tet before them and have no volume, moduli or user tet (-1); so do removed tets.
typedef struct FemTopology {
	int32_t node_count;
	int32_t user_node_count; // users' node numbers given so far: more than node_count once pieces were removed
	int32_t tet_count;       // without padding and removed ones
	int32_t user_tet_count;  // with removed ones
	int32_t batch_count;     // tets inside are numbered batch * 8 + lane
	int32_t component_count;
	int32_t part_count;
	int32_t edge_count;
	int32_t triangle_count;

	// What the arrays can hold; the counts themselves in a topology that cannot be split.
	int32_t node_capacity, component_capacity, part_capacity, edge_capacity, triangle_capacity;

	int32_t *batch_nodes;  // [batch][4][8]
	int32_t *user_of_node; // [node]
	int32_t *node_of_user; // [user node], -1 removed
	int32_t *user_of_tet;  // [batch * 8 + lane], -1 padding or removed
	int32_t *tet_of_user;  // [user tet], -1 removed

	FemRange *component_nodes; // [component]
	FemRange *component_parts; // [component]
	int32_t *component_tets;   // [component]: how many
	FemRange *part_nodes;      // [part]
	int32_t *node_part;        // [node]
	int32_t *part_component;   // [part]

	// Rows of the system matrix without the diagonal: the neighbours of each node, ascending.
	int32_t *row_start; // [node + 1]
	int32_t *row_column;

	// Every edge (i < j) once, ordered by i then j: its two places in the rows and the tets around it.
	// A tet reference is tet * 16 + local(i) * 4 + local(j).
	int32_t *edge_slots;     // [edge][2]: slot of (i, j), slot of (j, i)
	int32_t *edge_tet_start; // [edge + 1]
	int32_t *edge_tets;
	int32_t *node_edge_start; // [node + 1]: the edges whose lower end is this node

	// The tets around each node: tet * 4 + local.
	int32_t *node_tet_start; // [node + 1]
	int32_t *node_tets;

	// Cells of plates, in inside numbers; a topology that can be split shares those of its mesh. None: counts of 0.
	FemPlateCells cells;
	int32_t *cell_of_tet;   // [batch * 8 + lane], -1: in none
	uint8_t *cell_is_whole; // [cell]: its tets have their corners in common
	int32_t *cell_nodes;    // corners of 8 cells side by side: fem_cell_batch_nodes()
	// Cells around each edge: cell * 64 + corner(i) * 8 + corner(j), whole ones only.
	int32_t *edge_cell_start; // [edge + 1]; null without cells
	int32_t *edge_cells;

	int32_t *neighbours; // [tet * 4 + local]: the same of the tet across the face opposite local; -1: outer

	int32_t *triangles;     // outer faces, 3 nodes each, counter-clockwise from outside; by lowest node
	int32_t *triangle_tets; // the tet behind each

	struct FemSplitState *split; // null: cannot be split

	size_t bytes; // of the one block that holds all of the above
	void *block;
} FemTopology;

// The node graph of a tet mesh: neighbours of each node, ascending, without the node itself. For partitioning.
typedef struct FemNodeGraph {
	int32_t node_count;
	int32_t *row_start; // [node_count + 1]
	int32_t *column;    // [row_start[node_count]]
} FemNodeGraph;

FEM_MUST_USE bool fem_node_graph_create(
	FemNodeGraph *graph, int32_t node_count, const int32_t *tets, int32_t tet_count);
void fem_node_graph_free(FemNodeGraph *graph);

// tets: 4 user node numbers each, positive volume, checked. node_part: a part number (any values >= 0) per user node;
// parts that span several components are cut at their borders. Null when memory fails.
FEM_MUST_USE FemTopology *fem_topology_create(
	int32_t node_count, const int32_t *tets, int32_t tet_count, const int32_t *node_part);

// The same with cells (user numbers), which the topology takes over, also when memory fails.
FEM_MUST_USE FemTopology *fem_topology_create_with_cells(
	int32_t node_count, const int32_t *tets, int32_t tet_count, const int32_t *node_part, FemPlateCells *cells);
void fem_topology_free(FemTopology *topology);

static inline int32_t fem_cell_batch_count(const FemPlateCells *cells, int set) {
	return (cells->count[set] + FEM_LANES - 1) / FEM_LANES;
}

// [corner][8] of a batch of the prisms (set 0) or hexahedra (1).
static inline int32_t *fem_cell_batch_nodes(const FemTopology *topology, int set, int32_t batch) {
	int32_t before = set == 0 ? 0 : fem_cell_batch_count(&topology->cells, 0) * 2 * fem_cell_columns(0);
	return topology->cell_nodes + ((size_t)before + (size_t)batch * 2 * (size_t)fem_cell_columns(set)) * FEM_LANES;
}

// The local node 0..3 of a tet (inside numbers).
static inline int32_t fem_tet_node(const FemTopology *topology, int32_t tet, int32_t local) {
	FEM_ASSERT(tet >= 0 && tet < topology->batch_count * FEM_LANES && local >= 0 && local < 4);
	return topology->batch_nodes[(tet / FEM_LANES * 4 + local) * FEM_LANES + tet % FEM_LANES];
}

#endif
