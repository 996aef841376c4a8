// All worlds of the process, and the way from ids to records.
#include "base/memory.h"
#include "base/thread.h"
#include "world/world.h"

static FemMutex registry_mutex = FEM_MUTEX_INITIALIZER;
static FemWorld *worlds[FEM_WORLD_MAX];
static uint16_t world_generations[FEM_WORLD_MAX]; // of the world in the slot, or of the next one there

uint16_t fem_next_generation(uint16_t generation) {
	return generation == UINT16_MAX ? 1 : (uint16_t)(generation + 1);
}

// Ids inside a world carry the world's place but not its generation. Starting elsewhere in each world lets ids of a world
// that is gone fail in the one that took its place.
uint16_t fem_first_generation(const FemWorld *world) {
	uint16_t first = (uint16_t)(world->generation * 97u);
	return first ? first : 1;
}

FemWorld *fem_registry_add(void) {
	FemWorld *world = fem_alloc(sizeof *world);
	if (!world) {
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a world.");
		return NULL;
	}
	fem_mutex_lock(&registry_mutex);
	int32_t index = 0;
	while (index < FEM_WORLD_MAX && worlds[index])
		index++;
	if (index < FEM_WORLD_MAX) {
		world_generations[index] = fem_next_generation(world_generations[index]);
		*world = (FemWorld){.generation = world_generations[index], .in_use = true, .index0 = (uint16_t)index};
		worlds[index] = world;
	}
	fem_mutex_unlock(&registry_mutex);
	if (index < FEM_WORLD_MAX)
		return world;
	fem_free(world, sizeof *world);
	fem_fail(FEM_ERROR_LIMIT, "There are %d worlds already: destroy one before making another.", FEM_WORLD_MAX);
	return NULL;
}

void fem_registry_remove(FemWorld *world) {
	fem_mutex_lock(&registry_mutex);
	worlds[world->index0] = NULL;
	fem_mutex_unlock(&registry_mutex);
	fem_free(world, sizeof *world);
}

static FemWorld *world_at(uint32_t index0) {
	if (index0 >= FEM_WORLD_MAX)
		return NULL;
	fem_mutex_lock(&registry_mutex);
	FemWorld *world = worlds[index0];
	fem_mutex_unlock(&registry_mutex);
	return world;
}

static void fail_id(const char *thing) {
	fem_fail(FEM_ERROR_INVALID_ID, "The id names no %s: it is null, or the %s or its world was destroyed.", thing, thing);
}

static bool is_idle(const FemWorld *world, FemResult *out_result) {
	*out_result = FEM_OK;
	if (!world->stepping)
		return true;
	*out_result = fem_fail(FEM_ERROR_STEPPING, "A step of the world is under way: call fem_world_step_end() first.");
	return false;
}

// ---------------------------------------------------------------------------------------------------------------- worlds

FemWorld *fem_world_find(FemWorldId id) {
	FemWorld *world = id.index1 ? world_at(id.index1 - 1u) : NULL;
	if (world && world->generation == id.generation)
		return world;
	fail_id("world");
	return NULL;
}

FemWorld *fem_world_find_idle(FemWorldId id, FemResult *out_result) {
	FemWorld *world = fem_world_find(id);
	if (world)
		return is_idle(world, out_result) ? world : NULL;
	*out_result = FEM_ERROR_INVALID_ID;
	return NULL;
}

bool fem_world_is_valid(FemWorldId id) {
	FemWorld *world = id.index1 ? world_at(id.index1 - 1u) : NULL;
	return world && world->generation == id.generation;
}

// ---------------------------------------------------------------------------------------------------------------- bodies

static FemBody *find_body(FemBodyId id, FemWorld **out_world) {
	FemWorld *world = world_at(id.world0);
	if (out_world)
		*out_world = world;
	if (!world || id.index1 < 1 || id.index1 > world->body_capacity)
		return NULL;
	FemBody *body = world->bodies[id.index1 - 1];
	return body && body->generation == id.generation ? body : NULL;
}

FemBody *fem_body_find(FemBodyId id, FemWorld **out_world) {
	FemBody *body = find_body(id, out_world);
	if (!body)
		fail_id("body");
	return body;
}

FemBody *fem_body_find_idle(FemBodyId id, FemWorld **out_world, FemResult *out_result) {
	FemWorld *world;
	FemBody *body = fem_body_find(id, &world);
	if (out_world)
		*out_world = world;
	*out_result = FEM_ERROR_INVALID_ID;
	return body && is_idle(world, out_result) ? body : NULL;
}

bool fem_body_is_valid(FemBodyId id) {
	return find_body(id, NULL) != NULL;
}

FemBodyId fem_body_id(const FemWorld *world, int32_t body_index) {
	return (FemBodyId){body_index + 1, world->index0, world->bodies[body_index]->generation};
}

// The slot may be asked for while it is free in the saved world: only index and generation count.
FemBodyId fem_body_in_world(FemBodyId body, FemWorldId id) {
	FemWorld *world = fem_world_find(id);
	FemBodyId moved = {body.index1, world ? world->index0 : 0, body.generation};
	return world && fem_body_find(moved, NULL) ? moved : (FemBodyId){0};
}

// ------------------------------------------------------------------------------------------------------ materials, meshes

static FemMaterial *find_material(FemMaterialId id, FemWorld **out_world) {
	FemWorld *world = world_at(id.world0);
	if (out_world)
		*out_world = world;
	if (!world || id.index1 < 1 || id.index1 > world->material_capacity)
		return NULL;
	FemMaterial *material = &world->materials[id.index1 - 1];
	return material->in_use && material->generation == id.generation ? material : NULL;
}

FemMaterial *fem_material_find(FemMaterialId id, FemWorld **out_world) {
	FemMaterial *material = find_material(id, out_world);
	if (!material)
		fail_id("material");
	return material;
}

FemMaterial *fem_material_find_idle(FemMaterialId id, FemWorld **out_world, FemResult *out_result) {
	FemMaterial *material = fem_material_find(id, out_world);
	*out_result = FEM_ERROR_INVALID_ID;
	return material && is_idle(*out_world, out_result) ? material : NULL;
}

bool fem_material_is_valid(FemMaterialId id) {
	return find_material(id, NULL) != NULL;
}

FemMaterialId fem_material_id(const FemWorld *world, int32_t index) {
	return (FemMaterialId){index + 1, world->index0, world->materials[index].generation};
}

static FemMesh *find_mesh(FemMeshId id, FemWorld **out_world) {
	FemWorld *world = world_at(id.world0);
	if (out_world)
		*out_world = world;
	if (!world || id.index1 < 1 || id.index1 > world->mesh_capacity)
		return NULL;
	FemMesh *mesh = &world->meshes[id.index1 - 1];
	return mesh->in_use && mesh->generation == id.generation ? mesh : NULL;
}

FemMesh *fem_mesh_find(FemMeshId id, FemWorld **out_world) {
	FemMesh *mesh = find_mesh(id, out_world);
	if (!mesh)
		fail_id("mesh");
	return mesh;
}

FemMesh *fem_mesh_find_idle(FemMeshId id, FemWorld **out_world, FemResult *out_result) {
	FemMesh *mesh = fem_mesh_find(id, out_world);
	*out_result = FEM_ERROR_INVALID_ID;
	return mesh && is_idle(*out_world, out_result) ? mesh : NULL;
}

bool fem_mesh_is_valid(FemMeshId id) {
	return find_mesh(id, NULL) != NULL;
}

FemMeshId fem_mesh_id(const FemWorld *world, int32_t index) {
	return (FemMeshId){index + 1, world->index0, world->meshes[index].generation};
}

// -------------------------------------------------------------------------------------------------------------- colliders

static FemCollider *find_collider(FemColliderId id, FemWorld **out_world) {
	FemWorld *world = world_at(id.world0);
	if (out_world)
		*out_world = world;
	if (!world || id.index1 < 1 || id.index1 > world->collider_capacity)
		return NULL;
	FemCollider *collider = &world->colliders[id.index1 - 1];
	return collider->in_use && collider->generation == id.generation ? collider : NULL;
}

FemCollider *fem_collider_find(FemColliderId id, FemWorld **out_world) {
	FemCollider *collider = find_collider(id, out_world);
	if (!collider)
		fail_id("collider");
	return collider;
}

FemCollider *fem_collider_find_idle(FemColliderId id, FemWorld **out_world, FemResult *out_result) {
	FemCollider *collider = fem_collider_find(id, out_world);
	*out_result = FEM_ERROR_INVALID_ID;
	return collider && is_idle(*out_world, out_result) ? collider : NULL;
}

bool fem_collider_is_valid(FemColliderId id) {
	return find_collider(id, NULL) != NULL;
}

FemColliderId fem_collider_in_world(FemColliderId collider, FemWorldId id) {
	FemWorld *world = fem_world_find(id);
	FemColliderId moved = {collider.index1, world ? world->index0 : 0, collider.generation};
	return world && fem_collider_find(moved, NULL) ? moved : (FemColliderId){0};
}

FemColliderId fem_collider_id(const FemWorld *world, int32_t index) {
	return (FemColliderId){index + 1, world->index0, world->colliders[index].generation};
}
