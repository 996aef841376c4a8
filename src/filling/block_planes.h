// The planes of a solid's flat faces in three families, whose normals lie near three axes: of boards at right angles
// along them, of slanting walls and roofs aslant to them.
#ifndef FEM_FILLING_BLOCK_PLANES_H
#define FEM_FILLING_BLOCK_PLANES_H

#include "base/assert.h"
#include "filling/solid.h"

typedef struct FemFacePlane {
	FemVec3d normal; // of length 1 along its family's axis
	double at;       // normal . p of its points, unit space: where it crosses the axis
	double area;     // of its faces
	FemVec3d middle; // of its faces, times their area
} FemFacePlane;

typedef struct FemPlaneFamily {
	FemVec3d axis;        // unit
	FemFacePlane *planes; // rising along the axis
	int32_t count, capacity;
} FemPlaneFamily;

// merge: faces nearer to each other than this count as one, unit space. Leaves families without planes where the solid
// is of another shape. False without memory.
FEM_MUST_USE bool fem_plane_families_find(const FemSolid *solid, double merge, FemPlaneFamily out[3]);
void fem_plane_families_free(FemPlaneFamily families[3]);

#endif
