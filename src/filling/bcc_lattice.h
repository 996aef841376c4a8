// A body-centred cubic lattice over a box: corners and centres of cells, the long edges (between like nodes) and the
// short ones (centre to corner). Cells may be stretched along the axes.
#ifndef FEM_FILLING_BCC_LATTICE_H
#define FEM_FILLING_BCC_LATTICE_H

#include "filling/solid.h"

#define FEM_BCC_NEIGHBORS 14 // 6 along long edges, then 8 along short ones

typedef struct FemBccLattice {
	int32_t cells[3];
	double origin[3], cell[3];
	int32_t corner_count, node_count, edge_count; // centres are numbered after corners
	FemVec3d *nodes;                              // [node]; moves when warped
	int8_t *signs;                                // [node]: 1 inside, -1 outside, 0 on the surface
	float *cuts;       // [edge]: where the surface crosses, 0..1 from the edge's first node; -1 none
	int32_t *cut_ids;  // [edge]: used by who reads the lattice; -1 at first
	int32_t *node_ids; // [node]: likewise
	size_t bytes;
	void *block;
} FemBccLattice;

// The solid's box with one cell of margin on each side. `fitted` cells fill the box exactly (whole numbers of cells
// along each axis), so that the faces of box-shaped bodies lie on lattice planes; others are moved by `shift` (0..1) of
// a cell, each axis by another share: symmetric bodies else change their count in leaps. Signs and cuts are filled in.
FemResult fem_bcc_create(
	FemBccLattice *lattice, const FemSolid *solid, const double cell[3], bool fitted, double shift);
void fem_bcc_free(FemBccLattice *lattice);

// A node's neighbour and the edge to it; -1 beyond the lattice's border. out_first: the node is the edge's first.
int32_t fem_bcc_neighbor(const FemBccLattice *lattice, int32_t node, int which, int32_t *out_edge, bool *out_first);

// Coordinates in half cells: corners even, centres odd.
void fem_bcc_coordinates(const FemBccLattice *lattice, int32_t node, int32_t out[3]);

// The edge between two neighbours.
int32_t fem_bcc_edge(const FemBccLattice *lattice, int32_t a, int32_t b, bool *out_first, bool *out_long);

int32_t fem_bcc_corner(const FemBccLattice *lattice, int32_t i, int32_t j, int32_t k);
int32_t fem_bcc_center(const FemBccLattice *lattice, int32_t i, int32_t j, int32_t k);

#endif
