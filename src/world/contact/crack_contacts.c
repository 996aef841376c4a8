// The two sides of a crack, when a piece comes apart.
//
// A crack that has not yet run through does not keep its sides apart: a piece does not touch itself unless it folds.
// Its sides may have sunk into each other by then, and what becomes two pieces would be pushed apart with energy that
// nobody put in (6 % of that of a stretched bar in one step, which breaks it further). The depth at which two tets of
// such pieces meet first is therefore their reference: only what goes deeper is pushed out. It shrinks with the depth
// and is gone when they have been apart.
//
// Where faces of a closed crack slide off each other the overlap of their tets takes over (closed_cracks.c). It is
// measured in another way, so that its reference is set to what makes both as deep.
#include "base/vec.h"
#include "collision/key_sort.h"
#include "model/body.h"
#include "model/contact.h"
#include "model/piece.h"
#include "topology/splitting.h"
#include "topology/topology.h"
#include "world/contact/contact_builder.h"

#include <math.h>

static uint64_t pair_key(const FemBody *body, const FemContact *contact) {
	uint32_t a = (uint32_t)fem_tet_component(body->topology, contact->side[0].tet);
	uint32_t b = (uint32_t)fem_tet_component(body->topology, contact->side[1].tet);
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

// Of one piece when contacts were last looked for.
static bool were_one(const FemContactBuilder *builder, const FemBody *body, uint64_t key) {
	const FemPiece *a = &body->pieces[key >> 32], *b = &body->pieces[(uint32_t)key];
	bool a_is_new = a->parent != 0 && a->born >= builder->stage->last_time;
	bool b_is_new = b->parent != 0 && b->born >= builder->stage->last_time;
	if (a_is_new && b_is_new && a->parent == b->parent)
		return true;
	return (a_is_new && a->parent == b->number) || (b_is_new && b->parent == a->number);
}

void fem_contact_builder_list_cracks(FemContactBuilder *builder) {
	FemContactStage *stage = builder->stage;
	const FemTouch *touch = builder->touch;
	const FemBody *body = builder->world->bodies[touch->body];
	stage->crack_count = 0;
	if (touch->is_collider || touch->body != touch->other || !body->breaking)
		return;
	FemRange own = fem_contacts_of_pair(stage->last_contacts, stage->last_count, touch->body, touch->body, false);
	for (int32_t i = own.begin; i < own.end; i++) {
		const FemContact *last = &stage->last_contacts[i];
		if (!(last->reference > 0.0f))
			continue;
		// Half of the list is the scratch of the sort.
		if (!FEM_LIST_HOLD(stage->cracks, stage->crack_capacity, 2 * ((int64_t)stage->crack_count + 1), INT32_MAX))
			break;
		stage->cracks[stage->crack_count++].key = pair_key(body, last);
	}
	fem_key_sort(stage->cracks, stage->cracks + stage->crack_count, stage->crack_count);
}

// m, how fast its sides close in, by the velocities of now, in a step.
static float closing(const FemContactBuilder *builder, const FemContact *contact) {
	FemContactRows rows = {.bodies = builder->world->bodies, .proxies = builder->stage->proxies};
	float u[3];
	fem_contact_velocity(&rows, contact, u);
	float along = contact->normal[0] * u[0] + contact->normal[1] * u[1] + contact->normal[2] * u[2];
	return fmaxf(along, 0.0f) * builder->step->dt;
}

// From a contact of the same tets of the other kind, closed crack or overlap: both are as deep beyond their references.
static float handed_over(const FemContactBuilder *builder, const FemContact *contact, const FemContact *last) {
	float beyond = last->depth - last->reference + closing(builder, contact);
	return fminf(fmaxf(contact->depth - beyond, 0.0f), fmaxf(contact->depth, 0.0f));
}

float fem_contact_builder_reference(const FemContactBuilder *builder, const FemContact *contact, float slop) {
	const FemContactSide *side = contact->side;
	const FemBody *body = builder->world->bodies[side[0].body];
	if (side[1].body != side[0].body || !body->breaking)
		return 0.0f;
	const FemContact *last = fem_contact_builder_last(builder, contact);
	uint64_t key = pair_key(body, contact);
	float reference = 0.0f;
	if (last && last->key != contact->key)
		return handed_over(builder, contact, last);
	if (last)
		return fminf(last->reference, fmaxf(contact->depth, 0.0f));
	if (were_one(builder, body, key))
		reference = contact->depth;
	else if (fem_key_is_among(
				 builder->stage->cracks, builder->stage->crack_count, key)) // they slid on while sunk into each other
		reference = contact->depth - closing(builder, contact);
	return reference > slop ? reference : 0.0f;
}
