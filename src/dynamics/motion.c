#include "dynamics/motion.h"

#include "base/vec.h"
#include "dynamics/tumbling.h"
#include "fem_constants.h"
#include "fem_destruction.h"
#include "model/body.h"
#include "model/body_step.h"
#include "model/island.h"

#include <math.h>
#include <string.h>

// Rotation of a free body or piece in a step, rad; faster spin is cut to this. Measured: at 1 crumbs gain energy, at
// 0.6 a soft stick thrown with 10 rad/s loses angular momentum at 30 Hz.
#define ROTATION_MAX 0.8
#define ROTATION_TOLD 0.99 // share kept: what spins on at the limit was told of when it came there

// Nodes lie in a point when their second moments about their centre are this share of those about the origin, which is
// rounding of a double, and on a line when the determinant of the inertia is this share of its trace cubed.
#define POINT_SHARE 1e-12
#define LINE_SHARE 1e-9

// ---- sums

static void add_node(FemMotionSums *sums, double m, const double x[3], const double v[3]) {
	sums->mass += m;
	for (int i = 0; i < 3; i++) {
		sums->moment[i] += m * x[i];
		sums->second[i] += m * x[i] * x[i];
		sums->second[i + 3] += m * x[i] * x[(i + 1) % 3];
		sums->momentum[i] += m * v[i];
		sums->angular[i] += m * (x[(i + 1) % 3] * v[(i + 2) % 3] - x[(i + 2) % 3] * v[(i + 1) % 3]);
	}
}

static void add_impulse(FemMotionSums *sums, const double x[3], const double j[3]) {
	for (int i = 0; i < 3; i++) {
		sums->impulse[i] += j[i];
		sums->torque[i] += x[(i + 1) % 3] * j[(i + 2) % 3] - x[(i + 2) % 3] * j[(i + 1) % 3];
	}
}

static FemMotionSums sum_up(const FemIntegration *integration) {
	FemMotionSums total = {.finite = true};
	for (int32_t c = 0; c < integration->chunk_count; c++) {
		const FemMotionSums *part = &integration->partials[c];
		total.mass += part->mass;
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

// a about the origin -> about the centre c: a - c x b
static void about_center(const double a[3], const double b[3], const double c[3], double out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = a[i] - (c[(i + 1) % 3] * b[(i + 2) % 3] - c[(i + 2) % 3] * b[(i + 1) % 3]);
}

// Inertia about the centre c, row by row, kg m^2. False where the nodes lie on a line or in a point.
static bool inertia_about(const FemMotionSums *sums, const double c[3], double out[9]) {
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

// out = I^-1 l, I the inertia about the centre; 0 where it is singular.
static void solve_inertia(const FemMotionSums *sums, const double c[3], const double l[3], double out[3]) {
	double inertia[9];
	if (inertia_about(sums, c, inertia))
		fem_solve3(inertia, l, out);
	else
		memset(out, 0, 3 * sizeof *out);
}

static void center_of(const FemMotionSums *sums, double c[3]) {
	for (int i = 0; i < 3; i++)
		c[i] = sums->mass > 0.0 ? sums->moment[i] / sums->mass : 0.0;
}

static void to_float(const double from[3], float to[3]) {
	for (int i = 0; i < 3; i++)
		to[i] = (float)from[i];
}

// A piece of a few tets that is struck off centre would rotate several times a step, which no step can follow: rotation
// beyond the limit would be taken for deformation, and stretch it without bound. Angular velocity w and angular
// momentum l beyond the limit are dropped. (Jolt's limit is 0.8 rad a step.) Returns the share that is kept.
static double limit_spin(double w[3], double dt, double l[3]) {
	double angle = dt * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
	double kept = angle > ROTATION_MAX ? ROTATION_MAX / angle : 1.0;
	for (int i = 0; i < 3; i++) {
		w[i] *= kept;
		l[i] *= kept;
	}
	return kept;
}

// ---- centrifugal

typedef struct MotionTask {
	FemIntegration *integration;
	FemMotion motion;
	float correction[3], correction_spin[3]; // momentum balance
	float rotation_increment[9];             // exp(theta) - 1, row by row
	float end_spin[3];                       // rad/s, after the step
	float euler[3];                          // rad/s^2, minus the angular acceleration of free tumbling
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
		add_node(&sums, body->mass[i], x, v);
	}
	integration->partials[chunk_index] = sums;
}

static void centrifugal_task(void *context, int32_t chunk_index) {
	MotionTask *task = context;
	FemBody *body = task->integration->body;
	const FemNodeChunk *chunk = &task->integration->chunks[chunk_index];
	const float *w = task->motion.spin, *c = task->motion.center, *e = task->euler;
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
	center_of(sums, c);
	to_float(c, task->motion.center);
	about_center(sums->angular, sums->momentum, c, l);
	if (!inertia_about(sums, c, inertia))
		return;
	fem_solve3(inertia, l, w);
	limit_spin(w, dt, l);
	fem_tumble(inertia, l, -dt, theta, end_spin);
	for (int i = 0; i < 3; i++)
		w[i] = -theta[i] / dt;
	for (int i = 0; i < 3; i++)
		l[i] = inertia[3 * i] * w[0] + inertia[3 * i + 1] * w[1] + inertia[3 * i + 2] * w[2];
	for (int i = 0; i < 3; i++)
		torque[i] = w[(i + 1) % 3] * l[(i + 2) % 3] - w[(i + 2) % 3] * l[(i + 1) % 3];
	fem_solve3(inertia, torque, euler);
	to_float(w, task->motion.spin);
	to_float(euler, task->euler);
}

void fem_motion_add_centrifugal(FemIntegration *integration) {
	if (!integration->is_free)
		return;
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
		if (!integration->is_free)
			continue;
		double x[3] = {p.x, p.y, p.z};
		double next[3] = {(double)v.x + dv.x, (double)v.y + dv.y, (double)v.z + dv.z};
		double m = body->mass[i], damping = body->mass_damping[i];
		double user[3] = {f.x, f.y, f.z}, now[3] = {v.x, v.y, v.z}, j[3];
		for (int k = 0; k < 3; k++) // what the momentum should be: that of before and all external impulses
			j[k] = m * now[k] + dt * (m * g[k] + user[k] - damping * next[k]);
		add_node(&sums, m, x, next);
		add_impulse(&sums, x, j);
	}
	integration->partials[chunk_index] = sums;
}

static FemVec4 clamp_speed(FemVec4 v, float speed_max, uint32_t *errors) {
	float square = v.x * v.x + v.y * v.y + v.z * v.z;
	if (square <= speed_max * speed_max)
		return v;
	*errors |= FEM_STEP_SPEED_CLAMPED;
	float scale = speed_max / sqrtf(square);
	return (FemVec4){v.x * scale, v.y * scale, v.z * scale, 0.0f};
}

// Pinned islands: plain backward Euler, x += dt v. Only the rows of pinned and driven nodes have reactions.
static void move_plain_task(void *context, int32_t chunk_index) {
	FemIntegration *integration = ((MotionTask *)context)->integration;
	FemBody *body = integration->body;
	const FemNodeChunk *chunk = &integration->chunks[chunk_index];
	uint32_t errors = 0;
	float dt = integration->dt;
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		FemVec4 v = body->velocity[i], dv = body->step->dv[i];
		if (body->node_kind[i] == FEM_NODE_FREE) {
			v = clamp_speed((FemVec4){v.x + dv.x, v.y + dv.y, v.z + dv.z, 0.0f}, integration->speed_max, &errors);
		} else if (body->reaction) {
			FemVec4 r = body->step->residual[i];
			body->reaction[i] = (FemVec4){-r.x / dt, -r.y / dt, -r.z / dt, 0.0f};
		}
		body->velocity[i] = v;
		body->position[i].x += dt * v.x;
		body->position[i].y += dt * v.y;
		body->position[i].z += dt * v.z;
	}
	integration->partials[chunk_index].finite = errors == 0;
}

static uint32_t move_plain(FemIntegration *integration) {
	MotionTask task = {.integration = integration};
	fem_loop_for_light(integration->loop, integration->chunk_count, move_plain_task, &task);
	bool clamped = false;
	for (int32_t c = 0; c < integration->chunk_count; c++)
		clamped |= !integration->partials[c].finite;
	return clamped ? FEM_STEP_SPEED_CLAMPED : 0;
}

// Rotation increment exp(theta) - 1 of the rotation vector theta (rad), row by row.
static void make_rotation_increment(const double theta[3], float out[9]) {
	FemRotationFactors factors = fem_rotation_factors(theta);
	double square = theta[0] * theta[0] + theta[1] * theta[1] + theta[2] * theta[2];
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++) {
			double twice = theta[i] * theta[k] - (i == k ? square : 0.0);
			double once = i == k ? 0.0 : ((k - i + 3) % 3 == 1 ? -theta[3 - i - k] : theta[3 - i - k]);
			out[3 * i + k] = (float)(factors.sine * once + factors.versine * twice);
		}
	}
}

static void cross_add(float out[3], const float w[3], const float r[3]) {
	for (int i = 0; i < 3; i++)
		out[i] += w[(i + 1) % 3] * r[(i + 2) % 3] - w[(i + 2) % 3] * r[(i + 1) % 3];
}

static void apply_matrix(const float m[9], const float v[3], float out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

// A velocity split into rigid motion and deformation d; r and d are rotated, then r moves by dt d (motion.h). v becomes
// the velocity after `time` (s), which may be negative.
static void move_along(const MotionTask *task, float time, float x[3], float v[3]) {
	const FemMotion *motion = &task->motion;
	float r[3], d[3], swept[3], rotated[3], rigid[3];
	for (int k = 0; k < 3; k++)
		r[k] = x[k] - motion->center[k];
	memcpy(rigid, motion->velocity, sizeof rigid);
	cross_add(rigid, motion->spin, r);
	for (int k = 0; k < 3; k++)
		d[k] = v[k] - rigid[k];
	apply_matrix(task->rotation_increment, r, swept);
	apply_matrix(task->rotation_increment, d, rotated);
	for (int k = 0; k < 3; k++) {
		rotated[k] += d[k];
		float step = time * motion->velocity[k] + swept[k] + time * rotated[k];
		r[k] += swept[k] + time * rotated[k];
		x[k] += step;
		v[k] = motion->velocity[k] + rotated[k];
	}
	cross_add(v, task->end_spin, r);
}

static void move_node(const MotionTask *task, FemBody *body, int32_t i, float x[3], float v[3]) {
	float r[3];
	for (int k = 0; k < 3; k++)
		r[k] = x[k] - task->motion.center[k];
	v[0] = body->velocity[i].x + body->step->dv[i].x + task->correction[0];
	v[1] = body->velocity[i].y + body->step->dv[i].y + task->correction[1];
	v[2] = body->velocity[i].z + body->step->dv[i].z + task->correction[2];
	cross_add(v, task->correction_spin, r);
	move_along(task, task->integration->dt, x, v);
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
		add_node(&sums, body->mass[i], xd, vd);
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
		float r[3] = {body->position[i].x - task->motion.center[0], body->position[i].y - task->motion.center[1],
			body->position[i].z - task->motion.center[2]};
		float v[3] = {task->correction[0], task->correction[1], task->correction[2]};
		cross_add(v, task->correction_spin, r);
		FemVec4 old = body->velocity[i], settled = {old.x + v[0], old.y + v[1], old.z + v[2], 0.0f};
		uint32_t clamped = 0;
		body->velocity[i] = clamp_speed(settled, task->integration->speed_max, &clamped);
	}
}

// Sets the rigid rotation of the step for the angular momentum l, which is cut to what a step can follow.
static uint32_t set_rotation(MotionTask *task, const FemMotionSums *sums, const double c[3], double l[3]) {
	double inertia[9], spin[3] = {0}, theta[3] = {0}, end_spin[3] = {0}, dt = task->integration->dt;
	uint32_t errors = 0;
	if (inertia_about(sums, c, inertia)) {
		fem_solve3(inertia, l, spin);
		double kept = limit_spin(spin, dt, l);
		errors = kept < ROTATION_TOLD ? FEM_STEP_SPEED_CLAMPED : 0;
		for (int i = 0; i < 3; i++)
			task->correction_spin[i] -= (float)((1.0 / kept - 1.0) * spin[i]);
		fem_tumble(inertia, l, dt, theta, end_spin);
	}
	to_float(spin, task->motion.spin);
	to_float(end_spin, task->end_spin);
	make_rotation_increment(theta, task->rotation_increment);
	return errors;
}

static uint32_t move_free(FemIntegration *integration, const FemMotionSums *sums) {
	MotionTask task = {.integration = integration};
	double c[3], l[3], l_goal[3], momentum[3], deficit[3], spin[3];
	center_of(sums, c);
	about_center(sums->angular, sums->momentum, c, l);
	about_center(sums->torque, sums->impulse, c, l_goal);
	bool balance = !integration->in_contact;
	for (int i = 0; i < 3; i++) {
		momentum[i] = balance ? sums->impulse[i] : sums->momentum[i];
		task.correction[i] = (float)((momentum[i] - sums->momentum[i]) / sums->mass);
		task.motion.velocity[i] = (float)(momentum[i] / sums->mass);
		l_goal[i] = balance ? l_goal[i] : l[i];
		deficit[i] = l_goal[i] - l[i];
	}
	uint32_t errors = 0;
	FemVec4 rigid = {task.motion.velocity[0], task.motion.velocity[1], task.motion.velocity[2], 0.0f};
	rigid = clamp_speed(rigid, integration->speed_max, &errors);
	if (errors) { // a force beyond all bounds: its direction is kept, momentum is not
		const float kept[3] = {rigid.x, rigid.y, rigid.z};
		for (int i = 0; i < 3; i++) {
			task.correction[i] += kept[i] - task.motion.velocity[i];
			task.motion.velocity[i] = kept[i];
		}
	}
	solve_inertia(sums, c, deficit, spin);
	to_float(spin, task.correction_spin);
	errors |= set_rotation(&task, sums, c, l_goal);
	to_float(c, task.motion.center);
	fem_loop_for_light(integration->loop, integration->chunk_count, move_task, &task);

	FemMotionSums moved = sum_up(integration);
	if (!moved.finite || errors)
		return FEM_STEP_SPEED_CLAMPED;
	center_of(&moved, c);
	about_center(moved.angular, moved.momentum, c, l);
	for (int i = 0; i < 3; i++) {
		task.correction[i] = (float)((momentum[i] - moved.momentum[i]) / moved.mass);
		deficit[i] = l_goal[i] - l[i];
	}
	solve_inertia(&moved, c, deficit, spin);
	to_float(spin, task.correction_spin);
	to_float(c, task.motion.center);
	fem_loop_for_light(integration->loop, integration->chunk_count, settle_task, &task);
	return 0;
}

// ---- groups

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
	MotionTask task = {.integration = integration};
	fem_loop_for_light(integration->loop, integration->chunk_count, end_sums_task, &task);
	FemMotionSums sums = sum_up(integration);
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
	center_of(sums, balance->center);
	for (int i = 0; i < 3; i++) {
		linear[i] = sums->impulse[i] - sums->momentum[i];
		missing[i] = sums->torque[i] - sums->angular[i];
		balance->velocity[i] = (float)(linear[i] / sums->mass);
	}
	about_center(missing, linear, balance->center, angular);
	solve_inertia(sums, balance->center, angular, spin);
	to_float(spin, balance->spin);
}

void fem_balance_share_island(const FemGroupBalance *balance, FemIntegration *integration, const double offset[3]) {
	FemBody *body = integration->body;
	float arm[3];
	for (int i = 0; i < 3; i++)
		arm[i] = (float)(offset[i] - balance->center[i]);
	for (int32_t c = 0; c < integration->chunk_count; c++) {
		for (int32_t i = integration->chunks[c].begin; i < integration->chunks[c].end; i++) {
			FemVec4 x = body->position[i];
			const float r[3] = {arm[0] + x.x, arm[1] + x.y, arm[2] + x.z};
			float v[3] = {balance->velocity[0], balance->velocity[1], balance->velocity[2]};
			cross_add(v, balance->spin, r);
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
	cross_add(v, balance->spin, r);
	for (int i = 0; i < 3; i++) {
		proxy->dv[i] += v[i];
		proxy->dv[i + 3] += balance->spin[i];
	}
}

static FemMotionSums sum_now(const FemBody *body, FemRange nodes) {
	FemMotionSums sums = {.finite = true};
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		double x[3] = {body->position[i].x, body->position[i].y, body->position[i].z};
		double v[3] = {body->velocity[i].x, body->velocity[i].y, body->velocity[i].z};
		add_node(&sums, body->mass[i], x, v);
	}
	return sums;
}

// Deformation changes the inertia on the way back, and with it the momenta: what is missing of `goal` and of the
// angular momentum `l_goal` about the centre of mass is made up rigidly.
static void restore_momenta(FemBody *body, FemRange nodes, const FemMotionSums *goal, const double l_goal[3]) {
	FemMotionSums sums = sum_now(body, nodes);
	double c[3], l[3], missing[3], w[3];
	float linear[3], spin[3], center[3];
	center_of(&sums, c);
	about_center(sums.angular, sums.momentum, c, l);
	for (int i = 0; i < 3; i++) {
		missing[i] = l_goal[i] - l[i];
		linear[i] = (float)((goal->momentum[i] - sums.momentum[i]) / sums.mass);
	}
	solve_inertia(&sums, c, missing, w);
	to_float(w, spin);
	to_float(c, center);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const FemVec4 x = body->position[i];
		const float r[3] = {x.x - center[0], x.y - center[1], x.z - center[2]};
		float v[3] = {linear[0], linear[1], linear[2]};
		cross_add(v, spin, r);
		body->velocity[i].x += v[0], body->velocity[i].y += v[1], body->velocity[i].z += v[2];
	}
}

void fem_motion_rewind(FemBody *body, FemRange nodes, float time) {
	FemMotionSums sums = sum_now(body, nodes);
	MotionTask task = {0};
	double c[3], l[3], inertia[9], spin[3] = {0}, theta[3] = {0}, end_spin[3] = {0};
	center_of(&sums, c);
	about_center(sums.angular, sums.momentum, c, l);
	if (inertia_about(&sums, c, inertia)) {
		fem_solve3(inertia, l, spin);
		fem_tumble(inertia, l, -(double)time, theta, end_spin);
	}
	to_float(c, task.motion.center);
	to_float(spin, task.motion.spin);
	to_float(end_spin, task.end_spin);
	make_rotation_increment(theta, task.rotation_increment);
	for (int i = 0; i < 3; i++)
		task.motion.velocity[i] = (float)(sums.momentum[i] / sums.mass);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		float x[3] = {body->position[i].x, body->position[i].y, body->position[i].z};
		float v[3] = {body->velocity[i].x, body->velocity[i].y, body->velocity[i].z};
		move_along(&task, -time, x, v);
		body->position[i] = (FemVec4){x[0], x[1], x[2], 0.0f};
		body->velocity[i] = (FemVec4){v[0], v[1], v[2], 0.0f};
	}
	restore_momenta(body, nodes, &sums, l);
}

uint32_t fem_motion_integrate(FemIntegration *integration) {
	MotionTask task = {.integration = integration};
	fem_loop_for_light(integration->loop, integration->chunk_count, end_sums_task, &task);
	FemMotionSums sums = sum_up(integration);
	if (!sums.finite) {
		integration->body->went_bad = true;
		return FEM_STEP_BODY_ROLLED_BACK;
	}
	return integration->is_free ? move_free(integration, &sums) : move_plain(integration);
}
