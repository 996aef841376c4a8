// From a whole body to one that can be split. Bodies share the topology of their mesh until they first break; then they
// get one of their own, with room for the most they can come to, and arrays by node and piece of the same size. Within
// a step, from the heap of the world.
#include "base/assert.h"
#include "base/carve.h"
#include "model/node_arrays.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/api/bodies.h"
#include "world/api/pieces.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <string.h>

static void place(FemBreaking *b, const FemTopology *t, FemCarver *carver) {
	size_t nodes = (size_t)t->node_capacity, parts = (size_t)t->part_capacity;
	b->old_pieces = FEM_CARVE(carver, FemPiece, t->component_capacity);
	b->node_rank = FEM_CARVE(carver, int32_t, nodes);
	b->part_rank = FEM_CARVE(carver, int32_t, parts);
	b->scratch = FEM_CARVE(carver, FemVec4, nodes);
	b->order = FEM_CARVE(carver, int32_t, nodes + parts + 1);
	b->cursor = FEM_CARVE(carver, int32_t, nodes + parts + 1);
	b->marks = FEM_CARVE(carver, uint8_t, nodes > parts ? nodes : parts);
}

// The arrays of `made`, a copy of the body, that are by node, part or piece. False when memory fails: those made are
// told by not being those of the body.
static bool allocate(FemBody *made, FemBreaking *breaking, bool has_contacts) {
	const FemTopology *t = made->topology;
	FemCarver measure = {0};
	place(breaking, t, &measure);
	breaking->split_block = fem_alloc_unset(measure.used); // most of it is for pieces that may never be
	breaking->split_bytes = measure.used;
	made->node_block = NULL;
	made->surface_nodes = has_contacts ? FEM_ALLOC_ARRAY_UNSET(int32_t, t->node_capacity) : NULL;
	made->surface_area = has_contacts ? FEM_ALLOC_ARRAY_UNSET(float, t->node_capacity) : NULL;
	made->reaction = made->reaction ? FEM_ALLOC_ARRAY_UNSET(FemVec4, t->node_capacity) : NULL;
	if (!breaking->split_block || !fem_body_allocate_nodes(made))
		return false;
	FemCarver carver = {.base = breaking->split_block};
	place(breaking, t, &carver);
	return true;
}

static bool is_complete(const FemBody *made, const FemBody *body) {
	bool has_surface = made->surface_nodes && made->surface_area;
	return (has_surface || !body->surface_nodes) && (made->reaction || !body->reaction);
}

static void free_arrays(FemBody *body) {
	const FemTopology *t = body->topology;
	FEM_FREE_ARRAY(body->surface_nodes, t->node_capacity);
	FEM_FREE_ARRAY(body->surface_area, t->node_capacity);
	FEM_FREE_ARRAY(body->reaction, t->node_capacity);
	fem_free(body->node_block, body->node_block_bytes);
}

static void copy_nodes(FemBody *made, const FemBody *body) {
	size_t parts = (size_t)body->topology->part_count;
	fem_node_arrays_copy(made, body);
	memcpy(made->part_state, body->part_state, parts);
	memcpy(made->part_still, body->part_still, sizeof(int32_t) * parts);
	memcpy(made->pieces, body->pieces, sizeof *made->pieces * (size_t)body->topology->component_count);
	FemVec4 *positions = made->before.positions;
	made->before = body->before;
	made->before.positions = positions;
}

static void copy_surface(FemBody *made, const FemBody *body) {
	if (!body->surface_nodes)
		return;
	memcpy(made->surface_nodes, body->surface_nodes, sizeof(int32_t) * (size_t)body->surface_node_count);
	memcpy(made->surface_area, body->surface_area, sizeof(float) * (size_t)body->surface_node_count);
}

// Places in the elimination orders that were found for the whole mesh; pieces are ordered by them.
static void take_ranks(FemBreaking *breaking, const FemMesh *mesh) {
	const FemTopology *t = mesh->topology;
	for (int32_t c = 0; c < t->component_count; c++) {
		FemRange nodes = t->component_nodes[c], parts = t->component_parts[c];
		for (int32_t k = nodes.begin; k < nodes.end; k++) {
			FEM_ASSERT_INDEX(mesh->node_order[k], nodes.end - nodes.begin);
			breaking->node_rank[nodes.begin + mesh->node_order[k]] = k;
		}
		for (int32_t k = parts.begin; k < parts.end; k++) {
			FEM_ASSERT_INDEX(mesh->part_order[k], parts.end - parts.begin);
			breaking->part_rank[parts.begin + mesh->part_order[k]] = k;
		}
	}
}

bool fem_body_make_splittable(const FemWorld *world, FemBody *body) {
	if (body->own_topology)
		return true;
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	FEM_ASSERT(body->breaking && body->topology == mesh->topology);
	FemBody made = *body;
	FemBreaking breaking = *body->breaking;
	made.own_topology = fem_topology_create_splittable(mesh->topology);
	if (!made.own_topology)
		return false;
	made.topology = made.own_topology;
	if (!allocate(&made, &breaking, body->surface_nodes != NULL) || !is_complete(&made, body)) {
		free_arrays(&made);
		fem_free(breaking.split_block, breaking.split_bytes);
		fem_topology_free(made.own_topology);
		return false;
	}
	FEM_ASSERT(made.topology->node_capacity >= body->topology->node_count);
	copy_nodes(&made, body);
	copy_surface(&made, body);
	take_ranks(&breaking, mesh);
	free_arrays(body);
	*body->breaking = breaking;
	*body = made;
	return true;
}
