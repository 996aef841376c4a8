// A tree of boxes over triangles: crossings of a segment and nearest points. Reorders the triangles it is built over.
#ifndef FEM_GEOMETRY_TRIANGLE_BVH_H
#define FEM_GEOMETRY_TRIANGLE_BVH_H

#include "geometry/triangle_soup.h"

#define FEM_BVH_DEPTH_MAX 64 // of a tree that is split in halves: 2^64 triangles
#define FEM_CROSSING_MAX 64  // crossings kept a segment; chosen: more are a soup, whose inside is found by winding

// The left child of an inner node is the next node.
typedef struct FemBvhNode {
	float lo[3], hi[3];
	int32_t first; // leaf: its first triangle; inner: the right child
	int32_t count; // triangles of a leaf, 0 for inner nodes
} FemBvhNode;

typedef struct FemTriangleBvh {
	const FemTriangles *triangles;
	int32_t node_count, node_capacity;
	FemBvhNode *nodes;
} FemTriangleBvh;

// Triangles (and components, where there are any) are put in the order of the leaves.
FemResult fem_triangle_bvh_create(FemTriangleBvh *bvh, FemTriangles *triangles);
void fem_triangle_bvh_free(FemTriangleBvh *bvh);

typedef struct FemCrossing {
	double t; // along the segment, 0..1
	int32_t triangle;
} FemCrossing;

// Crossings of the segment a-b in ascending order, both ends widened by `slack` (a share of its length) and t limited
// to 0..1. Segments within a triangle's plane do not cross it.
int32_t fem_bvh_crossings(
	const FemTriangleBvh *bvh, FemVec3d a, FemVec3d b, double slack, FemCrossing out[FEM_CROSSING_MAX]);

// Distance to the nearest triangle within `limit`, else `limit` and triangle -1.
double fem_bvh_nearest(const FemTriangleBvh *bvh, FemVec3d p, double limit, int32_t *out_triangle, FemVec3d *out_point);

#endif
