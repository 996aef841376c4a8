// What a body keeps that can break: its own topology, the toughness of its tets, its pieces. Reserved for the worst case
// when the body is made, so that a step allocates nothing for it.
#include "base/carve.h"
#include "base/hash.h"
#include "mesh/topology.h"
#include "world/breaking.h"

#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------------- toughness

// A number in -1..1 that belongs to a tet of a body.
static float chance(const FemBody *body, int32_t user_tet) {
	uint64_t hash = fem_hash_word(FEM_HASH_START, body->breaking->seed);
	hash = fem_hash_word(fem_hash_word(hash, (uint64_t)user_tet), 1);
	return (float)((double)(hash >> 11) * 0x1p-52 - 1.0);
}

static void set_grain(FemBody *body, int32_t tet, const FemMaterialDef *def) {
	FemVec3 g = def->grain_direction;
	float length = sqrtf(g.x * g.x + g.y * g.y + g.z * g.z);
	bool has_grain = def->grain_ratio > 1.0f && length > 0.0f;
	body->breaking->has_grain |= has_grain;
	body->breaking->tet_grain[tet] =
		has_grain ? (FemVec4){g.x / length, g.y / length, g.z / length, 1.0f - 1.0f / sqrtf(def->grain_ratio)} : (FemVec4){0};
}

void fem_body_refresh_toughness(const FemWorld *world, FemBody *body) {
	FemBreaking *breaking = body->breaking;
	if (!breaking)
		return;
	breaking->has_grain = breaking->can_break = false;
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		int32_t user = body->topology->user_of_tet[tet];
		breaking->tet_toughness[tet] = INFINITY;
		if (user < 0)
			continue;
		const FemMaterialDef *def = &world->materials[body->tet_material[tet]].def;
		float scale = body->toughness_scale, factor = breaking->tet_scale[tet] * (1.0f + def->toughness_variation * chance(body, user));
		breaking->tet_by_force[tet] = def->toughness_mode == FEM_TOUGHNESS_FORCE;
		if (def->breakable && !isinf(def->toughness) && !isinf(factor) && !isinf(scale))
			breaking->tet_toughness[tet] = def->toughness * factor * scale;
		breaking->can_break |= !isinf(breaking->tet_toughness[tet]);
		set_grain(body, tet, def);
	}
}

FemResult fem_body_set_tet_toughness(FemBodyId id, int32_t user_tet, float factor) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return result;
	const FemTopology *t = body->topology;
	if (user_tet < 0 || user_tet >= t->user_tet_count || t->tet_of_user[user_tet] < 0)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The body has no tet %d: use 0..%d that were not removed.", user_tet,
			t->user_tet_count - 1);
	if (!(factor >= 0.0f))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "factor must be 0 or a positive number; infinite never breaks.");
	if (!body->breaking)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The body has no material that breaks: set breakable in one of them first.");
	body->breaking->tet_scale[t->tet_of_user[user_tet]] = factor;
	fem_body_refresh_toughness(world, body);
	return FEM_OK;
}

FemResult fem_body_set_fracture_seed(FemBodyId id, uint32_t fracture_seed) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return result;
	if (!body->breaking)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The body has no material that breaks: set breakable in one of them first.");
	body->breaking->seed = fracture_seed;
	fem_body_refresh_toughness(world, body);
	return FEM_OK;
}

// ---------------------------------------------------------------------------------------------------------------- memory

static void place(FemBreaking *b, const FemTopology *t, FemCarver *carver) {
	size_t lanes = (size_t)t->batch_count * FEM_LANES, nodes = (size_t)t->node_capacity;
	b->tet_scale = FEM_CARVE(carver, float, lanes);
	b->tet_toughness = FEM_CARVE(carver, float, lanes);
	b->tet_by_force = FEM_CARVE(carver, uint8_t, lanes);
	b->tet_grain = FEM_CARVE(carver, FemVec4, lanes);
	b->pieces = FEM_CARVE(carver, FemPiece, t->component_capacity);
	b->old_pieces = FEM_CARVE(carver, FemPiece, t->component_capacity);
	b->piece_kinds = FEM_CARVE(carver, uint8_t, t->component_capacity);
	b->node_rank = FEM_CARVE(carver, int32_t, nodes);
	b->part_rank = FEM_CARVE(carver, int32_t, t->part_capacity);
	b->node_hot = FEM_CARVE(carver, uint8_t, nodes);
	b->tension = FEM_CARVE(carver, FemTetStress, lanes);
	b->separations = FEM_CARVE(carver, FemSeparation, nodes);
	b->cut_capacity = 2 * t->user_tet_count + 4;
	b->cuts = FEM_CARVE(carver, FemFaceCut, b->cut_capacity);
	b->faces = FEM_CARVE(carver, FemFractureFace, b->cut_capacity);
	b->scratch = FEM_CARVE(carver, FemVec4, nodes);
	size_t parts = (size_t)t->part_capacity;
	b->order = FEM_CARVE(carver, int32_t, nodes + parts + 1);
	b->cursor = FEM_CARVE(carver, int32_t, nodes + parts + 1);
}

static FemBreaking *allocate(const FemTopology *t) {
	FemBreaking sizes = {0};
	FemCarver measure = {0};
	fem_carve(&measure, sizeof sizes);
	place(&sizes, t, &measure);
	char *block = fem_alloc_unset(measure.used); // most of it is for pieces that may never be
	if (!block)
		return NULL;
	FemCarver carver = {.base = block};
	FemBreaking *breaking = fem_carve(&carver, sizeof sizes);
	*breaking = (FemBreaking){.block = block, .bytes = measure.used};
	place(breaking, t, &carver);
	memset(breaking->node_hot, 0, (size_t)t->node_capacity);
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		breaking->tet_scale[tet] = 1.0f;
		breaking->tet_by_force[tet] = false;
		breaking->tet_grain[tet] = (FemVec4){0};
	}
	return breaking;
}

// Places in the elimination orders that were found for the whole mesh; pieces are ordered by them.
static void take_ranks(FemBreaking *breaking, const FemMesh *mesh) {
	const FemTopology *t = mesh->topology;
	for (int32_t c = 0; c < t->component_count; c++) {
		FemRange nodes = t->component_nodes[c], parts = t->component_parts[c];
		for (int32_t k = nodes.begin; k < nodes.end; k++)
			breaking->node_rank[nodes.begin + mesh->node_order[k]] = k;
		for (int32_t k = parts.begin; k < parts.end; k++)
			breaking->part_rank[parts.begin + mesh->part_order[k]] = k;
	}
}

static bool make_breaking(FemWorld *world, FemBody *body, const FemMesh *mesh) {
	body->own_topology = fem_topology_create_splittable(mesh->topology);
	if (!body->own_topology)
		return false;
	body->breaking = allocate(body->own_topology);
	if (!body->breaking) {
		fem_topology_free(body->own_topology);
		body->own_topology = NULL;
		return false;
	}
	body->topology = body->own_topology;
	take_ranks(body->breaking, mesh);
	fem_pieces_start(world, body);
	return true;
}

bool fem_body_breaking_create(FemWorld *world, FemBody *body, const FemMesh *mesh, const int32_t *tet_materials, bool breaks) {
	for (int32_t t = 0; t < mesh->tet_count; t++)
		breaks |= world->materials[tet_materials[t]].def.breakable;
	return !breaks || make_breaking(world, body, mesh);
}

void fem_body_breaking_free(FemBody *body) {
	if (body->breaking) {
		fem_splinters_free(body->breaking->splinters);
		fem_free(body->breaking->block, body->breaking->bytes);
	}
	body->breaking = NULL;
}

// -------------------------------------------------------------------------------------------------- a body in the world

static void copy_nodes(FemBody *body, const FemBody *from) {
	size_t nodes = (size_t)from->topology->node_count, parts = (size_t)from->topology->part_count;
	memcpy(body->position, from->position, sizeof(FemVec4) * nodes);
	memcpy(body->velocity, from->velocity, sizeof(FemVec4) * nodes);
	memcpy(body->last_dv, from->last_dv, sizeof(FemVec4) * nodes);
	memcpy(body->force, from->force, sizeof(FemVec4) * nodes);
	memcpy(body->mass, from->mass, sizeof(float) * nodes);
	memcpy(body->mass_damping, from->mass_damping, sizeof(float) * nodes);
	memcpy(body->node_kind, from->node_kind, nodes);
	memcpy(body->ground_force, from->ground_force, sizeof(float) * nodes);
	memcpy(body->published, from->published, sizeof(FemVec4) * nodes);
	memcpy(body->good_velocity, from->good_velocity, sizeof(FemVec4) * nodes);
	memcpy(body->part_state, from->part_state, parts);
	memcpy(body->part_still, from->part_still, sizeof(int32_t) * parts);
}

// A material of the body has become breakable: it gets larger arrays and enters the world anew, in its slot.
bool fem_body_prepare_breaking(FemWorld *world, int32_t body_index) {
	FemBody *body = world->bodies[body_index], old = *body;
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	if (body->breaking)
		return true;
	if (!make_breaking(world, body, mesh))
		return false;
	FemVec4 *reaction = old.reaction ? FEM_ALLOC_ARRAY(FemVec4, body->topology->node_capacity) : NULL;
	if ((old.reaction && !reaction) || !fem_body_allocate_nodes(body)) {
		FEM_FREE_ARRAY(reaction, body->topology->node_capacity);
		fem_body_breaking_free(body);
		fem_topology_free(body->own_topology);
		*body = old;
		return false;
	}
	copy_nodes(body, &old);
	if (old.reaction)
		memcpy(reaction, old.reaction, sizeof(FemVec4) * (size_t)old.topology->node_count);
	FemBody made = *body;
	*body = old;
	fem_world_leave(world, body_index);
	fem_body_solver_free(body);
	FEM_FREE_ARRAY(old.reaction, old.topology->node_capacity);
	fem_free(old.node_block, old.node_block_bytes);
	made.reaction = reaction;
	made.preconditioners = NULL;
	made.trees = NULL;
	made.sweep_proxies = NULL;
	made.sweep_proxy_count = 0;
	made.tet_exterior = NULL;
	made.surface_nodes = NULL;
	made.surface_area = NULL;
	made.surface_node_count = 0;
	*body = made;
	fem_body_refresh_toughness(world, body);
	return fem_body_solver_create(body, mesh) && fem_body_enter(world, body, body_index);
}
