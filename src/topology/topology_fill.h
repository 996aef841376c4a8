// Steps of making a topology that building and splitting share. Each derives one table from those before it.
#ifndef FEM_TOPOLOGY_TOPOLOGY_FILL_H
#define FEM_TOPOLOGY_TOPOLOGY_FILL_H

#include "base/carve.h"
#include "topology/topology.h"

// The arrays of a topology for the capacities it names.
void fem_topology_place(FemTopology *topology, FemCarver *carver);

// From batch_nodes and user_of_tet: node_tet_start, node_tets. cursor: one int a node.
void fem_topology_fill_node_tets(FemTopology *topology, int32_t *cursor);

// From the rows: edge_slots, node_edge_start, edge_count.
void fem_topology_fill_edges(FemTopology *topology, int32_t *cursor);

// From edges and node_tets: edge_tet_start, edge_tets.
void fem_topology_fill_edge_tets(FemTopology *topology, int32_t *cursor);

// From batch_nodes and user_of_tet: which cells are whole, and the nodes of all.
void fem_topology_fill_cells(FemTopology *topology);

// From edges and whole cells: edge_cell_start, edge_cells.
void fem_topology_fill_edge_cells(FemTopology *topology);

// For asserts: whether the rows, and what lies across faces, are as topology.h says.
bool fem_topology_rows_hold(const FemTopology *topology);
bool fem_topology_faces_hold(const FemTopology *topology);

#endif
