// All worlds of the process, and the lookup of records by ids.
#include "world/api/registry.h"
#include "base/memory.h"
#include "base/thread.h"
#include "world/world.h"

#include <stdatomic.h>

// Slots change under the mutex; every call of the API reads one, without it.
static FemMutex registry_mutex = FEM_MUTEX_INITIALIZER;
static _Atomic(FemWorld *) worlds[FEM_WORLD_MAX];
static uint16_t world_generations[FEM_WORLD_MAX]; // of the world in the slot, or of the next one there

uint16_t fem_next_generation(uint16_t generation) {
	return generation == UINT16_MAX ? 1 : (uint16_t)(generation + 1);
}

// Ids inside a world carry the world's place but not its generation. Starting elsewhere in each world lets ids of a
// world that is gone fail in the one that took its place.
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

FemWorld *fem_registry_at(uint32_t index0) {
	return index0 < FEM_WORLD_MAX ? atomic_load_explicit(&worlds[index0], memory_order_acquire) : NULL;
}

static void fail_id(const char *thing) {
	fem_fail(
		FEM_ERROR_INVALID_ID, "The id names no %s: it is null, or the %s or its world was destroyed.", thing, thing);
}

static bool is_idle(const FemWorld *world, FemResult *out_result) {
	*out_result = FEM_OK;
	if (!world->stepping)
		return true;
	*out_result = fem_fail(FEM_ERROR_STEPPING, "A step of the world is under way: call fem_world_step_end() first.");
	return false;
}

// ---- worlds

FemWorld *fem_world_find(FemWorldId id) {
	FemWorld *world = id.index1 ? fem_registry_at(id.index1 - 1u) : NULL;
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
	FemWorld *world = id.index1 ? fem_registry_at(id.index1 - 1u) : NULL;
	return world && world->generation == id.generation;
}

// ---- ids inside a world

// What leads from an id of one kind to its record, and back. `slot` is the place of number `index` in `world`,
// `is_live` whether there is a `record` in it. find says what is wrong with an id, find_idle also refuses while the
// world steps, is_valid is silent.
#define DEFINE_ID(Type, name, slot, is_live) \
	static Type *look_up_##name(Type##Id id, FemWorld **out_world) { \
		FemWorld *world = fem_registry_at(id.world0); \
		if (out_world) \
			*out_world = world; \
		if (!world || id.index1 < 1 || id.index1 > world->name##_capacity) \
			return NULL; \
		int32_t index = id.index1 - 1; \
		Type *record = slot; \
		return is_live && record->generation == id.generation ? record : NULL; \
	} \
\
	Type *fem_##name##_find(Type##Id id, FemWorld **out_world) { \
		Type *record = look_up_##name(id, out_world); \
		if (!record) \
			fail_id(#name); \
		return record; \
	} \
\
	Type *fem_##name##_find_idle(Type##Id id, FemWorld **out_world, FemResult *out_result) { \
		FemWorld *world; \
		Type *record = fem_##name##_find(id, &world); \
		if (out_world) \
			*out_world = world; \
		*out_result = FEM_ERROR_INVALID_ID; \
		return record && is_idle(world, out_result) ? record : NULL; \
	} \
\
	bool fem_##name##_is_valid(Type##Id id) { \
		return look_up_##name(id, NULL) != NULL; \
	} \
\
	Type##Id fem_##name##_id(const FemWorld *world, int32_t index) { \
		const Type *record = slot; \
		return (Type##Id){index + 1, world->index0, record->generation}; \
	}

DEFINE_ID(FemBody, body, world->bodies[index], record)

// Does not look into the body: that would wait for it.
void fem_body_fetch(FemBodyId id) {
	const FemWorld *world = fem_registry_at(id.world0);
	if (!world || id.index1 < 1 || id.index1 > world->body_capacity)
		return;
	const char *record = (const char *)world->bodies[id.index1 - 1];
	for (size_t i = 0; record && i < sizeof(FemBody); i += 64)
		__builtin_prefetch(record + i);
}

DEFINE_ID(FemMaterial, material, &world->materials[index], record->in_use)
DEFINE_ID(FemMesh, mesh, &world->meshes[index], record->in_use)
DEFINE_ID(FemCollider, collider, &world->colliders[index], record->in_use)

// Only index and generation count: an id names the same thing in a world and in one restored from its snapshot.
FemBodyId fem_body_in_world(FemBodyId body, FemWorldId id) {
	FemWorld *world = fem_world_find(id);
	FemBodyId moved = {body.index1, world ? world->index0 : 0, body.generation};
	return world && fem_body_find(moved, NULL) ? moved : (FemBodyId){0};
}

FemColliderId fem_collider_in_world(FemColliderId collider, FemWorldId id) {
	FemWorld *world = fem_world_find(id);
	FemColliderId moved = {collider.index1, world ? world->index0 : 0, collider.generation};
	return world && fem_collider_find(moved, NULL) ? moved : (FemColliderId){0};
}
