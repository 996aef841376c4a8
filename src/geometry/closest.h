// Nearest points of triangles and tets, in double.
#ifndef FEM_GEOMETRY_CLOSEST_H
#define FEM_GEOMETRY_CLOSEST_H

#include "base/vec.h"

// Nearest point of a triangle; weights of its corners. Degenerate triangles give a point of one of their edges.
FemVec3d fem_closest_on_triangle(FemVec3d p, const FemVec3d corners[3], double out_weights[3]);

// Squared distance to a solid tet, 0 inside; weights of its corners at the nearest point.
double fem_closest_in_tet(FemVec3d p, const FemVec3d corners[4], double out_weights[4]);

#endif
