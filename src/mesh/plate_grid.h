// Plates, panels and straight beams: one sheet of cells over the part's outline (its box's first two axes), with the top
// and bottom of every node taken from the column through it, in as many layers as asked. On slopes columns lean over until
// they stand square on the plate.
//
// Whole cells are split into 5 tets, alternating, which bend best of all splittings (performance notes, "Plates"); cells at
// the outline are warped to it or cut into prisms of 3 tets. Cells may be far longer than thick.
#ifndef FEM_MESH_PLATE_GRID_H
#define FEM_MESH_PLATE_GRID_H

#include "mesh/solid.h"
#include "mesh/tet_list.h"

typedef struct FemPlateSurvey {
	bool fits;        // nearly every column is one piece of about the same thickness
	bool fits_rod;    // the same, with thin sides allowed: a round rod
	double thickness; // median, unit space
	double fill;      // share of the box's outline that is covered
} FemPlateSurvey;

FemPlateSurvey fem_plate_survey(const FemSolid *solid);

// cells: along the box's first and second axis. Columns thinner than a third of `thickness` are thickened to that.
FemResult fem_plate_fill(const FemSolid *solid, const int32_t cells[2], int32_t layers, double thickness, FemTetList *out);

#endif
