// Rays, nearest points and boxes, on the published positions. Bodies are told apart by their boxes; within a body every
// outer face is looked at.
#include "base/vec.h"
#include "geometry/closest.h"
#include "topology/topology.h"
#include "world/api/checks.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>

// ---- helpers

static FemVec3d published(const FemBody *body, int32_t node) {
	return fem_vec3d_from4(body->published[body->topology->user_of_node[node]]);
}

static void face_corners(const FemBody *body, int32_t face, FemVec3d out[3]) {
	for (int v = 0; v < 3; v++)
		out[v] = published(body, body->topology->triangles[3 * (size_t)face + (size_t)v]);
}

static FemVec3d face_normal(const FemVec3d corners[3]) {
	return fem_vec3d_cross(fem_vec3d_sub(corners[1], corners[0]), fem_vec3d_sub(corners[2], corners[0]));
}

// `point` is relative to the body's published origin.
static FemHit make_hit(
	const FemWorld *world, int32_t body_index, int32_t face, FemVec3d point, const double weights[3]) {
	const FemBody *body = world->bodies[body_index];
	const FemTopology *t = body->topology;
	FemVec3d corners[3];
	face_corners(body, face, corners);
	FemVec3d normal = face_normal(corners);
	FemHit hit = {.body = fem_body_id(world, body_index), .tet = t->user_of_tet[t->triangle_tets[face]]};
	for (int v = 0; v < 3; v++) {
		hit.nodes[v] = t->user_of_node[t->triangles[3 * (size_t)face + (size_t)v]];
		hit.weights[v] = (float)weights[v];
	}
	hit.point = fem_position_move(body->published_origin, point);
	hit.normal = fem_vec3d_to_vec3(fem_vec3d_scale(normal, 1.0 / sqrt(fem_vec3d_dot(normal, normal))));
	return hit;
}

// ---- ray

typedef struct Ray {
	FemVec3d from, along; // relative to a body's published origin; the whole translation, m
	double end;           // share of the translation that is still searched
} Ray;

static bool clip_slab(double from, double along, double low, double high, double *near, double *far) {
	if (along == 0.0)
		return from >= low && from <= high;
	double a = (low - from) / along, b = (high - from) / along;
	*near = fmax(*near, fmin(a, b));
	*far = fmin(*far, fmax(a, b));
	return *near <= *far;
}

static bool ray_meets_box(const Ray *ray, const FemBody *body) {
	double near = 0.0, far = ray->end;
	const float *low = body->box_min, *high = body->box_max;
	return clip_slab(ray->from.x, ray->along.x, (double)low[0], (double)high[0], &near, &far) &&
		clip_slab(ray->from.y, ray->along.y, (double)low[1], (double)high[1], &near, &far) &&
		clip_slab(ray->from.z, ray->along.z, (double)low[2], (double)high[2], &near, &far);
}

// Moeller & Trumbore 1997, front faces only. Shortens the ray to the hit.
static bool ray_meets_face(Ray *ray, const FemVec3d corners[3], double out_weights[3]) {
	FemVec3d u = fem_vec3d_sub(corners[1], corners[0]), v = fem_vec3d_sub(corners[2], corners[0]);
	FemVec3d side = fem_vec3d_cross(ray->along, v), from = fem_vec3d_sub(ray->from, corners[0]);
	double det = fem_vec3d_dot(u, side);
	if (!(det > 0.0))
		return false;
	double a = fem_vec3d_dot(from, side);
	if (a < 0.0 || a > det)
		return false;
	FemVec3d across = fem_vec3d_cross(from, u);
	double b = fem_vec3d_dot(ray->along, across), share = fem_vec3d_dot(v, across) / det;
	if (b < 0.0 || a + b > det || !(share >= 0.0 && share < ray->end))
		return false;
	ray->end = share;
	out_weights[1] = a / det;
	out_weights[2] = b / det;
	out_weights[0] = 1.0 - out_weights[1] - out_weights[2];
	return true;
}

// The face hit first, or -1.
static int32_t cast_on_body(const FemBody *body, Ray *ray, double out_weights[3]) {
	int32_t hit = -1;
	if (!ray_meets_box(ray, body))
		return -1;
	for (int32_t face = 0; face < body->topology->triangle_count; face++) {
		FemVec3d corners[3];
		face_corners(body, face, corners);
		if (ray_meets_face(ray, corners, out_weights))
			hit = face;
	}
	return hit;
}

FemHit fem_world_cast_ray(FemWorldId id, FemPosition from, FemVec3 translation) {
	FemResult result;
	FemHit best = {0};
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world)
		return best;
	if (!fem_position_is_valid(from) || !fem_vec3_is_finite(translation)) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT, "from or translation is not finite or too far out: correct it.");
		return best;
	}
	Ray ray = {.along = fem_vec3d_from(translation), .end = 1.0};
	double length = sqrt(fem_vec3d_dot(ray.along, ray.along));
	for (int32_t b = 0; b < world->body_capacity; b++) {
		const FemBody *body = world->bodies[b];
		double weights[3];
		if (!body)
			continue;
		ray.from = fem_position_sub(from, body->published_origin);
		int32_t face = cast_on_body(body, &ray, weights);
		if (face < 0)
			continue;
		FemVec3d point = fem_vec3d_add(ray.from, fem_vec3d_scale(ray.along, ray.end));
		best = make_hit(world, b, face, point, weights);
		best.distance = ray.end * length;
	}
	return best;
}

// ---- nearest point

static double outside(double at, double low, double high) {
	return at < low ? low - at : at > high ? at - high : 0.0;
}

static double box_distance_sq(const FemBody *body, FemVec3d p) {
	const float *low = body->box_min, *high = body->box_max;
	double x = outside(p.x, (double)low[0], (double)high[0]), y = outside(p.y, (double)low[1], (double)high[1]);
	double z = outside(p.z, (double)low[2], (double)high[2]);
	return x * x + y * y + z * z;
}

static bool body_contains(const FemBody *body, FemVec3d p) {
	const FemTopology *t = body->topology;
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		FemVec3d corners[4];
		double weights[4];
		if (t->user_of_tet[tet] < 0)
			continue;
		for (int32_t v = 0; v < 4; v++)
			corners[v] = published(body, fem_tet_node(t, tet, v));
		if (fem_closest_in_tet(p, corners, weights) <= 0.0)
			return true;
	}
	return false;
}

typedef struct Nearest {
	int32_t body_index, face;
	FemVec3d point; // relative to the body's published origin
	double weights[3];
	double distance_sq;
} Nearest;

static void search_body(const FemBody *body, int32_t body_index, FemVec3d p, Nearest *nearest) {
	for (int32_t face = 0; face < body->topology->triangle_count; face++) {
		FemVec3d corners[3];
		double weights[3];
		face_corners(body, face, corners);
		FemVec3d normal = face_normal(corners);
		if (!(fem_vec3d_dot(normal, normal) > 0.0))
			continue; // without a normal; its neighbours have its edges
		FemVec3d point = fem_closest_on_triangle(p, corners, weights), offset = fem_vec3d_sub(p, point);
		double distance_sq = fem_vec3d_dot(offset, offset);
		if (distance_sq > nearest->distance_sq || (nearest->face >= 0 && distance_sq == nearest->distance_sq))
			continue;
		*nearest = (Nearest){body_index, face, point, {weights[0], weights[1], weights[2]}, distance_sq};
	}
}

// The closest point on the bodies [begin, end).
static FemHit closest_point(const FemWorld *world, int32_t begin, int32_t end, FemPosition point, double max_distance) {
	if (!fem_position_is_valid(point) || !(max_distance >= 0.0 && max_distance <= 2.0 * FEM_COORDINATE_MAX)) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"point is not finite or too far out, or max_distance is not within 0..%g m.", 2.0 * FEM_COORDINATE_MAX);
		return (FemHit){0};
	}
	Nearest nearest = {.face = -1, .distance_sq = max_distance * max_distance};
	for (int32_t b = begin; b < end; b++) {
		const FemBody *body = world->bodies[b];
		if (!body)
			continue;
		FemVec3d local = fem_position_sub(point, body->published_origin);
		if (box_distance_sq(body, local) <= nearest.distance_sq)
			search_body(body, b, local, &nearest);
	}
	if (nearest.face < 0)
		return (FemHit){0};
	const FemBody *body = world->bodies[nearest.body_index];
	FemHit hit = make_hit(world, nearest.body_index, nearest.face, nearest.point, nearest.weights);
	hit.distance = sqrt(nearest.distance_sq);
	if (body_contains(body, fem_position_sub(point, body->published_origin)))
		hit.distance = -hit.distance;
	return hit;
}

FemHit fem_world_closest_point(FemWorldId id, FemPosition point, double max_distance) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	return world ? closest_point(world, 0, world->body_capacity, point, max_distance) : (FemHit){0};
}

FemHit fem_body_closest_point(FemBodyId id, FemPosition point, double max_distance) {
	FemResult result;
	FemWorld *world;
	if (!fem_body_find_idle(id, &world, &result))
		return (FemHit){0};
	return closest_point(world, id.index1 - 1, id.index1, point, max_distance);
}

// ---- box

static bool has_node_within(const FemBody *body, FemVec3d low, FemVec3d high) {
	if (low.x > (double)body->box_max[0] || low.y > (double)body->box_max[1] || low.z > (double)body->box_max[2] ||
		high.x < (double)body->box_min[0] || high.y < (double)body->box_min[1] || high.z < (double)body->box_min[2])
		return false;
	for (int32_t node = 0; node < body->topology->node_count; node++) {
		FemVec3d p = published(body, node);
		if (p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y && p.z >= low.z && p.z <= high.z)
			return true;
	}
	return false;
}

int32_t fem_world_query_box(
	FemWorldId id, FemPosition min, FemPosition max, FemBodyId *out_bodies, int32_t body_capacity) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world)
		return 0;
	// Written so that NaN fails; infinite boxes are fine.
	if (!(min.x <= max.x && min.y <= max.y && min.z <= max.z)) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The box is empty or not a number: min must not exceed max.");
		return 0;
	}
	int32_t count = 0;
	for (int32_t b = 0; b < world->body_capacity; b++) {
		const FemBody *body = world->bodies[b];
		if (!body ||
			!has_node_within(
				body, fem_position_sub(min, body->published_origin), fem_position_sub(max, body->published_origin)))
			continue;
		if (out_bodies && count < body_capacity)
			out_bodies[count] = fem_body_id(world, b);
		count++;
	}
	return count;
}
