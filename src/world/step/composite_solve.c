// The solve of a composite: loose solves find the active contacts, whose rigid space the last solve, to full tolerance,
// uses.
#include "base/heap.h"
#include "dynamics/bond_rows.h"
#include "dynamics/energy_bound.h"
#include "dynamics/modal_direct.h"
#include "dynamics/modal_unknowns.h"
#include "dynamics/paper_friction.h"
#include "dynamics/rigid_direct.h"
#include "dynamics/rigid_unknowns.h"
#include "dynamics/rows.h"
#include "dynamics/solver_policy.h"
#include "fracture/separation.h"
#include "model/bond.h"
#include "model/piece.h"
#include "world/step/composite_task.h"
#include "world/step/joined_pieces.h"
#include "world/step/step.h"
#include "world/step/work_limits.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

// More solves after the last one, with its friction and its contacts, while rebounds add energy: 2 do as a rule.
#define REBOUND_SOLVES 6
// Solves after which bonds may break. By then contacts press about as in the end: after one a slab of concrete parts at
// 6.3 m/s instead of 2.7.
#define LOOSE_SOLVES 2

// ---- contacts

static int32_t ground_candidates(const FemCompositeTask *task, int32_t chunk) {
	return task->step->ground_candidates[task->composite->chunks.begin + chunk];
}

static bool has_contacts(const FemCompositeTask *task, int32_t chunk) {
	const FemContactRows *rows = &task->system.contacts;
	return fem_contact_rows_total(rows) > 0 && rows->ref_start[chunk + 1] > rows->ref_start[chunk];
}

// Ground and contacts change the diagonal of the nodes they touch.
static void refresh_diagonal_task(void *context, int32_t chunk_index) {
	FemCompositeTask *task = context;
	const FemNodeChunk *chunk = &task->system.chunks[chunk_index];
	FemBody *body = task->step->world->bodies[chunk->body];
	if (task->system.islands[chunk->island].is_rigid) { // whose nodes have no preconditioner of their own
		if (ground_candidates(task, chunk_index) > 0)
			fem_assemble_diagonal(body, chunk->begin, chunk->end, task->step->dt);
		return;
	}
	bool *touched = &task->step->contact_touched[task->composite->chunks.begin + chunk_index], before = *touched;
	*touched = has_contacts(task, chunk_index);
	if (*touched || before)
		fem_contact_rows_diagonal(&task->system.contacts, chunk, chunk_index);
	if (!*touched && !before && ground_candidates(task, chunk_index) == 0)
		return;
	fem_assemble_diagonal(body, chunk->begin, chunk->end, task->step->dt);
	fem_row_kernels(fem_simd_level())->invert_diagonal(body, chunk->begin, chunk->end, NULL);
}

// The ground is part of the matrix of a rigid piece.
static void refresh_rigid_task(void *context, int32_t index) {
	FemCompositeTask *task = context;
	FemSystemIsland *island = &task->system.islands[index];
	bool is_near_ground = false;
	if (island->leader == island)
		fem_rigid_unknowns_load_group(&island->rigid, island->extra, island->body,
			task->system.group_nodes + island->group.begin, island->group.end - island->group.begin);
	if (island->leader)
		return;
	for (int32_t c = island->chunks.begin; island->is_rigid && c < island->chunks.end; c++)
		is_near_ground |= ground_candidates(task, c) > 0;
	if (!is_near_ground)
		return;
	if (fem_modal_of(island->body))
		fem_modal_load(island->body, &island->rigid, island->extra);
	else
		fem_rigid_unknowns_load(&island->rigid, island->extra, island->body,
			island->body->topology->component_nodes[fem_composite_island(task, index)->component]);
}

static void refresh_diagonal(FemCompositeTask *task) {
	fem_loop_for(task->system.loop, task->system.chunk_count, refresh_diagonal_task, task);
	fem_loop_for_light(task->system.loop, task->system.island_count, refresh_rigid_task, task);
}

// Friction, rows and the diagonal for the active set as it is now.
static void prepare_pass(FemCompositeTask *task) {
	const FemWorld *world = task->step->world;
	if (task->system.contacts.holds)
		fem_paper_friction_apply(&task->system, &world->friction_gains, world->def.gravity, task->step->dt);
	for (int32_t k = 0; k < task->system.modal_count; k++)
		task->system.modals[k]->modal->jacobian_count = 0;
	if (fem_contact_rows_total(&task->system.contacts) > 0 && !task->system.is_direct)
		fem_contact_rows_build(&task->system.contacts, task->system.chunk_count);
	refresh_diagonal(task);
}

static void build_contacts(FemCompositeTask *task) {
	memset(&task->step->contact_touched[task->composite->chunks.begin], 0,
		sizeof(bool) * (size_t)task->system.chunk_count);
	if (fem_contact_rows_total(&task->system.contacts) == 0)
		return;
	prepare_pass(task);
}

// The active set after a solve; true while it still changes.
static bool update_ground(FemCompositeTask *task) {
	bool changed = false;
	for (int32_t c = 0; c < task->system.chunk_count; c++) {
		if (ground_candidates(task, c) == 0)
			continue;
		const FemNodeChunk *chunk = &task->system.chunks[c];
		FemBody *body = task->step->world->bodies[chunk->body];
		changed |= fem_ground_update(body, chunk->begin, chunk->end, &task->step->ground);
		task->result->on_ground = true; // it may have been active in the solve, even if it no longer is
	}
	return changed;
}

static bool update_contacts(FemCompositeTask *task) {
	task->result->on_ground = false;
	bool changed = update_ground(task);
	task->result->in_contact = task->result->on_ground;
	if (task->system.contacts.count > 0) {
		FemContactUpdate update = fem_contact_rows_update(&task->system.contacts, FEM_GROUND_SLIP);
		changed |= update.changed;
		task->result->in_contact |= update.any_active;
	}
	return changed;
}

static void find_ground_bounces(FemCompositeTask *task) {
	task->system.ground_rebound = 0.0f;
	for (int32_t c = 0; c < task->system.chunk_count; c++) {
		const FemNodeChunk *chunk = &task->system.chunks[c];
		const FemBody *body = task->step->world->bodies[chunk->body];
		if (ground_candidates(task, c) > 0 && fem_ground_bounces(body, chunk->begin, chunk->end, &task->step->ground))
			task->system.ground_rebound = fmaxf(task->system.ground_rebound, body->restitution);
	}
}

// True if rebounds added energy, and were slowed for it.
static bool limit_bounces(FemCompositeTask *task) {
	bool limited = fem_contact_rows_limit_bounces(&task->system.contacts);
	for (int32_t c = 0; c < task->system.chunk_count && task->system.ground_rebound > 0.0f; c++) {
		const FemNodeChunk *chunk = &task->system.chunks[c];
		if (ground_candidates(task, c) > 0)
			limited |= fem_ground_limit_bounces(
				task->step->world->bodies[chunk->body], chunk->begin, chunk->end, &task->step->ground);
	}
	return limited;
}

// ---- rigid space

// Whole elastic islands without pins, in the order of the composite; block_of[chunk]: see fem_rigid_space_create().
static int32_t list_rigid_islands(const FemCompositeTask *task, FemRigidIsland *out, int32_t *block_of) {
	const FemSystem *system = &task->system;
	int32_t count = 0;
	for (int32_t i = 0; i < system->island_count; i++) {
		const FemIsland *island = fem_composite_island(task, i);
		FemRange chunks = system->islands[i].chunks;
		bool is_rigid_block =
			!system->islands[i].is_rigid && island->whole && island->pinned_count == 0 && count < FEM_RIGID_BLOCKS_MAX;
		for (int32_t c = chunks.begin; c < chunks.end; c++)
			block_of[c] = is_rigid_block ? count : -1;
		if (is_rigid_block) {
			FemBody *body = system->islands[i].body;
			out[count++] = (FemRigidIsland){body, body->topology->component_nodes[island->component]};
		}
	}
	return count;
}

// Opens the rigid space of at least so many islands and colliders; false when there is none.
static bool open_rigid_space(FemCompositeTask *task, FemRigidSpace *space, int32_t blocks_min) {
	FemRigidIsland islands[FEM_RIGID_BLOCKS_MAX];
	int32_t *block_of = task->step->chunk_blocks + task->composite->chunks.begin;
	int32_t count = list_rigid_islands(task, islands, block_of);
	FemRigidIslands all = {islands, count, block_of, task->system.rigids, task->system.rigid_count};
	if (all.count + all.rigid_count < blocks_min)
		return false;
	fem_heap_begin(task->step->world->heap);
	bool made = fem_rigid_space_create(space, &task->system.contacts, &all);
	fem_heap_end();
	return made;
}

static bool has_rigid_island(const FemSystem *system) {
	bool has = false;
	for (int32_t i = 0; i < system->island_count; i++)
		has |= system->islands[i].is_rigid;
	return has;
}

// As a level of the solve it pays where contacts join several. For rigid pieces it is the solve.
static bool open_coarse_level(FemCompositeTask *task, FemRigidSpace *space) {
	return fem_contact_rows_total(&task->system.contacts) > 0 &&
		open_rigid_space(task, space, has_rigid_island(&task->system) ? 1 : 2);
}

// ---- solve

typedef struct Preparation {
	FemSystem *system;
	FemMatrixChange change;
	bool in_two_levels; // those use the loop themselves
} Preparation;

static void prepare_island_task(void *context, int32_t i) {
	const Preparation *preparation = context;
	FemPreconditioner *preconditioner = preparation->system->islands[i].preconditioner;
	FemBody *body = preparation->system->islands[i].body;
	if (preconditioner && (preconditioner->kind == FEM_PRECONDITION_TWO_LEVEL) == preparation->in_two_levels)
		fem_preconditioner_prepare(preconditioner, body, preparation->in_two_levels ? preparation->system->loop : NULL,
			body->step->diagonal_blocks, preparation->change);
}

static int64_t count_factorizations(const FemSystem *system) {
	int64_t count = 0;
	for (int32_t i = 0; i < system->island_count; i++)
		count += system->islands[i].preconditioner ? system->islands[i].preconditioner->factorizations : 0;
	return count;
}

// Prepares the preconditioners of all islands; returns how many factors were made.
static int64_t prepare_islands(FemSystem *system, FemMatrixChange change) {
	int64_t before = count_factorizations(system);
	Preparation preparation = {system, change, false};
	fem_loop_for(system->loop, system->island_count, prepare_island_task, &preparation);
	preparation.in_two_levels = true;
	for (int32_t i = 0; i < system->island_count; i++)
		prepare_island_task(&preparation, i);
	return count_factorizations(system) - before;
}

// Without a factor what is rigid is solved for by iterations, too.
static void leave_direct(FemSystem *system) {
	system->is_direct = false;
	system->contacts.after = NULL;
	if (fem_contact_rows_total(&system->contacts) > 0)
		fem_contact_rows_build(&system->contacts, system->chunk_count);
}

static FemSolveResult precondition_and_solve(FemSystem *system, FemMatrixChange change, int64_t *factorizations) {
	*factorizations = prepare_islands(system, change);
	if (system->rigid)
		fem_rigid_space_prepare(system->rigid, &system->contacts, system->loop);
	if (system->is_direct && system->rigid && !system->rigid->valid)
		leave_direct(system);
	FemSolveResult solved = system->is_direct  ? fem_rigid_direct_solve(system)
		: fem_modal_direct_is_possible(system) ? fem_modal_direct_solve(system)
											   : fem_system_solve(system);
	for (int32_t i = 0; i < system->island_count; i++) {
		if (system->islands[i].preconditioner)
			fem_policy_note_solve(system->islands[i].preconditioner, solved.iterations);
	}
	return solved;
}

// Free islands are solved for with K freed of rigid motions; false when all were already.
static bool balance_islands(FemCompositeTask *task) {
	bool is_new = false;
	for (int32_t i = 0; i < task->system.island_count; i++) {
		FemSystemIsland *island = &task->system.islands[i];
		bool was_on = island->balance.is_on;
		if (island->balance.nodes.end > island->balance.nodes.begin)
			fem_rigid_balance_complete_load(
				&island->balance, island->body, task->step->dt, fem_body_gravity(task->step->world, island->body));
		is_new |= island->balance.is_on && !was_on;
	}
	return is_new;
}

// A solve that was cut short may be off, but adds no energy.
static void bound_energy(FemCompositeTask *task) {
	FemSystem *system = &task->system;
	balance_islands(task);
	FemRigidSpace space, *rigid = system->rigid;
	bool opened = !rigid && open_rigid_space(task, &space, 1);
	if (opened) {
		rigid = &space;
		fem_rigid_space_prepare(rigid, &system->contacts, system->loop);
	}
	task->result->solves_bounded += fem_energy_bound(system, rigid) < 1.0f;
	if (opened)
		fem_rigid_space_free(&space);
}

// A solve that only looks for the active set may end at its cap.
static void solve_once(FemCompositeTask *task, bool is_first, bool sharp) {
	FemCompositeResult *result = task->result;
	int64_t made;
	FemMatrixChange change = {.has_moved = is_first, .by_contact = task->system.contacts.row_count > 0};
	FemSolveResult solved = precondition_and_solve(&task->system, change, &made);
	result->factorizations += made;
	if (solved.is_broken && solved.finite && balance_islands(task)) {
		result->iterations += solved.iterations;
		task->system.scale = 0.0;
		solved = precondition_and_solve(&task->system, (FemMatrixChange){.has_moved = false}, &made);
		result->factorizations += made;
	}
	solved.capped &= sharp;
	bool is_bounded = task->step->world->limits.solve_work_max > 0;
	if (solved.capped && !is_bounded && fem_policy_repeats_capped(&task->system, made)) {
		result->iterations += solved.iterations;
		task->system.scale = 0.0;
		solved = precondition_and_solve(&task->system, (FemMatrixChange){.wholly = true}, &made);
		result->factorizations += made;
	}
	if (solved.capped && solved.finite)
		bound_energy(task);
	task->system.scale = solved.scale;
	result->solves++;
	result->solves_capped += solved.capped;
	result->iterations += solved.iterations;
	result->residual = solved.residual > result->residual ? solved.residual : result->residual;
	result->errors |= (solved.capped ? FEM_STEP_SOLVER_CAPPED : 0) | (solved.finite ? 0 : FEM_STEP_BODY_ROLLED_BACK);
}

static void keep_start_vectors(FemCompositeTask *task) {
	for (int32_t c = 0; c < task->system.chunk_count; c++) {
		const FemNodeChunk *chunk = &task->system.chunks[c];
		FemBody *body = task->step->world->bodies[chunk->body];
		const FemPiece *piece = &body->pieces[fem_node_component(body->topology, chunk->begin)];
		if (piece->is_rigid && piece->slack > 0.0f)
			continue; // loads, not a start vector
		memcpy(&body->last_dv[chunk->begin], &body->step->dv[chunk->begin],
			sizeof(FemVec4) * (size_t)(chunk->end - chunk->begin));
	}
	for (int32_t i = 0; i < task->system.island_count; i++) {
		if (!task->system.islands[i].is_rigid)
			task->system.islands[i].body->pieces[fem_composite_island(task, i)->component].slack = 0.0f;
		FemIslands *islands = &task->step->world->islands;
		int32_t index = task->step->composites.island_list[task->composite->islands.begin + i];
		islands->islands[index].iterations = (int32_t)(task->result->iterations / task->system.island_count) + 1;
	}
}

// Nodes of rigid pieces follow each solve where the ground or other nodes ask for their dv.
static void spread(FemCompositeTask *task) {
	bool is_near_ground = false;
	for (int32_t c = 0; c < task->system.chunk_count; c++)
		is_near_ground |= ground_candidates(task, c) > 0;
	if (!task->system.is_direct || is_near_ground)
		fem_system_spread_rigid(&task->system);
}

// Bonds break by what was found so far: this pass is taken again, and a sharper set of contacts is for that one.
static bool will_break(FemCompositeTask *task, int32_t solves) {
	FemContactRows *rows = &task->system.contacts;
	if (rows->bond_count == 0 || solves < LOOSE_SOLVES)
		return false;
	fem_bond_rows_keep(rows);
	return fem_joined_is_overloaded(task->step, rows->contacts + rows->count, rows->bond_count);
}

// One solve after the other until the active set stays as it is.
static void solve_passes(FemCompositeTask *task) {
	float tolerance = task->system.tolerance;
	int32_t cap = task->system.max_iterations;
	bool settled =
		task->system.contacts.count == 0 || task->system.is_direct || fem_modal_direct_is_possible(&task->system);
	int32_t first = fem_policy_first_pass(task->step->pass, task->system.contacts.bond_count,
		fem_work_solves(task->step->world, task->composite->node_count));
	for (int32_t index = first;; index++) {
		FemSolvePass pass = fem_policy_pass(index, settled, tolerance, cap, task->system.island_count);
		task->system.tolerance = pass.tolerance;
		task->system.max_iterations = pass.max_iterations;
		if (pass.is_sharp)
			task->system.scale = 0.0; // of this active set's own load
		solve_once(task, index == first, pass.is_sharp);
		spread(task);
		bool changed = limit_bounces(task);
		for (int32_t n = 0; changed && pass.is_last && n < REBOUND_SOLVES; n++) {
			prepare_pass(task);
			solve_once(task, false, true);
			spread(task);
			changed = limit_bounces(task);
		}
		changed |= update_contacts(task);
		if (pass.is_last || (pass.is_sharp && !changed) || will_break(task, index - first + 1))
			break;
		settled |= !changed;
		prepare_pass(task);
	}
}

// What breaks is solved for by the iterations that its fracture was measured with: nearly the same, but cracks are
// chaotic.
static bool may_break(const FemCompositeTask *task) {
	bool may = false;
	for (int32_t i = 0; i < task->system.island_count; i++) {
		const FemBody *body = task->system.islands[i].body;
		may |= body->breaking && body->breaking->can_break && !fem_joined_of(body) && !fem_body_stays_rigid(body);
	}
	return may;
}

void fem_composite_solve(FemCompositeTask *task) {
	FemRigidSpace space;
	FemSystem *system = &task->system;
	system->is_direct = fem_rigid_direct_is_possible(system) && !may_break(task);
	fem_contact_rows_open(&system->contacts);
	fem_bond_rows_follow_rotation(&system->contacts, task->step->dt);
	bool is_single = system->is_direct && system->rigid_count <= 1;
	system->rigid = !is_single && open_coarse_level(task, &space) ? &space : NULL;
	system->is_direct &= is_single || system->rigid;
	system->contacts.moves_rigidly = system->rigid != NULL;
	if (system->is_direct)
		fem_rigid_direct_open(system);
	find_ground_bounces(task);
	build_contacts(task);
	solve_passes(task);
	fem_bond_rows_keep(&system->contacts);
	if (system->is_direct)
		fem_system_spread_rigid(system);
	if (system->rigid)
		fem_rigid_space_free(&space);
	fem_system_close_modal(&task->system, task->step->dt);
	fem_system_load_rigid(&task->system);
	keep_start_vectors(task);
}
