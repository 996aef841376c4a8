// One step, as a table of contents. Each stage is one call and one timing.
#include "world/step/step.h"
#include "world/step/blows.h"

#include "base/assert.h"
#include "base/timing.h"
#include "base/vec.h"
#include "dynamics/elements.h"
#include "dynamics/plate_elements.h"
#include "dynamics/rows.h"
#include "model/piece.h"
#include "world/api/bodies.h"
#include "world/api/pieces.h"
#include "world/contact/fast_objects.h"
#include "world/contact/held_pieces.h"
#include "world/step/blow_waits.h"
#include "world/step/breaking.h"
#include "world/step/crushing.h"
#include "world/step/joined_blows.h"
#include "world/step/joined_calm.h"
#include "world/step/joined_pieces.h"
#include "world/step/kept_elements.h"
#include "world/step/modal_pieces.h"
#include "world/step/passes.h"
#include "world/step/rigid_pieces.h"
#include "world/step/solver_state.h"
#include "world/step/substeps.h"
#include "world/step/work_limits.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

// M; the origin moves when the body's centre is farther than this from it: a float at 16 m tells 1 um.
#define ORIGIN_DRIFT 16.0f

static void begin_substep(FemStep *step);
static void compose_islands(FemStep *step);
static void update_elements(FemStep *step);
static void look_at_blows(FemStep *step);
static void assemble(FemStep *step);
static void solve(FemStep *step);
static void break_bonds(FemStep *step);
static void integrate(FemStep *step);
static void fracture(FemStep *step);
static void finish_motion(FemStep *step);
static void finish_passes(FemStep *step);
static void retire_pieces(FemStep *step);
static void sleep_and_wake(FemStep *step);
static void count(FemStep *step);
static void drop_body_memory(FemWorld *world);

typedef void Stage(FemStep *step);

static void run_stage(FemStep *step, FemPhase phase, Stage *stage) {
	double before = fem_time_ms();
	stage(step);
	step->world->step_statistics.phase_ms[phase] += fem_time_ms() - before;
}

// One attempt at the step, from its start: true when something broke, and it is to be taken again.
static bool run_pass(FemStep *step) {
	// Live islands, those that touch as one system, and their memory for this step.
	run_stage(step, FEM_PHASE_ISLANDS, compose_islands);

	// Rotation, plastic flow, stress and forces of every tet.
	run_stage(step, FEM_PHASE_ELEMENTS, update_elements);

	// What is struck breaks by the real force of the blow, before anything moves.
	run_stage(step, FEM_PHASE_FRACTURE, look_at_blows);
	if (step->is_again)
		return true;

	// Rows of the matrix, right-hand side.
	run_stage(step, FEM_PHASE_ASSEMBLY, assemble);

	// Changes of velocity.
	run_stage(step, FEM_PHASE_SOLVE, solve);

	// Bonds that bear too much. Where they hold all that was solved for, nothing needs to move first.
	run_stage(step, FEM_PHASE_FRACTURE, break_bonds);
	if (step->is_again)
		return true;

	// New velocities and positions.
	run_stage(step, FEM_PHASE_INTEGRATE, integrate);

	// What can break flows, and, where it is pulled too hard, comes apart; it goes back to the start of the step.
	run_stage(step, FEM_PHASE_FRACTURE, fracture);
	return step->is_again;
}

static void step_once(FemWorld *world, float dt) {
	FemStep step = {.world = world, .dt = dt, .arena = &world->arena};

	// Forces and states set since the last step; origins follow their bodies.
	run_stage(&step, FEM_PHASE_COMMANDS, begin_substep);

	// What touches; sleepers that are struck or lose their support wake.
	run_stage(&step, FEM_PHASE_COLLISION, fem_contact_stage_find);

	// The move, again and again while something breaks in it.
	while (run_pass(&step))
		step.arena = &world->pass_arena;
	run_stage(&step, FEM_PHASE_FRACTURE, finish_passes);

	// Fast objects stop where they meet; bodies that are no longer finite go back to their last published state.
	run_stage(&step, FEM_PHASE_INTEGRATE, finish_motion);

	// What has come to rest sleeps; what is pulled at wakes.
	run_stage(&step, FEM_PHASE_SLEEP, sleep_and_wake);

	// What is under too high a pressure goes to grains, pieces beyond limits of number and age go. After sleep:
	// contacts and islands of this step name their nodes.
	run_stage(&step, FEM_PHASE_FRACTURE, retire_pieces);

	// Numbers for the statistics. Positions and events are published by the thread that ends the step.
	run_stage(&step, FEM_PHASE_PUBLISH, count);

	drop_body_memory(world);
}

void fem_world_run_step(FemWorld *world) {
	for (int32_t i = 0; i < world->step_substeps; i++) {
		world->substep = i;
		fem_colliders_begin_substep(world, i, world->step_dt);
		step_once(world, world->step_dt);
	}
	fem_colliders_end_substeps(world);
}

// ---- commands

// Moves the origin onto the body when it has drifted off. Whole metres are subtracted exactly.
static void recenter(FemBody *body) {
	float shift[3], limit = ORIGIN_DRIFT;
	const float *low = body->box_min, *high = body->box_max;
	double published[3] = {body->published_origin.x, body->published_origin.y, body->published_origin.z};
	double origin[3] = {body->origin.x, body->origin.y, body->origin.z};
	bool drifted = false;
	for (int i = 0; i < 3; i++) {
		double center = published[i] - origin[i] + 0.5 * ((double)low[i] + high[i]);
		shift[i] = fabs(center) > limit ? (float)round(center) : 0.0f;
		drifted |= shift[i] != 0.0f;
	}
	if (!drifted)
		return;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		body->position[i].x -= shift[0];
		body->position[i].y -= shift[1];
		body->position[i].z -= shift[2];
	}
	body->trees_moved = true;
	body->origin.x += shift[0];
	body->origin.y += shift[1];
	body->origin.z += shift[2];
}

static void begin_substep(FemStep *step) {
	FemWorld *world = step->world;
	step->ground = (FemGround){
		.enabled = world->def.ground_enabled,
		.height = world->def.ground_height,
		.friction = world->def.ground_friction,
		.dt = step->dt,
		.gravity = world->def.gravity,
	};
	// Not the list of the last step: a restored world has none, and must go on as the one that was saved.
	if (!fem_islands_update(&world->islands, world->bodies, world->body_capacity))
		return; // compose_islands() tries again, and tells of it
	if (fem_work_wake_waiting(world) && !fem_islands_update(&world->islands, world->bodies, world->body_capacity))
		return;
	for (int32_t i = 0; i < world->islands.active_count; i++)
		recenter(world->bodies[world->islands.active_bodies[i]]);
	fem_joined_wake(world);
	fem_held_pieces_release(step);
	fem_rigid_pieces_begin(step);
}

// ---- islands

// In a later pass what was not split has its memory from the first, but for the blocks of its contacts.
static void take_body_memory(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (step->pass == 0) {
			fem_body_take_step_memory(body, step->arena);
			fem_body_forget_passes(body);
		} else if (body->step->was_split) {
			fem_body_take_pass_memory(body, step->arena);
		} else {
			body->step->contact_blocks = NULL;
			continue;
		}
		if (body->live_part_count > 0 && body->live_part_count < body->topology->part_count) {
			// dv, search direction and preconditioned residual of all nodes start at 0, because sleeping neighbours of
			// live nodes are read as columns and in contacts, and do not move.
			size_t bytes = sizeof(FemVec4) * (size_t)body->topology->node_count;
			memset(body->step->dv, 0, bytes);
			memset(body->step->direction, 0, bytes);
			memset(body->step->z, 0, bytes);
		}
	}
}

// The arena is used anew by the next step: reading of this one faults rather than finding something else there.
static void drop_body_memory(FemWorld *world) {
	for (int32_t i = 0; i < world->islands.active_count; i++)
		world->bodies[world->islands.active_bodies[i]]->step = NULL;
}

static void take_contact_memory(FemStep *step) {
	for (int32_t c = 0; c < step->composites.count; c++) {
		const FemComposite *composite = &step->composites.composites[c];
		if (composite->contacts.end == composite->contacts.begin || composite->is_over)
			continue;
		for (int32_t i = composite->chunks.begin; i < composite->chunks.end; i++)
			fem_body_take_contact_memory(step->world->bodies[step->composites.chunks[i].body], step->arena);
	}
}

static void detect_ground_task(void *context, int32_t chunk_index) {
	FemStep *step = context;
	const FemNodeChunk *chunk = &step->composites.chunks[chunk_index];
	FemBody *body = step->world->bodies[chunk->body];
	bool is_over = body->pieces[fem_node_component(body->topology, chunk->begin)].is_over;
	step->ground_candidates[chunk_index] = is_over ? fem_ground_count(body, chunk->begin, chunk->end)
												   : fem_ground_detect(body, chunk->begin, chunk->end, &step->ground);
	if (!is_over)
		fem_ground_bounce(step, body, chunk->begin, chunk->end);
	fem_blow_waits_leave_ground(body, chunk->begin, chunk->end);
}

// What broke in earlier passes stays broken where it was at the start of the step. Over all bodies: the lists of what
// is live may be what failed.
static void abandon_passes(FemWorld *world) {
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		if (!body || !body->step)
			continue;
		body->step = NULL;
		fem_body_forget_passes(body);
		if (!body->breaking)
			continue;
		fem_body_end_splits(world, body);
		if (body->breaking->surface_is_stale)
			fem_body_finish_surface(world, b);
	}
}

// Nothing moves in a step for which there is no memory.
static void stand_still(FemStep *step) {
	FemWorld *world = step->world;
	if (step->pass > 0)
		abandon_passes(world);
	fem_islands_clear(&world->islands);
	step->contact_count = step->proxy_count = 0;
	world->step_errors |= FEM_STEP_NO_MEMORY;
}

static void compose_islands(FemStep *step) {
	FemWorld *world = step->world;
	fem_joined_wake(world);
	bool listed =
		fem_islands_update(&world->islands, world->bodies, world->body_capacity); // contacts may have woken some
	if (step->pass == 0 && listed)
		fem_work_limit_elastic(world);
	if (!listed || !fem_joined_list(step) || !fem_step_begin_memory(step))
		stand_still(step);
	fem_world_prepare_solvers(world);
	take_body_memory(step);
	bool is_composed = fem_composites_build(&step->composites, &world->islands, world->bodies, step->contacts,
		step->contact_count, step->proxies, step->proxy_count, step->arena);
	FEM_ASSERT(is_composed || world->islands.count == 0);
	(void)is_composed;
	fem_passes_open(step);
	fem_step_take_lists(step);
	if (step->results) // null without memory for the step
		memset(step->results, 0, sizeof *step->results * (size_t)step->composites.count);
	take_contact_memory(step);
	fem_passes_save(step);
	fem_pool_for(world->pool, world->islands.node_chunk_count, detect_ground_task, step);
}

static FemBody *chunk_body(const FemStep *step, int32_t chunk_index, const FemNodeChunk **out_chunk) {
	*out_chunk = &step->world->islands.node_chunks[chunk_index];
	return step->world->bodies[(*out_chunk)->body];
}

// ---- elements

static void update_elements(FemStep *step) {
	fem_kept_elements_find(step);
	fem_pool_for(step->world->pool, step->world->islands.batch_chunk_count, fem_step_update_elements_task, step);
	if (step->world->celled_count > 0)
		fem_pool_for(step->world->pool, step->world->islands.batch_chunk_count, fem_step_update_cells_task, step);
}

// ---- assembly

// Edges from a live node down to a sleeping one belong to the sleeping node's list: find them one by one.
static void assemble_border_edges(FemBody *body, const FemNodeChunk *chunk, const FemRowKernels *kernels) {
	const FemTopology *topology = body->topology;
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		for (int32_t k = topology->row_start[i]; k < topology->row_start[i + 1]; k++) {
			int32_t j = topology->row_column[k];
			if (j >= i)
				break;
			if (body->part_state[topology->node_part[j]] == FEM_ISLAND_LIVE)
				continue;
			int32_t edge = topology->node_edge_start[j];
			while (topology->edge_slots[2 * edge + 1] != k)
				edge++;
			kernels->assemble_edges(body, edge, edge + 1);
		}
	}
}

static const FemPiece *chunk_piece(const FemStep *step, const FemNodeChunk *chunk) {
	return &step->world->bodies[chunk->body]->pieces[step->world->islands.islands[chunk->island].component];
}

static void assemble_edges_task(void *context, int32_t chunk_index) {
	const FemStep *step = context;
	const FemNodeChunk *chunk;
	FemBody *body = chunk_body(step, chunk_index, &chunk);
	bool is_new = step->moves == 0 || body->step->was_split || body->step->was_released;
	const FemPiece *piece = chunk_piece(step, chunk);
	if (!is_new || piece->is_rigid || piece->is_over) // old: its rows are those of the first pass
		return;
	const FemRowKernels *kernels = fem_row_kernels(fem_simd_level());
	const int32_t *edge_start = body->topology->node_edge_start;
	kernels->assemble_edges(body, edge_start[chunk->begin], edge_start[chunk->end]);
	if (body->live_part_count < body->topology->part_count)
		assemble_border_edges(body, chunk, kernels);
}

static void assemble_nodes_task(void *context, int32_t chunk_index) {
	FemStep *step = context;
	const FemNodeChunk *chunk;
	FemBody *body = chunk_body(step, chunk_index, &chunk);
	const FemPiece *piece = chunk_piece(step, chunk);
	if (piece->is_over)
		return;
	if (piece->is_rigid) {
		fem_assemble_rigid_nodes(body, chunk->begin, chunk->end, step->dt, fem_body_gravity(step->world, body));
		return;
	}
	fem_assemble_nodes(body, chunk->begin, chunk->end, step->dt, fem_body_gravity(step->world, body));
	fem_assemble_diagonal(body, chunk->begin, chunk->end, step->dt);
	if (body->step->contact_blocks) // only those of nodes that are touched are made again
		memset(body->step->contact_blocks + 6 * (int64_t)chunk->begin, 0,
			6 * sizeof(float) * (size_t)(chunk->end - chunk->begin));
	fem_row_kernels(fem_simd_level())->invert_diagonal(body, chunk->begin, chunk->end, NULL);
	bool has_start = !(piece->slack > 0.0f); // else it was rigid in the last step
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		bool is_free = body->node_kind[i] == FEM_NODE_FREE && has_start;
		body->step->dv[i] = is_free ? body->last_dv[i] : (FemVec4){0.0f, 0.0f, 0.0f, 0.0f};
	}
}

static void assemble(FemStep *step) {
	int32_t chunk_count = step->world->islands.node_chunk_count;
	fem_pool_for(step->world->pool, chunk_count, assemble_edges_task, step);
	fem_pool_for(step->world->pool, chunk_count, assemble_nodes_task, step);
}

// ---- solve

static void solve(FemStep *step) {
	FemStatistics *statistics = &step->world->step_statistics;
	fem_step_solve_composites(step);
	for (int32_t i = 0; i < step->composites.count; i++) {
		const FemCompositeResult *result = &step->results[i];
		statistics->solves += result->solves;
		statistics->solves_capped += result->solves_capped;
		statistics->solves_bounded += result->solves_bounded;
		statistics->iterations += result->iterations;
		statistics->factorizations += result->factorizations;
		statistics->residual_max = fmaxf(statistics->residual_max, result->residual);
	}
}

// ---- fracture

// Bonds first: what they let go of is looked at as loose pieces are.
static void look_at_blows(FemStep *step) {
	step->is_again = step->pass == 0 && fem_joined_look(step);
	if (!step->is_again)
		step->is_again = !step->has_looked && fem_fracture_stage_look(step);
	if (!step->is_again && !step->has_looked) {
		fem_kept_elements_renew(step);
		fem_rigid_pieces_take_struck(step);
	}
	step->has_looked |= !step->is_again;
	if (!step->is_again)
		return;
	fem_passes_look_again(step);
	fem_rigid_pieces_take_crumbs(step);
}

static void break_bonds(FemStep *step) {
	step->is_again = fem_joined_find_breaks(step);
	if (!step->is_again)
		return;
	fem_joined_break(step);
	fem_passes_go_back(step);
	step->moves++;
	fem_rigid_pieces_take_crumbs(step);
}

static void fracture(FemStep *step) {
	bool released = fem_rigid_pieces_release(step);
	released |= fem_joined_break(step);
	if (released)
		fem_passes_find_who_goes_back(step);
	step->is_again = fem_fracture_stage_run(step, released);
	if (!step->is_again)
		return;
	step->moves++;
	fem_rigid_pieces_take_crumbs(step);
}

static void finish_passes(FemStep *step) {
	fem_blows_end(step);
	fem_fracture_stage_finish(step);
	for (int32_t i = 0; i < step->world->islands.active_count; i++)
		fem_body_forget_passes(step->world->bodies[step->world->islands.active_bodies[i]]);
	// A step that needs none tells the memory of further passes, which goes when none was needed for long.
	bool is_held = step->pass > 0 || fem_arena_begin(&step->world->pass_arena, 0);
	(void)is_held;
}

static void retire_pieces(FemStep *step) {
	if (step->world->breakable_count == 0)
		return;
	fem_crushing_run(step);
	fem_pieces_retire(step->world);
}

// ---- integrate

static void integrate(FemStep *step) {
	fem_step_integrate_composites(step);
	for (int32_t i = 0; i < step->composites.count; i++)
		step->world->step_errors |= step->results[i].errors;
}

static void move_kinematic(FemBody *body, float dt, uint64_t step) {
	for (int32_t i = 0; i < body->topology->node_count; i++)
		body->position[i] = fem_displace_driven(body->position[i], body->velocity[i], dt, step);
}

// The last published state is finite; nothing of the bad step stays.
static void roll_back(FemBody *body) {
	const FemTopology *topology = body->topology;
	body->origin = body->published_origin;
	body->trees_moved = true;
	fem_body_forget_loads(body);
	for (int32_t i = 0; i < topology->node_count; i++) {
		FemVec4 x = body->published[topology->user_of_node[i]];
		body->position[i] = (FemVec4){x.x, x.y, x.z, 0.0f};
		body->velocity[i] = body->good_velocity[i];
		body->last_dv[i] = (FemVec4){0.0f, 0.0f, 0.0f, 0.0f};
		body->ground_force[i] = 0.0f;
		body->force[i] = (FemVec4){0.0f, 0.0f, 0.0f, 0.0f}; // they may be the cause
	}
	fem_body_heal_tets(body);
	fem_body_release_pieces(body); // some may have become rigid in a shape of the bad step
	for (int32_t c = 0; fem_body_has_solver(body) && c < body->topology->component_count; c++)
		body->pieces[c].preconditioner->valid = false;
}

static void finish_motion(FemStep *step) {
	FemWorld *world = step->world;
	fem_blow_waits_return(step);
	fem_held_pieces_settle(step);
	fem_step_catch_fast_objects(step);
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (body->kinematic)
			move_kinematic(body, step->dt, world->step_statistics.step_count);
	}
	for (int32_t c = 0; c < step->composites.count; c++) {
		FemRange islands = step->composites.composites[c].islands;
		for (int32_t i = islands.begin; fem_composite_went_bad(step, c) && i < islands.end; i++)
			roll_back(world->bodies[world->islands.islands[step->composites.island_list[i]].body]);
	}
}

// ---- sleep

static void sleep_and_wake(FemStep *step) {
	FemWorld *world = step->world;
	fem_contact_stage_finish(step);
	fem_joined_watch_calm(step);
	fem_rigid_pieces_settle(step);
	fem_modal_pieces_finish(step);
	FemVec3 g = world->def.gravity;
	FemSleepRules rules = {
		.enabled = world->def.sleeping_enabled,
		.speed = world->def.sleep_speed,
		.steps = world->def.sleep_steps,
		.friction = world->def.ground_friction,
		.wake_force = world->def.wake_force_factor * sqrtf(g.x * g.x + g.y * g.y + g.z * g.z),
	};
	fem_islands_sleep_and_wake(&world->islands, world->bodies, &step->composites, &rules, g);
}

// ---- statistics

static void count(FemStep *step) {
	FemWorld *world = step->world;
	FemStatistics *statistics = &world->step_statistics;
	FemIslands *islands = &world->islands;
	statistics->step_count++;
	world->time += (double)step->dt;
	statistics->passes += step->pass;
	statistics->live_tets = islands->live_tets;
	statistics->live_nodes = islands->live_nodes;
	statistics->live_islands = islands->count;
	statistics->asleep_islands = islands->asleep_count;
	statistics->ground_contacts = 0;
	statistics->contacts = world->def.contacts_enabled ? world->contacts.contact_count : 0;
	statistics->pieces = (int32_t)world->piece_count;
	statistics->rigid_pieces = fem_rigid_pieces_count(world);
	statistics->modal_pieces = fem_modal_pieces_count(world);
	statistics->contact_pairs = fem_sweep_active_count(&world->sweep);
	for (int32_t c = 0; c < islands->node_chunk_count; c++)
		statistics->ground_contacts += step->ground_candidates[c];
}
