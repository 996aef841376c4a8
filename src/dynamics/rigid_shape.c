#include "dynamics/rigid_shape.h"

#include "base/mat3.h"
#include "base/vec.h"
#include "dynamics/rigid_motion.h"

#include <math.h>
#include <string.h>

double fem_rigid_shape_vibration(const FemBody *body, FemRange nodes) {
	FemMotionSums sums = fem_sums_of_nodes(body, nodes);
	double c[3], l[3], w[3], square = 0.0;
	fem_sums_center(&sums, c);
	fem_about_center(sums.angular, sums.momentum, c, l);
	fem_sums_solve_inertia(&sums, c, l, w);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *x = &body->position[i].x, *v = &body->velocity[i].x;
		double r[3] = {(double)x[0] - c[0], (double)x[1] - c[1], (double)x[2] - c[2]};
		for (int k = 0; k < 3; k++) {
			double rigid =
				sums.momentum[k] / sums.mass + w[(k + 1) % 3] * r[(k + 2) % 3] - w[(k + 2) % 3] * r[(k + 1) % 3];
			square += (double)body->mass[i] * ((double)v[k] - rigid) * ((double)v[k] - rigid);
		}
	}
	return sqrt(square / sums.mass);
}

bool fem_rigid_shape_take(FemBody *body, FemRange nodes, double out_rotation[9]) {
	FemMotionSums sums = fem_sums_of_nodes(body, nodes);
	double c[3], l[3], w[3], inertia[9];
	fem_sums_center(&sums, c);
	if (!fem_sums_inertia(&sums, c, inertia))
		return false;
	fem_about_center(sums.angular, sums.momentum, c, l);
	fem_sums_solve_inertia(&sums, c, l, w);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 x = body->position[i];
		double r[3] = {(double)x.x - c[0], (double)x.y - c[1], (double)x.z - c[2]}, v[3];
		for (int k = 0; k < 3; k++)
			v[k] = sums.momentum[k] / sums.mass + w[(k + 1) % 3] * r[(k + 2) % 3] - w[(k + 2) % 3] * r[(k + 1) % 3];
		body->shape[i] = (FemVec4){(float)r[0], (float)r[1], (float)r[2], 0.0f};
		body->velocity[i] = (FemVec4){(float)v[0], (float)v[1], (float)v[2], 0.0f};
	}
	for (int k = 0; k < 9; k++)
		out_rotation[k] = k % 4 == 0 ? 1.0 : 0.0;
	return true;
}

void fem_rigid_shape_find_rotation(const FemBody *body, FemRange nodes, const double c[3], double rotation[9]) {
	double f[3][3] = {{0}}, r[3][3], square = 0.0;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *x = &body->position[i].x, *s = &body->shape[i].x;
		double m = (double)body->mass[i];
		for (int k = 0; k < 3; k++) {
			double weighted = m * ((double)x[k] - c[k]);
			square += m * (double)s[k] * (double)s[k];
			for (int j = 0; j < 3; j++)
				f[k][j] += weighted * (double)s[j];
		}
	}
	for (int k = 0; k < 9; k++)
		f[k / 3][k % 3] /= square;
	memcpy(r, rotation, sizeof r);
	fem_polar_polish(f, r);
	memcpy(rotation, r, sizeof r);
}
