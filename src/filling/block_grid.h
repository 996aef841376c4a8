// Solids whose faces are flat and at right angles to each other: shelves, crates with dividers, rooms, tables, L-, U-,
// T- and I-profiles. The planes of their faces cut space into blocks, each wholly inside or outside; blocks are divided
// into cells of five tets, alternating, so that walls that meet in a T or a cross share their nodes. A wall is one cell
// thick and a leg one cell wide, and both bend to all sides.
#ifndef FEM_FILLING_BLOCK_GRID_H
#define FEM_FILLING_BLOCK_GRID_H

#include "filling/solid.h"
#include "filling/tet_list.h"

typedef struct FemBlockGrid {
	double axes[3][3]; // normals of the faces in the solid's unit space, row by row
	double *planes[3]; // [axis][plane]: places of faces along an axis, rising
	int32_t plane_count[3], plane_capacity[3];
	uint8_t *filled; // [block], the last axis fastest: its middle is inside
	int32_t block_count;
	int32_t filled_count; // 0: the solid is of another shape
} FemBlockGrid;

// merge: faces nearer to each other than this count as one, unit space.
FemResult fem_block_grid_create(const FemSolid *solid, double merge, FemBlockGrid *out);
void fem_block_grid_free(FemBlockGrid *grid);

// How many tets there are when cells are about `cell` long, unit space.
double fem_block_grid_tets(const FemBlockGrid *grid, double cell);

// Adds nodes and tets, in the solid's unit space.
FemResult fem_block_grid_fill(const FemBlockGrid *grid, double cell, FemTetList *out);

#endif
