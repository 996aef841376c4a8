// What contact does to sleepers: a blow wakes them, a load above the threshold does, and so does losing what held them.
#include "base/vec.h"
#include "model/piece.h"
#include "world/contact/contact_stage.h"
#include "world/world.h"

#include <math.h>

// Of gravity along a normal: steeper contacts do not hold up, nearly vertical ones may; chosen.
#define SUPPORT_SLACK 0.1f

// The METIS part of the side's node with the largest weight.
static int32_t part_of(const FemBody *body, const FemContactSide *side) {
	int most = 0;
	for (int k = 1; k < 4; k++)
		most = side->weights[k] > side->weights[most] ? k : most;
	return body->topology->node_part[side->nodes[most]];
}

static bool is_sleeper(const FemWorld *world, const FemContactSide *side) {
	const FemBody *body = fem_side_is_body(side) ? world->bodies[side->body] : NULL;
	return body && body->part_state[part_of(body, side)] == FEM_ISLAND_ASLEEP;
}

// Wakes the piece of a side; the other pieces of its body sleep on until it touches them.
static void wake_side(FemWorld *world, const FemContactSide *side) {
	FemBody *body = world->bodies[side->body];
	fem_body_wake_component(&world->islands, body, body->topology->part_component[part_of(body, side)]);
}

// Mass of the piece at a side, kg.
static float piece_mass(const FemBody *body, const FemContactSide *side) {
	return body->pieces[body->topology->part_component[part_of(body, side)]].mass;
}

static bool is_live(const FemBody *body, const FemContactSide *side) {
	bool live = false;
	for (int k = 0; k < 4; k++)
		live |=
			side->weights[k] != 0.0f && body->part_state[body->topology->node_part[side->nodes[k]]] == FEM_ISLAND_LIVE;
	return live;
}

static float along_normal(const FemContactRows *rows, const FemContact *contact) {
	float u[3];
	fem_contact_velocity(rows, contact, false, u);
	return u[0] * contact->normal[0] + u[1] * contact->normal[1] + u[2] * contact->normal[2];
}

// ---- lost support

// The two pieces of a contact, or its piece and collider, among the contacts of one pair.
static uint64_t pieces_of(const FemWorld *world, const FemContact *contact) {
	uint64_t key = 0;
	for (int s = 0; s < 2 && fem_side_is_body(&contact->side[s]); s++) {
		const FemBody *body = world->bodies[contact->side[s].body];
		key = key << 32 | (uint32_t)body->topology->part_component[part_of(body, &contact->side[s])];
	}
	return key;
}

// Sorts the contacts of a pair by their pieces, in stage->order: each with its number. False when memory fails.
static bool order_by_pieces(FemWorld *world, FemRange pair) {
	FemContactStage *stage = &world->contacts;
	int32_t count = pair.end - pair.begin;
	if (!FEM_LIST_HOLD(stage->order, stage->order_capacity, 2 * (int64_t)count, INT32_MAX))
		return false;
	for (int32_t i = 0; i < count; i++)
		stage->order[i] = (FemKeyed){pieces_of(world, &stage->contacts[pair.begin + i]), (uint64_t)(pair.begin + i)};
	fem_key_sort(stage->order, stage->order + count, count);
	return true;
}

// The pair of bodies whose contacts stand in stage->order; contacts of the last step come pair by pair.
typedef struct Ordered {
	const FemContact *pair; // one of the last step's; null: none yet
	int32_t count;
} Ordered;

// Whether the two pieces, or the piece and the collider, of a contact of the last step still touch. Without memory they
// count as apart: what sleeps on them wakes.
static bool still_touch(FemWorld *world, const FemContact *last, Ordered *ordered) {
	FemContactStage *stage = &world->contacts;
	bool is_collider = fem_side_is_collider(&last->side[1]);
	if (!ordered->pair || !fem_contact_same_pair(ordered->pair, last)) {
		FemRange pair = fem_contacts_of_pair(stage->contacts, stage->contact_count, last->side[0].body,
			is_collider ? last->side[1].collider : last->side[1].body, is_collider);
		ordered->pair = last;
		ordered->count = order_by_pieces(world, pair) ? pair.end - pair.begin : 0;
	}
	return fem_key_is_among(stage->order, ordered->count, pieces_of(world, last));
}

// Whether one side of the contact moves. Pairs at rest are not searched for contacts, so a missing contact of theirs is
// not lost.
static bool may_move(const FemWorld *world, const FemContactSide *side) {
	if (fem_side_is_body(side))
		return world->bodies[side->body] && !is_sleeper(world, side);
	return world->colliders[side->collider].kind != FEM_COLLIDER_STATIC;
}

// Wakes sleepers that lost a contact which held them from below or from the side; losing what stood on them does not
// wake them.
static void wake_unsupported(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	FemVec3 g = world->def.gravity;
	float slack = SUPPORT_SLACK * fem_vec3_length(g);
	Ordered ordered = {NULL, 0};
	for (int32_t i = 0; i < stage->last_count; i++) {
		const FemContact *last = &stage->last_contacts[i];
		float down = last->normal[0] * g.x + last->normal[1] * g.y + last->normal[2] * g.z;
		bool held[2] = {down > -slack, down < slack}; // side 0 is pushed by -n, side 1 by n
		for (int s = 0; s < 2; s++) {
			if (held[s] && is_sleeper(world, &last->side[s]) && may_move(world, &last->side[1 - s]) &&
				!still_touch(world, last, &ordered))
				wake_side(world, &last->side[s]);
		}
	}
}

// ---- blow, load

static float side_mass(const FemWorld *world, const FemContactSide *side) {
	if (fem_side_is_body(side))
		return world->bodies[side->body]->kinematic ? INFINITY : piece_mass(world->bodies[side->body], side);
	const FemCollider *collider = &world->colliders[side->collider];
	return fem_collider_is_free(collider) ? collider->mass : INFINITY;
}

// A sleeper wakes at once, before the solve would take it for a wall, when the blow can give it more than the speed
// below which things fall asleep.
static void wake_struck(FemWorld *world) {
	FemContactRows rows = {.bodies = world->bodies, .proxies = world->contacts.proxies};
	for (int32_t i = 0; i < world->contacts.contact_count; i++) {
		const FemContact *contact = &world->contacts.contacts[i];
		for (int s = 0; s < 2; s++) {
			if (!is_sleeper(world, &contact->side[s]))
				continue;
			float mass = side_mass(world, &contact->side[1 - s]), along = along_normal(&rows, contact);
			float own = side_mass(world, &contact->side[s]);
			float gained = isinf(mass) ? along : along * mass / (mass + own);
			if (gained > world->def.sleep_speed)
				wake_side(world, &contact->side[s]);
		}
	}
}

void fem_contacts_wake(FemWorld *world) {
	wake_unsupported(world);
	wake_struck(world);
	for (int32_t i = 0; i < world->contacts.contact_count; i++) {
		for (int s = 0; s < 2; s++) {
			FemContactSide *side = &world->contacts.contacts[i].side[s];
			if (fem_side_is_body(side))
				side->is_fixed = !is_live(world->bodies[side->body], side);
		}
	}
}

// Normal impulses between pieces, N s, in stage->piece_loads: of the two of a contact at the first of their contacts, 0
// at all others. False when memory fails.
static bool sum_piece_loads(FemWorld *world, FemRange pair) {
	FemContactStage *stage = &world->contacts;
	int32_t count = pair.end - pair.begin, first = 0;
	if (!order_by_pieces(world, pair) ||
		!FEM_LIST_HOLD(stage->piece_loads, stage->piece_load_capacity, count, INT32_MAX))
		return false;
	for (int32_t i = 0; i < count; i++) {
		int32_t at = (int32_t)stage->order[i].value;
		bool is_first = i == 0 || stage->order[i].key != stage->order[i - 1].key;
		first = is_first ? at - pair.begin : first;
		stage->piece_loads[at - pair.begin] = 0.0f;
		stage->piece_loads[first] += stage->contacts[at].normal_impulse;
	}
	return true;
}

static bool has_sleeper(const FemWorld *world, FemRange pair) {
	bool has = false;
	for (int32_t i = pair.begin; i < pair.end; i++)
		has |= is_sleeper(world, &world->contacts.contacts[i].side[0]) ||
			is_sleeper(world, &world->contacts.contacts[i].side[1]);
	return has;
}

// Wakes sleepers whose load has grown by more than the wake threshold, a share of their weight, over the smoothed load
// of the pair: a light body set down on one does not wake it, nor does the heavy one under which it fell asleep.
void fem_contacts_wake_loaded(FemWorld *world, float dt) {
	FemContactStage *stage = &world->contacts;
	float limit = world->def.wake_force_factor * fem_vec3_length(world->def.gravity) * dt;
	for (int32_t i = 0, end; i < stage->contact_count; i = end) {
		const FemContact *first = &stage->contacts[i];
		float sum = 0.0f;
		for (end = i; end < stage->contact_count && fem_contact_same_pair(first, &stage->contacts[end]); end++)
			sum += stage->contacts[end].normal_impulse;
		float new_share = sum > 0.0f ? 1.0f - first->pair_load / sum : 0.0f;
		if (!(new_share > 0.0f) || !has_sleeper(world, (FemRange){i, end}) ||
			!sum_piece_loads(world, (FemRange){i, end}))
			continue;
		for (int32_t c = i; c < end; c++) {
			const FemContactSide *side = stage->contacts[c].side;
			bool sleeps[2] = {is_sleeper(world, &side[0]), is_sleeper(world, &side[1])};
			if (sleeps[0] == sleeps[1])
				continue;
			const FemContactSide *sleeper = &side[sleeps[0] ? 0 : 1];
			if (new_share * stage->piece_loads[c - i] > limit * side_mass(world, sleeper))
				wake_side(world, sleeper);
		}
	}
}
