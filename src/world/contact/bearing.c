#include "world/contact/bearing.h"

#include "base/list.h"
#include "dynamics/contact_rows.h"
#include "model/body.h"
#include "model/piece.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

// Share of both that is passed on: what goes round in a circle of pieces is forgotten within a second or two; chosen.
#define PASSED_ON 0.95f
#define PROP_LEAST 0.05f // of a prop: 58 layers above the ground; chosen

static FemPiece *piece_of(const FemWorld *world, const FemContactSide *side) {
	return fem_side_is_body(side) ? &world->bodies[side->body]->pieces[side->piece] : NULL;
}

static bool is_firm(const FemWorld *world, const FemContactSide *side) {
	return side->is_fixed || (fem_side_is_body(side) && world->bodies[side->body]->kinematic);
}

// kg; infinite of colliders without mass, whose strength is not that of their mass.
static float mass_of(const FemWorld *world, const FemContactSide *side) {
	if (fem_side_is_body(side))
		return piece_of(world, side)->mass;
	return side->is_fixed ? INFINITY : world->contacts.proxies[side->proxy].mass;
}

void fem_bearing_begin(const FemWorld *world, FemContact *contacts, int32_t count, const FemContact *last) {
	for (int k = 0; k < 2; k++) {
		const FemContactSide *side = &contacts[0].side[k];
		bool firm = is_firm(world, side);
		float bears = last ? last->bears[k] : firm ? 0.0f : mass_of(world, side), props = last ? last->props[k] : firm;
		for (int32_t i = 0; i < count; i++) {
			contacts[i].bears[k] = bears;
			contacts[i].props[k] = props;
		}
	}
}

float fem_bearing_ratio_max(const FemWorld *world, const FemContact *contact) {
	const float *bears = contact->bears;
	float lighter = fminf(mass_of(world, &contact->side[0]), mass_of(world, &contact->side[1])), loading;
	if (contact->props[0] > PROP_LEAST && contact->props[1] > PROP_LEAST)
		loading = fmaxf(bears[0], bears[1]);
	else if (contact->props[0] > PROP_LEAST)
		loading = bears[1];
	else
		loading = contact->props[1] > PROP_LEAST ? bears[0] : fminf(bears[0], bears[1]);
	return fem_load_ratio_max(loading, lighter);
}

// ---- passing on

// Puts a value among the two largest.
static void add_to(float values[2], int32_t contacts[2], float value, int32_t contact) {
	int at = value > values[0] ? 0 : 1;
	if (!(value > values[at]))
		return;
	values[1] = at == 0 ? values[0] : value;
	contacts[1] = at == 0 ? contacts[0] : contact;
	values[0] = at == 0 ? value : values[0];
	contacts[0] = at == 0 ? contact : contacts[0];
}

static float largest_but(const float values[2], const int32_t contacts[2], int32_t contact) {
	return contacts[0] == contact ? values[1] : values[0];
}

// Of a piece that moves; null: of what does not, or has no place in the sweep.
static FemBearing *bearing_of(const FemWorld *world, const FemContactSide *side) {
	if (is_firm(world, side) || !fem_side_is_body(side) || side->piece >= world->bodies[side->body]->sweep_proxy_count)
		return NULL;
	return &world->contacts.bearing[piece_of(world, side)->sweep_proxy];
}

static void add_ground(const FemWorld *world, const FemBody *body) {
	for (int32_t c = 0; c < body->sweep_proxy_count; c++) {
		const FemPiece *piece = &body->pieces[c];
		if (piece->ground_ratio > 0.0f && piece->ground_load > 0.0f)
			add_to(world->contacts.bearing[piece->sweep_proxy].props,
				world->contacts.bearing[piece->sweep_proxy].prop_contacts, PASSED_ON, -1);
	}
}

// Contacts that hold a load now, or did lately: what flickers keeps its strength.
static void add_contacts(const FemWorld *world, FemRange range) {
	const FemContact *contacts = world->contacts.contacts, *first = &contacts[range.begin];
	float load = first->pair_load;
	for (int32_t i = range.begin; i < range.end; i++)
		load += contacts[i].normal_impulse;
	for (int k = 0; k < 2 && load > 0.0f; k++) {
		FemBearing *bearing = bearing_of(world, &first->side[k]);
		if (!bearing)
			continue;
		add_to(bearing->masses, bearing->mass_contacts, PASSED_ON * first->bears[1 - k], range.begin);
		add_to(bearing->props, bearing->prop_contacts, PASSED_ON * first->props[1 - k], range.begin);
	}
}

static void pass_on(const FemWorld *world, FemContact *contacts, FemRange range) {
	for (int k = 0; k < 2; k++) {
		const FemBearing *bearing = bearing_of(world, &contacts[range.begin].side[k]);
		if (!bearing)
			continue;
		float mass = mass_of(world, &contacts[range.begin].side[k]);
		for (int32_t i = range.begin; i < range.end; i++) {
			contacts[i].bears[k] = fmaxf(mass, largest_but(bearing->masses, bearing->mass_contacts, range.begin));
			contacts[i].props[k] = largest_but(bearing->props, bearing->prop_contacts, range.begin);
		}
	}
}

void fem_bearing_measure(FemStep *step) {
	FemWorld *world = step->world;
	FemContactStage *stage = &world->contacts;
	int32_t proxies = world->sweep.proxy_end;
	if (!FEM_LIST_HOLD(stage->bearing, stage->bearing_capacity, proxies, INT32_MAX))
		return; // without memory what is known stays
	memset(stage->bearing, 0, sizeof *stage->bearing * (size_t)proxies);
	for (int32_t i = 0; i < world->islands.active_count; i++)
		add_ground(world, world->bodies[world->islands.active_bodies[i]]);
	for (int32_t begin = 0, end; begin < stage->contact_count; begin = end) {
		end = fem_contacts_end_of_pieces(stage->contacts, begin, stage->contact_count);
		add_contacts(world, (FemRange){begin, end});
	}
	for (int32_t begin = 0, end; begin < stage->contact_count; begin = end) {
		end = fem_contacts_end_of_pieces(stage->contacts, begin, stage->contact_count);
		pass_on(world, stage->contacts, (FemRange){begin, end});
	}
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		for (int32_t c = 0; c < body->sweep_proxy_count; c++) {
			FemPiece *piece = &body->pieces[c];
			piece->bears = fmaxf(piece->mass, stage->bearing[piece->sweep_proxy].masses[0]);
		}
	}
}
