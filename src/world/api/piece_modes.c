// The rest shape of a piece as modes are found of it (fem_modes.h).
#include "base/error.h"
#include "base/memory.h"
#include "fem_modes.h"
#include "topology/splitting.h"
#include "topology/topology.h"
#include "world/api/pieces.h"
#include "world/api/targets.h"
#include "world/world.h"

typedef struct Shape {
	FemVec3 *positions;
	uint8_t *pinned;
	int32_t *tets, *regions;
	float *plates;
	FemModeMaterial *materials;
	int32_t *region_of; // [the world's material]: region + 1, 0: none yet
	int32_t node_count, tet_count, tet_capacity, region_count;
	int32_t material_capacity;
} Shape;

static bool reserve(Shape *shape, const FemWorld *world, const FemTopology *t, int32_t component) {
	FemRange nodes = t->component_nodes[component];
	shape->node_count = nodes.end - nodes.begin;
	shape->tet_capacity = t->component_tets[component];
	shape->material_capacity = world->material_capacity;
	shape->positions = FEM_ALLOC_ARRAY(FemVec3, shape->node_count);
	shape->pinned = FEM_ALLOC_ARRAY(uint8_t, shape->node_count);
	shape->tets = FEM_ALLOC_ARRAY(int32_t, 4 * (int64_t)shape->tet_capacity);
	shape->regions = FEM_ALLOC_ARRAY(int32_t, shape->tet_capacity);
	shape->plates = FEM_ALLOC_ARRAY(float, shape->tet_capacity);
	shape->materials = FEM_ALLOC_ARRAY(FemModeMaterial, shape->material_capacity);
	shape->region_of = FEM_ALLOC_ARRAY(int32_t, shape->material_capacity);
	return shape->positions && shape->pinned && shape->tets && shape->regions && shape->plates && shape->materials &&
		shape->region_of;
}

static void release(Shape *shape) {
	FEM_FREE_ARRAY(shape->positions, shape->node_count);
	FEM_FREE_ARRAY(shape->pinned, shape->node_count);
	FEM_FREE_ARRAY(shape->tets, 4 * (int64_t)shape->tet_capacity);
	FEM_FREE_ARRAY(shape->regions, shape->tet_capacity);
	FEM_FREE_ARRAY(shape->plates, shape->tet_capacity);
	FEM_FREE_ARRAY(shape->materials, shape->material_capacity);
	FEM_FREE_ARRAY(shape->region_of, shape->material_capacity);
}

static int32_t region_of(Shape *shape, const FemWorld *world, int32_t material) {
	FEM_ASSERT_INDEX(material, shape->material_capacity);
	if (shape->region_of[material] == 0) {
		const FemMaterialDef *def = &world->materials[material].def;
		shape->materials[shape->region_count++] =
			(FemModeMaterial){def->young_modulus, def->poisson_ratio, def->density};
		shape->region_of[material] = shape->region_count;
	}
	return shape->region_of[material] - 1;
}

// Each tet counts at its first node.
static void fill(Shape *shape, const FemWorld *world, const FemBody *body, int32_t component) {
	const FemTopology *t = body->topology;
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	FemRange nodes = t->component_nodes[component];
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		shape->positions[i - nodes.begin] = fem_vec3d_to_vec3(fem_body_rest_point(mesh, body, i));
		shape->pinned[i - nodes.begin] = body->node_kind[i] != FEM_NODE_FREE;
	}
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		int32_t tet = t->node_tets[k] / 4, user = t->user_of_tet[tet];
		if (t->node_tets[k] % 4 != 0 || user < 0 || shape->tet_count == shape->tet_capacity)
			continue;
		for (int v = 0; v < 4; v++)
			shape->tets[4 * (size_t)shape->tet_count + (size_t)v] = fem_tet_node(t, tet, v) - nodes.begin;
		shape->regions[shape->tet_count] = region_of(shape, world, body->tet_material[tet]);
		shape->plates[shape->tet_count] = mesh->tet_plates ? mesh->tet_plates[user] : 0.0f;
		shape->tet_count++;
	}
}

FemModesJob *fem_body_start_modes(FemBodyId id, FemPieceNumber piece, const FemModesDef *settings) {
	FemTarget target;
	FemModesJob *job = NULL;
	if (fem_check_out(settings) != FEM_OK || fem_target_piece(id, piece, &target) != FEM_OK)
		return NULL;
	Shape shape = {.node_count = 0};
	if (reserve(&shape, target.world, target.body->topology, target.component)) {
		fill(&shape, target.world, target.body, target.component);
		FemModesDef def = *settings;
		def.node_count = shape.node_count;
		def.node_positions = shape.positions;
		def.tet_count = shape.tet_count;
		def.tets = shape.tets;
		def.tet_regions = shape.regions;
		def.tet_plates = shape.plates;
		def.materials = shape.materials;
		def.material_count = shape.region_count;
		def.pinned_nodes = shape.pinned;
		job = fem_modes_start(&def);
	} else
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for modes: close other programs.");
	release(&shape);
	return job;
}

int32_t fem_body_get_piece_nodes(FemBodyId id, FemPieceNumber piece, int32_t *out_nodes, int32_t capacity) {
	FemTarget target;
	if (fem_target_piece(id, piece, &target) != FEM_OK)
		return 0;
	const FemTopology *t = target.body->topology;
	FemRange nodes = t->component_nodes[target.component];
	for (int32_t i = nodes.begin; out_nodes && i < nodes.end && i - nodes.begin < capacity; i++)
		out_nodes[i - nodes.begin] = t->user_of_node[i];
	return nodes.end - nodes.begin;
}
