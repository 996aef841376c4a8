#include "world/step/blow_waits.h"

#include "fracture/separation.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "world/step/passes.h"
#include "world/world.h"

#include <string.h>

#define WAITS_MAX 12 // steps: longer than 0.2 s of 60 Hz one would see it stand still. Chosen
// Of a contact's strength, that is left of it: none that is felt, and none divides by it.
#define STRENGTH_LEFT 1e-9f

// Whether all that it touches stands still.
static bool is_alone(const FemStep *step, int32_t body) {
	const FemWorld *world = step->world;
	for (int32_t c = 0; c < step->composites.count; c++) {
		const FemComposite *composite = &step->composites.composites[c];
		bool is_of_body = false, has_others = composite->restless || composite->proxies.begin < composite->proxies.end;
		for (int32_t i = composite->islands.begin; i < composite->islands.end; i++) {
			bool is_its_own = world->islands.islands[step->composites.island_list[i]].body == body;
			is_of_body |= is_its_own;
			has_others |= !is_its_own;
		}
		if (is_of_body && has_others)
			return false;
	}
	return true;
}

static void let_go(FemContact *contacts, int32_t count, int32_t body) {
	for (int32_t i = 0; i < count; i++) {
		bool is_of_body = (fem_side_is_body(&contacts[i].side[0]) && contacts[i].side[0].body == body) ||
			(fem_side_is_body(&contacts[i].side[1]) && contacts[i].side[1].body == body);
		if (!is_of_body)
			continue;
		contacts[i].normal_strength *= STRENGTH_LEFT;
		contacts[i].friction = 0.0f;
		contacts[i].bounces = false;
	}
}

bool fem_blow_wait(FemStep *step, int32_t body_index) {
	const FemWorld *world = step->world;
	FemBody *body = world->bodies[body_index];
	if (step->pass > 0 || !fem_body_is_whole(world, body) || body->live_part_count < body->topology->part_count ||
		body->breaking->blow_waits >= WAITS_MAX || fem_body_goes_back_whole(body) || !is_alone(step, body_index))
		return false;
	body->step->waits = true;
	body->step->blows = NULL;
	let_go(step->contacts, step->contact_count, body_index);
	for (int32_t c = 0; c < step->composites.count; c++) {
		FemRange range = step->composites.composites[c].contacts;
		let_go(step->composites.contacts + range.begin, range.end - range.begin, body_index);
	}
	fem_blow_waits_leave_ground(body, 0, body->topology->node_count);
	return true;
}

void fem_blow_waits_leave_ground(FemBody *body, int32_t begin, int32_t end) {
	if (body->step->waits)
		memset(body->step->ground + begin, 0, sizeof *body->step->ground * (size_t)(end - begin));
}

void fem_blow_waits_return(FemStep *step) {
	const FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (!body->step || !body->step->waits)
			continue;
		for (int32_t c = 0; c < body->topology->component_count; c++)
			fem_body_send_back(body, c);
		fem_body_return_to_start(body);
		fem_body_forget_passes(body);
	}
}
