// Heavy bodies do not sink into light ones: the strength of a pair grows with what it carries.
#include "world/contact/contact_stage.h"

#include <math.h>

#define LOAD_DEPTH 2e-4f // m: a pair under load is made strong enough to rest so far below the slop ...
// But at most this times its own strength: 100:1 then rests at 1.2 mm (contact_rest.heavy_on_light).
#define LOAD_MAX 30.0f
#define LOAD_KEEP 0.9f // share of the smoothed load that a step keeps: 0.15 s at 60 Hz; chosen, a blow is no load

// docs/method.md, "Strength": phi_load = L dt / (beta d_t sum A), L in N: at rest L = phi A beta (d - slop) / dt gives
// d - slop = d_t. pair_load is L dt, the strengths are phi A dt.
void fem_contacts_strengthen(FemContactStage *stage, const FemTouch *touch, FemRange made, float push, float dt) {
	bool is_self =
		!touch->is_collider && touch->body == touch->other; // what is tangled in itself must be able to come free
	if (made.end == made.begin)
		return;
	FemRange pair =
		fem_contacts_of_pair(stage->last_contacts, stage->last_count, touch->body, touch->other, touch->is_collider);
	float load = 0.0f, strength = 0.0f, ratio = 1.0f;
	for (int32_t i = pair.begin; i < pair.end; i++)
		load += stage->last_contacts[i].normal_impulse;
	if (pair.end > pair.begin)
		load += LOAD_KEEP * (stage->last_contacts[pair.begin].pair_load - load);
	for (int32_t i = made.begin; i < made.end; i++)
		strength += stage->contacts[i].normal_strength; // of all: few press after a blow, and the sum must not jump
	if (push > 0.0f && strength > 0.0f && !is_self)
		ratio = fminf(fmaxf(load * dt / (push * LOAD_DEPTH * strength), 1.0f), LOAD_MAX);
	for (int32_t i = made.begin; i < made.end; i++) {
		stage->contacts[i].pair_load = load;
		stage->contacts[i].normal_strength *= ratio;
	}
}
