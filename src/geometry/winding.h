// Generalized winding numbers (Jacobson, Kavan & Sorkine-Hornung 2013): how often a surface goes round a point. Whole
// numbers for closed surfaces, smooth across holes, so that |w| > 1/2 says "inside" for open, inside-out, overlapping
// soup.
//
// Far triangles are taken together as one dipole a box (Barill et al. 2018, "Fast winding numbers for soups and
// clouds", first order), near ones by their exact solid angle (van Oosterom & Strackee 1983).
#ifndef FEM_GEOMETRY_WINDING_H
#define FEM_GEOMETRY_WINDING_H

#include "geometry/triangle_bvh.h"

typedef struct FemWindingMoment {
	FemVec3 area_vector; // sum over the box's triangles
	FemVec3 center;      // area-weighted
	float radius;        // of a ball about the center that holds the triangles
	float area;
} FemWindingMoment;

typedef struct FemWinding {
	const FemTriangleBvh *bvh;
	FemWindingMoment *moments; // [node]
} FemWinding;

FemResult fem_winding_create(FemWinding *winding, const FemTriangleBvh *bvh);
void fem_winding_free(FemWinding *winding);

double fem_winding_number(const FemWinding *winding, FemVec3d p);

// Solid angle of a triangle seen from p, signed by its orientation. 0 for points in its plane outside it.
double fem_solid_angle(const FemTriangles *triangles, int32_t triangle, FemVec3d p);

static inline bool fem_winding_inside(const FemWinding *winding, FemVec3d p) {
	return fabs(fem_winding_number(winding, p)) > 0.5;
}

#endif
