#include "dynamics/solver.h"

#include "dynamics/modal_direct.h"
#include "dynamics/modal_grabs.h"
#include "dynamics/modal_unknowns.h"
#include "dynamics/rigid_unknowns.h"
#include "dynamics/rows.h"
#include "dynamics/solver_policy.h"

#include <math.h>
#include <string.h>

void fem_assemble_nodes(FemBody *body, int32_t begin, int32_t end, float dt, FemVec3 gravity) {
	const FemTopology *topology = body->topology;
	for (int32_t i = begin; i < end; i++) {
		float fx = 0.0f, fy = 0.0f, fz = 0.0f;
		for (int32_t k = topology->node_tet_start[i]; k < topology->node_tet_start[i + 1]; k++) {
			int32_t packed = topology->node_tets[k];
			const FemVec4 *force = &body->step->tet_forces[packed >> 2].force[packed & 3];
			fx += force->x, fy += force->y, fz += force->z;
		}
		float m = body->mass[i], damping = body->mass_damping[i];
		FemVec4 v = body->velocity[i], user = body->force[i];
		body->step->rhs[i] = (FemVec4){
			dt * (fx + m * gravity.x + user.x - damping * v.x),
			dt * (fy + m * gravity.y + user.y - damping * v.y),
			dt * (fz + m * gravity.z + user.z - damping * v.z),
			0.0f,
		};
	}
}

// Four floats at a time.
typedef float Four __attribute__((vector_size(16), may_alias));

void fem_assemble_rigid_nodes(FemBody *body, int32_t begin, int32_t end, float dt, FemVec3 gravity) {
	const Four g = {gravity.x, gravity.y, gravity.z, 0.0f};
	const Four *velocity = (const Four *)(const void *)body->velocity, *force = (const Four *)(const void *)body->force;
	const float *mass = body->mass, *damping = body->mass_damping;
	Four *rhs = (Four *)(void *)body->step->rhs;
	for (int32_t i = begin; i < end; i++) {
		Four load = dt * (mass[i] * g + force[i] - damping[i] * velocity[i]);
		rhs[i] = (Four){load[0], load[1], load[2], 0.0f};
	}
	fem_assemble_diagonal(body, begin, end, dt);
	memset(&body->step->dv[begin], 0, sizeof(FemVec4) * (size_t)(end - begin));
}

void fem_assemble_diagonal(FemBody *body, int32_t begin, int32_t end, float dt) {
	const float *mass = body->mass, *damping = body->mass_damping;
	const Four *ground = (const Four *)(const void *)body->step->ground;
	Four *diagonal = (Four *)(void *)body->step->diagonal;
	for (int32_t i = begin; i < end; i++) {
		float m = mass[i] + dt * damping[i];
		diagonal[i] = (Four){m + ground[i][2], m + ground[i][0], m + ground[i][2], 0.0f};
	}
}

// ---- iterations

typedef struct Iteration {
	FemSystem *system;
	const FemRowKernels *kernels;
	FemContactField field; // of the contact product under way
	float alpha, beta;
	bool is_deflated; // rigid motions have no part in the residual any more
} Iteration;

static FemPreconditionKind kind_of(const FemSystemIsland *island) {
	return fem_preconditioner_kind_in_use(island->preconditioner);
}

static double sum_partials(const double *partials, int32_t count) {
	double sum = 0.0;
	for (int32_t i = 0; i < count; i++)
		sum += partials[i];
	return sum;
}

static int32_t contact_chunks(const FemSystem *system) {
	return (system->contacts.row_count + FEM_CONTACT_CHUNK - 1) / FEM_CONTACT_CHUNK;
}

static void contact_impulses_task(void *context, int32_t chunk) {
	Iteration *it = context;
	FemContactRows *rows = &it->system->contacts;
	int32_t begin = chunk * FEM_CONTACT_CHUNK, end = begin + FEM_CONTACT_CHUNK;
	it->system->contact_partials[chunk] =
		fem_contact_rows_impulses(rows, begin, end < rows->row_count ? end : rows->row_count, it->field);
}

// Contact impulses of a field, ready to be gathered; returns their share of x.Ax.
static double contact_impulses(Iteration *it, FemContactField field) {
	if (it->system->contacts.row_count == 0)
		return 0.0;
	it->field = field;
	fem_loop_for(it->system->loop, contact_chunks(it->system), contact_impulses_task, it);
	return sum_partials(it->system->contact_partials, contact_chunks(it->system));
}

static FemBody *body_of(const FemSystem *system, const FemNodeChunk *chunk) {
	return system->bodies[chunk->body];
}

// ---- rigid proxies

// Block-Jacobi for what is rigid, where no rigid space answers for it.
static void prepare_proxies(FemSystem *system) {
	double *factors = system->rigid_factors;
	for (int32_t k = 0; k < system->rigid_count; k++) {
		system->rigids[k]->block = k;
		fem_rigid_unknowns_weigh(system->rigids[k], factors + 36 * (int64_t)k);
	}
	for (int32_t r = 0; r < system->contacts.row_count; r++) {
		const FemContactRow *row = &system->contacts.rows[r];
		for (int s = 0; s < 2; s++) {
			if (row->rigid[s])
				fem_add_contact6(factors + 36 * (int64_t)row->rigid[s]->block, row->normal, row->normal_strength,
					row->friction_strength, row->arm[s]);
		}
	}
	for (int32_t k = 0; k < system->rigid_count; k++)
		fem_factor6(factors + 36 * (int64_t)k);
}

static double precondition_proxy(FemProxy *proxy, const double factor[36]) {
	double x[6];
	for (int k = 0; k < 6; k++)
		x[k] = (double)proxy->residual[k];
	fem_solve_factored6(factor, x);
	for (int k = 0; k < 6; k++)
		proxy->z[k] = (float)x[k];
	return (double)fem_dot6(proxy->residual, proxy->z);
}

// ---- stages of CG

static void restrict_part(const FemSystemIsland *island, int32_t part) {
	fem_coarse_restrict(
		island->preconditioner, island->body, part - island->preconditioner->parts.begin, island->body->step->residual);
}

// Two-level islands sum a part's residual as soon as it is known: here if the part is one chunk.
static void restrict_chunk(const Iteration *it, const FemNodeChunk *chunk) {
	const FemSystemIsland *island = &it->system->islands[chunk->island];
	const FemTopology *topology = island->body->topology;
	int32_t part = topology->node_part[chunk->begin];
	FemRange nodes = topology->part_nodes[part];
	if (kind_of(island) == FEM_PRECONDITION_TWO_LEVEL && !island->preconditioner->groups.nodes &&
		nodes.begin == chunk->begin && nodes.end == chunk->end)
		restrict_part(island, part);
}

// Parts that grew by copies of nodes are several chunks, which several threads write: they are summed when all are
// done. So are groups that are no parts.
static void restrict_large_parts(const Iteration *it, const FemSystemIsland *island) {
	const FemTopology *topology = island->body->topology;
	const FemCoarseGroups *groups = &island->preconditioner->groups;
	for (int32_t group = 0; groups->nodes && group < groups->count; group++)
		fem_coarse_restrict(island->preconditioner, island->body, group, island->body->step->residual);
	for (int32_t c = island->chunks.begin; !groups->nodes && c < island->chunks.end; c++) {
		const FemNodeChunk *chunk = &it->system->chunks[c];
		int32_t part = topology->node_part[chunk->begin];
		FemRange nodes = topology->part_nodes[part];
		if (nodes.begin == chunk->begin && nodes.end > chunk->end)
			restrict_part(island, part);
	}
}

static void precondition_task(void *context, int32_t chunk_index) {
	Iteration *it = context;
	const FemNodeChunk *chunk = &it->system->chunks[chunk_index];
	if (fem_chunk_is_rigid(it->system, chunk_index))
		return;
	FemBody *body = body_of(it->system, chunk);
	it->system->partials[chunk_index] =
		it->kernels->precondition(body, chunk->begin, chunk->end, body->step->residual, body->step->z);
	restrict_chunk(it, chunk);
}

// r = b + contact load; that of the ground is in b. The directions of an earlier solve go, too.
static void load_task(void *context, int32_t chunk_index) {
	Iteration *it = context;
	const FemNodeChunk *chunk = &it->system->chunks[chunk_index];
	if (fem_chunk_is_rigid(it->system, chunk_index))
		return;
	FemBody *body = body_of(it->system, chunk);
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		FemVec4 b = body->step->rhs[i], v = body->velocity[i], ground = body->step->ground[i];
		body->step->residual[i] =
			(FemVec4){b.x - ground.z * v.x, b.y + ground.x * (ground.y - v.y), b.z - ground.z * v.z, 0.0f};
	}
	memset(&body->step->direction[chunk->begin], 0, sizeof(FemVec4) * (size_t)(chunk->end - chunk->begin));
	if (it->system->contacts.row_count > 0)
		fem_contact_rows_gather(&it->system->contacts, chunk_index, body->step->residual, -1.0f);
}

static void load_and_precondition_task(void *context, int32_t chunk_index) {
	load_task(context, chunk_index);
	precondition_task(context, chunk_index);
}

static bool is_balanced(const FemSystem *system, const FemNodeChunk *chunk) {
	return system->islands[chunk->island].balance.is_on;
}

// Products of balanced islands, which the tasks of their chunks then take as they are.
static void balanced_product_task(void *context, int32_t island_index) {
	Iteration *it = context;
	FemSystemIsland *island = &it->system->islands[island_index];
	FemBody *body = island->body;
	if (island->balance.is_on)
		island->share = fem_rigid_balance_multiply(
			&island->balance, body, it->field == FEM_FIELD_DV ? body->step->dv : body->step->direction);
}

// Returns their share of x.Ax without contacts.
static double balanced_products(Iteration *it, FemContactField field) {
	FemSystem *system = it->system;
	double sum = 0.0;
	it->field = field;
	fem_loop_for(system->loop, system->island_count, balanced_product_task, it);
	for (int32_t i = 0; i < system->island_count; i++)
		sum += system->islands[i].balance.is_on ? system->islands[i].share : 0.0;
	return sum;
}

// r -= A x, x = dv
static void subtract_task(void *context, int32_t chunk_index) {
	Iteration *it = context;
	const FemNodeChunk *chunk = &it->system->chunks[chunk_index];
	if (fem_chunk_is_rigid(it->system, chunk_index))
		return;
	FemBody *body = body_of(it->system, chunk);
	if (!is_balanced(it->system, chunk))
		it->kernels->multiply(body, chunk->begin, chunk->end, body->step->dv, body->step->product);
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		FemVec4 *r = &body->step->residual[i], q = body->step->product[i];
		*r = (FemVec4){r->x - q.x, r->y - q.y, r->z - q.z, 0.0f};
	}
	if (it->system->contacts.row_count > 0)
		fem_contact_rows_gather(&it->system->contacts, chunk_index, body->step->residual, -1.0f);
}

static void subtract_and_precondition_task(void *context, int32_t chunk_index) {
	subtract_task(context, chunk_index);
	precondition_task(context, chunk_index);
}

static void multiply_task(void *context, int32_t chunk_index) {
	Iteration *it = context;
	const FemNodeChunk *chunk = &it->system->chunks[chunk_index];
	if (fem_chunk_is_rigid(it->system, chunk_index))
		return;
	FemBody *body = body_of(it->system, chunk);
	double share = 0.0;
	if (!is_balanced(it->system, chunk))
		share = it->kernels->multiply(body, chunk->begin, chunk->end, body->step->direction, body->step->product);
	it->system->partials[chunk_index] = share;
	if (it->system->contacts.row_count > 0)
		fem_contact_rows_gather(&it->system->contacts, chunk_index, body->step->product, 1.0f);
}

static void advance_task(void *context, int32_t chunk_index) {
	Iteration *it = context;
	const FemNodeChunk *chunk = &it->system->chunks[chunk_index];
	if (fem_chunk_is_rigid(it->system, chunk_index))
		return;
	FemBody *body = body_of(it->system, chunk);
	it->system->partials[chunk_index] = it->kernels->advance(body, chunk->begin, chunk->end, it->alpha,
		body->step->direction, body->step->product, body->step->dv, body->step->residual, body->step->z);
	restrict_chunk(it, chunk);
}

static void redirect_task(void *context, int32_t chunk_index) {
	Iteration *it = context;
	const FemNodeChunk *chunk = &it->system->chunks[chunk_index];
	if (fem_chunk_is_rigid(it->system, chunk_index))
		return;
	const FemSystemIsland *island = &it->system->islands[chunk->island];
	FemBody *body = island->body;
	it->kernels->redirect(chunk->begin, chunk->end, it->beta, body->step->z, body->step->direction);
	if (kind_of(island) != FEM_PRECONDITION_TWO_LEVEL || island->balance.is_on || it->is_deflated)
		return;
	int32_t part = body->topology->node_part[chunk->begin] - island->preconditioner->parts.begin;
	fem_coarse_prolong(island->preconditioner, part, (FemRange){chunk->begin, chunk->end}, body->step->direction);
}

static void prolong_parts(const FemPreconditioner *preconditioner, FemBody *body) {
	FemRange parts = preconditioner->parts;
	for (int32_t p = parts.begin; p < parts.end; p++)
		fem_coarse_prolong(preconditioner, p - parts.begin, body->topology->part_nodes[p], body->step->z);
}

// z += the coarse space's answer to the residual without rigid motion, of all parts.
static void add_coarse_motion(FemPreconditioner *preconditioner, FemBody *body) {
	for (int32_t group = 0; group < preconditioner->groups.count; group++)
		fem_coarse_restrict(preconditioner, body, group, body->step->product);
	fem_coarse_solve(preconditioner);
	prolong_parts(preconditioner, body);
}

// Rigid pieces and colliders have all of their unknowns in the rigid space: it alone answers for them.
static bool has_rigid_space(const FemSystem *system) {
	return system->rigid && system->rigid->valid;
}

static void precondition_balanced(const Iteration *it, FemSystemIsland *island) {
	FemBody *body = island->body;
	FemRange nodes = island->balance.nodes;
	fem_rigid_balance_restrict(&island->balance, body);
	if (kind_of(island) == FEM_PRECONDITION_FACTOR)
		fem_preconditioner_solve(island->preconditioner, body, body->step->product, body->step->z);
	else
		it->kernels->precondition(body, nodes.begin, nodes.end, body->step->product, body->step->z);
	if (kind_of(island) == FEM_PRECONDITION_TWO_LEVEL)
		add_coarse_motion(island->preconditioner, body);
	island->share = fem_rigid_balance_complete(&island->balance, body, !has_rigid_space(it->system));
}

// Kept factors and coarse spaces of the islands, one island a chunk. Their share of r.z goes over the partials of their
// chunks: a factor takes the place of block-Jacobi, a coarse space adds to it.
static void precondition_island_task(void *context, int32_t island_index) {
	Iteration *it = context;
	FemSystemIsland *island = &it->system->islands[island_index];
	if (island->is_rigid) {
		island->share = 0.0;
		return;
	}
	if (island->balance.is_on) {
		precondition_balanced(it, island);
		return;
	}
	switch (kind_of(island)) {
	case FEM_PRECONDITION_FACTOR:
		island->share = fem_preconditioner_solve(
			island->preconditioner, island->body, island->body->step->residual, island->body->step->z);
		break;
	case FEM_PRECONDITION_TWO_LEVEL:
		restrict_large_parts(it, island);
		island->share = fem_coarse_solve(island->preconditioner);
		if (it->is_deflated)
			prolong_parts(island->preconditioner, island->body);
		break;
	default: island->share = 0.0; break;
	}
}

// The rest of z = M^-1 r after the chunks have done theirs; returns r.z. Without deflation a coarse motion itself joins
// the direction in redirect_task: z need not hold it.
static double finish_preconditioning(Iteration *it) {
	FemSystem *system = it->system;
	double sum = 0.0;
	fem_loop_for(system->loop, system->island_count, precondition_island_task, it);
	for (int32_t c = 0; c < system->chunk_count; c++) {
		const FemSystemIsland *island = &system->islands[system->chunks[c].island];
		if (kind_of(island) != FEM_PRECONDITION_FACTOR && !island->balance.is_on)
			sum += system->partials[c];
	}
	for (int32_t i = 0; i < system->island_count; i++)
		sum += system->islands[i].share;
	for (int32_t k = 0; k < system->rigid_count; k++) {
		if (has_rigid_space(system))
			memset(system->rigids[k]->z, 0, sizeof system->rigids[k]->z);
		else
			sum += precondition_proxy(system->rigids[k], system->rigid_factors + 36 * (int64_t)k);
	}
	for (int32_t k = 0; k < system->modal_count; k++)
		sum += fem_modal_precondition(system->modals[k]->modal);
	if (!has_rigid_space(system))
		return sum;
	if (!it->is_deflated)
		return sum + fem_rigid_space_add(system->rigid, system->loop);
	contact_impulses(it, FEM_FIELD_Z);
	return sum + fem_rigid_space_correct(system->rigid, &system->contacts, system->loop);
}

// The residual of dv = 0, by load_task or load_and_precondition_task.
static void load(Iteration *it, FemChunkTask *task) {
	FemSystem *system = it->system;
	contact_impulses(it, FEM_FIELD_LOAD);
	for (int32_t k = 0; k < system->rigid_count; k++) {
		FemProxy *proxy = system->rigids[k];
		memcpy(proxy->residual, proxy->impulse, sizeof proxy->residual);
		memset(proxy->direction, 0, sizeof proxy->direction);
	}
	for (int32_t k = 0; k < system->modal_count; k++)
		fem_modal_begin(system->modals[k]->modal);
	fem_contact_rows_gather_proxies(&system->contacts, FEM_PROXY_RESIDUAL, -1.0f);
	fem_loop_for(system->loop, system->chunk_count, task, it);
}

// The residual of dv from that of dv = 0, by subtract_task or subtract_and_precondition_task.
static void subtract(Iteration *it, FemChunkTask *task) {
	FemSystem *system = it->system;
	contact_impulses(it, FEM_FIELD_DV);
	for (int32_t k = 0; k < system->rigid_count; k++) {
		FemProxy *proxy = system->rigids[k];
		float inertia[6];
		fem_rigid_unknowns_multiply(proxy, proxy->dv, inertia);
		for (int i = 0; i < 6; i++)
			proxy->residual[i] -= inertia[i];
	}
	for (int32_t k = 0; k < system->modal_count; k++)
		fem_modal_subtract(system->modals[k]->modal, system->modals[k]);
	fem_contact_rows_gather_proxies(&system->contacts, FEM_PROXY_RESIDUAL, -1.0f);
	balanced_products(it, FEM_FIELD_DV);
	fem_loop_for(system->loop, system->chunk_count, task, it);
}

// The same, and z = M^-1 r; returns r.z.
static double subtract_and_precondition(Iteration *it) {
	subtract(it, subtract_and_precondition_task);
	return finish_preconditioning(it);
}

static void redirect(Iteration *it) {
	FemSystem *system = it->system;
	fem_loop_for_light(system->loop, system->chunk_count, redirect_task, it);
	for (int32_t k = 0; k < system->rigid_count; k++) {
		FemProxy *proxy = system->rigids[k];
		for (int i = 0; i < 6; i++)
			proxy->direction[i] = proxy->z[i] + it->beta * proxy->direction[i];
	}
	for (int32_t k = 0; k < system->modal_count; k++)
		fem_modal_redirect(system->modals[k]->modal, it->beta);
}

// product = A direction; returns direction.product.
static double multiply(Iteration *it) {
	FemSystem *system = it->system;
	double sum = contact_impulses(it, FEM_FIELD_DIRECTION);
	for (int32_t k = 0; k < system->rigid_count; k++) {
		FemProxy *proxy = system->rigids[k];
		fem_rigid_unknowns_multiply(proxy, proxy->direction, proxy->product);
		sum += (double)fem_dot6(proxy->direction, proxy->product);
	}
	for (int32_t k = 0; k < system->modal_count; k++)
		sum += fem_modal_multiply(system->modals[k]->modal, system->modals[k]);
	fem_contact_rows_gather_proxies(&system->contacts, FEM_PROXY_PRODUCT, 1.0f);
	sum += balanced_products(it, FEM_FIELD_DIRECTION);
	fem_loop_for(system->loop, system->chunk_count, multiply_task, it);
	return sum + sum_partials(system->partials, system->chunk_count);
}

static void advance(Iteration *it) {
	FemSystem *system = it->system;
	fem_loop_for_light(system->loop, system->chunk_count, advance_task, it);
	for (int32_t k = 0; k < system->rigid_count; k++) {
		FemProxy *proxy = system->rigids[k];
		for (int i = 0; i < 6; i++) {
			proxy->dv[i] += it->alpha * proxy->direction[i];
			proxy->residual[i] -= it->alpha * proxy->product[i];
		}
	}
	for (int32_t k = 0; k < system->modal_count; k++)
		fem_modal_advance(system->modals[k]->modal, it->alpha);
}

// ---- solve

static void drop_start_task(void *context, int32_t chunk_index) {
	const FemSystem *system = ((Iteration *)context)->system;
	const FemNodeChunk *chunk = &system->chunks[chunk_index];
	if (fem_chunk_is_rigid(system, chunk_index))
		return;
	memset(&body_of(system, chunk)->step->dv[chunk->begin], 0, sizeof(FemVec4) * (size_t)(chunk->end - chunk->begin));
}

static void drop_start(Iteration *it) {
	FemSystem *system = it->system;
	fem_loop_for_light(system->loop, system->chunk_count, drop_start_task, it);
	for (int32_t k = 0; k < system->rigid_count; k++)
		memset(system->rigids[k]->dv, 0, sizeof(float) * 6);
	for (int32_t k = 0; k < system->modal_count; k++)
		fem_modal_drop_start(system->modals[k]->modal);
}

static void clear_z_task(void *context, int32_t chunk_index) {
	const FemSystem *system = ((Iteration *)context)->system;
	const FemNodeChunk *chunk = &system->chunks[chunk_index];
	if (fem_chunk_is_rigid(system, chunk_index))
		return;
	memset(&body_of(system, chunk)->step->z[chunk->begin], 0, sizeof(FemVec4) * (size_t)(chunk->end - chunk->begin));
}

// dv += P (P^T A P)^-1 P^T r: from here on the residual has no part in rigid motions. Returns r.z.
static double deflate(Iteration *it) {
	FemSystem *system = it->system;
	it->is_deflated = true;
	fem_loop_for_light(system->loop, system->chunk_count, clear_z_task, it);
	for (int32_t k = 0; k < system->rigid_count; k++)
		memset(system->rigids[k]->z, 0, sizeof system->rigids[k]->z);
	for (int32_t k = 0; k < system->modal_count; k++)
		fem_modal_clear_solved(system->modals[k]->modal);
	fem_rigid_space_add(system->rigid, system->loop);
	it->beta = 0.0f;
	redirect(it);
	multiply(it);
	it->alpha = 1.0f;
	advance(it);
	return finish_preconditioning(it);
}

// Keeps the given start vector only if it comes nearer than zero does: an unlucky one in a solve that is cut short
// would blow up a plate (docs/method.md, "Stopping"). Returns b.M^-1 b; *out_rz is that of the residual kept.
static double start(Iteration *it, double *out_rz) {
	FemSystem *system = it->system;
	if (system->scale > 0.0) {
		load(it, load_task);
		*out_rz = subtract_and_precondition(it);
		return system->scale;
	}
	load(it, load_and_precondition_task);
	double bz = *out_rz = finish_preconditioning(it);
	if (fem_policy_tries_start_vector(system)) {
		*out_rz = subtract_and_precondition(it);
		if (*out_rz >= 0.0 && *out_rz < bz)
			return bz;
		load(it, load_and_precondition_task);
		*out_rz = finish_preconditioning(it);
	}
	drop_start(it);
	return bz;
}

// The same where a rigid space takes the rigid motions out of the residual before this is looked at.
static double start_deflated(Iteration *it, double *out_rz) {
	FemSystem *system = it->system;
	double bz = system->scale;
	if (bz > 0.0) {
		load(it, load_task);
	} else {
		load(it, load_and_precondition_task);
		bz = finish_preconditioning(it);
	}
	subtract(it, subtract_task);
	*out_rz = deflate(it);
	if (system->scale > 0.0 || (*out_rz >= 0.0 && *out_rz < bz))
		return bz;
	drop_start(it);
	load(it, load_task);
	*out_rz = deflate(it);
	return bz;
}

static int64_t count_unknowns(const FemSystem *system) {
	int64_t count = 6 * (int64_t)system->rigid_count;
	for (int32_t c = 0; c < system->chunk_count; c++)
		count += fem_chunk_is_rigid(system, c) ? 0 : 3 * (int64_t)(system->chunks[c].end - system->chunks[c].begin);
	for (int32_t k = 0; k < system->modal_count; k++)
		count += system->modals[k]->modal->mode_count;
	return count;
}

FemSolveResult fem_system_solve(FemSystem *system) {
	Iteration it = {.system = system, .kernels = fem_row_kernels(fem_simd_level())};
	for (int32_t i = 0; i < system->island_count; i++) {
		if (system->islands[i].balance.is_on)
			fem_rigid_balance_prepare(&system->islands[i].balance, system->islands[i].body);
	}
	memset(system->partials, 0, sizeof *system->partials * (size_t)system->chunk_count); // rigid ones stay 0
	for (int32_t k = 0; k < system->modal_count; k++)
		fem_modal_prepare(system->modals[k]->modal, &system->contacts);
	if (!has_rigid_space(system))
		prepare_proxies(system);
	double rz, bz = has_rigid_space(system) ? start_deflated(&it, &rz) : start(&it, &rz);
	double tolerance = fem_policy_tolerance(system), target = fmax(tolerance * tolerance * bz, (double)system->floor);
	FemSolveResult result = {0};
	int32_t most = fem_policy_useful_iterations(count_unknowns(system), system->max_iterations);
	while (fabs(rz) > target && result.iterations < most) {
		result.is_broken = !(rz > 0.0); // rigid motions strain what is strained already (docs/method.md, "Stopping")
		if (result.is_broken)
			break;
		redirect(&it);
		double curvature = multiply(&it);
		result.is_broken = !(curvature > 0.0); // not a number, or rounding has made the matrix indefinite
		if (result.is_broken)
			break;
		it.alpha = (float)(rz / curvature);
		advance(&it);
		double next = finish_preconditioning(&it);
		it.beta = (float)(next / rz);
		rz = next;
		result.iterations++;
	}
	result.scale = bz;
	result.residual = bz > 0.0 ? (float)sqrt(fabs(rz) / bz) : 0.0f;
	result.capped = fabs(rz) > target;
	result.finite = isfinite(bz) && isfinite(rz);
	return result;
}

// ---- parts of it

static Iteration iteration_of(FemSystem *system) {
	return (Iteration){.system = system, .kernels = fem_row_kernels(fem_simd_level())};
}

void fem_system_residual(FemSystem *system) {
	Iteration it = iteration_of(system);
	load(&it, load_task);
	subtract(&it, subtract_task);
}

double fem_system_multiply(FemSystem *system) {
	Iteration it = iteration_of(system);
	return multiply(&it);
}

// ---- rigid pieces

static FemRange nodes_of(const FemSystem *system, const FemSystemIsland *island) {
	return (FemRange){system->chunks[island->chunks.begin].begin, system->chunks[island->chunks.end - 1].end};
}

static void spread_rigid_task(void *context, int32_t index) {
	FemSystem *system = context;
	FemSystemIsland *island = &system->islands[index];
	if (!island->is_rigid)
		return;
	if (island->rigid.modal) { // the other nodes follow in fem_system_close_modal()
		fem_modal_spread(island->body, &island->rigid, &system->contacts, system->chunks[island->chunks.begin].body);
		return;
	}
	fem_rigid_unknowns_spread(
		island->leader ? &island->leader->rigid : &island->rigid, island->body, nodes_of(system, island));
	fem_rigid_unknowns_residual(island->body, nodes_of(system, island));
}

void fem_system_spread_rigid(FemSystem *system) {
	fem_loop_for_light(system->loop, system->island_count, spread_rigid_task, system);
}

void fem_system_close_modal(FemSystem *system, float dt) {
	for (int32_t i = 0; i < system->island_count; i++) {
		FemSystemIsland *island = &system->islands[i];
		FemModal *modal = island->is_rigid ? fem_modal_of(island->body) : NULL;
		if (!modal)
			continue;
		fem_modal_close(island->body, &island->rigid);
		if (modal->grab_count > 0)
			fem_grabs_keep_forces(island->body, &island->rigid, dt);
		bool is_asked = island->body->breaking || island->body->reaction; // what its nodes bear; nobody else does
		bool is_known = modal->sums.is_set && modal->has_weight_only && island->rigid.mass > 0.0f; // how it moves alone
		bool is_alone = is_known && fem_modal_direct_is_possible(system);
		if (!island->rigid.modal || (is_alone && !is_asked)) // all its nodes have been spread, or none needs to be
			continue;
		fem_rigid_unknowns_spread(&island->rigid, island->body, nodes_of(system, island));
		if (is_asked)
			fem_rigid_unknowns_residual(island->body, nodes_of(system, island));
	}
}

static void add_impulse_to_rigid(
	const FemContactRows *rows, const FemContactSide *side, const float impulse[3], float sign) {
	if (side->is_fixed || fem_side_is_collider(side) || !fem_contact_side_rigid(rows, side))
		return;
	for (int k = 0; k < 4; k++) {
		float w = sign * side->weights[k];
		FemVec4 *r = &rows->bodies[side->body]->step->residual[side->nodes[k]];
		*r = (FemVec4){r->x + w * impulse[0], r->y + w * impulse[1], r->z + w * impulse[2], 0.0f};
	}
}

void fem_system_load_rigid(FemSystem *system) {
	const FemContactRows *rows = &system->contacts;
	for (int32_t c = 0; c < fem_contact_rows_total(rows); c++) {
		for (int s = 0; s < 2; s++)
			add_impulse_to_rigid(rows, &rows->contacts[c].side[s], rows->contacts[c].impulse, s == 0 ? -1.0f : 1.0f);
	}
}
