// Pinned and driven nodes, kinematic bodies, sleep, and materials of single tets.
#include "base/vec.h"
#include "topology/topology.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"
#include "world/world.h"

FemResult fem_body_find_node(const FemBody *body, int32_t user_node, int32_t *out_node) {
	const FemTopology *t = body->topology;
	*out_node = -1;
	if (user_node < 0 || user_node >= t->user_node_count || t->node_of_user[user_node] < 0)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The body has no node %d: use 0..%d that were not removed.",
			user_node, t->user_node_count - 1);
	*out_node = t->node_of_user[user_node];
	return FEM_OK;
}

static FemBody *find_node(
	FemBodyId id, int32_t user_node, FemWorld **out_world, int32_t *out_node, FemResult *out_result) {
	FemBody *body = fem_body_find_idle(id, out_world, out_result);
	*out_node = -1;
	if (!body)
		return NULL;
	*out_result = fem_body_find_node(body, user_node, out_node);
	return *out_result == FEM_OK ? body : NULL;
}

// ---- nodes

// A change of kind changes the island's system, hence the rebuild.
static void set_kind(FemWorld *world, FemBody *body, int32_t node, FemNodeKind kind) {
	body->pinned_count += (kind != FEM_NODE_FREE) - (body->node_kind[node] != FEM_NODE_FREE);
	if (body->node_kind[node] != kind)
		world->islands.dirty = true;
	body->node_kind[node] = (uint8_t)kind;
	body->last_dv[node] = (FemVec4){0};
	if (kind == FEM_NODE_FREE && body->reaction)
		body->reaction[node] = (FemVec4){0};
	fem_body_wake_part(&world->islands, body, body->topology->node_part[node]);
}

static FemResult hold_node(FemBodyId id, int32_t user_node, FemNodeKind kind, FemVec3 velocity) {
	FemResult result;
	FemWorld *world;
	int32_t node;
	FemBody *body = find_node(id, user_node, &world, &node, &result);
	if (!body)
		return result;
	if (!fem_vec3_is_finite(velocity))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "velocity is not finite: correct it.");
	if (!fem_body_prepare_reactions(body))
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the reactions of a body's pinned nodes.");
	set_kind(world, body, node, kind);
	FemVec3 clamped = fem_clamp_speed(fem_vec3d_from(velocity), world->def.node_speed_max);
	body->velocity[node] = fem_vec4_from(clamped);
	return FEM_OK;
}

FemResult fem_body_pin_node(FemBodyId id, int32_t node) {
	return hold_node(id, node, FEM_NODE_PINNED, (FemVec3){0});
}

FemResult fem_body_drive_node(FemBodyId id, int32_t node, FemVec3 velocity) {
	return hold_node(id, node, FEM_NODE_DRIVEN, velocity);
}

FemResult fem_body_release_node(FemBodyId id, int32_t user_node) {
	FemResult result;
	FemWorld *world;
	int32_t node;
	FemBody *body = find_node(id, user_node, &world, &node, &result);
	if (!body)
		return result;
	if (body->node_kind[node] != FEM_NODE_FREE)
		set_kind(world, body, node, FEM_NODE_FREE);
	return FEM_OK;
}

FemResult fem_body_get_reaction(FemBodyId id, int32_t user_node, FemVec3 *out_force) {
	FemResult result;
	FemWorld *world;
	int32_t node;
	FemBody *body = find_node(id, user_node, &world, &node, &result);
	if (!body)
		return result;
	if (!out_force)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "out_force is null: pass a place to write to.");
	bool held = body->reaction && body->node_kind[node] != FEM_NODE_FREE;
	*out_force = held ? fem_vec3_from(body->reaction[node]) : (FemVec3){0};
	return FEM_OK;
}

// ---- bodies

FemResult fem_body_set_kinematic(FemBodyId id, bool kinematic) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || body->kinematic == kinematic)
		return result;
	int32_t part_count = body->topology->part_count;
	for (int32_t p = 0; p < part_count; p++) {
		body->part_state[p] = kinematic ? FEM_ISLAND_KINEMATIC : FEM_ISLAND_LIVE;
		body->part_still[p] = 0;
	}
	for (int32_t i = 0; i < body->topology->node_count; i++)
		body->last_dv[i] = (FemVec4){0};
	body->kinematic = kinematic;
	body->live_part_count = kinematic ? 0 : part_count;
	world->islands.dirty = true;
	return FEM_OK;
}

FemResult fem_body_wake(FemBodyId id) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (body)
		fem_body_wake_all(&world->islands, body);
	return result;
}

FemResult fem_body_sleep(FemBodyId id) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (body)
		fem_body_sleep_all(&world->islands, body);
	return result;
}

bool fem_body_is_asleep(FemBodyId id) {
	FemWorld *world;
	FemBody *body = fem_body_find(id, &world);
	if (!body)
		return false;
	return world->stepping ? body->was_asleep : fem_body_sleeps(body);
}

// ---- tets

FemResult fem_body_set_tet_material(FemBodyId id, int32_t user_tet, FemMaterialId material_id) {
	FemResult result;
	FemWorld *world, *material_world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return result;
	FemMaterial *material = fem_material_find(material_id, &material_world);
	if (!material || material_world != world)
		return fem_fail(FEM_ERROR_INVALID_ID, "The material is null, freed or of another world than the body.");
	const FemTopology *t = body->topology;
	if (user_tet < 0 || user_tet >= t->user_tet_count || t->tet_of_user[user_tet] < 0)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The body has no tet %d: use 0..%d that were not removed.",
			user_tet, t->user_tet_count - 1);
	int32_t tet = t->tet_of_user[user_tet], old = body->tet_material[tet];
	body->tet_material[tet] = material_id.index1 - 1;
	bool first_to_yield = !body->plastics && material->def.max_plastic_strain > 0.0f;
	if (first_to_yield && !fem_body_prepare_plastics(world, body)) {
		body->tet_material[tet] = old;
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the plastic state of a body.");
	}
	if (material->def.breakable && !fem_body_prepare_breaking(world, id.index1 - 1)) {
		body->tet_material[tet] = old;
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a body that can break.");
	}
	t = body->topology;
	world->materials[old].use_count--;
	material->use_count++;
	fem_body_refresh_tet(world, body, tet);
	for (int32_t v = 0; v < 4; v++)
		fem_body_wake_part(&world->islands, body, t->node_part[fem_tet_node(t, tet, v)]);
	return FEM_OK;
}
