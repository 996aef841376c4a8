// Solving and moving islands: largest first, small ones one to a thread, large ones by all that are idle
// (P&O09 section 3.3).
#include "dynamics/rows.h"
#include "world/step.h"
#include "world/world.h"

#include <string.h>

#define SOLVE_FLOOR 1e-12f // (1e-6 m/s)^2: a residual worth less kinetic energy per kg is rounding

static FemLoop *open_loop(FemStep *step, const FemIsland *island) {
	return island->large ? fem_pool_open_loop(step->world->pool) : NULL;
}

static FemIntegration integration_of(FemStep *step, int32_t island_index, FemLoop *loop) {
	const FemIsland *island = &step->world->islands.islands[island_index];
	FemIslands *islands = &step->world->islands;
	return (FemIntegration){
		.body = step->world->bodies[island->body],
		.chunks = islands->node_chunks + island->node_chunks.begin,
		.chunk_count = island->node_chunks.end - island->node_chunks.begin,
		.partials = step->motion_sums + island->node_chunks.begin,
		.loop = loop,
		.dt = step->dt,
		.speed_max = step->world->def.node_speed_max,
		.gravity = step->world->def.gravity,
		.is_free = island->pinned_count == 0 && island->whole,
		.in_contact = step->results[island_index].in_contact,
	};
}

static FemSystem system_of(FemStep *step, const FemIsland *island, FemLoop *loop) {
	FemIslands *islands = &step->world->islands;
	FemBody *body = step->world->bodies[island->body];
	return (FemSystem){
		.body = body,
		.chunks = islands->node_chunks + island->node_chunks.begin,
		.chunk_count = island->node_chunks.end - island->node_chunks.begin,
		.partials = step->partials + island->node_chunks.begin,
		.preconditioner = island->whole && body->preconditioners ? &body->preconditioners[island->component] : NULL,
		.loop = loop,
		.tolerance = step->world->def.solver_tolerance,
		.floor = SOLVE_FLOOR * body->total_mass,
		.max_iterations = body->max_iterations,
	};
}

// The ground's active set after a solve; true while it still changes.
static bool update_ground(FemStep *step, const FemIsland *island, bool *out_in_contact) {
	FemBody *body = step->world->bodies[island->body];
	bool changed = false, in_contact = false;
	for (int32_t c = island->node_chunks.begin; c < island->node_chunks.end; c++) {
		if (step->ground_candidates[c] == 0)
			continue;
		const FemNodeChunk *chunk = &step->world->islands.node_chunks[c];
		changed |= fem_ground_update(body, chunk->begin, chunk->end, &step->ground);
		for (int32_t i = chunk->begin; i < chunk->end && !in_contact; i++)
			in_contact = body->ground_force[i] > 0.0f;
	}
	*out_in_contact = in_contact;
	return changed;
}

static void refresh_diagonal(FemStep *step, const FemIsland *island) {
	FemBody *body = step->world->bodies[island->body];
	const FemRowKernels *kernels = fem_row_kernels(fem_simd_level());
	for (int32_t c = island->node_chunks.begin; c < island->node_chunks.end; c++) {
		if (step->ground_candidates[c] == 0)
			continue;
		const FemNodeChunk *chunk = &step->world->islands.node_chunks[c];
		fem_assemble_diagonal(body, chunk->begin, chunk->end, step->dt);
		kernels->invert_diagonal(body, chunk->begin, chunk->end, NULL);
	}
}

static FemSolveResult precondition_and_solve(FemSystem *system, FemIslandResult *result, bool matrix_changed) {
	FemPreconditioner *preconditioner = system->preconditioner;
	if (!preconditioner)
		return fem_system_solve(system);
	int64_t before = preconditioner->factorizations;
	fem_preconditioner_prepare(preconditioner, system->body, system->loop, system->body->diagonal_blocks, matrix_changed);
	result->factorizations += preconditioner->factorizations - before;
	FemSolveResult solved = fem_system_solve(system);
	fem_preconditioner_learn(preconditioner, solved.iterations);
	return solved;
}

// A solve that hits its cap with an old factor gets a new one at once: a plate must not fall for want of iterations.
static void solve_once(FemSystem *system, FemIslandResult *result) {
	int64_t factorizations = result->factorizations;
	FemSolveResult solved = precondition_and_solve(system, result, false);
	bool kept = system->preconditioner && system->preconditioner->kind != FEM_PRECONDITION_JACOBI &&
		result->factorizations == factorizations;
	if (solved.capped && kept) {
		result->iterations += solved.iterations;
		solved = precondition_and_solve(system, result, true);
	}
	result->solves++;
	result->solves_capped += solved.capped;
	result->iterations += solved.iterations;
	result->residual = solved.residual > result->residual ? solved.residual : result->residual;
	result->errors |= (solved.capped ? FEM_STEP_SOLVER_CAPPED : 0) | (solved.finite ? 0 : FEM_STEP_BODY_ROLLED_BACK);
}

static void solve_island_task(void *context, int32_t order) {
	FemStep *step = context;
	int32_t island_index = step->island_order[order];
	FemIsland *island = &step->world->islands.islands[island_index];
	FemIslandResult *result = &step->results[island_index];
	FemLoop *loop = open_loop(step, island);
	FemIntegration integration = integration_of(step, island_index, loop);
	fem_motion_add_centrifugal(&integration);
	FemSystem system = system_of(step, island, loop);
	*result = (FemIslandResult){0};
	for (int pass = 0; pass < FEM_GROUND_PASSES; pass++) {
		solve_once(&system, result);
		if (!update_ground(step, island, &result->in_contact))
			break;
		refresh_diagonal(step, island);
	}
	island->iterations = (int32_t)result->iterations;
	for (int32_t c = 0; c < system.chunk_count; c++) {
		const FemNodeChunk *chunk = &system.chunks[c];
		memcpy(&system.body->last_dv[chunk->begin], &system.body->dv[chunk->begin],
			sizeof(FemVec4) * (size_t)(chunk->end - chunk->begin));
	}
	fem_pool_close_loop(step->world->pool, loop);
}

static void integrate_island_task(void *context, int32_t order) {
	FemStep *step = context;
	int32_t island_index = step->island_order[order];
	const FemIsland *island = &step->world->islands.islands[island_index];
	FemLoop *loop = open_loop(step, island);
	FemIntegration integration = integration_of(step, island_index, loop);
	if (step->results[island_index].errors & FEM_STEP_BODY_ROLLED_BACK)
		integration.body->went_bad = true;
	else
		step->results[island_index].errors |= fem_motion_integrate(&integration);
	fem_pool_close_loop(step->world->pool, loop);
}

// Expected cost is the row work of the last solve. Sorted into powers of two, largest first: the order decides when an
// island is computed, never what comes out.
static void order_islands(FemStep *step) {
	const FemIslands *islands = &step->world->islands;
	int32_t starts[65] = {0};
	for (int pass = 0; pass < 2; pass++) {
		for (int32_t i = 0; i < islands->count; i++) {
			int64_t iterations = islands->islands[i].iterations > 0 ? islands->islands[i].iterations : 20;
			uint64_t cost = (uint64_t)(islands->islands[i].node_count * iterations) | 1;
			int bucket = __builtin_clzll(cost); // 0 = largest
			if (pass == 0)
				starts[bucket + 1]++;
			else
				step->island_order[starts[bucket]++] = i;
		}
		for (int b = 0; pass == 0 && b < 64; b++)
			starts[b + 1] += starts[b];
	}
}

void fem_step_solve_islands(FemStep *step) {
	order_islands(step);
	fem_pool_for(step->world->pool, step->world->islands.count, solve_island_task, step);
}

void fem_step_integrate_islands(FemStep *step) {
	fem_pool_for(step->world->pool, step->world->islands.count, integrate_island_task, step);
}
