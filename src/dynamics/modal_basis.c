#include "dynamics/modal_basis.h"

#include "base/carve.h"
#include "base/memory.h"
#include "dynamics/modal_moments.h"
#include "topology/topology.h"

#include <math.h>
#include <string.h>

#define LENGTH_MAX 1.1    // of a mode with the body's masses, at most and, inverted, at least; chosen: 16 bits and more
#define OVERLAP_MAX 0.1   // share of a mode that may be rigid motion or other modes; chosen: the same
#define SERIES_BELOW 1e-6 // of lambda dt^2 and B dt: beyond, differences of exponentials have lost half of their digits
#define PROJECT_BLOCK 64  // nodes summed in float before the sum goes on in double; chosen

// ---- memory

static size_t place_arrays(FemModal *m, char *base) {
	FemCarver carver = {.base = base};
	size_t modes = (size_t)m->mode_count, stride = (size_t)m->stride, nodes = (size_t)m->node_count;
	fem_carve(&carver, sizeof *m);
	double **by_mode[] = {&m->eigenvalues, &m->damping, &m->z, &m->z_velocity, &m->start_z, &m->start_rate, &m->p11,
		&m->p12, &m->p21, &m->p22, &m->inertia, &m->free_mean, &m->given, &m->mean};
	float **by_stride[] = {&m->velocity, &m->load, &m->dv, &m->residual, &m->direction, &m->product, &m->solved};
	for (size_t i = 0; i < sizeof by_mode / sizeof *by_mode; i++)
		*by_mode[i] = FEM_CARVE(&carver, double, modes);
	for (size_t i = 0; i < sizeof by_stride / sizeof *by_stride; i++)
		*by_stride[i] = FEM_CARVE(&carver, float, stride);
	m->weight = FEM_CARVE(&carver, double, 3 * modes);
	m->tension = FEM_CARVE(&carver, float, modes);
	m->extra = FEM_CARVE(&carver, float, modes *stride);
	m->coupling = FEM_CARVE(&carver, float, 6 * stride);
	m->factor = FEM_CARVE(&carver, double, modes *modes);
	m->moments = FEM_CARVE(&carver, double, fem_modal_moment_count(m->mode_count));
	m->reach = FEM_CARVE(&carver, double, modes + 1);
	m->shapes = FEM_CARVE(&carver, float, 3 * stride * nodes);
	m->rest = FEM_CARVE(&carver, FemVec4, nodes);
	m->blocks = FEM_CARVE(&carver, float, 3 * 8 * (1 + modes) * fem_modal_block_count(m));
	m->spread = FEM_CARVE(&carver, int32_t, nodes);
	m->rank = FEM_CARVE(&carver, int32_t, nodes);
	m->ground_nodes = FEM_CARVE(&carver, int32_t, nodes);
	m->ground_slip = FEM_CARVE(&carver, float, nodes);
	m->placed = FEM_CARVE(&carver, FemVec4, nodes);
	m->placed_velocity = FEM_CARVE(&carver, FemVec4, nodes);
	m->node_kinds = FEM_CARVE(&carver, uint8_t, nodes);
	return carver.used;
}

FemModal *fem_modal_allocate(int32_t node_count, int32_t mode_count) {
	FemModal record = {.mode_count = mode_count, .stride = (mode_count + 3) & ~3, .node_count = node_count};
	record.block_bytes = place_arrays(&record, NULL);
	char *block = fem_alloc(record.block_bytes);
	if (!block)
		return NULL;
	place_arrays(&record, block);
	memcpy(block, &record, sizeof record);
	return (FemModal *)(void *)block;
}

void fem_modal_free(FemModal *modal) {
	if (!modal)
		return;
	FEM_FREE_ARRAY(modal->jacobians, 3 * (int64_t)modal->stride * modal->jacobian_capacity);
	fem_free(modal, modal->block_bytes);
}

// ---- basis

typedef struct Basis {
	const FemBody *body;
	int32_t nodes, count; // vectors so far
	FemVec3d *vectors;    // [vector][node]
} Basis;

static double dot(const Basis *basis, const FemVec3d *a, const FemVec3d *b) {
	double sum = 0.0;
	for (int32_t i = 0; i < basis->nodes; i++)
		sum += (double)basis->body->mass[i] * (a[i].x * b[i].x + a[i].y * b[i].y + a[i].z * b[i].z);
	return sum;
}

// Takes the vector behind the last one in, orthonormal to all before; false: next to nothing of it is left. `kept`: its
// share that must be left.
static bool accept(Basis *basis, double kept) {
	FemVec3d *v = basis->vectors + (size_t)basis->count * (size_t)basis->nodes;
	double length = sqrt(dot(basis, v, v));
	for (int pass = 0; pass < 2; pass++) { // the second for what rounding left of the first
		for (int32_t k = 0; k < basis->count; k++) {
			const FemVec3d *w = basis->vectors + (size_t)k * (size_t)basis->nodes;
			double share = dot(basis, v, w);
			for (int32_t i = 0; i < basis->nodes; i++)
				v[i] = (FemVec3d){v[i].x - share * w[i].x, v[i].y - share * w[i].y, v[i].z - share * w[i].z};
		}
	}
	double left = sqrt(dot(basis, v, v));
	if (!(left > kept * length))
		return false;
	for (int32_t i = 0; i < basis->nodes; i++)
		v[i] = (FemVec3d){v[i].x / left, v[i].y / left, v[i].z / left};
	basis->count++;
	return true;
}

static void set_rest(FemModal *m, const FemBody *body, const FemVec3d *rest) {
	FemVec3d c = {0.0, 0.0, 0.0};
	for (int32_t i = 0; i < m->node_count; i++) {
		double mass = (double)body->mass[i];
		m->total_mass += mass;
		c = (FemVec3d){c.x + mass * rest[i].x, c.y + mass * rest[i].y, c.z + mass * rest[i].z};
	}
	for (int32_t i = 0; i < m->node_count; i++)
		m->rest[i] = (FemVec4){(float)(rest[i].x - c.x / m->total_mass), (float)(rest[i].y - c.y / m->total_mass),
			(float)(rest[i].z - c.z / m->total_mass), 0.0f};
}

static void add_rigid_motions(Basis *basis, const FemModal *m) {
	for (int motion = 0; motion < 6; motion++) {
		FemVec3d *v = basis->vectors + (size_t)basis->count * (size_t)basis->nodes;
		for (int32_t i = 0; i < basis->nodes; i++) {
			double s[3] = {m->rest[i].x, m->rest[i].y, m->rest[i].z}, u[3] = {0.0, 0.0, 0.0};
			int axis = motion % 3;
			u[axis] = motion < 3 ? 1.0 : 0.0;
			u[(axis + 1) % 3] = motion < 3 ? 0.0 : -s[(axis + 2) % 3];
			u[(axis + 2) % 3] = motion < 3 ? 0.0 : s[(axis + 1) % 3];
			v[i] = (FemVec3d){u[0], u[1], u[2]};
		}
		(void)accept(basis, 1e-6); // nodes on a line have five: no such piece moves by modes
	}
}

static bool add_mode(Basis *basis, const FemModalSource *source, int32_t mode) {
	FemVec3d *v = basis->vectors + (size_t)basis->count * (size_t)basis->nodes;
	for (int32_t i = 0; i < basis->nodes; i++) {
		const float *w =
			source->shapes + 3 * ((size_t)mode * (size_t)source->row_count + (size_t)source->row_of_node[i]);
		bool is_free = basis->body->node_kind[i] == FEM_NODE_FREE;
		v[i] = is_free ? (FemVec3d){w[0], w[1], w[2]} : (FemVec3d){0.0, 0.0, 0.0};
	}
	double length = sqrt(dot(basis, v, v));
	return length < LENGTH_MAX && length > 1.0 / LENGTH_MAX && accept(basis, 1.0 - OVERLAP_MAX);
}

static void set_shape(FemModal *m, const FemBody *body, const FemVec3d *w, int32_t mode) {
	for (int32_t i = 0; i < m->node_count; i++) {
		const double u[3] = {w[i].x, w[i].y, w[i].z};
		double mass = (double)body->mass[i];
		m->damping[mode] += (double)body->mass_damping[i] * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
		for (int a = 0; a < 3; a++) {
			m->shapes[((size_t)i * 3 + (size_t)a) * (size_t)m->stride + (size_t)mode] = (float)u[a];
			m->weight[3 * mode + a] += m->is_held ? mass * u[a] : 0.0;
		}
	}
}

// Symmetric gradient of a mode in a tet: xx yy zz, then xy yz zx as shear angles.
static void strain_of(const FemBody *body, const FemVec3d *w, int32_t tet, double e[6]) {
	const FemBatch *batch = &body->batches[tet / FEM_LANES];
	int32_t lane = tet % FEM_LANES, first = fem_tet_node(body->topology, tet, 0);
	double g[3][3] = {{0.0}};
	for (int v = 1; v < 4; v++) {
		FemVec3d a = w[fem_tet_node(body->topology, tet, v)], b = w[first];
		const double u[3] = {a.x - b.x, a.y - b.y, a.z - b.z};
		for (int k = 0; k < 9; k++)
			g[k / 3][k % 3] += u[k / 3] * (double)batch->gradient[v - 1][k % 3][lane];
	}
	for (int k = 0; k < 3; k++) {
		e[k] = g[k][k];
		e[k + 3] = g[k][(k + 1) % 3] + g[(k + 1) % 3][k];
	}
}

// alpha_K of a mode is the mean over the tets, each by its share in the energy of the mode; its tension the largest.
static void measure_mode(FemModal *m, const FemBody *body, const FemVec3d *w, int32_t mode) {
	double energy = 0.0, damped = 0.0;
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		const FemBatch *batch = &body->batches[tet / FEM_LANES];
		int32_t lane = tet % FEM_LANES;
		if (body->topology->user_of_tet[tet] < 0)
			continue;
		double e[6], lambda = (double)batch->lambda[lane], mu = (double)batch->mu[lane];
		strain_of(body, w, tet, e);
		double trace = lambda * (e[0] + e[1] + e[2]), sum = 0.0, stress[6];
		for (int k = 0; k < 3; k++) {
			stress[k] = trace + 2.0 * mu * e[k];
			stress[k + 3] = mu * e[k + 3];
			sum += stress[k] * e[k] + stress[k + 3] * e[k + 3];
		}
		FemTetStress s = {{(float)stress[0], (float)stress[1], (float)stress[2], 0.0f},
			{(float)stress[3], (float)stress[4], (float)stress[5], 0.0f}};
		FemTetStress minus = {{-s.normal.x, -s.normal.y, -s.normal.z, 0.0f}, s.shear};
		m->tension[mode] = fmaxf(m->tension[mode], fmaxf(fem_tension_bound(&s), fem_tension_bound(&minus)));
		energy += sum * (double)batch->volume[lane];
		damped += sum * (double)(batch->volume[lane] * batch->damping[lane]);
	}
	m->damping[mode] += energy > 0.0 ? m->eigenvalues[mode] * damped / energy : 0.0;
}

static bool fill(FemModal *m, const FemBody *body, const FemModalSource *source, Basis *basis, int32_t *out_fault) {
	m->is_held = body->pinned_count > 0;
	memcpy(m->node_kinds, body->node_kind, (size_t)m->node_count);
	set_rest(m, body, source->rest);
	if (!m->is_held)
		add_rigid_motions(basis, m);
	for (int32_t k = 0; k < m->mode_count; k++) {
		m->eigenvalues[k] = source->eigenvalues[k];
		if (!(m->eigenvalues[k] > 0.0) || !isfinite(m->eigenvalues[k]) || !add_mode(basis, source, k)) {
			*out_fault = k;
			return false;
		}
		const FemVec3d *w = basis->vectors + (size_t)(basis->count - 1) * (size_t)basis->nodes;
		set_shape(m, body, w, k);
		measure_mode(m, body, w, k);
	}
	return true;
}

// ---- what follows from the basis

static void set_blocks(FemModal *m) {
	size_t rows = (size_t)m->mode_count + 1;
	for (int32_t i = 0; i < m->node_count; i++) {
		for (size_t axis = 0; axis < 3; axis++) {
			float *out = m->blocks + ((size_t)(i / 8) * 3 + axis) * rows * 8 + (size_t)i % 8;
			out[0] = (&m->rest[i].x)[axis];
			for (size_t k = 0; k < (size_t)m->mode_count; k++)
				out[8 * (k + 1)] = m->shapes[((size_t)i * 3 + axis) * (size_t)m->stride + k];
		}
	}
}

static float square_between(const FemVec4 *a, const FemVec4 *b) {
	float x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;
	return x * x + y * y + z * z;
}

// Begins with what is farthest from the centre of mass. Free nodes come first: what is held bears nothing.
static bool set_spread(FemModal *m) {
	float *nearest = FEM_ALLOC_ARRAY(float, m->node_count); // m^2, to those that are listed; -1: it is one
	if (!nearest)
		return false;
	for (int32_t i = 0; i < m->node_count; i++)
		nearest[i] = m->rest[i].x * m->rest[i].x + m->rest[i].y * m->rest[i].y + m->rest[i].z * m->rest[i].z;
	int32_t count = 0;
	for (; count < m->node_count && count < FEM_MODAL_SPREAD_MAX; count++) {
		int32_t best = -1;
		for (int32_t i = 0; i < m->node_count; i++) {
			if (nearest[i] >= 0.0f && m->node_kinds[i] == FEM_NODE_FREE && (best < 0 || nearest[i] > nearest[best]))
				best = i;
		}
		if (best < 0)
			break;
		m->spread[count] = best;
		for (int32_t i = 0; i < m->node_count; i++)
			nearest[i] = fminf(
				count == 0 && nearest[i] >= 0.0f ? INFINITY : nearest[i], square_between(&m->rest[i], &m->rest[best]));
		nearest[best] = -1.0f;
	}
	for (int32_t i = 0; i < m->node_count; i++) {
		if (nearest[i] >= 0.0f)
			m->spread[count++] = i;
	}
	for (int32_t n = 0; n < m->node_count; n++)
		m->rank[m->spread[n]] = n;
	FEM_FREE_ARRAY(nearest, m->node_count);
	return true;
}

bool fem_modal_complete(FemModal *m) {
	set_blocks(m);
	return set_spread(m);
}

FemModal *fem_modal_create(const FemBody *body, const FemModalSource *source, int32_t *out_fault) {
	int32_t nodes = body->topology->node_count;
	int64_t room = (int64_t)(source->mode_count + 6) * nodes;
	*out_fault = -1;
	FemModal *modal = fem_modal_allocate(nodes, source->mode_count);
	Basis basis = {.body = body, .nodes = nodes, .vectors = FEM_ALLOC_ARRAY(FemVec3d, room)};
	bool ok = modal && basis.vectors && fill(modal, body, source, &basis, out_fault) && fem_modal_complete(modal);
	FEM_FREE_ARRAY(basis.vectors, room);
	if (ok) {
		fem_modal_set_moments(modal, body);
		return modal;
	}
	fem_modal_free(modal);
	return NULL;
}

// ---- propagators

// z'' + B z' + lambda z = 0 over dt: with D = B^2/4 - lambda, z = e^(-B t/2) ((c + B/2 s) z0 + s z0'), c = cosh or cos
// of sqrt(|D|) t and s = sinh or sin of it over sqrt(|D|): damped too much, too little, or critically.
static void propagate(double lambda, double b, double dt, double *p11, double *p12) {
	double d = 0.25 * b * b - lambda, c, s;
	if (fabs(d) * dt * dt < SERIES_BELOW) { // critical
		double decay = exp(-0.5 * b * dt);
		c = decay * (1.0 + 0.5 * d * dt * dt);
		s = decay * dt * (1.0 + d * dt * dt / 6.0);
	} else if (d < 0.0) {
		double w = sqrt(-d), decay = exp(-0.5 * b * dt);
		c = decay * cos(w * dt);
		s = decay * sin(w * dt) / w;
	} else { // the slower of the two rates is lambda over the faster: B/2 - w would lose its digits
		double w = sqrt(d), fast = 0.5 * b + w, slow = lambda / fast, one = exp(-slow * dt), two = exp(-fast * dt);
		c = 0.5 * (one + two);
		s = 0.5 * (one - two) / w;
	}
	*p11 = c + 0.5 * b * s;
	*p12 = s;
}

void fem_modal_set_step(FemModal *m, float step) {
	double dt = (double)step;
	if (m->dt == step)
		return;
	m->dt = step;
	for (int32_t k = 0; k < m->mode_count; k++) {
		double lambda = m->eigenvalues[k], b = m->damping[k];
		propagate(lambda, b, dt, &m->p11[k], &m->p12[k]);
		m->p21[k] = -lambda * m->p12[k];
		m->p22[k] = m->p11[k] - b * m->p12[k];
		double small = lambda * dt * dt + b * dt, compliance = (1.0 - m->p11[k]) / (lambda * dt * dt);
		m->inertia[k] = 1.0 / (small < SERIES_BELOW ? 0.5 - b * dt / 6.0 : compliance);
	}
}

// ---- products

typedef float Four __attribute__((vector_size(16)));

void fem_modal_project(const FemModal *m, const FemVec4 *field, double *out) {
	Four sums[FEM_MODAL_MODES_MAX / 4];
	int32_t fours = m->stride / 4;
	memset(out, 0, sizeof *out * (size_t)m->mode_count);
	for (int32_t begin = 0; begin < m->node_count; begin += PROJECT_BLOCK) {
		int32_t end = begin + PROJECT_BLOCK < m->node_count ? begin + PROJECT_BLOCK : m->node_count;
		memset(sums, 0, sizeof *sums * (size_t)fours);
		for (int32_t i = begin; i < end; i++) {
			const Four *w = (const Four *)(const void *)(m->shapes + 3 * (size_t)m->stride * (size_t)i);
			Four x = {field[i].x, field[i].x, field[i].x, field[i].x},
				 y = {field[i].y, field[i].y, field[i].y, field[i].y},
				 z = {field[i].z, field[i].z, field[i].z, field[i].z};
			for (int32_t k = 0; k < fours; k++)
				sums[k] += x * w[k] + y * w[k + fours] + z * w[k + 2 * fours];
		}
		for (int32_t k = 0; k < m->mode_count; k++)
			out[k] += (double)sums[k / 4][k % 4];
	}
}

void fem_modal_displacement(const FemModal *m, int32_t node, const float *x, float out[3]) {
	const Four *w = (const Four *)(const void *)(m->shapes + 3 * (size_t)m->stride * (size_t)node);
	const Four *a = (const Four *)(const void *)x;
	int32_t fours = m->stride / 4;
	Four sum[3] = {{0.0f}, {0.0f}, {0.0f}};
	for (int32_t k = 0; k < fours; k++) {
		sum[0] += w[k] * a[k];
		sum[1] += w[k + fours] * a[k];
		sum[2] += w[k + 2 * fours] * a[k];
	}
	for (int axis = 0; axis < 3; axis++)
		out[axis] = (sum[axis][0] + sum[axis][1]) + (sum[axis][2] + sum[axis][3]);
}
