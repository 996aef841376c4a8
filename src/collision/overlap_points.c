#include "collision/overlap_points.h"

#include "base/vec.h"

#define LINE_SHARE 1e-4f // of their spread, added to the second moments of points that may lie in line; chosen
#define SHARE_MIN 0.02f  // a point with less of the contact's area is dropped; chosen: it would carry nothing
#define SAME_POINT 0.05f // of the farthest distance: points nearer than this are one; chosen

// In the plane, relative to the centre.
typedef struct PlanePoints {
	int32_t count;
	float u[FEM_OVERLAP_POINTS], v[FEM_OVERLAP_POINTS]; // m
	float share[FEM_OVERLAP_POINTS];
} PlanePoints;

// The vertices seen along the normal.
typedef struct Shadow {
	FemVec3 e1, e2;                                               // unit tangents
	float u[FEM_POLYHEDRON_VERTICES], v[FEM_POLYHEDRON_VERTICES]; // m, from the centre
	float extent;                                                 // m, along the normal
} Shadow;

// Unit tangents without a branch or a root (Duff et al. 2017, "Building an orthonormal basis, revisited").
static void set_tangents(FemVec3 n, Shadow *shadow) {
	float sign = copysignf(1.0f, n.z), a = -1.0f / (sign + n.z), b = n.x * n.y * a;
	shadow->e1 = fem_vec3(1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x);
	shadow->e2 = fem_vec3(b, sign + n.y * n.y * a, -n.y);
}

static void cast_shadow(const FemPolyhedron *p, FemVec3 centre, FemVec3 normal, Shadow *shadow) {
	float low = INFINITY, high = -INFINITY;
	set_tangents(normal, shadow);
	for (int32_t i = 0; i < p->vertex_count; i++) {
		FemVec3 x = fem_vec3_sub(p->vertex[i], centre);
		float along = fem_vec3_dot(x, normal);
		low = along < low ? along : low;
		high = along > high ? along : high;
		shadow->u[i] = fem_vec3_dot(x, shadow->e1);
		shadow->v[i] = fem_vec3_dot(x, shadow->e2);
	}
	shadow->extent = high - low;
}

static int32_t farthest(const Shadow *shadow, int32_t count) {
	int32_t far = 0;
	float far_sq = -1.0f;
	for (int32_t i = 0; i < count; i++) {
		float distance_sq = shadow->u[i] * shadow->u[i] + shadow->v[i] * shadow->v[i];
		far = distance_sq > far_sq ? i : far;
		far_sq = distance_sq > far_sq ? distance_sq : far_sq;
	}
	return far;
}

// Vertices at the ends of both tangents, the first of them `far`; the same vertex at two ends, or nearly, counts once.
static void choose_extremes(const Shadow *shadow, int32_t count, int32_t far, float same, PlanePoints *out) {
	int32_t extremes[4] = {far, 0, 0, 0};
	float fu = shadow->u[far], fv = shadow->v[far], least_u = INFINITY, least_v = INFINITY, most_v = -INFINITY;
	for (int32_t i = 0; i < count; i++) {
		float along_u = fu * shadow->u[i] + fv * shadow->v[i], along_v = fu * shadow->v[i] - fv * shadow->u[i];
		extremes[1] = along_v > most_v ? i : extremes[1];
		most_v = along_v > most_v ? along_v : most_v;
		extremes[2] = along_u < least_u ? i : extremes[2];
		least_u = along_u < least_u ? along_u : least_u;
		extremes[3] = along_v < least_v ? i : extremes[3];
		least_v = along_v < least_v ? along_v : least_v;
	}
	out->count = 0;
	for (int k = 0; k < 4; k++) {
		float u = shadow->u[extremes[k]], v = shadow->v[extremes[k]];
		bool known = false;
		for (int32_t i = 0; i < out->count; i++)
			known |= fabsf(out->u[i] - u) + fabsf(out->v[i] - v) < same;
		out->u[out->count] = u;
		out->v[out->count] = v;
		out->count += !known;
	}
}

// Least-squares change of equal shares with sum s = 1, sum s p = 0: s_i = 1/n - (p_i - m).M^-1 m, with m the mean of
// the points and M their second moments about it (a little is added to M: points may be in line).
static void solve_shares(PlanePoints *points) {
	int32_t n = points->count;
	float inv = 1.0f / (float)n, mu = 0.0f, mv = 0.0f, uu = 0.0f, uv = 0.0f, vv = 0.0f;
	for (int32_t i = 0; i < n; i++) {
		mu += inv * points->u[i];
		mv += inv * points->v[i];
	}
	for (int32_t i = 0; i < n; i++) {
		float u = points->u[i] - mu, v = points->v[i] - mv;
		uu += u * u;
		uv += u * v;
		vv += v * v;
	}
	float trace = LINE_SHARE * (uu + vv);
	uu += trace;
	vv += trace;
	float determinant = uu * vv - uv * uv, inv_determinant = determinant > 0.0f ? 1.0f / determinant : 0.0f;
	float ku = (vv * mu - uv * mv) * inv_determinant, kv = (uu * mv - uv * mu) * inv_determinant;
	for (int32_t i = 0; i < n; i++)
		points->share[i] = inv - (points->u[i] - mu) * ku - (points->v[i] - mv) * kv;
}

// Drops the point with the least share while that is too small.
static void share_out(PlanePoints *points) {
	for (;;) {
		solve_shares(points);
		int32_t least = 0;
		for (int32_t i = 1; i < points->count; i++)
			least = points->share[i] < points->share[least] ? i : least;
		if (points->count == 1 || points->share[least] >= SHARE_MIN)
			return;
		points->count--;
		for (int32_t i = least; i < points->count; i++) {
			points->u[i] = points->u[i + 1];
			points->v[i] = points->v[i + 1];
		}
	}
}

// What rounding and points in line leave of sum s - 1 and sum s p is taken from all points.
static void centre_points(PlanePoints *points) {
	float mu = 0.0f, mv = 0.0f, sum = 0.0f;
	for (int32_t i = 0; i < points->count; i++)
		sum += points->share[i];
	for (int32_t i = 0; i < points->count; i++) {
		points->share[i] /= sum;
		mu += points->share[i] * points->u[i];
		mv += points->share[i] * points->v[i];
	}
	for (int32_t i = 0; i < points->count; i++) {
		points->u[i] -= mu;
		points->v[i] -= mv;
	}
}

int32_t fem_overlap_points(const FemPolyhedron *p, FemVec3 centre, FemVec3 normal,
	FemOverlapPoint out_points[FEM_OVERLAP_POINTS], float *out_extent) {
	Shadow shadow;
	cast_shadow(p, centre, normal, &shadow);
	*out_extent = shadow.extent;
	int32_t far = farthest(&shadow, p->vertex_count);
	float distance = sqrtf(shadow.u[far] * shadow.u[far] + shadow.v[far] * shadow.v[far]);
	out_points[0] = (FemOverlapPoint){.share = 1.0f};
	if (!(distance > 0.0f))
		return 1;
	PlanePoints points;
	choose_extremes(&shadow, p->vertex_count, far, SAME_POINT * distance, &points);
	share_out(&points);
	centre_points(&points);
	for (int32_t i = 0; i < points.count; i++) {
		FemVec3 u = fem_vec3_scale(shadow.e1, points.u[i]), v = fem_vec3_scale(shadow.e2, points.v[i]);
		out_points[i] = (FemOverlapPoint){.offset = fem_vec3_add(u, v), .share = points.share[i]};
	}
	return points.count;
}
