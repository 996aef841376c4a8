// Cells of a plate: prisms of three tets and hexahedra of five, in one layer between a bottom and a top. A cell bends
// as plate theory says (docs/method.md, "Plates") while its tets hang together; once they do not, each tet is by
// itself.
//
// Corner 2 c is the bottom of column c, 2 c + 1 its top; columns go round counter-clockwise seen from the top.
#ifndef FEM_TOPOLOGY_PLATE_CELLS_H
#define FEM_TOPOLOGY_PLATE_CELLS_H

#include "base/assert.h"
#include "fem_destruction.h"

#include <stdbool.h>
#include <stddef.h>

#define FEM_CELL_TETS 5    // of a hexahedron; a prism has 3
#define FEM_CELL_COLUMNS 4 // of a hexahedron; a prism has 3
#define FEM_CELL_CORNERS 8 // two a column
#define FEM_CELL_SETS 2    // prisms, hexahedra

typedef struct FemPlateCell {
	int32_t tets[FEM_CELL_TETS];       // -1 beyond the three of a prism; ascending
	uint8_t place[FEM_CELL_TETS][4];   // the corner that each of their nodes is
	int32_t corners[FEM_CELL_CORNERS]; // tet * 4 + local by which each is read
} FemPlateCell;

// Prisms first, both by their lowest tet. In users' tet numbers from fem_plate_cells_find() on, in inside numbers once
// a topology owns them.
typedef struct FemPlateCells {
	int32_t count[FEM_CELL_SETS];
	FemPlateCell *cells;
	int32_t capacity;
} FemPlateCells;

static inline int32_t fem_plate_cell_count(const FemPlateCells *cells) {
	return cells->count[0] + cells->count[1];
}

static inline int32_t fem_cell_columns(int set) {
	return set == 0 ? 3 : 4;
}

static inline int32_t fem_cell_tet_count(const FemPlateCell *cell) {
	return cell->tets[3] < 0 ? 3 : FEM_CELL_TETS;
}

static inline int32_t fem_cell_column_count(const FemPlateCell *cell) {
	return cell->tets[3] < 0 ? 3 : 4;
}

// The cells among the tets whose plate strength is above 0 and that are of one region. Linear in the number of tets but
// for a sort. False when memory fails; none is no failure.
FEM_MUST_USE bool fem_plate_cells_find(const FemVec3 *positions, int32_t node_count, const int32_t *tets,
	int32_t tet_count, const float *tet_plates, const int32_t *tet_regions, FemPlateCells *out);

// From one numbering of tets to another, in which each cell's tets ascend and cells follow their lowest tet.
void fem_plate_cells_rename(FemPlateCells *cells, const int32_t *tet_of_user);
void fem_plate_cells_free(FemPlateCells *cells);

// All tets and, after them, such quadruples of nodes that every two corners of a cell are in one: the pattern of the
// matrix in the form that makes node graphs. Null when memory fails.
FEM_MUST_USE int32_t *fem_plate_cells_pattern(
	const FemPlateCells *cells, const int32_t *tets, int32_t tet_count, int32_t *out_count);

#endif
