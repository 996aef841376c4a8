// Nearest points of triangles and tets, in double.
#ifndef FEM_GEOMETRY_CLOSEST_H
#define FEM_GEOMETRY_CLOSEST_H

#include "base/vec.h"

#include <math.h>

// Nearest point of a triangle; weights of its corners. Degenerate triangles give a point of one of their edges.
FemVec3d fem_closest_on_triangle(FemVec3d p, const FemVec3d corners[3], double out_weights[3]);

// Squared distance to a solid tet, 0 inside; weights of its corners at the nearest point.
double fem_closest_in_tet(FemVec3d p, const FemVec3d corners[4], double out_weights[4]);

// Squared distance to a box with these corners, 0 inside: a lower bound for all that lies in it.
static inline double fem_box_distance_sq(const float low[3], const float high[3], FemVec3d p) {
	double at[3] = {p.x, p.y, p.z}, sum = 0.0;
	for (int axis = 0; axis < 3; axis++) {
		double below = (double)low[axis] - at[axis], above = at[axis] - (double)high[axis];
		double outside = below > above ? below : above; // fmax() would be a call each
		sum += outside > 0.0 ? outside * outside : 0.0;
	}
	return sum;
}

#endif
