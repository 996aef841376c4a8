// Spheres, capsules and cylinders by tangent planes, chosen for one tet.
//
// For a unit m let s be the least m.x over the tet, relative to the most m.p over the shape's core (a point or
// segment). Where the shape reaches into the tet its surface normals u have u.m >= s / R: they are within phi = acos(s
// / R) of m. So only this cone needs planes. m is the direction from the core to the nearest point of the tet: there s
// is largest, the cone smallest, and the plane with normal m touches where the overlap is deepest.
#include "base/vec.h"
#include "collision/convex.h"
#include "geometry/closest.h"

#define SECTORS 8 // planes a ring: chosen, the error of volume and area stays below 6 % (convex.h)
// Most between rings, rad; chosen with the number of sectors: planes about as far apart both ways.
#define RING_STEP 0.4f
#define RINGS_MIN 2    // chosen: with one ring a shallow cap would be a single cone
#define RINGS_MAX 7    // 1 + 7 * 8 + 1 planes
#define CONE_MIN 1e-3f // rad; a cap this small is 5e-7 R deep: what float can tell from touching
// Of the radius. Tangent planes lie outside: pulled in so that volume and area are right on average (convex.h).
#define PULL_IN 0.04f
#define FAN_HALF 8 // side planes of a cylinder on each side of the first: as dense as the sectors of a ring

// The core, in the tet's frame, and the cone.
typedef struct Round {
	FemVec3 ends[2];   // m
	float radius;      // m
	FemVec3 direction; // m of the note above
	float cone;        // rad, phi
} Round;

static FemVec3 unit_or(FemVec3 a, FemVec3 otherwise) {
	float length = fem_vec3_length(a);
	return length > 0.0f ? fem_vec3_scale(a, 1.0f / length) : otherwise;
}

// A unit vector normal to n.
static FemVec3 any_tangent(FemVec3 n) {
	FemVec3 axis = fabsf(n.x) < 0.6f ? fem_vec3(1.0f, 0.0f, 0.0f) : fem_vec3(0.0f, 1.0f, 0.0f);
	return unit_or(fem_vec3_cross(n, axis), axis);
}

static bool start_round(const FemPosition ends[2], float radius, const FemConvex *tet, FemConvexStorage *storage,
	Round *round, FemConvex *out_shape) {
	*out_shape = (FemConvex){.origin = tet->origin, .planes = storage->planes, .vertices = storage->vertices};
	if (!tet->is_tet || tet->plane_count != 4 || !(radius > 0.0f && radius < FEM_CONVEX_EXTENT))
		return false;
	for (int i = 0; i < 2; i++) {
		round->ends[i] = fem_vec3d_to_vec3(fem_position_sub(ends[i], tet->origin));
		float far = fabsf(round->ends[i].x) + fabsf(round->ends[i].y) + fabsf(round->ends[i].z);
		if (!(far < FEM_CONVEX_EXTENT))
			return false;
	}
	round->radius = radius;
	for (int i = 0; i < FEM_CONVEX_PLANES / 32; i++)
		out_shape->exterior[i] = ~0u;
	FemVec3 a = round->ends[0], b = round->ends[1];
	out_shape->box_min = fem_vec3(fminf(a.x, b.x) - radius, fminf(a.y, b.y) - radius, fminf(a.z, b.z) - radius);
	out_shape->box_max = fem_vec3(fmaxf(a.x, b.x) + radius, fmaxf(a.y, b.y) + radius, fmaxf(a.z, b.z) + radius);
	return true;
}

// Least m.x over the tet minus most m.p over the core.
static float gap_along(const Round *round, const FemConvex *tet, FemVec3 m) {
	float least = INFINITY;
	for (int i = 0; i < 4; i++)
		least = fminf(least, fem_vec3_dot(m, fem_vec3_from(tet->vertices[i])));
	return least - fmaxf(fem_vec3_dot(m, round->ends[0]), fem_vec3_dot(m, round->ends[1]));
}

// ---- separation from the tet

static void keep_shorter(FemVec3 separation, FemVec3 *best) {
	if (fem_vec3_dot(separation, separation) < fem_vec3_dot(*best, *best))
		*best = separation;
}

static FemVec3 from_end(FemVec3 end, const FemVec3d corners[4]) {
	double weights[4];
	fem_closest_in_tet(fem_vec3d_from(end), corners, weights);
	FemVec3d at = {0.0, 0.0, 0.0};
	for (int i = 0; i < 4; i++)
		at = fem_vec3d_add(at, fem_vec3d_scale(corners[i], weights[i]));
	return fem_vec3_sub(fem_vec3d_to_vec3(at), end);
}

static float clamp01(float x) {
	return x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x;
}

// From the segment p + s d to the segment q + t e (Ericson 2005, 5.1.9; for parallel ones the ends do the rest).
static FemVec3 between_segments(FemVec3 p, FemVec3 d, FemVec3 q, FemVec3 e) {
	FemVec3 r = fem_vec3_sub(p, q);
	float dd = fem_vec3_dot(d, d), ee = fem_vec3_dot(e, e), de = fem_vec3_dot(d, e);
	float dr = fem_vec3_dot(d, r), er = fem_vec3_dot(e, r), denominator = dd * ee - de * de;
	float s = denominator > 1e-6f * dd * ee ? clamp01((de * er - dr * ee) / denominator) : 0.5f;
	float t = ee > 0.0f ? clamp01((de * s + er) / ee) : 0.0f;
	s = dd > 0.0f ? clamp01((de * t - dr) / dd) : 0.0f;
	FemVec3 from = fem_vec3_add(p, fem_vec3_scale(d, s)), to = fem_vec3_add(q, fem_vec3_scale(e, t));
	return fem_vec3_sub(to, from);
}

// Shortest vector from the core to the tet, unless the core goes through it.
static FemVec3 separation_from_tet(const Round *round, const FemConvex *tet) {
	FemVec3d corners[4];
	for (int i = 0; i < 4; i++)
		corners[i] = fem_vec3d_from4(tet->vertices[i]);
	FemVec3 axis = fem_vec3_sub(round->ends[1], round->ends[0]);
	FemVec3 best = from_end(round->ends[0], corners);
	if (fem_vec3_dot(axis, axis) == 0.0f)
		return best;
	keep_shorter(from_end(round->ends[1], corners), &best);
	for (int i = 0; i < 4; i++)
		for (int j = i + 1; j < 4; j++) {
			FemVec3 q = fem_vec3_from(tet->vertices[i]), e = fem_vec3_sub(fem_vec3_from(tet->vertices[j]), q);
			keep_shorter(between_segments(round->ends[0], axis, q, e), &best);
		}
	return best;
}

// For a core inside the tet: the inward normal of the exterior face (of any, if none is exterior) through which it is
// least deep.
static FemVec3 inward_direction(const Round *round, const FemConvex *tet) {
	FemVec3 best = fem_vec3(0.0f, 1.0f, 0.0f);
	float shallowest = -INFINITY;
	for (int i = 0; i < 4; i++) {
		FemVec3 m = fem_vec3_scale(fem_vec3_from(tet->planes[i]), -1.0f);
		float depth = -tet->planes[i].w - fmaxf(fem_vec3_dot(m, round->ends[0]), fem_vec3_dot(m, round->ends[1]));
		if (tet->exterior[0] != 0 && !fem_convex_exterior(tet, i))
			continue;
		if (depth > shallowest) {
			shallowest = depth;
			best = m;
		}
	}
	return best;
}

// Direction and cone; false when the shape does not reach the tet.
static bool aim(const FemConvex *tet, Round *round) {
	FemVec3 separation = separation_from_tet(round, tet);
	float distance = fem_vec3_length(separation);
	if (distance >= round->radius)
		return false;
	FemVec3 m = unit_or(separation, fem_vec3(0.0f, 1.0f, 0.0f));
	float s = gap_along(round, tet, m);
	// a core that touches the tet or goes through it has no separation vector
	if (!(distance > 1e-4f * round->radius && s > 0.9f * distance)) {
		m = inward_direction(round, tet);
		s = gap_along(round, tet, m);
	}
	if (!(s < round->radius))
		return false;
	round->direction = m;
	round->cone = fmaxf(acosf(fmaxf(s / round->radius, -1.0f)), CONE_MIN);
	return true;
}

float fem_convex_round_gap(const FemPosition ends[2], float radius, const FemConvex *tet) {
	FemConvexStorage storage;
	FemConvex shape;
	Round round;
	if (!start_round(ends, radius, tet, &storage, &round, &shape))
		return 0.0f;
	// Where the core goes through the tet the vector is none of separation, and the gap along it negative.
	FemVec3 separation = separation_from_tet(&round, tet);
	FemVec3 m = unit_or(separation, fem_vec3(0.0f, 1.0f, 0.0f));
	return fmaxf(gap_along(&round, tet, m) - radius, 0.0f);
}

// ---- sphere and capsule

// The tangent plane with unit normal n, pulled in by part of the radius.
static FemVec4 tangent_plane(const Round *round, FemVec3 n, float pull_in) {
	float core = fmaxf(fem_vec3_dot(n, round->ends[0]), fem_vec3_dot(n, round->ends[1]));
	return (FemVec4){n.x, n.y, n.z, core + round->radius * (1.0f - pull_in)};
}

// One plane at the pole, then rings of planes up to the edge of the cone. The first of each ring is square to the axis
// of a capsule, so that its side is as exact as can be.
static int32_t cover_cone(const Round *round, FemVec4 *planes) {
	// Cosine and sine of the eighths of a turn.
	static const float directions[SECTORS][2] = {
		{1.0f, 0.0f},
		{0.70710678f, 0.70710678f},
		{0.0f, 1.0f},
		{-0.70710678f, 0.70710678f},
		{-1.0f, 0.0f},
		{-0.70710678f, -0.70710678f},
		{0.0f, -1.0f},
		{0.70710678f, -0.70710678f},
	};
	FemVec3 m = round->direction, axis = fem_vec3_sub(round->ends[1], round->ends[0]);
	FemVec3 t1 = unit_or(fem_vec3_cross(axis, m), any_tangent(m)), t2 = fem_vec3_cross(m, t1);
	float ring_count = fminf(fmaxf(ceilf(round->cone / RING_STEP), (float)RINGS_MIN), (float)RINGS_MAX);
	int32_t count = 0;
	planes[count++] = tangent_plane(round, m, 0.0f);
	for (int ring = 1; ring <= (int)ring_count; ring++) {
		float angle = round->cone * (float)ring / ring_count, sine = sinf(angle), cosine = cosf(angle);
		for (int sector = 0; sector < SECTORS; sector++) {
			const float *direction = directions[sector];
			FemVec3 sideways = fem_vec3_add(fem_vec3_scale(t1, direction[0]), fem_vec3_scale(t2, direction[1]));
			FemVec3 n = fem_vec3_add(fem_vec3_scale(m, cosine), fem_vec3_scale(sideways, sine));
			planes[count++] = tangent_plane(round, n, PULL_IN * sine * sine);
		}
	}
	return count;
}

bool fem_convex_capsule(
	const FemPosition ends[2], float radius, const FemConvex *tet, FemConvexStorage *storage, FemConvex *out_shape) {
	Round round;
	if (!start_round(ends, radius, tet, storage, &round, out_shape) || !aim(tet, &round))
		return false;
	out_shape->plane_count = cover_cone(&round, storage->planes);
	return true;
}

bool fem_convex_sphere(
	FemPosition centre, float radius, const FemConvex *tet, FemConvexStorage *storage, FemConvex *out_shape) {
	FemPosition ends[2] = {centre, centre};
	return fem_convex_capsule(ends, radius, tet, storage, out_shape);
}

// ---- cylinder
// For a cylinder, in the plane across its axis: the projection of the tet (its shadow), the nearest point of that, and
// a fan of planes about the direction there. The ends are two planes more.

typedef struct Shadow {
	float u[4], v[4]; // m, from the axis
} Shadow;

// Vector from the axis to the shadow's nearest point, and its length; (0, 0) when the axis goes through the shadow.
static float separation_from_shadow(const Shadow *shadow, float *out_u, float *out_v) {
	float best_sq = INFINITY;
	for (int i = 0; i < 4; i++)
		for (int j = i + 1; j < 4; j++) {
			float du = shadow->u[j] - shadow->u[i], dv = shadow->v[j] - shadow->v[i], length_sq = du * du + dv * dv;
			float t = length_sq > 0.0f ? clamp01(-(shadow->u[i] * du + shadow->v[i] * dv) / length_sq) : 0.0f;
			float u = shadow->u[i] + t * du, v = shadow->v[i] + t * dv;
			if (u * u + v * v >= best_sq)
				continue;
			best_sq = u * u + v * v;
			*out_u = u;
			*out_v = v;
		}
	for (int i = 0; i < 4; i++) // all of the shadow is beyond its nearest point, or that is none
		if (!(shadow->u[i] * *out_u + shadow->v[i] * *out_v >= 0.99f * best_sq))
			return 0.0f;
	return sqrtf(best_sq);
}

// Planes at angles up to the cone on both sides of t1. With the whole circle the two last ones are the same.
static int32_t cover_fan(const Round *round, FemVec3 t1, FemVec3 t2, FemVec4 *planes) {
	int32_t count = 0;
	for (int i = -FAN_HALF; i <= FAN_HALF; i++) {
		float angle = round->cone * (float)i / (float)FAN_HALF;
		FemVec3 n = fem_vec3_add(fem_vec3_scale(t1, cosf(angle)), fem_vec3_scale(t2, sinf(angle)));
		planes[count++] = tangent_plane(round, n, 0.0f);
	}
	return count;
}

bool fem_convex_cylinder(
	const FemPosition ends[2], float radius, const FemConvex *tet, FemConvexStorage *storage, FemConvex *out_shape) {
	Round round;
	if (!start_round(ends, radius, tet, storage, &round, out_shape))
		return false;
	FemVec3 axis = fem_vec3_sub(round.ends[1], round.ends[0]);
	float length = fem_vec3_length(axis);
	if (!(length > 0.0f))
		return false;
	axis = fem_vec3_scale(axis, 1.0f / length);
	FemVec3 t1 = any_tangent(axis), t2 = fem_vec3_cross(axis, t1);
	Shadow shadow;
	for (int i = 0; i < 4; i++) {
		FemVec3 x = fem_vec3_sub(fem_vec3_from(tet->vertices[i]), round.ends[0]);
		shadow.u[i] = fem_vec3_dot(x, t1);
		shadow.v[i] = fem_vec3_dot(x, t2);
	}
	float u = 1.0f, v = 0.0f, distance = separation_from_shadow(&shadow, &u, &v);
	if (distance >= radius)
		return false;
	round.cone = distance > 0.0f ? fmaxf(acosf(distance / radius), CONE_MIN) : 3.14159265f;
	FemVec3 first = unit_or(fem_vec3_add(fem_vec3_scale(t1, u), fem_vec3_scale(t2, v)), t1);
	int32_t count = cover_fan(&round, first, fem_vec3_cross(axis, first), storage->planes);
	storage->planes[count++] = (FemVec4){axis.x, axis.y, axis.z, fem_vec3_dot(axis, round.ends[1])};
	storage->planes[count++] = (FemVec4){-axis.x, -axis.y, -axis.z, -fem_vec3_dot(axis, round.ends[0])};
	out_shape->plane_count = count;
	return true;
}
