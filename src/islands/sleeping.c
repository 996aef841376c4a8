// How parts fall asleep and wake.
#include "base/range.h"
#include "base/vec.h"
#include "fem_destruction.h"
#include "islands/composites.h"
#include "model/body.h"
#include "model/body_step.h"
#include "model/island.h"
#include "model/piece.h"
#include "topology/topology.h"

#include <string.h>

// ---- part states

void fem_body_wake_part(FemIslands *islands, FemBody *body, int32_t part) {
	if (body->part_state[part] == FEM_ISLAND_KINEMATIC)
		return;
	body->part_still[part] = 0;
	if (body->part_state[part] == FEM_ISLAND_LIVE)
		return;
	body->part_state[part] = FEM_ISLAND_LIVE;
	body->live_part_count++;
	islands->dirty = true;
	int32_t component = body->topology->part_component[part];
	if (body->pieces[component].is_rigid) // wakes as a whole
		fem_body_wake_component(islands, body, component);
}

void fem_body_wake_component(FemIslands *islands, FemBody *body, int32_t component) {
	FemRange parts = body->topology->component_parts[component];
	for (int32_t p = parts.begin; p < parts.end; p++)
		fem_body_wake_part(islands, body, p);
}

void fem_body_wake_all(FemIslands *islands, FemBody *body) {
	for (int32_t p = 0; p < body->topology->part_count; p++)
		fem_body_wake_part(islands, body, p);
}

// Driven nodes keep the velocity they are to go on with when they wake.
static void sleep_part(FemIslands *islands, FemBody *body, int32_t part) {
	if (body->part_state[part] != FEM_ISLAND_LIVE)
		return;
	body->part_state[part] = FEM_ISLAND_ASLEEP;
	body->part_still[part] = 0;
	body->live_part_count--;
	islands->dirty = true;
	FemRange nodes = body->topology->part_nodes[part];
	body->pieces[body->topology->part_component[part]].slack = 0.0f; // its loads go with last_dv
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		body->last_dv[i] = (FemVec4){0};
		if (body->node_kind[i] != FEM_NODE_DRIVEN)
			body->velocity[i] = (FemVec4){0};
	}
}

void fem_body_sleep_component(FemIslands *islands, FemBody *body, int32_t component) {
	FemRange parts = body->topology->component_parts[component];
	for (int32_t p = parts.begin; p < parts.end; p++)
		sleep_part(islands, body, p);
}

void fem_body_sleep_all(FemIslands *islands, FemBody *body) {
	for (int32_t p = 0; p < body->topology->part_count; p++)
		sleep_part(islands, body, p);
}

// ---- sleeping

// Driven nodes count too: what a script moves does not fall asleep under it.
static bool part_is_still(const FemBody *body, int32_t part, float speed) {
	FemRange nodes = body->topology->part_nodes[part];
	float limit = speed * speed;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 v = body->velocity[i];
		if (!(v.x * v.x + v.y * v.y + v.z * v.z < limit))
			return false;
	}
	return true;
}

// Counts on even for parts that have long been still: the slowest part decides for the island.
static bool count_still_steps(
	const FemIslands *islands, FemBody *body, const FemIsland *island, const FemSleepRules *rules) {
	bool ready = true;
	for (int32_t at = island->parts.begin; at < island->parts.end; at++) {
		int32_t part = islands->part_list[at];
		if (!part_is_still(body, part, rules->speed))
			body->part_still[part] = 0;
		else if (body->part_still[part] < INT32_MAX)
			body->part_still[part]++;
		ready = ready && body->part_still[part] >= rules->steps;
	}
	return ready;
}

// What touches sleeps together or not at all (docs/method.md, "Islands and sleep").
static void put_to_sleep(
	FemIslands *islands, FemBody *const *bodies, const FemComposites *composites, const FemSleepRules *rules) {
	for (int32_t c = 0; c < composites->count; c++) {
		const FemComposite *composite = &composites->composites[c];
		bool ready = !composite->restless;
		for (int32_t i = composite->islands.begin; i < composite->islands.end; i++) {
			const FemIsland *island = &islands->islands[composites->island_list[i]];
			ready &= count_still_steps(islands, bodies[island->body], island, rules);
		}
		for (int32_t i = composite->islands.begin; ready && i < composite->islands.end; i++) {
			const FemIsland *island = &islands->islands[composites->island_list[i]];
			for (int32_t at = island->parts.begin; at < island->parts.end; at++)
				sleep_part(islands, bodies[island->body], islands->part_list[at]);
		}
	}
}

// ---- waking

// What the tets, gravity and the user pull at a sleeping node. The islands' batch chunks take in every tet around a
// border node, so tet_forces holds all of them for this step.
static FemVec3 net_force(const FemBody *body, int32_t node, FemVec3 gravity) {
	const FemTopology *t = body->topology;
	float m = body->mass[node] * body->gravity_scale;
	FemVec4 user = body->force[node];
	FemVec3 sum = {m * gravity.x + user.x, m * gravity.y + user.y, m * gravity.z + user.z};
	for (int32_t s = t->node_tet_start[node]; s < t->node_tet_start[node + 1]; s++) {
		FemVec4 f = body->step->tet_forces[t->node_tets[s] / 4].force[t->node_tets[s] % 4];
		sum.x += f.x;
		sum.y += f.y;
		sum.z += f.z;
	}
	return sum;
}

// The share of a force that nothing holds. A node that fell asleep on the ground withstands any force into the ground,
// and along the ground friction holds it up to Coulomb's limit. ground_force is that of the last step in which it was
// live.
static float unheld_force_sq(const FemBody *body, int32_t node, FemVec3 f, float friction) {
	float along_sq = f.x * f.x + f.z * f.z;
	if (body->ground_force[node] <= 0.0f)
		return along_sq + f.y * f.y;
	float normal_force = f.y < 0.0f ? -f.y : 0.0f;
	float lift = f.y > 0.0f ? f.y : 0.0f;
	bool held = along_sq <= friction * friction * normal_force * normal_force;
	return lift * lift + (held ? 0.0f : along_sq);
}

// A live part sees sleeping neighbours as fixed; the force it takes to hold them is the force tested. The
// test is on the whole net force, not on its change since they fell asleep: it never misses a pull, and a part that was
// put to sleep out of balance wakes as soon as its neighbour does. Pinned and driven nodes are held by their pins.
static void wake_borders(FemIslands *islands, FemBody *const *bodies, const FemSleepRules *rules, FemVec3 gravity) {
	for (int32_t at = 0; at < islands->border_count; at++) {
		int32_t node = islands->borders[at].node;
		FemBody *body = bodies[islands->borders[at].body];
		int32_t part = body->topology->node_part[node];
		if (body->part_state[part] != FEM_ISLAND_ASLEEP || body->node_kind[node] != FEM_NODE_FREE)
			continue;
		float limit = rules->wake_force * body->mass[node];
		FemVec3 force = net_force(body, node, gravity);
		if (unheld_force_sq(body, node, force, rules->friction) > limit * limit)
			fem_body_wake_part(islands, body, part);
	}
}

void fem_islands_sleep_and_wake(FemIslands *islands, FemBody *const *bodies, const FemComposites *composites,
	const FemSleepRules *rules, FemVec3 gravity) {
	// Borders first: they are sleepers of before this step, whose forces were computed.
	wake_borders(islands, bodies, rules, gravity);
	if (rules->enabled)
		put_to_sleep(islands, bodies, composites, rules);
}
