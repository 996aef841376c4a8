// Moves the outer nodes of a stuffed solid so that its surface lies where the soup's does.
#ifndef FEM_FILLING_SURFACE_FIT_H
#define FEM_FILLING_SURFACE_FIT_H

#include "filling/solid.h"
#include "filling/tet_list.h"

// Two passes. Where the solid was inflated, nodes go back to the nearest surface, as far as no tet falls below
// thin_dihedral (degrees). Then nodes of curved places move out (or in) by 3/4 of the sag of the triangles around them:
// the mean error of a chord whose ends lie on the surface, so that volume and mass come out right; not below
// min_dihedral.
FemResult fem_surface_fit(
	const FemSolid *solid, double cell, double thin_dihedral, double min_dihedral, FemTetList *list);

// Where the tets have more volume than they should, as limbs whose tets are kept whole do, outer nodes go in along
// their normals until it is right, by `reach` (unit space) at the most, and as far as no tet falls below min_dihedral.
FemResult fem_surface_trim(double volume, double reach, double min_dihedral, FemTetList *list);

typedef struct FemCover {
	double limit;        // unit space: farthest that a vertex may lie from the tets
	double min_dihedral; // degrees: nodes go no farther than that none falls below
	int32_t vertices_most;
} FemCover;

// Moves nodes out to vertices of the soup that lie farther than the limit from the tets. out_gap: the farthest, after.
FemResult fem_surface_cover(const FemSolid *solid, const FemCover *def, FemTetList *list, double *out_gap);

#endif
