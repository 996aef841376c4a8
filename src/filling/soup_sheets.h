// Surfaces that enclose nothing among other parts: leaves on a pot, a floor through a crate, alpha cards that cross.
#ifndef FEM_FILLING_SOUP_SHEETS_H
#define FEM_FILLING_SOUP_SHEETS_H

#include "geometry/triangle_soup.h"

// Of its size: thickness of what encloses nothing, where none is told; chosen, as of plywood.
#define FEM_SHEET_SHARE 0.01

typedef struct FemSoupSheets {
	int32_t count;    // surfaces that were made solids
	double thickness; // unit space, of the thickest
} FemSoupSheets;

// Every open component that shares its member with others and parts no inside from an outside is replaced by a closed
// solid about it: two copies of it, half a thickness to either side, and walls along its rims. So what crosses is a
// union of solids. thickness: unit space, or 0 for a share of each one's size. Keeps the components' numbers and, where
// nothing was replaced, `io_groups` ([triangle]); else new members are to be found. closed: [component].
FemResult fem_soup_thicken(
	FemTriangles *triangles, int32_t *io_groups, uint8_t *closed, double thickness, FemSoupSheets *out);

#endif
