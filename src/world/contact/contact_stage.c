#include "world/contact/contact_stage.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/range.h"
#include "base/vec.h"
#include "collision/piece_extents.h"
#include "fem_constants.h"
#include "fem_destruction.h"
#include "model/body.h"
#include "model/bond.h"
#include "model/contact.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/api/registry.h"
#include "world/contact/joint_contacts.h"
#include "world/contact/placed_bodies.h"
#include "world/step/step.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

// ---- room

// Bounds on the work of a step, not on memory: lists are as long as a step before needed them. 17 neighbours are what a
// piece in a dense heap has; each pair of bodies that touch has some 10 pairs of trees near each other.
#define PAIRS_A_PIECE 17
#define UNITS_A_PAIR 10
#define PAIRS_SPARE 1.5      // times as many may be found before some are dropped ...
#define PAIRS_LEAST 256.0    // ... and so many in any world; both chosen
#define PAIRS_MOST (1 << 24) // chosen: more would only be a slip

int32_t fem_contact_stage_most_pairs(const FemWorld *world) {
	int64_t count = world->piece_count + world->collider_count;
	return (int32_t)fmin(PAIRS_A_PIECE * (double)count * PAIRS_SPARE + PAIRS_LEAST, PAIRS_MOST);
}

bool fem_contact_stage_hold(FemWorld *world, int64_t count) {
	FemContactStage *stage = &world->contacts;
	int32_t most = world->def.contact_capacity;
	return FEM_LIST_HOLD(stage->contacts, stage->contact_capacity, count, most) &&
		(world->def.friction_mode != FEM_FRICTION_PAPER ||
			FEM_LIST_HOLD(stage->holds, stage->hold_capacity, count, most));
}

// Every piece and every collider has a box in the sweep.
bool fem_contact_stage_reserve(FemWorld *world) {
	if (!world->def.contacts_enabled)
		return true;
	FemSweep *sweep = &world->sweep;
	int64_t boxes =
		world->piece_count + world->collider_capacity + sweep->dying_count; // dying ones are free after the next update
	if (boxes > INT32_MAX / 4)
		return false;
	if (boxes <= sweep->proxy_capacity)
		return true;
	int32_t proxies = (int32_t)(boxes + boxes / 2 + 16), pairs = 2 * proxies;
	return fem_sweep_reserve(
		sweep, proxies, pairs < fem_contact_stage_most_pairs(world) ? pairs : fem_contact_stage_most_pairs(world));
}

// Pairs that found no room are looked for again: whether there is room never decides what touches.
static void update_sweep(FemWorld *world) {
	FemSweep *sweep = &world->sweep;
	fem_sweep_update(sweep);
	while (sweep->pairs_full && sweep->pair_capacity < fem_contact_stage_most_pairs(world)) {
		int32_t more = 2 * sweep->pair_capacity < fem_contact_stage_most_pairs(world)
			? 2 * sweep->pair_capacity
			: fem_contact_stage_most_pairs(world);
		if (!fem_sweep_reserve(sweep, sweep->proxy_capacity, more))
			return;
		fem_sweep_update(sweep);
	}
}

void fem_contact_stage_free(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	fem_narrow_phase_free(&stage->narrow);
	fem_sweep_free(&world->sweep);
	fem_fast_pairs_free(&stage->fast);
	FEM_FREE_ARRAY(stage->refits, stage->refit_capacity);
	FEM_FREE_ARRAY(stage->pieces, stage->piece_capacity);
	FEM_FREE_ARRAY(stage->hulls, stage->hull_capacity);
	FEM_FREE_ARRAY(stage->placed_pieces, stage->placed_piece_capacity);
	FEM_FREE_ARRAY(stage->solids, stage->solid_capacity);
	FEM_FREE_ARRAY(stage->solid_vectors, stage->solid_vector_capacity);
	FEM_FREE_ARRAY(stage->overlaps, stage->overlap_capacity);
	FEM_FREE_ARRAY(stage->items, stage->item_capacity);
	FEM_FREE_ARRAY(stage->last_contacts, stage->last_capacity);
	FEM_FREE_ARRAY(stage->joints, stage->joint_capacity);
	FEM_FREE_ARRAY(stage->holds, stage->hold_capacity);
	FEM_FREE_ARRAY(stage->last_holds, stage->last_hold_capacity);
	FEM_FREE_ARRAY(stage->events, stage->event_capacity);
	FEM_FREE_ARRAY(stage->contacts, stage->contact_capacity);
	FEM_FREE_ARRAY(stage->touches, stage->touch_capacity);
	FEM_FREE_ARRAY(stage->proxies, stage->proxy_capacity);
	FEM_FREE_ARRAY(stage->closed_bodies, stage->closed_body_capacity);
	FEM_FREE_ARRAY(stage->closed, stage->closed_capacity);
	FEM_FREE_ARRAY(stage->closed_marks, stage->closed_mark_capacity);
	FEM_FREE_ARRAY(stage->closed_pairs, stage->closed_pair_capacity);
	FEM_FREE_ARRAY(stage->cracks, stage->crack_capacity);
	FEM_FREE_ARRAY(stage->order, stage->order_capacity);
	FEM_FREE_ARRAY(stage->bearing, stage->bearing_capacity);
	FEM_FREE_ARRAY(stage->candidates, stage->candidate_capacity);
	FEM_FREE_ARRAY(stage->node_area, stage->node_area_capacity);
	*stage = (FemContactStage){0};
}

// ---- pairs

// Contact strength of a collider, as of a piece: mass over the area of its box, kg/m^2. A collider without mass sets no
// bound: infinite.
static float collider_scale(const FemCollider *collider) {
	FemVec3 d = fem_vec3_sub(collider->box_max, collider->box_min);
	return collider->kind == FEM_COLLIDER_DYNAMIC ? collider->mass / powf(d.x * d.y * d.z, 2.0f / 3.0f) : INFINITY;
}

// m, of the pieces of a body that touch a collider.
static float least_thickness(const FemContactStage *stage, const FemTouch *touch, const FemBody *body) {
	float least = INFINITY;
	for (int32_t i = touch->pieces.begin; i < touch->pieces.end; i++)
		least = fminf(least, body->pieces[stage->pieces[i].a].thickness);
	return least;
}

static void add_touch(FemWorld *world, FemTouch touch) {
	FemContactStage *stage = &world->contacts;
	if (!FEM_LIST_HOLD(
			stage->touches, stage->touch_capacity, stage->touch_count + 1, fem_contact_stage_most_pairs(world))) {
		stage->full = true;
		return;
	}
	FemBody *body = world->bodies[touch.body];
	touch.narrow = -1;
	touch.scale = INFINITY;
	if (touch.is_collider) {
		const FemCollider *collider = &world->colliders[touch.other];
		touch.friction = collider->friction;
		touch.restitution = collider->restitution;
		touch.ahead = fem_collider_looks_ahead(world, collider, least_thickness(stage, &touch, body), world->step_dt);
		touch.scale = collider_scale(collider);
	} else {
		FemBody *other = world->bodies[touch.other];
		FemNarrowBody a = {.trees = body->trees, .origin = body->origin},
					  b = {.trees = other->trees, .origin = other->origin};
		if (touch.pieces.end > touch.pieces.begin) // else only faces of a crack touch, which are known
			touch.narrow = fem_narrow_phase_add(&stage->narrow, &a, &b);
	}
	stage->touches[stage->touch_count++] = touch;
}

static void add_pieces(FemWorld *world, int32_t a, int32_t b) {
	FemContactStage *stage = &world->contacts;
	if (!FEM_LIST_HOLD(stage->pieces, stage->piece_capacity, stage->piece_count + 1,
			fem_contact_stage_most_pairs(world) + world->piece_count)) {
		stage->full = true;
		return;
	}
	stage->pieces[stage->piece_count++] = (FemNarrowPieces){a, b};
}

static bool are_apart(const FemBody *a, int32_t piece, const FemBody *b, int32_t other) {
	FemSweptPiece first = {.body = a, .nodes = a->topology->component_nodes[piece]};
	FemSweptPiece second = {.body = b, .nodes = b->topology->component_nodes[other]};
	return fem_pieces_common_depth(&first, &second, 0.0f) < 0.0f;
}

// The pieces of active pairs [i, end), all of the same users as the touch.
static void add_active(FemWorld *world, FemRange active, const FemTouch *touch) {
	FemBody *body = world->bodies[touch->body], *other = touch->is_collider ? NULL : world->bodies[touch->other];
	for (int32_t i = active.begin; i < active.end; i++) {
		FemSweepPair pair = fem_sweep_active_pair(&world->sweep, i);
		int32_t a = pair.piece_a, b = pair.piece_b;
		if (other && (fem_body_has_going_piece(body, a) || fem_body_has_going_piece(other, b)))
			continue;
		if (other && ((other == body && fem_pieces_are_joined(body, a, b)) || are_apart(body, a, other, b)))
			continue;
		bool are_hulls = other && !(other == body && fem_closed_cracks_join(&world->contacts, touch->closed, a, b)) &&
			fem_convex_pieces_may_touch(world, body, a, other, b);
		if (!are_hulls)
			add_pieces(world, a, b);
		else if (!fem_convex_pieces_add(world, touch->body, a, touch->other, b))
			world->contacts.full = true;
	}
}

// Pieces that fold over: awake, large enough (those of a body that cannot break always are) and elastic, since nothing
// within a rigid one could give way.
static void add_folding(FemWorld *world, const FemBody *body) {
	const FemTopology *t = body->topology;
	for (int32_t c = 0; c < body->sweep_proxy_count && c < t->component_count; c++) {
		bool is_small = body->breaking && t->component_tets[c] < FEM_SMALL_PIECE_TETS;
		bool is_still = world->sweep.proxies[body->pieces[c].sweep_proxy].still;
		if (!is_small && !is_still && !body->pieces[c].is_rigid && fem_contact_may_touch_itself(world, body, c))
			add_pieces(world, c, c);
	}
}

static bool have_pieces(const FemTouch *touch) {
	return touch->pieces.end > touch->pieces.begin || touch->hulls.end > touch->hulls.begin;
}

// A body with itself: pieces that fold, and those near each other.
static void list_self(FemWorld *world, int32_t index, FemRange active) {
	FemBody *body = world->bodies[index];
	FemContactStage *stage = &world->contacts;
	FemTouch touch = {.body = index,
		.other = index,
		.pieces = {stage->piece_count, 0},
		.hulls = {stage->hull_count, 0},
		.closed = fem_closed_cracks_of(stage, index)};
	if (!body->self_contact || body->live_part_count == 0)
		return;
	if (body->swell == 0.0f) // else it has its shape at rest, but farther out
		add_folding(world, body);
	add_active(world, active, &touch);
	touch.pieces.end = stage->piece_count;
	touch.hulls.end = stage->hull_count;
	if (have_pieces(&touch) || fem_closed_cracks_count(stage, touch.closed) > 0)
		add_touch(world, touch);
}

// Bodies with themselves, up to the given one, which has the given pairs of pieces. The list is in the order of
// contacts: (a, a) before (a, b).
static int32_t list_self_contacts(FemWorld *world, int32_t at, int32_t last_body, FemRange active) {
	for (; at < world->islands.active_count && world->islands.active_bodies[at] <= last_body; at++) {
		int32_t index = world->islands.active_bodies[at];
		list_self(world, index, index == last_body ? active : (FemRange){0, 0});
	}
	return at;
}

// All pairs of pieces of one body and another, or a collider.
static void list_pair(FemWorld *world, const FemSweepPair *pair, FemRange active) {
	bool is_collider = (pair->user_b & FEM_SWEEP_COLLIDER) != 0;
	FemTouch touch = {.body = (int32_t)pair->user_a,
		.other = (int32_t)(pair->user_b & ~FEM_SWEEP_COLLIDER),
		.is_collider = is_collider,
		.closed = -1};
	FEM_ASSERT_INDEX(touch.body, world->body_capacity);
	FEM_ASSERT_INDEX(touch.other, is_collider ? world->collider_capacity : world->body_capacity);
	FemBody *a = world->bodies[touch.body];
	FEM_ASSERT(a && (is_collider || (touch.body < touch.other && world->bodies[touch.other])));
	uint32_t layer = is_collider ? world->colliders[touch.other].layer : world->bodies[touch.other]->layer;
	uint32_t mask = is_collider ? world->colliders[touch.other].mask : world->bodies[touch.other]->mask;
	bool ignored = is_collider && fem_collider_ignores(&world->colliders[touch.other], fem_body_id(world, touch.body));
	bool joined = !is_collider && fem_bodies_are_joined(&world->contacts, touch.body, touch.other);
	if (!fem_body_sees(a, layer, mask) || ignored || joined)
		return;
	touch.pieces.begin = world->contacts.piece_count;
	touch.hulls.begin = world->contacts.hull_count;
	add_active(world, active, &touch);
	touch.pieces.end = world->contacts.piece_count;
	touch.hulls.end = world->contacts.hull_count;
	if (is_collider || have_pieces(&touch))
		add_touch(world, touch);
}

// Pairs come by users ascending, then by pieces; a collider after all bodies: side 0 is always a body.
static void list_pairs(FemWorld *world) {
	int32_t self_count = 0, count = fem_sweep_active_count(&world->sweep);
	world->contacts.touch_count = world->contacts.piece_count = 0;
	fem_convex_pieces_begin(&world->contacts);
	fem_narrow_phase_begin(&world->contacts.narrow);
	for (FemRange active = {0, 0}; active.begin < count; active.begin = active.end) {
		FemSweepPair pair = fem_sweep_active_pair(&world->sweep, active.begin);
		uint64_t users = world->sweep.active[active.begin].key;
		FEM_ASSERT(active.begin == 0 || world->sweep.active[active.begin - 1].key < users);
		while (active.end < count && world->sweep.active[active.end].key == users)
			active.end++;
		if (pair.user_a & FEM_SWEEP_COLLIDER)
			break;
		bool is_self = pair.user_a == pair.user_b;
		self_count = list_self_contacts(world, self_count, (int32_t)pair.user_a, is_self ? active : (FemRange){0, 0});
		if (!is_self)
			list_pair(world, &pair, active);
	}
	list_self_contacts(world, self_count, INT32_MAX, (FemRange){0, 0});
}

// ---- narrow phase

// The list of pieces stays where it is once all are listed.
static void name_pieces(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	for (int32_t t = 0; t < stage->touch_count; t++) {
		const FemTouch *touch = &stage->touches[t];
		if (touch->narrow < 0)
			continue;
		FEM_ASSERT(touch->narrow < stage->narrow.pair_count && touch->pieces.end <= stage->piece_count);
		stage->narrow.pairs[touch->narrow].pieces = stage->pieces + touch->pieces.begin;
		stage->narrow.pairs[touch->narrow].piece_count = touch->pieces.end - touch->pieces.begin;
		if (touch->closed >= 0)
			stage->narrow.pairs[touch->narrow].cracks = fem_closed_cracks_tets(world, touch->closed);
	}
}

// `high` holds where it is below `low`: a bound that the user set goes before what is usual.
static int32_t between(int64_t low, int64_t value, int64_t high) {
	FEM_ASSERT(high <= INT32_MAX);
	low = low < high ? low : high;
	return fem_int32(value < low ? low : value > high ? high : value);
}

// Hits of all units that ran, those included for which there was no room.
static int64_t count_hits(const FemNarrowPhase *narrow) {
	int64_t count = 0;
	for (int32_t i = 0; i < narrow->pair_count; i++)
		count += narrow->pairs[i].hit_count;
	return count;
}

static int64_t most_of(int64_t a, int64_t b) {
	return a > b ? a : b;
}

typedef enum Growth { GREW, AT_ITS_BOUNDS, NO_MEMORY } Growth;

// Room for what was too much (hits also sort the pairs of pieces), and a quarter more; how many units there would have
// been is not known. What was found is lost unless it is at its bounds.
static Growth grow_narrow_phase(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	FemNarrowPhase *narrow = &stage->narrow;
	FemNarrowLimits now = narrow->limits, more = now;
	int32_t pairs = fem_contact_stage_most_pairs(world), hits = 2 * world->def.contact_capacity;
	if (narrow->pairs_full)
		more.pairs = between(64, stage->touch_count + (int64_t)stage->touch_count / 4, pairs);
	if (narrow->units_full || now.units == 0)
		more.units = between(1024, 4 * (int64_t)now.units, UNITS_A_PAIR * (int64_t)pairs);
	if (narrow->hits_full || now.hits == 0)
		more.hits = between(1024, most_of(count_hits(narrow), 2 * (int64_t)stage->piece_count) * 5 / 4, hits);
	more.slots =
		between(2048, narrow->slots_wanted > now.slots ? narrow->slots_wanted * 5 / 4 : now.slots, 8 * (int64_t)hits);
	more.pieces = stage->piece_capacity > now.pieces ? stage->piece_capacity : now.pieces;
	if (more.pairs == now.pairs && more.units == now.units && more.hits == now.hits && more.pieces == now.pieces &&
		more.slots == now.slots)
		return AT_ITS_BOUNDS;
	if (fem_narrow_phase_reserve(narrow, &more))
		return GREW;
	bool is_kept = fem_narrow_phase_reserve(narrow, &now);
	(void)is_kept; // run_narrow_phase() sees when there is none
	return NO_MEMORY;
}

// Runs the narrow phase over the listed pairs; false when not all of them fit.
static bool run_narrow_phase(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	FemNarrowPhase *narrow = &stage->narrow;
	if (!narrow->block || stage->piece_count > narrow->limits.pieces)
		return false;
	name_pieces(world);
	fem_narrow_phase_run(narrow, world->pool);
	return true;
}

// For a step without memory for the narrow phase: bodies then touch colliders only.
static void pass_over_bodies(FemContactStage *stage) {
	for (int32_t t = 0; t < stage->touch_count; t++)
		stage->touches[t].narrow = -1;
	stage->full = true;
}

// Runs again with more room while something was dropped: whether there is room never decides what touches.
static void find_tet_pairs(FemWorld *world) {
	FemNarrowPhase *narrow = &world->contacts.narrow;
	Growth growth = GREW;
	narrow->pairs_full = narrow->units_full = narrow->hits_full = false;
	if (narrow->slots_wanted > narrow->limits.slots) // in the last step
		grow_narrow_phase(world);
	while (growth == GREW) {
		list_pairs(world);
		bool has_run = !narrow->pairs_full && run_narrow_phase(world);
		if (has_run && !narrow->units_full && !narrow->hits_full)
			return;
		growth = grow_narrow_phase(world);
		if (has_run && growth == AT_ITS_BOUNDS)
			return;
	}
	list_pairs(world);
	if (!run_narrow_phase(world))
		pass_over_bodies(&world->contacts);
}

// ---- overlaps

void fem_contact_add_item(FemWorld *world, int32_t touch, int32_t tet, int32_t other) {
	FemContactStage *stage = &world->contacts;
	// Room for more overlaps than contacts, to have a choice.
	if (!FEM_LIST_HOLD(stage->items, stage->item_capacity, (int64_t)stage->item_count + 1,
			2 * (int64_t)world->def.contact_capacity)) {
		stage->full = true;
		return;
	}
	stage->items[stage->item_count++] = (FemOverlapItem){.touch = touch, .tet = tet, .other_tet = other};
}

// In a step without memory for them nothing touches.
static void drop_all(FemContactStage *stage) {
	stage->touch_count = stage->item_count = 0;
	stage->full = true;
}

static void list_items(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	stage->item_count = stage->ahead_count = 0;
	fem_convex_pieces_place(world);
	for (int32_t t = 0; t < stage->touch_count; t++) {
		FemTouch *touch = &stage->touches[t];
		touch->items.begin = stage->item_count;
		if (touch->narrow >= 0) {
			FemRange tets = stage->narrow.pairs[touch->narrow].tets;
			for (int32_t i = tets.begin; i < tets.end; i++) {
				fem_contact_add_item(world, t, stage->narrow.tet_pairs[i].a, stage->narrow.tet_pairs[i].b);
			}
		} else if (touch->is_collider) {
			fem_collider_list_items(world, t, world->step_dt);
		}
		fem_convex_pieces_list_items(world, t);
		touch->items.end = stage->item_count;
		stage->ahead_count += touch->ahead ? touch->items.end - touch->items.begin : 0;
	}
	if (!FEM_LIST_HOLD(stage->overlaps, stage->overlap_capacity, stage->item_count, INT32_MAX))
		drop_all(stage);
}

static bool tet_shape(const FemBody *body, int32_t tet, FemConvexTet *storage, FemConvex *out) {
	FemVec3 corners[4];
	for (int i = 0; i < 4; i++)
		corners[i] = fem_vec3_from(body->position[fem_tet_node(body->topology, tet, i)]);
	return fem_convex_tet(body->origin, corners, body->tet_exterior[tet], storage, out);
}

static bool overlaps_collider(
	FemWorld *world, FemOverlapItem *item, const FemConvex *tet, const FemConvex *flat, FemOverlap *out) {
	const FemTouch *touch = &world->contacts.touches[item->touch];
	const FemCollider *collider = &world->colliders[touch->other];
	bool found = flat ? fem_overlap(tet, flat, out) : fem_collider_overlap(collider, tet, item->other_tet, out);
	return found || (touch->ahead && fem_collider_overlap_ahead(world, touch, item, world->step_dt, tet, out));
}

static void overlap_task(void *context, int32_t chunk) {
	FemWorld *world = context;
	FemContactStage *stage = &world->contacts;
	FemFlatShape last;
	last.collider = NULL;
	int32_t begin = chunk * FEM_CONTACT_CHUNK, end = begin + FEM_CONTACT_CHUNK;
	for (int32_t i = begin; i < end && i < stage->item_count; i++) {
		FemOverlapItem *item = &stage->items[i];
		FEM_ASSERT_INDEX(item->touch, stage->touch_count);
		const FemTouch *touch = &stage->touches[item->touch];
		FEM_ASSERT(i >= touch->items.begin && i < touch->items.end);
		FemConvexTet first, second;
		FemConvex a, b;
		const FemConvex *flat =
			touch->is_collider ? fem_flat_shape(&last, &world->colliders[touch->other], item->other_tet) : NULL;
		item->held = 0;
		item->found = item->are_hulls && fem_convex_pieces_overlap(world, item, &stage->overlaps[i]);
		if (item->are_hulls)
			continue;
		item->held = flat ? fem_contact_nodes_held(world->bodies[touch->body], item->tet, flat) : 0;
		if (item->held || !tet_shape(world->bodies[touch->body], item->tet, &first, &a))
			continue;
		if (touch->is_collider)
			item->found = overlaps_collider(world, item, &a, flat, &stage->overlaps[i]);
		else if (tet_shape(world->bodies[touch->other], item->other_tet, &second, &b))
			item->found = fem_overlap(&a, &b, &stage->overlaps[i]);
	}
}

// ---- budget

// Class of an overlap volume by powers of two: 0 for the smallest float, 255 for the largest.
static int volume_class(float volume) {
	uint32_t bits;
	memcpy(&bits, &volume, sizeof bits);
	return (int)(bits >> 23 & 255);
}

// When there are more overlaps than contacts may be, the smallest go: whole classes of volume, so that which ones go
// does not depend on their order. An overlap makes at least one contact.
static void drop_smallest(FemContactStage *stage, int32_t contact_limit) {
	int32_t counts[256] = {0}, kept = 0, cut = 255;
	for (int32_t i = 0; i < stage->item_count; i++) {
		if (stage->items[i].found)
			counts[volume_class(stage->overlaps[i].volume)]++;
	}
	while (cut > 0 && kept + counts[cut] <= contact_limit)
		kept += counts[cut--];
	for (int32_t i = 0; i < stage->item_count && cut > 0; i++) {
		if (!stage->items[i].found || volume_class(stage->overlaps[i].volume) > cut)
			continue;
		stage->items[i].found = false;
		stage->full = true;
	}
}

// ---- find

static void set_proxies(FemStep *step) {
	FemWorld *world = step->world;
	FemContactStage *stage = &world->contacts;
	bool has_room = FEM_LIST_HOLD(stage->proxies, stage->proxy_capacity, world->collider_capacity, INT32_MAX);
	step->proxy_count = has_room ? world->collider_capacity : 0;
	if (!has_room)
		drop_all(stage);
	for (int32_t c = 0; c < step->proxy_count; c++) {
		if (world->colliders[c].in_use)
			world->contacts.proxies[c] = fem_collider_proxy(&world->colliders[c], world->def.gravity, step->dt);
		else
			world->contacts.proxies[c] = (FemProxy){0};
	}
	step->proxies = world->contacts.proxies;
}

// Colliders that were moved wake what is beside them; static ones cost nothing otherwise.
static void wake_beside_moved(FemWorld *world) {
	for (int32_t c = 0; c < world->collider_capacity; c++) {
		FemCollider *collider = &world->colliders[c];
		if (!collider->in_use || !collider->has_moved)
			continue;
		collider->has_moved = false;
		fem_world_wake_touching(world, c);
	}
}

void fem_contact_stage_find(FemStep *step) {
	FemWorld *world = step->world;
	FemContactStage *stage = &world->contacts;
	if (!world->def.contacts_enabled)
		return;
	stage->full = false;
	fem_contact_bodies_mark_still(world);
	fem_placed_bodies_swell(world, step->dt);
	fem_contact_bodies_refit(world);
	fem_colliders_draw_out(world, step->dt);
	update_sweep(world);
	fem_closed_cracks_find(world);
	find_tet_pairs(world);
	list_items(world);
	fem_pool_for(world->pool, (stage->item_count + FEM_CONTACT_CHUNK - 1) / FEM_CONTACT_CHUNK, overlap_task, world);
	drop_smallest(stage, world->def.contact_capacity);
	set_proxies(step);
	fem_contacts_make(step);
	fem_placed_bodies_shrink(world);
	fem_joints_add_contacts(world, step->dt);
	wake_beside_moved(world);
	fem_contacts_wake(world);
	stage->full |=
		stage->narrow.hits_full || stage->narrow.pairs_full || stage->narrow.units_full || world->sweep.pairs_full;
	if (stage->full)
		world->step_errors |= FEM_STEP_CONTACTS_FULL;
	step->contacts = stage->contacts;
	step->contact_count = stage->contact_count;
}
