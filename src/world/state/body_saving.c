// Writes the state of one body, for save games, rewinding, and bodies that change worlds (body_state.h).
#include "base/assert.h"
#include "base/hash.h"
#include "world/api/registry.h"
#include "world/state/body_state.h"
#include "world/state/stream.h"
#include "world/step/breaking.h"
#include "world/world.h"

uint64_t fem_state_mesh_hash(const FemMesh *mesh) {
	uint64_t hash = fem_hash_bytes(FEM_HASH_START, mesh->positions, sizeof(FemVec3) * (size_t)mesh->node_count);
	return fem_hash_bytes(hash, mesh->tets, 4 * sizeof(int32_t) * (size_t)mesh->tet_count);
}

uint32_t fem_state_checksum(const void *data, size_t size) {
	uint64_t hash = fem_hash_bytes(FEM_HASH_START, (const char *)data + FEM_STATE_SEALED, size - FEM_STATE_SEALED);
	return (uint32_t)(hash ^ hash >> 32);
}

void fem_state_seal(void *data, size_t size) {
	FemStateHeader header;
	memcpy(&header, data, sizeof header);
	header.size = (uint32_t)size;
	header.checksum = fem_state_checksum(data, size);
	memcpy(data, &header, sizeof header);
}

void fem_state_sync_fields(FemStream *s, FemBody *body, uint32_t flags) {
	FEM_STREAM(s, body->pose_position);
	FEM_STREAM(s, body->pose_rotation);
	FEM_STREAM(s, body->layer);
	FEM_STREAM(s, body->mask);
	if (flags & FEM_STATE_TUNED) {
		FEM_STREAM(s, body->gravity_scale);
		FEM_STREAM(s, body->toughness_scale);
	}
	if (flags & FEM_STATE_BREAKS) {
		uint32_t seed = (uint32_t)body->breaking->seed; // users give 32 bits
		FEM_STREAM(s, seed);
		body->breaking->seed = seed;
	}
	if (flags & FEM_STATE_CRUSHED)
		FEM_STREAM(s, body->breaking->crushed_mass);
	if (!(flags & FEM_STATE_LIMITED))
		return;
	FEM_STREAM(s, body->breaking->piece_limit);
	FEM_STREAM(s, body->breaking->piece_lifetime);
	FEM_STREAM(s, body->breaking->piece_fade);
}

static uint32_t breaking_flags(const FemWorld *world, const FemBody *body) {
	const FemBreaking *breaking = body->breaking;
	if (!breaking)
		return 0;
	uint32_t flags = FEM_STATE_BREAKS;
	bool is_broken = fem_state_is_broken(world, body);
	flags |= is_broken ? FEM_STATE_BROKEN : 0u;
	flags |= is_broken && (breaking->splinters || breaking->loaded_homes) ? FEM_STATE_HOMES : 0u;
	flags |= breaking->crushed_mass > 0.0 ? FEM_STATE_CRUSHED : 0u;
	flags |= is_broken || !fem_state_pieces_are_new(world, body) ? FEM_STATE_PIECES : 0u;
	flags |= breaking->piece_limit != 0 || breaking->piece_lifetime != 0.0f || breaking->piece_fade != 0.0f
		? FEM_STATE_LIMITED
		: 0u;
	return flags;
}

// pose: null for a body that is deformed.
static uint32_t flags_of(const FemWorld *world, const FemBody *body, const FemRigidPose *pose) {
	uint32_t flags = breaking_flags(world, body);
	FemVec3 scale = body->scale;
	flags |= pose ? FEM_STATE_RIGID : 0u;
	flags |= pose && fem_state_pose_moves(pose) ? FEM_STATE_MOVING : 0u;
	flags |= body->gravity_scale != 1.0f || body->toughness_scale != 1.0f ? FEM_STATE_TUNED : 0u;
	flags |= scale.x != 1.0f || scale.y != 1.0f || scale.z != 1.0f ? FEM_STATE_SCALED : 0u;
	flags |= body->kinematic ? FEM_STATE_KINEMATIC : 0u;
	flags |= body->self_contact ? FEM_STATE_SELF_CONTACT : 0u;
	flags |= body->dynamics == FEM_DYNAMICS_ELEMENTS ? FEM_STATE_ELEMENTS : 0u;
	flags |= body->dynamics == FEM_DYNAMICS_RIGID ? FEM_STATE_ALWAYS_RIGID : 0u;
	flags |= body->dynamics == FEM_DYNAMICS_MODAL ? FEM_STATE_MODAL : 0u;
	flags |= body->dynamics == FEM_DYNAMICS_RIGID_PIECES ? FEM_STATE_RIGID_PIECES : 0u;
	flags |= body->joined ? FEM_STATE_JOINED : 0u;
	flags |= body->was_asleep ? FEM_STATE_WAS_ASLEEP : 0u;
	return flags | fem_state_list_flags(body, pose != NULL, flags & FEM_STATE_BROKEN);
}

static int32_t still_steps(const FemBody *body) {
	int32_t least = INT32_MAX;
	for (int32_t p = 0; p < body->topology->part_count; p++) {
		if (body->part_state[p] == FEM_ISLAND_LIVE)
			least = body->part_still[p] < least ? body->part_still[p] : least;
	}
	return least < INT32_MAX ? least : 0;
}

// False when memory fails.
static bool write_state(
	FemStream *s, const FemWorld *world, FemBody *body, FemRigidPose *pose, FemStateHeader *header) {
	FEM_STREAM(s, *header);
	if (header->flags & FEM_STATE_SCALED)
		FEM_STREAM(s, body->scale);
	fem_state_sync_fields(s, body, header->flags);
	if (!fem_state_write_breaks(s, world, body, header->flags))
		return false;
	if (header->flags & FEM_STATE_RIGID)
		fem_state_sync_pose(s, pose, header->flags);
	else
		fem_state_sync_nodes(s, body);
	fem_state_write_lists(s, body, header->flags);
	if (header->flags & FEM_STATE_JOINED)
		fem_state_write_joined(s, world, body);
	return true;
}

size_t fem_body_save(FemBodyId id, void *buffer, size_t capacity) {
	FemResult result;
	FemWorld *world;
	FemRigidPose pose;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return 0;
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	bool is_rigid = fem_state_find_pose(world, body, &pose);
	FemStateHeader header = {.magic = FEM_STATE_MAGIC,
		.version = FEM_STATE_VERSION,
		.mesh = fem_state_mesh_hash(mesh),
		.node_count = mesh->node_count,
		.tet_count = mesh->tet_count,
		.flags = flags_of(world, body, is_rigid ? &pose : NULL),
		.still = still_steps(body)};
	FemStream measure = {0};
	bool ok = write_state(&measure, world, body, &pose, &header) && measure.at <= UINT32_MAX;
	if (ok && buffer && capacity >= measure.at) {
		FemStream stream = {.out = buffer, .size = measure.at};
		ok = write_state(&stream, world, body, &pose, &header);
		FEM_ASSERT(!ok || stream.at == measure.at);
		fem_state_seal(buffer, measure.at);
	}
	if (!ok)
		fem_fail(FEM_ERROR_MEMORY, "There is no memory to save a body of %d nodes, or its state has more than 4 GB.",
			body->topology->user_node_count);
	return ok ? measure.at : 0;
}
