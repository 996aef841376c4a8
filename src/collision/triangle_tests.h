// Whether a triangle reaches into a tet, and whether two triangles cross. Floats relative to one origin; the fourth
// lanes of points are 0.
#ifndef FEM_COLLISION_TRIANGLE_TESTS_H
#define FEM_COLLISION_TRIANGLE_TESTS_H

#include "collision/lanes4.h"

// Bit i is set if a part of the triangle lies inside the solid tet i. Mere touching does not count, nor do tets without
// volume; inverted tets are taken for what they fill.
unsigned fem_triangle_meets_tets(const Float4 triangle[3], Float4 tets[4][4]);

// True if the triangles cut through each other. Triangles in one plane do not.
bool fem_triangles_cross(const Float4 a[3], const Float4 b[3]);

// True if the point lies inside the tet or on its border (any orientation).
bool fem_point_in_tet(Float4 point, const Float4 tet[4]);

#endif
