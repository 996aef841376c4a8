// Straight beams, sticks, legs and rods: cells of five tets along the box's first axis, which bend to all sides
// (docs/method.md, "Plates"). A section is a rectangle of its area and of the ratio of its widths, round its middle:
// one of a round rod has a second moment that is 5 % more than the circle's. It can be drawn part of the way to the
// surface along rays from its middle.
#ifndef FEM_FILLING_BEAM_CELLS_H
#define FEM_FILLING_BEAM_CELLS_H

#include "filling/solid.h"
#include "filling/tet_list.h"

// cells: along the box's three axes. roundness: 0 for rectangles, 1 for corners on the surface. Adds nodes and tets in
// the solid's unit space; out_made is false, and nothing is added, where a section's middle is not inside.
FemResult fem_beam_fill(
	const FemSolid *solid, const int32_t cells[3], double roundness, FemTetList *out, bool *out_made);

#endif
