#include "coupling/point_matching.h"

#include "coupling/rigid_math.h"

#include <math.h>

enum { PASSES = 3 }; // of the iteration below; chosen: it starts from the last tick's rotation

static FemVec3 rotated(const Affine *r, FemVec3 v) {
	double x[3] = {(double)v.x, (double)v.y, (double)v.z};
	affine_apply(r, x, x);
	return (FemVec3){(float)x[0], (float)x[1], (float)x[2]};
}

// Mueller, Bender, Chentanez & Macklin 2016, "A Robust Method to Extract the Rotational Part of Deformations", for
// points: each pass rotates by omega = sum(r x a) / |sum(r . a)|.
float point_matching_rotate(const FemVec3 *points, const FemVec3 *wanted, int32_t count, FemQuat *rotation) {
	float worst = 0.0f;
	for (int pass = 0; pass <= PASSES; pass++) {
		Frame frame = {{0.0, 0.0, 0.0}, *rotation};
		Affine r = affine_from_frame(&frame);
		FemVec3 axis = {0};
		float along = 0.0f;
		worst = 0.0f;
		for (int32_t i = 0; i < count; i++) {
			FemVec3 now = rotated(&r, points[i]);
			axis = vec_add(axis, vec_cross(now, wanted[i]));
			along += vec_dot(now, wanted[i]);
			worst = fmaxf(worst, vec_length(vec_sub(wanted[i], now)));
		}
		float length = vec_length(axis), angle = length / (fabsf(along) + 1e-9f);
		if (pass == PASSES || !(angle >= 1e-5f)) {
			break;
		}
		float half = 0.5f * fminf(angle, 1.5f), s = sinf(half) / length;
		FemQuat q = quat_product((FemQuat){axis.x * s, axis.y * s, axis.z * s, cosf(half)}, *rotation);
		float norm = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
		*rotation = (FemQuat){q.x / norm, q.y / norm, q.z / norm, q.w / norm};
	}
	return worst;
}
