// Contact points of an overlap polyhedron: one point at the centre of mass carries no moment and shrinks the support of
// a resting body (docs/method.md, "Support").
#ifndef FEM_COLLISION_OVERLAP_POINTS_H
#define FEM_COLLISION_OVERLAP_POINTS_H

#include "collision/overlap.h"
#include "collision/polyhedron.h"

// The extreme vertices along two tangents (the first towards the farthest vertex), on the plane through the centre and
// normal to the unit normal, with the shares nearest to equal that keep the centre. Returns their number, 1 to 4, and
// the extent of the polyhedron along the normal (m).
int32_t fem_overlap_points(const FemPolyhedron *p, FemVec3 centre, FemVec3 normal,
	FemOverlapPoint out_points[FEM_OVERLAP_POINTS], float *out_extent);

#endif
