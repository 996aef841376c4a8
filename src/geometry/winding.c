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

// Half the solid angle of a triangle is the argument of a complex number (van Oosterom & Strackee 1983), so a sum of
// solid angles is the argument of a product, with the full rotations counted that it makes on the way: one arctangent a
// point instead of one a triangle.
typedef struct HalfAngle {
	double re, im;
} HalfAngle;

typedef struct HalfAngleSum {
	HalfAngle product; // kept near length 1
	int windings;      // of 2 pi
} HalfAngleSum;

// 0 where p is a corner or lies on an edge.
static HalfAngle half_angle(const FemTriangles *triangles, int32_t t, FemVec3d p) {
	const int32_t *corners = triangles->triangles[t];
	FemVec3d a = fem_vec3d_sub(fem_vec3d_from(triangles->vertices[corners[0]]), p);
	FemVec3d b = fem_vec3d_sub(fem_vec3d_from(triangles->vertices[corners[1]]), p);
	FemVec3d c = fem_vec3d_sub(fem_vec3d_from(triangles->vertices[corners[2]]), p);
	double la = sqrt(fem_vec3d_dot(a, a)), lb = sqrt(fem_vec3d_dot(b, b)), lc = sqrt(fem_vec3d_dot(c, c));
	return (HalfAngle){la * lb * lc + fem_vec3d_dot(a, b) * lc + fem_vec3d_dot(b, c) * la + fem_vec3d_dot(c, a) * lb,
		fem_vec3d_dot(a, fem_vec3d_cross(b, c))};
}

// Arguments are in (-pi, pi]: two of one sign have gone past pi when the product's sign is the other one, or when both
// are pi itself.
static void add_half_angle(HalfAngleSum *sum, HalfAngle z) {
	double size = fabs(z.re) + fabs(z.im);
	HalfAngle w = sum->product;
	if (size <= 0.0)
		return;
	HalfAngle product = {(w.re * z.re - w.im * z.im) / size, (w.re * z.im + w.im * z.re) / size};
	double length = fabs(product.re) + fabs(product.im);
	if (w.im >= 0.0 && z.im >= 0.0)
		sum->windings += product.im < 0.0 || (product.im <= 0.0 && product.re > 0.0 && w.re < 0.0);
	else if (w.im < 0.0 && z.im < 0.0)
		sum->windings -= product.im >= 0.0;
	sum->product = (HalfAngle){product.re / length, product.im / length};
}

static double sum_of_angles(const HalfAngleSum *sum) {
	double im = sum->product.im;
	return 2.0 * (atan2(im == 0.0 ? 0.0 : im, sum->product.re) + 2.0 * PI * (double)sum->windings);
}

double fem_solid_angle(const FemTriangles *triangles, int32_t t, FemVec3d p) {
	HalfAngle z = half_angle(triangles, t, p);
	return z.im == 0.0 && z.re >= 0.0 ? 0.0 : 2.0 * atan2(z.im, z.re);
}

double fem_winding_number(const FemWinding *winding, FemVec3d p) {
	const FemTriangleBvh *bvh = winding->bvh;
	const FemBvhNode *nodes = bvh->nodes;
	int32_t stack[FEM_BVH_DEPTH_MAX], depth = 0;
	HalfAngleSum near = {{1.0, 0.0}, 0};
	double far = 0.0;
	stack[depth++] = 0;
	while (depth > 0) {
		int32_t n = stack[--depth];
		const FemWindingMoment *moment = &winding->moments[n];
		FemVec3d offset = fem_vec3d_sub(fem_vec3d_from(moment->center), p);
		double distance_sq = fem_vec3d_dot(offset, offset), reach = FAR_FACTOR * (double)moment->radius;
		if (distance_sq > reach * reach) {
			far += fem_vec3d_dot(fem_vec3d_from(moment->area_vector), offset) / (distance_sq * sqrt(distance_sq));
		} else if (nodes[n].count > 0) {
			for (int32_t t = nodes[n].first; t < nodes[n].first + nodes[n].count; t++)
				add_half_angle(&near, half_angle(bvh->triangles, t, p));
		} else {
			FEM_ASSERT(depth + 2 <= FEM_BVH_DEPTH_MAX);
			stack[depth++] = nodes[n].first;
			stack[depth++] = n + 1;
		}
	}
	return (far + sum_of_angles(&near)) / (4.0 * PI);
}
