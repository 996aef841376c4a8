// Pinned and driven nodes, kinematic bodies, sleep, and materials of single tets.
#include "base/vec.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/api/registry.h"
#include "world/api/targets.h"
#include "world/step/breaking.h"
#include "world/world.h"

// ---- nodes

// A change of kind changes the island's system, hence the rebuild.
static void set_kind(FemTarget target, FemNodeKind kind) {
	FemWorld *world = target.world;
	FemBody *body = target.body;
	int32_t node = target.node, more = (kind != FEM_NODE_FREE) - (body->node_kind[node] != FEM_NODE_FREE);
	FemPiece *piece = &body->pieces[fem_node_component(body->topology, node)];
	body->pinned_count += more;
	piece->pinned_count += more;
	if (body->node_kind[node] != kind)
		world->islands.dirty = true;
	body->node_kind[node] = (uint8_t)kind;
	body->last_dv[node] = (FemVec4){0};
	if (kind == FEM_NODE_FREE && body->reaction)
		body->reaction[node] = (FemVec4){0};
	fem_body_wake_part(&world->islands, body, body->topology->node_part[node]);
	fem_piece_release(piece);
}

static FemResult hold_node(FemBodyId id, int32_t user_node, FemNodeKind kind, FemVec3 velocity) {
	FemTarget target;
	FemResult result = fem_target_node(id, user_node, &target);
	if (result != FEM_OK)
		return result;
	if (!fem_vec3_is_finite(velocity))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "velocity is not finite: correct it.");
	if (!fem_body_prepare_reactions(target.body))
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the reactions of a body's pinned nodes.");
	set_kind(target, kind);
	FemVec3 clamped = fem_clamp_speed(fem_vec3d_from(velocity), target.world->def.node_speed_max);
	target.body->velocity[target.node] = fem_vec4_from(clamped);
	return FEM_OK;
}

FemResult fem_body_pin_node(FemBodyId id, int32_t node) {
	return hold_node(id, node, FEM_NODE_PINNED, (FemVec3){0});
}

FemResult fem_body_drive_node(FemBodyId id, int32_t node, FemVec3 velocity) {
	return hold_node(id, node, FEM_NODE_DRIVEN, velocity);
}

FemResult fem_body_release_node(FemBodyId id, int32_t user_node) {
	FemTarget target;
	FemResult result = fem_target_node(id, user_node, &target);
	if (result == FEM_OK && target.body->node_kind[target.node] != FEM_NODE_FREE)
		set_kind(target, FEM_NODE_FREE);
	return result;
}

FemResult fem_body_get_reaction(FemBodyId id, int32_t user_node, FemVec3 *out_force) {
	FemTarget target;
	FemResult result = fem_target_node(id, user_node, &target);
	if (result != FEM_OK || (result = fem_check_out(out_force)) != FEM_OK)
		return result;
	const FemBody *body = target.body;
	bool held = body->reaction && body->node_kind[target.node] != FEM_NODE_FREE;
	*out_force = held ? fem_vec3_from(body->reaction[target.node]) : (FemVec3){0};
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
	fem_body_release_pieces(body);
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
	FemTarget target;
	FemResult result = fem_target_tet(id, user_tet, &target);
	if (result != FEM_OK)
		return result;
	FemWorld *world = target.world, *material_world;
	FemBody *body = target.body;
	FemMaterial *material = fem_material_find(material_id, &material_world);
	if (!material || material_world != world)
		return fem_fail(FEM_ERROR_INVALID_ID, "The material is null, freed or of another world than the body.");
	int32_t tet = target.tet, old = body->tet_material[tet];
	body->tet_material[tet] = material_id.index1 - 1;
	if (!fem_body_prepare_materials(world, body)) {
		body->tet_material[tet] = old;
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the plastic state or the fibres of a body.");
	}
	if (material->def.breakable && !fem_body_prepare_breaking(world, id.index1 - 1)) {
		body->tet_material[tet] = old;
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a body that can break.");
	}
	const FemTopology *t = body->topology; // a body that becomes breakable may have got its own
	world->materials[old].use_count--;
	material->use_count++;
	fem_body_refresh_tet(world, body, tet, &world->materials[old].def);
	for (int32_t v = 0; v < 4; v++)
		fem_body_wake_part(&world->islands, body, t->node_part[fem_tet_node(t, tet, v)]);
	return FEM_OK;
}
