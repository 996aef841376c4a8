// Transforms as the coupling needs them: Godot's, taken apart into a rotation and what is left of it.
#ifndef RIGID_MATH_H
#define RIGID_MATH_H

#include "fem_destruction.h"
#include "godot_calls.h"

// x -> m x + t, in double: shapes may lie far from the world's origin.
typedef struct Affine {
	double m[3][3]; // m[row][column]
	double t[3];
} Affine;

// A place and a proper rotation.
typedef struct Frame {
	FemPosition position; // m
	FemQuat rotation;
} Frame;

Affine affine_from(const GdTransform3D *transform);
Affine affine_product(const Affine *a, const Affine *b);
Affine affine_from_frame(const Frame *frame);
Affine affine_inverse_of_frame(const Frame *frame);
void affine_apply(const Affine *a, const double x[3], double out[3]);
GdTransform3D transform_product(const GdTransform3D *a, const GdTransform3D *b);
double affine_determinant(const Affine *a);
bool affine_is_sound(const Affine *a); // finite, and not flat

// The rotation of the axes, made square by Gram and Schmidt, and proper: a mirrored transform gets its third axis
// flipped.
FemQuat affine_rotation(const Affine *a);
Frame frame_from_axes(FemPosition position, const GdBasis *axes);

FemQuat quat_product(FemQuat a, FemQuat b);
FemQuat quat_conjugate(FemQuat q);
FemQuat quat_from_rotation(FemVec3 rotation); // of a rotation vector, rad
FemVec3 quat_rotate(FemQuat q, FemVec3 v);

// The rotation vector from a to b: axis times angle, rad.
FemVec3 quat_rotation_between(FemQuat a, FemQuat b);

static inline FemVec3 vec_from(GdVector3 v) {
	return (FemVec3){v.x, v.y, v.z};
}

static inline GdVector3 vec_to_godot(FemVec3 v) {
	return (GdVector3){v.x, v.y, v.z};
}

static inline FemVec3 vec_add(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline FemVec3 vec_sub(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline FemVec3 vec_scale(FemVec3 a, float s) {
	return (FemVec3){a.x * s, a.y * s, a.z * s};
}

static inline float vec_dot(FemVec3 a, FemVec3 b) {
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline FemVec3 vec_cross(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

float vec_length(FemVec3 a);

// a, or a shortened to `limit`.
FemVec3 vec_limited(FemVec3 a, float limit);

#endif
