#include "dynamics/rigid_space.h"

#include "base/assert.h"
#include "base/carve.h"
#include "base/memory.h"
#include "dynamics/elimination_order.h"
#include "dynamics/modal_unknowns.h"
#include "dynamics/rigid_unknowns.h"
#include "dynamics/rows.h"
#include "dynamics/solver_policy.h"

#include <math.h>
#include <string.h>

// Joints are stiffer than contacts and longer chains than heaps are high: conjugate gradients take hundreds of
// iterations for them, so that a factor pays for more blocks, and for more flops. A wall of 40 x 25 pieces has 1e8.
#define JOINED_BLOCKS_MAX 2048
#define JOINED_FLOPS 10.0 // times those of a heap; both chosen

#define SHIFT 1e-6f // relative: a single node has no moment of inertia. Ten times a float's rounding

// ---- blocks

// Centre and radius of gyration of the nodes as points.
static void place_block(FemRigidBlock *block) {
	double sum[3] = {0.0, 0.0, 0.0}, square = 0.0, count = block->nodes.end - block->nodes.begin;
	const FemVec4 *x = block->body->position;
	for (int32_t i = block->nodes.begin; i < block->nodes.end; i++)
		sum[0] += (double)x[i].x, sum[1] += (double)x[i].y, sum[2] += (double)x[i].z;
	for (int k = 0; k < 3; k++)
		block->center[k] = (float)(sum[k] / count);
	for (int32_t i = block->nodes.begin; i < block->nodes.end; i++) {
		double dx = (double)(x[i].x - block->center[0]), dy = (double)(x[i].y - block->center[1]);
		double dz = (double)(x[i].z - block->center[2]);
		square += dx * dx + dy * dy + dz * dz;
	}
	block->inverse_length = square > 0.0 ? (float)sqrt(count / square) : 1.0f;
	for (int32_t i = block->nodes.begin; i < block->nodes.end; i++)
		block->arms[i - block->nodes.begin] =
			(FemVec4){x[i].x - block->center[0], x[i].y - block->center[1], x[i].z - block->center[2], 1.0f};
}

static void weigh_body(FemRigidBlock *block) {
	const FemBody *body = block->body;
	for (int32_t i = block->nodes.begin; i < block->nodes.end; i++) {
		const FemVec4 *x = &body->position[i], *d = &body->step->diagonal[i];
		float diagonal[3] = {d->x, d->y, d->z};
		float arm[3] = {(x->x - block->center[0]) * block->inverse_length,
			(x->y - block->center[1]) * block->inverse_length, (x->z - block->center[2]) * block->inverse_length};
		fem_add_point6(block->inertia, diagonal, arm);
	}
}

static void weigh_proxy(FemRigidBlock *block) {
	static const int place[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}}; // in xx yy zz xy yz zx
	float scale = block->inverse_length * block->inverse_length;
	for (int k = 0; k < 3; k++)
		block->inertia[7 * k] = block->proxy->mass;
	for (int c = 0; c < 3; c++) {
		for (int r = 0; r < 3; r++)
			block->inertia[6 * (c + 3) + r + 3] = scale * block->proxy->inertia[place[r][c]];
	}
	for (int k = 0; block->proxy->extra && k < 36; k++) {
		float of_row = k % 6 < 3 ? 1.0f : block->inverse_length, of_column = k / 6 < 3 ? 1.0f : block->inverse_length;
		block->inertia[k] += of_row * of_column * block->proxy->extra[k];
	}
}

static void weigh_task(void *context, int32_t index) {
	FemRigidBlock *block = &((FemRigidSpace *)context)->blocks[index];
	memset(block->inertia, 0, sizeof block->inertia);
	if (block->body)
		weigh_body(block);
	else
		weigh_proxy(block);
}

// ---- contacts

static FemRigidSide body_side(const FemRigidSpace *space, const FemContactRows *rows, const FemContactSide *side,
	float sign, const int32_t *block_of) {
	FemRigidSide out = {.block = -1};
	const FemBody *body = rows->bodies[side->body];
	const FemProxy *rigid = fem_contact_side_rigid(rows, side);
	if (rigid && rigid->mass == 0.0f)
		return out;
	for (int k = 0; k < 4; k++) {
		if (side->weights[k] == 0.0f)
			continue;
		if (!fem_contact_node_is_live(body, side->nodes[k]))
			return (FemRigidSide){.block = -1};
		if (out.block < 0)
			out.block = rigid ? rigid->block : block_of[fem_contact_chunk_of(body, side->nodes[k])];
		FEM_ASSERT(out.block < 0 || space->blocks[out.block].body == body || space->blocks[out.block].proxy == rigid);
		if (out.block < 0)
			return out;
		const FemRigidBlock *block = &space->blocks[out.block];
		const FemVec4 *x = &body->position[side->nodes[k]];
		float w = sign * side->weights[k], w_per_length = w * block->inverse_length;
		out.weight += w;
		out.arm[0] += w_per_length * (x->x - block->center[0]);
		out.arm[1] += w_per_length * (x->y - block->center[1]);
		out.arm[2] += w_per_length * (x->z - block->center[2]);
	}
	return out;
}

static FemRigidSide side_of(const FemRigidSpace *space, const FemContactRows *rows, const FemContactSide *side,
	float sign, const int32_t *block_of) {
	if (side->is_fixed)
		return (FemRigidSide){.block = -1};
	if (fem_side_is_body(side))
		return body_side(space, rows, side, sign, block_of);
	int32_t block = rows->proxies[side->proxy].block;
	FEM_ASSERT(space->blocks[block].proxy == &rows->proxies[side->proxy]);
	float scale = sign * space->blocks[block].inverse_length;
	return (FemRigidSide){
		.block = block,
		.weight = sign,
		.arm = {scale * side->arm[0], scale * side->arm[1], scale * side->arm[2]},
	};
}

// Joins the two sides of a contact: a fixed side is left out, and two sides of the same block become one.
static void join_sides(FemRigidContact *contact) {
	FemRigidSide *a = &contact->side[0], *b = &contact->side[1];
	if (a->block == b->block && a->block >= 0) {
		a->weight += b->weight;
		for (int k = 0; k < 3; k++)
			a->arm[k] += b->arm[k];
		b->block = -1;
	} else if (a->block < 0) {
		*a = *b;
		b->block = -1;
	}
}

// J = weight I - arm x, as 6 columns of 3.
static void columns_of(const FemRigidSide *side, float j[6][3]) {
	const float *p = side->arm;
	const float columns[6][3] = {{side->weight, 0.0f, 0.0f}, {0.0f, side->weight, 0.0f}, {0.0f, 0.0f, side->weight},
		{0.0f, -p[2], p[1]}, {p[2], 0.0f, -p[0]}, {-p[1], p[0], 0.0f}};
	memcpy(j, columns, sizeof columns);
}

// C J with C = k_t I + (k_n - k_t) n n^T.
static void strengthen(const FemContact *contact, float j[6][3], float out[6][3]) {
	const float *n = contact->normal;
	float kt = contact->friction_strength, kn = contact->normal_strength - kt;
	for (int c = 0; c < 6; c++) {
		float along = kn * (n[0] * j[c][0] + n[1] * j[c][1] + n[2] * j[c][2]);
		for (int r = 0; r < 3; r++)
			out[c][r] = kt * j[c][r] + along * n[r];
	}
}

// From row `first` * column on: 1, of what is symmetric, whose upper half no factor reads.
static inline void add_product(float *out, float a[6][3], float cb[6][3], int first) {
	for (int c = 0; c < 6; c++) {
		for (int r = first * c; r < 6; r++)
			out[6 * c + r] += a[r][0] * cb[c][0] + a[r][1] * cb[c][1] + a[r][2] * cb[c][2];
	}
}

static void add_contact(FemRigidSpace *space, const FemRigidContact *row, const FemContact *contact) {
	float j[2][6][3], cj[2][6][3];
	for (int s = 0; s < 2 && row->side[s].block >= 0; s++) {
		columns_of(&row->side[s], j[s]);
		strengthen(contact, j[s], cj[s]);
		add_product(space->diagonal + 36 * (int64_t)row->side[s].block, j[s], cj[s], 1);
	}
	for (int s = 0; s < 2; s++) {
		if (row->entry[s] >= 0)
			add_product(space->entries + 36 * (int64_t)row->entry[s], j[s], cj[1 - s], 0);
	}
}

// out += J_a^T k J_b, of what is equally hard all round.
static void add_bond_product(float *out, const FemRigidSide *a, const FemRigidSide *b, float k) {
	const float *p = a->arm, *q = b->arm;
	float both = k * a->weight * b->weight, dot = k * (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
	for (int r = 0; r < 3; r++) {
		int next = (r + 1) % 3, last = (r + 2) % 3;
		out[7 * r] += both;
		out[6 * (next + 3) + r] += k * a->weight * q[last];
		out[6 * (last + 3) + r] -= k * a->weight * q[next];
		out[6 * r + next + 3] += k * b->weight * p[last];
		out[6 * r + last + 3] -= k * b->weight * p[next];
		for (int c = 0; c < 3; c++)
			out[6 * (c + 3) + r + 3] += (r == c ? dot : 0.0f) - k * q[r] * p[c];
	}
}

// The same of one side alone, which is symmetric: its lower half.
static void add_bond_square(float *out, const FemRigidSide *a, float k) {
	const float *p = a->arm;
	float both = k * a->weight * a->weight, dot = k * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
	for (int r = 0; r < 3; r++) {
		int next = (r + 1) % 3, last = (r + 2) % 3;
		out[7 * r] += both;
		out[6 * r + next + 3] += k * a->weight * p[last];
		out[6 * r + last + 3] -= k * a->weight * p[next];
		for (int c = 0; c <= r; c++)
			out[6 * (c + 3) + r + 3] += (r == c ? dot : 0.0f) - k * p[r] * p[c];
	}
}

static void add_bond(FemRigidSpace *space, const FemRigidContact *row, const FemContact *contact) {
	const FemRigidSide *side = row->side;
	for (int s = 0; s < 2 && side[s].block >= 0; s++)
		add_bond_square(space->bond_diagonal + 36 * (int64_t)side[s].block, &side[s], contact->normal_strength);
	for (int s = 0; s < 2; s++) {
		if (row->entry[s] >= 0)
			add_bond_product(
				space->bond_entries + 36 * (int64_t)row->entry[s], &side[s], &side[1 - s], contact->normal_strength);
	}
}

// Bonds are the same in all solves of a space.
static void add_bonds(FemRigidSpace *space, const FemContactRows *rows) {
	for (int32_t c = 0; c < space->contact_count && space->bond_entries; c++) {
		if (rows->contacts[c].is_bond)
			add_bond(space, &space->contacts[c], &rows->contacts[c]);
	}
}

// ---- graph

static void list_contacts(
	FemRigidSpace *space, const FemContactRows *rows, const int32_t *block_of, FemAdjacency *graph) {
	for (int32_t c = 0; c < fem_contact_rows_total(rows); c++) {
		const FemContact *contact = &rows->contacts[c];
		FemRigidContact *row = &space->contacts[c];
		for (int s = 0; s < 2; s++)
			row->side[s] = side_of(space, rows, &contact->side[s], s == 0 ? 1.0f : -1.0f, block_of);
		join_sides(row);
		row->entry[0] = row->entry[1] = -1;
		if (row->side[1].block >= 0)
			fem_adjacency_join(graph, row->side[0].block, row->side[1].block);
	}
}

static void find_entries(FemRigidSpace *space) {
	for (int32_t c = 0; c < space->contact_count; c++) {
		FemRigidContact *row = &space->contacts[c];
		int32_t a = row->side[0].block, b = row->side[1].block;
		if (b < 0)
			continue;
		int32_t entry = fem_graph_entry(space->row_start, space->column, a, b);
		if (fem_cholesky_reads(space->factor, entry))
			row->entry[0] = entry;
		else
			row->entry[1] = fem_graph_entry(space->row_start, space->column, b, a);
	}
}

static size_t place_arrays(FemRigidSpace *space, char *base) {
	FemCarver carver = {.base = base};
	space->blocks = FEM_CARVE(&carver, FemRigidBlock, space->block_count);
	space->contacts = FEM_CARVE(&carver, FemRigidContact, space->contact_count);
	space->row_start = FEM_CARVE(&carver, int32_t, space->block_count + 1);
	space->diagonal = FEM_CARVE(&carver, float, 36 * (size_t)space->block_count);
	space->bond_diagonal = FEM_CARVE(&carver, float, 36 * (size_t)space->block_count);
	space->vector = FEM_CARVE(&carver, float, 8 * (size_t)space->block_count);
	space->loads = FEM_CARVE(&carver, float, 8 * (size_t)space->block_count);
	space->arms = FEM_CARVE(&carver, FemVec4, space->node_count);
	return carver.used;
}

static bool take_graph(FemRigidSpace *space, FemAdjacency *graph, bool has_bonds) {
	int32_t order[JOINED_BLOCKS_MAX];
	double flops, flops_max = fem_policy_rigid_flops_max() * (has_bonds ? JOINED_FLOPS : 1.0);
	space->entry_count = fem_adjacency_rows(graph, space->row_start, NULL);
	space->column = FEM_ALLOC_ARRAY(int32_t, space->entry_count + 1);
	space->entries = FEM_ALLOC_ARRAY_UNSET(float, 36 * (size_t)space->entry_count + 1);
	space->bond_entries = has_bonds ? FEM_ALLOC_ARRAY(float, 36 * (size_t)space->entry_count + 1) : NULL;
	if (!space->column || !space->entries || (has_bonds && !space->bond_entries))
		return false;
	fem_adjacency_rows(graph, space->row_start, space->column);
	fem_adjacency_order(graph, order);
	space->factor =
		fem_cholesky_create(space->block_count, space->row_start, space->column, order, 6, flops_max, &flops);
	if (!space->factor)
		return false;
	find_entries(space);
	space->workspace_floats = fem_cholesky_workspace(space->factor);
	space->workspace = FEM_ALLOC_ARRAY(float, space->workspace_floats);
	return space->workspace != NULL;
}

static void place_proxy(FemRigidBlock *block) {
	const float *inertia = block->proxy->inertia;
	float mean_inertia = (inertia[0] + inertia[1] + inertia[2]) / 3.0f;
	block->inverse_length = mean_inertia > 0.0f ? sqrtf(block->proxy->mass / mean_inertia) : 1.0f;
}

// Lists the blocks of the space: elastic islands first, then what is rigid.
static void list_blocks(FemRigidSpace *space, const FemRigidIslands *islands) {
	int32_t island_count = islands->count;
	FemVec4 *arms = space->arms;
	for (int32_t i = 0; i < island_count; i++) {
		space->blocks[i] =
			(FemRigidBlock){.body = islands->list[i].body, .nodes = islands->list[i].nodes, .arms = arms};
		place_block(&space->blocks[i]);
		arms += islands->list[i].nodes.end - islands->list[i].nodes.begin;
	}
	for (int32_t k = 0; k < islands->rigid_count; k++) {
		FemRigidBlock *block = &space->blocks[island_count + k];
		*block = (FemRigidBlock){.proxy = islands->rigids[k]};
		memcpy(block->center, block->proxy->center, sizeof block->center);
		block->proxy->block = island_count + k;
		place_proxy(block);
	}
}

bool fem_rigid_space_create(FemRigidSpace *space, const FemContactRows *rows, const FemRigidIslands *islands) {
	*space = (FemRigidSpace){
		.block_count = islands->count + islands->rigid_count, .contact_count = fem_contact_rows_total(rows)};
	int32_t most = rows->bond_count > 0 ? JOINED_BLOCKS_MAX : FEM_RIGID_BLOCKS_MAX;
	if (space->block_count < 1 || space->block_count > most)
		return false;
	for (int32_t i = 0; i < islands->count; i++)
		space->node_count += islands->list[i].nodes.end - islands->list[i].nodes.begin;
	space->bytes = place_arrays(space, NULL);
	space->memory = fem_alloc(space->bytes);
	FemAdjacency graph;
	bool ok = fem_adjacency_create(&graph, space->block_count) && space->memory;
	if (ok) {
		place_arrays(space, space->memory);
		list_blocks(space, islands);
		list_contacts(space, rows, islands->block_of, &graph);
		ok = take_graph(space, &graph, rows->bond_count > 0);
		if (ok)
			add_bonds(space, rows);
	}
	fem_adjacency_free(&graph);
	if (!ok)
		fem_rigid_space_free(space);
	return ok;
}

void fem_rigid_space_free(FemRigidSpace *space) {
	fem_cholesky_destroy(space->factor);
	FEM_FREE_ARRAY(space->workspace, space->workspace_floats);
	FEM_FREE_ARRAY(space->column, space->entry_count + 1);
	FEM_FREE_ARRAY(space->entries, 36 * (size_t)space->entry_count + 1);
	FEM_FREE_ARRAY(space->bond_entries, 36 * (size_t)space->entry_count + 1);
	fem_free(space->memory, space->bytes);
	*space = (FemRigidSpace){0};
}

// ---- prepare and apply

void fem_rigid_space_prepare(FemRigidSpace *space, const FemContactRows *rows, FemLoop *loop) {
	fem_loop_for(loop, space->block_count, weigh_task, space);
	for (int32_t i = 0; i < space->block_count; i++)
		memcpy(space->diagonal + 36 * (int64_t)i, space->blocks[i].inertia, sizeof space->blocks[i].inertia);
	if (space->bond_entries) {
		for (int64_t i = 0; i < 36 * (int64_t)space->block_count; i++)
			space->diagonal[i] += space->bond_diagonal[i];
		memcpy(space->entries, space->bond_entries, 36 * sizeof *space->entries * (size_t)space->entry_count);
	} else {
		memset(space->entries, 0, 36 * sizeof *space->entries * (size_t)space->entry_count);
	}
	for (int32_t c = 0; c < space->contact_count; c++) {
		if (!rows->contacts[c].is_bond && rows->contacts[c].active)
			add_contact(space, &space->contacts[c], &rows->contacts[c]);
	}
	space->valid = fem_cholesky_factor(space->factor, space->diagonal, space->entries, NULL, SHIFT);
}

static void restrict_task(void *context, int32_t index) {
	FemRigidBlock *block = &((FemRigidSpace *)context)->blocks[index];
	float force[4], torque[4];
	if (block->body)
		fem_row_kernels(fem_simd_level())
			->sum_motion(block->nodes.end - block->nodes.begin, block->arms,
				block->body->step->residual + block->nodes.begin, force, torque);
	for (int k = 0; k < 3; k++) {
		block->numbers[k] = block->body ? force[k] : block->proxy->residual[k];
		block->numbers[k + 3] = (block->body ? torque[k] : block->proxy->residual[k + 3]) * block->inverse_length;
	}
}

static void prolong_task(void *context, int32_t index) {
	FemRigidBlock *block = &((FemRigidSpace *)context)->blocks[index];
	const float *a = block->numbers;
	float move[4] = {a[0], a[1], a[2], 0.0f};
	float rotation[4] = {
		a[3] * block->inverse_length, a[4] * block->inverse_length, a[5] * block->inverse_length, 0.0f};
	for (int k = 0; block->proxy && k < 3; k++) {
		block->proxy->z[k] += move[k];
		block->proxy->z[k + 3] += rotation[k];
	}
	if (block->body)
		fem_row_kernels(fem_simd_level())
			->add_motion(block->nodes.end - block->nodes.begin, block->arms, move, rotation,
				block->body->step->z + block->nodes.begin);
}

// numbers = (P^T A P)^-1 numbers; returns their product with `loads`.
static double solve_numbers(FemRigidSpace *space, const float *loads) {
	double sum = 0.0;
	for (int32_t i = 0; i < space->block_count; i++)
		memcpy(space->vector + 8 * (int64_t)i, space->blocks[i].numbers, 6 * sizeof(float));
	fem_cholesky_solve(space->factor, space->vector, space->vector, 8, space->workspace);
	for (int32_t i = 0; i < space->block_count; i++) {
		float *numbers = space->blocks[i].numbers;
		const float *solution = space->vector + 8 * (int64_t)i;
		for (int k = 0; k < 6; k++)
			sum += (double)((loads ? loads[8 * (int64_t)i + k] : numbers[k]) * solution[k]);
		memcpy(numbers, solution, 6 * sizeof(float));
	}
	return sum;
}

double fem_rigid_space_add(FemRigidSpace *space, FemLoop *loop) {
	if (!space->valid)
		return 0.0;
	fem_loop_for_light(loop, space->block_count, restrict_task, space);
	double sum = solve_numbers(space, NULL);
	fem_loop_for_light(loop, space->block_count, prolong_task, space);
	return sum;
}

// What modes that move with z ask of their frame through the ground and grabs.
static void subtract_modes(FemRigidBlock *block) {
	float impulse[6];
	if (!block->proxy->modal)
		return;
	fem_modal_couple(block->proxy->modal, block->proxy->modal->solved, impulse);
	for (int k = 0; k < 3; k++) {
		block->numbers[k] -= impulse[k];
		block->numbers[k + 3] -= impulse[k + 3] * block->inverse_length;
	}
}

// Keeps P^T r, and takes P^T D z from it.
static void subtract_masses_task(void *context, int32_t index) {
	FemRigidSpace *space = context;
	FemRigidBlock *block = &space->blocks[index];
	restrict_task(context, index);
	memcpy(space->loads + 8 * (int64_t)index, block->numbers, 6 * sizeof(float));
	if (!block->body) {
		subtract_modes(block);
		return;
	}
	const FemBodyStep *step = block->body->step;
	float force[3] = {0.0f, 0.0f, 0.0f}, torque[3] = {0.0f, 0.0f, 0.0f};
	for (int32_t i = block->nodes.begin; i < block->nodes.end; i++) {
		const FemVec4 *arm = &block->arms[i - block->nodes.begin], *d = &step->diagonal[i], *z = &step->z[i];
		float j[3] = {d->x * z->x, d->y * z->y, d->z * z->z};
		for (int k = 0; k < 3; k++)
			force[k] += j[k];
		torque[0] += arm->y * j[2] - arm->z * j[1];
		torque[1] += arm->z * j[0] - arm->x * j[2];
		torque[2] += arm->x * j[1] - arm->y * j[0];
	}
	for (int k = 0; k < 3; k++) {
		block->numbers[k] -= force[k];
		block->numbers[k + 3] -= torque[k] * block->inverse_length;
	}
}

static void subtract_contact(FemRigidSpace *space, const FemRigidContact *row, const FemVec4 *impulse) {
	for (int s = 0; s < 2 && row->side[s].block >= 0; s++) {
		const FemRigidSide *side = &row->side[s];
		float *numbers = space->blocks[side->block].numbers;
		const float *arm = side->arm;
		numbers[0] -= side->weight * impulse->x;
		numbers[1] -= side->weight * impulse->y;
		numbers[2] -= side->weight * impulse->z;
		numbers[3] -= arm[1] * impulse->z - arm[2] * impulse->y;
		numbers[4] -= arm[2] * impulse->x - arm[0] * impulse->z;
		numbers[5] -= arm[0] * impulse->y - arm[1] * impulse->x;
	}
}

double fem_rigid_space_correct(FemRigidSpace *space, const FemContactRows *rows, FemLoop *loop) {
	FEM_ASSERT(space->valid);
	fem_loop_for_light(loop, space->block_count, subtract_masses_task, space);
	for (int32_t r = 0; r < rows->row_count; r++) {
		const FemContactRow *row = &rows->rows[r];
		if (row->node_count[0] + row->node_count[1] > 0 || row->modal[0] || row->modal[1]) // z of what is rigid is 0
			subtract_contact(space, &space->contacts[rows->rows[r].contact], &rows->impulses[r]);
	}
	double sum = solve_numbers(space, space->loads);
	fem_loop_for_light(loop, space->block_count, prolong_task, space);
	return sum;
}
