#include "dynamics/hinged_motion.h"

#include "base/assert.h"
#include "dynamics/tumbling.h"
#include "fem_destruction.h"
#include "model/body_step.h"

#include <math.h>

#define LINE_OFFSET 1e-4   // of the distance of the first and the farthest pin: farther aside there is no line; chosen
#define INERTIA_SHARE 1e-9 // of the second moments: less is rounding, and the nodes lie in the axis or on a line

typedef struct HingeTask {
	FemIntegration *integration;
	const FemHinge *hinge;
	bool is_solved;           // with the change of velocity that the solve asks for
	float center[3], spin[3]; // m; rad/s
	float euler[3];           // rad/s^2, minus the angular acceleration of free rotation
} HingeTask;

static double dot(const double a[3], const double b[3]) {
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

// ---- pins

static void from_first(const FemBody *body, int32_t node, const double first[3], double out[3]) {
	const FemVec4 x = body->position[node];
	out[0] = (double)x.x - first[0], out[1] = (double)x.y - first[1], out[2] = (double)x.z - first[2];
}

// Widens the line by one more pin; false when it lies aside of it. `length` is that of the line from its first pin.
static bool add_pin(FemHinge *hinge, const double offset[3], double *length) {
	double aside[3], distance = sqrt(dot(offset, offset));
	if (*length == 0.0 && distance > 0.0) {
		for (int i = 0; i < 3; i++)
			hinge->axis[i] = offset[i] / distance;
		hinge->is_line = true;
	}
	*length = fmax(*length, distance);
	cross(hinge->axis, offset, aside);
	return sqrt(dot(aside, aside)) <= LINE_OFFSET * *length;
}

bool fem_hinge_of_piece(const FemBody *body, FemRange nodes, FemHinge *out) {
	double length = 0.0, offset[3];
	int32_t pins = 0;
	*out = (FemHinge){0};
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		if (body->node_kind[i] == FEM_NODE_FREE)
			continue;
		if (body->node_kind[i] != FEM_NODE_PINNED)
			return false;
		if (pins++ == 0) {
			out->node = i;
			from_first(body, i, (const double[3]){0.0, 0.0, 0.0}, out->point);
		}
		from_first(body, i, out->point, offset);
		if (!add_pin(out, offset, &length))
			return false;
	}
	return pins > 0;
}

bool fem_hinge_find(const FemIntegration *integration, FemHinge *out) {
	const FemNodeChunk *chunks = integration->chunks;
	FemRange nodes = {chunks[0].begin, chunks[integration->chunk_count - 1].end};
	for (int32_t c = 1; c < integration->chunk_count; c++)
		FEM_ASSERT(!integration->is_whole || chunks[c].begin == chunks[c - 1].end);
	return integration->is_whole && fem_hinge_of_piece(integration->body, nodes, out);
}

// ---- sums about the point, over the free nodes

// With `dv`: of the velocities v + dv.
static FemMotionSums sum_nodes(const FemBody *body, FemRange nodes, const FemHinge *hinge, const FemVec4 *dv) {
	FemMotionSums sums = {.finite = true};
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 v = body->velocity[i], change = dv ? dv[i] : (FemVec4){0.0f, 0.0f, 0.0f, 0.0f};
		double x[3];
		if (body->node_kind[i] != FEM_NODE_FREE)
			continue;
		from_first(body, i, hinge->point, x);
		double next[3] = {(double)v.x + change.x, (double)v.y + change.y, (double)v.z + change.z};
		fem_sums_add_node(&sums, body->mass[i], x, next);
	}
	return sums;
}

static void sum_task(void *context, int32_t chunk_index) {
	HingeTask *task = context;
	const FemBody *body = task->integration->body;
	const FemNodeChunk *chunk = &task->integration->chunks[chunk_index];
	task->integration->partials[chunk_index] =
		sum_nodes(body, (FemRange){chunk->begin, chunk->end}, task->hinge, task->is_solved ? body->step->dv : NULL);
}

static FemMotionSums sum_up(HingeTask *task) {
	FemIntegration *integration = task->integration;
	FemMotionSums total = {.finite = true};
	fem_loop_for_light(integration->loop, integration->chunk_count, sum_task, task);
	for (int32_t c = 0; c < integration->chunk_count; c++) {
		const FemMotionSums *part = &integration->partials[c];
		for (int i = 0; i < 3; i++) {
			total.second[i] += part->second[i];
			total.second[i + 3] += part->second[i + 3];
			total.angular[i] += part->angular[i];
		}
	}
	return total;
}

// Inertia about the point. False where the angular momentum gives no rotation.
static bool inertia_of(const FemHinge *hinge, const FemMotionSums *sums, double out[9]) {
	const double *s = sums->second, origin[3] = {0.0, 0.0, 0.0};
	double trace = s[0] + s[1] + s[2], column[3];
	bool is_regular = fem_sums_inertia(sums, origin, out);
	for (int i = 0; i < 3; i++)
		column[i] = dot(out + 3 * i, hinge->axis);
	return hinge->is_line ? dot(hinge->axis, column) > INERTIA_SHARE * trace : is_regular;
}

static void spin_of(const FemHinge *hinge, const double inertia[9], const double l[3], double out[3]) {
	double column[3];
	if (!hinge->is_line) {
		fem_solve3(inertia, l, out);
		return;
	}
	for (int i = 0; i < 3; i++)
		column[i] = dot(inertia + 3 * i, hinge->axis);
	double spin = dot(hinge->axis, l) / dot(hinge->axis, column);
	for (int i = 0; i < 3; i++)
		out[i] = spin * hinge->axis[i];
}

bool fem_hinge_motion(const FemBody *body, FemRange nodes, const FemHinge *hinge, double inertia[9], double spin[3]) {
	FemMotionSums sums = sum_nodes(body, nodes, hinge, NULL);
	if (!inertia_of(hinge, &sums, inertia))
		return false;
	spin_of(hinge, inertia, sums.angular, spin);
	return true;
}

void fem_hinge_set_spin(FemBody *body, FemRange nodes, const FemHinge *hinge, const double spin[3]) {
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		double r[3], v[3] = {0.0, 0.0, 0.0};
		from_first(body, i, hinge->point, r);
		if (body->node_kind[i] == FEM_NODE_FREE)
			cross(spin, r, v);
		body->velocity[i] = (FemVec4){(float)v[0], (float)v[1], (float)v[2], 0.0f};
	}
}

// Rotation vector of a time (s, may be negative) and the angular velocity at its end. An axis that is held keeps both.
static void rotate_for(const FemHinge *hinge, const double inertia[9], const double l[3], double time, double theta[3],
	double end_spin[3]) {
	if (!hinge->is_line) {
		fem_tumble(inertia, l, time, theta, end_spin);
		return;
	}
	spin_of(hinge, inertia, l, end_spin);
	for (int i = 0; i < 3; i++)
		theta[i] = time * end_spin[i];
}

// ---- forces of the rotating frame

static void centrifugal_task(void *context, int32_t chunk_index) {
	HingeTask *task = context;
	FemBody *body = task->integration->body;
	const FemNodeChunk *chunk = &task->integration->chunks[chunk_index];
	const float *w = task->spin, *c = task->center;
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		const FemVec4 x = body->position[i];
		float r[3] = {x.x - c[0], x.y - c[1], x.z - c[2]}, push = task->integration->dt * body->mass[i];
		float once[3] = {0.0f, 0.0f, 0.0f}, sum[3] = {0.0f, 0.0f, 0.0f};
		if (body->node_kind[i] != FEM_NODE_FREE)
			continue;
		fem_cross_add(once, w, r);
		fem_cross_add(sum, once, w); // -w x (w x r)
		fem_cross_add(sum, task->euler, r);
		body->step->rhs[i].x += push * sum[0];
		body->step->rhs[i].y += push * sum[1];
		body->step->rhs[i].z += push * sum[2];
	}
}

void fem_hinge_add_centrifugal(FemIntegration *integration, const FemHinge *hinge) {
	HingeTask task = {.integration = integration, .hinge = hinge};
	FemMotionSums sums = sum_up(&task);
	double inertia[9], theta[3], w[3], l[3], torque[3], euler[3] = {0.0, 0.0, 0.0}, dt = integration->dt;
	if (!inertia_of(hinge, &sums, inertia))
		return;
	spin_of(hinge, inertia, sums.angular, w);
	double angle = dt * sqrt(dot(w, w)), kept = angle > FEM_ROTATION_MAX ? FEM_ROTATION_MAX / angle : 1.0;
	for (int i = 0; i < 3; i++)
		l[i] = kept * sums.angular[i];
	rotate_for(hinge, inertia, l, -dt, theta, w);
	for (int i = 0; i < 3; i++)
		w[i] = -theta[i] / dt;
	for (int i = 0; i < 3; i++)
		l[i] = dot(inertia + 3 * i, w);
	cross(w, l, torque);
	if (!hinge->is_line) // pins of a line bear the torque
		fem_solve3(inertia, torque, euler);
	fem_to_float3(hinge->point, task.center);
	fem_to_float3(w, task.spin);
	fem_to_float3(euler, task.euler);
	fem_loop_for_light(integration->loop, integration->chunk_count, centrifugal_task, &task);
}

// ---- the move

// What rotates farther than a step can follow loses what is beyond, as a free body does (motion.c): nodes are freed of
// all of their rotation, and get back what is left of it.
static bool find_rotation(HingeTask *task, FemHinge *hinge, FemRigidMove *out) {
	FemIntegration *integration = task->integration;
	FemMotionSums sums = sum_up(task);
	double inertia[9], spin[3], theta[3], end_spin[3];
	*out = (FemRigidMove){0};
	memcpy(hinge->angular, sums.angular, sizeof hinge->angular);
	if (!inertia_of(hinge, &sums, inertia))
		return false;
	spin_of(hinge, inertia, sums.angular, spin);
	double angle = fabs((double)integration->dt) * sqrt(dot(spin, spin));
	for (int i = 0; i < 3 && angle > FEM_ROTATION_MAX; i++)
		hinge->angular[i] *= FEM_ROTATION_MAX / angle;
	rotate_for(hinge, inertia, hinge->angular, integration->dt, theta, end_spin);
	fem_to_float3(hinge->point, out->motion.center);
	fem_to_float3(spin, out->motion.spin);
	fem_to_float3(end_spin, out->end_spin);
	fem_rigid_move_rotate(out, theta);
	return true;
}

bool fem_hinge_rotation(FemIntegration *integration, FemHinge *hinge, FemRigidMove *out) {
	HingeTask task = {.integration = integration, .hinge = hinge, .is_solved = true};
	return find_rotation(&task, hinge, out);
}

static void settle_task(void *context, int32_t chunk_index) {
	HingeTask *task = context;
	FemBody *body = task->integration->body;
	const FemNodeChunk *chunk = &task->integration->chunks[chunk_index];
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		const FemVec4 x = body->position[i];
		float r[3] = {x.x - task->center[0], x.y - task->center[1], x.z - task->center[2]}, v[3] = {0.0f, 0.0f, 0.0f};
		if (body->node_kind[i] != FEM_NODE_FREE)
			continue;
		fem_cross_add(v, task->spin, r);
		body->velocity[i].x += v[0], body->velocity[i].y += v[1], body->velocity[i].z += v[2];
	}
}

void fem_hinge_settle(FemIntegration *integration, const FemHinge *hinge) {
	HingeTask task = {.integration = integration, .hinge = hinge};
	FemMotionSums sums = sum_up(&task);
	double inertia[9], missing[3], spin[3];
	if (!inertia_of(hinge, &sums, inertia))
		return;
	for (int i = 0; i < 3; i++)
		missing[i] = hinge->angular[i] - sums.angular[i];
	spin_of(hinge, inertia, missing, spin);
	fem_to_float3(hinge->point, task.center);
	fem_to_float3(spin, task.spin);
	fem_loop_for_light(integration->loop, integration->chunk_count, settle_task, &task);
}

bool fem_hinge_rewind(FemBody *body, FemRange nodes, float time) {
	const FemNodeChunk chunk = {.begin = nodes.begin, .end = nodes.end};
	FemMotionSums sums;
	FemIntegration integration = {
		.body = body, .chunks = &chunk, .chunk_count = 1, .partials = &sums, .dt = -time, .is_whole = true};
	FemHinge hinge;
	FemRigidMove move;
	HingeTask task = {.integration = &integration, .hinge = &hinge};
	if (!fem_hinge_of_piece(body, nodes, &hinge) || !find_rotation(&task, &hinge, &move))
		return false;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		float x[3] = {body->position[i].x, body->position[i].y, body->position[i].z};
		float v[3] = {body->velocity[i].x, body->velocity[i].y, body->velocity[i].z};
		if (body->node_kind[i] != FEM_NODE_FREE)
			continue;
		fem_rigid_move_node(&move, -time, x, v);
		body->position[i] = (FemVec4){x[0], x[1], x[2], 0.0f};
		body->velocity[i] = (FemVec4){v[0], v[1], v[2], 0.0f};
	}
	fem_hinge_settle(&integration, &hinge);
	return true;
}
