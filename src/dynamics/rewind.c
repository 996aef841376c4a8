#include "dynamics/rewind.h"

#include "base/vec.h"
#include "dynamics/rigid_motion.h"
#include "dynamics/tumbling.h"

// Deformation changes the inertia on the way back, and with it the momenta: what is missing of `goal` and of the
// angular momentum `l_goal` about the centre of mass is made up rigidly.
static void restore_momenta(FemBody *body, FemRange nodes, const FemMotionSums *goal, const double l_goal[3]) {
	FemMotionSums sums = fem_sums_of_nodes(body, nodes);
	double c[3], l[3], missing[3], w[3];
	float linear[3], spin[3], center[3];
	fem_sums_center(&sums, c);
	fem_about_center(sums.angular, sums.momentum, c, l);
	for (int i = 0; i < 3; i++) {
		missing[i] = l_goal[i] - l[i];
		linear[i] = (float)((goal->momentum[i] - sums.momentum[i]) / sums.mass);
	}
	fem_sums_solve_inertia(&sums, c, missing, w);
	fem_to_float3(w, spin);
	fem_to_float3(c, center);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const FemVec4 x = body->position[i];
		const float r[3] = {x.x - center[0], x.y - center[1], x.z - center[2]};
		float v[3] = {linear[0], linear[1], linear[2]};
		fem_cross_add(v, spin, r);
		body->velocity[i].x += v[0], body->velocity[i].y += v[1], body->velocity[i].z += v[2];
	}
}

void fem_motion_rewind(FemBody *body, FemRange nodes, float time) {
	FemMotionSums sums = fem_sums_of_nodes(body, nodes);
	FemRigidMove move = {0};
	double c[3], l[3], inertia[9], spin[3] = {0}, theta[3] = {0}, end_spin[3] = {0};
	fem_sums_center(&sums, c);
	fem_about_center(sums.angular, sums.momentum, c, l);
	if (fem_sums_inertia(&sums, c, inertia)) {
		fem_solve3(inertia, l, spin);
		fem_tumble(inertia, l, -(double)time, theta, end_spin);
	}
	fem_to_float3(c, move.motion.center);
	fem_to_float3(spin, move.motion.spin);
	fem_to_float3(end_spin, move.end_spin);
	fem_rigid_move_rotate(&move, theta);
	for (int i = 0; i < 3; i++)
		move.motion.velocity[i] = (float)(sums.momentum[i] / sums.mass);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		float x[3] = {body->position[i].x, body->position[i].y, body->position[i].z};
		float v[3] = {body->velocity[i].x, body->velocity[i].y, body->velocity[i].z};
		fem_rigid_move_node(&move, -time, x, v);
		body->position[i] = (FemVec4){x[0], x[1], x[2], 0.0f};
		body->velocity[i] = (FemVec4){v[0], v[1], v[2], 0.0f};
	}
	restore_momenta(body, nodes, &sums, l);
}
