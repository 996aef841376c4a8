// Reads back what users have set: a getter for every setter of worlds, bodies and colliders that has no place
// elsewhere.
#include "base/mat3.h"
#include "base/vec.h"
#include "world/api/bodies.h"
#include "world/api/colliders.h"
#include "world/api/registry.h"
#include "world/api/targets.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <string.h>

// ---- world

FemResult fem_world_get_ground(FemWorldId id, bool *out_enabled, double *out_height, float *out_friction) {
	const FemWorld *world = fem_world_find(id);
	if (!world)
		return FEM_ERROR_INVALID_ID;
	if (!out_enabled || !out_height || !out_friction)
		return fem_check_out(NULL);
	*out_enabled = world->def.ground_enabled;
	*out_height = world->def.ground_height;
	*out_friction = world->def.ground_friction;
	return FEM_OK;
}

bool fem_world_get_sleeping(FemWorldId id) {
	const FemWorld *world = fem_world_find(id);
	return world && world->def.sleeping_enabled;
}

// ---- body

bool fem_body_is_kinematic(FemBodyId id) {
	const FemBody *body = fem_body_find(id, NULL);
	return body && body->kinematic;
}

float fem_body_get_gravity_scale(FemBodyId id) {
	const FemBody *body = fem_body_find(id, NULL);
	return body ? body->gravity_scale : 0.0f;
}

float fem_body_get_toughness_scale(FemBodyId id) {
	const FemBody *body = fem_body_find(id, NULL);
	return body ? body->toughness_scale : 0.0f;
}

FemResult fem_body_get_layers(FemBodyId id, uint32_t *out_layer, uint32_t *out_mask) {
	const FemBody *body = fem_body_find(id, NULL);
	if (!body)
		return FEM_ERROR_INVALID_ID;
	if (!out_layer || !out_mask)
		return fem_check_out(NULL);
	*out_layer = body->layer;
	*out_mask = body->mask;
	return FEM_OK;
}

bool fem_body_get_self_contact(FemBodyId id) {
	const FemBody *body = fem_body_find(id, NULL);
	return body && body->self_contact;
}

FemDynamics fem_body_get_dynamics(FemBodyId id) {
	const FemBody *body = fem_body_find(id, NULL);
	return body ? (FemDynamics)body->dynamics : FEM_DYNAMICS_AUTO;
}

FemResult fem_body_get_pose(FemBodyId id, FemPosition *out_position, FemQuat *out_rotation) {
	const FemBody *body = fem_body_find(id, NULL);
	if (!body)
		return FEM_ERROR_INVALID_ID;
	if (!out_position || !out_rotation)
		return fem_check_out(NULL);
	*out_position = body->pose_position;
	*out_rotation = body->pose_rotation;
	return FEM_OK;
}

// ---- nodes and tets

FemResult fem_body_get_velocity(FemBodyId id, int32_t user_node, FemVec3 *out_velocity) {
	FemTarget target;
	FemResult result = fem_target_node(id, user_node, &target);
	if (result == FEM_OK && (result = fem_check_out(out_velocity)) == FEM_OK)
		*out_velocity = fem_vec3_from(target.body->velocity[target.node]);
	return result;
}

FemResult fem_body_get_node_position(FemBodyId id, int32_t user_node, FemPosition *out_position) {
	FemTarget target;
	FemResult result = fem_target_node(id, user_node, &target);
	if (result == FEM_OK && (result = fem_check_out(out_position)) == FEM_OK)
		*out_position = fem_position_move(target.body->origin, fem_vec3d_from4(target.body->position[target.node]));
	return result;
}

FemResult fem_body_get_node_kind(FemBodyId id, int32_t user_node, FemNodeKind *out_kind) {
	FemTarget target;
	FemResult result = fem_target_node(id, user_node, &target);
	if (result == FEM_OK && (result = fem_check_out(out_kind)) == FEM_OK)
		*out_kind = (FemNodeKind)target.body->node_kind[target.node];
	return result;
}

FemResult fem_body_get_tet_toughness(FemBodyId id, int32_t user_tet, float *out_factor) {
	FemTarget target;
	FemResult result = fem_target_tet(id, user_tet, &target);
	if (result == FEM_OK && (result = fem_check_out(out_factor)) == FEM_OK)
		*out_factor = target.body->tet_scale ? target.body->tet_scale[target.tet] : 1.0f;
	return result;
}

FemResult fem_body_get_tet_material(FemBodyId id, int32_t user_tet, FemMaterialId *out_material) {
	FemTarget target;
	FemResult result = fem_target_tet(id, user_tet, &target);
	if (result == FEM_OK && (result = fem_check_out(out_material)) == FEM_OK)
		*out_material = fem_material_id(target.world, target.body->tet_material[target.tet]);
	return result;
}

// ---- breaking

// A body that can break: the setters refuse all others, too.
static const FemBreaking *find_breaking(FemBodyId id, FemResult *out_result) {
	const FemBody *body = fem_body_find(id, NULL);
	*out_result = body ? FEM_OK : FEM_ERROR_INVALID_ID;
	if (body && !body->breaking)
		*out_result = fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The body has no material that breaks: set breakable in one of them first.");
	return body ? body->breaking : NULL;
}

FemResult fem_body_get_piece_limits(FemBodyId id, int32_t *out_limit, float *out_lifetime, float *out_fade) {
	FemResult result;
	const FemBreaking *breaking = find_breaking(id, &result);
	if (!breaking)
		return result;
	if (!out_limit || !out_lifetime || !out_fade)
		return fem_check_out(NULL);
	*out_limit = breaking->piece_limit;
	*out_lifetime = breaking->piece_lifetime;
	*out_fade = breaking->piece_fade;
	return FEM_OK;
}

FemResult fem_body_get_fracture_seed(FemBodyId id, uint32_t *out_seed) {
	FemResult result;
	const FemBreaking *breaking = find_breaking(id, &result);
	if (!breaking)
		return result;
	if (!out_seed)
		return fem_check_out(NULL);
	*out_seed = (uint32_t)breaking->seed;
	return FEM_OK;
}

int32_t fem_body_get_splinter_count(FemBodyId id, int32_t *out_vertex_count) {
	FemResult result;
	const FemBody *body = fem_body_find_idle(id, NULL, &result);
	const FemSplinters *splinters = body && body->breaking ? body->breaking->splinters : NULL;
	if (out_vertex_count)
		*out_vertex_count = splinters ? splinters->given.vertex_count : 0;
	return splinters ? splinters->given.splinter_count : 0;
}

// ---- colliders

FemResult fem_collider_get_motion(FemColliderId id, FemPosition *out_position, FemQuat *out_rotation,
	FemVec3 *out_linear_velocity, FemVec3 *out_angular_velocity) {
	FemResult result;
	const FemCollider *collider = fem_collider_find_idle(id, NULL, &result); // substeps move it and put it back
	if (!collider)
		return result;
	if (out_position)
		*out_position = collider->position;
	if (out_rotation)
		*out_rotation = collider->rotation;
	if (out_linear_velocity)
		*out_linear_velocity = collider->linear_velocity;
	if (out_angular_velocity)
		*out_angular_velocity = collider->angular_velocity;
	return FEM_OK;
}

FemResult fem_collider_get_mass(FemColliderId id, FemColliderMass *out_mass) {
	FemResult result;
	const FemCollider *collider = fem_collider_find_idle(id, NULL, &result);
	if (!collider)
		return result;
	if (!out_mass)
		return fem_check_out(NULL);
	FemProxy proxy = fem_collider_proxy(collider, (FemVec3){0.0f, 0.0f, 0.0f}, 0.0f);
	*out_mass = (FemColliderMass){.mass = collider->mass, .center = collider->center};
	memcpy(out_mass->inertia, proxy.inertia, sizeof proxy.inertia);
	return FEM_OK;
}

FemResult fem_collider_get_force(FemColliderId id, FemVec3 *out_force, FemVec3 *out_torque) {
	const FemCollider *collider = fem_collider_find(id, NULL);
	if (!collider)
		return FEM_ERROR_INVALID_ID;
	if (!out_force || !out_torque)
		return fem_check_out(NULL);
	*out_force = collider->force;
	*out_torque = collider->torque;
	return FEM_OK;
}

bool fem_collider_ignores_body(FemColliderId id, FemBodyId body) {
	FemWorld *world, *other;
	const FemCollider *collider = fem_collider_find(id, &world);
	return collider && fem_body_find(body, &other) && world == other && fem_collider_ignores(collider, body);
}
