// A mesh's partition and elimination orders as data. METIS takes some 4 ms a thousand tets to find them; a mesh that
// brings those of its last making is made in a fraction of the time.
#include "base/hash.h"
#include "base/memory.h"
#include "topology/topology.h"
#include "world/api/meshes.h"
#include "world/api/registry.h"
#include "world/step/solver_state.h"
#include "world/world.h"

#include <string.h>

#define LAYOUT_VERSION 1 // of the array that fem_mesh_get_layout() hands out; others are refused

typedef struct Header {
	int32_t version, node_count, tet_count, part_count;
	uint64_t tets; // hash of the tets
} Header;

#define HEADER_WORDS ((int32_t)(sizeof(Header) / sizeof(int32_t))) // words of the header above

static uint64_t hash_tets(int32_t tet_count, const int32_t *tets) {
	return fem_hash_bytes(FEM_HASH_START, tets, 4 * sizeof(int32_t) * (size_t)tet_count);
}

int32_t fem_mesh_get_layout(FemMeshId id, int32_t *out_layout, int32_t capacity) {
	FemResult result;
	FemWorld *world;
	const FemMesh *mesh = fem_mesh_find_idle(id, &world, &result);
	if (!mesh)
		return 0;
	const FemTopology *t = mesh->topology;
	int32_t nodes = mesh->node_count, parts = t->part_count, count = HEADER_WORDS + 2 * nodes + parts;
	if (!out_layout || capacity < count)
		return count;
	Header header = {LAYOUT_VERSION, nodes, mesh->tet_count, parts, hash_tets(mesh->tet_count, mesh->tets)};
	memcpy(out_layout, &header, sizeof header);
	int32_t *node_part = out_layout + HEADER_WORDS;
	for (int32_t user = 0; user < nodes; user++)
		node_part[user] = t->node_part[t->node_of_user[user]];
	memcpy(node_part + nodes, mesh->node_order, sizeof(int32_t) * (size_t)nodes);
	memcpy(node_part + 2 * nodes, mesh->part_order, sizeof(int32_t) * (size_t)parts);
	return count;
}

const int32_t *fem_mesh_layout_parts(const FemMesh *mesh, const int32_t *layout, int32_t count) {
	Header header;
	if (!layout || count < HEADER_WORDS)
		return NULL;
	memcpy(&header, layout, sizeof header);
	if (header.version != LAYOUT_VERSION || header.node_count != mesh->node_count ||
		header.tet_count != mesh->tet_count || header.part_count < 1 || header.part_count > mesh->node_count ||
		(int64_t)count != HEADER_WORDS + 2 * (int64_t)mesh->node_count + header.part_count ||
		header.tets != hash_tets(mesh->tet_count, mesh->tets))
		return NULL;
	const int32_t *node_part = layout + HEADER_WORDS;
	for (int32_t i = 0; i < mesh->node_count; i++) {
		if (node_part[i] < 0 || node_part[i] >= header.part_count)
			return NULL;
	}
	return node_part;
}

// Whether a range's orders name each of its members once; `seen` holds zeros, and does again afterwards when they do.
static bool is_order(const int32_t *order, int32_t count, uint8_t *seen) {
	for (int32_t k = 0; k < count; k++) {
		if (order[k] < 0 || order[k] >= count || seen[order[k]])
			return false;
		seen[order[k]] = 1;
	}
	memset(seen, 0, (size_t)count);
	return true;
}

bool fem_mesh_take_layout_orders(FemMesh *mesh, const int32_t *layout) {
	const FemTopology *t = mesh->topology;
	Header header;
	memcpy(&header, layout, sizeof header);
	uint8_t *seen = header.part_count == t->part_count ? FEM_ALLOC_ARRAY(uint8_t, t->node_count) : NULL;
	const int32_t *node_order = layout + HEADER_WORDS + t->node_count, *part_order = node_order + t->node_count;
	bool ok = seen != NULL;
	for (int32_t c = 0; ok && c < t->component_count; c++) {
		FemRange nodes = t->component_nodes[c], parts = t->component_parts[c];
		ok = is_order(node_order + nodes.begin, nodes.end - nodes.begin, seen) &&
			is_order(part_order + parts.begin, parts.end - parts.begin, seen);
	}
	FEM_FREE_ARRAY(seen, t->node_count);
	if (!ok)
		return false;
	mesh->node_order = FEM_ALLOC_ARRAY(int32_t, t->node_count);
	mesh->part_order = FEM_ALLOC_ARRAY(int32_t, t->part_count);
	if (!mesh->node_order || !mesh->part_order) {
		fem_mesh_free_orders(mesh);
		return false;
	}
	memcpy(mesh->node_order, node_order, sizeof(int32_t) * (size_t)t->node_count);
	memcpy(mesh->part_order, part_order, sizeof(int32_t) * (size_t)t->part_count);
	return true;
}
