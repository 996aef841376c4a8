// Plates, panels and straight beams: one sheet of cells over the member's outline (its box's first two axes), with the
// top and bottom of every node taken from the column through it, in as many layers as asked. On slopes columns lean
// over until they stand square on the plate.
//
// Whole cells of strips and beams are split into 5 tets, alternating, which bend best along one axis
// (docs/method.md, "From triangles to tets"). Those of sheets are two prisms of 3 tets: held on all four sides a sheet
// of 5-tet cells hardly bends at all (200 times too stiff with cells 8 times as long as thick, prisms 2.6 times), since
// the one edge that each cell has on either face ties it to all its neighbours. Cells at the outline are warped to it
// or cut into prisms. Cells may be far longer than thick.
#ifndef FEM_FILLING_PLATE_GRID_H
#define FEM_FILLING_PLATE_GRID_H

#include "filling/solid.h"
#include "filling/tet_list.h"

typedef struct FemPlateSurvey {
	bool fits;        // nearly every column is one piece of about the same thickness
	bool fits_rod;    // the same, with thin sides allowed: a round rod
	double thickness; // median, unit space
	double fill;      // share of the box's outline that is covered
} FemPlateSurvey;

FemPlateSurvey fem_plate_survey(const FemSolid *solid);

// cells: along the box's first and second axis. Columns thinner than a third of `thickness` are thickened to that.
FemResult fem_plate_fill(
	const FemSolid *solid, const int32_t cells[2], int32_t layers, double thickness, FemTetList *out);

// A sheet of one layer, not a strip: it bends along both axes.
static inline bool fem_plate_is_wide(const int32_t cells[2], int32_t layers) {
	return cells[0] > 2 && cells[1] > 2 && layers == 1;
}

#endif
