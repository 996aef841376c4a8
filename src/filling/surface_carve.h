// Takes tets off that lie mostly outside the solid, where limbs and gaps are thinner than a cell.
#ifndef FEM_FILLING_SURFACE_CARVE_H
#define FEM_FILLING_SURFACE_CARVE_H

#include "filling/solid.h"
#include "filling/tet_list.h"

typedef struct FemCarving {
	double volume;       // unit space: no more is taken off once the tets have no more than this
	double limit;        // unit space: farthest that a point of the surface may lie from the tets that stay
	int32_t point_count; // spread over the soup's area, which stay covered beside all its vertices
} FemCarving;

// What stays hangs together as before: no tet goes whose removal would part the others, open a hole through them or
// leave them joined by an edge or a node alone.
FemResult fem_surface_carve(const FemSolid *solid, const FemCarving *def, FemTetList *list);

#endif
