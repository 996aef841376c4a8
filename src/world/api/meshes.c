#include "world/api/meshes.h"
#include "base/memory.h"
#include "islands/metis_partition.h"
#include "topology/tet_mesh.h"
#include "topology/topology.h"
#include "world/api/cookies.h"
#include "world/api/registry.h"
#include "world/api/splinters.h"
#include "world/step/solver_state.h"
#include "world/world.h"

#include <string.h>

#define QUALITY_CLAMP 4.0f // default of FemMeshDef.quality_clamp; chosen (docs/method.md, "Slivers")

FemMeshDef fem_default_mesh_def(void) {
	return (FemMeshDef){.quality_clamp = QUALITY_CLAMP, .stretch = {1.0f, 1.0f, 1.0f}, .cookie = FEM_COOKIE_MESH};
}

// ---- partition

// Parts of about FEM_PART_NODES nodes. A mesh of one part needs no METIS (which dies on fewer than 2).
static FemResult partition(const FemMesh *mesh, int32_t *out_part) {
	int32_t part_count = (mesh->node_count + FEM_PART_NODES - 1) / FEM_PART_NODES;
	if (part_count < 2)
		return FEM_OK;  // zeroed
	FemNodeGraph graph; // of tets alone: further edges within cells change nothing that matters here
	if (!fem_node_graph_create(&graph, mesh->node_count, mesh->tets, mesh->tet_count))
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the graph of %d nodes.", mesh->node_count);
	int failed = fem_metis_partition(mesh->node_count, graph.row_start, graph.column, part_count, out_part);
	fem_node_graph_free(&graph);
	return failed ? fem_fail(FEM_ERROR_MEMORY, "The mesh of %d nodes could not be partitioned.", mesh->node_count)
				  : FEM_OK;
}

// Of the shape that bodies have. False when memory fails.
static bool find_plate_cells(const FemMesh *mesh, FemPlateCells *out) {
	FemVec3 *stretched = FEM_ALLOC_ARRAY_UNSET(FemVec3, mesh->node_count);
	if (!stretched)
		return false;
	for (int32_t i = 0; i < mesh->node_count; i++)
		stretched[i] = fem_vec3_multiply(mesh->positions[i], mesh->stretch);
	bool is_found = fem_plate_cells_find(
		stretched, mesh->node_count, mesh->tets, mesh->tet_count, mesh->tet_plates, mesh->tet_regions, out);
	FEM_FREE_ARRAY(stretched, mesh->node_count);
	return is_found;
}

// layout: null, or one whose partition this is.
static FemResult build_with_parts(FemMesh *mesh, const int32_t *part, const int32_t *layout) {
	FemPlateCells cells;
	if (find_plate_cells(mesh, &cells))
		mesh->topology = fem_topology_create_with_cells(mesh->node_count, mesh->tets, mesh->tet_count, part, &cells);
	if (!mesh->topology)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the topology of %d tets.", mesh->tet_count);
	if (layout && fem_mesh_take_layout_orders(mesh, layout))
		return FEM_OK;
	if (!fem_mesh_make_orders(mesh))
		return fem_fail(
			FEM_ERROR_MEMORY, "The system gave no memory for the elimination orders of %d nodes.", mesh->node_count);
	return FEM_OK;
}

static FemResult build_topology(FemMesh *mesh) {
	int32_t *part = FEM_ALLOC_ARRAY(int32_t, mesh->node_count);
	if (!part)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the parts of %d nodes.", mesh->node_count);
	FemResult result = partition(mesh, part);
	if (result == FEM_OK)
		result = build_with_parts(mesh, part, NULL);
	FEM_FREE_ARRAY(part, mesh->node_count);
	return result;
}

// ---- copy and free

// Null for a null source; clears *ok when memory fails.
static void *copy_array(const void *source, size_t bytes, bool *ok) {
	void *copy = source ? fem_alloc(bytes) : NULL;
	if (copy)
		memcpy(copy, source, bytes);
	*ok = *ok && (copy || !source);
	return copy;
}

static bool has_plates(const FemMeshDef *def) {
	for (int32_t t = 0; def->tet_plates && t < def->tet_count; t++) {
		if (def->tet_plates[t] > 0.0f)
			return true;
	}
	return false;
}

static bool copy_arrays(FemMesh *mesh, const FemMeshDef *def) {
	size_t tets = (size_t)def->tet_count;
	bool ok = true;
	mesh->positions = copy_array(def->node_positions, sizeof(FemVec3) * (size_t)def->node_count, &ok);
	mesh->tets = copy_array(def->tets, sizeof(int32_t) * 4 * tets, &ok);
	mesh->tet_regions = copy_array(def->tet_regions, sizeof(int32_t) * tets, &ok);
	mesh->tet_plates = copy_array(has_plates(def) ? def->tet_plates : NULL, sizeof(float) * tets, &ok);
	return ok;
}

void fem_mesh_clear(FemMesh *mesh) {
	fem_mesh_forget_splinters(mesh);
	FEM_FREE_ARRAY(mesh->positions, mesh->node_count);
	FEM_FREE_ARRAY(mesh->tets, 4 * (size_t)mesh->tet_count);
	FEM_FREE_ARRAY(mesh->tet_regions, mesh->tet_count);
	FEM_FREE_ARRAY(mesh->tet_plates, mesh->tet_count);
	fem_mesh_free_orders(mesh);
	fem_topology_free(mesh->topology);
	*mesh = (FemMesh){.generation = mesh->generation};
}

FemResult fem_mesh_fill(FemMesh *mesh, const FemMeshDef *def, const int32_t *node_part) {
	*mesh = (FemMesh){
		.generation = mesh->generation,
		.node_count = def->node_count,
		.tet_count = def->tet_count,
		.quality_clamp = def->quality_clamp,
		.stretch = def->stretch,
		.moments = fem_volume_moments(def->node_positions, def->tets, def->tet_count),
	};
	FemResult result = FEM_OK;
	if (!copy_arrays(mesh, def)) {
		result = fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a mesh of %d tets.", def->tet_count);
	} else {
		for (int32_t t = 0; t < mesh->tet_count; t++)
			fem_tet_orient(mesh->positions, mesh->tets + 4 * (size_t)t);
		const int32_t *laid_out = node_part ? NULL : fem_mesh_layout_parts(mesh, def->layout, def->layout_count);
		if (node_part || laid_out)
			result = build_with_parts(mesh, node_part ? node_part : laid_out, laid_out ? def->layout : NULL);
		else
			result = build_topology(mesh);
	}
	if (result == FEM_OK)
		mesh->in_use = true;
	else
		fem_mesh_clear(mesh);
	return result;
}

// ---- public calls

static bool grow_slots(FemWorld *world) {
	int32_t old = world->mesh_capacity;
	int32_t capacity = old < 16 ? 16 : old + old / 2;
	FemMesh *grown = fem_realloc(world->meshes, sizeof *grown * (size_t)old, sizeof *grown * (size_t)capacity);
	if (!grown)
		return false;
	world->meshes = grown;
	world->mesh_capacity = capacity;
	for (int32_t i = old; i < capacity; i++)
		grown[i].generation = fem_first_generation(world);
	return true;
}

int32_t fem_mesh_slot(FemWorld *world) {
	int32_t index = 0;
	while (index < world->mesh_capacity && world->meshes[index].in_use)
		index++;
	if (index == world->mesh_capacity && !grow_slots(world)) {
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for another mesh.");
		return -1;
	}
	return index;
}

FemMeshId fem_mesh_create(FemWorldId id, const FemMeshDef *def) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world)
		return (FemMeshId){0};
	if (!def || def->cookie != FEM_COOKIE_MESH) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The mesh def is null or was not made by fem_default_mesh_def(): start from that.");
		return (FemMeshId){0};
	}
	if (fem_tet_mesh_check(def) != FEM_OK)
		return (FemMeshId){0};
	int32_t index = fem_mesh_slot(world);
	if (index < 0 || fem_mesh_fill(&world->meshes[index], def, NULL) != FEM_OK)
		return (FemMeshId){0};
	return fem_mesh_id(world, index);
}

FemResult fem_mesh_destroy(FemMeshId id) {
	FemResult result;
	FemWorld *world;
	FemMesh *mesh = fem_mesh_find_idle(id, &world, &result);
	if (!mesh)
		return result;
	if (mesh->use_count > 0)
		return fem_fail(FEM_ERROR_IN_USE, "%d bodies still use the mesh: destroy them first.", mesh->use_count);
	fem_mesh_clear(mesh);
	mesh->generation = fem_next_generation(mesh->generation);
	return FEM_OK;
}
