// Passes of a step.
//
// A crack crosses a body in a fraction of a step. A step that splits, keeps its strained shape and goes on in the next
// one pulls at what is already apart: slabs sag like cloth before they break, and stop what should go through them. So
// what breaks goes back to the start of the step, its copies where their parents were, with all that touches it, and
// takes the step again, until nothing splits. Each pass sees the load at the tips of the cracks of the last one.
//
// The unit is pieces that share a composite, as the first pass found them: what meets only because something broke
// waits for the next step. What has no part in a pass's splits ends its step with that pass, other pieces of the same
// body too: where shards of a vase land one by one, each that breaks would else take all of them back. Bodies that
// flow, move by modes, are joined or hold prestress go back as a whole.
#include "world/step/passes.h"

#include "base/assert.h"
#include "dynamics/modal_motion.h"
#include "dynamics/plate_flow.h"
#include "fracture/separation.h"
#include "model/body.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "topology/splitting.h"
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

static void return_nodes(FemBody *body, FemRange nodes) {
	const FemBodyStart *start = body->step->start;
	size_t first = (size_t)nodes.begin, count = (size_t)(nodes.end - nodes.begin);
	memcpy(body->position + first, start->position + first, sizeof(FemVec4) * count);
	memcpy(body->velocity + first, start->velocity + first, sizeof(FemVec4) * count);
	memcpy(body->ground_force + first, start->ground_force + first, sizeof(float) * count);
}

// Of a body that may have been cut in this pass: then some of its tets have copies of nodes that no table knows yet.
static int32_t component_before(const FemTopology *t, int32_t tet) {
	int32_t node = fem_tet_node(t, tet, 0);
	return fem_node_component(t, t->split && t->split->is_open ? t->split->parent[node] : node);
}

static void return_pieces(FemBody *body) {
	const FemTopology *t = body->topology;
	for (int32_t c = 0; c < t->component_count; c++) {
		if (body->pieces[c].goes_back)
			return_nodes(body, t->component_nodes[c]);
	}
	for (int32_t tet = 0; body->step->start->rotation && tet < t->batch_count * FEM_LANES; tet++) {
		if (t->user_of_tet[tet] >= 0 && body->pieces[component_before(t, tet)].goes_back)
			body->rotation[tet] = body->step->start->rotation[tet];
	}
}

static void return_whole(FemBody *body) {
	const FemBodyStart *start = body->step->start;
	size_t batches = (size_t)body->topology->batch_count;
	return_nodes(body, (FemRange){0, body->topology->node_count});
	if (start->rotation)
		memcpy(body->rotation, start->rotation, sizeof(FemVec4) * batches * FEM_LANES);
	if (start->batches) {
		memcpy(body->batches, start->batches, sizeof(FemBatch) * batches);
		swap_plastics(body, start->plastics, batches);
	}
	if (body->modal)
		fem_modal_return_to_start(body->modal);
	body->went_bad = false;
}

void fem_body_return_to_start(FemBody *body) {
	FEM_ASSERT(body->step->start && body->step->goes_back);
	if (body->step->has_over || !fem_body_goes_back_whole(body))
		return_pieces(body);
	else
		return_whole(body);
	body->step->has_returned = true;
}

// ---- pieces

bool fem_body_goes_back_whole(const FemBody *body) {
	return body->plastics || body->modal || body->joined || (body->breaking && body->breaking->has_prestress);
}

void fem_body_send_back(FemBody *body, int32_t component) {
	bool is_whole = fem_body_goes_back_whole(body);
	for (int32_t c = 0; is_whole && c < body->topology->component_count; c++)
		body->pieces[c].goes_back = true;
	body->pieces[component].goes_back = body->step->goes_back = true;
}

void fem_body_forget_passes(FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++)
		body->pieces[c].goes_back = body->pieces[c].is_over = body->pieces[c].cannot_split = false;
}

static bool is_batch_over(const FemBody *body, int32_t batch) {
	const FemTopology *t = body->topology;
	for (int32_t tet = batch * FEM_LANES; tet < (batch + 1) * FEM_LANES; tet++) {
		if (t->user_of_tet[tet] >= 0 && !body->pieces[fem_tet_component(t, tet)].is_over)
			return false;
	}
	return true;
}

bool fem_passes_next_batches(const FemBody *body, int32_t end, FemRange *run) {
	bool has_over = body->step->has_over;
	run->begin = run->end;
	while (has_over && run->begin < end && is_batch_over(body, run->begin))
		run->begin++;
	run->end = has_over ? run->begin : end;
	while (run->end < end && !is_batch_over(body, run->end))
		run->end++;
	return run->begin < run->end;
}

// ---- composites

static const FemIsland *island_at(const FemStep *step, int32_t place) {
	return &step->world->islands.islands[step->composites.island_list[place]];
}

static FemBody *body_at(const FemStep *step, int32_t place) {
	return step->world->bodies[island_at(step, place)->body];
}

static FemPiece *piece_at(const FemStep *step, int32_t place) {
	return &body_at(step, place)->pieces[island_at(step, place)->component];
}

// A rigid body that touches only sleepers is a composite without islands: it breaks nothing.
void fem_passes_open(FemStep *step) {
	for (int32_t c = 0; c < step->composites.count; c++) {
		FemComposite *composite = &step->composites.composites[c];
		bool is_empty = composite->islands.begin == composite->islands.end;
		composite->is_over = is_empty ? step->moves > 0 : piece_at(step, composite->islands.begin)->is_over;
	}
}

bool fem_composite_went_bad(const FemStep *step, int32_t composite) {
	FemRange islands = step->composites.composites[composite].islands;
	bool bad = (step->results[composite].errors & FEM_STEP_BODY_ROLLED_BACK) != 0;
	for (int32_t i = islands.begin; i < islands.end; i++)
		bad |= body_at(step, i)->went_bad;
	return bad;
}

// Whether something in a composite may be sent back: what can break, or a body that goes back whole with what breaks in
// another composite.
static bool may_go_back(const FemStep *step, FemRange islands) {
	for (int32_t i = islands.begin; i < islands.end; i++) {
		const FemBody *body = body_at(step, i);
		if ((body->breaking && body->breaking->can_break) || (body->step->start && fem_body_goes_back_whole(body)))
			return true;
	}
	return false;
}

// True: composites that were looked at before may have to be looked at again.
static bool save_composites(FemStep *step) {
	bool is_whole = false;
	for (int32_t c = 0; c < step->composites.count; c++) {
		FemRange islands = step->composites.composites[c].islands;
		bool goes_back = may_go_back(step, islands);
		for (int32_t i = islands.begin; goes_back && i < islands.end; i++) {
			FemBody *body = body_at(step, i);
			if (body->step->start || body->step->is_over)
				continue;
			save(body, step->arena);
			is_whole |= fem_body_goes_back_whole(body);
		}
	}
	return is_whole;
}

void fem_passes_save(FemStep *step) {
	while (step->world->breakable_count > 0 && save_composites(step)) {
	}
}

// ---- going back

// Pieces that share a composite with one that goes back do so, too; true while there are more.
static bool join_composites(FemStep *step) {
	bool found = false;
	for (int32_t c = 0; c < step->composites.count; c++) {
		FemComposite *composite = &step->composites.composites[c];
		for (int32_t i = composite->islands.begin; !composite->is_over && i < composite->islands.end; i++)
			composite->goes_back |= piece_at(step, i)->goes_back;
		for (int32_t i = composite->islands.begin; composite->goes_back && i < composite->islands.end; i++) {
			if (piece_at(step, i)->goes_back)
				continue;
			fem_body_send_back(body_at(step, i), island_at(step, i)->component);
			found = true;
		}
	}
	return found;
}

void fem_passes_find_who_goes_back(FemStep *step) {
	while (join_composites(step)) {
	}
}

// What pressed in a pass mostly does in the next, too, which begins with that.
static void keep_active_contacts(FemStep *step, const FemComposite *composite) {
	FemContact *kept = step->world->contacts.contacts;
	for (int32_t i = composite->contacts.begin; i < composite->contacts.end; i++)
		kept[step->composites.contact_places[i]].active = step->composites.contacts[i].active;
}

// Contacts keep what the pass found of them where the step is over. Elsewhere they are as they were found, but for
// which of them press: friction of a pass that was dropped would hold pieces that have come apart like glue (the slab:
// 2.3 m/s instead of 4.8).
static void settle_composites(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t c = 0; c < step->composites.count; c++) {
		const FemComposite *composite = &step->composites.composites[c];
		if (composite->is_over)
			continue;
		if (!composite->goes_back) {
			fem_contacts_keep_solved(step, c);
			continue;
		}
		if (composite->bond_count == 0) // what holds bonds keeps more (joined_pieces.c)
			keep_active_contacts(step, composite);
		for (int32_t i = composite->proxies.begin; i < composite->proxies.end; i++) {
			int32_t index = step->composites.proxy_list[i];
			step->proxies[index] = fem_collider_proxy(&world->colliders[index], world->def.gravity, step->dt);
		}
	}
}

// The steps of pieces that do not go back are over.
static void end_pieces(FemWorld *world, FemBody *body) {
	FemBodyStep *step = body->step;
	bool is_over = true;
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemPiece *piece = &body->pieces[c];
		if (!piece->goes_back && !piece->is_over && body->breaking)
			fem_body_keep_piece(body, c, &world->arena);
		piece->is_over = !piece->goes_back;
		step->has_over |= piece->is_over;
		is_over &= piece->is_over;
		piece->goes_back = false;
	}
	if (is_over && step->was_split)
		fem_body_keep_results(body, &world->arena); // the memory of this pass goes
	step->is_over = is_over;
	step->has_returned = step->goes_back = false;
}

void fem_passes_go_back(FemStep *step) {
	FemWorld *world = step->world;
	fem_passes_find_who_goes_back(step);
	settle_composites(step);
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (body->step->is_over)
			continue;
		if (body->step->goes_back && !body->step->has_returned)
			fem_body_return_to_start(body);
		end_pieces(world, body);
	}
	step->pass++;
}

void fem_passes_look_again(FemStep *step) {
	const FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		body->step->has_returned = body->step->goes_back = false;
		fem_body_forget_passes(body);
	}
	step->pass++;
}
