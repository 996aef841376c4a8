// The two sides of a crack, when a piece comes apart.
//
// Faces that were one lie on each other. Tets of such a crack that have only an edge or a corner in common touch, too,
// four times as many as those with a common face, and bear a tenth of the area: while the crack has hardly opened they
// are left out (the wall of the benchmark: 274 contacts in the mean instead of 726).
//
// A crack that has not yet run through does not keep its sides apart: a piece does not touch itself unless it folds.
// Its sides may have sunk into each other by then, and what becomes two pieces would be pushed apart with energy that
// nobody put in (6 % of that of a stretched bar in one step, which breaks it further). The depth at which two tets of
// such pieces meet first is therefore their reference: only what goes deeper is pushed out. It shrinks with the depth
// and is gone when they have been apart.
#include "base/vec.h"
#include "collision/key_sort.h"
#include "model/body.h"
#include "model/contact.h"
#include "model/piece.h"
#include "topology/splitting.h"
#include "topology/topology.h"
#include "world/contact/contact_builder.h"

#include <math.h>

// Of a tet's edge: two copies of a node that are nearer stand in a crack that has hardly opened; chosen.
#define GRAZING_SHARE 0.25f

// The corners of a tet: nodes, and those of the mesh that they are, or are copies of.
typedef struct Corners {
	int32_t nodes[4], sources[4];
} Corners;

static Corners corners_of(const FemTopology *t, int32_t tet) {
	Corners corners;
	for (int v = 0; v < 4; v++) {
		corners.nodes[v] = fem_tet_node(t, tet, v);
		corners.sources[v] = t->split->source_of_user[t->user_of_node[corners.nodes[v]]];
	}
	return corners;
}

bool fem_contact_only_grazes(const FemBody *body, int32_t tet, int32_t other) {
	if (!body->topology->split)
		return false;
	Corners a = corners_of(body->topology, tet), b = corners_of(body->topology, other);
	float apart_sq = 0.0f;
	int32_t shared = 0;
	for (int k = 0; k < 16; k++) {
		if (a.sources[k / 4] != b.sources[k % 4])
			continue;
		FemVec3 offset =
			fem_vec3_sub(fem_vec3_from(body->position[a.nodes[k / 4]]), fem_vec3_from(body->position[b.nodes[k % 4]]));
		apart_sq = fmaxf(apart_sq, fem_vec3_dot(offset, offset));
		shared++;
	}
	if (shared != 1 && shared != 2)
		return false;
	float limit = GRAZING_SHARE * fem_contact_builder_tet_edge(body, tet);
	return apart_sq < limit * limit;
}

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
	fem_contact_velocity(&rows, contact, false, u);
	float along = contact->normal[0] * u[0] + contact->normal[1] * u[1] + contact->normal[2] * u[2];
	return fmaxf(along, 0.0f) * builder->step->dt;
}

float fem_contact_builder_reference(const FemContactBuilder *builder, const FemContact *contact, float slop) {
	const FemContactSide *side = contact->side;
	const FemBody *body = builder->world->bodies[side[0].body];
	if (side[1].body != side[0].body || !body->breaking)
		return 0.0f;
	const FemContact *last = fem_contact_find_place(builder->stage->last_contacts, builder->stage->last_count, contact);
	uint64_t key = pair_key(body, contact);
	float reference = 0.0f;
	if (last)
		reference = fminf(last->reference, contact->depth);
	else if (were_one(builder, body, key))
		reference = contact->depth;
	else if (fem_key_is_among(
				 builder->stage->cracks, builder->stage->crack_count, key)) // they slid on while sunk into each other
		reference = contact->depth - closing(builder, contact);
	return reference > slop ? reference : 0.0f;
}
