#include "world/contact_stage.h"

#include "base/memory.h"
#include "base/vec.h"
#include "mesh/topology.h"
#include "world/breaking.h"
#include "world/step.h"
#include "world/world.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------- reserve

// Contents are lost, and what is new holds anything.
static bool grow(void **list, int32_t *capacity, int32_t count, size_t size) {
	if (count <= *capacity)
		return true;
	void *grown = fem_alloc_unset(size * (size_t)count);
	if (!grown)
		return false;
	fem_free(*list, size * (size_t)*capacity);
	*list = grown;
	*capacity = count;
	return true;
}

static bool reserve_contacts(FemContactStage *stage, int32_t count) {
	int32_t unused = stage->contact_capacity, overlaps = stage->item_capacity, last = stage->contact_capacity;
	// Room for more overlaps than contacts, to have a choice.
	return grow((void **)&stage->overlaps, &overlaps, 2 * count, sizeof *stage->overlaps) &&
	       grow((void **)&stage->items, &stage->item_capacity, 2 * count, sizeof *stage->items) &&
	       grow((void **)&stage->last_contacts, &last, count, sizeof *stage->last_contacts) &&
	       grow((void **)&stage->events, &unused, count, sizeof *stage->events) &&
	       grow((void **)&stage->contacts, &stage->contact_capacity, count, sizeof *stage->contacts);
}

// Half as much again, and only when the need is not met: a world that grows body by body copies little.
static bool grow_by_half(void **list, int32_t *capacity, int32_t count, size_t size) {
	return count <= *capacity || grow(list, capacity, count + count / 2, size);
}

// All pairs of the sweep, and every piece with itself.
static bool reserve_pieces(FemWorld *world, int32_t pieces) {
	FemContactStage *stage = &world->contacts;
	return grow_by_half((void **)&stage->refits, &stage->refit_capacity, pieces, sizeof *stage->refits) &&
	       grow_by_half((void **)&stage->pieces, &stage->piece_capacity, world->sweep.pair_capacity + pieces, sizeof *stage->pieces);
}

// Zero between two uses.
static bool reserve_node_area(FemContactStage *stage, int32_t nodes) {
	int32_t before = stage->node_area_capacity;
	if (!grow_by_half((void **)&stage->node_area, &stage->node_area_capacity, nodes, sizeof *stage->node_area))
		return false;
	if (stage->node_area_capacity > before)
		memset(stage->node_area, 0, sizeof *stage->node_area * (size_t)stage->node_area_capacity);
	return true;
}

bool fem_contact_stage_reserve(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	if (!world->def.contacts_enabled)
		return true;
	int32_t colliders = world->collider_capacity, contacts = world->def.contact_capacity;
	int32_t pieces = (int32_t)world->needs.pieces, broken = (pieces - world->body_count) / FEM_BROKEN_SHARE;
	int32_t proxies = pieces + colliders + world->sweep.dying_count; // dying ones are free after the next update
	int32_t touches = 17 * (world->body_count + colliders) + 64, pairs = touches + 17 * broken;
	int32_t more_touches = touches + touches / 2 + 256, more_pairs = pairs + pairs / 2 + 256;
	int32_t units = 10 * touches + 4 * (pairs - touches), more_units = units + units / 2 + 2560;
	FemNarrowLimits limits = {.pairs = more_touches, .pieces = more_pairs, .units = more_units, .hits = 2 * contacts};
	bool sweep = (proxies <= world->sweep.proxy_capacity && pairs <= world->sweep.pair_capacity) ||
	             fem_sweep_reserve(&world->sweep, proxies + proxies / 2 + 16, more_pairs);
	bool narrow = (touches <= stage->narrow.limits.pairs && units <= stage->narrow.limits.units && pairs <= stage->narrow.limits.pieces) ||
	              fem_narrow_phase_reserve(&stage->narrow, &limits);
	bool listed = touches <= stage->touch_capacity ||
	              grow((void **)&stage->touches, &stage->touch_capacity, more_touches, sizeof *stage->touches);
	return narrow && sweep && listed && reserve_contacts(stage, contacts) && reserve_pieces(world, pieces) &&
	       fem_fast_pairs_reserve(&stage->fast, world->sweep.proxy_capacity, world->sweep.pair_capacity) &&
	       grow_by_half((void **)&stage->proxies, &stage->proxy_capacity, colliders, sizeof *stage->proxies) &&
	       grow((void **)&stage->candidates, &stage->candidate_capacity, contacts, sizeof *stage->candidates) &&
	       reserve_node_area(stage, world->needs.nodes_max);
}

bool fem_contact_stage_reserve_room(FemWorld *world, const FemContactRoom *room) {
	FemContactStage *stage = &world->contacts;
	FemNarrowLimits *now = &stage->narrow.limits, limits = *now;
	limits.pairs = room->narrow_pairs > limits.pairs ? room->narrow_pairs : limits.pairs;
	limits.units = room->narrow_units > limits.units ? room->narrow_units : limits.units;
	limits.pieces = room->pairs > limits.pieces ? room->pairs : limits.pieces;
	bool narrow = (limits.pairs == now->pairs && limits.units == now->units && limits.pieces == now->pieces) || fem_narrow_phase_reserve(&stage->narrow, &limits);
	return narrow && fem_sweep_reserve(&world->sweep, room->proxies, room->pairs) &&
	       grow((void **)&stage->pieces, &stage->piece_capacity, room->pieces, sizeof *stage->pieces) &&
	       grow((void **)&stage->touches, &stage->touch_capacity, room->touches, sizeof *stage->touches) &&
	       fem_fast_pairs_reserve(&stage->fast, world->sweep.proxy_capacity, world->sweep.pair_capacity);
}

FemContactRoom fem_contact_stage_room(const FemWorld *world) {
	const FemNarrowLimits *limits = &world->contacts.narrow.limits;
	return (FemContactRoom){world->sweep.proxy_capacity, world->sweep.pair_capacity, world->contacts.piece_capacity,
		world->contacts.touch_capacity, limits->pairs, limits->units};
}

void fem_contact_stage_free(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	fem_narrow_phase_free(&stage->narrow);
	fem_sweep_free(&world->sweep);
	fem_fast_pairs_free(&stage->fast);
	FEM_FREE_ARRAY(stage->refits, stage->refit_capacity);
	FEM_FREE_ARRAY(stage->pieces, stage->piece_capacity);
	FEM_FREE_ARRAY(stage->overlaps, stage->item_capacity);
	FEM_FREE_ARRAY(stage->items, stage->item_capacity);
	FEM_FREE_ARRAY(stage->last_contacts, stage->contact_capacity);
	FEM_FREE_ARRAY(stage->events, stage->contact_capacity);
	FEM_FREE_ARRAY(stage->contacts, stage->contact_capacity);
	FEM_FREE_ARRAY(stage->touches, stage->touch_capacity);
	FEM_FREE_ARRAY(stage->proxies, stage->proxy_capacity);
	FEM_FREE_ARRAY(stage->candidates, stage->candidate_capacity);
	FEM_FREE_ARRAY(stage->node_area, stage->node_area_capacity);
	*stage = (FemContactStage){0};
}

// ------------------------------------------------------------------------------------------------------------------ pairs

// As of a body: mass over the area of its box. What has no mass to lose is as strong as need be.
static float collider_strength(const FemCollider *collider) {
	FemVec3 d = fem_vec3_sub(collider->box_max, collider->box_min);
	return collider->kind == FEM_COLLIDER_DYNAMIC ? collider->mass / powf(d.x * d.y * d.z, 2.0f / 3.0f) : INFINITY;
}

static bool is_sheet(const FemBody *body) {
	return body->thickness < FEM_CONTACT_SHEET * sqrtf(body->box_area);
}

static void add_touch(FemWorld *world, FemTouch touch) {
	FemContactStage *stage = &world->contacts;
	if (stage->touch_count == stage->touch_capacity) {
		stage->full = true;
		return;
	}
	FemBody *body = world->bodies[touch.body];
	touch.narrow = -1;
	touch.strength = body->total_mass / body->box_area;
	if (touch.is_collider) {
		const FemCollider *collider = &world->colliders[touch.other];
		touch.friction = collider->friction;
		touch.ahead = fem_collider_looks_ahead(world, collider, body, world->step_dt);
		touch.strength = fminf(touch.strength, collider_strength(collider));
	} else {
		FemBody *other = world->bodies[touch.other];
		FemNarrowBody a = {.trees = body->trees, .origin = body->origin}, b = {.trees = other->trees, .origin = other->origin};
		touch.strength = fminf(touch.strength, other->total_mass / other->box_area);
		touch.of_sheet = is_sheet(body) || is_sheet(other);
		touch.narrow = fem_narrow_phase_add(&stage->narrow, &a, &b);
		if (touch.narrow >= 0) {
			stage->narrow.pairs[touch.narrow].pieces = stage->pieces + touch.pieces.begin;
			stage->narrow.pairs[touch.narrow].piece_count = touch.pieces.end - touch.pieces.begin;
		}
	}
	touch.strength *= FEM_CONTACT_KAPPA;
	stage->touches[stage->touch_count++] = touch;
}

#define SELF_BEND_COS_SQ 0.883f // of half of 40 degrees

// A convex body folds over only where two places turn by a right angle against each other. One tet of each batch is asked
// how far it is turned from the mean; below 40 degrees nowhere there is nothing to look for. What it broke into turns as it
// likes, and does not fold.
static bool may_fold(const FemBody *body) {
	int32_t batches = body->topology->batch_count;
	FemVec4 first = body->rotation[0], mean = {0.0f, 0.0f, 0.0f, 0.0f};
	if (!body->is_convex)
		return true;
	if (body->topology->component_count > 1)
		return false;
	for (int32_t b = 0; b < batches; b++) {
		FemVec4 q = body->rotation[b * FEM_LANES];
		float sign = q.x * first.x + q.y * first.y + q.z * first.z + q.w * first.w < 0.0f ? -1.0f : 1.0f;
		mean.x += sign * q.x, mean.y += sign * q.y, mean.z += sign * q.z, mean.w += sign * q.w;
	}
	float square = mean.x * mean.x + mean.y * mean.y + mean.z * mean.z + mean.w * mean.w;
	for (int32_t b = 0; b < batches; b++) {
		FemVec4 q = body->rotation[b * FEM_LANES];
		float dot = q.x * mean.x + q.y * mean.y + q.z * mean.z + q.w * mean.w;
		if (!(dot * dot > SELF_BEND_COS_SQ * square))
			return true;
	}
	return false;
}

// A body that was crushed until tets turned inside out is no longer separated from itself by its surface: self-contact would
// push the wrong way and keep it crumpled. Elasticity alone brings it back, then it touches itself again.
static bool is_inside_out(const FemBody *body) {
	for (int32_t t = 0; t < body->topology->batch_count * FEM_LANES; t++) {
		if (body->topology->user_of_tet[t] < 0)
			continue;
		FemVec3 a = fem_vec3_from(body->position[fem_tet_node(body->topology, t, 0)]);
		FemVec3 e[3];
		for (int k = 0; k < 3; k++)
			e[k] = fem_vec3_sub(fem_vec3_from(body->position[fem_tet_node(body->topology, t, k + 1)]), a);
		if (fem_vec3_dot(e[0], fem_vec3_cross(e[1], e[2])) < 0.0f)
			return true;
	}
	return false;
}

static void add_pieces(FemContactStage *stage, int32_t a, int32_t b) {
	if (stage->piece_count == stage->piece_capacity) {
		stage->full = true;
		return;
	}
	stage->pieces[stage->piece_count++] = (FemNarrowPieces){a, b};
}

// The pieces of active pairs [i, end), all of the same users.
static void add_active(FemWorld *world, FemRange active) {
	for (int32_t i = active.begin; i < active.end; i++) {
		FemSweepPair pair = fem_sweep_active_pair(&world->sweep, i);
		add_pieces(&world->contacts, pair.piece_a, pair.piece_b);
	}
}

// Pieces that are awake and large enough to fold over (those of a whole body always are).
static void add_folding(FemWorld *world, const FemBody *body) {
	const FemTopology *t = body->topology;
	bool asked = false;
	for (int32_t c = 0; c < body->sweep_proxy_count; c++) {
		if (world->sweep.proxies[body->sweep_proxies[c]].still || (t->split && t->component_tets[c] < FEM_SHARD_TETS))
			continue;
		if (!asked && (!may_fold(body) || is_inside_out(body)))
			return;
		asked = true;
		add_pieces(&world->contacts, c, c);
	}
}

// A body with itself: pieces that fold, and those near each other.
static void list_self(FemWorld *world, int32_t index, FemRange active) {
	const FemBody *body = world->bodies[index];
	FemContactStage *stage = &world->contacts;
	FemTouch touch = {.body = index, .other = index, .pieces = {stage->piece_count, 0}};
	if (!body->self_contact || body->live_part_count == 0)
		return;
	add_folding(world, body);
	add_active(world, active);
	touch.pieces.end = stage->piece_count;
	if (touch.pieces.end > touch.pieces.begin)
		add_touch(world, touch);
}

// Bodies with themselves, up to the given one, which has the given pairs of pieces. The list is in the order of contacts:
// (a, a) before (a, b).
static int32_t list_selves(FemWorld *world, int32_t at, int32_t last_body, FemRange active) {
	for (; at < world->islands.active_count && world->islands.active_bodies[at] <= last_body; at++) {
		int32_t index = world->islands.active_bodies[at];
		list_self(world, index, index == last_body ? active : (FemRange){0, 0});
	}
	return at;
}

// All pairs of pieces of one body and another, or a collider.
static void list_pair(FemWorld *world, const FemSweepPair *pair, FemRange active) {
	bool is_collider = (pair->user_b & FEM_SWEEP_COLLIDER) != 0;
	FemTouch touch = {.body = (int32_t)pair->user_a, .other = (int32_t)(pair->user_b & ~FEM_SWEEP_COLLIDER), .is_collider = is_collider};
	const FemBody *a = world->bodies[touch.body];
	uint32_t layer = is_collider ? world->colliders[touch.other].layer : world->bodies[touch.other]->layer;
	uint32_t mask = is_collider ? world->colliders[touch.other].mask : world->bodies[touch.other]->mask;
	bool ignored = is_collider && fem_collider_ignores(&world->colliders[touch.other], fem_body_id(world, touch.body));
	if (!fem_body_sees(a, layer, mask) || ignored)
		return;
	touch.pieces.begin = world->contacts.piece_count;
	add_active(world, active);
	touch.pieces.end = world->contacts.piece_count;
	add_touch(world, touch);
}

// Pairs come by users ascending, then by pieces; a collider after all bodies: side 0 is always a body.
static void list_pairs(FemWorld *world) {
	int32_t selves = 0, count = fem_sweep_active_count(&world->sweep);
	world->contacts.piece_count = 0;
	fem_narrow_phase_begin(&world->contacts.narrow);
	for (FemRange active = {0, 0}; active.begin < count; active.begin = active.end) {
		FemSweepPair pair = fem_sweep_active_pair(&world->sweep, active.begin);
		uint64_t users = world->sweep.active[active.begin].key;
		while (active.end < count && world->sweep.active[active.end].key == users)
			active.end++;
		if (pair.user_a & FEM_SWEEP_COLLIDER)
			break;
		bool is_self = pair.user_a == pair.user_b;
		selves = list_selves(world, selves, (int32_t)pair.user_a, is_self ? active : (FemRange){0, 0});
		if (!is_self)
			list_pair(world, &pair, active);
	}
	list_selves(world, selves, INT32_MAX, (FemRange){0, 0});
}

// ---------------------------------------------------------------------------------------------------------------- overlaps

void fem_contact_add_item(FemContactStage *stage, int32_t touch, int32_t tet, int32_t other) {
	if (stage->item_count == stage->item_capacity) {
		stage->full = true;
		return;
	}
	stage->items[stage->item_count++] = (FemOverlapItem){.touch = touch, .tet = tet, .other_tet = other};
}

static void list_items(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	stage->item_count = 0;
	for (int32_t t = 0; t < stage->touch_count; t++) {
		FemTouch *touch = &stage->touches[t];
		touch->items.begin = stage->item_count;
		if (touch->narrow >= 0) {
			FemRange tets = stage->narrow.pairs[touch->narrow].tets;
			for (int32_t i = tets.begin; i < tets.end; i++)
				fem_contact_add_item(stage, t, stage->narrow.tet_pairs[i].a, stage->narrow.tet_pairs[i].b);
		} else if (touch->is_collider) {
			fem_collider_list_items(world, t, world->step_dt);
		}
		touch->items.end = stage->item_count;
	}
}

static bool tet_shape(const FemBody *body, int32_t tet, FemConvexTet *storage, FemConvex *out) {
	FemVec3 corners[4];
	for (int i = 0; i < 4; i++)
		corners[i] = fem_vec3_from(body->position[fem_tet_node(body->topology, tet, i)]);
	return fem_convex_tet(body->origin, corners, body->tet_exterior[tet], storage, out);
}

static void overlap_task(void *context, int32_t chunk) {
	FemWorld *world = context;
	FemContactStage *stage = &world->contacts;
	int32_t begin = chunk * FEM_CONTACT_CHUNK, end = begin + FEM_CONTACT_CHUNK;
	for (int32_t i = begin; i < end && i < stage->item_count; i++) {
		FemOverlapItem *item = &stage->items[i];
		const FemTouch *touch = &stage->touches[item->touch];
		FemConvexTet first, second;
		FemConvex a, b;
		item->found = false;
		if (!tet_shape(world->bodies[touch->body], item->tet, &first, &a))
			continue;
		if (touch->is_collider)
			item->found = fem_collider_overlap(&world->colliders[touch->other], &a, item->other_tet, &stage->overlaps[i]) ||
				(touch->ahead && fem_collider_overlap_ahead(world, touch, item, world->step_dt, &a, &stage->overlaps[i]));
		else if (tet_shape(world->bodies[touch->other], item->other_tet, &second, &b))
			item->found = fem_overlap(&a, &b, &stage->overlaps[i]);
	}
}

// ----------------------------------------------------------------------------------------------------------------- budget

// Volumes by powers of two: 0 for the smallest float, 255 for the largest.
static int volume_class(float volume) {
	uint32_t bits;
	memcpy(&bits, &volume, sizeof bits);
	return (int)(bits >> 23 & 255);
}

// When there are more overlaps than contacts may be, the smallest go: whole classes of volume, so that which ones go does
// not depend on their order. An overlap makes at least one contact.
static void drop_smallest(FemContactStage *stage) {
	int32_t counts[256] = {0}, kept = 0, cut = 255;
	for (int32_t i = 0; i < stage->item_count; i++) {
		if (stage->items[i].found)
			counts[volume_class(stage->overlaps[i].volume)]++;
	}
	while (cut > 0 && kept + counts[cut] <= stage->contact_capacity)
		kept += counts[cut--];
	for (int32_t i = 0; i < stage->item_count && cut > 0; i++) {
		if (!stage->items[i].found || volume_class(stage->overlaps[i].volume) > cut)
			continue;
		stage->items[i].found = false;
		stage->full = true;
	}
}

// ------------------------------------------------------------------------------------------------------------------- find

static void set_proxies(FemStep *step) {
	FemWorld *world = step->world;
	// Slots may have come without their proxies when memory ran out; none of those is in use.
	int32_t count = world->collider_capacity, room = world->contacts.proxy_capacity;
	step->proxy_count = count < room ? count : room;
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
	stage->touch_count = 0;
	fem_contact_bodies_mark_still(world);
	fem_contact_bodies_refit(world);
	fem_colliders_draw_out(world, step->dt);
	fem_sweep_update(&world->sweep);
	list_pairs(world);
	fem_narrow_phase_run(&stage->narrow, world->pool);
	list_items(world);
	fem_pool_for(world->pool, (stage->item_count + FEM_CONTACT_CHUNK - 1) / FEM_CONTACT_CHUNK, overlap_task, world);
	drop_smallest(stage);
	set_proxies(step);
	fem_contacts_make(step);
	wake_beside_moved(world);
	fem_contacts_wake(world);
	stage->full |= stage->narrow.hits_full || stage->narrow.pairs_full || stage->narrow.units_full || world->sweep.pairs_full;
	if (stage->full)
		world->step_errors |= FEM_STEP_CONTACTS_FULL;
	step->contacts = stage->contacts;
	step->contact_count = stage->contact_count;
}
