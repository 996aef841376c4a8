#include "dynamics/tumbling.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// Newton's method converged in at most 4 passes up to 0.33 rad a step, and in at most 6 at 0.8 rad, for random axes and
// inertias that differ by up to 300 times (a stick 33 times as long as thick). A fixed-point iteration diverges from
// 0.15 rad on where they differ by 200. Where the passes do not suffice (needles that differ by 1600, beyond 0.7 rad),
// the body rotates by the angular velocity of the start.
#define PASSES_MAX 10
#define PART_ANGLE 0.9   // rad: what rotates farther is followed in parts, see above
#define PARTS_MAX 8      // enough for FEM_RIGID_ROTATION_MAX, motion.h
#define SMALL_ANGLE 1e-4 // rad: below, sin a / a and (1 - cos a) / a^2 are 1 and 1/2 to 2e-9
// rad^2: below, (1 - sin a / a) / a^2 is 1/6 to 1e-8, and the quotient would lose its digits.
#define SMALL_ANGLE_SQ 1e-6
#define CONVERGED 1e-9 // of |theta|: float velocities hold 6e-8

static double dot(const double a[3], const double b[3]) {
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

double fem_row_determinant3(const double m[9]) {
	double rest[3];
	cross(m + 3, m + 6, rest);
	return dot(m, rest);
}

void fem_solve3(const double m[9], const double b[3], double out[3]) {
	double columns[3][3]; // of the inverse times the determinant: cross products of the rows
	for (int k = 0; k < 3; k++)
		cross(m + 3 * ((k + 1) % 3), m + 3 * ((k + 2) % 3), columns[k]);
	double scale = 1.0 / dot(m, columns[0]);
	for (int i = 0; i < 3; i++)
		out[i] = scale * (columns[0][i] * b[0] + columns[1][i] * b[1] + columns[2][i] * b[2]);
}

FemRotationFactors fem_rotation_factors(const double theta[3]) {
	double angle = sqrt(dot(theta, theta));
	if (angle <= SMALL_ANGLE)
		return (FemRotationFactors){1.0, 0.5};
	double half = sin(0.5 * angle);
	return (FemRotationFactors){sin(angle) / angle, 2.0 * half * half / (angle * angle)};
}

// out = exp(sign theta) v
static void rotate(const double theta[3], double sign, const double v[3], double out[3]) {
	FemRotationFactors factors = fem_rotation_factors(theta);
	double once[3], twice[3];
	cross(theta, v, once);
	cross(theta, once, twice);
	for (int i = 0; i < 3; i++)
		out[i] = v[i] + sign * factors.sine * once[i] + factors.versine * twice[i];
}

// out = a b, row by row
static void multiply(const double a[9], const double b[9], double out[9]) {
	for (int i = 0; i < 9; i++)
		out[i] = a[i / 3 * 3] * b[i % 3] + a[i / 3 * 3 + 1] * b[3 + i % 3] + a[i / 3 * 3 + 2] * b[6 + i % 3];
}

static void skew(const double v[3], double out[9]) {
	const double m[9] = {0.0, -v[2], v[1], v[2], 0.0, -v[0], -v[1], v[0], 0.0};
	memcpy(out, m, sizeof m);
}

// The derivative of exp(-theta) L by theta is [exp(-theta) L]x J, with J = 1 - versine [theta]x + c [theta]x^2 the
// right Jacobian of the rotation group, c = (1 - sine) / a^2.
static void differentiate(const double theta[3], const double after[3], double out[9]) {
	FemRotationFactors factors = fem_rotation_factors(theta);
	double square = dot(theta, theta), c = square > SMALL_ANGLE_SQ ? (1.0 - factors.sine) / square : 1.0 / 6.0;
	double once[9], twice[9], left[9], jacobian[9];
	skew(theta, once);
	multiply(once, once, twice);
	for (int i = 0; i < 9; i++)
		jacobian[i] = (i % 4 == 0 ? 1.0 : 0.0) - factors.versine * once[i] + c * twice[i];
	skew(after, left);
	multiply(left, jacobian, out);
}

// One Newton pass for I theta = dt / 2 (L + exp(-theta) L). Returns |change|^2.
static double improve(const double inertia[9], const double momentum[3], double dt, double theta[3]) {
	double after[3], residual[3], change[3], derivative[9];
	rotate(theta, -1.0, momentum, after);
	differentiate(theta, after, derivative);
	for (int i = 0; i < 9; i++)
		derivative[i] = inertia[i] - 0.5 * dt * derivative[i];
	for (int i = 0; i < 3; i++)
		residual[i] = 0.5 * dt * (momentum[i] + after[i]) - dot(inertia + 3 * i, theta);
	fem_solve3(derivative, residual, change);
	for (int i = 0; i < 3; i++)
		theta[i] += change[i];
	return dot(change, change);
}

// Theta of a part of the step that the passes can follow.
static void tumble_briefly(const double inertia[9], const double momentum[3], double dt, double out[3]) {
	double theta[3], spin[3];
	bool converged = false;
	fem_solve3(inertia, momentum, spin);
	for (int i = 0; i < 3; i++)
		theta[i] = dt * spin[i];
	for (int pass = 0; pass < PASSES_MAX && !converged; pass++)
		converged = improve(inertia, momentum, dt, theta) <= CONVERGED * CONVERGED * dot(theta, theta);
	for (int i = 0; i < 3; i++)
		out[i] = converged ? theta[i] : dt * spin[i];
}

// Quaternions, x y z w: q = q exp(theta), theta in the axes that q leads to.
static void rotate_on(double q[4], const double theta[3]) {
	double angle = sqrt(dot(theta, theta)), scale = angle > SMALL_ANGLE ? sin(0.5 * angle) / angle : 0.5;
	double v[3] = {scale * theta[0], scale * theta[1], scale * theta[2]}, w = cos(0.5 * angle), between[3];
	cross(q, v, between);
	double rotated[3], rest = q[3] * w - dot(q, v);
	for (int i = 0; i < 3; i++)
		rotated[i] = q[3] * v[i] + w * q[i] + between[i];
	memcpy(q, rotated, sizeof rotated);
	q[3] = rest;
}

// The rotation vector of q, no longer than half a turn.
static void rotation_vector(const double q[4], double out[3]) {
	double sine = sqrt(dot(q, q)), sign = q[3] < 0.0 ? -1.0 : 1.0;
	double scale = sine > SMALL_ANGLE ? 2.0 * atan2(sine, sign * q[3]) / sine : 2.0;
	for (int i = 0; i < 3; i++)
		out[i] = scale * sign * q[i];
}

void fem_tumble(
	const double inertia[9], const double momentum[3], double dt, double out_rotation[3], double out_spin[3]) {
	double spin[3], after[3], theta[3], q[4] = {0.0, 0.0, 0.0, 1.0};
	fem_solve3(inertia, momentum, spin);
	int parts = (int)fmin(ceil(fabs(dt) * sqrt(dot(spin, spin)) / PART_ANGLE), PARTS_MAX);
	memcpy(after, momentum, sizeof after);
	if (parts <= 1) {
		tumble_briefly(inertia, momentum, dt, out_rotation);
	} else {
		for (int part = 0; part < parts; part++) { // in the axes of the body
			tumble_briefly(inertia, after, dt / parts, theta);
			rotate_on(q, theta);
			rotation_vector(q, out_rotation);
			rotate(out_rotation, -1.0, momentum, after);
		}
	}
	rotate(out_rotation, -1.0, momentum, after);
	fem_solve3(inertia, after, spin);
	rotate(out_rotation, 1.0, spin, out_spin);
}
