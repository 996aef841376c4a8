#include "dynamics/modal_motion.h"

#include "base/mat3.h"
#include "dynamics/modal_basis.h"
#include "dynamics/rigid_motion.h"
#include "dynamics/rows.h"
#include "dynamics/tumbling.h"
#include "model/body_step.h"
#include "model/piece.h"

#include <math.h>
#include <string.h>

#define PLACED_BLOCKS 16 // of eight nodes, that a thread places at once: about a microsecond

// ---- frame

// tr(R^T F): largest for the rotation that is wanted.
static double agreement(double f[3][3], double r[3][3]) {
	double sum = 0.0;
	for (int k = 0; k < 9; k++)
		sum += f[k / 3][k % 3] * r[k / 3][k % 3];
	return sum;
}

// The polar rotation of f. `anew`: not near the one given, so that a start half a turn off must not hold it there.
static void find_polar(double f[3][3], bool anew, double rotation[9]) {
	double best[3][3], r[3][3], start[3][3];
	memcpy(start, rotation, sizeof start);
	memcpy(best, rotation, sizeof best);
	fem_polar_polish(f, best);
	for (int axis = 0; anew && axis < 3; axis++) { // half a turn about each axis further
		for (int k = 0; k < 9; k++)
			r[k / 3][k % 3] = k % 3 == axis ? start[k / 3][k % 3] : -start[k / 3][k % 3];
		fem_polar_polish(f, r);
		if (agreement(f, r) > agreement(f, best))
			memcpy(best, r, sizeof best);
	}
	memcpy(rotation, best, sizeof best);
}

// The rotation of the frame about c, row by row. Modes hold no rotation of the rest shape: sum m s x w = 0, so that
// sum m (W z) s^T is symmetric, and the polar rotation of sum m (x - c) s^T is that of the frame whatever z is.
static void fit_rotation(
	const FemBody *body, bool pins_only, bool anew, const double c[3], const double s0[3], double rotation[9]) {
	const FemModal *m = body->modal;
	double f[3][3] = {{0.0}}, square = 0.0;
	for (int32_t i = 0; i < m->node_count; i++) {
		const float *x = &body->position[i].x, *s = &m->rest[i].x;
		double weight = !pins_only ? (double)body->mass[i] : body->node_kind[i] != FEM_NODE_FREE ? 1.0 : 0.0;
		for (int k = 0; k < 9; k++)
			f[k / 3][k % 3] += weight * ((double)x[k / 3] - c[k / 3]) * ((double)s[k % 3] - s0[k % 3]);
		for (int k = 0; k < 3; k++)
			square += weight * ((double)s[k] - s0[k]) * ((double)s[k] - s0[k]);
	}
	for (int k = 0; square > 0.0 && k < 9; k++)
		f[k / 3][k % 3] /= square;
	find_polar(f, anew, rotation);
}

// Of what is held the pins tell the frame: no mode moves them.
static void find_held_frame(FemBody *body, bool anew, double rotation[9]) {
	FemModal *m = body->modal;
	double c[3] = {0.0}, s0[3] = {0.0}, count = 0.0;
	for (int32_t i = 0; i < m->node_count; i++) {
		if (body->node_kind[i] == FEM_NODE_FREE)
			continue;
		count += 1.0;
		for (int k = 0; k < 3; k++) {
			c[k] += (double)(&body->position[i].x)[k];
			s0[k] += (double)(&m->rest[i].x)[k];
		}
	}
	for (int k = 0; k < 3; k++)
		c[k] /= count, s0[k] /= count;
	fit_rotation(body, true, anew, c, s0, rotation);
	for (int k = 0; k < 3; k++)
		m->center[k] = c[k] - (rotation[3 * k] * s0[0] + rotation[3 * k + 1] * s0[1] + rotation[3 * k + 2] * s0[2]);
}

// ---- state

// R^T v
static FemVec4 to_frame(const double r[9], const double v[3]) {
	return (FemVec4){(float)(r[0] * v[0] + r[3] * v[1] + r[6] * v[2]), (float)(r[1] * v[0] + r[4] * v[1] + r[7] * v[2]),
		(float)(r[2] * v[0] + r[5] * v[1] + r[8] * v[2]), 0.0f};
}

// z = W^T M (R^T (x - c) - s). scratch: [node]
static void find_amplitudes(FemBody *body, const double c[3], const double rotation[9], FemVec4 *scratch) {
	FemModal *m = body->modal;
	for (int32_t i = 0; i < m->node_count; i++) {
		const float *x = &body->position[i].x, mass = body->mass[i];
		double r[3] = {(double)x[0] - c[0], (double)x[1] - c[1], (double)x[2] - c[2]};
		FemVec4 u = to_frame(rotation, r), s = m->rest[i];
		scratch[i] = (FemVec4){mass * (u.x - s.x), mass * (u.y - s.y), mass * (u.z - s.z), 0.0f};
	}
	fem_modal_project(m, scratch, m->z);
}

// The motion of frame and modes that has the velocities' share in each: with r = x - c, u = W z and a_k = sum m u x
// w_k,
//   I w + sum a_k z_k' = L,   a_k.w + z_k' = p_k = sum w_k.m R^T (v - V),
// from which (I - sum a_k a_k^T) w = L - sum a_k p_k; all in axes of the frame. Without the a_k modes would lose what
// turning takes of them a second time in every step.
static void find_velocities(FemBody *body, const double rotation[9], FemVec4 *scratch) {
	FemModal *m = body->modal;
	FemMotionSums sums = fem_sums_of_nodes(body, (FemRange){0, m->node_count});
	double mean[3] = {0.0}, w[3] = {0.0};
	for (int k = 0; !m->is_held && k < 3; k++)
		mean[k] = sums.momentum[k] / sums.mass;
	for (int32_t i = 0; i < m->node_count; i++) {
		const float *v = &body->velocity[i].x;
		double mass = (double)body->mass[i];
		double relative[3] = {
			mass * ((double)v[0] - mean[0]), mass * ((double)v[1] - mean[1]), mass * ((double)v[2] - mean[2])};
		scratch[i] = to_frame(rotation, relative);
	}
	fem_modal_project(m, scratch, m->z_velocity);
	if (m->is_held)
		return;
	double c[3], l[3], local[3], inertia[9], rotated[9], a[FEM_MODAL_MODES_MAX][3];
	fem_sums_center(&sums, c);
	if (!fem_sums_inertia(&sums, c, inertia))
		return;
	fem_about_center(sums.angular, sums.momentum, c, l);
	for (int axis = 0; axis < 3; axis++) { // a_k along an axis is W^T of m (axis x u)
		double one[FEM_MODAL_MODES_MAX];
		for (int32_t i = 0; i < m->node_count; i++) {
			const float mass = body->mass[i], *s = &body->shape[i].x, *rest = &m->rest[i].x;
			float u[3] = {mass * (s[0] - rest[0]), mass * (s[1] - rest[1]), mass * (s[2] - rest[2])}, out[3];
			out[axis] = 0.0f;
			out[(axis + 1) % 3] = -u[(axis + 2) % 3];
			out[(axis + 2) % 3] = u[(axis + 1) % 3];
			scratch[i] = (FemVec4){out[0], out[1], out[2], 0.0f};
		}
		fem_modal_project(m, scratch, one);
		for (int32_t k = 0; k < m->mode_count; k++)
			a[k][axis] = one[k];
	}
	for (int i = 0; i < 3; i++) {
		local[i] = rotation[i] * l[0] + rotation[3 + i] * l[1] + rotation[6 + i] * l[2];
		for (int j = 0; j < 3; j++) {
			rotated[3 * i + j] = 0.0;
			for (int k = 0; k < 9; k++)
				rotated[3 * i + j] += rotation[3 * (k / 3) + i] * inertia[k] * rotation[3 * (k % 3) + j];
		}
	}
	for (int32_t k = 0; k < m->mode_count; k++) {
		for (int i = 0; i < 3; i++) {
			local[i] -= a[k][i] * m->z_velocity[k];
			for (int j = 0; j < 3; j++)
				rotated[3 * i + j] -= a[k][i] * a[k][j];
		}
	}
	fem_solve3(rotated, local, w);
	for (int32_t k = 0; k < m->mode_count; k++)
		m->z_velocity[k] -= a[k][0] * w[0] + a[k][1] * w[1] + a[k][2] * w[2];
}

// Shape s + W z; of what is held from the centre of mass that it has so.
static void set_shape(FemBody *body) {
	FemModal *m = body->modal;
	float z[FEM_MODAL_MODES_MAX] __attribute__((aligned(16))) = {0.0f};
	for (int32_t k = 0; k < m->mode_count; k++)
		z[k] = (float)m->z[k];
	for (int32_t i = 0; i < m->node_count; i++) {
		float u[3];
		fem_modal_displacement(m, i, z, u);
		FemVec4 s = m->rest[i];
		body->shape[i] = (FemVec4){s.x + u[0], s.y + u[1], s.z + u[2], 0.0f};
	}
}

// ---- taking

static bool is_elsewhere(const FemBody *body) {
	const FemModal *m = body->modal;
	return !m->is_placed || memcmp(m->placed, body->position, sizeof *m->placed * (size_t)m->node_count) != 0;
}

static bool is_otherwise(const FemBody *body) {
	const FemModal *m = body->modal;
	return !m->is_placed ||
		memcmp(m->placed_velocity, body->velocity, sizeof *m->placed_velocity * (size_t)m->node_count) != 0;
}

static void find_positions(FemBody *body, double rotation[9], FemVec4 *scratch, bool anew) {
	FemModal *m = body->modal;
	FemMotionSums sums = fem_sums_of_nodes(body, (FemRange){0, m->node_count});
	double c[3];
	if (m->is_held) {
		find_held_frame(body, anew, rotation);
		memcpy(c, m->center, sizeof c);
	} else {
		fem_sums_center(&sums, c);
		fit_rotation(body, false, anew, c, (double[3]){0.0, 0.0, 0.0}, rotation);
	}
	find_amplitudes(body, c, rotation, scratch);
	set_shape(body);
}

void fem_modal_find_state(FemBody *body) {
	double *rotation = body->pieces[0].shape_rotation;
	bool elsewhere = is_elsewhere(body), otherwise = is_otherwise(body);
	if (elsewhere)
		find_positions(body, rotation, body->step->product, false);
	if (otherwise)
		find_velocities(body, rotation, body->step->product);
	body->modal->sums.is_set &= !elsewhere && !otherwise;
}

// ---- sums

FemMotionSums fem_modal_sums(FemBody *body) {
	FemModal *m = body->modal;
	FemMotionSums out = {.finite = true};
	if (!m->sums.is_set) {
		out = fem_sums_of_nodes(body, (FemRange){0, m->node_count});
		fem_modal_keep_sums(body, &out, out.momentum, out.angular);
		return out;
	}
	out.mass = m->sums.mass;
	memcpy(out.moment, m->sums.moment, sizeof out.moment);
	memcpy(out.second, m->sums.second, sizeof out.second);
	memcpy(out.momentum, m->sums.momentum, sizeof out.momentum);
	memcpy(out.angular, m->sums.angular, sizeof out.angular);
	return out;
}

void fem_modal_keep_sums(FemBody *body, const FemMotionSums *sums, const double momentum[3], const double angular[3]) {
	FemModalSums *kept = &body->modal->sums;
	*kept = (FemModalSums){.is_set = true, .mass = sums->mass};
	memcpy(kept->moment, sums->moment, sizeof kept->moment);
	memcpy(kept->second, sums->second, sizeof kept->second);
	memcpy(kept->momentum, momentum, sizeof kept->momentum);
	memcpy(kept->angular, angular, sizeof kept->angular);
}

static void add_cross(double out[3], const double a[3], const double b[3]) {
	for (int k = 0; k < 3; k++)
		out[k] += a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

bool fem_modal_sums_after(FemBody *body, FemVec3 gravity, float dt, FemMotionSums *out) {
	const FemModal *m = body->modal;
	double c[3], inertia[9], gained[3];
	if (!m->sums.is_set || !m->has_weight_only)
		return false;
	*out = fem_modal_sums(body);
	fem_sums_center(out, c);
	if (!fem_sums_inertia(out, c, inertia))
		return false;
	const double fall[3] = {(double)(dt * gravity.x), (double)(dt * gravity.y), (double)(dt * gravity.z)};
	memcpy(out->torque, out->angular, sizeof out->torque);
	add_cross(out->torque, out->moment, fall);
	for (int k = 0; k < 3; k++) {
		gained[k] = (double)m->frame_gain[k];
		out->impulse[k] = out->momentum[k] + out->mass * fall[k];
		out->momentum[k] += out->mass * gained[k];
		for (int j = 0; j < 3; j++)
			out->angular[k] += inertia[3 * k + j] * (double)m->frame_gain[3 + j];
	}
	add_cross(out->angular, out->moment, gained);
	for (int k = 0; k < 3; k++)
		out->finite &= isfinite(out->momentum[k]) && isfinite(out->angular[k]);
	return true;
}

bool fem_modal_take(FemBody *body) {
	FemModal *m = body->modal;
	FemPiece *piece = &body->pieces[0];
	FemMotionSums sums = fem_sums_of_nodes(body, (FemRange){0, m->node_count});
	double c[3], inertia[9];
	fem_sums_center(&sums, c);
	if (!fem_sums_inertia(&sums, c, inertia))
		return false;
	double pose[3][3];
	fem_quat_to_matrix(body->pose_rotation, pose);
	memcpy(piece->shape_rotation, pose, sizeof pose);
	find_positions(body, piece->shape_rotation, m->placed, true); // nothing is placed yet
	find_velocities(body, piece->shape_rotation, m->placed);
	m->is_placed = m->sums.is_set = m->tets_follow = false;
	m->is_out = false;
	if (m->is_held)
		fem_modal_place_held(body, NULL);
	return true;
}

// ---- step

// z' after the step is that of a force constant over it. Where contacts pushed, that is up to twice the change of the
// mean velocity, and a mode that rests against something would rebound from it in every step without moving at all:
// there the change is taken that the mean velocity had, so far as that makes the mode no faster.
void fem_modal_step(FemModal *m) {
	double dt = (double)m->dt;
	for (int32_t k = 0; k < m->mode_count; k++) {
		double impulse = m->inertia[k] * (m->mean[k] - m->free_mean[k]), contact = impulse - m->given[k];
		double rate = m->p21[k] * m->z[k] + m->p22[k] * m->z_velocity[k] + m->p12[k] / dt * impulse;
		double calm = rate - (m->is_touched ? (m->p12[k] / dt - 1.0 / m->inertia[k]) * contact : 0.0),
			   most = fabs(rate);
		m->z[k] += dt * m->mean[k];
		m->z_velocity[k] = calm > most ? most : calm < -most ? -most : calm;
	}
	fem_modal_prepare_placing(m);
}

// The shape of a rigid piece is from its centre of mass, which the modes of what is held move.
void fem_modal_prepare_placing(FemModal *m) {
	double shift[3] = {0.0};
	for (int32_t k = 0; k < m->mode_count; k++) {
		m->dv[k] = (float)m->z[k];
		m->velocity[k] = (float)m->z_velocity[k];
		for (int i = 0; i < 3; i++)
			shift[i] += m->weight[3 * k + i] * m->z[k] / m->total_mass;
	}
	fem_to_float3(shift, m->shift);
}

typedef struct Placing {
	FemBody *body;
	FemModalFrame frame;
	const FemRowKernels *kernels;
} Placing;

static void place_task(void *context, int32_t chunk) {
	const Placing *placing = context;
	const FemModal *m = placing->body->modal;
	int32_t begin = chunk * PLACED_BLOCKS, end = begin + PLACED_BLOCKS;
	placing->kernels->place_modal(
		m, &placing->frame, placing->body, begin, end < fem_modal_block_count(m) ? end : fem_modal_block_count(m));
}

void fem_modal_place_all(FemBody *body, FemLoop *loop, const double center[3], const double rotation[9],
	const float velocity[3], const double spin[3]) {
	Placing placing = {.body = body, .kernels = fem_row_kernels(fem_simd_level())};
	FemModalFrame *frame = &placing.frame;
	for (int k = 0; k < 3; k++) {
		frame->center[k] = (float)center[k];
		frame->center_rest[k] = (float)(center[k] - (double)frame->center[k]);
		frame->velocity[k] = velocity[k];
		frame->spin[k] = (float)spin[k];
	}
	for (int k = 0; k < 9; k++)
		frame->rotation[k] = (float)rotation[k];
	int32_t chunks = (fem_modal_block_count(body->modal) + PLACED_BLOCKS - 1) / PLACED_BLOCKS;
	if (loop)
		fem_loop_for_light(loop, chunks, place_task, &placing);
	for (int32_t c = 0; !loop && c < chunks; c++)
		place_task(&placing, c);
}

// Where the centre of mass of what is held lies, which its modes move.
static void held_center(const FemBody *body, double out[3]) {
	const FemModal *m = body->modal;
	const double *r = body->pieces[0].shape_rotation;
	for (int k = 0; k < 3; k++)
		out[k] = m->center[k] + r[3 * k] * (double)m->shift[0] + r[3 * k + 1] * (double)m->shift[1] +
			r[3 * k + 2] * (double)m->shift[2];
}

void fem_modal_place(FemBody *body, const double center[3]) {
	FemModal *m = body->modal;
	const double *r = body->pieces[0].shape_rotation;
	float z[FEM_MODAL_MODES_MAX] __attribute__((aligned(16))) = {0.0f};
	fem_modal_prepare_placing(m);
	memcpy(z, m->dv, sizeof *z * (size_t)m->mode_count);
	for (int32_t i = 0; i < m->node_count; i++) {
		float *x = &body->position[i].x, u[3];
		FemVec4 rest = m->rest[i];
		fem_modal_displacement(m, i, z, u);
		const double s[3] = {(double)(rest.x + u[0]), (double)(rest.y + u[1]), (double)(rest.z + u[2])};
		body->shape[i] =
			(FemVec4){rest.x + u[0] - m->shift[0], rest.y + u[1] - m->shift[1], rest.z + u[2] - m->shift[2], 0.0f};
		for (int k = 0; k < 3 && body->node_kind[i] == FEM_NODE_FREE; k++)
			x[k] = (float)(center[k] + r[3 * k] * s[0] + r[3 * k + 1] * s[1] + r[3 * k + 2] * s[2]);
	}
}

void fem_modal_speed_up(
	FemBody *body, const double from[3], const double velocity[3], const double spin[3], const double *rates) {
	FemModal *m = body->modal;
	const double *r = body->pieces[0].shape_rotation;
	float changes[FEM_MODAL_MODES_MAX] __attribute__((aligned(16))) = {0.0f};
	for (int32_t k = 0; k < m->mode_count; k++) {
		m->z_velocity[k] += rates[k];
		changes[k] = (float)rates[k];
	}
	for (int32_t i = 0; i < m->node_count; i++) {
		float u[3], *v = &body->velocity[i].x;
		const float *x = &body->position[i].x;
		const double arm[3] = {(double)x[0] - from[0], (double)x[1] - from[1], (double)x[2] - from[2]};
		fem_modal_displacement(m, i, changes, u);
		for (int k = 0; k < 3; k++)
			v[k] += (float)(velocity[k] + spin[(k + 1) % 3] * arm[(k + 2) % 3] - spin[(k + 2) % 3] * arm[(k + 1) % 3] +
				r[3 * k] * (double)u[0] + r[3 * k + 1] * (double)u[1] + r[3 * k + 2] * (double)u[2]);
	}
}

void fem_modal_place_held(FemBody *body, FemLoop *loop) {
	double c[3];
	fem_modal_prepare_placing(body->modal);
	held_center(body, c);
	fem_modal_place_all(body, loop, c, body->pieces[0].shape_rotation, (float[3]){0.0f}, (double[3]){0.0});
}

void fem_modal_keep_placed(FemBody *body) {
	FemModal *m = body->modal;
	memcpy(m->placed, body->position, sizeof *m->placed * (size_t)m->node_count);
	memcpy(m->placed_velocity, body->velocity, sizeof *m->placed_velocity * (size_t)m->node_count);
	m->is_placed = true;
	m->sums.is_set = false;
}

void fem_modal_return_to_start(FemModal *m) {
	memcpy(m->z, m->start_z, sizeof *m->z * (size_t)m->mode_count);
	memcpy(m->z_velocity, m->start_rate, sizeof *m->z_velocity * (size_t)m->mode_count);
	m->is_placed = m->sums.is_set = false;
}
