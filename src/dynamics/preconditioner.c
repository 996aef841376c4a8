#include "dynamics/preconditioner.h"

#include "base/memory.h"
#include "base/range.h"
#include "base/vec.h"
#include "dynamics/coarse_space.h"
#include "dynamics/rows.h"
#include "dynamics/solver_policy.h"
#include "fem_constants.h"
#include "fem_destruction.h"
#include "model/body.h"
#include "model/body_step.h"
#include "topology/topology.h"

#include <math.h>
#include <string.h>

#define MEAN_MIN 1e-12f // squared length of a sum of quaternions below which they have no mean; chosen

// Relative shifts of the diagonal that keep a float factor of a stiff body definite. The smaller, the fewer iterations:
// the next one is tried when a pivot fails.
static const float factor_shifts[] = {1e-7f, 1e-6f, 1e-5f};

static int32_t entry_count(const FemTopology *topology, FemRange nodes) {
	return topology->row_start[nodes.end] - topology->row_start[nodes.begin];
}

// The component's rows with local column numbers; the caller frees `column` (count entries).
static int32_t *local_columns(
	const FemTopology *topology, FemRange nodes, int32_t **out_row_start, int32_t *out_count) {
	int32_t first = topology->row_start[nodes.begin], count = topology->row_start[nodes.end] - first;
	int32_t node_count = nodes.end - nodes.begin;
	int32_t *column = FEM_ALLOC_ARRAY(int32_t, count), *row_start = FEM_ALLOC_ARRAY(int32_t, node_count + 1);
	*out_count = count;
	*out_row_start = row_start;
	if (column && row_start) {
		for (int32_t i = 0; i <= node_count; i++)
			row_start[i] = topology->row_start[nodes.begin + i] - first;
		for (int32_t i = 0; i < count; i++)
			column[i] = topology->row_column[first + i] - nodes.begin;
		return column;
	}
	FEM_FREE_ARRAY(column, count);
	FEM_FREE_ARRAY(row_start, node_count + 1);
	return NULL;
}

static bool create_factor(FemPreconditioner *p, const FemTopology *topology, const int32_t *order) {
	int32_t *row_start, count, node_count = p->nodes.end - p->nodes.begin;
	int32_t *column = local_columns(topology, p->nodes, &row_start, &count);
	if (!column)
		return false;
	double flops;
	p->factor = fem_cholesky_create(
		node_count, row_start, column, order, 3, fem_policy_factor_flops_max(FEM_PRECONDITION_FACTOR), &flops);
	FEM_FREE_ARRAY(column, count);
	FEM_FREE_ARRAY(row_start, node_count + 1);
	if (!p->factor)
		return false;
	p->factor_cost = fem_policy_factor_cost(flops);
	p->iteration_cost = fem_policy_rows_cost(node_count, count) + fem_policy_kept_cost(fem_cholesky_bytes(p->factor));
	p->workspace_floats = fem_cholesky_workspace(p->factor) + 4 * (size_t)node_count;
	p->workspace = FEM_ALLOC_ARRAY(float, p->workspace_floats);
	p->node_frames = FEM_ALLOC_ARRAY(FemVec4, node_count);
	p->node_rotations = FEM_ALLOC_ARRAY(float, 9 * (size_t)node_count);
	p->node_loads = FEM_ALLOC_ARRAY(float, node_count);
	p->kind = FEM_PRECONDITION_FACTOR;
	return p->workspace && p->node_frames && p->node_rotations && p->node_loads;
}

static bool create_two_level(
	FemPreconditioner *p, const FemTopology *topology, const int32_t *part_order, int32_t component) {
	FemPartGraph graph;
	if (!fem_coarse_groups_create(&p->groups, topology, component, part_order) ||
		!fem_part_graph_create(&graph, topology, component, &p->groups))
		return false;
	p->coarse_row_start = graph.row_start; // the graph's memory is kept
	p->coarse_column = graph.column;
	int32_t group_count = graph.part_count, entries = graph.row_start[group_count];
	double flops;
	p->factor =
		fem_cholesky_create(group_count, graph.row_start, graph.column, p->groups.order ? p->groups.order : part_order,
			6, fem_policy_factor_flops_max(FEM_PRECONDITION_TWO_LEVEL), &flops);
	p->factor_cost = fem_policy_two_level_cost(flops, entry_count(topology, p->nodes));
	p->iteration_cost = fem_policy_rows_cost(p->nodes.end - p->nodes.begin, entry_count(topology, p->nodes));
	p->kind = FEM_PRECONDITION_TWO_LEVEL;
	if (!p->factor)
		return false;
	p->workspace_floats = fem_cholesky_workspace(p->factor);
	p->workspace = FEM_ALLOC_ARRAY(float, p->workspace_floats);
	p->frames = FEM_ALLOC_ARRAY(FemPartFrame, group_count);
	p->arms = FEM_ALLOC_ARRAY(FemVec4, p->nodes.end - p->nodes.begin);
	p->coarse_diagonal = FEM_ALLOC_ARRAY(float, 36 * (size_t)group_count);
	p->coarse_blocks = FEM_ALLOC_ARRAY(float, 36 * (size_t)entries);
	p->coarse_vector = FEM_ALLOC_ARRAY(float, 8 * (size_t)group_count);
	return p->workspace && p->frames && p->arms && p->coarse_diagonal && (p->coarse_blocks || entries == 0) &&
		p->coarse_vector;
}

// About the radius of a group, from the rest shape, which a snapshot keeps. Each tet gives a quarter to each of its
// nodes.
static float group_length(const FemBody *body, FemRange nodes, int32_t group_count) {
	const FemTopology *topology = body->topology;
	double volume = 0.0;
	for (int32_t k = topology->node_tet_start[nodes.begin]; k < topology->node_tet_start[nodes.end]; k++) {
		int32_t tet = topology->node_tets[k] >> 2;
		volume += 0.25 * (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
	}
	return (float)(0.5 * cbrt(volume / group_count));
}

void fem_preconditioner_create(
	FemPreconditioner *p, const FemBody *body, int32_t component, FemPreconditionerOrders orders) {
	const FemTopology *topology = body->topology;
	*p = (FemPreconditioner){
		.nodes = topology->component_nodes[component], .parts = topology->component_parts[component]};
	if (orders.node_order && create_factor(p, topology, orders.node_order))
		return;
	fem_preconditioner_free(p); // what a factor had when memory failed
	bool wants_two_level = orders.part_order && fem_policy_takes_two_levels(p->parts.end - p->parts.begin);
	if (wants_two_level && create_two_level(p, topology, orders.part_order, component)) {
		p->length = group_length(body, p->nodes, p->groups.count);
		return;
	}
	fem_preconditioner_free(p);
	p->kind = FEM_PRECONDITION_JACOBI;
}

void fem_preconditioner_free(FemPreconditioner *p) {
	size_t node_count = (size_t)(p->nodes.end - p->nodes.begin), group_count = (size_t)p->groups.count;
	fem_cholesky_destroy(p->factor);
	FEM_FREE_ARRAY(p->workspace, p->workspace_floats);
	FEM_FREE_ARRAY(p->node_frames, node_count);
	FEM_FREE_ARRAY(p->node_rotations, 9 * node_count);
	FEM_FREE_ARRAY(p->node_loads, node_count);
	FEM_FREE_ARRAY(p->frames, group_count);
	FEM_FREE_ARRAY(p->arms, node_count);
	FEM_FREE_ARRAY(p->coarse_diagonal, 36 * group_count);
	FEM_FREE_ARRAY(p->coarse_vector, 8 * group_count);
	if (p->coarse_row_start) {
		FEM_FREE_ARRAY(p->coarse_blocks, 36 * (size_t)p->coarse_row_start[group_count]);
		FemPartGraph graph = {(int32_t)group_count, p->coarse_row_start, p->coarse_column};
		fem_part_graph_free(&graph);
	}
	fem_coarse_groups_free(&p->groups);
	FemRange nodes = p->nodes, parts = p->parts;
	*p = (FemPreconditioner){.nodes = nodes, .parts = parts};
}

size_t fem_preconditioner_bytes(const FemPreconditioner *p) {
	size_t node_count = (size_t)(p->nodes.end - p->nodes.begin), group_count = (size_t)p->groups.count;
	size_t entries = p->coarse_row_start ? (size_t)p->coarse_row_start[group_count] : 0;
	return (p->factor ? fem_cholesky_bytes(p->factor) : 0) + p->workspace_floats * sizeof(float) +
		(p->node_frames ? node_count * (sizeof(FemVec4) + 10 * sizeof(float)) : 0) +
		(p->arms ? node_count * sizeof(FemVec4) : 0) + fem_coarse_groups_bytes(&p->groups) +
		(p->frames ? group_count * (sizeof *p->frames + 44 * sizeof(float)) + entries * 37 * sizeof(float) : 0);
}

// ---- node frames

// Rotation of a node: the mean of the tets around it.
static FemVec4 node_rotation(const FemBody *body, int32_t node) {
	const FemTopology *topology = body->topology;
	FemVec4 sum = {0.0f, 0.0f, 0.0f, 0.0f}, first = {0.0f, 0.0f, 0.0f, 1.0f};
	for (int32_t k = topology->node_tet_start[node]; k < topology->node_tet_start[node + 1]; k++) {
		FemVec4 q = body->rotation[topology->node_tets[k] >> 2];
		if (k == topology->node_tet_start[node])
			first = q;
		// q and -q are the same rotation
		float sign = q.x * first.x + q.y * first.y + q.z * first.z + q.w * first.w < 0.0f ? -1.0f : 1.0f;
		sum.x += sign * q.x, sum.y += sign * q.y, sum.z += sign * q.z, sum.w += sign * q.w;
	}
	float square = sum.x * sum.x + sum.y * sum.y + sum.z * sum.z + sum.w * sum.w;
	if (!(square > MEAN_MIN))
		return first;
	float scale = 1.0f / sqrtf(square);
	return (FemVec4){sum.x * scale, sum.y * scale, sum.z * scale, sum.w * scale};
}

// Rotation matrix of now * before^-1, row by row.
static void rotation_between(FemVec4 now, FemVec4 before, float m[9]) {
	FemVec4 q = {
		-now.w * before.x + now.x * before.w - now.y * before.z + now.z * before.y,
		-now.w * before.y + now.x * before.z + now.y * before.w - now.z * before.x,
		-now.w * before.z - now.x * before.y + now.y * before.x + now.z * before.w,
		now.w * before.w + now.x * before.x + now.y * before.y + now.z * before.z,
	};
	fem_rotation_matrix(q, m);
}

static float node_load(const FemBody *body, int32_t node) {
	FemVec4 d = body->step->diagonal[node];
	const float *c = body->step->contact_blocks ? body->step->contact_blocks + 6 * (int64_t)node : NULL;
	return d.x + d.y + d.z + (c ? c[0] + c[1] + c[2] : 0.0f);
}

static void make_factor(FemPreconditioner *p, const FemBody *body, float *diagonal_blocks, bool has_moved) {
	const FemRowKernels *kernels = fem_row_kernels(fem_simd_level());
	kernels->invert_diagonal(body, p->nodes.begin, p->nodes.end, diagonal_blocks);
	const float *blocks = body->step->row_blocks + 9 * (int64_t)body->topology->row_start[p->nodes.begin];
	p->valid = false;
	for (size_t i = 0; !p->valid && i < sizeof factor_shifts / sizeof *factor_shifts; i++)
		p->valid = fem_cholesky_factor(p->factor, diagonal_blocks + 9 * (int64_t)p->nodes.begin, blocks,
			body->node_kind + p->nodes.begin, factor_shifts[i]);
	p->factorizations++;
	for (int32_t i = p->nodes.begin; i < p->nodes.end; i++)
		p->node_loads[i - p->nodes.begin] = node_load(body, i);
	if (!has_moved && !p->is_rotated)
		return; // the frames are of this step
	p->is_rotated = false;
	for (int32_t i = p->nodes.begin; i < p->nodes.end; i++)
		p->node_frames[i - p->nodes.begin] = node_rotation(body, i);
}

// Whether contacts have come or gone, since the factor was made in this step, that count beside the stiffness of their
// nodes.
static bool load_has_changed(const FemPreconditioner *p, const FemBody *body, const float *diagonal_blocks) {
	for (int32_t i = p->nodes.begin; i < p->nodes.end; i++) {
		const float *m = diagonal_blocks + 9 * (int64_t)i;
		if (fem_policy_load_counts(node_load(body, i) - p->node_loads[i - p->nodes.begin], m[0] + m[4] + m[8]))
			return true;
	}
	return false;
}

static void rotate_factor(FemPreconditioner *p, const FemBody *body) {
	p->is_rotated = true;
	for (int32_t i = 0; i < p->nodes.end - p->nodes.begin; i++)
		rotation_between(
			node_rotation(body, p->nodes.begin + i), p->node_frames[i], p->node_rotations + 9 * (int64_t)i);
}

static double dot(const FemVec4 *a, const FemVec4 *b, int32_t count) {
	double sum = 0.0;
	for (int32_t i = 0; i < count; i++)
		sum += (double)(a[i].x * b[i].x + a[i].y * b[i].y + a[i].z * b[i].z);
	return sum;
}

// z = T A^-1 T^T r, T the rotations of the nodes since the factor was made.
static void solve_rotated(const FemPreconditioner *p, const uint8_t *node_kind, const FemVec4 *r, FemVec4 *z) {
	int32_t node_count = p->nodes.end - p->nodes.begin;
	float *rotated = p->workspace + (p->workspace_floats - 4 * (size_t)node_count);
	for (int32_t i = 0; i < node_count; i++) {
		const float *m = p->node_rotations + 9 * (int64_t)i;
		FemVec4 v = r[i];
		float *t = rotated + 4 * (int64_t)i;
		bool is_free = node_kind[i] == FEM_NODE_FREE;
		t[0] = is_free ? m[0] * v.x + m[3] * v.y + m[6] * v.z : 0.0f;
		t[1] = is_free ? m[1] * v.x + m[4] * v.y + m[7] * v.z : 0.0f;
		t[2] = is_free ? m[2] * v.x + m[5] * v.y + m[8] * v.z : 0.0f;
		t[3] = 0.0f;
	}
	fem_cholesky_solve(p->factor, rotated, rotated, 4, p->workspace);
	for (int32_t i = 0; i < node_count; i++) {
		const float *m = p->node_rotations + 9 * (int64_t)i, *t = rotated + 4 * (int64_t)i;
		z[i] = (FemVec4){
			m[0] * t[0] + m[1] * t[1] + m[2] * t[2],
			m[3] * t[0] + m[4] * t[1] + m[5] * t[2],
			m[6] * t[0] + m[7] * t[1] + m[8] * t[2],
			0.0f,
		};
	}
}

double fem_preconditioner_solve(const FemPreconditioner *p, const FemBody *body, const FemVec4 *r, FemVec4 *z) {
	r += p->nodes.begin, z += p->nodes.begin;
	if (p->is_rotated)
		solve_rotated(p, body->node_kind + p->nodes.begin, r, z);
	else // the factor's own pinned nodes are those of now
		fem_cholesky_solve(p->factor, &r->x, &z->x, 4, p->workspace);
	return dot(r, z, p->nodes.end - p->nodes.begin);
}

// ---- refreshing

void fem_preconditioner_prepare(
	FemPreconditioner *p, const FemBody *body, FemLoop *loop, float *diagonal_blocks, FemMatrixChange change) {
	if (p->kind == FEM_PRECONDITION_JACOBI)
		return;
	FemRenewal renewal = fem_policy_renewal(p, change);
	bool refresh =
		renewal == FEM_RENEWAL_ANEW || (renewal == FEM_RENEWAL_IF_LOADED && load_has_changed(p, body, diagonal_blocks));
	if (p->kind == FEM_PRECONDITION_TWO_LEVEL && (refresh || change.has_moved))
		fem_coarse_prepare(p, body, loop, refresh);
	else if (p->kind == FEM_PRECONDITION_FACTOR && refresh)
		make_factor(p, body, diagonal_blocks, change.has_moved);
	else if (p->kind == FEM_PRECONDITION_FACTOR && change.has_moved)
		rotate_factor(p, body);
	if (refresh)
		fem_policy_note_renewed(p);
}

// ---- snapshot

typedef struct KeptState {
	int32_t kind, valid, fresh_iterations, unused;
	double wasted_cost;
	int64_t factorizations;
} KeptState;

static size_t frames_bytes(const FemPreconditioner *p) {
	return p->node_frames ? sizeof(FemVec4) * (size_t)(p->nodes.end - p->nodes.begin) : 0;
}

size_t fem_preconditioner_state_size(const FemPreconditioner *p) {
	return sizeof(KeptState) + frames_bytes(p) + (p->factor ? fem_cholesky_state_size(p->factor) : 0);
}

void fem_preconditioner_state_write(const FemPreconditioner *p, void *out) {
	KeptState state = {
		.kind = (int32_t)p->kind,
		.valid = p->valid,
		.fresh_iterations = p->fresh_iterations,
		.wasted_cost = p->wasted_cost,
		.factorizations = p->factorizations,
	};
	char *to = out;
	memcpy(to, &state, sizeof state);
	to += sizeof state;
	if (p->node_frames)
		memcpy(to, p->node_frames, frames_bytes(p));
	if (p->factor && p->valid)
		fem_cholesky_state_write(p->factor, to + frames_bytes(p));
	else if (p->factor) // it was never made, or will be made anew: equal worlds have equal snapshots
		memset(to + frames_bytes(p), 0, fem_cholesky_state_size(p->factor));
}

bool fem_preconditioner_state_read(FemPreconditioner *p, const void *data) {
	KeptState state;
	const char *from = data;
	memcpy(&state, from, sizeof state);
	if (state.kind != (int32_t)p->kind)
		return false;
	from += sizeof state;
	p->valid = state.valid != 0;
	p->fresh_iterations = state.fresh_iterations;
	p->wasted_cost = state.wasted_cost;
	p->factorizations = state.factorizations;
	if (p->node_frames)
		memcpy(p->node_frames, from, frames_bytes(p));
	if (p->factor)
		fem_cholesky_state_read(p->factor, from + frames_bytes(p));
	return true;
}
