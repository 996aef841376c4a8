#include "geometry/triangle_bvh.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "geometry/closest.h"

#include <string.h>

#define LEAF_MAX 6 // triangles; chosen: testing so many costs what a node does

// ---- build

typedef struct Builder {
	FemTriangleBvh *bvh;
	FemTriangles *triangles;
} Builder;

static float centroid_on(const FemTriangles *triangles, int32_t t, int axis) {
	const int32_t *corners = triangles->triangles[t];
	const float *a = &triangles->vertices[corners[0]].x, *b = &triangles->vertices[corners[1]].x;
	return a[axis] + b[axis] + (&triangles->vertices[corners[2]].x)[axis]; // three times the centroid
}

static void swap_triangles(FemTriangles *triangles, int32_t a, int32_t b) {
	int32_t kept[3];
	memcpy(kept, triangles->triangles[a], sizeof kept);
	memcpy(triangles->triangles[a], triangles->triangles[b], sizeof kept);
	memcpy(triangles->triangles[b], kept, sizeof kept);
	if (!triangles->components)
		return;
	int32_t component = triangles->components[a];
	triangles->components[a] = triangles->components[b];
	triangles->components[b] = component;
}

// Quickselect: the triangles before `middle` have centroids not above it, those from it on not below.
static void select_middle(FemTriangles *triangles, int32_t begin, int32_t end, int32_t middle, int axis) {
	while (end - begin > 1) {
		float pivot = centroid_on(triangles, begin + (end - begin) / 2, axis);
		int32_t low = begin, high = end - 1;
		while (low <= high) {
			while (centroid_on(triangles, low, axis) < pivot)
				low++;
			while (centroid_on(triangles, high, axis) > pivot)
				high--;
			if (low <= high)
				swap_triangles(triangles, low++, high--);
		}
		if (middle <= high)
			end = high + 1;
		else if (middle >= low)
			begin = low;
		else
			return;
	}
}

// What select_middle() promises.
static bool is_halved(const FemTriangles *triangles, int32_t begin, int32_t end, int32_t middle, int axis) {
	float at = centroid_on(triangles, middle, axis);
	for (int32_t t = begin; t < end; t++) {
		float centroid = centroid_on(triangles, t, axis);
		if (t < middle ? centroid > at : centroid < at)
			return false;
	}
	return true;
}

static void bound_range(const FemTriangles *triangles, int32_t begin, int32_t end, FemBvhNode *node) {
	for (int axis = 0; axis < 3; axis++) {
		node->lo[axis] = 4.0f;
		node->hi[axis] = -4.0f;
	}
	for (int32_t t = begin; t < end; t++) {
		for (int v = 0; v < 3; v++) {
			const float *p = &triangles->vertices[triangles->triangles[t][v]].x;
			for (int axis = 0; axis < 3; axis++) {
				node->lo[axis] = p[axis] < node->lo[axis] ? p[axis] : node->lo[axis];
				node->hi[axis] = p[axis] > node->hi[axis] ? p[axis] : node->hi[axis];
			}
		}
	}
}

// The axis along which the centroids spread most.
static int widest_axis(const FemTriangles *triangles, int32_t begin, int32_t end) {
	float widest = -1.0f;
	int found = 0;
	for (int axis = 0; axis < 3; axis++) {
		float lo = centroid_on(triangles, begin, axis), hi = lo;
		for (int32_t t = begin + 1; t < end; t++) {
			float at = centroid_on(triangles, t, axis);
			lo = at < lo ? at : lo;
			hi = at > hi ? at : hi;
		}
		if (hi - lo > widest) {
			widest = hi - lo;
			found = axis;
		}
	}
	return found;
}

// Halves by count, so that the depth is bounded by log2 of the number of triangles.
static int32_t build_range(Builder *builder, int32_t begin, int32_t end) {
	FEM_ASSERT(builder->bvh->node_count < builder->bvh->node_capacity);
	int32_t index = builder->bvh->node_count++;
	FemBvhNode *node = &builder->bvh->nodes[index];
	bound_range(builder->triangles, begin, end, node);
	if (end - begin <= LEAF_MAX) {
		node->first = begin;
		node->count = end - begin;
		return index;
	}
	int32_t middle = begin + (end - begin) / 2;
	int axis = widest_axis(builder->triangles, begin, end);
	select_middle(builder->triangles, begin, end, middle, axis);
	FEM_ASSERT(is_halved(builder->triangles, begin, end, middle, axis));
	build_range(builder, begin, middle);
	int32_t right = build_range(builder, middle, end);
	builder->bvh->nodes[index].first = right;
	builder->bvh->nodes[index].count = 0;
	return index;
}

// Leaves hold at least LEAF_MAX / 2 triangles (rounded up to 3 of 7).
static int32_t node_bound(int32_t triangle_count) {
	return 2 * (triangle_count / ((LEAF_MAX + 1) / 2) + 1);
}

FemResult fem_triangle_bvh_create(FemTriangleBvh *bvh, FemTriangles *triangles) {
	*bvh = (FemTriangleBvh){.triangles = triangles, .node_capacity = node_bound(triangles->triangle_count)};
	bvh->nodes = FEM_ALLOC_ARRAY(FemBvhNode, bvh->node_capacity);
	if (!bvh->nodes)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for %d triangles: reduce the mesh first.",
			triangles->triangle_count);
	build_range(&(Builder){bvh, triangles}, 0, triangles->triangle_count);
	return FEM_OK;
}

void fem_triangle_bvh_free(FemTriangleBvh *bvh) {
	FEM_FREE_ARRAY(bvh->nodes, bvh->node_capacity);
	*bvh = (FemTriangleBvh){0};
}

// ---- crossings

typedef struct Segment {
	double from[3], direction[3], inv_direction[3];
	FemVec3d a, d;
} Segment;

static Segment make_segment(FemVec3d a, FemVec3d b, double slack) {
	FemVec3d direction = fem_vec3d_sub(b, a);
	Segment s = {.a = fem_vec3d_sub(a, fem_vec3d_scale(direction, slack))};
	s.d = fem_vec3d_scale(direction, 1.0 + 2.0 * slack);
	memcpy(s.from, &s.a, sizeof s.from);
	memcpy(s.direction, &s.d, sizeof s.direction);
	for (int axis = 0; axis < 3; axis++)
		s.inv_direction[axis] = 1.0 / (s.direction[axis] != 0.0 ? s.direction[axis] : 1e-300);
	return s;
}

static bool segment_meets_box(const Segment *s, const FemBvhNode *node) {
	double enter = 0.0, leave = 1.0;
	for (int axis = 0; axis < 3; axis++) {
		double near = ((double)node->lo[axis] - 1e-7 - s->from[axis]) * s->inv_direction[axis];
		double far = ((double)node->hi[axis] + 1e-7 - s->from[axis]) * s->inv_direction[axis];
		double first = near < far ? near : far, last = near < far ? far : near; // fmin() would be a call each
		enter = first > enter ? first : enter;
		leave = last < leave ? last : leave;
	}
	return enter <= leave;
}

// Moeller & Trumbore 1997; edges count as hit on both sides, so that a segment cannot slip between two triangles.
static bool segment_meets_triangle(const Segment *s, const FemTriangles *triangles, int32_t triangle, double *out_t) {
	FemVec3d a = fem_triangle_corner(triangles, triangle, 0);
	FemVec3d u = fem_vec3d_sub(fem_triangle_corner(triangles, triangle, 1), a);
	FemVec3d v = fem_vec3d_sub(fem_triangle_corner(triangles, triangle, 2), a);
	FemVec3d p = fem_vec3d_cross(s->d, v);
	double det = fem_vec3d_dot(u, p);
	if (det == 0.0)
		return false;
	FemVec3d w = fem_vec3d_sub(s->a, a), q = fem_vec3d_cross(w, u);
	double first = fem_vec3d_dot(w, p) / det, second = fem_vec3d_dot(s->d, q) / det;
	if (!(first >= -1e-9 && second >= -1e-9 && first + second <= 1.0 + 1e-9))
		return false;
	*out_t = fem_vec3d_dot(v, q) / det;
	return *out_t >= 0.0 && *out_t <= 1.0;
}

static int32_t insert_crossing(FemCrossing *list, int32_t count, FemCrossing crossing) {
	int32_t at = count < FEM_CROSSING_MAX ? count++ : FEM_CROSSING_MAX - 1;
	for (; at > 0 && list[at - 1].t > crossing.t; at--)
		list[at] = list[at - 1];
	list[at] = crossing;
	return count;
}

int32_t fem_bvh_crossings(
	const FemTriangleBvh *bvh, FemVec3d a, FemVec3d b, double slack, FemCrossing out[FEM_CROSSING_MAX]) {
	Segment segment = make_segment(a, b, slack);
	int32_t stack[FEM_BVH_DEPTH_MAX], depth = 0, count = 0;
	stack[depth++] = 0;
	while (depth > 0) {
		const FemBvhNode *node = &bvh->nodes[stack[--depth]];
		if (!segment_meets_box(&segment, node))
			continue;
		if (node->count == 0) {
			stack[depth++] = node->first;
			stack[depth++] = (int32_t)(node - bvh->nodes) + 1;
			continue;
		}
		for (int32_t triangle = node->first; triangle < node->first + node->count; triangle++) {
			double t;
			if (!segment_meets_triangle(&segment, bvh->triangles, triangle, &t))
				continue;
			t = t * (1.0 + 2.0 * slack) - slack;
			count = insert_crossing(out, count, (FemCrossing){fmin(fmax(t, 0.0), 1.0), triangle});
		}
	}
	return count;
}

// ---- nearest

static void nearest_in_leaf(const FemTriangleBvh *bvh, const FemBvhNode *node, FemVec3d p, double *io_best,
	int32_t *out_triangle, FemVec3d *out_point) {
	for (int32_t t = node->first; t < node->first + node->count; t++) {
		FemVec3d corners[3] = {fem_triangle_corner(bvh->triangles, t, 0), fem_triangle_corner(bvh->triangles, t, 1),
			fem_triangle_corner(bvh->triangles, t, 2)};
		double weights[3];
		FemVec3d at = fem_closest_on_triangle(p, corners, weights), offset = fem_vec3d_sub(p, at);
		double distance_sq = fem_vec3d_dot(offset, offset);
		if (distance_sq >= *io_best)
			continue;
		*io_best = distance_sq;
		*out_triangle = t;
		*out_point = at;
	}
}

double fem_bvh_nearest(
	const FemTriangleBvh *bvh, FemVec3d p, double limit, int32_t *out_triangle, FemVec3d *out_point) {
	int32_t stack[FEM_BVH_DEPTH_MAX], depth = 0;
	double best = limit * limit;
	*out_triangle = -1;
	*out_point = p;
	stack[depth++] = 0;
	while (depth > 0) {
		const FemBvhNode *node = &bvh->nodes[stack[--depth]];
		if (fem_box_distance_sq(node->lo, node->hi, p) >= best)
			continue;
		if (node->count > 0) {
			nearest_in_leaf(bvh, node, p, &best, out_triangle, out_point);
			continue;
		}
		int32_t left = (int32_t)(node - bvh->nodes) + 1, right = node->first;
		bool left_first = fem_box_distance_sq(bvh->nodes[left].lo, bvh->nodes[left].hi, p) <=
			fem_box_distance_sq(bvh->nodes[right].lo, bvh->nodes[right].hi, p);
		stack[depth++] = left_first ? right : left;
		stack[depth++] = left_first ? left : right;
	}
	return sqrt(best);
}
