#include "dynamics/elements.h"

#include <math.h>

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
		.position = body->position,
		.velocity = body->velocity,
		.out_blocks = body->tet_blocks,
		.out_forces = body->tet_forces,
		.out_plates = body->tet_plates,
		.dt = dt,
		.begin = batch_begin,
		.end = batch_end,
	};
}

void fem_elements_update(FemBody *body, int32_t batch_begin, int32_t batch_end, float dt) {
	FemElementArguments arguments = arguments_of(body, batch_begin, batch_end, dt);
	if (!body->breaking)
		arguments.plastics = body->plastics;
	fem_element_kernel(fem_simd_level())(&arguments);
}

void fem_elements_update_stress(FemBody *body, int32_t batch_begin, int32_t batch_end, float dt, bool viscous) {
	FemElementArguments arguments = arguments_of(body, batch_begin, batch_end, dt);
	arguments.plastics = body->plastics;
	arguments.out_stress = body->tet_stress;
	arguments.viscous_stress = viscous ? 1.0f : 0.0f;
	fem_element_kernel(fem_simd_level())(&arguments);
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
	if (!(length > FEM_QR_TINY))
		return;
	for (int i = 0; i < 3; i++)
		q1[i] /= length;
	float along = q1[0] * q2[0] + q1[1] * q2[1] + q1[2] * q2[2];
	for (int i = 0; i < 3; i++)
		q2[i] -= along * q1[i];
	length = sqrtf(q2[0] * q2[0] + q2[1] * q2[1] + q2[2] * q2[2]);
	if (!(length > FEM_QR_TINY))
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
