#include "dynamics/rigid_motion.h"

#include "dynamics/tumbling.h"

// Nodes lie in a point when their second moments about their centre are this share of those about the origin, which is
// rounding of a double, and on a line when the determinant of the inertia is this share of its trace cubed.
#define POINT_SHARE 1e-12
#define LINE_SHARE 1e-9

FemMotionSums fem_sums_of_nodes(const FemBody *body, FemRange nodes) {
	FemMotionSums sums = {.finite = true};
	fem_sums_add_nodes(&sums, body, nodes);
	return sums;
}

void fem_sums_add_nodes(FemMotionSums *sums, const FemBody *body, FemRange nodes) {
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		double x[3] = {body->position[i].x, body->position[i].y, body->position[i].z};
		double v[3] = {body->velocity[i].x, body->velocity[i].y, body->velocity[i].z};
		fem_sums_add_node(sums, body->mass[i], x, v);
	}
}

void fem_sums_center(const FemMotionSums *sums, double c[3]) {
	for (int i = 0; i < 3; i++)
		c[i] = sums->mass > 0.0 ? sums->moment[i] / sums->mass : 0.0;
}

void fem_about_center(const double a[3], const double b[3], const double c[3], double out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = a[i] - (c[(i + 1) % 3] * b[(i + 2) % 3] - c[(i + 2) % 3] * b[(i + 1) % 3]);
}

bool fem_sums_inertia(const FemMotionSums *sums, const double c[3], double out[9]) {
	double s[6]; // central second moments
	for (int i = 0; i < 3; i++) {
		s[i] = sums->second[i] - sums->mass * c[i] * c[i];
		s[i + 3] = sums->second[i + 3] - sums->mass * c[i] * c[(i + 1) % 3];
	}
	const double inertia[9] = {s[1] + s[2], -s[3], -s[5], -s[3], s[0] + s[2], -s[4], -s[5], -s[4], s[0] + s[1]};
	memcpy(out, inertia, sizeof inertia);
	double trace = 2.0 * (s[0] + s[1] + s[2]);
	double about_origin = sums->second[0] + sums->second[1] + sums->second[2]; // of which the rest may be rounding
	return trace > POINT_SHARE * about_origin && fem_row_determinant3(inertia) > LINE_SHARE * trace * trace * trace;
}

void fem_sums_solve_inertia(const FemMotionSums *sums, const double c[3], const double l[3], double out[3]) {
	double inertia[9];
	if (fem_sums_inertia(sums, c, inertia))
		fem_solve3(inertia, l, out);
	else
		memset(out, 0, 3 * sizeof *out);
}

void fem_rotation_increment(const double theta[3], double out[9]) {
	FemRotationFactors factors = fem_rotation_factors(theta);
	double square = theta[0] * theta[0] + theta[1] * theta[1] + theta[2] * theta[2];
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++) {
			double twice = theta[i] * theta[k] - (i == k ? square : 0.0);
			double once = i == k ? 0.0 : ((k - i + 3) % 3 == 1 ? -theta[3 - i - k] : theta[3 - i - k]);
			out[3 * i + k] = factors.sine * once + factors.versine * twice;
		}
	}
}

void fem_rigid_move_rotate(FemRigidMove *move, const double theta[3]) {
	double increment[9];
	fem_rotation_increment(theta, increment);
	for (int k = 0; k < 9; k++)
		move->rotation_increment[k] = (float)increment[k];
}
