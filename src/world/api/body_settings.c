// What users change of a whole body between steps: gravity, toughness, layers, contact with itself, materials.
#include "model/body_tet_arrays.h"
#include "model/piece.h"
#include "world/world.h"

#include "base/assert.h"
#include "world/api/bodies.h"
#include "world/api/joining.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"

#include <math.h>

#define GRAVITY_SCALE_MAX 100.0f // either way; chosen: more would only be a slip

FemResult fem_body_settings_check(float gravity_scale, float toughness_scale) {
	if (!(fabsf(gravity_scale) <= GRAVITY_SCALE_MAX))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "gravity_scale must be within +-%g.", (double)GRAVITY_SCALE_MAX);
	if (!(toughness_scale >= 0.0f))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "toughness_scale must be 0 or a positive number; infinite never breaks.");
	return FEM_OK;
}

FemResult fem_body_set_gravity_scale(FemBodyId id, float gravity_scale) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || (result = fem_body_settings_check(gravity_scale, 1.0f)) != FEM_OK)
		return result;
	if (body->gravity_scale != gravity_scale)
		fem_body_wake_all(&world->islands, body);
	body->gravity_scale = gravity_scale;
	return FEM_OK;
}

FemResult fem_body_set_toughness_scale(FemBodyId id, float toughness_scale) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || (result = fem_body_settings_check(1.0f, toughness_scale)) != FEM_OK)
		return result;
	body->toughness_scale = toughness_scale;
	fem_body_refresh_toughness(world, body);
	return FEM_OK;
}

FemResult fem_body_set_layers(FemBodyId id, uint32_t layer, uint32_t mask) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || (body->layer == layer && body->mask == mask))
		return result;
	body->layer = layer;
	body->mask = mask;
	fem_world_wake_touching_body(world, id.index1 - 1);
	fem_body_wake_all(&world->islands, body);
	return FEM_OK;
}

FemResult fem_body_set_self_contact(FemBodyId id, bool self_contact) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || body->self_contact == self_contact)
		return result;
	body->self_contact = self_contact;
	fem_body_wake_all(&world->islands, body);
	return FEM_OK;
}

FemResult fem_dynamics_check(FemDynamics dynamics) {
	return dynamics == FEM_DYNAMICS_AUTO || dynamics == FEM_DYNAMICS_ELEMENTS || dynamics == FEM_DYNAMICS_RIGID ||
			dynamics == FEM_DYNAMICS_MODAL || dynamics == FEM_DYNAMICS_RIGID_PIECES
		? FEM_OK
		: fem_fail(FEM_ERROR_INVALID_ARGUMENT, "dynamics is %d: use a value of FemDynamics.", (int)dynamics);
}

FemResult fem_body_set_dynamics(FemBodyId id, FemDynamics dynamics) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || (result = fem_dynamics_check(dynamics)) != FEM_OK || body->dynamics == (uint8_t)dynamics)
		return result;
	if (body->dynamics == FEM_DYNAMICS_RIGID_PIECES && (result = fem_body_mend_joined(world, id.index1 - 1)) != FEM_OK)
		return result;
	if (dynamics == FEM_DYNAMICS_RIGID_PIECES && (result = fem_body_cut_joined(world, id.index1 - 1)) != FEM_OK)
		return result;
	body = world->bodies[id.index1 - 1];
	body->dynamics = (uint8_t)dynamics;
	for (int32_t c = 0; c < body->topology->component_count; c++)
		body->pieces[c].is_refined = false;
	if (body->modal) {
		body->modal->is_out = false;
		fem_modal_drop_grabs(body->modal);
	}
	fem_body_wake_all(&world->islands, body);
	fem_body_release_pieces(body); // the next step makes rigid what shall be
	return FEM_OK;
}

// ---- materials

static void use_materials(FemWorld *world, FemBody *body, const int32_t materials[FEM_REGION_MAX]) {
	const FemTopology *t = body->topology;
	const int32_t *regions = world->meshes[body->mesh_index].tet_regions;
	for (int32_t user = 0; user < t->user_tet_count; user++) {
		int32_t tet = t->tet_of_user[user];
		if (tet < 0)
			continue;
		world->materials[body->tet_material[tet]].use_count--;
		body->tet_material[tet] = materials[regions ? regions[user] : 0];
		world->materials[body->tet_material[tet]].use_count++;
	}
}

// Room for the worst of the new materials comes first, so that nothing is half done when memory fails.
FemResult fem_body_set_materials(FemBodyId id, const FemMaterialId *materials, int32_t material_count) {
	FemResult result;
	FemWorld *world;
	int32_t table[FEM_REGION_MAX];
	bool breaks = false, yields = false, has_fibres = false;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || (result = fem_region_materials(world, materials, material_count, table)) != FEM_OK)
		return result;
	for (int32_t i = 0; i < FEM_REGION_MAX; i++) {
		breaks |= world->materials[table[i]].def.breakable;
		yields |= world->materials[table[i]].def.max_plastic_strain > 0.0f;
		has_fibres |= fem_material_has_fibres(&world->materials[table[i]].def);
	}
	if ((yields && !body->plastics && !fem_body_allocate_plastics(world, body)) ||
		(has_fibres && !body->fibres && !fem_body_tet_array_allocate(body, FEM_TET_FIBRES)) ||
		(breaks && !fem_body_prepare_breaking(world, id.index1 - 1)))
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for what the new materials of a body can do.");
	use_materials(world, body, table);
	bool has_room = fem_body_refresh_materials(world, body);
	FEM_ASSERT(has_room);
	(void)has_room;
	fem_body_wake_all(&world->islands, body);
	return FEM_OK;
}
