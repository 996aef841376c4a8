#include "geometry/winding.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"

#define PI 3.14159265358979323846 // the solid angle of a whole sphere is 4 of it
#define FAR_FACTOR 2.0            // a box farther than this many radii is one dipole; the error of w stays below 0.02

// ---- moments

static FemWindingMoment leaf_moment(const FemTriangleBvh *bvh, const FemBvhNode *node) {
	FemVec3d vector = {0}, center = {0};
	double area = 0.0;
	for (int32_t t = node->first; t < node->first + node->count; t++) {
		FemVec3d n = fem_triangle_area_vector(bvh->triangles, t), middle = {0};
		double weight = sqrt(fem_vec3d_dot(n, n));
		for (int v = 0; v < 3; v++)
			middle = fem_vec3d_add(middle, fem_vec3d_scale(fem_triangle_corner(bvh->triangles, t, v), 1.0 / 3.0));
		vector = fem_vec3d_add(vector, n);
		center = fem_vec3d_add(center, fem_vec3d_scale(middle, weight));
		area += weight;
	}
	return (FemWindingMoment){fem_vec3d_to_vec3(vector),
		fem_vec3d_to_vec3(fem_vec3d_scale(center, area > 0.0 ? 1.0 / area : 0.0)), 0.0f, (float)area};
}

static FemWindingMoment joined_moment(const FemWindingMoment *a, const FemWindingMoment *b) {
	float area = a->area + b->area;
	FemVec3 center = fem_vec3_add(fem_vec3_scale(a->center, a->area), fem_vec3_scale(b->center, b->area));
	return (FemWindingMoment){
		fem_vec3_add(a->area_vector, b->area_vector), fem_vec3_scale(center, 1.0f / area), 0.0f, area};
}

static float distance_between(FemVec3 a, FemVec3 b) {
	return fem_vec3_length(fem_vec3_sub(a, b));
}

// Distance from the centre to the farthest corner of a leaf's triangles.
static float leaf_radius(const FemTriangleBvh *bvh, const FemBvhNode *node, FemVec3 center) {
	float most = 0.0f;
	for (int32_t t = node->first; t < node->first + node->count; t++)
		for (int v = 0; v < 3; v++)
			most = fmaxf(most, distance_between(center, bvh->triangles->vertices[bvh->triangles->triangles[t][v]]));
	return most;
}

static float joined_radius(FemVec3 center, const FemWindingMoment *a, const FemWindingMoment *b) {
	return fmaxf(distance_between(center, a->center) + a->radius, distance_between(center, b->center) + b->radius);
}

// Distance from the centre to the farthest corner of the node's box.
static float box_radius(const FemBvhNode *node, FemVec3 center) {
	const float *c = &center.x;
	double sum = 0.0;
	for (int axis = 0; axis < 3; axis++) {
		double reach = fmax((double)c[axis] - (double)node->lo[axis], (double)node->hi[axis] - (double)c[axis]);
		sum += reach * reach;
	}
	return (float)sqrt(sum);
}

FemResult fem_winding_create(FemWinding *winding, const FemTriangleBvh *bvh) {
	*winding = (FemWinding){bvh, FEM_ALLOC_ARRAY(FemWindingMoment, bvh->node_count)};
	if (!winding->moments)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for %d triangles: reduce the mesh first.",
			bvh->triangles->triangle_count);
	// Children come after their parents in the list: their moments are there first.
	for (int32_t n = bvh->node_count - 1; n >= 0; n--) {
		const FemBvhNode *node = &bvh->nodes[n];
		FEM_ASSERT(node->count > 0 || (node->first > n + 1 && node->first < bvh->node_count));
		winding->moments[n] = node->count > 0 ? leaf_moment(bvh, node)
											  : joined_moment(&winding->moments[n + 1], &winding->moments[node->first]);
		FemVec3 center = winding->moments[n].center;
		float radius = node->count > 0
			? leaf_radius(bvh, node, center)
			: joined_radius(center, &winding->moments[n + 1], &winding->moments[node->first]);
		winding->moments[n].radius = fminf(radius, box_radius(node, center));
		FEM_ASSERT(winding->moments[n].area > 0.0f && winding->moments[n].radius >= 0.0f); // neither is NaN
	}
	return FEM_OK;
}

void fem_winding_free(FemWinding *winding) {
	if (winding->bvh)
		FEM_FREE_ARRAY(winding->moments, winding->bvh->node_count);
	*winding = (FemWinding){0};
}

// ---- evaluation

double fem_solid_angle(const FemTriangles *triangles, int32_t t, FemVec3d p) {
	FemVec3d a = fem_vec3d_sub(fem_triangle_corner(triangles, t, 0), p);
	FemVec3d b = fem_vec3d_sub(fem_triangle_corner(triangles, t, 1), p);
	FemVec3d c = fem_vec3d_sub(fem_triangle_corner(triangles, t, 2), p);
	double la = sqrt(fem_vec3d_dot(a, a)), lb = sqrt(fem_vec3d_dot(b, b)), lc = sqrt(fem_vec3d_dot(c, c));
	double above = fem_vec3d_dot(a, fem_vec3d_cross(b, c));
	double below = la * lb * lc + fem_vec3d_dot(a, b) * lc + fem_vec3d_dot(b, c) * la + fem_vec3d_dot(c, a) * lb;
	return above == 0.0 && below >= 0.0 ? 0.0 : 2.0 * atan2(above, below);
}

static double leaf_angle(const FemTriangleBvh *bvh, const FemBvhNode *node, FemVec3d p) {
	double sum = 0.0;
	for (int32_t t = node->first; t < node->first + node->count; t++)
		sum += fem_solid_angle(bvh->triangles, t, p);
	return sum;
}

double fem_winding_number(const FemWinding *winding, FemVec3d p) {
	const FemBvhNode *nodes = winding->bvh->nodes;
	int32_t stack[FEM_BVH_DEPTH_MAX], depth = 0;
	double sum = 0.0;
	stack[depth++] = 0;
	while (depth > 0) {
		int32_t n = stack[--depth];
		const FemWindingMoment *moment = &winding->moments[n];
		FemVec3d offset = fem_vec3d_sub(fem_vec3d_from(moment->center), p);
		double distance_sq = fem_vec3d_dot(offset, offset), reach = FAR_FACTOR * (double)moment->radius;
		if (distance_sq > reach * reach) {
			sum += fem_vec3d_dot(fem_vec3d_from(moment->area_vector), offset) / (distance_sq * sqrt(distance_sq));
		} else if (nodes[n].count > 0) {
			sum += leaf_angle(winding->bvh, &nodes[n], p);
		} else {
			FEM_ASSERT(depth + 2 <= FEM_BVH_DEPTH_MAX);
			stack[depth++] = nodes[n].first;
			stack[depth++] = n + 1;
		}
	}
	return sum / (4.0 * PI);
}
