// The rotation of a free rigid body in a step: a pure function of its inertia and its angular momentum.
//
// Free tumbling keeps the angular momentum L, while the angular velocity w = I^-1 L changes because I rotates with the
// body. Turning by dt w, with w of the start of the step, is explicit Euler on the rotation group: a bar 1 x .2 x .2 m
// thrown with (1, 1, 5) rad/s had 5 times its energy within 20 s at 60 Hz. Here the body rotates by the rotation vector
//
//     theta = dt / 2 (W0 + W1),   W0 = I^-1 L,   W1 = I^-1 exp(-theta) L,
//
// the mean of the angular velocities at both ends, both in the axes that the body has at the start of the step. This is
// the energy- and momentum-conserving algorithm of Simo & Wong 1991, "Unconditionally stable algorithms for rigid body
// dynamics that exactly preserve energy and momentum". Seen from the other end of the step the rule is the same, so it
// is reversible in time and of second order. The kinetic energy changes by
//
//     (W1 + W0) . I (W1 - W0) / 2 = theta . (exp(-theta) L - L) / dt = 0,
//
// since exp(-theta) leaves the component along theta alone: exactly kept, whatever dt.
#ifndef FEM_DYNAMICS_TUMBLING_H
#define FEM_DYNAMICS_TUMBLING_H

// inertia: symmetric positive definite, row by row, kg m^2, about the centre of mass; momentum: kg m^2/s; dt in s,
// negative for the step before. out_rotation: theta, rad; out_spin: the angular velocity after the step, rad/s, in
// space.
void fem_tumble(
	const double inertia[9], const double momentum[3], double dt, double out_rotation[3], double out_spin[3]);

// out = m^-1 b for a regular matrix, row by row.
void fem_solve3(const double m[9], const double b[3], double out[3]);

double fem_row_determinant3(const double m[9]);

// exp(theta) = 1 + sine [theta]x + versine [theta]x^2 (Rodrigues), accurate for small angles too.
typedef struct FemRotationFactors {
	double sine;    // sin a / a, a = |theta|
	double versine; // (1 - cos a) / a^2
} FemRotationFactors;

FemRotationFactors fem_rotation_factors(const double theta[3]);

#endif
