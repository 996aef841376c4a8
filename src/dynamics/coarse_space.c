#include "dynamics/coarse_space.h"

#include "base/memory.h"
#include "base/range.h"
#include "base/vec.h"
#include "dynamics/rows.h"
#include "fem_destruction.h"
#include "model/body.h"
#include "model/body_step.h"
#include "topology/topology.h"

#include <math.h>
#include <string.h>

#define MEAN_MIN 1e-12f // squared length of a sum of quaternions below which they have no mean; chosen

// Of the largest diagonal entry: a part of one node has no rotational stiffness. Ten times a float's rounding.
#define COARSE_SHIFT 1e-6f

// ---- groups

typedef struct Component {
	const FemCoarseGroups *groups;
	const FemTopology *topology;
	FemRange nodes, parts;
} Component;

static Component component_of(const FemPreconditioner *p, const FemBody *body) {
	return (Component){&p->groups, body->topology, p->nodes, p->parts};
}

static int32_t group_of(const Component *c, int32_t node) {
	return c->groups->of_node ? c->groups->of_node[node - c->nodes.begin]
							  : c->topology->node_part[node] - c->parts.begin;
}

// The nodes of a group are node_at() of these places.
static FemRange places_of(const Component *c, int32_t group) {
	return c->groups->nodes ? (FemRange){c->groups->start[group], c->groups->start[group + 1]}
							: c->topology->part_nodes[c->parts.begin + group];
}

static int32_t node_at(const Component *c, int32_t place) {
	return c->groups->nodes ? c->nodes.begin + c->groups->nodes[place] : place;
}

// ---- graph

// The groups beside a group, from graph->row_start[group] on.
static int32_t list_neighbours(FemPartGraph *graph, const Component *of, int32_t group, int32_t *seen) {
	const FemTopology *topology = of->topology;
	int32_t count = graph->row_start[group];
	FemRange places = places_of(of, group);
	for (int32_t at = places.begin; at < places.end; at++) {
		int32_t node = node_at(of, at);
		for (int32_t k = topology->row_start[node]; k < topology->row_start[node + 1]; k++) {
			int32_t other = group_of(of, topology->row_column[k]);
			if (other == group || seen[other] == group + 1)
				continue;
			seen[other] = group + 1;
			if (graph->column)
				graph->column[count] = other;
			count++;
		}
	}
	return count;
}

bool fem_part_graph_create(
	FemPartGraph *graph, const FemTopology *topology, int32_t component, const FemCoarseGroups *groups) {
	FemCoarseGroups none = {0};
	FemRange parts = topology->component_parts[component];
	Component of = {groups ? groups : &none, topology, topology->component_nodes[component], parts};
	int32_t part_count = of.groups->nodes ? of.groups->count : parts.end - parts.begin;
	*graph = (FemPartGraph){.part_count = part_count};
	graph->row_start = FEM_ALLOC_ARRAY(int32_t, part_count + 1);
	int32_t *seen = FEM_ALLOC_ARRAY(int32_t, part_count); // last group that listed this one, + 1
	if (!graph->row_start || !seen)
		goto fail;
	for (int pass = 0; pass < 2; pass++) { // count, then write
		memset(seen, 0, sizeof *seen * (size_t)part_count);
		int32_t count = 0;
		for (int32_t part = 0; part < part_count; part++) {
			graph->row_start[part] = count;
			count = list_neighbours(graph, &of, part, seen);
			for (int32_t i = graph->row_start[part] + 1; graph->column && i < count; i++) { // ascending
				int32_t value = graph->column[i], j = i;
				for (; j > graph->row_start[part] && graph->column[j - 1] > value; j--)
					graph->column[j] = graph->column[j - 1];
				graph->column[j] = value;
			}
		}
		graph->row_start[part_count] = count;
		if (pass == 0 && !(graph->column = FEM_ALLOC_ARRAY(int32_t, count + 1)))
			goto fail;
	}
	FEM_FREE_ARRAY(seen, part_count);
	return true;
fail:
	FEM_FREE_ARRAY(seen, part_count);
	fem_part_graph_free(graph);
	return false;
}

void fem_part_graph_free(FemPartGraph *graph) {
	if (graph->column)
		FEM_FREE_ARRAY(graph->column, graph->row_start[graph->part_count] + 1);
	FEM_FREE_ARRAY(graph->row_start, graph->part_count + 1);
	*graph = (FemPartGraph){0};
}

typedef struct CoarseTask {
	FemPreconditioner *preconditioner;
	const FemBody *body;
} CoarseTask;

// ---- places

// Centre and mean rotation of a group; one tet speaks for each node.
static void place_group_task(void *context, int32_t group) {
	CoarseTask *task = context;
	const FemBody *body = task->body;
	const FemTopology *topology = body->topology;
	Component of = component_of(task->preconditioner, body);
	FemRange places = places_of(&of, group);
	float c[3] = {0.0f, 0.0f, 0.0f};
	FemVec4 sum = {0.0f, 0.0f, 0.0f, 0.0f}, first = {0.0f, 0.0f, 0.0f, 1.0f};
	for (int32_t at = places.begin; at < places.end; at++) {
		int32_t i = node_at(&of, at);
		c[0] += body->position[i].x, c[1] += body->position[i].y, c[2] += body->position[i].z;
		FemVec4 q = body->rotation[topology->node_tets[topology->node_tet_start[i]] >> 2];
		if (at == places.begin)
			first = q;
		float sign = q.x * first.x + q.y * first.y + q.z * first.z + q.w * first.w < 0.0f ? -1.0f : 1.0f;
		sum.x += sign * q.x, sum.y += sign * q.y, sum.z += sign * q.z, sum.w += sign * q.w;
	}
	FemPartFrame *frame = &task->preconditioner->frames[group];
	for (int i = 0; i < 3; i++)
		frame->center[i] = c[i] / (float)(places.end - places.begin);
	FemVec4 *arms = task->preconditioner->arms - task->preconditioner->nodes.begin;
	for (int32_t at = places.begin; at < places.end; at++) {
		int32_t i = node_at(&of, at);
		FemVec4 x = body->position[i];
		arms[i] = (FemVec4){x.x - frame->center[0], x.y - frame->center[1], x.z - frame->center[2],
			body->node_kind[i] == FEM_NODE_FREE ? 1.0f : 0.0f};
	}
	float square = sum.x * sum.x + sum.y * sum.y + sum.z * sum.z + sum.w * sum.w;
	float scale = square > MEAN_MIN ? 1.0f / sqrtf(square) : 0.0f;
	FemVec4 mean = {sum.x * scale, sum.y * scale, sum.z * scale, sum.w * scale};
	fem_rotation_matrix(scale > 0.0f ? mean : first, frame->rotation);
}

// The coarse motions at a node: u = R a + (R b) x arm. Columns 0..2 of Z are those of R, columns 3..5 are R_k x arm.
static void motions_at(const FemPartFrame *frame, const FemVec4 *x, float inverse_length, float z[6][3]) {
	float arm[3] = {(x->x - frame->center[0]) * inverse_length, (x->y - frame->center[1]) * inverse_length,
		(x->z - frame->center[2]) * inverse_length};
	for (int k = 0; k < 3; k++) {
		const float *m = frame->rotation;
		float axis[3] = {m[k], m[3 + k], m[6 + k]};
		memcpy(z[k], axis, sizeof axis);
		z[k + 3][0] = axis[1] * arm[2] - axis[2] * arm[1];
		z[k + 3][1] = axis[2] * arm[0] - axis[0] * arm[2];
		z[k + 3][2] = axis[0] * arm[1] - axis[1] * arm[0];
	}
}

// ---- matrix

// out(6x6, column-major) += Z_i^T (B Z), with BZ given as 6 columns of 3.
static void add_projected(float *out, float zi[6][3], float bz[6][3]) {
	for (int c = 0; c < 6; c++) {
		for (int r = 0; r < 6; r++)
			out[6 * c + r] += zi[r][0] * bz[c][0] + zi[r][1] * bz[c][1] + zi[r][2] * bz[c][2];
	}
}

static void block_times_motions(const float *block, float z[6][3], float out[6][3]) {
	for (int c = 0; c < 6; c++) {
		for (int r = 0; r < 3; r++)
			out[c][r] = block[r] * z[c][0] + block[3 + r] * z[c][1] + block[6 + r] * z[c][2];
	}
}

// One block row of P^T A P, in difference form as rows.h applies A: within a group only B (Z_j - Z_i) counts.
static void add_neighbour(const CoarseTask *task, const Component *of, int32_t group, float zi[6][3],
	const float *block, int32_t j, float *diagonal) {
	FemPreconditioner *p = task->preconditioner;
	const FemBody *body = task->body;
	int32_t other = group_of(of, j);
	bool is_free = body->node_kind[j] == FEM_NODE_FREE;
	float zj[6][3], bz[6][3], difference[6][3];
	if (is_free)
		motions_at(&p->frames[other], &body->position[j], 1.0f / p->length, zj);
	for (int c = 0; c < 6; c++) {
		for (int r = 0; r < 3; r++)
			difference[c][r] = (is_free && other == group ? zj[c][r] : 0.0f) - zi[c][r];
	}
	block_times_motions(block, difference, bz);
	add_projected(diagonal, zi, bz);
	if (is_free && other != group) {
		block_times_motions(block, zj, bz);
		add_projected(
			p->coarse_blocks + 36 * (int64_t)fem_graph_entry(p->coarse_row_start, p->coarse_column, group, other), zi,
			bz);
	}
}

// out += C Z for the symmetric block that contacts add to a node's diagonal.
static void add_contact_block(const float c[6], float z[6][3], float out[6][3]) {
	for (int k = 0; k < 6; k++) {
		out[k][0] += c[0] * z[k][0] + c[3] * z[k][1] + c[5] * z[k][2];
		out[k][1] += c[3] * z[k][0] + c[1] * z[k][1] + c[4] * z[k][2];
		out[k][2] += c[5] * z[k][0] + c[4] * z[k][1] + c[2] * z[k][2];
	}
}

static void assemble_group_task(void *context, int32_t group) {
	CoarseTask *task = context;
	FemPreconditioner *p = task->preconditioner;
	const FemBody *body = task->body;
	const FemTopology *topology = body->topology;
	Component of = component_of(p, body);
	float *diagonal = p->coarse_diagonal + 36 * (int64_t)group;
	int32_t first = p->coarse_row_start[group], entries = p->coarse_row_start[group + 1] - first;
	memset(diagonal, 0, 36 * sizeof *diagonal);
	memset(p->coarse_blocks + 36 * (int64_t)first, 0, 36 * sizeof(float) * (size_t)entries);
	FemRange places = places_of(&of, group);
	for (int32_t at = places.begin; at < places.end; at++) {
		int32_t i = node_at(&of, at);
		if (body->node_kind[i] != FEM_NODE_FREE)
			continue;
		float zi[6][3], mass_zi[6][3];
		motions_at(&p->frames[group], &body->position[i], 1.0f / p->length, zi);
		FemVec4 d = body->step->diagonal[i];
		for (int c = 0; c < 6; c++)
			mass_zi[c][0] = d.x * zi[c][0], mass_zi[c][1] = d.y * zi[c][1], mass_zi[c][2] = d.z * zi[c][2];
		if (body->step->contact_blocks)
			add_contact_block(body->step->contact_blocks + 6 * (int64_t)i, zi, mass_zi);
		add_projected(diagonal, zi, mass_zi);
		for (int32_t k = topology->row_start[i]; k < topology->row_start[i + 1]; k++)
			add_neighbour(
				task, &of, group, zi, body->step->row_blocks + 9 * (int64_t)k, topology->row_column[k], diagonal);
	}
}

static void shift_diagonal(FemPreconditioner *p) {
	float largest = 0.0f;
	for (int32_t group = 0; group < p->groups.count; group++) {
		for (int i = 0; i < 6; i++)
			largest = fmaxf(largest, p->coarse_diagonal[36 * (int64_t)group + 7 * i]);
	}
	for (int32_t group = 0; group < p->groups.count; group++) {
		for (int i = 0; i < 6; i++)
			p->coarse_diagonal[36 * (int64_t)group + 7 * i] += COARSE_SHIFT * largest;
	}
}

void fem_coarse_prepare(FemPreconditioner *p, const FemBody *body, FemLoop *loop, bool refresh) {
	CoarseTask task = {p, body};
	fem_loop_for(loop, p->groups.count, place_group_task, &task);
	if (!refresh)
		return;
	fem_loop_for(loop, p->groups.count, assemble_group_task, &task);
	shift_diagonal(p);
	p->valid = fem_cholesky_factor(p->factor, p->coarse_diagonal, p->coarse_blocks, NULL, 0.0f);
	p->factorizations++;
}

// ---- restrict, solve, prolong

// Force and torque of the residual on a group whose nodes do not stand in one row.
static void sum_group(
	const FemPreconditioner *p, const Component *of, int32_t group, const FemVec4 *r, float force[4], float torque[4]) {
	FemRange places = places_of(of, group);
	for (int k = 0; k < 4; k++)
		force[k] = torque[k] = 0.0f;
	for (int32_t at = places.begin; at < places.end; at++) {
		int32_t i = node_at(of, at);
		FemVec4 arm = p->arms[i - p->nodes.begin], f = r[i];
		force[0] += arm.w * f.x, force[1] += arm.w * f.y, force[2] += arm.w * f.z;
		torque[0] += arm.w * (arm.y * f.z - arm.z * f.y);
		torque[1] += arm.w * (arm.z * f.x - arm.x * f.z);
		torque[2] += arm.w * (arm.x * f.y - arm.y * f.x);
	}
}

void fem_coarse_restrict(FemPreconditioner *p, const FemBody *body, int32_t group, const FemVec4 *r) {
	FemPartFrame *frame = &p->frames[group];
	Component of = component_of(p, body);
	FemRange nodes = places_of(&of, group);
	float force[4], torque[4];
	if (p->groups.nodes)
		sum_group(p, &of, group, r, force, torque);
	else
		fem_row_kernels(fem_simd_level())
			->sum_motion(
				nodes.end - nodes.begin, p->arms + (nodes.begin - p->nodes.begin), r + nodes.begin, force, torque);
	const float *m = frame->rotation;
	float inverse_length = 1.0f / p->length;
	for (int k = 0; k < 3; k++) {
		frame->coarse[k] = m[k] * force[0] + m[3 + k] * force[1] + m[6 + k] * force[2];
		frame->coarse[k + 3] = (m[k] * torque[0] + m[3 + k] * torque[1] + m[6 + k] * torque[2]) * inverse_length;
	}
}

static void find_motion(const FemPreconditioner *p, FemPartFrame *frame) {
	const float *m = frame->rotation, *q = frame->coarse;
	float inverse_length = 1.0f / p->length, *a = frame->motion, *b = frame->motion + 4;
	for (int i = 0; i < 3; i++) {
		a[i] = m[3 * i] * q[0] + m[3 * i + 1] * q[1] + m[3 * i + 2] * q[2];
		b[i] = (m[3 * i] * q[3] + m[3 * i + 1] * q[4] + m[3 * i + 2] * q[5]) * inverse_length;
	}
	a[3] = b[3] = 0.0f;
}

double fem_coarse_solve(FemPreconditioner *p) {
	if (!p->valid) {
		for (int32_t group = 0; group < p->groups.count; group++)
			memset(p->frames[group].motion, 0, sizeof p->frames[group].motion);
		return 0.0;
	}
	for (int32_t group = 0; group < p->groups.count; group++)
		memcpy(p->coarse_vector + 8 * (int64_t)group, p->frames[group].coarse, 6 * sizeof(float));
	fem_cholesky_solve(p->factor, p->coarse_vector, p->coarse_vector, 8, p->workspace);
	double sum = 0.0;
	for (int32_t group = 0; group < p->groups.count; group++) {
		float *coarse = p->frames[group].coarse, *solution = p->coarse_vector + 8 * (int64_t)group;
		for (int i = 0; i < 6; i++)
			sum += (double)(coarse[i] * solution[i]);
		memcpy(coarse, solution, 6 * sizeof(float));
		find_motion(p, &p->frames[group]);
	}
	return sum;
}

static void move_nodes(const FemPreconditioner *p, FemRange nodes, FemVec4 *out) {
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *a = p->frames[p->groups.of_node[i - p->nodes.begin]].motion, *b = a + 4;
		FemVec4 arm = p->arms[i - p->nodes.begin];
		out[i].x += arm.w * (a[0] + b[1] * arm.z - b[2] * arm.y);
		out[i].y += arm.w * (a[1] + b[2] * arm.x - b[0] * arm.z);
		out[i].z += arm.w * (a[2] + b[0] * arm.y - b[1] * arm.x);
	}
}

void fem_coarse_prolong(const FemPreconditioner *p, int32_t local_part, FemRange nodes, FemVec4 *out) {
	if (p->groups.nodes) {
		move_nodes(p, nodes, out);
		return;
	}
	const float *motion = p->frames[local_part].motion;
	fem_row_kernels(fem_simd_level())
		->add_motion(
			nodes.end - nodes.begin, p->arms + (nodes.begin - p->nodes.begin), motion, motion + 4, out + nodes.begin);
}
