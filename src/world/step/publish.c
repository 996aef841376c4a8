// What the game sees after a step: positions in its own numbering, boxes, events.
#include "world/world.h"

#include "collision/lanes4.h"
#include "world/api/registry.h"
#include "world/step/publish.h"

#include <string.h>

// Nodes of removed pieces keep their place in the world when the origin moves.
static void shift_removed(FemBody *body) {
	const FemTopology *t = body->topology;
	FemPosition from = body->published_origin, to = body->origin;
	if (t->user_node_count == t->node_count || (from.x == to.x && from.y == to.y && from.z == to.z))
		return;
	for (int32_t user = 0; user < t->user_node_count; user++) {
		if (t->node_of_user[user] >= 0)
			continue;
		body->published[user].x += (float)(from.x - to.x);
		body->published[user].y += (float)(from.y - to.y);
		body->published[user].z += (float)(from.z - to.z);
	}
}

// Copies the state that getters read and that a body gone bad is put back to.
void fem_body_publish(FemBody *body) {
	const FemTopology *t = body->topology;
	Box4 box = empty_box4();
	for (int32_t user = 0; user < t->user_node_count; user++) {
		if (t->node_of_user[user] < 0)
			continue; // of a removed piece: it stays where it was last seen
		Float4 p = load4(&body->position[t->node_of_user[user]]);
		box = (Box4){min4(p, box.min), max4(p, box.max)};
		p[3] = 1.0f;
		memcpy(&body->published[user], &p, sizeof p);
	}
	memcpy(body->box_min, &box.min, sizeof body->box_min);
	memcpy(body->box_max, &box.max, sizeof body->box_max);
	memcpy(body->good_velocity, body->velocity, sizeof *body->velocity * (size_t)t->node_count);
	shift_removed(body);
	body->published_origin = body->origin;
	body->published_count = t->user_node_count;
}

// The arrays change places, so that the last two steps can be drawn between without a copy. Nodes that copies came to
// be in the step already stand where their sources were before it (topology_change.c).
static void publish_step(FemBody *body, uint64_t publication) {
	const FemTopology *t = body->topology;
	FemVec4 *positions = body->before.positions;
	body->before.positions = body->published;
	body->before.origin = body->published_origin;
	memcpy(body->before.box_min, body->box_min, sizeof body->box_min);
	memcpy(body->before.box_max, body->box_max, sizeof body->box_max);
	body->before.publication = publication;
	body->published = positions;
	for (int32_t user = 0; t->user_node_count > t->node_count && user < t->user_node_count; user++)
		if (t->node_of_user[user] < 0)
			positions[user] = body->before.positions[user];
	fem_body_publish(body);
}

// Kept in order: what comes after the buffer is full is dropped, and the step says so.
void fem_world_add_event(FemWorld *world, FemEventType type, int32_t body_index) {
	if (world->event_count == FEM_EVENT_MAX) {
		world->step_errors |= FEM_STEP_EVENTS_FULL;
		return;
	}
	world->events[world->event_count++] = (FemEvent){type, fem_body_id(world, body_index)};
}

static void publish_events(FemWorld *world, FemBody *body, int32_t body_index) {
	bool sleeps = fem_body_sleeps(body);
	if (body->went_bad)
		fem_world_add_event(world, FEM_EVENT_ROLLED_BACK, body_index);
	if (sleeps != body->was_asleep)
		fem_world_add_event(world, sleeps ? FEM_EVENT_SLEPT : FEM_EVENT_WOKE, body_index);
	body->went_bad = false;
	body->was_asleep = sleeps;
}

// Events come in body order. They are made here, on the caller's thread, so that those of the last step can be read
// while this one runs.
void fem_world_publish(FemWorld *world) {
	FemIslands *islands = &world->islands;
	int32_t count = islands->rebuilt ? world->body_capacity : islands->active_count;
	world->event_count = 0;
	world->publication++;
	for (int32_t i = 0; i < count; i++) {
		int32_t b = islands->rebuilt ? i : islands->active_bodies[i];
		FemBody *body = world->bodies[b];
		if (!body)
			continue;
		// live_tets: a body may have woken and gone back to sleep within the step.
		if (!fem_body_sleeps(body) || !body->was_asleep || body->live_tets > 0)
			publish_step(body, world->publication);
		publish_events(world, body, b);
	}
	islands->rebuilt = false;
	fem_contact_stage_publish(world);
}
