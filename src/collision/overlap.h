// The overlap polyhedron of two convex bodies and what contact needs of it (P&O09 section 6;
// docs/method.md, "Overlap").
// Pure: no allocation (about 50 kB of stack, most of it untouched for tets), any thread, the same bits for the same
// input. Swapping a and b gives the same polyhedron with r and normal negated, to the bit.
#ifndef FEM_COLLISION_OVERLAP_H
#define FEM_COLLISION_OVERLAP_H

#include "collision/convex.h"

#define FEM_OVERLAP_POINTS 4 // most points of an overlap: both ends of two tangents (docs/method.md, "Support")

typedef enum FemOverlapFlag {
	// No two exterior faces oppose each other: r = (r1 - r2)/2 of what faces there are, where none gives the normal.
	FEM_OVERLAP_FALLBACK = 1,
	FEM_OVERLAP_NO_DIRECTION = 2, // |r| ~ 0, as when one body is inside the other: take the relative velocity
} FemOverlapFlag;

// A place where part of the contact's force acts: on the plane through the centre, normal to `normal`.
typedef struct FemOverlapPoint {
	FemVec3 offset; // m, from the centre
	float share;    // of area; shares sum to 1, and share-weighted offsets to 0
	float depth;    // m, that of the whole overlap, or what fem_overlap_find_depths() found
} FemOverlapPoint;

typedef struct FemOverlap {
	FemPosition centre;  // m, world: centre of mass of the polyhedron
	FemVec3 r;           // m^2, from a to b: docs/method.md, "Overlap"
	FemVec3 normal;      // unit r; 0 when flagged FEM_OVERLAP_NO_DIRECTION
	float volume;        // m^3, W
	float surface;       // m^2, of the polyhedron
	float area;          // m^2, A = |r|; without direction surface / 4, the mean shadow of a convex solid (Cauchy)
	float depth;         // m, min(W / A, extent along the normal)
	uint32_t flags;      // FemOverlapFlag
	int32_t point_count; // 1 to 4; without direction 1, the centre
	FemOverlapPoint points[FEM_OVERLAP_POINTS];
} FemOverlap;

// False when the bodies do not overlap, or by less than float can tell (bodies that share a face, an edge or a corner):
// thinner than 1e-6 of the smaller one's size, or a needle thinner than 3e-4 of its length; or when one of them is not
// usable.
bool fem_overlap(const FemConvex *a, const FemConvex *b, FemOverlap *out_overlap);

// How deep it is at each of its points, so that their mean by share stays the depth of the whole: what lies a little
// tilted on a face is deeper on one side.
void fem_overlap_find_depths(const FemConvex *a, const FemConvex *b, FemOverlap *overlap);

#endif
