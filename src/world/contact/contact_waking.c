// What contact does to sleepers: a blow wakes them, a load above the threshold does, and so does losing what held them.
#include "base/vec.h"
#include "fracture/separation.h"
#include "model/piece.h"
#include "world/contact/contact_stage.h"
#include "world/step/joined_pieces.h"
#include "world/step/work_limits.h"
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

// Wakes the piece of one side of a contact, unless limits on the work of a step let it wait; the other pieces of its
// body sleep on until it touches them.
static void wake_side(FemWorld *world, const FemContact *contact, int s) {
	FemBody *body = world->bodies[contact->side[s].body];
	bool by_collider = fem_side_is_collider(&contact->side[1 - s]);
	if (!fem_work_lets_wait(world, body, contact->side[s].piece, by_collider))
		fem_body_wake_component(&world->islands, body, contact->side[s].piece);
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
	fem_contact_velocity(rows, contact, u);
	return u[0] * contact->normal[0] + u[1] * contact->normal[1] + u[2] * contact->normal[2];
}

// ---- lost support

// Whether the two pieces, or the piece and the collider, of a contact of the last step still touch.
static bool still_touch(const FemWorld *world, const FemContact *last) {
	FemRange now = fem_contacts_of_pieces(world->contacts.contacts, world->contacts.contact_count, last);
	return now.end > now.begin;
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
	for (int32_t i = 0; i < stage->last_count; i++) {
		const FemContact *last = &stage->last_contacts[i];
		float down = last->normal[0] * g.x + last->normal[1] * g.y + last->normal[2] * g.z;
		bool held[2] = {down > -slack, down < slack}; // side 0 is pushed by -n, side 1 by n
		for (int s = 0; s < 2; s++) {
			if (held[s] && is_sleeper(world, &last->side[s]) && may_move(world, &last->side[1 - s]) &&
				!still_touch(world, last))
				wake_side(world, last, s);
		}
	}
}

// ---- blow, load

static float side_mass(const FemWorld *world, const FemContactSide *side) {
	if (fem_side_is_body(side))
		return world->bodies[side->body]->kinematic ? INFINITY : world->bodies[side->body]->pieces[side->piece].mass;
	const FemCollider *collider = &world->colliders[side->collider];
	return fem_collider_is_free(collider) ? collider->mass : INFINITY;
}

// Whether the rest of a piece sleeps that is struck where it is awake: its blow is looked at as a whole.
static bool is_half_asleep(const FemWorld *world, const FemContactSide *side) {
	const FemBody *body = fem_side_is_body(side) ? world->bodies[side->body] : NULL;
	return body && body->breaking && body->breaking->has_impacts && fem_piece_is_live(body, side->piece) &&
		!fem_piece_is_wholly_live(body, side->piece);
}

// A sleeper wakes at once, before the solve would take it for a wall, when the blow can give it more than the speed
// below which things fall asleep.
static void wake_struck(FemWorld *world) {
	FemContactRows rows = {.bodies = world->bodies, .proxies = world->contacts.proxies};
	for (int32_t i = 0; i < world->contacts.contact_count; i++) {
		const FemContact *contact = &world->contacts.contacts[i];
		for (int s = 0; s < 2; s++) {
			if (!is_sleeper(world, &contact->side[s]) && !is_half_asleep(world, &contact->side[s]))
				continue;
			float mass = side_mass(world, &contact->side[1 - s]), along = along_normal(&rows, contact);
			float own = side_mass(world, &contact->side[s]);
			float gained = isinf(mass) ? along : along * mass / (mass + own);
			if (gained > world->def.sleep_speed)
				wake_side(world, contact, s);
		}
	}
}

void fem_contacts_wake(FemWorld *world) {
	wake_unsupported(world);
	wake_struck(world);
	fem_joined_wake(world);
	for (int32_t i = 0; i < world->contacts.contact_count; i++) {
		for (int s = 0; s < 2; s++) {
			FemContactSide *side = &world->contacts.contacts[i].side[s];
			if (fem_side_is_body(side))
				side->is_fixed = !is_live(world->bodies[side->body], side);
		}
	}
}

// Wakes sleepers among the contacts of two pieces, or of a piece and a collider, by the load that is new to them, N s.
static void wake_under(FemWorld *world, FemRange contacts, float load, float limit) {
	for (int32_t c = contacts.begin; c < contacts.end; c++) {
		const FemContactSide *side = world->contacts.contacts[c].side;
		bool sleeps[2] = {is_sleeper(world, &side[0]), is_sleeper(world, &side[1])};
		int sleeper = sleeps[0] ? 0 : 1;
		if (sleeps[0] != sleeps[1] && load > limit * side_mass(world, &side[sleeper]))
			wake_side(world, &world->contacts.contacts[c], sleeper);
	}
}

// Wakes sleepers whose load has grown by more than the wake threshold, a share of their weight, over the smoothed load:
// a light body set down on one does not wake it, nor does the heavy one under which it fell asleep.
void fem_contacts_wake_loaded(FemWorld *world, float dt) {
	const FemContactStage *stage = &world->contacts;
	float limit = world->def.wake_force_factor * fem_vec3_length(world->def.gravity) * dt;
	for (int32_t begin = 0, end; begin < stage->contact_count; begin = end) {
		float load = 0.0f;
		end = fem_contacts_end_of_pieces(stage->contacts, begin, stage->contact_count);
		for (int32_t c = begin; c < end; c++)
			load += stage->contacts[c].normal_impulse;
		float more = load - stage->contacts[begin].pair_load;
		if (more > 0.0f)
			wake_under(world, (FemRange){begin, end}, more, limit);
	}
}
