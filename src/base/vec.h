// Small vectors, rotations and world positions. Float where the public API is float, double where sums are taken.
#ifndef FEM_BASE_VEC_H
#define FEM_BASE_VEC_H

#include "fem_basics.h"

#include <math.h>

// A vector of the solver: x, y, z and a fourth lane that is kept 0, so that 128-bit loads need no mask.
typedef struct FemVec4 {
	float x, y, z, w;
} FemVec4;

static inline FemVec3 fem_vec3(float x, float y, float z) {
	return (FemVec3){x, y, z};
}

static inline FemVec3 fem_vec3_add(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline FemVec3 fem_vec3_sub(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline FemVec3 fem_vec3_scale(FemVec3 a, float s) {
	return (FemVec3){a.x * s, a.y * s, a.z * s};
}

// Axis by axis: what a scale does.
static inline FemVec3 fem_vec3_multiply(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static inline float fem_vec3_dot(FemVec3 a, FemVec3 b) {
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline FemVec3 fem_vec3_cross(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline float fem_vec3_length(FemVec3 a) {
	return sqrtf(fem_vec3_dot(a, a));
}

static inline FemVec4 fem_vec4_from(FemVec3 a) {
	return (FemVec4){a.x, a.y, a.z, 0.0f};
}

static inline FemVec3 fem_vec3_from(FemVec4 a) {
	return (FemVec3){a.x, a.y, a.z};
}

// ----- vectors in double: differences of positions, and coordinates in a frame of their own (a mesh's, a body's)

typedef struct FemVec3d {
	double x, y, z;
} FemVec3d;

static inline FemVec3d fem_vec3d_add(FemVec3d a, FemVec3d b) {
	return (FemVec3d){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline FemVec3d fem_vec3d_sub(FemVec3d a, FemVec3d b) {
	return (FemVec3d){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline FemVec3d fem_vec3d_scale(FemVec3d a, double s) {
	return (FemVec3d){a.x * s, a.y * s, a.z * s};
}

static inline double fem_vec3d_dot(FemVec3d a, FemVec3d b) {
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline FemVec3d fem_vec3d_cross(FemVec3d a, FemVec3d b) {
	return (FemVec3d){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline FemVec3d fem_vec3d_from(FemVec3 a) {
	return (FemVec3d){(double)a.x, (double)a.y, (double)a.z};
}

static inline FemVec3d fem_vec3d_from4(FemVec4 a) {
	return (FemVec3d){(double)a.x, (double)a.y, (double)a.z};
}

static inline FemVec3 fem_vec3d_to_vec3(FemVec3d a) {
	return (FemVec3){(float)a.x, (float)a.y, (float)a.z};
}

// The same direction, at most `limit` long. For velocities that users set.
static inline FemVec3 fem_clamp_speed(FemVec3d v, float limit) {
	double length = sqrt(fem_vec3d_dot(v, v)), most = (double)limit;
	return fem_vec3d_to_vec3(length > most ? fem_vec3d_scale(v, most / length) : v);
}

// ----- positions in the world: a FemPosition is a place, so that two of them cannot be added and none can be rotated

static inline FemVec3d fem_position_sub(FemPosition a, FemPosition b) {
	return (FemVec3d){a.x - b.x, a.y - b.y, a.z - b.z};
}

// The place that lies `by` from `a`.
static inline FemPosition fem_position_move(FemPosition a, FemVec3d by) {
	return (FemPosition){a.x + by.x, a.y + by.y, a.z + by.z};
}

// The place whose coordinates in the world are `a`, and the coordinates of a place: for frames that lie on the world's.
static inline FemPosition fem_position_at(FemVec3d a) {
	return (FemPosition){a.x, a.y, a.z};
}

static inline FemVec3d fem_position_coordinates(FemPosition a) {
	return (FemVec3d){a.x, a.y, a.z};
}

// The 1 m grid that origins lie on (design: coordinates).
static inline FemPosition fem_position_snap(FemPosition a) {
	return (FemPosition){floor(a.x + 0.5), floor(a.y + 0.5), floor(a.z + 0.5)};
}

// ----- rotations: unit quaternions (x, y, z, w); matrices are row-major and double

static inline bool fem_quat_normalize(FemQuat *q) {
	double x = (double)q->x, y = (double)q->y, z = (double)q->z, w = (double)q->w;
	double length_sq = x * x + y * y + z * z + w * w;
	if (!(length_sq > 1e-12 && length_sq < 1e12))
		return false;
	double inv = 1.0 / sqrt(length_sq);
	*q = (FemQuat){(float)(x * inv), (float)(y * inv), (float)(z * inv), (float)(w * inv)};
	return true;
}

static inline FemQuat fem_quat_mul(FemQuat a, FemQuat b) {
	return (FemQuat){
		a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
		a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
		a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
		a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
	};
}

static inline FemQuat fem_quat_conjugate(FemQuat q) {
	return (FemQuat){-q.x, -q.y, -q.z, q.w};
}

// Takes quaternions that are a little off unit length (float) and still gives a rotation to double accuracy.
static inline void fem_quat_to_matrix(FemQuat q, double r[3][3]) {
	double x = (double)q.x, y = (double)q.y, z = (double)q.z, w = (double)q.w;
	double s = 2.0 / (x * x + y * y + z * z + w * w);
	r[0][0] = 1.0 - s * (y * y + z * z);
	r[0][1] = s * (x * y - z * w);
	r[0][2] = s * (x * z + y * w);
	r[1][0] = s * (x * y + z * w);
	r[1][1] = 1.0 - s * (x * x + z * z);
	r[1][2] = s * (y * z - x * w);
	r[2][0] = s * (x * z - y * w);
	r[2][1] = s * (y * z + x * w);
	r[2][2] = 1.0 - s * (x * x + y * y);
}

static inline FemVec3d fem_matrix_apply(double r[3][3], FemVec3d a) {
	return (FemVec3d){
		r[0][0] * a.x + r[0][1] * a.y + r[0][2] * a.z,
		r[1][0] * a.x + r[1][1] * a.y + r[1][2] * a.z,
		r[2][0] * a.x + r[2][1] * a.y + r[2][2] * a.z,
	};
}

// A unit vector that belongs to a hash: all directions are as likely.
static inline FemVec3d fem_unit_of_hash(uint64_t hash) {
	double height = (double)(hash >> 40) * 0x1p-23 - 1.0,
		   angle = (double)(hash & 0xffffff) * 0x1p-24 * 6.283185307179586;
	double width = sqrt(fmax(1.0 - height * height, 0.0));
	return (FemVec3d){width * cos(angle), height, width * sin(angle)};
}

static inline FemVec3d fem_quat_rotate(FemQuat q, FemVec3d a) {
	double r[3][3];
	fem_quat_to_matrix(q, r);
	return fem_matrix_apply(r, a);
}

// ---- slow displacements

// Spacings of floats; chosen: the rounding of longer displacements is 1.2e-4 of them at most.
#define FEM_COARSE_DISPLACEMENT 4096.0

// x + displacement, m, in the given step of many. A displacement of a few spacings of floats at x, rounded in every
// step alike, would come to another velocity: 17 % less for 1e-5 m/s at 60 Hz, 1 m from the origin. Here it is that
// number of spacings by which the whole way since step 0, rounded, is longer than it was a step before: its sum is
// right to one spacing, and nothing has to be kept of it.
static inline float fem_displace_slowly(float x, double displacement, uint64_t step) {
	double spacing = (double)nextafterf(fabsf(x), INFINITY) - fabs((double)x), share = displacement / spacing;
	if (!(fabs(share) < FEM_COARSE_DISPLACEMENT))
		return (float)((double)x + displacement);
	double spacings = floor(((double)step + 1.0) * share + 0.5) - floor((double)step * share + 0.5);
	return (float)((double)x + spacings * spacing);
}

static inline FemVec4 fem_displace_driven(FemVec4 x, FemVec4 velocity, float dt, uint64_t step) {
	return (FemVec4){fem_displace_slowly(x.x, (double)dt * (double)velocity.x, step),
		fem_displace_slowly(x.y, (double)dt * (double)velocity.y, step),
		fem_displace_slowly(x.z, (double)dt * (double)velocity.z, step), x.w};
}

#endif
