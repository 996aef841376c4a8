// Solids of flat faces in three families: shelves, crates with dividers, rooms, tables, L-, U-, T- and I-profiles, and
// the same with walls or roofs that slant, as long as those of one family do not cross within the solid. The planes of
// their faces cut space into blocks, each wholly inside or outside; blocks are divided into cells of five tets,
// alternating, so that walls that meet in a T or a cross share their nodes. A wall is one cell thick and a leg one cell
// wide, and both bend to all sides.
#ifndef FEM_FILLING_BLOCK_GRID_H
#define FEM_FILLING_BLOCK_GRID_H

#include "filling/block_planes.h"
#include "filling/tet_list.h"

// What lies between a plane and the next of its family.
typedef struct FemSlab {
	double length;  // unit space: of the edges of filled blocks along the axis, each block's mean added up
	int32_t blocks; // filled ones
} FemSlab;

typedef struct FemBlockGrid {
	FemPlaneFamily families[3]; // their planes are the borders of blocks
	FemSlab *slabs[3];          // [axis][plane]: beyond it; the last is none
	uint8_t *filled;            // [block], the last axis fastest: its middle is inside
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
