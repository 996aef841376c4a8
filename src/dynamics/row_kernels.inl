// The row kernels, written once for any width; see rows.h.
#include "dynamics/rows.h"
#include "base/vec.h"
#include "fem_destruction.h"
#include "model/body.h"
#include "model/body_step.h"
#include "model/plate_elements.h"
#include "model/tet_batches.h"
#include "topology/topology.h"

// Column-major 3x3 sums of an edge: columns of 3 (the fourth lane is not used) and what goes on the diagonal.
typedef struct EdgeSum {
	Wide4 column[3];
	float diagonal;
} EdgeSum;

// + V s (lambda c_i c_j^T + mu c_j c_i^T + mu (c_i.c_j) I): the rotated stiffness of a linear tet in closed form, c = R g
// (P&O09 eq. 2 with its factor: docs/method.md, "Corrections to the papers").
static inline void add_tet(EdgeSum *sum, const FemTetBlocks *tet, int i, int j) {
	Wide4 ci = wide4_load(&tet->gradient[i].x), cj = wide4_load(&tet->gradient[j].x);
	float lambda = tet->gradient[0].w, mu = tet->gradient[1].w;
	Wide4 lambda_ci = wide4_mul(wide4_splat(lambda), ci), mu_cj = wide4_mul(wide4_splat(mu), cj);
	Wide4 product = wide4_mul(ci, mu_cj);
	sum->diagonal += wide4_lane(product, 0) + wide4_lane(product, 1) + wide4_lane(product, 2);
	sum->column[0] = wide4_add(sum->column[0], wide4_add(wide4_mul(lambda_ci, WIDE4_BROADCAST(cj, 0)), wide4_mul(mu_cj, WIDE4_BROADCAST(ci, 0))));
	sum->column[1] = wide4_add(sum->column[1], wide4_add(wide4_mul(lambda_ci, WIDE4_BROADCAST(cj, 1)), wide4_mul(mu_cj, WIDE4_BROADCAST(ci, 1))));
	sum->column[2] = wide4_add(sum->column[2], wide4_add(wide4_mul(lambda_ci, WIDE4_BROADCAST(cj, 2)), wide4_mul(mu_cj, WIDE4_BROADCAST(ci, 2))));
}

static inline float dot_lanes(const FemVec4 *a, const FemVec4 *b) {
	return a->x * b->x + a->y * b->y + a->z * b->z;
}

// - (1 - f) V s mu sum over both tangents of p_i p_j^T, p = (c.t) n + (c.n) t: transverse shear of a plate tet.
static void subtract_plate(EdgeSum *sum, const FemTetBlocks *tet, const FemTetPlate *plate, int i, int j) {
	const FemVec4 *ci = &tet->gradient[i], *cj = &tet->gradient[j], *n = &plate->normal;
	if (n->w == 0.0f)
		return;
	float in = dot_lanes(ci, n), jn = dot_lanes(cj, n);
	for (int k = 0; k < 2; k++) {
		const FemVec4 *t = &plate->tangent[k];
		float it = dot_lanes(ci, t), jt = dot_lanes(cj, t);
		Wide4 normal = wide4_load(&n->x), tangent = wide4_load(&t->x);
		Wide4 pi = wide4_add(wide4_mul(wide4_splat(it * n->w), normal), wide4_mul(wide4_splat(in * n->w), tangent));
		Wide4 pj = wide4_add(wide4_mul(wide4_splat(jt), normal), wide4_mul(wide4_splat(jn), tangent));
		sum->column[0] = wide4_sub(sum->column[0], wide4_mul(pi, WIDE4_BROADCAST(pj, 0)));
		sum->column[1] = wide4_sub(sum->column[1], wide4_mul(pi, WIDE4_BROADCAST(pj, 1)));
		sum->column[2] = wide4_sub(sum->column[2], wide4_mul(pi, WIDE4_BROADCAST(pj, 2)));
	}
}

// + V s k (c_i.a) (c_j.a) a a^T: fibres along a.
static void add_fibre(EdgeSum *sum, const FemTetBlocks *tet, const FemVec4 *fibre, int i, int j) {
	Wide4 a = wide4_load(&fibre->x);
	float along = fibre->w * dot_lanes(&tet->gradient[i], fibre) * dot_lanes(&tet->gradient[j], fibre);
	Wide4 scaled = wide4_mul(wide4_splat(along), a);
	sum->column[0] = wide4_add(sum->column[0], wide4_mul(scaled, WIDE4_BROADCAST(a, 0)));
	sum->column[1] = wide4_add(sum->column[1], wide4_mul(scaled, WIDE4_BROADCAST(a, 1)));
	sum->column[2] = wide4_add(sum->column[2], wide4_mul(scaled, WIDE4_BROADCAST(a, 2)));
}

// 9 floats: the columns overlap in their fourth lanes, in the order they are stored.
static inline void store_block(float *block, const Wide4 column[3]) {
	wide4_store(block, column[0]);
	wide4_store(block + 3, column[1]);
	wide3_store(block + 6, column[2]);
}

static inline void store_edge(const EdgeSum *sum, float *block, float *transposed) {
	// Columns of the unit matrix.
	static const float unit[3][4] = {{1.0f, 0.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 1.0f, 0.0f}};
	Wide4 column[3], row[3], diagonal = wide4_splat(sum->diagonal);
	for (int c = 0; c < 3; c++)
		column[c] = wide4_add(sum->column[c], wide4_mul(diagonal, wide4_load(unit[c])));
	wide4_transpose3(column, row);
	store_block(block, column);
	store_block(transposed, row);
}

// + the blocks of the plate cells around the edge, each of a pair of corners, or its transpose.
static void add_cells(EdgeSum *sum, const FemBody *body, int32_t edge) {
	const FemTopology *topology = body->topology;
	int32_t prisms = topology->cells.count[0];
	for (int32_t k = topology->edge_cell_start[edge]; k < topology->edge_cell_start[edge + 1]; k++) {
		int32_t packed = topology->edge_cells[k], cell = packed >> 6, i = (packed >> 3) & 7, j = packed & 7;
		if (!body->cells->is_uniform[cell])
			continue;
		bool is_prism = cell < prisms;
		int32_t low = i < j ? i : j, high = i < j ? j : i, corners = is_prism ? 6 : 8;
		int32_t pair = low * (2 * corners - low - 1) / 2 + high - low - 1;
		const float *block = body->step->cell_blocks + 12 * (int64_t)pair +
			(is_prism ? FEM_CELL_BLOCK_FLOATS(3) * (int64_t)cell
					  : FEM_CELL_BLOCK_FLOATS(3) * (int64_t)prisms + FEM_CELL_BLOCK_FLOATS(4) * (int64_t)(cell - prisms));
		Wide4 column[3] = {wide4_load(block), wide4_load(block + 4), wide4_load(block + 8)}, row[3];
		if (i > j)
			wide4_transpose3(column, row);
		for (int c = 0; c < 3; c++)
			sum->column[c] = wide4_add(sum->column[c], i > j ? row[c] : column[c]);
	}
}

static void assemble_edges(const FemBody *body, int32_t begin, int32_t end) {
	const FemTopology *topology = body->topology;
	const FemTetBlocks *blocks = body->step->tet_blocks;
	const FemTetPlate *plates = body->step->tet_plates;
	const FemVec4 *fibres = body->step->tet_fibres;
	float *row_blocks = body->step->row_blocks;
	for (int32_t edge = begin; edge < end; edge++) {
		EdgeSum sum = {{wide4_splat(0.0f), wide4_splat(0.0f), wide4_splat(0.0f)}, 0.0f};
		for (int32_t k = topology->edge_tet_start[edge]; k < topology->edge_tet_start[edge + 1]; k++) {
			int32_t packed = topology->edge_tets[k], tet = packed >> 4, i = (packed >> 2) & 3, j = packed & 3;
			if (body->cells && blocks[tet].gradient[1].w == 0.0f)
				continue; // a cell acts in its place
			add_tet(&sum, &blocks[tet], i, j);
			if (plates)
				subtract_plate(&sum, &blocks[tet], &plates[tet], i, j);
			if (fibres)
				add_fibre(&sum, &blocks[tet], &fibres[tet], i, j);
		}
		if (body->cells)
			add_cells(&sum, body, edge);
		store_edge(&sum, row_blocks + 9 * (int64_t)topology->edge_slots[2 * edge],
			row_blocks + 9 * (int64_t)topology->edge_slots[2 * edge + 1]);
	}
}

// A row has an even number of entries in pairs; a last single one is paired with nothing.
static const float zero_block[12];

static inline void sum_row(const FemBody *body, int32_t node, float m[9]) {
	const FemTopology *topology = body->topology;
	Wide4 column[3] = {wide4_splat(0.0f), wide4_splat(0.0f), wide4_splat(0.0f)};
	for (int32_t k = topology->row_start[node]; k < topology->row_start[node + 1]; k++) {
		const float *block = body->step->row_blocks + 9 * (int64_t)k;
		column[0] = wide4_add(column[0], wide4_load(block));
		column[1] = wide4_add(column[1], wide4_load(block + 3));
		column[2] = wide4_add(column[2], wide3_load(block + 6));
	}
	for (int c = 0; c < 3; c++) {
		for (int r = 0; r < 3; r++)
			m[3 * c + r] = -wide4_lane(column[c], r);
	}
}

#define RUINED 1e-6f // determinant over the product of the diagonal: ten roundings of a float

// Inverse of a symmetric positive definite 3x3 block by cofactors; 3 columns of 4 floats.
static inline void invert_block(const float m[9], float *out) {
	float a = m[0], b = m[4], c = m[8];
	float d = 0.5f * (m[1] + m[3]), e = 0.5f * (m[5] + m[7]), f = 0.5f * (m[2] + m[6]);
	float m00 = b * c - e * e, m01 = f * e - d * c, m02 = d * e - f * b;
	float m11 = a * c - f * f, m12 = d * f - a * e, m22 = a * b - d * d;
	float det = a * m00 + d * m01 + f * m02;
	// Rounding may ruin the block of a needle: then its diagonal alone preconditions.
	if (!(det > RUINED * (a * b * c))) {
		m00 = a > 0.0f ? 1.0f / a : 0.0f, m11 = b > 0.0f ? 1.0f / b : 0.0f, m22 = c > 0.0f ? 1.0f / c : 0.0f;
		m01 = m02 = m12 = 0.0f;
		det = 1.0f;
	}
	float s = 1.0f / det;
	out[0] = m00 * s, out[1] = m01 * s, out[2] = m02 * s, out[3] = 0.0f;
	out[4] = m01 * s, out[5] = m11 * s, out[6] = m12 * s, out[7] = 0.0f;
	out[8] = m02 * s, out[9] = m12 * s, out[10] = m22 * s, out[11] = 0.0f;
}

static inline void add_contact_block(float m[9], const float c[6]) {
	m[0] += c[0], m[4] += c[1], m[8] += c[2];
	m[1] += c[3], m[3] += c[3];
	m[5] += c[4], m[7] += c[4];
	m[2] += c[5], m[6] += c[5];
}

static void invert_diagonal(const FemBody *body, int32_t begin, int32_t end, float *out_diagonal_blocks) {
	for (int32_t node = begin; node < end; node++) {
		float m[9];
		sum_row(body, node, m);
		m[0] += body->step->diagonal[node].x;
		m[4] += body->step->diagonal[node].y;
		m[8] += body->step->diagonal[node].z;
		if (body->step->contact_blocks)
			add_contact_block(m, body->step->contact_blocks + 6 * (int64_t)node);
		if (out_diagonal_blocks)
			memcpy(out_diagonal_blocks + 9 * (int64_t)node, m, sizeof m);
		float *out = body->step->node_blocks + 12 * (int64_t)node;
		if (body->node_kind[node] == FEM_NODE_FREE)
			invert_block(m, out);
		else
			memset(out, 0, 12 * sizeof *out);
	}
}

static double multiply(const FemBody *body, int32_t begin, int32_t end, const FemVec4 *x, FemVec4 *y) {
	const int32_t *row_start = body->topology->row_start, *column = body->topology->row_column;
	Wide4 total = wide4_splat(0.0f);
	for (int32_t node = begin; node < end; node++) {
		Wide4 xi = wide4_load(&x[node].x);
		Pair xi2 = pair_make(xi, xi);
		Pair sum0 = pair_make(wide4_splat(0.0f), wide4_splat(0.0f)), sum1 = sum0, sum2 = sum0;
		int32_t k = row_start[node], row_end = row_start[node + 1];
		const float *block = body->step->row_blocks + 9 * (int64_t)k;
		for (; k + 1 < row_end; k += 2, block += 18) {
			Pair d = pair_sub(pair_load(&x[column[k]].x, &x[column[k + 1]].x), xi2);
			sum0 = pair_add(sum0, pair_mul(pair_load(block, block + 9), PAIR_BROADCAST(d, 0)));
			sum1 = pair_add(sum1, pair_mul(pair_load(block + 3, block + 12), PAIR_BROADCAST(d, 1)));
			sum2 = pair_add(sum2, pair_mul(pair_make(wide4_load(block + 6), wide3_load(block + 15)), PAIR_BROADCAST(d, 2)));
		}
		if (k < row_end) {
			Pair d = pair_sub(pair_make(wide4_load(&x[column[k]].x), xi), xi2);
			sum0 = pair_add(sum0, pair_mul(pair_load(block, zero_block), PAIR_BROADCAST(d, 0)));
			sum1 = pair_add(sum1, pair_mul(pair_load(block + 3, zero_block), PAIR_BROADCAST(d, 1)));
			sum2 = pair_add(sum2, pair_mul(pair_make(wide3_load(block + 6), wide4_load(zero_block)), PAIR_BROADCAST(d, 2)));
		}
		Wide4 sum = pair_fold(pair_add(pair_add(sum0, sum1), sum2));
		sum = wide4_without_w(wide4_add(sum, wide4_mul(wide4_load(&body->step->diagonal[node].x), xi)));
		wide4_store(&y[node].x, sum);
		total = wide4_add(total, wide4_mul(sum, xi));
	}
	return (double)wide4_lane(total, 0) + (double)wide4_lane(total, 1) + (double)wide4_lane(total, 2);
}

static inline Wide4 apply_block(const float *block, Wide4 r) {
	Wide4 z = wide4_mul(wide4_load(block), WIDE4_BROADCAST(r, 0));
	z = wide4_add(z, wide4_mul(wide4_load(block + 4), WIDE4_BROADCAST(r, 1)));
	return wide4_add(z, wide4_mul(wide4_load(block + 8), WIDE4_BROADCAST(r, 2)));
}

static double advance(const FemBody *body, int32_t begin, int32_t end, float a, const FemVec4 *p, const FemVec4 *q,
	FemVec4 *x, FemVec4 *r, FemVec4 *z) {
	Wide4 total = wide4_splat(0.0f), factor = wide4_splat(a);
	for (int32_t node = begin; node < end; node++) {
		Wide4 xi = wide4_add(wide4_load(&x[node].x), wide4_mul(factor, wide4_load(&p[node].x)));
		Wide4 ri = wide4_sub(wide4_load(&r[node].x), wide4_mul(factor, wide4_load(&q[node].x)));
		Wide4 zi = apply_block(body->step->node_blocks + 12 * (int64_t)node, ri);
		wide4_store(&x[node].x, xi);
		wide4_store(&r[node].x, ri);
		wide4_store(&z[node].x, zi);
		total = wide4_add(total, wide4_mul(ri, zi));
	}
	return (double)wide4_lane(total, 0) + (double)wide4_lane(total, 1) + (double)wide4_lane(total, 2);
}

static double precondition(const FemBody *body, int32_t begin, int32_t end, const FemVec4 *r, FemVec4 *z) {
	Wide4 total = wide4_splat(0.0f);
	for (int32_t node = begin; node < end; node++) {
		Wide4 ri = wide4_load(&r[node].x), zi = apply_block(body->step->node_blocks + 12 * (int64_t)node, ri);
		wide4_store(&z[node].x, zi);
		total = wide4_add(total, wide4_mul(ri, zi));
	}
	return (double)wide4_lane(total, 0) + (double)wide4_lane(total, 1) + (double)wide4_lane(total, 2);
}

static void redirect(int32_t begin, int32_t end, float b, const FemVec4 *z, FemVec4 *p) {
	Wide4 factor = wide4_splat(b);
	for (int32_t node = begin; node < end; node++)
		wide4_store(&p[node].x, wide4_add(wide4_load(&z[node].x), wide4_mul(factor, wide4_load(&p[node].x))));
}

// a x b but for a last yzx, which sums share
static inline Wide4 half_cross(Wide4 a, Wide4 b) {
	return wide4_sub(wide4_mul(a, wide4_yzx(b)), wide4_mul(wide4_yzx(a), b));
}

static void sum_motion(int32_t count, const FemVec4 *arm, const FemVec4 *r, float force[4], float torque[4]) {
	Wide4 force_sum = wide4_splat(0.0f), torque_sum = force_sum;
	for (int32_t i = 0; i < count; i++) {
		Wide4 ai = wide4_load(&arm[i].x), ri = wide4_mul(wide4_load(&r[i].x), WIDE4_BROADCAST(ai, 3));
		force_sum = wide4_add(force_sum, ri);
		torque_sum = wide4_add(torque_sum, half_cross(ai, ri));
	}
	wide4_store(force, force_sum);
	wide4_store(torque, wide4_yzx(torque_sum));
}

static void add_motion(int32_t count, const FemVec4 *arm, const float move[4], const float rotation[4], FemVec4 *x) {
	Wide4 a = wide4_without_w(wide4_load(move)), b = wide4_load(rotation);
	for (int32_t i = 0; i < count; i++) {
		Wide4 ai = wide4_load(&arm[i].x), motion = wide4_add(a, wide4_without_w(wide4_yzx(half_cross(b, ai))));
		wide4_store(&x[i].x, wide4_add(wide4_load(&x[i].x), wide4_mul(motion, WIDE4_BROADCAST(ai, 3))));
	}
}

// Eight nodes; GCC makes of it what the machine has.
typedef float Eight __attribute__((vector_size(32), may_alias));

static inline void load_eight(Eight *out, const float *from) {
	memcpy(out, from, sizeof *out);
}

// A part that is not there would be read for nothing.
static inline int32_t block_end(const FemModal *modal, int32_t block) {
	return 8 * block + 8 < modal->node_count ? 8 : modal->node_count - 8 * block;
}

static void place_modal(const FemModal *modal, const FemModalFrame *frame, FemBody *body, int32_t begin, int32_t end) {
	const float *r = frame->rotation, *w = frame->spin;
	size_t row = 8 * ((size_t)modal->mode_count + 1);
	for (int32_t block = begin; block < end; block++) {
		const float *from = modal->blocks + 3 * row * (size_t)block;
		Eight s[3], u[3], arm[3], v[3];
		for (int axis = 0; axis < 3; axis++) {
			load_eight(&s[axis], from + (size_t)axis * row);
			s[axis] -= modal->shift[axis];
			u[axis] = s[axis] - s[axis];
		}
		for (int32_t k = 0; k < modal->mode_count; k++) {
			float z = modal->dv[k], rate = modal->velocity[k];
			for (int axis = 0; axis < 3; axis++) {
				Eight shape;
				load_eight(&shape, from + (size_t)axis * row + 8 * (size_t)(k + 1));
				s[axis] += z * shape;
				u[axis] += rate * shape;
			}
		}
		for (int axis = 0; axis < 3; axis++) {
			arm[axis] = r[3 * axis] * s[0] + r[3 * axis + 1] * s[1] + r[3 * axis + 2] * s[2];
			v[axis] = r[3 * axis] * u[0] + r[3 * axis + 1] * u[1] + r[3 * axis + 2] * u[2] + frame->velocity[axis];
		}
		for (int axis = 0; axis < 3; axis++) {
			v[axis] += w[(axis + 1) % 3] * arm[(axis + 2) % 3] - w[(axis + 2) % 3] * arm[(axis + 1) % 3];
		}
		for (int axis = 0; axis < 3; axis++)
			arm[axis] = frame->center[axis] + (frame->center_rest[axis] + arm[axis]);
		for (int32_t i = 0; i < block_end(modal, block); i++) {
			int32_t node = 8 * block + i;
			body->shape[node] = (FemVec4){s[0][i], s[1][i], s[2][i], 0.0f};
			if (body->node_kind[node] == FEM_NODE_FREE) // pins stay to the bit where they are
				body->position[node] = (FemVec4){arm[0][i], arm[1][i], arm[2][i], 0.0f};
			body->velocity[node] = (FemVec4){v[0][i], v[1][i], v[2][i], 0.0f};
		}
	}
}

const FemRowKernels KERNEL_TABLE = {assemble_edges, invert_diagonal, multiply, advance, precondition, redirect, sum_motion, add_motion, place_modal};
