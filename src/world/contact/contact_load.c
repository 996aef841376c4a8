// Heavy bodies do not sink into light ones: the strength of a pair grows with what it carries.
#include "world/contact/contact_stage.h"

#include <math.h>

#define LOAD_DEPTH 2e-4f // m: a pair under load is made strong enough to rest so far below the slop ...
// But at most this times its own strength: 100:1 then rests at 1.2 mm (contact_rest.heavy_on_light).
#define LOAD_MAX 30.0f
#define LOAD_KEEP 0.9f // share of the smoothed load that a step keeps: 0.15 s at 60 Hz; chosen, a blow is no load

// The last step's contacts of a touch's pair: they stand together.
static FemRange last_of_pair(const FemContactStage *stage, const FemTouch *touch) {
	FemContact first = {.side[0] = {.body = touch->body, .tet = -1}, .side[1] = {.body = touch->other, .tet = -1}};
	if (touch->is_collider)
		first.side[1] = (FemContactSide){.body = -1, .tet = touch->other};
	int32_t low = 0, high = stage->last_count;
	while (low < high) {
		int32_t middle = (low + high) / 2;
		if (fem_contact_compare_places(&stage->last_contacts[middle], &first) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < stage->last_count; high++) {
		const FemContactSide *side = stage->last_contacts[high].side;
		bool same = touch->is_collider ? side[1].body < 0 && side[1].tet == touch->other : side[1].body == touch->other;
		if (side[0].body != touch->body || !same)
			break;
	}
	return (FemRange){low, high};
}

// docs/method.md, "Strength": phi_load = L dt / (beta d_t sum A), L in N: at rest L = phi A beta (d - slop) / dt gives
// d - slop = d_t. pair_load is L dt, the strengths are phi A dt.
void fem_contacts_strengthen(FemContactStage *stage, const FemTouch *touch, FemRange made, float push, float dt) {
	bool is_self =
		!touch->is_collider && touch->body == touch->other; // what is tangled in itself must be able to come free
	if (made.end == made.begin)
		return;
	FemRange pair = last_of_pair(stage, touch);
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
