#include "world/step/kept_elements.h"

#include "dynamics/elements.h"
#include "dynamics/modal_unknowns.h"
#include "dynamics/plate_elements.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "world/step/breaking.h"
#include "world/step/modal_pieces.h"
#include "world/step/passes.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

// Nothing is asked of a piece that no load makes elastic, nor of one whose loads were found to be low: unless they
// change, which is seen without its elements.
static bool is_kept_piece(const FemPiece *piece) {
	return piece->is_rigid && (isinf(piece->margin) || piece->slack > 0.0f || piece->is_limited);
}

static bool is_kept(const FemBody *body) {
	bool kept = !body->plastics && !body->kinematic && !body->went_bad && !fem_modal_of(body) &&
		body->live_part_count == body->topology->part_count && !(body->breaking && body->breaking->is_dicing);
	for (int32_t c = 0; c < body->topology->component_count && kept; c++)
		kept = is_kept_piece(&body->pieces[c]);
	return kept;
}

// What cannot break has its elements from the first pass; so has, until something moves, what no look has strained.
static bool is_computed(const FemStep *step, const FemBody *body) {
	bool is_old = step->moves == 0 && !body->step->was_split && !body->step->was_looked_at;
	return (step->pass == 0 || (body->breaking && !body->step->is_over && !is_old)) && !fem_modal_hides_tets(body);
}

void fem_kept_elements_find(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (is_computed(step, body))
			body->step->is_kept = is_kept(body);
	}
}

// Tets, and what the cells among them are decided by in the loop that follows.
static void update_run(FemBody *body, FemRange run, float dt) {
	fem_elements_update(body, run.begin, run.end, dt, body->step->is_kept);
	if (!body->step->is_kept)
		fem_plate_elements_find_demands(body, run.begin, run.end, false);
}

void fem_step_update_elements_task(void *context, int32_t chunk_index) {
	FemStep *step = context;
	const FemBatchChunk *chunk = &step->world->islands.batch_chunks[chunk_index];
	FemBody *body = step->world->bodies[chunk->body];
	FemRange run = {chunk->begin, chunk->begin};
	while (is_computed(step, body) && fem_passes_next_batches(body, chunk->end, &run))
		update_run(body, run, step->dt);
}

void fem_step_update_cells_task(void *context, int32_t chunk_index) {
	FemStep *step = context;
	const FemBatchChunk *chunk = &step->world->islands.batch_chunks[chunk_index];
	FemBody *body = step->world->bodies[chunk->body];
	FemRange run = {chunk->begin, chunk->begin};
	bool is_computed_now = body->cells && is_computed(step, body) && !body->step->is_kept;
	while (is_computed_now && fem_passes_next_batches(body, chunk->end, &run))
		fem_plate_elements_update(body, run.begin, run.end, step->dt);
}

// ---- after all

static void make_elements_task(void *context, int32_t chunk_index) {
	FemStep *step = context;
	const FemBatchChunk *chunk = &step->world->islands.batch_chunks[chunk_index];
	FemBody *body = step->world->bodies[chunk->body];
	if (!body->step->wants_elements)
		return;
	fem_elements_update(body, chunk->begin, chunk->end, step->dt, false);
	fem_plate_elements_find_demands(body, chunk->begin, chunk->end, false);
}

static void make_cells_task(void *context, int32_t chunk_index) {
	FemStep *step = context;
	const FemBatchChunk *chunk = &step->world->islands.batch_chunks[chunk_index];
	FemBody *body = step->world->bodies[chunk->body];
	if (body->cells && body->step->wants_elements)
		fem_plate_elements_update(body, chunk->begin, chunk->end, step->dt);
}

// Of bodies with FemBodyStep.wants_elements.
static void make_wanted(FemStep *step) {
	FemWorld *world = step->world;
	fem_pool_for(world->pool, world->islands.batch_chunk_count, make_elements_task, step);
	if (world->celled_count > 0)
		fem_pool_for(world->pool, world->islands.batch_chunk_count, make_cells_task, step);
}

void fem_kept_elements_renew(FemStep *step) {
	FemWorld *world = step->world;
	bool any = false;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBodyStep *of_body = world->bodies[world->islands.active_bodies[i]]->step;
		of_body->wants_elements = of_body->was_looked_at && !of_body->is_kept;
		any |= of_body->wants_elements;
	}
	if (any)
		make_wanted(step);
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBodyStep *of_body = world->bodies[world->islands.active_bodies[i]]->step;
		of_body->was_looked_at = of_body->wants_elements = false;
	}
}

static void swap(FemVec4 **a, FemVec4 **b) {
	FemVec4 *kept = *a;
	*a = *b;
	*b = kept;
}

// Nodes may have moved since: those of bodies that can go back are taken as they were. So are rotations, of which the
// decomposition refines the last: with or without this the elements are the same to the bit.
static void swap_starts(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (!body->step->wants_elements || !body->step->start)
			continue;
		swap(&body->position, &body->step->start->position);
		swap(&body->velocity, &body->step->start->velocity);
	}
}

void fem_kept_elements_make(FemStep *step) {
	FemWorld *world = step->world;
	bool any = false;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBodyStep *of_body = world->bodies[world->islands.active_bodies[i]]->step;
		of_body->wants_elements &= of_body->is_kept;
		any |= of_body->wants_elements;
	}
	if (!any)
		return;
	swap_starts(step);
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		size_t tets = (size_t)body->topology->batch_count * FEM_LANES;
		if (body->step->wants_elements && body->step->start && body->step->start->rotation)
			memcpy(body->rotation, body->step->start->rotation, sizeof *body->rotation * tets);
	}
	make_wanted(step);
	swap_starts(step);
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBodyStep *of_body = world->bodies[world->islands.active_bodies[i]]->step;
		of_body->is_kept &= !of_body->wants_elements;
		of_body->wants_elements = false;
	}
}
