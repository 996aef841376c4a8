// What touched in a step, told to the caller: one event a pair, with the speed at which it closed in.
#include "base/vec.h"
#include "model/joint.h"
#include "world/api/registry.h"
#include "world/contact/contact_stage.h"
#include "world/step/step.h"
#include "world/world.h"

#include <math.h>

#define STRIKE_SPEED 0.1f // m/s: pairs that close in faster within a step are told though they rest at its end; chosen

// ---- ground

// Gathers impulse and impact speed of the nodes with a ground force. The velocity of a node before the step is its
// velocity less dv of the solve.
static void hit_ground(FemBody *body, const FemNodeChunk *chunk, float dt) {
	const FemTopology *t = body->topology;
	FemGroundHit *hit = &body->ground_hit;
	for (int32_t i = chunk->begin; i < chunk->end; i++) {
		if (!(body->ground_force[i] > 0.0f))
			continue;
		if (body->ground_force[i] > hit->force) {
			hit->force = body->ground_force[i];
			hit->point = body->position[i];
			hit->material = body->tet_material[t->node_tets[t->node_tet_start[i]] >> 2];
		}
		hit->impulse += dt * body->ground_force[i];
		hit->speed = fmaxf(hit->speed, body->step->dv[i].y - body->velocity[i].y);
	}
}

void fem_contacts_find_ground_hits(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++)
		world->bodies[world->islands.active_bodies[i]]->ground_hit = (FemGroundHit){0};
	for (int32_t c = 0; c < world->islands.node_chunk_count; c++) {
		const FemNodeChunk *chunk = &step->composites.chunks[c];
		if (step->ground_candidates[c] > 0 && !world->bodies[chunk->body]->went_bad)
			hit_ground(world->bodies[chunk->body], chunk, step->dt);
	}
}

// ---- pairs

// Flat colliders are met by nodes: one of the tets around the node then stands for them.
static int32_t touched_tet(const FemWorld *world, const FemContact *contact) {
	const FemContactSide *side = &contact->side[0];
	const FemTopology *t = world->bodies[side->body]->topology;
	return side->kind == FEM_SIDE_NODE ? t->node_tets[t->node_tet_start[side->node]] >> 2 : side->tet;
}

// Impulse along the normal, N s. Negative where the last solve still held an active contact that pulled, because the
// active set had not settled. A joint strikes nothing.
static float normal_impulse(const FemContact *contact) {
	const float *j = contact->impulse, *n = contact->normal;
	if (fem_contact_is_joint(contact))
		return 0.0f;
	return j[0] * n[0] + j[1] * n[1] + j[2] * n[2];
}

static FemContactEvent event_at(const FemWorld *world, const FemContact *contact, float impulse, float speed) {
	const FemBody *body = world->bodies[contact->side[0].body];
	bool collider = fem_side_is_collider(&contact->side[1]);
	FemContactEvent event = {
		.body = fem_body_id(world, contact->side[0].body),
		.other = collider ? (FemBodyId){0} : fem_body_id(world, contact->side[1].body),
		.collider = collider ? fem_collider_id(world, contact->side[1].collider) : (FemColliderId){0},
		.point = body->origin,
		.normal = {contact->normal[0], contact->normal[1], contact->normal[2]},
		.impulse = impulse,
		.speed = speed,
		.material = fem_material_id(world, body->tet_material[touched_tet(world, contact)]),
	};
	for (int k = 0; k < 4; k++) {
		FemVec3d x = fem_vec3d_from4(body->position[contact->side[0].nodes[k]]);
		event.point = fem_position_move(event.point, fem_vec3d_scale(x, (double)contact->side[0].weights[k]));
	}
	return event;
}

static FemContactEvent ground_event(const FemWorld *world, int32_t body_index) {
	const FemBody *body = world->bodies[body_index];
	const FemGroundHit *hit = &body->ground_hit;
	return (FemContactEvent){
		.body = fem_body_id(world, body_index),
		.point = fem_position_move(body->origin, fem_vec3d_from4(hit->point)),
		.normal = {0.0f, -1.0f, 0.0f},
		.impulse = hit->impulse,
		.speed = hit->speed,
		.material = fem_material_id(world, hit->material),
	};
}

// One event a pair of bodies, or of a body and a collider, at its hardest contact; its impulse is 0 when the pair's
// contacts give none. Contacts come pair by pair; returns where the next pair begins.
static int32_t pair_event(const FemWorld *world, int32_t begin, FemContactEvent *out) {
	const FemContactStage *stage = &world->contacts;
	const FemContact *hardest = &stage->contacts[begin];
	float sum = 0.0f, speed = 0.0f;
	int32_t end = begin;
	for (; end < stage->contact_count && fem_contact_same_pair(hardest, &stage->contacts[end]); end++) {
		float impulse = normal_impulse(&stage->contacts[end]);
		sum += impulse;
		speed = impulse > 0.0f ? fmaxf(speed, stage->contacts[end].approach) : speed;
		if (impulse > normal_impulse(hardest))
			hardest = &stage->contacts[end];
	}
	*out = event_at(world, hardest, fmaxf(sum, 0.0f), speed);
	return end;
}

// ---- strikes

static bool is_same_pair(const FemContactEvent *a, const FemContactEvent *b) {
	return a->body.index1 == b->body.index1 && a->other.index1 == b->other.index1 &&
		a->collider.index1 == b->collider.index1;
}

// Merges two events of one pair within a step: speed and point of the faster one, impulses summed.
static void merge(FemContactEvent *event, const FemContactEvent *other) {
	float impulse = event->impulse + other->impulse;
	if (other->speed > event->speed)
		*event = *other;
	event->impulse = impulse;
}

static void keep_strike(FemContactStage *stage, const FemContactEvent *event) {
	if (!(event->impulse > 0.0f) || event->speed < STRIKE_SPEED)
		return;
	for (int32_t i = 0; i < stage->strike_count; i++) {
		if (is_same_pair(&stage->strikes[i], event)) {
			merge(&stage->strikes[i], event);
			return;
		}
	}
	if (stage->strike_count < FEM_STRIKE_MAX)
		stage->strikes[stage->strike_count++] = *event;
}

// Keeps the impacts of a substep for the events of the step: what strikes in one substep may have left, or rest, in the
// last.
void fem_contacts_keep_strikes(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	FemContactEvent event;
	for (int32_t i = 0; i < stage->contact_count;) {
		i = pair_event(world, i, &event);
		keep_strike(stage, &event);
	}
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		event = ground_event(world, world->islands.active_bodies[i]);
		keep_strike(stage, &event);
	}
}

// ---- publish

static void add_event(FemWorld *world, const FemContactEvent *event) {
	FemContactStage *stage = &world->contacts;
	if (!(event->impulse > 0.0f))
		return;
	if (FEM_LIST_HOLD(stage->events, stage->event_capacity, stage->event_count + 1, world->def.contact_capacity))
		stage->events[stage->event_count++] = *event;
}

static void add_strike(FemWorld *world, const FemContactEvent *strike) {
	FemContactStage *stage = &world->contacts;
	for (int32_t i = 0; i < stage->event_count; i++) {
		if (is_same_pair(&stage->events[i], strike)) {
			merge(&stage->events[i], strike);
			return;
		}
	}
	add_event(world, strike);
}

// Made on the caller's thread, like all events, so that those of the last step can be read while this one runs.
void fem_contact_stage_publish(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	FemContactEvent event;
	stage->event_count = 0;
	for (int32_t i = 0; i < stage->contact_count;) {
		i = pair_event(world, i, &event);
		add_event(world, &event);
	}
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		int32_t index = world->islands.active_bodies[i];
		if (!world->bodies[index])
			continue;
		event = ground_event(world, index);
		add_event(world, &event);
	}
	for (int32_t i = 0; i < stage->strike_count; i++)
		add_strike(world, &stage->strikes[i]);
	stage->strike_count = 0;
}

int32_t fem_world_get_contact_events(FemWorldId id, const FemContactEvent **out_events) {
	FemWorld *world = fem_world_find(id);
	if (out_events)
		*out_events = world && world->contacts.event_count ? world->contacts.events : NULL;
	return world ? world->contacts.event_count : 0;
}
