// The state of one body, saved and put back: for save games, rewinding, and bodies that change worlds.
#include "base/hash.h"
#include "base/memory.h"
#include "world/breaking.h"
#include "world/stream.h"

#define STATE_MAGIC 0x424d4546u // "FEMB"
#define STATE_ORDER 0x01020304u

typedef struct Header {
	uint32_t magic, version, order, lanes;
	uint64_t size;     // of all, this header included
	uint64_t checksum; // of what follows the header
	uint64_t mesh;     // hash of the mesh
	double time;       // s, of the world it was saved in: pieces have ages
	FemVec3 scale;
	uint32_t breaks;   // 0 or 1
} Header;

static uint64_t hash_mesh(const FemMesh *mesh) {
	uint64_t hash = fem_hash_bytes(FEM_HASH_START, mesh->positions, sizeof(FemVec3) * (size_t)mesh->node_count);
	hash = fem_hash_bytes(hash, mesh->tets, 4 * sizeof(int32_t) * (size_t)mesh->tet_count);
	// The numbering inside follows from the partition.
	return fem_hash_bytes(hash, mesh->topology->user_of_node, sizeof(int32_t) * (size_t)mesh->node_count);
}

size_t fem_body_save(FemBodyId id, void *buffer, size_t capacity) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return 0;
	FemStream measure = {0};
	fem_snapshot_write_state(&measure, body);
	size_t size = sizeof(Header) + measure.at;
	if (!buffer || capacity < size)
		return size;
	FemStream stream = {.out = (char *)buffer + sizeof(Header), .size = measure.at};
	fem_snapshot_write_state(&stream, body);
	Header header;
	memset(&header, 0, sizeof header); // padding too: equal states are equal bytes
	header.magic = STATE_MAGIC, header.version = FEM_SNAPSHOT_VERSION, header.order = STATE_ORDER, header.lanes = FEM_LANES;
	header.size = size;
	header.checksum = fem_hash_bytes(FEM_HASH_START, stream.out, measure.at);
	header.mesh = hash_mesh(&world->meshes[body->mesh_index]);
	header.time = world->time;
	header.scale = body->scale;
	header.breaks = body->breaking != NULL;
	memcpy(buffer, &header, sizeof header);
	return size;
}

// ---------------------------------------------------------------------------------------------------------------- loading

static FemResult check_header(const FemWorld *world, const FemBody *body, const void *data, size_t size, Header *out) {
	if (!data || size < sizeof *out)
		return fem_fail(FEM_ERROR_FORMAT, "The data are too short for a body's state: pass all that fem_body_save() wrote.");
	memcpy(out, data, sizeof *out);
	if (out->magic != STATE_MAGIC)
		return fem_fail(FEM_ERROR_FORMAT, "The data are no state of a body.");
	if (out->version != FEM_SNAPSHOT_VERSION || out->order != STATE_ORDER || out->lanes != FEM_LANES)
		return fem_fail(FEM_ERROR_FORMAT, "The state is of version %u, or of another kind of machine: this engine reads %u.",
			out->version, FEM_SNAPSHOT_VERSION);
	if (out->size != size || out->checksum != fem_hash_bytes(FEM_HASH_START, (const char *)data + sizeof *out, size - sizeof *out))
		return fem_fail(FEM_ERROR_FORMAT, "The state is damaged: its length or checksum is wrong.");
	if (out->mesh != hash_mesh(&world->meshes[body->mesh_index]))
		return fem_fail(FEM_ERROR_FORMAT, "The state is of a body with another mesh: use that mesh.");
	if (!(out->scale.x > 0.0f && out->scale.y > 0.0f && out->scale.z > 0.0f) || !fem_vec3_is_finite(out->scale) || out->breaks > 1)
		return fem_fail(FEM_ERROR_FORMAT, "The state is damaged: its scale makes no sense.");
	return FEM_OK;
}

// A body of the same mesh with the materials of its regions, not yet in the world. Null (with a sentence) on failure.
static FemBody *build(FemWorld *world, int32_t mesh_index, const Header *header, const int32_t materials[FEM_REGION_MAX]) {
	const FemMesh *mesh = &world->meshes[mesh_index];
	int32_t *tet_materials = FEM_ALLOC_ARRAY(int32_t, mesh->tet_count);
	if (!tet_materials) {
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a body of %d tets.", mesh->tet_count);
		return NULL;
	}
	for (int32_t t = 0; t < mesh->tet_count; t++)
		tet_materials[t] = materials[mesh->tet_regions ? mesh->tet_regions[t] : 0];
	FemBody *body = fem_body_build(world, mesh_index, header->scale, tet_materials, header->breaks == 1);
	FEM_FREE_ARRAY(tet_materials, mesh->tet_count);
	return body;
}

static FemBody *read_state(FemWorld *world, const FemBody *old, const Header *header, const int32_t materials[FEM_REGION_MAX],
	const void *data) {
	FemStream stream = {.in = (const char *)data + sizeof(Header), .size = (size_t)header->size - sizeof(Header)};
	FemBody *body = build(world, old->mesh_index, header, materials);
	if (!body)
		return NULL;
	fem_snapshot_read_state(&stream, world, body, header->breaks == 1);
	if (stream.failed || stream.at != stream.size) {
		fem_body_discard(body);
		fem_fail(FEM_ERROR_FORMAT, "The state is damaged or memory ran out: the body was left as it is.");
		return NULL;
	}
	body->user_data = old->user_data;
	for (int32_t c = 0; body->breaking && c < body->topology->component_count; c++) {
		body->breaking->pieces[c].born += world->time - header->time;
		body->breaking->pieces[c].retires += world->time - header->time;
	}
	return body;
}

FemResult fem_body_load(FemBodyId id, const FemMaterialId *materials, int32_t material_count, const void *data, size_t size) {
	FemResult result;
	FemWorld *world;
	Header header;
	int32_t table[FEM_REGION_MAX], index = id.index1 - 1;
	FemBody *old = fem_body_find_idle(id, &world, &result);
	if (!old || (result = check_header(world, old, data, size, &header)) != FEM_OK ||
		(result = fem_region_materials(world, materials, material_count, table)) != FEM_OK)
		return result;
	FemBody *body = read_state(world, old, &header, table, data);
	if (!body)
		return FEM_ERROR_FORMAT;
	fem_world_wake_touching_body(world, index);
	fem_world_leave(world, index);
	world->islands.dirty = true;
	bool entered = fem_body_enter(world, body, index);
	// The last look tells what the single reads cannot: that all fits together.
	if (entered && fem_body_check(world, index) == FEM_OK && fem_body_check_breaking(world, index) == FEM_OK) {
		fem_body_discard(old);
		fem_body_publish(body);
		return FEM_OK;
	}
	if (entered) {
		fem_world_leave(world, index);
		fem_body_discard(body);
	}
	if (!fem_body_enter(world, old, index))
		return FEM_ERROR_MEMORY;
	return fem_fail(FEM_ERROR_FORMAT, "The state is damaged: the body was left as it is.");
}
