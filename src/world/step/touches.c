#include "world/step/touches.h"

#include "base/hash.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "world/step/blow_response.h"
#include "world/world.h"

#include <string.h>

// Of the length of a piece. Neither things nor floors are even: they touch first where they stand out at random, by up
// to so much, and while a hard thing is stopped it gives way by about half of that. Both chosen.
#define UNEVEN_SHARE 3e-3f
#define GIVE_SHARE 1.5e-3f
// Of a side that strikes: its stiffness (N/m) over Young's modulus and length. A ball that is pressed together by a
// third of its radius has 0.3 (Hertz).
#define STRIKER_STIFFNESS 0.3f
#define RADIUS_OVER_LENGTH 0.29f // of a ball over the diagonal of its box

// ---- when

float fem_touch_time(const FemTouchPlace *touch, float length) {
	uint64_t hash = fem_hash_word(fem_hash_word(FEM_HASH_START, touch->body->breaking->seed), (uint64_t)touch->user);
	float chance = (float)((double)(fem_hash_word(hash, 2) >> 11) * 0x1p-53);
	return touch->time + UNEVEN_SHARE * length * chance / touch->approach;
}

float fem_touch_window(float length, float approach) {
	return GIVE_SHARE * length / approach;
}

float fem_touch_share(const FemTouchPlace *touch, float length, float first) {
	float late = fem_touch_time(touch, length) - first, share = 1.0f - late * touch->approach / (GIVE_SHARE * length);
	return share > 0.0f ? share : 0.0f;
}

// What gravity brings to the other side within the step strikes, too: it rebounds in this step (contact_bounce.c), and
// would never be looked at. A vase of e = 0.3 came off unharmed from 3 m at 30 Hz.
static bool is_blow(const FemStep *step, const FemTouchPlace *touch, float closing) {
	float latest = step->dt * (1.0f + step->dt * fem_vec3_length(fem_body_gravity(step->world, touch->body)) / closing);
	return touch->approach > FEM_SLOW_SPEED && touch->time < latest && touch->strength > 0.0f;
}

// ---- contacts

static int32_t tet_of_side(const FemTopology *t, const FemContactSide *side) {
	return side->kind == FEM_SIDE_TET ? side->tet : t->node_tets[t->node_tet_start[side->node]] / 4;
}

float fem_striker_give(float modulus, float length) {
	return 1.0f / (STRIKER_STIFFNESS * modulus * length);
}

static void set_other_side(const FemStep *step, const FemContactSide *other, FemTouchPlace *touch) {
	const FemWorld *world = step->world;
	if (fem_side_is_collider(other)) {
		float mass = step->proxies[other->proxy].mass;
		touch->mobility = other->is_fixed || !(mass > 0.0f) ? 0.0f : 1.0f / mass;
		return;
	}
	const FemBody *body = world->bodies[other->body];
	const FemPiece *piece = &body->pieces[other->piece];
	bool is_held = other->is_fixed || body->kinematic || fem_piece_is_attached(body, other->piece);
	touch->mobility = is_held ? 0.0f : 1.0f / piece->mass;
	touch->give = fem_striker_give(fem_impact_modulus(body, tet_of_side(body->topology, other)), piece->length);
	touch->patch = touch->give * RADIUS_OVER_LENGTH * piece->length; // a^2 = R d, Hertz
}

static void set_place(const FemContact *contact, int s, FemTouchPlace *touch) {
	const FemContactSide *side = &contact->side[s];
	int nearest = 0;
	float x[3] = {0.0f, 0.0f, 0.0f};
	for (int k = 0; k < (side->kind == FEM_SIDE_NODE ? 1 : 4); k++) {
		const float *at = &touch->body->position[side->nodes[k]].x, weight = side->weights[k];
		for (int i = 0; i < 3; i++)
			x[i] += weight * at[i];
		nearest = weight > side->weights[nearest] ? k : nearest;
	}
	touch->place = (FemVec4){x[0], x[1], x[2], 0.0f};
	touch->node = side->nodes[nearest];
	touch->tet = tet_of_side(touch->body->topology, side);
	memcpy(touch->normal, contact->normal, sizeof touch->normal);
}

// Pieces of one body that jam do not strike each other.
bool fem_touch_of_contact(const FemStep *step, const FemContact *contact, int s, FemTouchPlace *out) {
	const FemContactSide *side = &contact->side[s], *other = &contact->side[1 - s];
	if (!fem_side_is_body(side) || (fem_side_is_body(other) && other->body == side->body))
		return false;
	FemBody *body = step->world->bodies[side->body];
	const FemTopology *t = body->topology;
	if (!fem_piece_is_wholly_live(body, side->piece)) // a look asks for the elements of all of it
		return false;
	*out = (FemTouchPlace){
		.body = body,
		.component = side->piece,
		.user = side->kind == FEM_SIDE_TET ? t->user_of_tet[side->tet] : t->user_of_node[side->node],
		.time = -(contact->depth - contact->reference) / contact->approach,
		.approach = contact->approach * (1.0f - body->pieces[side->piece].spent_speed),
		.strength = contact->normal_strength,
		.load = contact->pair_load,
	};
	if (!is_blow(step, out, contact->approach))
		return false;
	set_other_side(step, other, out);
	set_place(contact, s, out);
	return true;
}

// ---- the ground

bool fem_touch_of_ground(const FemStep *step, FemBody *body, int32_t node, FemTouchPlace *out) {
	const FemTopology *t = body->topology;
	int32_t component = fem_node_component(t, node);
	float approach = -body->velocity[node].y * (1.0f - body->pieces[component].spent_speed);
	if (!(body->step->ground[node].w > 0.0f) || !(approach > FEM_SLOW_SPEED) ||
		!fem_piece_is_wholly_live(body, component))
		return false;
	float gap = body->position[node].y - (float)(step->ground.height - body->origin.y);
	*out = (FemTouchPlace){
		.body = body,
		.component = component,
		.user = t->user_of_node[node],
		.time = gap / approach,
		.approach = approach,
		.strength = body->step->ground[node].w,
		.load = body->pieces[component].ground_load,
		.tet = t->node_tets[t->node_tet_start[node]] / 4,
		.node = node,
		.place = body->position[node],
		.normal = {0.0f, 1.0f, 0.0f},
	};
	return is_blow(step, out, approach);
}
