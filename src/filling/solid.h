// What is inside: the volume that a soup encloses, with thin walls and sheets thickened where a lattice is too coarse.
#ifndef FEM_FILLING_SOLID_H
#define FEM_FILLING_SOLID_H

#include "geometry/winding.h"

typedef struct FemSolid {
	FemTriangles triangles;
	FemTriangleBvh bvh;
	FemWinding winding;
	double half_extents[3]; // of the member's box, centred at 0
	double inflation;       // points nearer to the surface than this count as inside; 0 = off
	double sheet_half;      // half thickness of the columns of what encloses nothing; 0 = sheets do not count
} FemSolid;

bool fem_solid_inside(const FemSolid *solid, FemVec3d p);

// Where the segment from `in` (inside) to `out` (outside) leaves the solid: 0..1 from `in`.
double fem_solid_exit(const FemSolid *solid, FemVec3d in, FemVec3d out);

// Whether a point of a triangle parts inside from outside: where shells run into each other some do not.
bool fem_solid_is_border(const FemSolid *solid, int32_t triangle, FemVec3d at);

// Thickness of the wall at a point of the surface, by a ray to its other side: at most `limit`; 0 for a sheet.
double fem_solid_thickness(const FemSolid *solid, int32_t triangle, FemVec3d at, double limit);

// Volume by the divergence theorem (exact for closed surfaces oriented outward) and the surface's area, unit space.
double fem_solid_volume(const FemSolid *solid);
double fem_solid_area(const FemSolid *solid);

// The inside pieces of the line through (x, y) along z, at most `capacity`: [lo, hi] each; returns their number.
int32_t fem_solid_column(const FemSolid *solid, double x, double y, double out_ranges[][2], int32_t capacity);

void fem_solid_free(FemSolid *solid);

#endif
