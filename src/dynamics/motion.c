#include "dynamics/motion.h"

#include "base/mat3.h"
#include "base/vec.h"
#include "dynamics/hinged_motion.h"
#include "dynamics/modal_grabs.h"
#include "dynamics/modal_moments.h"
#include "dynamics/modal_motion.h"
#include "dynamics/rigid_shape.h"
#include "dynamics/strain_bound.h"
#include "dynamics/tumbling.h"
#include "fem_constants.h"
#include "fem_destruction.h"
#include "model/body.h"
#include "model/body_step.h"
#include "model/island.h"

#include <math.h>
#include <string.h>

#define ROTATION_TOLD 0.99 // share kept: what spins on at the limit was told of when it came there

// ---- sums

static FemMotionSums sum_up(const FemIntegration *integration) {
	FemMotionSums total = {.finite = true};
	for (int32_t c = 0; c < integration->chunk_count; c++) {
		const FemMotionSums *part = &integration->partials[c];
		total.mass += part->mass;
		total.kinetic += part->kinetic;
		total.lost += part->lost;
		total.finite &= part->finite;
		for (int i = 0; i < 3; i++) {
			total.moment[i] += part->moment[i];
			total.second[i] += part->second[i];
			total.second[i + 3] += part->second[i + 3];
			total.momentum[i] += part->momentum[i];
			total.angular[i] += part->angular[i];
			total.impulse[i] += part->impulse[i];
			total.torque[i] += part->torque[i];
		}
	}
	return total;
}

// A piece of a few tets that is struck off centre would rotate several times a step, which no step can follow: rotation
// beyond the limit would be taken for deformation, and stretch it without bound. Angular velocity w and angular
// momentum l beyond the limit (rad) are dropped. (Jolt's limit is 0.8 rad a step.) Returns the share that is kept.
static double limit_spin(double limit, double w[3], double dt, double l[3]) {
	double angle = dt * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
	double kept = angle > limit ? limit / angle : 1.0;
	for (int i = 0; i < 3; i++) {
		w[i] *= kept;
		l[i] *= kept;
	}
	return kept;
}

// ---- centrifugal

typedef struct MotionTask {
	FemIntegration *integration;
	FemRigidMove move;
	float correction[3], correction_spin[3]; // momentum balance
	float euler[3];                          // rad/s^2, minus the angular acceleration of free tumbling
	double theta[3], end_spin[3];            // rad, rad/s: rotation of the step, and spin after it
	double center[3], rotation[9];           // of a rigid piece after the step: m, from the axes of its shape
	FemModal *modal;                         // of one that moves by modes
	float further;                           // of the displacement by deformation: beyond dt d (strain_bound.h)
	uint32_t errors;
} MotionTask;

static void start_sums_task(void *context, int32_t chunk_index) {
	FemIntegration *integration = ((MotionTask *)context)->integration;
	const FemBody *body = integration->body;
	const FemNodeChunk *chunk = &integration->chunks[chunk_index];
	FemMotionSums sums = {.finite = true};
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		double x[3] = {body->position[i].x, body->position[i].y, body->position[i].z};
		double v[3] = {body->velocity[i].x, body->velocity[i].y, body->velocity[i].z};
		fem_sums_add_node(&sums, body->mass[i], x, v);
	}
	integration->partials[chunk_index] = sums;
}

static void centrifugal_task(void *context, int32_t chunk_index) {
	MotionTask *task = context;
	FemBody *body = task->integration->body;
	const FemNodeChunk *chunk = &task->integration->chunks[chunk_index];
	const float *w = task->move.motion.spin, *c = task->move.motion.center, *e = task->euler;
	float dt = task->integration->dt, square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		float r[3] = {body->position[i].x - c[0], body->position[i].y - c[1], body->position[i].z - c[2]};
		float along = w[0] * r[0] + w[1] * r[1] + w[2] * r[2], push = dt * body->mass[i];
		body->step->rhs[i].x += push * (square * r[0] - along * w[0] + e[1] * r[2] - e[2] * r[1]);
		body->step->rhs[i].y += push * (square * r[1] - along * w[1] + e[2] * r[0] - e[0] * r[2]);
		body->step->rhs[i].z += push * (square * r[2] - along * w[2] + e[0] * r[1] - e[1] * r[0]);
	}
}

// Centre, angular velocity (the mean of the step before, motion.h) and minus the angular acceleration of the frame.
static void set_frame_forces(MotionTask *task, const FemMotionSums *sums) {
	double c[3], l[3], inertia[9], w[3], theta[3], end_spin[3], torque[3], euler[3], dt = task->integration->dt;
	fem_sums_center(sums, c);
	fem_to_float3(c, task->move.motion.center);
	fem_about_center(sums->angular, sums->momentum, c, l);
	if (!fem_sums_inertia(sums, c, inertia))
		return;
	fem_solve3(inertia, l, w);
	limit_spin(FEM_ROTATION_MAX, w, dt, l);
	fem_tumble(inertia, l, -dt, theta, end_spin);
	for (int i = 0; i < 3; i++)
		w[i] = -theta[i] / dt;
	for (int i = 0; i < 3; i++)
		l[i] = inertia[3 * i] * w[0] + inertia[3 * i + 1] * w[1] + inertia[3 * i + 2] * w[2];
	for (int i = 0; i < 3; i++)
		torque[i] = w[(i + 1) % 3] * l[(i + 2) % 3] - w[(i + 2) % 3] * l[(i + 1) % 3];
	fem_solve3(inertia, torque, euler);
	fem_to_float3(w, task->move.motion.spin);
	fem_to_float3(euler, task->euler);
}

void fem_motion_add_centrifugal(FemIntegration *integration) {
	FemHinge hinge;
	if (integration->rigid) // it strains no rigid piece
		return;
	if (!integration->is_free) {
		if (fem_hinge_find(integration, &hinge))
			fem_hinge_add_centrifugal(integration, &hinge);
		return;
	}
	MotionTask task = {.integration = integration};
	fem_loop_for_light(integration->loop, integration->chunk_count, start_sums_task, &task);
	FemMotionSums sums = sum_up(integration);
	set_frame_forces(&task, &sums);
	fem_loop_for_light(integration->loop, integration->chunk_count, centrifugal_task, &task);
}

// ---- integrate

static bool is_finite4(FemVec4 v) {
	float zero = (v.x - v.x) + (v.y - v.y) + (v.z - v.z);
	return zero == 0.0f;
}

// Sums with the new velocities v + dv, and the impulse of all external forces.
static void end_sums_task(void *context, int32_t chunk_index) {
	FemIntegration *integration = ((MotionTask *)context)->integration;
	const FemBody *body = integration->body;
	const FemNodeChunk *chunk = &integration->chunks[chunk_index];
	FemMotionSums sums = {.finite = true};
	double dt = integration->dt;
	double g[3] = {integration->gravity.x, integration->gravity.y, integration->gravity.z};
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		FemVec4 p = body->position[i], v = body->velocity[i], dv = body->step->dv[i], f = body->force[i];
		sums.finite = sums.finite && is_finite4(p) && is_finite4(v) && is_finite4(dv);
		double next[3] = {(double)v.x + dv.x, (double)v.y + dv.y, (double)v.z + dv.z}, m = body->mass[i];
		sums.kinetic += 0.5 * m * (next[0] * next[0] + next[1] * next[1] + next[2] * next[2]);
		sums.lost += 0.5 * m * (double)(dv.x * dv.x + dv.y * dv.y + dv.z * dv.z);
		if (!integration->is_free)
			continue;
		double x[3] = {p.x, p.y, p.z}, damping = body->mass_damping[i];
		double user[3] = {f.x, f.y, f.z}, now[3] = {v.x, v.y, v.z}, j[3];
		for (int k = 0; k < 3; k++) // what the momentum should be: that of before and all external impulses
			j[k] = m * now[k] + dt * (m * g[k] + user[k] - damping * next[k]);
		fem_sums_add_node(&sums, m, x, next);
		fem_sums_add_impulse(&sums, x, j);
	}
	integration->partials[chunk_index] = sums;
}

FemMotionSums fem_motion_sums_after(FemIntegration *integration) {
	MotionTask task = {.integration = integration};
	fem_loop_for_light(integration->loop, integration->chunk_count, end_sums_task, &task);
	return sum_up(integration);
}

static FemVec4 clamp_speed(FemVec4 v, float speed_max, uint32_t *errors) {
	float square = v.x * v.x + v.y * v.y + v.z * v.z;
	if (square <= speed_max * speed_max)
		return v;
	*errors |= FEM_STEP_SPEED_CLAMPED;
	float scale = speed_max / sqrtf(square);
	return (FemVec4){v.x * scale, v.y * scale, v.z * scale, 0.0f};
}

// Finds the share of its deformation that an elastic island can follow.
static void bound_strain(MotionTask *task, const FemMotionSums *sums, bool is_corrected) {
	FemStrainBound bound = {
		.integration = task->integration,
		.move = &task->move,
		.correction = is_corrected ? task->correction : NULL,
		.correction_spin = is_corrected ? task->correction_spin : NULL,
	};
	task->further = task->integration->is_whole ? fem_strain_bound(&bound, sums->kinetic, sums->lost) : 0.0f;
}

// Takes back what a node at x, after the move, is not to make of its deformation.
static void hold_back(const MotionTask *task, int32_t node, float x[3]) {
	if (task->further == 0.0f)
		return;
	FemVec4 moved = task->integration->body->step->direction[node];
	const float d[3] = {moved.x, moved.y, moved.z};
	float rotated[3];
	fem_apply_rows3(task->move.rotation_increment, d, rotated);
	for (int k = 0; k < 3; k++)
		x[k] += task->further * (d[k] + rotated[k]);
}

// Pinned islands: plain backward Euler, x += dt v, but for what rotates about its pins. Only the rows of pinned and
// driven nodes have reactions.
static void move_plain_task(void *context, int32_t chunk_index) {
	const MotionTask *task = context;
	FemIntegration *integration = task->integration;
	FemBody *body = integration->body;
	const FemNodeChunk *chunk = &integration->chunks[chunk_index];
	uint32_t errors = 0;
	float dt = integration->dt;
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		FemVec4 v = body->velocity[i], dv = body->step->dv[i];
		if (body->node_kind[i] == FEM_NODE_FREE) {
			v = clamp_speed((FemVec4){v.x + dv.x, v.y + dv.y, v.z + dv.z, 0.0f}, integration->speed_max, &errors);
		} else {
			FemVec4 r = body->step->residual[i];
			if (body->reaction)
				body->reaction[i] = (FemVec4){-r.x / dt, -r.y / dt, -r.z / dt, 0.0f};
			body->position[i] = fem_displace_driven(body->position[i], v, dt, integration->step);
			continue;
		}
		float x[3] = {body->position[i].x, body->position[i].y, body->position[i].z}, w[3] = {v.x, v.y, v.z};
		fem_rigid_move_node(&task->move, dt, x, w); // x += dt v without a rotation
		hold_back(task, i, x);
		body->velocity[i] = (FemVec4){w[0], w[1], w[2], 0.0f};
		body->position[i] = (FemVec4){x[0], x[1], x[2], 0.0f};
	}
	integration->partials[chunk_index].finite = errors == 0;
}

static uint32_t move_plain(FemIntegration *integration, const FemMotionSums *sums) {
	MotionTask task = {.integration = integration};
	FemHinge hinge;
	bool clamped = false,
		 swings = fem_hinge_find(integration, &hinge) && fem_hinge_rotation(integration, &hinge, &task.move);
	bound_strain(&task, sums, false);
	fem_loop_for_light(integration->loop, integration->chunk_count, move_plain_task, &task);
	for (int32_t c = 0; c < integration->chunk_count; c++)
		clamped |= !integration->partials[c].finite;
	if (swings && !clamped)
		fem_hinge_settle(integration, &hinge);
	return clamped ? FEM_STEP_SPEED_CLAMPED : 0;
}

static void move_node(const MotionTask *task, FemBody *body, int32_t i, float x[3], float v[3]) {
	float r[3];
	for (int k = 0; k < 3; k++)
		r[k] = x[k] - task->move.motion.center[k];
	v[0] = body->velocity[i].x + body->step->dv[i].x + task->correction[0];
	v[1] = body->velocity[i].y + body->step->dv[i].y + task->correction[1];
	v[2] = body->velocity[i].z + body->step->dv[i].z + task->correction[2];
	fem_cross_add(v, task->correction_spin, r);
	fem_rigid_move_node(&task->move, task->integration->dt, x, v);
	hold_back(task, i, x);
}

// What is faster than the limit goes no further than it allows.
static void clamp_displacement(const FemVec4 *from, float x[3], float displacement_max) {
	float displacement[3] = {x[0] - from->x, x[1] - from->y, x[2] - from->z};
	float square =
		displacement[0] * displacement[0] + displacement[1] * displacement[1] + displacement[2] * displacement[2];
	if (square <= displacement_max * displacement_max)
		return;
	float scale = displacement_max / sqrtf(square);
	x[0] = from->x + scale * displacement[0], x[1] = from->y + scale * displacement[1],
	x[2] = from->z + scale * displacement[2];
}

static void move_task(void *context, int32_t chunk_index) {
	MotionTask *task = context;
	FemIntegration *integration = task->integration;
	FemBody *body = integration->body;
	const FemNodeChunk *chunk = &integration->chunks[chunk_index];
	FemMotionSums sums = {.finite = true};
	uint32_t errors = 0;
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		float x[3] = {body->position[i].x, body->position[i].y, body->position[i].z}, v[3];
		move_node(task, body, i, x, v);
		clamp_displacement(&body->position[i], x, integration->dt * integration->speed_max);
		FemVec4 velocity = clamp_speed((FemVec4){v[0], v[1], v[2], 0.0f}, integration->speed_max, &errors);
		body->position[i] = (FemVec4){x[0], x[1], x[2], 0.0f};
		body->velocity[i] = velocity;
		double xd[3] = {x[0], x[1], x[2]}, vd[3] = {velocity.x, velocity.y, velocity.z};
		fem_sums_add_node(&sums, body->mass[i], xd, vd);
	}
	sums.finite = errors == 0;
	integration->partials[chunk_index] = sums;
}

// Sets linear and angular momentum again after the move, since deformation has changed the inertia.
static void settle_task(void *context, int32_t chunk_index) {
	MotionTask *task = context;
	FemBody *body = task->integration->body;
	const FemNodeChunk *chunk = &task->integration->chunks[chunk_index];
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		float r[3] = {body->position[i].x - task->move.motion.center[0],
			body->position[i].y - task->move.motion.center[1], body->position[i].z - task->move.motion.center[2]};
		float v[3] = {task->correction[0], task->correction[1], task->correction[2]};
		fem_cross_add(v, task->correction_spin, r);
		FemVec4 old = body->velocity[i], settled = {old.x + v[0], old.y + v[1], old.z + v[2], 0.0f};
		uint32_t clamped = 0;
		body->velocity[i] = clamp_speed(settled, task->integration->speed_max, &clamped);
	}
}

// Sets the rigid rotation of the step for the angular momentum l, which is cut to what a step can follow.
static uint32_t set_rotation(MotionTask *task, const FemMotionSums *sums, const double c[3], double l[3]) {
	double inertia[9], spin[3] = {0}, dt = task->integration->dt, *theta = task->theta, *end_spin = task->end_spin;
	uint32_t errors = 0;
	if (fem_sums_inertia(sums, c, inertia)) {
		fem_solve3(inertia, l, spin);
		double limit = task->integration->rigid ? FEM_RIGID_ROTATION_MAX : FEM_ROTATION_MAX;
		double kept = limit_spin(limit, spin, dt, l);
		errors = kept < ROTATION_TOLD ? FEM_STEP_SPEED_CLAMPED : 0;
		for (int i = 0; i < 3; i++)
			task->correction_spin[i] -= (float)((1.0 / kept - 1.0) * spin[i]);
		fem_tumble(inertia, l, dt, theta, end_spin);
	}
	fem_to_float3(spin, task->move.motion.spin);
	fem_to_float3(end_spin, task->move.end_spin);
	fem_rigid_move_rotate(&task->move, theta);
	return errors;
}

// ---- rigid pieces

// The modes that a rigid piece moves by; null: none.
static FemModal *modal_of(const FemIntegration *integration) {
	return integration->rigid ? fem_modal_of(integration->body) : NULL;
}

static void place_rigid_task(void *context, int32_t chunk_index) {
	const MotionTask *task = context;
	FemBody *body = task->integration->body;
	const FemNodeChunk *chunk = &task->integration->chunks[chunk_index];
	const double *rotation = task->rotation, *w = task->end_spin;
	const float *linear = task->move.motion.velocity;
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		const float *s = &body->shape[i].x;
		double r[3], v[3];
		if (body->node_kind[i] != FEM_NODE_FREE)
			continue;
		for (int k = 0; k < 3; k++)
			r[k] = rotation[3 * k] * (double)s[0] + rotation[3 * k + 1] * (double)s[1] +
				rotation[3 * k + 2] * (double)s[2];
		for (int k = 0; k < 3; k++)
			v[k] = (double)linear[k] + w[(k + 1) % 3] * r[(k + 2) % 3] - w[(k + 2) % 3] * r[(k + 1) % 3];
		body->position[i] = (FemVec4){
			(float)(task->center[0] + r[0]), (float)(task->center[1] + r[1]), (float)(task->center[2] + r[2]), 0.0f};
		body->velocity[i] = (FemVec4){(float)v[0], (float)v[1], (float)v[2], 0.0f};
	}
}

// The rotation of a rigid piece after that of the step, which adds `increment` (exp(theta) - 1).
static void rotate_rigid(MotionTask *task, const double c[3], const double increment[9]) {
	FemIntegration *integration = task->integration;
	FemRange nodes = {integration->chunks[0].begin, integration->chunks[integration->chunk_count - 1].end};
	double *before = integration->rigid->shape_rotation, same[3][3];
	memcpy(same, before, sizeof same);
	if (task->modal) // whose rotation is kept; only what rounding made of it is taken back
		fem_polar_polish(same, (double(*)[3])(void *)before);
	else
		fem_rigid_shape_find_rotation(integration->body, nodes, c, before);
	for (int k = 0; k < 9; k++)
		task->rotation[k] = before[k] + increment[3 * (k / 3)] * before[k % 3] +
			increment[3 * (k / 3) + 1] * before[3 + k % 3] + increment[3 * (k / 3) + 2] * before[6 + k % 3];
	memcpy(before, task->rotation, sizeof task->rotation);
}

// Moves the shape of a rigid piece by the rotation of the step, and its centre c along the velocity.
static void move_rigid(MotionTask *task, const double c[3]) {
	FemIntegration *integration = task->integration;
	double increment[9];
	fem_rotation_increment(task->theta, increment);
	rotate_rigid(task, c, increment);
	for (int k = 0; k < 3; k++)
		task->center[k] = c[k] + (double)integration->dt * (double)task->move.motion.velocity[k];
	if (!task->modal)
		fem_loop_for_light(integration->loop, integration->chunk_count, place_rigid_task, task);
}

static void place_modal(MotionTask *task) {
	fem_modal_place_all(task->integration->body, task->integration->loop, task->center, task->rotation,
		task->move.motion.velocity, task->end_spin);
}

// Momenta of a modal body that are those of its nodes, and that it is to have: l about the centre c.
static void keep_modal(FemBody *body, const FemMotionSums *sums, const double momentum[3], const double l[3]) {
	double c[3], about_origin[3];
	fem_sums_center(sums, c);
	for (int i = 0; i < 3; i++)
		about_origin[i] = l[i] + c[(i + 1) % 3] * momentum[(i + 2) % 3] - c[(i + 2) % 3] * momentum[(i + 1) % 3];
	fem_modal_keep_placed(body);
	fem_modal_keep_sums(body, sums, momentum, about_origin);
}

// Places a modal body so that it has the momentum and, about its centre, the angular momentum l, without a look at its
// nodes. False, and nothing is done, where its moments are not known or a node might be faster than it may.
static bool place_modal_at_once(MotionTask *task, const double momentum[3], const double l[3]) {
	FemMotionSums moved;
	double of_modes[3], rest[3], velocity[3], spin[3];
	FemBody *body = task->integration->body;
	if (!task->modal->has_moments) // it was loaded
		fem_modal_set_moments(task->modal, body);
	if (!fem_modal_moments(task->modal, task->center, task->rotation, &moved, of_modes))
		return false;
	for (int k = 0; k < 3; k++) {
		rest[k] = l[k] - of_modes[k];
		velocity[k] = momentum[k] / moved.mass;
	}
	fem_sums_solve_inertia(&moved, task->center, rest, spin);
	if (!(fem_modal_speed_bound(task->modal, velocity, spin) <= (double)task->integration->speed_max))
		return false;
	memcpy(task->end_spin, spin, sizeof spin);
	place_modal(task);
	keep_modal(body, &moved, momentum, l);
	return true;
}

// A rigid piece with pins rotates about them if they are a hinge; else it stays where it is.
static void move_pinned_rigid(FemIntegration *integration) {
	MotionTask task = {.integration = integration};
	const FemBody *body = integration->body;
	FemHinge hinge;
	double c[3], increment[9], arm[3];
	if (!fem_hinge_find(integration, &hinge) || !fem_hinge_rotation(integration, &hinge, &task.move))
		return;
	FemRange nodes = {integration->chunks[0].begin, integration->chunks[integration->chunk_count - 1].end};
	FemMotionSums sums = fem_sums_of_nodes(body, nodes);
	fem_sums_center(&sums, c);
	for (int k = 0; k < 9; k++)
		increment[k] = (double)task.move.rotation_increment[k];
	rotate_rigid(&task, c, increment);
	const float *pin = &body->shape[hinge.node].x;
	for (int k = 0; k < 3; k++) {
		arm[k] = -(task.rotation[3 * k] * (double)pin[0] + task.rotation[3 * k + 1] * (double)pin[1] +
			task.rotation[3 * k + 2] * (double)pin[2]);
		task.center[k] = hinge.point[k] + arm[k];
		task.end_spin[k] = (double)task.move.end_spin[k];
	}
	for (int k = 0; k < 3; k++)
		task.move.motion.velocity[k] =
			(float)(task.end_spin[(k + 1) % 3] * arm[(k + 2) % 3] - task.end_spin[(k + 2) % 3] * arm[(k + 1) % 3]);
	fem_loop_for_light(integration->loop, integration->chunk_count, place_rigid_task, &task);
}

static uint32_t move_free(FemIntegration *integration, const FemMotionSums *sums) {
	MotionTask task = {.integration = integration, .modal = modal_of(integration)};
	double c[3], l[3], l_goal[3], momentum[3], deficit[3], spin[3];
	fem_sums_center(sums, c);
	fem_about_center(sums->angular, sums->momentum, c, l);
	fem_about_center(sums->torque, sums->impulse, c, l_goal);
	bool balance = !integration->in_contact;
	for (int i = 0; i < 3; i++) {
		momentum[i] = balance ? sums->impulse[i] : sums->momentum[i];
		task.correction[i] = (float)((momentum[i] - sums->momentum[i]) / sums->mass);
		task.move.motion.velocity[i] = (float)(momentum[i] / sums->mass);
		l_goal[i] = balance ? l_goal[i] : l[i];
		deficit[i] = l_goal[i] - l[i];
	}
	uint32_t errors = 0;
	FemVec4 rigid = {task.move.motion.velocity[0], task.move.motion.velocity[1], task.move.motion.velocity[2], 0.0f};
	rigid = clamp_speed(rigid, integration->speed_max, &errors);
	if (errors) { // a force beyond all bounds: its direction is kept, momentum is not
		const float kept[3] = {rigid.x, rigid.y, rigid.z};
		for (int i = 0; i < 3; i++) {
			task.correction[i] += kept[i] - task.move.motion.velocity[i];
			task.move.motion.velocity[i] = kept[i];
		}
	}
	fem_sums_solve_inertia(sums, c, deficit, spin);
	fem_to_float3(spin, task.correction_spin);
	errors |= set_rotation(&task, sums, c, l_goal);
	fem_to_float3(c, task.move.motion.center);
	if (integration->rigid) {
		move_rigid(&task, c);
		if (!task.modal || (!errors && place_modal_at_once(&task, momentum, l_goal)))
			return errors;
		place_modal(&task);
		fem_loop_for_light(integration->loop, integration->chunk_count, start_sums_task, &task);
	} else {
		bound_strain(&task, sums, true);
		fem_loop_for_light(integration->loop, integration->chunk_count, move_task, &task);
	}

	FemMotionSums moved = sum_up(integration);
	if (!moved.finite || errors)
		return FEM_STEP_SPEED_CLAMPED;
	fem_sums_center(&moved, c);
	fem_about_center(moved.angular, moved.momentum, c, l);
	for (int i = 0; i < 3; i++) {
		task.correction[i] = (float)((momentum[i] - moved.momentum[i]) / moved.mass);
		deficit[i] = l_goal[i] - l[i];
	}
	fem_sums_solve_inertia(&moved, c, deficit, spin);
	fem_to_float3(spin, task.correction_spin);
	fem_to_float3(c, task.move.motion.center);
	fem_loop_for_light(integration->loop, integration->chunk_count, settle_task, &task);
	if (task.modal)
		keep_modal(integration->body, &moved, momentum, l_goal);
	return 0;
}

// What users hold is where they hold it.
static uint32_t finish_modal(FemIntegration *integration, FemModal *modal) {
	if (modal && modal->grab_count > 0) {
		fem_grabs_settle_positions(integration->body);
		fem_grabs_settle_velocities(integration->body, integration->dt, integration->speed_max);
	}
	if (modal && (modal->grab_count > 0 || !modal->sums.is_set))
		fem_modal_keep_placed(integration->body);
	return 0;
}

uint32_t fem_motion_integrate(FemIntegration *integration) {
	FemModal *modal = modal_of(integration);
	FemMotionSums sums;
	if (!modal || !integration->is_free ||
		!fem_modal_sums_after(integration->body, integration->gravity, integration->dt, &sums))
		sums = fem_motion_sums_after(integration);
	if (modal)
		modal->sums.is_set = false; // of the start of the step
	if (!sums.finite) {
		integration->body->went_bad = true;
		return FEM_STEP_BODY_ROLLED_BACK;
	}
	if (modal)
		fem_modal_step(modal);
	if (modal && !integration->is_free)
		fem_modal_place_held(integration->body, integration->loop);
	if (integration->rigid && !integration->is_free) {
		if (!modal) // whose frame stands
			move_pinned_rigid(integration);
		return finish_modal(integration, modal);
	}
	uint32_t errors = integration->is_free ? move_free(integration, &sums) : move_plain(integration, &sums);
	return errors | finish_modal(integration, modal);
}
