#include "dynamics/modal_unknowns.h"

#include "base/memory.h"
#include "dynamics/modal_basis.h"
#include "dynamics/modal_grabs.h"
#include "dynamics/modal_motion.h"
#include "dynamics/rigid_motion.h"
#include "dynamics/rigid_unknowns.h"
#include "fem_constants.h"
#include "model/body_step.h"
#include "model/piece.h"

#include <math.h>
#include <string.h>

// ---- open

static bool reserve_jacobians(FemModal *m, int32_t count) {
	if (count <= m->jacobian_capacity)
		return true;
	size_t one = 3 * sizeof(float) * (size_t)m->stride;
	int32_t more = 2 * m->jacobian_capacity > count ? 2 * m->jacobian_capacity : count;
	float *grown = fem_realloc(m->jacobians, one * (size_t)m->jacobian_capacity, one * (size_t)more);
	if (!grown)
		return false;
	m->jacobians = grown;
	m->jacobian_capacity = more;
	return true;
}

FemProxy fem_modal_frame(FemBody *body, bool is_free) {
	fem_modal_find_state(body);
	if (!is_free)
		return (FemProxy){0};
	FemMotionSums sums = fem_modal_sums(body);
	return fem_rigid_unknowns_of_sums(&sums);
}

// dt W^T R^T f of the user's forces.
static void add_forces(FemModal *m, FemBody *body, float dt) {
	FemVec4 *local = body->step->z;
	const float *r = m->rotation;
	for (int32_t i = 0; i < m->node_count; i++) {
		FemVec4 f = body->force[i];
		local[i] = (FemVec4){dt * (r[0] * f.x + r[3] * f.y + r[6] * f.z), dt * (r[1] * f.x + r[4] * f.y + r[7] * f.z),
			dt * (r[2] * f.x + r[5] * f.y + r[8] * f.z), 0.0f};
	}
	fem_modal_project(m, local, m->given);
}

static void add_weight(FemModal *m, FemVec3 gravity, double dt) {
	const float *r = m->rotation;
	const double g[3] = {(double)(r[0] * gravity.x + r[3] * gravity.y + r[6] * gravity.z),
		(double)(r[1] * gravity.x + r[4] * gravity.y + r[7] * gravity.z),
		(double)(r[2] * gravity.x + r[5] * gravity.y + r[8] * gravity.z)};
	for (int32_t k = 0; k < m->mode_count; k++)
		m->given[k] += dt * (g[0] * m->weight[3 * k] + g[1] * m->weight[3 * k + 1] + g[2] * m->weight[3 * k + 2]);
}

static float slip_of(float x, float z) {
	return sqrtf(x * x + z * z);
}

// Friction is that of how a point slid over the last step. Its velocity now says little of it: a mode that rests
// against the ground moves at the end of a step, and not on the mean of it.
static void begin_friction(const FemModal *m, FemBody *body, int32_t node) {
	FemVec4 *ground = &body->step->ground[node], v = body->velocity[node], *diagonal = &body->step->diagonal[node];
	float before = fmaxf(slip_of(v.x, v.z), FEM_GROUND_SLIP), after = fmaxf(m->ground_slip[node], FEM_GROUND_SLIP);
	float friction = body->ground_force[node] > 0.0f ? ground->z * before / after : ground->z;
	*diagonal = (FemVec4){diagonal->x + friction - ground->z, diagonal->y, diagonal->z + friction - ground->z, 0.0f};
	ground->z = friction;
}

static void keep_slip(FemModal *m, const FemBody *body) {
	for (int32_t n = 0; n < m->ground_count; n++) {
		int32_t i = m->ground_nodes[n];
		FemVec4 v = body->velocity[i], dv = body->step->dv[i];
		float slip = slip_of(v.x + dv.x, v.z + dv.z);
		m->ground_slip[i] = isfinite(slip) ? slip : 0.0f;
	}
}

// Of the nodes that may touch those that are spread over it best.
static void choose_ground_nodes(FemModal *m, FemBody *body) {
	int32_t most = fem_modal_points_max(m), begin = 0;
	FemVec4 *ground = body->step->ground;
	m->ground_count = 0;
	for (; m->is_near_ground && begin < m->node_count && m->ground_count < most; begin++) {
		if (ground[m->spread[begin]].w == 0.0f)
			continue;
		begin_friction(m, body, m->spread[begin]);
		m->ground_nodes[m->ground_count++] = m->spread[begin];
	}
	for (; m->is_near_ground && begin < m->node_count; begin++) {
		int32_t node = m->spread[begin];
		if (ground[node].w == 0.0f)
			continue;
		FemVec4 *diagonal = &body->step->diagonal[node];
		*diagonal =
			(FemVec4){diagonal->x - ground[node].z, diagonal->y - ground[node].x, diagonal->z - ground[node].z, 0.0f};
		ground[node] = (FemVec4){0.0f, 0.0f, 0.0f, 0.0f};
		body->ground_force[node] = 0.0f;
	}
}

// What acts on the frame but contacts: the weight, and where there is more than that a sum over the nodes.
static void find_base_load(FemModal *m, const FemBody *body, const FemProxy *rigid, FemVec3 gravity) {
	const float g[3] = {gravity.x, gravity.y, gravity.z};
	memset(m->base_impulse, 0, sizeof m->base_impulse);
	memset(m->base_extra, 0, sizeof m->base_extra);
	float damping_max = 0.0f;
	for (int32_t i = 0; i < m->node_count; i++)
		damping_max = body->mass_damping[i] > damping_max ? body->mass_damping[i] : damping_max;
	m->has_weight_only = !body->has_forces && damping_max == 0.0f;
	for (int k = 0; k < 3 && m->has_weight_only; k++)
		m->base_impulse[k] = (double)m->dt * (double)rigid->mass * (double)g[k];
	for (int32_t i = 0; i < m->node_count && !m->has_weight_only; i++) {
		FemVec4 load = body->step->rhs[i], x = body->position[i];
		const float arm[3] = {x.x - rigid->center[0], x.y - rigid->center[1], x.z - rigid->center[2]};
		const double j[3] = {load.x, load.y, load.z};
		float damping = m->dt * body->mass_damping[i], d[3] = {damping, damping, damping};
		for (int k = 0; k < 3; k++) {
			m->base_impulse[k] += j[k];
			m->base_impulse[k + 3] +=
				(double)arm[(k + 1) % 3] * j[(k + 2) % 3] - (double)arm[(k + 2) % 3] * j[(k + 1) % 3];
		}
		if (damping != 0.0f)
			fem_add_point6(m->base_extra, d, arm);
	}
}

void fem_modal_open(
	FemBody *body, FemProxy *rigid, FemVec3 gravity, float dt, int32_t contact_count, bool is_near_ground) {
	FemModal *m = body->modal;
	fem_modal_set_step(m, dt);
	for (int k = 0; k < 9; k++)
		m->rotation[k] = (float)body->pieces[0].shape_rotation[k];
	memset(m->given, 0, sizeof *m->given * (size_t)m->mode_count);
	if (body->has_forces)
		add_forces(m, body, dt);
	if (m->is_held)
		add_weight(m, gravity, (double)dt);
	for (int32_t k = 0; k < m->mode_count; k++) {
		m->start_z[k] = m->z[k];
		m->start_rate[k] = m->z_velocity[k];
		m->velocity[k] = (float)m->z_velocity[k];
		m->free_mean[k] = ((m->p11[k] - 1.0) * m->z[k] + m->p12[k] * m->z_velocity[k]) / (double)dt;
	}
	memset(m->dv, 0, sizeof *m->dv * (size_t)m->stride);
	m->is_near_ground = is_near_ground;
	choose_ground_nodes(m, body);
	find_base_load(m, body, rigid, gravity);
	m->jacobian_count = 0;
	m->is_touched = (contact_count > 0 || is_near_ground || m->grab_count > 0) &&
		reserve_jacobians(m, 2 * contact_count + FEM_GRABS_MAX + 1);
	rigid->modal = m->is_touched ? m : NULL;
}

// ---- points

typedef float Four __attribute__((vector_size(16)));

static inline Four all_four(float a) {
	return (Four){a, a, a, a};
}

static void point_jacobian(const FemModal *m, const int32_t *nodes, const float *weights, int count, float *out) {
	const float *r = m->rotation;
	int32_t fours = m->stride / 4;
	Four *j = (Four *)(void *)out;
	memset(out, 0, 3 * sizeof *out * (size_t)m->stride);
	for (int v = 0; v < count; v++) {
		const Four *w = (const Four *)(const void *)(m->shapes + 3 * (size_t)m->stride * (size_t)nodes[v]);
		float weight = weights[v];
		for (int axis = 0; weight != 0.0f && axis < 3; axis++) {
			Four a = all_four(weight * r[3 * axis]), b = all_four(weight * r[3 * axis + 1]),
				 c = all_four(weight * r[3 * axis + 2]), *to = j + axis * fours;
			for (int32_t k = 0; k < fours; k++)
				to[k] += a * w[k] + b * w[k + fours] + c * w[k + 2 * fours];
		}
	}
}

const float *fem_modal_jacobian(FemModal *m, const FemContactSide *side) {
	if (m->jacobian_count == m->jacobian_capacity)
		return NULL;
	float *out = m->jacobians + 3 * (size_t)m->stride * (size_t)m->jacobian_count++;
	point_jacobian(m, side->nodes, side->weights, side->kind == FEM_SIDE_NODE ? 1 : 4, out);
	return out;
}

// ---- ground and grabs

// J^T D J of a point, D diagonal, into the matrix of modes, as far as its diagonal, and of the frame.
static void add_block(FemModal *m, const float *jacobian, const float d[3], const float arm[3]) {
	int32_t fours = m->stride / 4;
	const Four *x = (const Four *)(const void *)jacobian, *y = x + fours, *z = y + fours;
	for (int32_t r = 0; r < m->mode_count; r++) {
		Four a = all_four(d[0] * jacobian[r]), b = all_four(d[1] * jacobian[r + m->stride]),
			 c = all_four(d[2] * jacobian[r + 2 * m->stride]);
		Four *row = (Four *)(void *)(m->extra + (size_t)r * (size_t)m->stride);
		for (int32_t k = 0; k <= r / 4; k++)
			row[k] += a * x[k] + b * y[k] + c * z[k];
	}
	Four *coupling = (Four *)(void *)m->coupling;
	Four dx = all_four(d[0]), dy = all_four(d[1]), dz = all_four(d[2]), ax = all_four(arm[0]), ay = all_four(arm[1]),
		 az = all_four(arm[2]);
	for (int32_t k = 0; k < fours; k++) { // [1, -arm x]^T D J
		Four jx = dx * x[k], jy = dy * y[k], jz = dz * z[k];
		coupling[k] += jx;
		coupling[k + fours] += jy;
		coupling[k + 2 * fours] += jz;
		coupling[k + 3 * fours] += ay * jz - az * jy;
		coupling[k + 4 * fours] += az * jx - ax * jz;
		coupling[k + 5 * fours] += ax * jy - ay * jx;
	}
	m->has_extra = true;
}

// The other half of the matrix.
static void complete_blocks(FemModal *m) {
	for (int32_t r = 0; r < m->mode_count; r++) {
		for (int32_t c = r + 1; c < m->mode_count; c++)
			m->extra[(size_t)r * (size_t)m->stride + (size_t)c] = m->extra[(size_t)c * (size_t)m->stride + (size_t)r];
	}
}

// What holds a point with strengths d and gives it the impulse g, to the unknowns of the frame.
static void add_to_frame(FemProxy *rigid, float extra[36], const float d[3], const float g[3], const float arm[3]) {
	if (rigid->mass == 0.0f)
		return;
	fem_add_point6(extra, d, arm);
	rigid->extra = extra;
	for (int i = 0; i < 3; i++) {
		rigid->impulse[i] += g[i];
		rigid->impulse[i + 3] += arm[(i + 1) % 3] * g[(i + 2) % 3] - arm[(i + 2) % 3] * g[(i + 1) % 3];
	}
}

static void load_ground(FemModal *m, const FemBody *body, FemProxy *rigid, float extra[36], float *scratch) {
	const float whole = 1.0f; // weight of a node in itself
	for (int32_t n = 0; n < m->ground_count; n++) {
		int32_t i = m->ground_nodes[n];
		FemVec4 ground = body->step->ground[i], v = body->velocity[i], x = body->position[i];
		if (ground.x == 0.0f && ground.z == 0.0f)
			continue;
		const int32_t nodes[1] = {i};
		const float d[3] = {ground.z, ground.x, ground.z};
		const float g[3] = {-ground.z * v.x, ground.x * (ground.y - v.y), -ground.z * v.z};
		const float arm[3] = {x.x - rigid->center[0], x.y - rigid->center[1], x.z - rigid->center[2]};
		point_jacobian(m, nodes, &whole, 1, scratch);
		add_block(m, scratch, d, arm);
		fem_modal_add_impulse(m, scratch, g, m->load);
		add_to_frame(rigid, extra, d, g, arm);
	}
}

// A grab is a contact that holds on all sides, towards where it is to be at the end of the step.
static void load_grabs(FemModal *m, FemBody *body, FemProxy *rigid, float extra[36], float *scratch) {
	for (int k = 0; k < FEM_GRABS_MAX; k++) {
		const FemGrab *grab = &m->grabs[k];
		if (grab->number == 0)
			continue;
		FemGrabPull pull = fem_grab_pull(body, grab, m->dt);
		float arm[3], strength = FEM_GRAB_STRENGTH * (float)m->total_mass, d[3] = {strength, strength, strength}, g[3];
		for (int i = 0; i < 3; i++) {
			arm[i] = pull.point[i] - rigid->center[i];
			g[i] = strength * (pull.goal[i] - pull.velocity[i]);
		}
		point_jacobian(m, grab->nodes, grab->weights, 4, scratch);
		add_block(m, scratch, d, arm);
		fem_modal_add_impulse(m, scratch, g, m->load);
		add_to_frame(rigid, extra, d, g, arm);
	}
}

void fem_modal_load(FemBody *body, FemProxy *rigid, float extra[36]) {
	FemModal *m = body->modal;
	memcpy(extra, m->base_extra, sizeof m->base_extra);
	rigid->extra = m->has_weight_only ? NULL : extra;
	for (int k = 0; k < 6; k++)
		rigid->impulse[k] = (float)m->base_impulse[k];
	if (!rigid->modal)
		return;
	for (int32_t k = 0; k < m->mode_count; k++)
		m->load[k] = (float)(m->inertia[k] * (m->free_mean[k] - m->z_velocity[k]) + m->given[k]);
	if (m->has_extra) {
		memset(m->extra, 0, sizeof *m->extra * (size_t)m->mode_count * (size_t)m->stride);
		memset(m->coupling, 0, 6 * sizeof *m->coupling * (size_t)m->stride);
	}
	m->has_extra = false;
	float *scratch = m->jacobians + 3 * (size_t)m->stride * (size_t)(m->jacobian_capacity - 1);
	load_ground(m, body, rigid, extra, scratch);
	if (m->grab_count > 0)
		load_grabs(m, body, rigid, extra, scratch);
	if (m->has_extra)
		complete_blocks(m);
}

// ---- conjugate gradients

void fem_modal_begin(FemModal *m) {
	size_t bytes = sizeof(float) * (size_t)m->stride;
	memcpy(m->residual, m->load, bytes);
	memset(m->direction, 0, bytes);
}

void fem_modal_drop_start(FemModal *m) {
	memset(m->dv, 0, sizeof(float) * (size_t)m->stride);
}

void fem_modal_clear_solved(FemModal *m) {
	memset(m->solved, 0, sizeof(float) * (size_t)m->stride);
}

// y [stride] = A x without contacts; x6, y6: of the frame, y6 += its coupling.
static void multiply(const FemModal *m, const float *x, const float *x6, float *y, float *y6) {
	for (int32_t k = 0; k < m->mode_count; k++)
		y[k] = (float)m->inertia[k] * x[k];
	if (!m->has_extra)
		return;
	for (int32_t r = 0; r < m->mode_count; r++) {
		const float *row = m->extra + (size_t)r * (size_t)m->stride;
		for (int32_t c = 0; c < m->stride; c++)
			y[c] += x[r] * row[c];
	}
	for (int r = 0; x6 && r < 6; r++) {
		const float *row = m->coupling + (size_t)r * (size_t)m->stride;
		float sum = 0.0f;
		for (int32_t c = 0; c < m->stride; c++) {
			y[c] += x6[r] * row[c];
			sum += row[c] * x[c];
		}
		y6[r] += sum;
	}
}

void fem_modal_couple(const FemModal *m, const float *x, float out[6]) {
	for (int r = 0; r < 6; r++) {
		const float *row = m->coupling + (size_t)r * (size_t)m->stride;
		out[r] = 0.0f;
		for (int32_t c = 0; m->has_extra && c < m->stride; c++)
			out[r] += row[c] * x[c];
	}
}

void fem_modal_subtract(FemModal *m, FemProxy *rigid) {
	float y6[6] = {0.0f};
	bool moves = rigid->mass > 0.0f;
	multiply(m, m->dv, moves ? rigid->dv : NULL, m->product, y6);
	for (int32_t k = 0; k < m->mode_count; k++)
		m->residual[k] -= m->product[k];
	for (int r = 0; moves && r < 6; r++)
		rigid->residual[r] -= y6[r];
}

double fem_modal_multiply(FemModal *m, FemProxy *rigid) {
	float y6[6] = {0.0f};
	double sum = 0.0;
	bool moves = rigid->mass > 0.0f;
	multiply(m, m->direction, moves ? rigid->direction : NULL, m->product, y6);
	for (int32_t k = 0; k < m->mode_count; k++)
		sum += (double)m->direction[k] * (double)m->product[k];
	for (int r = 0; moves && r < 6; r++) {
		rigid->product[r] += y6[r];
		sum += (double)rigid->direction[r] * (double)y6[r];
	}
	return sum;
}

void fem_modal_redirect(FemModal *m, float beta) {
	for (int32_t k = 0; k < m->mode_count; k++)
		m->direction[k] = m->solved[k] + beta * m->direction[k];
}

void fem_modal_advance(FemModal *m, float alpha) {
	for (int32_t k = 0; k < m->mode_count; k++) {
		m->dv[k] += alpha * m->direction[k];
		m->residual[k] -= alpha * m->product[k];
	}
}

// ---- preconditioner: the block of the modes, with its contacts

// What a mode feels of a contact whose other side is free to give way (contact_rows.c).
static double felt_strength(float strength, float mass) {
	return strength > 0.0f ? 1.0 / (1.0 / (double)strength + 1.0 / (double)mass) : 0.0;
}

static void add_row(FemModal *m, const FemContactRow *row, int side) {
	const float *j = row->jacobian[side];
	size_t stride = (size_t)m->stride;
	double kt = felt_strength(row->friction_strength, row->mass[1 - side]);
	double kn = felt_strength(row->normal_strength, row->mass[1 - side]) - kt;
	for (int32_t r = 0; r < m->mode_count; r++) {
		const float *n = row->normal;
		double a[3] = {j[r], j[(size_t)r + stride], j[(size_t)r + 2 * stride]};
		double along = kn * ((double)n[0] * a[0] + (double)n[1] * a[1] + (double)n[2] * a[2]);
		double x = kt * a[0] + along * (double)n[0], y = kt * a[1] + along * (double)n[1],
			   z = kt * a[2] + along * (double)n[2], *out = m->factor + (size_t)r * (size_t)m->mode_count;
		for (int32_t c = 0; c <= r; c++)
			out[c] += x * (double)j[c] + y * (double)j[(size_t)c + stride] + z * (double)j[(size_t)c + 2 * stride];
	}
}

static void factorize(double *a, int32_t n) {
	for (int32_t j = 0; j < n; j++) {
		for (int32_t i = j; i < n; i++) {
			double sum = a[(size_t)i * (size_t)n + (size_t)j];
			const double *p = a + (size_t)i * (size_t)n, *q = a + (size_t)j * (size_t)n;
			for (int32_t k = 0; k < j; k++)
				sum -= p[k] * q[k];
			// Rounding may make what contacts hold fast negative; any positive number will do for it.
			a[(size_t)i * (size_t)n + (size_t)j] =
				i == j ? sqrt(sum > 0.0 ? sum : 1.0) : sum / a[(size_t)j * (size_t)n + (size_t)j];
		}
	}
}

void fem_modal_prepare(FemModal *m, const FemContactRows *rows) {
	size_t modes = (size_t)m->mode_count;
	for (size_t r = 0; r < modes; r++) {
		for (size_t c = 0; c <= r; c++)
			m->factor[r * modes + c] =
				(m->has_extra ? (double)m->extra[r * (size_t)m->stride + c] : 0.0) + (r == c ? m->inertia[r] : 0.0);
	}
	for (int32_t r = 0; r < rows->row_count; r++) {
		for (int s = 0; s < 2; s++) {
			if (rows->rows[r].modal[s] == m)
				add_row(m, &rows->rows[r], s);
		}
	}
	factorize(m->factor, m->mode_count);
}

double fem_modal_precondition(FemModal *m) {
	double x[FEM_MODAL_MODES_MAX], sum = 0.0;
	size_t n = (size_t)m->mode_count;
	for (size_t i = 0; i < n; i++) {
		const double *row = m->factor + i * n;
		x[i] = (double)m->residual[i];
		for (size_t k = 0; k < i; k++)
			x[i] -= row[k] * x[k];
		x[i] /= row[i];
	}
	for (size_t i = n; i-- > 0;) {
		const double *row = m->factor + i * n;
		x[i] /= row[i];
		for (size_t k = 0; k < i; k++)
			x[k] -= row[k] * x[i];
	}
	for (size_t i = 0; i < n; i++) {
		m->solved[i] = (float)x[i];
		sum += (double)m->residual[i] * (double)m->solved[i];
	}
	return sum;
}

// ---- after a solve

static void spread_node(FemBody *body, const FemProxy *rigid, int32_t node) {
	const FemModal *m = body->modal;
	const float *r = m->rotation;
	float u[3], v[3] = {rigid->dv[0], rigid->dv[1], rigid->dv[2]};
	FemVec4 x = body->position[node];
	const float arm[3] = {x.x - rigid->center[0], x.y - rigid->center[1], x.z - rigid->center[2]};
	fem_modal_displacement(m, node, m->dv, u);
	if (rigid->mass > 0.0f)
		fem_cross_add(v, rigid->dv + 3, arm);
	else
		v[0] = v[1] = v[2] = 0.0f;
	for (int k = 0; k < 3; k++)
		v[k] += r[3 * k] * u[0] + r[3 * k + 1] * u[1] + r[3 * k + 2] * u[2];
	body->step->dv[node] = (FemVec4){v[0], v[1], v[2], 0.0f};
}

void fem_modal_spread(FemBody *body, const FemProxy *rigid, const FemContactRows *rows, int32_t body_index) {
	const FemModal *m = rigid->modal;
	if (!m)
		return;
	for (int32_t n = 0; n < m->ground_count; n++)
		spread_node(body, rigid, m->ground_nodes[n]);
	for (int32_t c = 0; c < rows->count; c++) {
		for (int s = 0; s < 2; s++) {
			const FemContactSide *side = &rows->contacts[c].side[s];
			if (!fem_side_is_body(side) || side->body != body_index)
				continue;
			for (int k = 0; k < (side->kind == FEM_SIDE_NODE ? 1 : 4); k++)
				spread_node(body, rigid, side->nodes[k]);
		}
	}
}

void fem_modal_close(const FemBody *body, const FemProxy *rigid) {
	FemModal *m = body->modal;
	keep_slip(m, body);
	memcpy(m->frame_gain, rigid->dv, sizeof m->frame_gain);
	for (int32_t k = 0; k < m->mode_count; k++)
		m->mean[k] =
			m->is_touched ? m->z_velocity[k] + (double)m->dv[k] : m->free_mean[k] + m->given[k] / m->inertia[k];
}
