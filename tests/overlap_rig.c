#include "overlap_rig.h"

#include "fem_test.h"

static uint64_t random_state;

void fem_random_seed(uint64_t seed) {
	random_state = seed;
}

float fem_random_unit(void) {
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (float)(random_state >> 40) / 8388608.0f - 1.0f;
}

// One draw a line: C leaves the order of arguments open, and every compiler should see the same numbers.
FemVec3 fem_random_vec3(void) {
	float x = fem_random_unit();
	float y = fem_random_unit();
	float z = fem_random_unit();
	return fem_vec3(x, y, z);
}

FemPosition fem_random_position(void) {
	return fem_position_at(fem_vec3d_from(fem_random_vec3()));
}

FemQuat fem_random_rotation(void) {
	FemQuat q;
	do {
		FemVec3 v = fem_random_vec3();
		q = (FemQuat){v.x, v.y, v.z, fem_random_unit()};
	} while (!fem_quat_normalize(&q));
	return q;
}

bool fem_make_tet_shape_at(FemPosition origin, const FemVec3 corners[4], uint32_t exterior, FemTetShape *tet) {
	memcpy(tet->corners, corners, sizeof tet->corners);
	return fem_convex_tet(origin, corners, exterior, &tet->storage, &tet->shape);
}

bool fem_make_tet_shape(const FemVec3 corners[4], uint32_t exterior, FemTetShape *tet) {
	return fem_make_tet_shape_at(zero_position, corners, exterior, tet);
}

float fem_tet_shape_volume(const FemTetShape *tet) {
	const FemVec3 *p = tet->corners;
	FemVec3 a = fem_vec3_sub(p[1], p[0]), b = fem_vec3_sub(p[2], p[0]), c = fem_vec3_sub(p[3], p[0]);
	return fabsf(fem_vec3_dot(a, fem_vec3_cross(b, c))) / 6.0f;
}

void fem_random_tet_shape(float x, FemTetShape *tet) {
	FemVec3 p[4];
	do
		for (int i = 0; i < 4; i++)
			p[i] = fem_vec3_add(fem_random_vec3(), fem_vec3(x, 0.0f, 0.0f));
	while (!fem_make_tet_shape(p, 15, tet) || fem_tet_shape_volume(tet) < 0.1f);
}

bool fem_convex_contains(const FemConvex *shape, FemPosition x) {
	FemVec3 local = fem_vec3d_to_vec3(fem_position_sub(x, shape->origin));
	for (int32_t i = 0; i < shape->plane_count; i++)
		if (fem_vec3_dot(fem_vec3_from(shape->planes[i]), local) > shape->planes[i].w)
			return false;
	return true;
}

double fem_monte_carlo_deviation(double volume, int samples) {
	double share = volume / 8.0;
	return 8.0 * sqrt(fmax(share, 1.0 / samples) / samples);
}

void fem_check_overlap(const FemOverlap *o) {
	FEM_CHECK(o->volume > 0.0f && o->surface > 0.0f && o->area > 0.0f && o->depth > 0.0f);
	FEM_CHECK(o->depth <= o->volume / o->area * 1.0001f);
	FEM_CHECK(o->point_count >= 1 && o->point_count <= FEM_OVERLAP_POINTS);
	float sum = 0.0f, size = sqrtf(o->surface);
	FemVec3 mean = {0.0f, 0.0f, 0.0f};
	for (int32_t i = 0; i < o->point_count; i++) {
		sum += o->points[i].share;
		mean = fem_vec3_add(mean, fem_vec3_scale(o->points[i].offset, o->points[i].share));
		FEM_CHECK(o->points[i].share > 0.0f);
		FEM_CHECK_NEAR(fem_vec3_dot(o->points[i].offset, o->normal), 0.0, 1e-5 * (double)size);
	}
	FEM_CHECK_NEAR(sum, 1.0, 1e-5);
	FEM_CHECK_NEAR(fem_vec3_length(mean), 0.0, 1e-5 * (double)size);
	FEM_CHECK_NEAR(fem_vec3_length(o->normal), o->flags & FEM_OVERLAP_NO_DIRECTION ? 0.0 : 1.0, 1e-5);
}

void fem_check_direction(FemVec3 actual, FemVec3 expected, float tolerance) {
	FEM_CHECK_NEAR(actual.x, expected.x, tolerance);
	FEM_CHECK_NEAR(actual.y, expected.y, tolerance);
	FEM_CHECK_NEAR(actual.z, expected.z, tolerance);
}
