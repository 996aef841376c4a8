#include "collision/ground.h"
#include "base/vec.h"
#include "fem_constants.h"
#include "fem_destruction.h"
#include "model/body.h"
#include "model/body_step.h"
#include "model/contact.h"
#include "model/piece.h"

#include <math.h>

#define KAPPA 300.0f  // contact damping in units of node mass / dt: as FEM_CONTACT_KAPPA
#define PUSH 0.2f     // share of the depth pushed out in PUSH_TIME: as the default of FemWorldDef.contact_push
#define PUSH_MAX 2.0f // m/s, fastest push-out: as of bodies half a tet deep in each other
#define PUSH_TIME (1.0f / 60.0f) // s, as of contacts: shorter steps push no faster, since the speed of it stays
// The same as of pairs of bodies (docs/method.md, "Strength"): what bears a load rests this deep, m
#define LOAD_DEPTH 2e-4f
#define LOAD_KEEP 0.9f // share of the smoothed load that a step keeps: a blow is no load

// Of nodes of one piece: how many times as strong the ground is for the load on the piece.
static float load_ratio(const FemBody *body, int32_t node) {
	return fmaxf(body->pieces[fem_node_component(body->topology, node)].ground_ratio, 1.0f);
}

static float contact_strength(const FemBody *body, int32_t node, float ratio) {
	return KAPPA * ratio * body->mass[node]; // dt phi, phi = kappa m / dt
}

static float push_of_step(float dt) {
	return PUSH * fminf(dt / PUSH_TIME, 1.0f);
}

// Downward speed that a node may have, m/s: all of the gap while above, out by a share of the depth when below.
// Continuous at the surface, so that resting nodes neither sink, pop nor chatter.
static float bias_velocity(float depth, float dt) {
	if (depth <= 0.0f)
		return depth / dt;
	return fminf(push_of_step(dt) * depth / dt, PUSH_MAX);
}

static float friction_strength(const FemBody *body, int32_t node, float vx, float vz, const FemGround *ground) {
	float bound = ground->friction * body->ground_force[node];
	float slip = sqrtf(vx * vx + vz * vz);
	return ground->dt * bound / fmaxf(slip, FEM_GROUND_SLIP);
}

int32_t fem_ground_detect(FemBody *body, int32_t begin, int32_t end, const FemGround *ground) {
	float surface = (float)(ground->height - body->origin.y), ratio = begin < end ? load_ratio(body, begin) : 1.0f;
	float gain = ground->dt * body->gravity_scale * ground->gravity.y, dt = ground->dt, *force = body->ground_force;
	const FemVec4 *position = body->position, *velocity = body->velocity;
	const uint8_t *kind = body->node_kind;
	FemVec4 *contacts = body->step->ground;
	bool is_there = ground->enabled;
	int32_t count = 0;
	for (int32_t i = begin; i < end; i++) {
		FemVec4 *contact = &contacts[i];
		*contact = (FemVec4){0.0f, 0.0f, 0.0f, 0.0f};
		float depth = surface - position[i].y, fall = velocity[i].y + gain;
		if (!is_there || kind[i] != FEM_NODE_FREE || depth - dt * fall < -FEM_GROUND_SLOP) {
			force[i] = 0.0f;
			continue;
		}
		count++;
		contact->w = contact_strength(body, i, ratio);
		contact->y = bias_velocity(depth, ground->dt);
		if (body->ground_force[i] > 0.0f || fall < contact->y) {
			contact->x = contact->w;
			contact->z = friction_strength(body, i, body->velocity[i].x, body->velocity[i].z, ground);
		}
	}
	return count;
}

int32_t fem_ground_count(const FemBody *body, int32_t begin, int32_t end) {
	int32_t count = 0;
	for (int32_t i = begin; i < end; i++)
		count += body->step->ground[i].w != 0.0f;
	return count;
}

static float normal_impulse_of(const FemBody *body, int32_t node) {
	return body->step->ground[node].w * (body->step->ground[node].y - body->velocity[node].y - body->step->dv[node].y);
}

// Of what the nodes ask for, the share that they were given: those that join the active set ask for far more than they
// will get, since the solve did not know them, and those that leave it pulled. Friction is bounded by what was given.
static float given_share(const FemBody *body, int32_t begin, int32_t end) {
	float given = 0.0f, asked = 0.0f;
	for (int32_t i = begin; i < end; i++) {
		if (body->step->ground[i].w == 0.0f)
			continue;
		float normal_impulse = normal_impulse_of(body, i);
		given += body->step->ground[i].x > 0.0f ? normal_impulse : 0.0f;
		asked += fmaxf(normal_impulse, 0.0f);
	}
	return asked > 0.0f ? fminf(fmaxf(given / asked, 0.0f), 1.0f) : 1.0f;
}

// Whether a node's bias is the speed of a rebound. (w is 0 where it cannot touch.)
static bool rebounds(const FemBody *body, int32_t node, const FemGround *ground) {
	const FemVec4 *contact = &body->step->ground[node];
	float depth = (float)(ground->height - body->origin.y) - body->position[node].y;
	return contact->w != 0.0f && contact->y > bias_velocity(depth, ground->dt);
}

bool fem_ground_bounces(const FemBody *body, int32_t begin, int32_t end, const FemGround *ground) {
	for (int32_t i = begin; i < end && body->restitution > 0.0f; i++) {
		if (rebounds(body, i, ground))
			return true;
	}
	return false;
}

// As of contacts, contact_rows.h.
bool fem_ground_limit_bounces(FemBody *body, int32_t begin, int32_t end, const FemGround *ground) {
	if (body->restitution == 0.0f || begin == end)
		return false;
	FemVec3 released = body->pieces[fem_node_component(body->topology, begin)].released;
	double gained = 0.0, rebound = 0.0;
	for (int32_t i = begin; i < end; i++) {
		const FemVec4 *contact = &body->step->ground[i], *v = &body->velocity[i], *dv = &body->step->dv[i];
		if (contact->x == 0.0f)
			continue;
		float x = v->x + dv->x, y = v->y + dv->y, z = v->z + dv->z, impulse = contact->x * (contact->y - y);
		gained += (double)(impulse * (y + v->y - released.y));
		gained -= (double)(contact->z * (x * (x + v->x - released.x) + z * (z + v->z - released.z)));
		rebound += rebounds(body, i, ground) ? (double)(impulse * contact->y) : 0.0;
	}
	float share = fem_rebound_share(gained, rebound);
	for (int32_t i = begin; i < end && share < 1.0f; i++) {
		float depth = (float)(ground->height - body->origin.y) - body->position[i].y, *speed = &body->step->ground[i].y;
		*speed = rebounds(body, i, ground) ? fmaxf(share * *speed, bias_velocity(depth, ground->dt)) : *speed;
	}
	return share < 1.0f;
}

bool fem_ground_update(FemBody *body, int32_t begin, int32_t end, const FemGround *ground) {
	bool changed = false;
	float share = given_share(body, begin, end);
	for (int32_t i = begin; i < end; i++) {
		FemVec4 *contact = &body->step->ground[i];
		if (contact->w == 0.0f)
			continue;
		float vx = body->velocity[i].x + body->step->dv[i].x, vz = body->velocity[i].z + body->step->dv[i].z,
			  normal_impulse = normal_impulse_of(body, i);
		bool was_active = contact->x > 0.0f, active = normal_impulse > 0.0f;
		body->ground_force[i] = active ? normal_impulse / ground->dt : 0.0f;
		float friction = active ? share * friction_strength(body, i, vx, vz, ground) : 0.0f;
		if (was_active != active || fabsf(friction - contact->z) > FEM_FRICTION_CHANGE * fmaxf(friction, contact->z))
			changed = true;
		contact->x = active ? contact->w : 0.0f;
		contact->z = friction;
	}
	return changed;
}

void fem_ground_begin_load(FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		body->pieces[c].ground_load *= LOAD_KEEP;
		body->pieces[c].ground_ratio = 0.0f;
	}
}

void fem_ground_add_load(FemBody *body, int32_t begin, int32_t end, float dt) {
	float load = 0.0f, strength = 0.0f;
	for (int32_t i = begin; i < end; i++) {
		if (body->step->ground[i].w == 0.0f)
			continue;
		load += dt * body->ground_force[i];
		strength += contact_strength(body, i, 1.0f); // of all that may touch: few press after a blow
	}
	if (strength == 0.0f)
		return;
	FemPiece *piece = &body->pieces[fem_node_component(body->topology, begin)];
	piece->ground_load += (1.0f - LOAD_KEEP) * load;
	piece->ground_ratio += strength; // so far the strength of its own mass, kg
}

void fem_ground_end_load(FemBody *body, float dt) {
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemPiece *piece = &body->pieces[c];
		if (piece->ground_ratio > 0.0f)
			piece->ground_ratio = fminf(piece->ground_load * dt / (push_of_step(dt) * LOAD_DEPTH * piece->ground_ratio),
				fem_load_ratio_max(piece->bears, piece->mass));
	}
}
