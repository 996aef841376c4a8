// Passes of a step.
//
// A crack crosses a body in a fraction of a step. A step that splits, keeps its strained shape and goes on in the next
// one pulls at what is already apart: slabs sag like cloth before they break, and stop what should go through them. So
// what breaks goes back to the start of the step, its copies where their parents were, with all that touches it, and
// takes the step again, until nothing splits. Each pass sees the load at the tips of the cracks of the last one.
//
// The unit is bodies that share a composite, as the first pass found them: what meets only because something broke
// waits for the next step. What has no part in a pass's splits ends its step with that pass.
#include "world/step/passes.h"

#include "base/assert.h"
#include "dynamics/modal_motion.h"
#include "dynamics/plate_flow.h"
#include "fracture/separation.h"
#include "model/body.h"
#include "model/body_step.h"
#include "world/contact/contact_stage.h"
#include "world/world.h"

#include <string.h>

// ---- the start of the step

static size_t start_bytes(const FemBody *body) {
	size_t nodes = (size_t)body->topology->node_count, batches = (size_t)body->topology->batch_count;
	size_t bytes = fem_align_up(sizeof(FemBodyStart)) + 2 * fem_align_up(sizeof(FemVec4) * nodes) +
		fem_align_up(sizeof(float) * nodes);
	if (!body->breaking)
		return bytes;
	bytes += fem_align_up(sizeof(FemVec4) * batches * FEM_LANES);
	return !body->plastics
		? bytes
		: bytes + fem_align_up(sizeof(FemBatch) * batches) + fem_align_up(sizeof(FemBatchPlastic) * batches);
}

// Of a later pass: those that were split. Others have their start from the first.
static bool needs_start(const FemBody *body, int32_t pass) {
	return body->live_part_count > 0 && (pass == 0 || body->step->was_split);
}

size_t fem_passes_bytes(const FemWorld *world, int32_t pass) {
	size_t bytes = 0;
	for (int32_t i = 0; world->breakable_count > 0 && i < world->islands.active_count; i++) {
		const FemBody *body = world->bodies[world->islands.active_bodies[i]];
		bytes += needs_start(body, pass) ? start_bytes(body) : 0;
	}
	return bytes;
}

static void *copy(FemArena *arena, const void *from, size_t bytes) {
	void *to = fem_arena_take(arena, bytes);
	memcpy(to, from, bytes);
	return to;
}

static void save(FemBody *body, FemArena *arena) {
	size_t nodes = (size_t)body->topology->node_count, batches = (size_t)body->topology->batch_count;
	FemBodyStart *start = FEM_ARENA_TAKE(arena, FemBodyStart, 1);
	*start = (FemBodyStart){
		.position = copy(arena, body->position, sizeof(FemVec4) * nodes),
		.velocity = copy(arena, body->velocity, sizeof(FemVec4) * nodes),
		.ground_force = copy(arena, body->ground_force, sizeof(float) * nodes),
	};
	if (body->breaking)
		start->rotation = copy(arena, body->rotation, sizeof(FemVec4) * batches * FEM_LANES);
	if (body->breaking && body->plastics) {
		start->batches = copy(arena, body->batches, sizeof(FemBatch) * batches);
		start->plastics = copy(arena, body->plastics, sizeof(FemBatchPlastic) * batches);
	}
	body->step->start = start;
}

// Plate cells that flowed since are made again of the strains of the start.
static void swap_plastics(FemBody *body, FemBatchPlastic *start, size_t batches) {
	for (size_t b = 0; b < batches; b++) {
		FemBatchPlastic now = body->plastics[b];
		body->plastics[b] = start[b];
		start[b] = now;
	}
	fem_plate_cells_follow(body, start);
	memcpy(start, body->plastics, sizeof *start * batches);
}

void fem_body_return_to_start(FemBody *body) {
	const FemBodyStart *start = body->step->start;
	size_t nodes = (size_t)body->topology->node_count, batches = (size_t)body->topology->batch_count;
	FEM_ASSERT(start && !body->step->is_over);
	memcpy(body->position, start->position, sizeof(FemVec4) * nodes);
	memcpy(body->velocity, start->velocity, sizeof(FemVec4) * nodes);
	memcpy(body->ground_force, start->ground_force, sizeof(float) * nodes);
	if (start->rotation)
		memcpy(body->rotation, start->rotation, sizeof(FemVec4) * batches * FEM_LANES);
	if (start->batches) {
		memcpy(body->batches, start->batches, sizeof(FemBatch) * batches);
		swap_plastics(body, start->plastics, batches);
	}
	if (body->modal)
		fem_modal_return_to_start(body->modal);
	body->went_bad = false;
	body->step->has_returned = true;
}

// ---- composites

static FemBody *body_at(const FemStep *step, int32_t place) {
	return step->world->bodies[step->world->islands.islands[step->composites.island_list[place]].body];
}

// A rigid body that touches only sleepers is a composite without islands: it breaks nothing.
bool fem_composite_is_over(const FemStep *step, const FemComposite *composite) {
	if (composite->islands.begin == composite->islands.end)
		return step->moves > 0;
	return body_at(step, composite->islands.begin)->step->is_over;
}

bool fem_composite_went_bad(const FemStep *step, int32_t composite) {
	FemRange islands = step->composites.composites[composite].islands;
	bool bad = (step->results[composite].errors & FEM_STEP_BODY_ROLLED_BACK) != 0;
	for (int32_t i = islands.begin; i < islands.end; i++)
		bad |= body_at(step, i)->went_bad;
	return bad;
}

void fem_passes_save(FemStep *step) {
	for (int32_t c = 0; step->world->breakable_count > 0 && c < step->composites.count; c++) {
		FemRange islands = step->composites.composites[c].islands;
		bool breaks = false;
		for (int32_t i = islands.begin; i < islands.end; i++)
			breaks |= body_at(step, i)->breaking && body_at(step, i)->breaking->can_break;
		for (int32_t i = islands.begin; breaks && i < islands.end; i++) {
			if (!body_at(step, i)->step->start && !body_at(step, i)->step->is_over)
				save(body_at(step, i), step->arena);
		}
	}
}

// ---- going back

// Bodies that share a composite with one that goes back do so, too; true while there are more.
static bool join_composites(FemStep *step) {
	bool found = false;
	for (int32_t c = 0; c < step->composites.count; c++) {
		FemRange islands = step->composites.composites[c].islands;
		bool goes_back = false;
		for (int32_t i = islands.begin; i < islands.end; i++)
			goes_back |= body_at(step, i)->step->goes_back;
		for (int32_t i = islands.begin; goes_back && i < islands.end; i++) {
			found |= !body_at(step, i)->step->goes_back;
			body_at(step, i)->step->goes_back = true;
		}
	}
	return found;
}

// What was split in this pass goes back, and what hangs together with it by composites.
void fem_passes_find_who_goes_back(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBodyStep *body = world->bodies[world->islands.active_bodies[i]]->step;
		body->goes_back = body->has_returned;
	}
	while (join_composites(step)) {
	}
}

// Contacts keep what the pass found of them where the step is over. Elsewhere they are as they were found: friction of
// a pass that was dropped would hold pieces that have come apart like glue (the slab: 2.3 m/s instead of 4.8).
static void settle_composites(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t c = 0; c < step->composites.count; c++) {
		const FemComposite *composite = &step->composites.composites[c];
		bool has_islands = composite->islands.begin < composite->islands.end;
		if (fem_composite_is_over(step, composite))
			continue;
		if (!has_islands || !body_at(step, composite->islands.begin)->step->goes_back) {
			fem_contacts_keep_solved(step, c);
			continue;
		}
		for (int32_t i = composite->proxies.begin; i < composite->proxies.end; i++) {
			int32_t index = step->composites.proxy_list[i];
			step->proxies[index] = fem_collider_proxy(&world->colliders[index], world->def.gravity, step->dt);
		}
	}
}

void fem_passes_go_back(FemStep *step) {
	FemWorld *world = step->world;
	fem_passes_find_who_goes_back(step);
	settle_composites(step);
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		FemBodyStep *of = body->step;
		if (of->goes_back && !of->has_returned)
			fem_body_return_to_start(body);
		else if (!of->goes_back && !of->is_over && of->was_split)
			fem_body_keep_results(body, &world->arena); // the memory of this pass goes
		of->is_over |= !of->goes_back;
		of->has_returned = of->goes_back = false;
	}
	step->contact_count = world->contacts.contact_count; // some of what was split may be gone
	step->pass++;
}

void fem_passes_look_again(FemStep *step) {
	const FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++)
		world->bodies[world->islands.active_bodies[i]]->step->has_returned = false;
	step->contact_count = world->contacts.contact_count;
	step->pass++;
}
