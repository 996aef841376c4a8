// What callers set and read of colliders.
#include "base/vec.h"
#include "world/api/checks.h"
#include "world/api/colliders.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <string.h>

uint64_t fem_collider_get_user_data(FemColliderId id) {
	FemCollider *collider = fem_collider_find(id, NULL);
	return collider ? collider->user_data : 0;
}

FemResult fem_collider_set_motion(
	FemColliderId id, FemPosition position, FemQuat rotation, FemVec3 linear, FemVec3 angular) {
	FemResult result;
	FemWorld *world;
	FemCollider *collider = fem_collider_find_idle(id, &world, &result);
	if (!collider || (result = fem_collider_motion_check(position, &rotation, linear, angular)) != FEM_OK)
		return result;
	bool moved = memcmp(&position, &collider->position, sizeof position) != 0 ||
		memcmp(&rotation, &collider->rotation, sizeof rotation) != 0;
	bool wakes = moved && collider->kind != FEM_COLLIDER_DYNAMIC; // those with mass wake what they strike or load
	if (wakes)
		fem_world_wake_touching(world, id.index1 - 1); // what rests on it where it was
	collider->has_moved |= wakes;
	collider->position = position;
	collider->rotation = rotation;
	collider->linear_velocity = linear;
	collider->angular_velocity = angular;
	if (moved) {
		fem_collider_place_shape(collider);
		FemSweepBox box = fem_collider_box(collider);
		fem_sweep_move_proxy(&world->sweep, collider->sweep_proxy, &box);
	}
	return FEM_OK;
}

// All principal minors are positive, with room for rounding.
static bool is_inertia(const float i[6]) {
	float size = i[0] + i[1] + i[2], least = 1e-6f * size;
	float second = i[0] * i[1] - i[3] * i[3];
	float third = i[2] * second - i[0] * i[4] * i[4] - i[1] * i[5] * i[5] + 2.0f * i[3] * i[4] * i[5];
	return fem_is_finite(size + i[3] + i[4] + i[5]) && i[0] > least && i[1] > least && i[2] > least &&
		second > least * least && third > least * least * least;
}

FemResult fem_collider_set_mass(FemColliderId id, const FemColliderMass *mass) {
	FemResult result;
	FemWorld *world;
	FemCollider *collider = fem_collider_find_idle(id, &world, &result);
	if (!collider)
		return result;
	if (!mass || collider->kind != FEM_COLLIDER_DYNAMIC || collider->follows ||
		!(mass->mass > 1e-6f && mass->mass < 1e12f))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "Only a dynamic collider that follows none takes a mass, of 1e-6 to 1e12 kg.");
	if (!fem_vec3_is_finite(mass->center) || !is_inertia(mass->inertia))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "center must be finite and inertia that of a body with volume.");
	collider->mass = mass->mass;
	collider->center = mass->center;
	collider->has_tensor = true;
	memcpy(collider->tensor, mass->inertia, sizeof collider->tensor);
	for (int32_t c = 0; c < world->collider_capacity; c++) {
		if (world->colliders[c].in_use && world->colliders[c].leader == id.index1 - 1)
			world->colliders[c].mass = mass->mass;
	}
	return FEM_OK;
}

FemResult fem_collider_set_force(FemColliderId id, FemVec3 force, FemVec3 torque) {
	FemResult result;
	FemWorld *world;
	FemCollider *collider = fem_collider_find_idle(id, &world, &result);
	if (!collider)
		return result;
	if (!fem_vec3_is_finite(force) || !fem_vec3_is_finite(torque))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "force and torque must be finite.");
	collider->force = force;
	collider->torque = torque;
	return FEM_OK;
}

FemResult fem_collider_get_result(FemColliderId id, FemColliderResult *out_result) {
	FemResult result;
	FemWorld *world;
	FemCollider *collider = fem_collider_find_idle(id, &world, &result);
	if (!collider)
		return result;
	if (!out_result)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "out_result is null: pass a place to write to.");
	*out_result = collider->result;
	return FEM_OK;
}

// ---- ignoring

static bool is_same_body(FemBodyId a, FemBodyId b) {
	return a.index1 == b.index1 && a.generation == b.generation;
}

bool fem_collider_ignores(const FemCollider *collider, FemBodyId body) {
	for (int32_t i = 0; i < collider->ignored_count; i++) {
		if (is_same_body(collider->ignored[i], body))
			return true;
	}
	return false;
}

// Forgets bodies that are gone.
static void prune_ignored(const FemWorld *world, FemCollider *collider) {
	for (int32_t i = collider->ignored_count - 1; i >= 0; i--) {
		int32_t index = collider->ignored[i].index1 - 1;
		bool there = index >= 0 && index < world->body_capacity && world->bodies[index] &&
			world->bodies[index]->generation == collider->ignored[i].generation;
		if (!there)
			collider->ignored[i] = collider->ignored[--collider->ignored_count];
	}
}

FemResult fem_collider_ignore_body(FemColliderId id, FemBodyId body, bool ignored) {
	FemResult result;
	FemWorld *world, *other;
	FemCollider *collider = fem_collider_find_idle(id, &world, &result);
	if (!collider || !fem_body_find_idle(body, &other, &result))
		return result;
	if (world != other)
		return fem_fail(FEM_ERROR_INVALID_ID, "The collider and the body are of two worlds.");
	if (fem_collider_ignores(collider, body) == ignored)
		return FEM_OK;
	prune_ignored(world, collider);
	if (ignored && collider->ignored_count == FEM_COLLIDER_IGNORED)
		return fem_fail(
			FEM_ERROR_LIMIT, "The collider ignores %d bodies already: use layers and masks.", FEM_COLLIDER_IGNORED);
	for (int32_t i = collider->ignored_count - 1; i >= 0 && !ignored; i--) {
		if (is_same_body(collider->ignored[i], body))
			collider->ignored[i] = collider->ignored[--collider->ignored_count];
	}
	if (ignored)
		collider->ignored[collider->ignored_count++] = body;
	fem_world_wake_touching(world, id.index1 - 1);
	return FEM_OK;
}
