#include "dynamics/group_balance.h"

#include "model/modal.h"

#include "model/body.h"
#include "model/body_step.h"

static void add_cross(double out[3], const double a[3], const double b[3]) {
	for (int i = 0; i < 3; i++)
		out[i] += a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

// Sums about a point that is d from the one which those of the group are about.
static void add_shifted(FemMotionSums *group, const FemMotionSums *sums, const double d[3]) {
	group->mass += sums->mass;
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3;
		group->second[i] += sums->second[i] + 2.0 * d[i] * sums->moment[i] + sums->mass * d[i] * d[i];
		group->second[i + 3] +=
			sums->second[i + 3] + d[i] * sums->moment[j] + d[j] * sums->moment[i] + sums->mass * d[i] * d[j];
		group->moment[i] += sums->moment[i] + sums->mass * d[i];
		group->momentum[i] += sums->momentum[i];
		group->impulse[i] += sums->impulse[i];
		group->angular[i] += sums->angular[i];
		group->torque[i] += sums->torque[i];
	}
	add_cross(group->angular, d, sums->momentum);
	add_cross(group->torque, d, sums->impulse);
}

void fem_balance_add_island(FemGroupBalance *balance, FemIntegration *integration, const double offset[3]) {
	FemMotionSums sums = fem_motion_sums_after(integration);
	add_shifted(&balance->sums, &sums, offset);
}

// Momenta without those of before the step, which are the same on both sides.
void fem_balance_add_rigid(FemGroupBalance *balance, const FemProxy *proxy, const double offset[3]) {
	const float *t = proxy->inertia, *w = proxy->dv + 3;
	double half = 0.5 * ((double)t[0] + (double)t[1] + (double)t[2]);
	FemMotionSums sums = {.mass = (double)proxy->mass};
	for (int i = 0; i < 3; i++) {
		sums.second[i] = half - (double)t[i];
		sums.second[i + 3] = -(double)t[i + 3];
		sums.momentum[i] = (double)(proxy->mass * proxy->dv[i]);
		sums.impulse[i] = (double)proxy->impulse[i];
		sums.torque[i] = (double)proxy->impulse[i + 3];
	}
	sums.angular[0] = (double)(t[0] * w[0] + t[3] * w[1] + t[5] * w[2]);
	sums.angular[1] = (double)(t[3] * w[0] + t[1] * w[1] + t[4] * w[2]);
	sums.angular[2] = (double)(t[5] * w[0] + t[4] * w[1] + t[2] * w[2]);
	add_shifted(&balance->sums, &sums, offset);
}

void fem_balance_solve(FemGroupBalance *balance) {
	const FemMotionSums *sums = &balance->sums;
	double linear[3], missing[3], angular[3], spin[3];
	fem_sums_center(sums, balance->center);
	for (int i = 0; i < 3; i++) {
		linear[i] = sums->impulse[i] - sums->momentum[i];
		missing[i] = sums->torque[i] - sums->angular[i];
		balance->velocity[i] = (float)(linear[i] / sums->mass);
	}
	fem_about_center(missing, linear, balance->center, angular);
	fem_sums_solve_inertia(sums, balance->center, angular, spin);
	fem_to_float3(spin, balance->spin);
}

void fem_balance_share_island(const FemGroupBalance *balance, FemIntegration *integration, const double offset[3]) {
	FemBody *body = integration->body;
	float arm[3];
	if (body->modal)
		body->modal->sums.is_set = false; // its frame gains more than the solve said
	for (int i = 0; i < 3; i++)
		arm[i] = (float)(offset[i] - balance->center[i]);
	for (int32_t c = 0; c < integration->chunk_count; c++) {
		for (int32_t i = integration->chunks[c].begin; i < integration->chunks[c].end; i++) {
			FemVec4 x = body->position[i];
			const float r[3] = {arm[0] + x.x, arm[1] + x.y, arm[2] + x.z};
			float v[3] = {balance->velocity[0], balance->velocity[1], balance->velocity[2]};
			fem_cross_add(v, balance->spin, r);
			body->step->dv[i].x += v[0], body->step->dv[i].y += v[1], body->step->dv[i].z += v[2];
		}
	}
}

void fem_balance_share_rigid(const FemGroupBalance *balance, FemProxy *proxy, const double offset[3]) {
	float r[3], v[3];
	for (int i = 0; i < 3; i++) {
		r[i] = (float)(offset[i] - balance->center[i]);
		v[i] = balance->velocity[i];
	}
	fem_cross_add(v, balance->spin, r);
	for (int i = 0; i < 3; i++) {
		proxy->dv[i] += v[i];
		proxy->dv[i + 3] += balance->spin[i];
	}
}
