// Nearest points of triangles and tets, in double.
#ifndef FEM_GEOMETRY_CLOSEST_H
#define FEM_GEOMETRY_CLOSEST_H

#include "base/vec.h"

// Nearest point of a triangle; weights of its corners. Degenerate triangles give a point of one of their edges.
FemPosition fem_closest_on_triangle(FemPosition p, const FemPosition corners[3], double out_weights[3]);

// Squared distance to a solid tet, 0 inside; weights of its corners at the nearest point.
double fem_closest_in_tet(FemPosition p, const FemPosition corners[4], double out_weights[4]);

#endif
