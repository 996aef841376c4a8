// Solving and moving composites: largest first, small ones one to a thread, large ones by all that are idle
// (P&O09 section 3.3).
#include "base/heap.h"
#include "dynamics/paper_friction.h"
#include "dynamics/rows.h"
#include "world/step.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

#define LOOSE 3.0f          // times the tolerance: enough to see which contacts press
#define RIGID_ITERATIONS 100 // cap for dynamic colliders that touch only sleepers: 6 unknowns each
#define SOLVE_FLOOR 1e-12f // (1e-6 m/s)^2: a residual worth less kinetic energy per kg is rounding

// What one task works with.
typedef struct CompositeTask {
	FemStep *step;
	FemComposite *composite;
	FemCompositeResult *result;
	FemSystem system;
} CompositeTask;

static const FemIsland *island_at(const CompositeTask *task, int32_t place) {
	const FemComposites *composites = &task->step->composites;
	return &task->step->world->islands.islands[composites->island_list[task->composite->islands.begin + place]];
}

// One body that touches nothing but itself: contacts are internal forces.
static bool touches_itself_only(const CompositeTask *task) {
	return task->composite->is_free && task->system.island_count == 1 && task->system.contacts.proxy_count == 0 &&
	       !task->result->on_ground;
}

static FemIntegration integration_of(const CompositeTask *task, int32_t place) {
	FemStep *step = task->step;
	const FemIsland *island = island_at(task, place);
	FemRange chunks = task->system.islands[place].chunks;
	return (FemIntegration){
		.body = step->world->bodies[island->body],
		.chunks = task->system.chunks + chunks.begin,
		.chunk_count = chunks.end - chunks.begin,
		.partials = step->motion_sums + task->composite->chunks.begin + chunks.begin,
		.loop = task->system.loop,
		.dt = step->dt,
		.speed_max = step->world->def.node_speed_max,
		.gravity = fem_body_gravity(step->world, step->world->bodies[island->body]),
		.is_free = island->pinned_count == 0 && island->whole,
		.in_contact = task->result->on_ground || (task->system.contacts.count > 0 && !touches_itself_only(task)),
	};
}

static FemContactRows contacts_of(FemStep *step, const FemComposite *composite, int32_t composite_index) {
	FemComposites *composites = &step->composites;
	return (FemContactRows){
		.bodies = step->world->bodies,
		.contacts = composites->contacts + composite->contacts.begin,
		.count = composite->contacts.end - composite->contacts.begin,
		.proxies = step->proxies,
		.proxy_list = composites->proxy_list + composite->proxies.begin,
		.proxy_count = composite->proxies.end - composite->proxies.begin,
		.rows = step->contact_rows + composite->contacts.begin,
		.impulses = step->contact_impulses + composite->contacts.begin,
		.refs = step->contact_refs + FEM_CONTACT_REFS * (int64_t)composite->contacts.begin,
		.ref_start = step->contact_ref_start + composite->chunks.begin + composite_index,
		.paper_friction = step->world->def.friction_mode == FEM_FRICTION_PAPER,
	};
}

// Where compact bodies lean on each other at many points, contact decides how many iterations a solve takes; a factor
// that knows nothing of it only makes each of them dearer (a pile of 27 cubes is 2.5 times faster without). Plates and
// beams still need theirs.
static bool contact_decides(const FemBody *body, const FemComposite *composite) {
	int32_t contacts = composite->contacts.end - composite->contacts.begin;
	bool compact = body->thickness > 0.25f * sqrtf(body->box_area);
	return contacts > 0 && 4 * contacts > composite->node_count && compact && body->preconditioners[0].kind == FEM_PRECONDITION_FACTOR;
}

static CompositeTask open_task(FemStep *step, int32_t order) {
	int32_t index = step->composite_order[order];
	FemWorld *world = step->world;
	FemComposite *composite = &step->composites.composites[index];
	CompositeTask task = {.step = step, .composite = composite, .result = &step->results[index]};
	task.system = (FemSystem){
		.bodies = world->bodies,
		.islands = step->system_islands + composite->islands.begin,
		.island_count = composite->islands.end - composite->islands.begin,
		.chunks = step->composites.chunks + composite->chunks.begin,
		.chunk_count = composite->chunks.end - composite->chunks.begin,
		.partials = step->partials + composite->chunks.begin,
		.contacts = contacts_of(step, composite, index),
		.contact_partials = step->contact_partials + composite->contacts.begin,
		.loop = composite->large ? fem_pool_open_loop(world->pool) : NULL,
		.tolerance = world->def.solver_tolerance,
	};
	for (int32_t i = 0, chunk = 0; i < task.system.island_count; i++) {
		const FemIsland *island = island_at(&task, i);
		FemBody *body = world->bodies[island->body];
		FemRange chunks = {chunk, chunk + island->node_chunks.end - island->node_chunks.begin};
		bool kept = island->whole && body->preconditioners && !contact_decides(body, composite);
		task.system.islands[i] = (FemSystemIsland){
			.body = body,
			.chunks = chunks,
			.preconditioner = kept ? &body->preconditioners[island->component] : NULL,
		};
		task.system.floor += SOLVE_FLOOR * body->total_mass;
		if (body->max_iterations > task.system.max_iterations)
			task.system.max_iterations = body->max_iterations;
		chunk = chunks.end;
	}
	for (int32_t k = 0; k < task.system.contacts.proxy_count; k++)
		task.system.floor += SOLVE_FLOOR * step->proxies[task.system.contacts.proxy_list[k]].mass;
	if (task.system.island_count == 0)
		task.system.max_iterations = RIGID_ITERATIONS;
	return task;
}

static void close_task(CompositeTask *task) {
	fem_pool_close_loop(task->step->world->pool, task->system.loop);
}

// --------------------------------------------------------------------------------------------------------------- contacts

static int32_t ground_candidates(const CompositeTask *task, int32_t chunk) {
	return task->step->ground_candidates[task->composite->chunks.begin + chunk];
}

static bool has_contacts(const CompositeTask *task, int32_t chunk) {
	const FemContactRows *rows = &task->system.contacts;
	return rows->count > 0 && rows->ref_start[chunk + 1] > rows->ref_start[chunk];
}

// Ground and contacts change the diagonal of the nodes they touch.
static void refresh_diagonal_task(void *context, int32_t chunk_index) {
	CompositeTask *task = context;
	const FemNodeChunk *chunk = &task->system.chunks[chunk_index];
	FemBody *body = task->step->world->bodies[chunk->body];
	bool *touched = &task->step->contact_touched[task->composite->chunks.begin + chunk_index], before = *touched;
	*touched = has_contacts(task, chunk_index);
	if (*touched || before)
		fem_contact_rows_diagonal(&task->system.contacts, chunk, chunk_index);
	if (!*touched && !before && ground_candidates(task, chunk_index) == 0)
		return;
	fem_assemble_diagonal(body, chunk->begin, chunk->end, task->step->dt);
	fem_row_kernels(fem_simd_level())->invert_diagonal(body, chunk->begin, chunk->end, NULL);
}

static void refresh_diagonal(CompositeTask *task) {
	fem_loop_for(task->system.loop, task->system.chunk_count, refresh_diagonal_task, task);
}

// kg, of all that moves.
static float mass_of(const CompositeTask *task) {
	double mass = 0.0;
	for (int32_t c = 0; c < task->system.chunk_count; c++) {
		const FemNodeChunk *chunk = &task->system.chunks[c];
		for (int32_t i = chunk->begin; i < chunk->end; i++)
			mass += (double)task->step->world->bodies[chunk->body]->mass[i];
	}
	for (int32_t k = 0; k < task->system.contacts.proxy_count; k++)
		mass += (double)task->step->proxies[task->system.contacts.proxy_list[k]].mass;
	return (float)mass;
}

static void set_paper_friction(CompositeTask *task) {
	const FemWorld *world = task->step->world;
	FemPaperFriction friction = {world->friction_gains, world->def.gravity, mass_of(task), task->step->dt};
	fem_paper_friction_apply(&task->system.contacts, &friction);
}

// Friction, rows and the diagonal for the active set as it is now.
static void prepare_pass(CompositeTask *task) {
	if (task->system.contacts.count > 0 && task->system.contacts.paper_friction)
		set_paper_friction(task);
	if (task->system.contacts.count > 0)
		fem_contact_rows_build(&task->system.contacts, task->system.chunk_count);
	refresh_diagonal(task);
}

static void build_contacts(CompositeTask *task) {
	memset(&task->step->contact_touched[task->composite->chunks.begin], 0, sizeof(bool) * (size_t)task->system.chunk_count);
	if (task->system.contacts.count == 0)
		return;
	prepare_pass(task);
}

// The active set after a solve; true while it still changes.
static bool update_ground(CompositeTask *task) {
	bool changed = false;
	for (int32_t c = 0; c < task->system.chunk_count; c++) {
		if (ground_candidates(task, c) == 0)
			continue;
		const FemNodeChunk *chunk = &task->system.chunks[c];
		FemBody *body = task->step->world->bodies[chunk->body];
		changed |= fem_ground_update(body, chunk->begin, chunk->end, &task->step->ground);
		task->result->on_ground = true; // it may have pressed in the solve, even if it no longer does
	}
	return changed;
}

static bool update_contacts(CompositeTask *task) {
	task->result->on_ground = false;
	bool changed = update_ground(task);
	task->result->in_contact = task->result->on_ground;
	if (task->system.contacts.count > 0) {
		FemContactUpdate update = fem_contact_rows_update(&task->system.contacts, FEM_GROUND_SLIP);
		changed |= update.changed;
		task->result->in_contact |= update.pressing;
	}
	return changed;
}

// ------------------------------------------------------------------------------------------------------------ rigid space

// Whole islands without pins, in the order of the composite; block_of[chunk]: see fem_rigid_space_create().
static int32_t list_rigid_islands(const CompositeTask *task, FemRigidIsland *out, int32_t *block_of) {
	const FemSystem *system = &task->system;
	int32_t count = 0;
	for (int32_t i = 0; i < system->island_count; i++) {
		const FemIsland *island = island_at(task, i);
		FemRange chunks = system->islands[i].chunks;
		bool takes_part = island->whole && island->pinned_count == 0 && count < FEM_RIGID_BLOCKS_MAX;
		for (int32_t c = chunks.begin; c < chunks.end; c++)
			block_of[c] = takes_part ? count : -1;
		if (takes_part) {
			FemBody *body = system->islands[i].body;
			out[count++] = (FemRigidIsland){body, body->topology->component_nodes[island->component]};
		}
	}
	return count;
}

// False: the solve goes without.
static bool open_rigid_space(CompositeTask *task, FemRigidSpace *space) {
	FemRigidIsland islands[FEM_RIGID_BLOCKS_MAX];
	int32_t *block_of = task->step->chunk_blocks + task->composite->chunks.begin;
	if (task->system.contacts.count == 0)
		return false;
	fem_heap_begin(task->step->world->heap);
	int32_t count = list_rigid_islands(task, islands, block_of);
	bool made = fem_rigid_space_create(space, &task->system.contacts, islands, count, block_of);
	fem_heap_end();
	return made;
}

// ------------------------------------------------------------------------------------------------------------------- solve

static int64_t prepare_islands(FemSystem *system, FemMatrixChange change) {
	int64_t made = 0;
	for (int32_t i = 0; i < system->island_count; i++) {
		FemPreconditioner *preconditioner = system->islands[i].preconditioner;
		FemBody *body = system->islands[i].body;
		if (!preconditioner)
			continue;
		int64_t before = preconditioner->factorizations;
		fem_preconditioner_prepare(preconditioner, body, system->loop, body->diagonal_blocks, change);
		made += preconditioner->factorizations - before;
	}
	return made;
}

static bool keeps_factor(const FemSystem *system) {
	for (int32_t i = 0; i < system->island_count; i++) {
		if (system->islands[i].preconditioner && system->islands[i].preconditioner->kind != FEM_PRECONDITION_JACOBI)
			return true;
	}
	return false;
}

static FemSolveResult precondition_and_solve(
	FemSystem *system, FemMatrixChange change, int64_t *factorizations) {
	*factorizations = prepare_islands(system, change);
	if (system->rigid)
		fem_rigid_space_prepare(system->rigid, &system->contacts, system->loop);
	FemSolveResult solved = fem_system_solve(system);
	for (int32_t i = 0; i < system->island_count; i++) {
		if (system->islands[i].preconditioner)
			fem_preconditioner_learn(system->islands[i].preconditioner, solved.iterations);
	}
	return solved;
}

// A solve that hits its cap with an old factor gets a new one at once: a plate must not fall for want of iterations.
static void solve_once(CompositeTask *task, bool is_first) {
	FemCompositeResult *result = task->result;
	int64_t made;
	FemMatrixChange change = {.has_moved = is_first, .by_contact = task->system.contacts.row_count > 0};
	FemSolveResult solved = precondition_and_solve(&task->system, change, &made);
	result->factorizations += made;
	if (solved.capped && made == 0 && keeps_factor(&task->system)) {
		result->iterations += solved.iterations;
		task->system.scale = 0.0;
		solved = precondition_and_solve(&task->system, (FemMatrixChange){.wholly = true}, &made);
		result->factorizations += made;
	}
	task->system.scale = solved.scale;
	result->solves++;
	result->solves_capped += solved.capped;
	result->iterations += solved.iterations;
	result->residual = solved.residual > result->residual ? solved.residual : result->residual;
	result->errors |= (solved.capped ? FEM_STEP_SOLVER_CAPPED : 0) | (solved.finite ? 0 : FEM_STEP_BODY_ROLLED_BACK);
}

static void keep_start_vectors(CompositeTask *task) {
	for (int32_t c = 0; c < task->system.chunk_count; c++) {
		const FemNodeChunk *chunk = &task->system.chunks[c];
		FemBody *body = task->step->world->bodies[chunk->body];
		memcpy(&body->last_dv[chunk->begin], &body->dv[chunk->begin], sizeof(FemVec4) * (size_t)(chunk->end - chunk->begin));
	}
	for (int32_t i = 0; i < task->system.island_count; i++) {
		FemIslands *islands = &task->step->world->islands;
		int32_t index = task->step->composites.island_list[task->composite->islands.begin + i];
		islands->islands[index].iterations = (int32_t)(task->result->iterations / task->system.island_count) + 1;
	}
}

// One solve after the other until the active set stays as it is. It is looked for by loose solves; the last one is sharp.
static void solve_passes(CompositeTask *task) {
	float tolerance = task->system.tolerance;
	bool sharp = task->system.contacts.count == 0;
	for (int pass = 0; pass < FEM_GROUND_PASSES; pass++) {
		sharp |= pass + 1 == FEM_GROUND_PASSES;
		task->system.tolerance = sharp ? tolerance : LOOSE * tolerance;
		if (sharp)
			task->system.scale = 0.0; // of this active set's own load
		solve_once(task, pass == 0);
		bool changed = update_contacts(task);
		if (sharp && (!changed || pass + 1 == FEM_GROUND_PASSES))
			break;
		sharp |= !changed;
		prepare_pass(task);
	}
}

static void solve_composite_task(void *context, int32_t order) {
	CompositeTask task = open_task(context, order);
	for (int32_t i = 0; i < task.system.island_count; i++) {
		FemIntegration integration = integration_of(&task, i);
		fem_motion_add_centrifugal(&integration);
	}
	build_contacts(&task);
	FemRigidSpace space;
	task.system.rigid = open_rigid_space(&task, &space) ? &space : NULL;
	solve_passes(&task);
	if (task.system.rigid)
		fem_rigid_space_free(&space);
	if (task.system.contacts.paper_friction)
		fem_paper_friction_finish(&task.system.contacts, task.step->dt);
	keep_start_vectors(&task);
	close_task(&task);
}

// --------------------------------------------------------------------------------------------------------------- integrate

// Several bodies that touch only each other keep their common momentum (contact.md: 2.5e-3 off without).
static void balance_group(CompositeTask *task) {
	FemMomentumLack sum = {0};
	if (!task->composite->is_free || task->result->on_ground || touches_itself_only(task))
		return;
	for (int32_t i = 0; i < task->system.island_count; i++) {
		FemIntegration integration = integration_of(task, i);
		fem_motion_add_lack(&integration, &sum);
	}
	for (int32_t k = 0; k < task->system.contacts.proxy_count; k++) {
		const FemProxy *proxy = &task->step->proxies[task->system.contacts.proxy_list[k]];
		sum.mass += (double)proxy->mass;
		for (int i = 0; i < 3; i++)
			sum.lack[i] += (double)(proxy->impulse[i] - proxy->mass * proxy->dv[i]);
	}
	for (int32_t i = 0; i < task->system.island_count; i++) {
		FemIntegration integration = integration_of(task, i);
		fem_motion_share_lack(&integration, &sum);
	}
	for (int32_t k = 0; k < task->system.contacts.proxy_count; k++) {
		FemProxy *proxy = &task->step->proxies[task->system.contacts.proxy_list[k]];
		for (int i = 0; i < 3; i++)
			proxy->dv[i] += (float)(sum.lack[i] / sum.mass);
	}
}

static void integrate_composite_task(void *context, int32_t order) {
	CompositeTask task = open_task(context, order);
	bool bad = (task.result->errors & FEM_STEP_BODY_ROLLED_BACK) != 0;
	if (!bad)
		balance_group(&task);
	for (int32_t i = 0; i < task.system.island_count; i++) {
		FemIntegration integration = integration_of(&task, i);
		if (bad)
			integration.body->went_bad = true;
		else
			task.result->errors |= fem_motion_integrate(&integration);
	}
	close_task(&task);
}

// Expected cost is the row work of the last solve. Sorted into powers of two, largest first: the order decides when a
// composite is computed, never what comes out.
static void order_composites(FemStep *step) {
	const FemComposites *composites = &step->composites;
	int32_t starts[65] = {0};
	for (int pass = 0; pass < 2; pass++) {
		for (int32_t i = 0; i < composites->count; i++) {
			const FemComposite *composite = &composites->composites[i];
			int64_t iterations = composite->iterations > 0 ? composite->iterations : 20;
			uint64_t cost = (uint64_t)(composite->node_count * iterations) | 1;
			int bucket = __builtin_clzll(cost); // 0 = largest
			if (pass == 0)
				starts[bucket + 1]++;
			else
				step->composite_order[starts[bucket]++] = i;
		}
		for (int b = 0; pass == 0 && b < 64; b++)
			starts[b + 1] += starts[b];
	}
}

void fem_step_solve_composites(FemStep *step) {
	order_composites(step);
	fem_pool_for_uneven(step->world->pool, step->composites.count, solve_composite_task, step);
}

void fem_step_integrate_composites(FemStep *step) {
	fem_pool_for_uneven(step->world->pool, step->composites.count, integrate_composite_task, step);
}
