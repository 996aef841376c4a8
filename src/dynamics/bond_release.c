#include "dynamics/bond_release.h"

#include <math.h>

#define SMALL_TORQUE 0.05 // of arm times force: less has no direction of its own; chosen
// Cosine of the angle between a push and the normal to the other side: above, it leads into that. 60 degrees, chosen.
#define INTO_PARTNER 0.5
#define LEFT_LEAST 1e-3 // of the energy: where less is left without what both pushes have in common, they part; chosen

static double dot(const double a[3], const double b[3]) {
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
	for (int k = 0; k < 3; k++)
		out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

// Of unit length; false where there is none.
static bool normalize(double v[3]) {
	double length = sqrt(dot(v, v));
	for (int k = 0; k < 3; k++)
		v[k] = length > 0.0 ? v[k] / length : 0.0;
	return length > 0.0;
}

static void take_out(double v[3], const double unit[3]) {
	double along = dot(v, unit);
	for (int k = 0; k < 3; k++)
		v[k] -= along * unit[k];
}

// The way that a side is pushed: sign is that of the random one, of which the two sides have opposite ones.
static void direction_of(const FemReleaseSide *side, const double force[3], const double to_partner[3],
	const double chance[3], double sign, double out[3]) {
	double along[3] = {force[0], force[1], force[2]}, arm[3];
	for (int k = 0; k < 3; k++)
		arm[k] = out[k] = side->pivot[k] - side->center[k];
	bool has_force = normalize(along);
	if (has_force)
		take_out(out, along);
	if (!has_force || dot(out, out) < SMALL_TORQUE * SMALL_TORQUE * dot(arm, arm) || !normalize(out)) {
		for (int k = 0; k < 3; k++)
			out[k] = sign * chance[k];
		take_out(out, along);
		normalize(out);
	}
	double into = dot(out, to_partner);
	for (int k = 0; k < 3 && into > INTO_PARTNER; k++)
		out[k] = -out[k];
}

// Of a free body with inertia, by a push of the energy at the pivot: mu = sqrt(2 m_G E).
static bool push(FemReleaseSide *side, const double direction[3], double energy) {
	double arm[3], torque[3];
	for (int k = 0; k < 3; k++)
		arm[k] = side->pivot[k] - side->center[k];
	cross(arm, direction, torque);
	fem_sums_solve_inertia(&side->sums, side->center, torque, side->spin);
	double inverse_mass = dot(direction, direction) / side->sums.mass + dot(torque, side->spin);
	if (!(inverse_mass > 0.0))
		return false;
	double mu = sqrt(2.0 * energy / inverse_mass);
	for (int k = 0; k < 3; k++) {
		side->velocity[k] = mu * direction[k] / side->sums.mass;
		side->spin[k] *= mu;
	}
	return true;
}

// I w about the centre of a side.
static void angular_of(const FemReleaseSide *side, double out[3]) {
	double inertia[9];
	fem_sums_inertia(&side->sums, side->center, inertia);
	for (int k = 0; k < 3; k++)
		out[k] =
			inertia[3 * k] * side->spin[0] + inertia[3 * k + 1] * side->spin[1] + inertia[3 * k + 2] * side->spin[2];
}

// Neither momentum nor spin comes in.
static void take_common_motion(FemReleaseSide sides[2]) {
	FemMotionSums both = sides[0].sums;
	double center[3], momentum[3], angular[3] = {0.0, 0.0, 0.0}, spin[3], moved[3];
	both.mass += sides[1].sums.mass;
	for (int k = 0; k < 3; k++)
		both.moment[k] += sides[1].sums.moment[k];
	for (int k = 0; k < 6; k++)
		both.second[k] += sides[1].sums.second[k];
	fem_sums_center(&both, center);
	for (int k = 0; k < 3; k++)
		momentum[k] = sides[0].sums.mass * sides[0].velocity[k] + sides[1].sums.mass * sides[1].velocity[k];
	for (int s = 0; s < 2; s++) {
		double arm[3], own[3], orbital[3];
		for (int k = 0; k < 3; k++)
			arm[k] = sides[s].sums.mass * (sides[s].center[k] - center[k]);
		cross(arm, sides[s].velocity, orbital);
		angular_of(&sides[s], own);
		for (int k = 0; k < 3; k++)
			angular[k] += own[k] + orbital[k];
	}
	fem_sums_solve_inertia(&both, center, angular, spin);
	for (int s = 0; s < 2; s++) {
		double arm[3];
		for (int k = 0; k < 3; k++)
			arm[k] = sides[s].center[k] - center[k];
		cross(spin, arm, moved);
		for (int k = 0; k < 3; k++) {
			sides[s].velocity[k] -= momentum[k] / both.mass + moved[k];
			sides[s].spin[k] -= spin[k];
		}
	}
}

// Sums of m u.u and of m u.v over both sides, u what is to be added to their velocities v; J.
static void work_of(const FemReleaseSide sides[2], double *out_square, double *out_along) {
	*out_square = *out_along = 0.0;
	for (int s = 0; s < 2; s++) {
		const FemReleaseSide *side = &sides[s];
		double own[3], angular[3];
		if (side->is_held)
			continue;
		angular_of(side, own);
		fem_about_center(side->sums.angular, side->sums.momentum, side->center, angular);
		*out_square += side->sums.mass * dot(side->velocity, side->velocity) + dot(side->spin, own);
		*out_along += dot(side->velocity, side->sums.momentum) + dot(side->spin, angular);
	}
}

static void scale(FemReleaseSide sides[2], double factor) {
	for (int s = 0; s < 2; s++) {
		for (int k = 0; k < 3; k++) {
			sides[s].velocity[k] *= factor;
			sides[s].spin[k] *= factor;
		}
	}
}

// Where both would go the same way they part along the normal instead.
static void part(FemReleaseSide sides[2], const double normal[3]) {
	for (int s = 0; s < 2; s++) {
		for (int k = 0; k < 3; k++) {
			sides[s].velocity[k] = (s == 0 ? -normal[k] : normal[k]) / sides[s].sums.mass;
			sides[s].spin[k] = 0.0;
		}
	}
	take_common_motion(sides);
}

bool fem_bond_release(
	FemReleaseSide sides[2], const double force[3], const double normal[3], const double chance[3], double energy) {
	double square, along;
	bool is_alone = sides[0].is_held || sides[1].is_held, ok = energy > 0.0 && isfinite(energy);
	for (int s = 0; s < 2 && ok; s++) {
		FemReleaseSide *side = &sides[s];
		double sign = s == 0 ? 1.0 : -1.0, to_partner[3] = {sign * normal[0], sign * normal[1], sign * normal[2]};
		double direction[3], inertia[9];
		for (int k = 0; k < 3; k++)
			side->velocity[k] = side->spin[k] = 0.0;
		fem_sums_center(&side->sums, side->center);
		if (side->is_held)
			continue;
		direction_of(side, force, to_partner, chance, sign, direction);
		ok = fem_sums_inertia(&side->sums, side->center, inertia) &&
			push(side, direction, is_alone ? energy : 0.5 * energy);
	}
	if (!ok || (sides[0].is_held && sides[1].is_held))
		return false;
	if (!is_alone) {
		take_common_motion(sides);
		work_of(sides, &square, &along);
		if (square < 2.0 * LEFT_LEAST * energy)
			part(sides, normal);
	}
	work_of(sides, &square, &along);
	if (!(square > 0.0))
		return false;
	scale(sides, (sqrt(along * along + 2.0 * square * energy) - along) / square);
	return true;
}

void fem_release_add(FemReleaseSide *whole, const FemReleaseSide *push) {
	double own[3], momentum[3], orbital[3];
	angular_of(push, own);
	for (int k = 0; k < 3; k++)
		momentum[k] = push->sums.mass * push->velocity[k];
	cross(push->center, momentum, orbital);
	for (int k = 0; k < 3; k++) {
		whole->center[k] = push->center[k];
		whole->velocity[k] += push->velocity[k];
		whole->spin[k] += push->spin[k];
		whole->sums.momentum[k] += momentum[k];
		whole->sums.angular[k] += own[k] + orbital[k];
	}
}
