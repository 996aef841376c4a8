#include "collision/ground.h"

#include <math.h>

static float contact_strength(const FemBody *body, int32_t node) {
	return FEM_GROUND_KAPPA * body->mass[node]; // dt phi, phi = kappa m / dt
}

// Speed down that the node may have: all of the gap while above, out by a share of the depth when below. Continuous at
// the surface, so that resting nodes neither sink, pop nor chatter.
static float bias_velocity(float depth, float dt) {
	if (depth <= 0.0f)
		return depth / dt;
	return fminf(FEM_GROUND_PUSH * depth / dt, FEM_GROUND_PUSH_MAX);
}

static float friction_strength(const FemBody *body, int32_t node, float vx, float vz, const FemGround *ground) {
	float bound = ground->friction * body->ground_force[node];
	float slip = sqrtf(vx * vx + vz * vz);
	return ground->dt * bound / fmaxf(slip, FEM_GROUND_SLIP);
}

int32_t fem_ground_detect(FemBody *body, int32_t begin, int32_t end, const FemGround *ground) {
	float surface = (float)(ground->height - body->origin.y);
	int32_t count = 0;
	for (int32_t i = begin; i < end; i++) {
		FemVec4 *contact = &body->ground[i];
		*contact = (FemVec4){0.0f, 0.0f, 0.0f, 0.0f};
		float depth = surface - body->position[i].y;
		float fall = body->velocity[i].y + ground->dt * body->gravity_scale * ground->gravity.y;
		if (!ground->enabled || body->node_kind[i] != FEM_NODE_FREE || depth - ground->dt * fall < -FEM_GROUND_SLOP) {
			body->ground_force[i] = 0.0f;
			continue;
		}
		count++;
		contact->w = 1.0f;
		contact->y = bias_velocity(depth, ground->dt);
		if (body->ground_force[i] > 0.0f || fall < contact->y) {
			contact->x = contact_strength(body, i);
			contact->z = friction_strength(body, i, body->velocity[i].x, body->velocity[i].z, ground);
		}
	}
	return count;
}

bool fem_ground_update(FemBody *body, int32_t begin, int32_t end, const FemGround *ground) {
	bool changed = false;
	for (int32_t i = begin; i < end; i++) {
		FemVec4 *contact = &body->ground[i];
		if (contact->w == 0.0f)
			continue;
		float vx = body->velocity[i].x + body->dv[i].x, vy = body->velocity[i].y + body->dv[i].y;
		float vz = body->velocity[i].z + body->dv[i].z;
		float strength = contact_strength(body, i), press = strength * (contact->y - vy);
		bool was_active = contact->x > 0.0f, active = press > 0.0f;
		body->ground_force[i] = active ? press / ground->dt : 0.0f;
		float friction = active ? friction_strength(body, i, vx, vz, ground) : 0.0f;
		if (was_active != active || fabsf(friction - contact->z) > 0.02f * fmaxf(friction, contact->z))
			changed = true;
		contact->x = active ? strength : 0.0f;
		contact->z = friction;
	}
	return changed;
}
