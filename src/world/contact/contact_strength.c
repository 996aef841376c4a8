// How strong contacts are beyond their area: under load, and where they have next to none.
#include "model/piece.h"
#include "world/contact/bearing.h"
#include "world/contact/contact_builder.h"
#include "world/contact/contact_stage.h"

#include <math.h>

#define LOAD_DEPTH 2e-4f // m: a pair under load is made strong enough to rest so far below the slop
#define LOAD_KEEP 0.9f   // share of the smoothed load that a step keeps: 0.15 s at 60 Hz; chosen, a blow is no load
// s, since it broke off: corners of a younger piece are no stronger than their area. A blow is over by then; with
// strong corners of pieces that are still breaking, a slab of 3,888 tets fell into 54 instead of 40.
#define CORNER_AGE 0.5

float fem_contact_side_mass(const FemWorld *world, const FemContactSide *side) {
	if (side->is_fixed)
		return INFINITY;
	if (fem_side_is_collider(side))
		return world->contacts.proxies[side->proxy].mass;
	const FemBody *body = world->bodies[side->body];
	return fem_piece_is_attached(body, side->piece) ? INFINITY : body->pieces[side->piece].mass;
}

// docs/method.md, "Strength": phi_load = L dt / (beta d_t sum A), L in N: at rest L = phi A beta (d - slop) / dt gives
// d - slop = d_t. load is L dt, the strength that of all contacts, phi A dt.
static float load_ratio(const FemContactBuilder *builder, const FemContact *first, float load, float strength) {
	if (!(builder->push > 0.0f))
		return 1.0f;
	return fminf(fmaxf(load * builder->step->dt / (builder->push * LOAD_DEPTH * strength), 1.0f),
		fem_bearing_ratio_max(builder->world, first));
}

// Debris stands on corners and edges, whose overlaps have next to no area: with the strength of that alone it sinks
// in, as fast as its weight exceeds what they bear at the fastest push-out, until they are large enough, and the heap
// creeps for as long. Together contacts of two pieces are as strong as if the lighter lay on a face of its box.
static float corner_ratio(const FemContactBuilder *builder, const FemContact *first, float strength) {
	const FemContactSide *sides = first->side;
	for (int k = 0; k < 2; k++) {
		const FemPiece *piece = &builder->world->bodies[sides[k].body]->pieces[sides[k].piece];
		if (piece->parent != 0 && builder->world->time - piece->born < CORNER_AGE)
			return 1.0f;
	}
	float lighter =
		fminf(fem_contact_side_mass(builder->world, &sides[0]), fem_contact_side_mass(builder->world, &sides[1]));
	return isinf(lighter) ? 1.0f : fmaxf(FEM_CONTACT_KAPPA * lighter / strength, 1.0f);
}

// Strengthens the contacts `made`, of two pieces or of a piece and a collider, by what these carry, from the last
// step's contacts. What is tangled in itself must be able to come free: a body gets no stronger by load against itself,
// its pieces included (with pieces that did, a wall under a ball cost 17 % more time and fell into 10 % more of them).
static void strengthen_pieces(const FemContactBuilder *builder, FemRange made) {
	FemContactStage *stage = builder->stage;
	const FemContact *first = &stage->contacts[made.begin];
	bool is_own = fem_side_is_body(&first->side[1]) && first->side[0].body == first->side[1].body;
	FemRange last = fem_contacts_of_pieces(stage->last_contacts, stage->last_count, first);
	float load = 0.0f, strength = 0.0f, ratio = 1.0f;
	fem_bearing_begin(builder->world, &stage->contacts[made.begin], made.end - made.begin,
		last.end > last.begin ? &stage->last_contacts[last.begin] : NULL);
	for (int32_t i = last.begin; i < last.end; i++)
		load += stage->last_contacts[i].normal_impulse;
	if (last.end > last.begin)
		load += LOAD_KEEP * (stage->last_contacts[last.begin].pair_load - load);
	for (int32_t i = made.begin; i < made.end; i++)
		strength += stage->contacts[i].normal_strength; // of all: few press after a blow, and the sum must not jump
	if (strength > 0.0f && !is_own)
		ratio = load_ratio(builder, first, load, strength);
	else if (strength > 0.0f && first->side[0].piece != first->side[1].piece)
		ratio = corner_ratio(builder, first, strength);
	for (int32_t i = made.begin; i < made.end; i++) {
		stage->contacts[i].pair_load = load;
		stage->contacts[i].normal_strength *= ratio;
	}
}

void fem_contact_builder_strengthen(const FemContactBuilder *builder, FemRange made) {
	FemContact *contacts = builder->stage->contacts;
	for (int32_t begin = made.begin, end; begin < made.end; begin = end) {
		end = fem_contacts_end_of_pieces(contacts, begin, made.end);
		strengthen_pieces(builder, (FemRange){begin, end});
		fem_contact_builder_strengthen_bounces(builder->world, contacts, (FemRange){begin, end});
	}
}
