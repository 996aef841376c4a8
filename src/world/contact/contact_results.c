// What the contacts did: kept for the next step, told to colliders, sleepers and the caller.
#include "base/assert.h"
#include "base/vec.h"
#include "collision/ground.h"
#include "world/api/checks.h"
#include "world/contact/bearing.h"
#include "world/contact/contact_stage.h"
#include "world/contact/held_pieces.h"
#include "world/step/passes.h"
#include "world/world.h"

#include <math.h>

static void add_to_collider(FemStep *step, const FemContact *contact) {
	const FemContactSide *side = &contact->side[1];
	FemVec3 impulse = {contact->impulse[0], contact->impulse[1], contact->impulse[2]};
	if (fem_side_is_body(side) || fem_vec3_dot(impulse, impulse) == 0.0f)
		return;
	FemCollider *collider = &step->world->colliders[side->proxy];
	FemVec3 arm = {side->arm[0], side->arm[1], side->arm[2]};
	collider->result.impulse = fem_vec3_add(collider->result.impulse, impulse);
	collider->result.angular_impulse = fem_vec3_add(collider->result.angular_impulse, fem_vec3_cross(arm, impulse));
	collider->result.contact_count++;
}

static void set_result(FemCollider *collider, const FemProxy *proxy, const float dv[6]) {
	collider->result = (FemColliderResult){
		.linear_velocity = {proxy->velocity[0] + dv[0], proxy->velocity[1] + dv[1], proxy->velocity[2] + dv[2]},
		.angular_velocity = {proxy->spin[0] + dv[3], proxy->spin[1] + dv[4], proxy->spin[2] + dv[5]},
	};
}

// Starts the results of dynamic colliders with free fall; only those whose solve gave finite values get more.
static void begin_results(FemStep *step) {
	for (int32_t c = 0; c < step->proxy_count; c++) {
		const FemProxy *proxy = &step->proxies[c];
		float dv[6] = {0};
		for (int i = 0; i < 3 && proxy->mass > 0.0f; i++)
			dv[i] = proxy->impulse[i] / proxy->mass;
		if (step->world->colliders[c].in_use)
			set_result(&step->world->colliders[c], proxy, dv);
	}
	for (int32_t c = 0; c < step->composites.count; c++) {
		FemRange proxies = step->composites.composites[c].proxies;
		bool bad = fem_composite_went_bad(step, c);
		for (int32_t i = proxies.begin; i < proxies.end && !bad; i++) {
			int32_t index = step->composites.proxy_list[i];
			set_result(&step->world->colliders[index], &step->proxies[index], step->proxies[index].dv);
		}
	}
}

// The exact contact impulse of a collider with mass, N s: its change of momentum less gravity and the caller's forces.
static void set_exact_impulse(FemCollider *collider, const FemProxy *p) {
	FemColliderResult *result = &collider->result;
	if (!collider->in_use || !(p->mass > 0.0f) || result->contact_count == 0)
		return;
	const float *i = p->inertia, *w = p->dv + 3;
	result->impulse = (FemVec3){
		p->mass * p->dv[0] - p->impulse[0], p->mass * p->dv[1] - p->impulse[1], p->mass * p->dv[2] - p->impulse[2]};
	result->angular_impulse = (FemVec3){
		i[0] * w[0] + i[3] * w[1] + i[5] * w[2] - p->impulse[3],
		i[3] * w[0] + i[1] * w[1] + i[4] * w[2] - p->impulse[4],
		i[5] * w[0] + i[4] * w[1] + i[2] * w[2] - p->impulse[5],
	};
}

// The weight of pieces that were stopped at it, for the time that they stood there.
static void add_held(FemCollider *collider) {
	FemColliderResult *result = &collider->result;
	result->impulse = fem_vec3_add(result->impulse, collider->held_impulse);
	result->angular_impulse = fem_vec3_add(result->angular_impulse, collider->held_angular_impulse);
}

static void add_earlier(FemCollider *collider) {
	FemColliderResult *result = &collider->result, *earlier = &collider->earlier;
	result->impulse = fem_vec3_add(result->impulse, earlier->impulse);
	result->angular_impulse = fem_vec3_add(result->angular_impulse, earlier->angular_impulse);
	result->translation = fem_vec3_add(result->translation, earlier->translation);
	result->rotation_vector = fem_vec3_add(result->rotation_vector, earlier->rotation_vector);
}

static void set_displacement(FemColliderResult *result, float dt) {
	result->translation = fem_vec3_scale(result->linear_velocity, dt);
	result->rotation_vector = fem_vec3_scale(result->angular_velocity, dt);
}

// Whether a collider moves at the contact point: the velocity of that point counts, which for a rotating ball is that
// of its rim.
static bool touches_moving(const FemStep *step, const FemContact *contact) {
	const FemContactSide *side = &contact->side[1];
	if (fem_side_is_body(side))
		return false;
	const FemColliderResult *result = &step->world->colliders[side->proxy].result;
	FemVec3 arm = {side->arm[0], side->arm[1], side->arm[2]};
	FemVec3 speed = fem_vec3_add(result->linear_velocity, fem_vec3_cross(result->angular_velocity, arm));
	return fem_vec3_length(speed) > step->world->def.sleep_speed;
}

// Copies contacts and proxies of a composite back to the lists of the stage. Values of a solve that was not finite are
// dropped.
void fem_contacts_keep_solved(FemStep *step, int32_t composite_index) {
	FemContactStage *stage = &step->world->contacts;
	FemComposite *composite = &step->composites.composites[composite_index];
	bool bad = fem_composite_went_bad(step, composite_index);
	for (int32_t i = composite->contacts.begin; i < composite->contacts.end; i++) {
		const FemContact *solved = &step->composites.contacts[i];
		FemContact *kept = &stage->contacts[step->composites.contact_places[i]];
		FEM_ASSERT(fem_contact_compare_places(kept, solved) == 0); // a split of others moved nothing
		composite->restless |= touches_moving(step, solved);
		*kept = *solved;
		if (bad || !fem_is_finite(kept->normal_impulse) || !fem_is_finite(kept->slip) ||
			!fem_is_finite(kept->friction_strength)) {
			kept->normal_impulse = kept->slip = kept->friction_strength = 0.0f;
			kept->impulse[0] = kept->impulse[1] = kept->impulse[2] = 0.0f;
			kept->active = false;
		}
	}
}

// What the ground bears of every piece, for its strength in the next step.
static void measure_ground_loads(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++)
		fem_ground_begin_load(world->bodies[world->islands.active_bodies[i]]);
	for (int32_t c = 0; c < world->islands.node_chunk_count; c++) {
		const FemNodeChunk *chunk = &step->composites.chunks[c];
		if (step->ground_candidates[c] > 0 && !world->bodies[chunk->body]->went_bad)
			fem_ground_add_load(world->bodies[chunk->body], chunk->begin, chunk->end, step->dt);
	}
	for (int32_t i = 0; i < world->islands.active_count; i++)
		fem_ground_end_load(world->bodies[world->islands.active_bodies[i]], step->dt);
}

void fem_contact_stage_finish(FemStep *step) {
	FemWorld *world = step->world;
	FemContactStage *stage = &world->contacts;
	measure_ground_loads(step);
	if (!world->def.contacts_enabled)
		return;
	begin_results(step);
	fem_contacts_find_ground_hits(step);
	for (int32_t c = 0; c < step->composites.count; c++)
		fem_contacts_keep_solved(step, c);
	for (int32_t i = 0; i < stage->contact_count; i++)
		add_to_collider(step, &stage->contacts[i]);
	fem_bearing_measure(step);
	for (int32_t c = 0; c < step->proxy_count; c++) {
		set_exact_impulse(&world->colliders[c], &step->proxies[c]);
		add_held(&world->colliders[c]);
		set_displacement(&world->colliders[c].result, step->dt);
		if (world->step_substeps > 1)
			add_earlier(&world->colliders[c]);
	}
	if (world->substep + 1 < world->step_substeps)
		fem_contacts_keep_strikes(world);
	fem_contacts_wake_loaded(step->world, step->dt);
}

// Returns how many are left, in their order.
static int32_t drop_those_of(FemContact *contacts, int32_t count, int32_t body_index, int32_t collider_index) {
	int32_t kept = 0;
	for (int32_t i = 0; i < count; i++) {
		const FemContactSide *a = &contacts[i].side[0], *b = &contacts[i].side[1];
		bool gone = fem_side_is_collider(b) ? b->collider == collider_index : b->body == body_index;
		if (gone || a->body == body_index)
			continue;
		if (kept != i)
			contacts[kept] = contacts[i];
		kept++;
	}
	return kept;
}

// Drops kept contacts of a body or collider that is destroyed, so that the next one in its slot does not inherit them:
// those of the step before, too, which are renumbered when that one is cut.
void fem_contacts_forget(FemWorld *world, int32_t body_index, int32_t collider_index) {
	FemContactStage *stage = &world->contacts;
	stage->contact_count = drop_those_of(stage->contacts, stage->contact_count, body_index, collider_index);
	stage->last_count = drop_those_of(stage->last_contacts, stage->last_count, body_index, collider_index);
	if (collider_index >= 0)
		fem_held_pieces_forget(world, collider_index);
}
