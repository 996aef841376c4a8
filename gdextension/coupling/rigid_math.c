#include "coupling/rigid_math.h"

#include <math.h>

// ---- transforms

// Godot keeps a Basis by rows.
Affine affine_from(const GdTransform3D *transform) {
	const GdBasis *b = &transform->basis;
	const GdVector3 *o = &transform->origin;
	return (Affine){
		.m = {{(double)b->x.x, (double)b->x.y, (double)b->x.z}, {(double)b->y.x, (double)b->y.y, (double)b->y.z},
			{(double)b->z.x, (double)b->z.y, (double)b->z.z}},
		.t = {(double)o->x, (double)o->y, (double)o->z},
	};
}

void affine_apply(const Affine *a, const double x[3], double out[3]) {
	double y[3];
	for (int i = 0; i < 3; i++) {
		y[i] = a->m[i][0] * x[0] + a->m[i][1] * x[1] + a->m[i][2] * x[2] + a->t[i];
	}
	for (int i = 0; i < 3; i++) {
		out[i] = y[i];
	}
}

Affine affine_product(const Affine *a, const Affine *b) {
	Affine out = {0};
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			for (int k = 0; k < 3; k++) {
				out.m[i][j] += a->m[i][k] * b->m[k][j];
			}
		}
	}
	affine_apply(a, b->t, out.t);
	return out;
}

Affine affine_from_frame(const Frame *frame) {
	double x = (double)frame->rotation.x, y = (double)frame->rotation.y, z = (double)frame->rotation.z,
		   w = (double)frame->rotation.w;
	return (Affine){
		.m = {{1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
			{2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
			{2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)}},
		.t = {frame->position.x, frame->position.y, frame->position.z},
	};
}

Affine affine_inverse_of_frame(const Frame *frame) {
	Affine a = affine_from_frame(frame), out = {0};
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++) {
			out.m[i][k] = a.m[k][i];
			out.t[i] -= a.m[k][i] * a.t[k];
		}
	}
	return out;
}

GdTransform3D transform_product(const GdTransform3D *a, const GdTransform3D *b) {
	Affine x = affine_from(a), y = affine_from(b), z = affine_product(&x, &y);
	GdTransform3D out;
	float *rows = &out.basis.x.x;
	for (int i = 0; i < 9; i++) {
		rows[i] = (float)z.m[i / 3][i % 3];
	}
	out.origin = (GdVector3){(float)z.t[0], (float)z.t[1], (float)z.t[2]};
	return out;
}

double affine_determinant(const Affine *a) {
	const double(*m)[3] = a->m;
	return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
		m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

bool affine_is_sound(const Affine *a) {
	double size_sq = 0.0, sum = 0.0;
	for (int i = 0; i < 3; i++) {
		sum += a->t[i];
		for (int k = 0; k < 3; k++) {
			size_sq += a->m[i][k] * a->m[i][k];
		}
	}
	return isfinite(sum) && isfinite(size_sq) && size_sq < 1e12 &&
		fabs(affine_determinant(a)) > 1e-9 * size_sq * sqrt(size_sq);
}

// ---- rotations

// Shepperd's method: the largest of the four components first, so that no small number is divided by.
static FemQuat quat_from_axes(const double x[3], const double y[3], const double z[3]) {
	double trace = x[0] + y[1] + z[2], s, q[4];
	if (trace > 0.0) {
		s = 2.0 * sqrt(trace + 1.0);
		q[0] = (y[2] - z[1]) / s, q[1] = (z[0] - x[2]) / s, q[2] = (x[1] - y[0]) / s, q[3] = 0.25 * s;
	} else if (x[0] > y[1] && x[0] > z[2]) {
		s = 2.0 * sqrt(1.0 + x[0] - y[1] - z[2]);
		q[0] = 0.25 * s, q[1] = (y[0] + x[1]) / s, q[2] = (z[0] + x[2]) / s, q[3] = (y[2] - z[1]) / s;
	} else if (y[1] > z[2]) {
		s = 2.0 * sqrt(1.0 + y[1] - x[0] - z[2]);
		q[0] = (y[0] + x[1]) / s, q[1] = 0.25 * s, q[2] = (z[1] + y[2]) / s, q[3] = (z[0] - x[2]) / s;
	} else {
		s = 2.0 * sqrt(1.0 + z[2] - x[0] - y[1]);
		q[0] = (z[0] + x[2]) / s, q[1] = (z[1] + y[2]) / s, q[2] = 0.25 * s, q[3] = (x[1] - y[0]) / s;
	}
	return (FemQuat){(float)q[0], (float)q[1], (float)q[2], (float)q[3]};
}

static void normalize(double v[3]) {
	double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
	for (int i = 0; i < 3 && length > 0.0; i++) {
		v[i] /= length;
	}
}

FemQuat affine_rotation(const Affine *a) {
	double x[3], y[3], z[3], along = 0.0;
	for (int i = 0; i < 3; i++) {
		x[i] = a->m[i][0];
		y[i] = a->m[i][1];
	}
	normalize(x);
	for (int i = 0; i < 3; i++) {
		along += x[i] * y[i];
	}
	for (int i = 0; i < 3; i++) {
		y[i] -= along * x[i];
	}
	normalize(y);
	for (int i = 0; i < 3; i++) {
		z[i] = x[(i + 1) % 3] * y[(i + 2) % 3] - x[(i + 2) % 3] * y[(i + 1) % 3];
	}
	FemQuat q = quat_from_axes(x, y, z);
	bool is_good = isfinite(q.x + q.y + q.z + q.w) && q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w > 0.25f;
	return is_good ? q : (FemQuat){0.0f, 0.0f, 0.0f, 1.0f};
}

Frame frame_from_axes(FemPosition position, const GdBasis *axes) {
	GdTransform3D transform = {.basis = *axes};
	Affine a = affine_from(&transform);
	return (Frame){position, affine_rotation(&a)};
}

FemQuat quat_product(FemQuat a, FemQuat b) {
	return (FemQuat){
		a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
		a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
		a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
		a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
	};
}

FemQuat quat_conjugate(FemQuat q) {
	return (FemQuat){-q.x, -q.y, -q.z, q.w};
}

FemQuat quat_from_rotation(FemVec3 rotation) {
	float angle = vec_length(rotation), half = 0.5f * angle, scale = angle > 1e-6f ? sinf(half) / angle : 0.5f;
	return (FemQuat){scale * rotation.x, scale * rotation.y, scale * rotation.z, cosf(half)};
}

FemVec3 quat_rotate(FemQuat q, FemVec3 v) {
	FemVec3 axis = {q.x, q.y, q.z}, across = vec_scale(vec_cross(axis, v), 2.0f);
	return vec_add(v, vec_add(vec_scale(across, q.w), vec_cross(axis, across)));
}

FemVec3 quat_rotation_between(FemQuat a, FemQuat b) {
	FemQuat d = quat_product(b, quat_conjugate(a));
	float sign = d.w < 0.0f ? -1.0f : 1.0f, length = sqrtf(d.x * d.x + d.y * d.y + d.z * d.z);
	float factor = length > 1e-6f ? 2.0f * atan2f(length, sign * d.w) / length : 2.0f;
	return (FemVec3){sign * factor * d.x, sign * factor * d.y, sign * factor * d.z};
}

// ---- vectors

float vec_length(FemVec3 a) {
	return sqrtf(vec_dot(a, a));
}

FemVec3 vec_limited(FemVec3 a, float limit) {
	float length = vec_length(a);
	return length > limit ? vec_scale(a, limit / length) : a;
}
