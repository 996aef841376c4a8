#include "dynamics/elements.h"
#include "fem_constants.h"
#include "model/body.h"
#include "model/body_step.h"
#include "model/plate_elements.h"

#include <math.h>

// A column shorter than this gives no direction: the last rotation stays. Above a float's rounding of 1.
#define QR_TINY 1e-6f

FemElementKernel *fem_element_kernel(FemSimdLevel level) {
	switch (level) {
#ifndef FEM_NO_AVX2
	case FEM_SIMD_AVX2: return fem_elements_update_avx2;
#endif
	case FEM_SIMD_SCALAR: return fem_elements_update_scalar;
	default: return fem_elements_update_sse2;
	}
}

static FemElementArguments arguments_of(FemBody *body, int32_t batch_begin, int32_t batch_end, float dt) {
	return (FemElementArguments){
		.nodes = body->topology->batch_nodes,
		.batches = body->batches,
		.rotation = body->rotation,
		.plates = body->plates,
		.fibres = body->fibres,
		.position = body->position,
		.velocity = body->velocity,
		.out_blocks = body->step->tet_blocks,
		.out_forces = body->step->tet_forces,
		.out_plates = body->step->tet_plates,
		.out_fibres = body->step->tet_fibres,
		.dt = dt,
		.begin = batch_begin,
		.end = batch_end,
	};
}

// How many tets of a batch plate cells act for, and which; and those of cells that are none any more.
static int32_t count_taken(
	const FemBody *body, int32_t batch, int32_t taken[FEM_LANES], int32_t plain[FEM_LANES], bool *out_any_plain) {
	int32_t count = 0;
	*out_any_plain = false;
	for (int32_t lane = 0; lane < FEM_LANES; lane++) {
		int32_t tet = batch * FEM_LANES + lane;
		bool is_taken = body->topology->user_of_tet[tet] >= 0 && fem_acting_cell(body, tet) >= 0;
		bool is_plain = !is_taken && fem_tet_is_plain(body, tet);
		taken[lane] = is_taken ? -1 : 0;
		plain[lane] = is_plain ? -1 : 0;
		count += is_taken;
		*out_any_plain = *out_any_plain || is_plain;
	}
	return count;
}

// Batches that plate cells act for need no more than rotations; where a batch has both kinds, cells flow by themselves.
static void run_kernel(const FemBody *body, FemElementArguments arguments) {
	FemElementKernel *kernel = fem_element_kernel(fem_simd_level());
	int32_t end = arguments.end;
	if (!body->cells) {
		kernel(&arguments);
		return;
	}
	for (int32_t batch = arguments.begin; batch < end; batch++) {
		_Alignas(32) int32_t taken[FEM_LANES], plain[FEM_LANES];
		FemElementArguments one = arguments;
		bool any_plain;
		int32_t count = count_taken(body, batch, taken, plain, &any_plain);
		one.is_bare = count == FEM_LANES;
		one.taken = count > 0 ? taken : NULL;
		one.plain = any_plain ? plain : NULL;
		one.begin = batch;
		one.end = batch + 1;
		kernel(&one);
	}
}

void fem_elements_update(FemBody *body, int32_t batch_begin, int32_t batch_end, float dt, bool is_bare) {
	FemElementArguments arguments = arguments_of(body, batch_begin, batch_end, dt);
	if (is_bare) {
		arguments.is_bare = true;
		fem_element_kernel(fem_simd_level())(&arguments);
		return;
	}
	if (!body->breaking)
		arguments.plastics = body->plastics;
	run_kernel(body, arguments);
}

void fem_elements_update_stress(FemBody *body, int32_t batch_begin, int32_t batch_end, float dt, bool viscous) {
	FemElementArguments arguments = arguments_of(body, batch_begin, batch_end, dt);
	arguments.plastics = body->plastics;
	arguments.out_stress = body->step->tet_stress;
	arguments.viscous_stress = viscous ? 1.0f : 0.0f;
	run_kernel(body, arguments);
}

// g' = (I + e^P)^-1 g, as where the tet flowed (dynamics/element_kernel.inl).
bool fem_tet_set_plastic_strain(FemBody *body, int32_t tet, const float p[6]) {
	FemBatchPlastic *plastic = &body->plastics[tet / FEM_LANES];
	int32_t lane = tet % FEM_LANES;
	float a = 1.0f + p[0], b = 1.0f + p[1], c = 1.0f + p[2];
	float m00 = b * c - p[4] * p[4], m11 = a * c - p[5] * p[5], m22 = a * b - p[3] * p[3];
	float m01 = p[5] * p[4] - p[3] * c, m02 = p[3] * p[4] - p[5] * b, m12 = p[3] * p[5] - p[4] * a;
	float determinant = a * m00 + p[3] * m01 + p[5] * m02;
	if (!(determinant > 0.0f && determinant < INFINITY))
		return false;
	for (int i = 0; i < 6; i++)
		plastic->strain[i][lane] = p[i];
	for (int k = 0; k < 3; k++) {
		float *g = &body->batches[tet / FEM_LANES].gradient[k][0][lane], inverse = 1.0f / determinant;
		float g0 = plastic->gradient[k][0][lane] * inverse, g1 = plastic->gradient[k][1][lane] * inverse;
		float g2 = plastic->gradient[k][2][lane] * inverse;
		g[0] = m00 * g0 + m01 * g1 + m02 * g2;
		g[FEM_LANES] = m01 * g0 + m11 * g1 + m12 * g2;
		g[2 * FEM_LANES] = m02 * g0 + m12 * g1 + m22 * g2;
	}
	return true;
}

static void quaternion_from_axes(const float q1[3], const float q2[3], const float q3[3], float out[4]) {
	// Shepperd's method: divide by the largest component.
	float xx = q1[0], yy = q2[1], zz = q3[2];
	float trace = xx + yy + zz;
	if (trace > xx && trace > yy && trace > zz) {
		float s = 2.0f * sqrtf(1.0f + trace);
		out[0] = (q2[2] - q3[1]) / s, out[1] = (q3[0] - q1[2]) / s, out[2] = (q1[1] - q2[0]) / s, out[3] = 0.25f * s;
	} else if (xx >= yy && xx >= zz) {
		float s = 2.0f * sqrtf(1.0f + xx - yy - zz);
		out[0] = 0.25f * s, out[1] = (q1[1] + q2[0]) / s, out[2] = (q3[0] + q1[2]) / s, out[3] = (q2[2] - q3[1]) / s;
	} else if (yy >= zz) {
		float s = 2.0f * sqrtf(1.0f + yy - xx - zz);
		out[0] = (q1[1] + q2[0]) / s, out[1] = 0.25f * s, out[2] = (q2[2] + q3[1]) / s, out[3] = (q3[0] - q1[2]) / s;
	} else {
		float s = 2.0f * sqrtf(1.0f + zz - xx - yy);
		out[0] = (q3[0] + q1[2]) / s, out[1] = (q2[2] + q3[1]) / s, out[2] = 0.25f * s, out[3] = (q1[1] - q2[0]) / s;
	}
}

void fem_rotation_by_qr(const float f[9], float quaternion[4]) {
	float q1[3] = {f[0], f[3], f[6]}, q2[3] = {f[1], f[4], f[7]};
	float length = sqrtf(q1[0] * q1[0] + q1[1] * q1[1] + q1[2] * q1[2]);
	if (!(length > QR_TINY))
		return;
	for (int i = 0; i < 3; i++)
		q1[i] /= length;
	float along = q1[0] * q2[0] + q1[1] * q2[1] + q1[2] * q2[2];
	for (int i = 0; i < 3; i++)
		q2[i] -= along * q1[i];
	length = sqrtf(q2[0] * q2[0] + q2[1] * q2[1] + q2[2] * q2[2]);
	if (!(length > QR_TINY))
		return;
	for (int i = 0; i < 3; i++)
		q2[i] /= length;
	float q3[3] = {q1[1] * q2[2] - q1[2] * q2[1], q1[2] * q2[0] - q1[0] * q2[2], q1[0] * q2[1] - q1[1] * q2[0]};
	quaternion_from_axes(q1, q2, q3, quaternion);
	float norm = sqrtf(quaternion[0] * quaternion[0] + quaternion[1] * quaternion[1] + quaternion[2] * quaternion[2] +
		quaternion[3] * quaternion[3]);
	for (int i = 0; i < 4; i++)
		quaternion[i] /= norm;
}

#define NEAREST_STEPS 60         // bound on work; chosen: few are crushed at a time
#define NEAREST_CONVERGED 1e-10f // square of half the angle, rad: 1e-5 rad, what a float quaternion holds
// Of the stretch that an angle is divided by (docs/method.md, "Crushed tets"); chosen: a tet this small has no axes.
#define NEAREST_LEAST 1e-3f

static void rotation_from(const float q[4], float r[9]) {
	float x = q[0], y = q[1], z = q[2], w = q[3];
	r[0] = 1.0f - 2.0f * (y * y + z * z), r[1] = 2.0f * (x * y - w * z), r[2] = 2.0f * (x * z + w * y);
	r[3] = 2.0f * (x * y + w * z), r[4] = 1.0f - 2.0f * (x * x + z * z), r[5] = 2.0f * (y * z - w * x);
	r[6] = 2.0f * (x * z - w * y), r[7] = 2.0f * (y * z + w * x), r[8] = 1.0f - 2.0f * (x * x + y * y);
}

// Half the rotation vector that takes the columns r_k of the rotation nearer to those of F: sum r_k x f_k / |sum r_k .
// f_k|, eq. (7) of Mueller et al. 2016, "A Robust Method to Extract the Rotational Part of Deformations".
static void half_rotation(const float f[9], const float q[4], float out[3]) {
	float r[9], along = 0.0f;
	rotation_from(q, r);
	out[0] = out[1] = out[2] = 0.0f;
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 3; i++) {
			int j = (i + 1) % 3, l = (i + 2) % 3;
			out[i] += r[3 * j + k] * f[3 * l + k] - r[3 * l + k] * f[3 * j + k];
			along += r[3 * i + k] * f[3 * i + k];
		}
	}
	for (int i = 0; i < 3; i++)
		out[i] *= 0.5f / (fabsf(along) + NEAREST_LEAST);
}

// All corners in one point, as those of a tet that left its body.
static bool is_nothing(const float f[9]) {
	bool is_zero = true;
	for (int i = 0; i < 9; i++)
		is_zero &= f[i] == 0.0f;
	return is_zero;
}

void fem_rotation_of_crushed(const float f[9], float q[4]) {
	if (is_nothing(f))
		return;
	fem_rotation_by_qr(f, q);
	for (int step = 0; step < NEAREST_STEPS; step++) {
		float h[3], x = q[0], y = q[1], z = q[2], w = q[3];
		half_rotation(f, q, h);
		float square = h[0] * h[0] + h[1] * h[1] + h[2] * h[2];
		float next[4] = {x + h[0] * w + h[1] * z - h[2] * y, y + h[1] * w + h[2] * x - h[0] * z,
			z + h[2] * w + h[0] * y - h[1] * x, w - h[0] * x - h[1] * y - h[2] * z};
		float norm = sqrtf(next[0] * next[0] + next[1] * next[1] + next[2] * next[2] + next[3] * next[3]);
		if (!(norm > 0.0f && norm < INFINITY) || !(square > NEAREST_CONVERGED))
			return;
		for (int i = 0; i < 4; i++)
			q[i] = next[i] / norm;
	}
}

FemQuat fem_quaternion_of(double r[3][3]) {
	float f[9] = {(float)r[0][0], (float)r[0][1], (float)r[0][2], (float)r[1][0], (float)r[1][1], (float)r[1][2],
		(float)r[2][0], (float)r[2][1], (float)r[2][2]};
	float q[4] = {0.0f, 0.0f, 0.0f, 1.0f};
	fem_rotation_by_qr(f, q);
	return (FemQuat){q[0], q[1], q[2], q[3]};
}
