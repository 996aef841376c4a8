#include "world/step/joined_calm.h"

#include "dynamics/rigid_motion.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "world/world.h"

#include <math.h>

#define STILL_STEPS 2      // below the speed of sleep: bonds are solved for in as many; chosen
#define OVERLOAD_MOST 0.5f // of the strength: what bears more is looked at in every step; chosen
#define LOAD_CHANGE 0.1f   // of the load of all contacts: more stirs them; chosen, where half of the strength is left

// ---- which

static bool is_still(const FemBody *body, int32_t component) {
	FemRange parts = body->topology->component_parts[component];
	bool still = body->pieces[component].is_rigid;
	for (int32_t p = parts.begin; p < parts.end && still; p++)
		still = body->part_state[p] == FEM_ISLAND_LIVE && body->part_still[p] >= STILL_STEPS;
	return still;
}

// A hinge turns, and what is driven moves.
static bool may_be_one(const FemBody *body) {
	const FemJoined *joined = fem_joined_of(body);
	return joined && joined->overload < OVERLOAD_MOST && !joined->is_stirred && !(body->blow_speed > 0.0f) &&
		!body->has_forces && !body->kinematic && !body->modal;
}

// Pieces of a body as one: `moves_as_one` of the first of each assembly holds for all of it while this looks.
static void find_in_body(FemBody *body) {
	int32_t count = body->topology->component_count;
	bool may = may_be_one(body);
	for (int32_t c = 0; c < count; c++) {
		FemPiece *piece = &body->pieces[c];
		piece->moves_as_one = may && piece->is_joined;
		piece->is_held_as_one = false;
	}
	for (int32_t c = 0; c < count && may; c++) {
		FemPiece *first = &body->pieces[body->pieces[c].assembly];
		first->moves_as_one &= is_still(body, c);
		first->is_held_as_one |= fem_piece_is_attached(body, c);
	}
}

// What comes faster than a sleeper may strikes.
static void stir_by_contacts(FemStep *step) {
	const FemWorld *world = step->world;
	for (int32_t i = 0; i < world->contacts.contact_count && world->def.contacts_enabled; i++) {
		const FemContact *contact = &world->contacts.contacts[i];
		for (int s = 0; s < 2 && contact->approach > world->def.sleep_speed; s++) {
			FemBody *body = fem_side_is_body(&contact->side[s]) ? world->bodies[contact->side[s].body] : NULL;
			if (body && fem_joined_of(body))
				body->pieces[body->pieces[contact->side[s].piece].assembly].moves_as_one = false;
		}
	}
}

// What moves as one has one rigid motion. Pieces that kept what they did against each other when their bonds were last
// solved for would go on with it unheld: a wall of 5 m sank into itself by 7 mm a second. Momentum stays.
static void share_motion(FemBody *body, int32_t assembly) {
	int32_t count = body->topology->component_count;
	bool is_held = body->pieces[assembly].is_held_as_one;
	FemMotionSums sums = {.finite = true};
	double center[3] = {0.0, 0.0, 0.0}, angular[3], spin[3] = {0.0, 0.0, 0.0}, velocity[3] = {0.0, 0.0, 0.0};
	for (int32_t c = assembly; c < count && !is_held; c++) {
		if (body->pieces[c].assembly == assembly)
			fem_sums_add_nodes(&sums, body, body->topology->component_nodes[c]);
	}
	if (!is_held && sums.mass > 0.0) {
		fem_sums_center(&sums, center);
		fem_about_center(sums.angular, sums.momentum, center, angular);
		fem_sums_solve_inertia(&sums, center, angular, spin);
		for (int k = 0; k < 3; k++)
			velocity[k] = sums.momentum[k] / sums.mass;
	}
	for (int32_t c = assembly; c < count; c++) {
		FemRange nodes = body->topology->component_nodes[c];
		for (int32_t i = nodes.begin; i < nodes.end && body->pieces[c].assembly == assembly; i++) {
			const FemVec4 *x = &body->position[i];
			double r[3] = {(double)x->x - center[0], (double)x->y - center[1], (double)x->z - center[2]};
			body->velocity[i] = (FemVec4){(float)(velocity[0] + spin[1] * r[2] - spin[2] * r[1]),
				(float)(velocity[1] + spin[2] * r[0] - spin[0] * r[2]),
				(float)(velocity[2] + spin[0] * r[1] - spin[1] * r[0]), 0.0f};
		}
	}
}

void fem_joined_find_calm(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (fem_joined_of(body))
			find_in_body(body);
	}
	stir_by_contacts(step);
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		for (int32_t c = 0; fem_joined_of(body) && c < body->topology->component_count; c++) {
			FemPiece *piece = &body->pieces[c];
			const FemPiece *first = &body->pieces[piece->assembly];
			piece->moves_as_one = piece->is_joined && first->moves_as_one;
			piece->is_held_as_one = piece->moves_as_one && first->is_held_as_one;
		}
		for (int32_t c = 0; fem_joined_of(body) && c < body->topology->component_count; c++) {
			if (body->pieces[c].moves_as_one && body->pieces[c].assembly == c)
				share_motion(body, c);
		}
	}
}

// ---- loads

// N, that contacts and the ground bore in the step.
static void add_contact_loads(FemStep *step) {
	const FemWorld *world = step->world;
	for (int32_t i = 0; i < world->contacts.contact_count && world->def.contacts_enabled; i++) {
		const FemContact *contact = &world->contacts.contacts[i];
		for (int s = 0; s < 2; s++) {
			const FemBody *body = fem_side_is_body(&contact->side[s]) ? world->bodies[contact->side[s].body] : NULL;
			if (body && fem_joined_of(body))
				body->joined->load += contact->normal_impulse / step->dt;
		}
	}
}

void fem_joined_watch_calm(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; world->joined_count > 0 && i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (!fem_joined_of(body))
			continue;
		body->joined->load = 0.0f;
		for (int32_t k = 0; k < body->surface_node_count; k++)
			body->joined->load += body->ground_force[body->surface_nodes[k]];
	}
	if (world->joined_count > 0)
		add_contact_loads(step);
	for (int32_t i = 0; world->joined_count > 0 && i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		FemJoined *joined = fem_joined_of(body);
		bool is_solved = false;
		for (int32_t c = 0; joined && c < body->topology->component_count; c++)
			is_solved |= body->pieces[c].is_joined && !body->pieces[c].moves_as_one;
		if (!joined)
			continue;
		joined->is_stirred = !is_solved && fabsf(joined->load - joined->calm_load) > LOAD_CHANGE * joined->calm_load;
		if (is_solved)
			joined->calm_load = joined->load;
	}
}
