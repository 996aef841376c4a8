// What contact does to sleepers: a blow wakes them, a load above the threshold does, and so does losing what held them.
#include "base/vec.h"
#include "world/step.h"
#include "world/world.h"

#include <math.h>

static bool is_sleeper(const FemWorld *world, const FemContactSide *side) {
	return side->body >= 0 && world->bodies[side->body] && fem_body_sleeps(world->bodies[side->body]);
}

static float along_normal(const FemContactRows *rows, const FemContact *contact) {
	float u[3];
	fem_contact_velocity(rows, contact, false, u);
	return u[0] * contact->normal[0] + u[1] * contact->normal[1] + u[2] * contact->normal[2];
}

// -------------------------------------------------------------------------------------------------------------- lost support

// Whether the two bodies, or the body and the collider, of a contact of the last step still touch.
static bool still_touch(const FemContactStage *stage, const FemContact *last) {
	FemContact first = *last; // sorts before all contacts of its pair
	first.side[0].tet = first.side[1].body >= 0 ? -1 : first.side[0].tet;
	first.key = 0;
	int32_t low = 0, high = stage->contact_count;
	while (low < high) {
		int32_t middle = (low + high) / 2;
		if (fem_contact_compare_places(&stage->contacts[middle], &first) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	// The pair's contacts stand together: one of them is here or just before.
	for (int32_t i = low > 0 ? low - 1 : 0; i <= low && i < stage->contact_count; i++) {
		if (fem_contact_same_pair(&stage->contacts[i], last))
			return true;
	}
	return false;
}

// Pairs of which nothing moves are not looked at: their contacts are missing without being lost.
static bool may_move(const FemWorld *world, const FemContactSide *side) {
	if (side->body >= 0)
		return world->bodies[side->body] && !fem_body_sleeps(world->bodies[side->body]);
	return world->colliders[side->tet].kind != FEM_COLLIDER_STATIC;
}

// What held a sleeper up from below or from the side is gone. What stood on it may go without waking it.
static void wake_unsupported(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	FemVec3 g = world->def.gravity;
	float slack = 0.1f * fem_vec3_length(g);
	for (int32_t i = 0; i < stage->last_count; i++) {
		const FemContact *last = &stage->last_contacts[i];
		float down = last->normal[0] * g.x + last->normal[1] * g.y + last->normal[2] * g.z;
		bool held[2] = {down > -slack, down < slack}; // side 0 is pushed by -n, side 1 by n
		for (int s = 0; s < 2; s++) {
			if (held[s] && is_sleeper(world, &last->side[s]) && may_move(world, &last->side[1 - s]) && !still_touch(stage, last))
				fem_body_wake_all(&world->islands, world->bodies[last->side[s].body]);
		}
	}
}

// --------------------------------------------------------------------------------------------------------------- blow, load

static float side_mass(const FemWorld *world, const FemContactSide *side) {
	if (side->body >= 0)
		return world->bodies[side->body]->kinematic ? INFINITY : world->bodies[side->body]->total_mass;
	const FemCollider *collider = &world->colliders[side->tet];
	return fem_collider_is_free(collider) ? collider->mass : INFINITY;
}

// A sleeper wakes at once, before the solve would take it for a wall, when the blow can give it more than the speed below
// which things fall asleep.
static void wake_struck(FemWorld *world) {
	FemContactRows rows = {.bodies = world->bodies, .proxies = world->contacts.proxies};
	for (int32_t i = 0; i < world->contacts.contact_count; i++) {
		const FemContact *contact = &world->contacts.contacts[i];
		for (int s = 0; s < 2; s++) {
			if (!is_sleeper(world, &contact->side[s]))
				continue;
			FemBody *body = world->bodies[contact->side[s].body];
			float mass = side_mass(world, &contact->side[1 - s]), along = along_normal(&rows, contact);
			float gained = isinf(mass) ? along : along * mass / (mass + body->total_mass);
			if (gained > world->def.sleep_speed)
				fem_body_wake_all(&world->islands, body);
		}
	}
}

void fem_contacts_wake(FemWorld *world) {
	wake_unsupported(world);
	wake_struck(world);
	for (int32_t i = 0; i < world->contacts.contact_count; i++) {
		for (int s = 0; s < 2; s++) {
			FemContactSide *side = &world->contacts.contacts[i].side[s];
			if (side->body >= 0)
				side->is_fixed = world->bodies[side->body]->live_part_count == 0;
		}
	}
}

// A load wakes a sleeper above the wake threshold of its whole weight, beyond what the pair has been pressing: a light thing
// set down on it does not, nor does the heavy one under which it fell asleep.
void fem_contacts_wake_loaded(FemWorld *world, float dt) {
	FemContactStage *stage = &world->contacts;
	float limit = world->def.wake_force_factor * fem_vec3_length(world->def.gravity) * dt;
	for (int32_t i = 0, end; i < stage->contact_count; i = end) {
		const FemContact *first = &stage->contacts[i];
		float sum = 0.0f;
		for (end = i; end < stage->contact_count && fem_contact_same_pair(first, &stage->contacts[end]); end++)
			sum += stage->contacts[end].press;
		for (int s = 0; s < 2; s++) {
			if (!is_sleeper(world, &first->side[s]))
				continue;
			FemBody *body = world->bodies[first->side[s].body];
			if (sum > first->pair_load + limit * body->total_mass)
				fem_body_wake_all(&world->islands, body);
		}
	}
}
