// The engine's materials and meshes that the bodies of a world share.
#include "simulation/simulation_world.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"
#include "classes/material_resource.h"

#include <stdlib.h>

// ---- materials

static MaterialEntry *find_material(SimulationWorld *world, GDExtensionObjectPtr resource, float density_scale) {
	for (int32_t i = 0; i < world->material_count; i++) {
		if (world->materials[i].resource == resource && world->materials[i].density_scale == density_scale) {
			return &world->materials[i];
		}
	}
	return NULL;
}

static FemMaterialDef scaled_def(GDExtensionObjectPtr resource, float density_scale) {
	FemMaterialDef def = material_resource_def(resource);
	def.density *= density_scale;
	return def;
}

static MaterialEntry *add_material(SimulationWorld *world, GDExtensionObjectPtr resource, float density_scale) {
	if (world->material_count == world->material_capacity) {
		int32_t capacity = world->material_capacity ? 2 * world->material_capacity : 8;
		MaterialEntry *materials = realloc(world->materials, (size_t)capacity * sizeof(MaterialEntry));
		if (!materials) {
			return NULL;
		}
		world->materials = materials;
		world->material_capacity = capacity;
	}
	FemMaterialDef def = scaled_def(resource, density_scale);
	MaterialEntry entry = {resource, density_scale, fem_material_create(world->id, &def), 0};
	if (!fem_material_is_valid(entry.id)) {
		return NULL;
	}
	material_resource_add_use(resource, 1);
	world->materials[world->material_count] = entry;
	return &world->materials[world->material_count++];
}

FemMaterialId simulation_world_acquire_material(
	SimulationWorld *world, GDExtensionObjectPtr resource, float density_scale) {
	MaterialEntry *entry = find_material(world, resource, density_scale);
	entry = entry ? entry : add_material(world, resource, density_scale);
	if (!entry) {
		return (FemMaterialId){0};
	}
	entry->use_count++;
	return entry->id;
}

void simulation_world_release_material(SimulationWorld *world, GDExtensionObjectPtr resource, float density_scale) {
	MaterialEntry *entry = find_material(world, resource, density_scale);
	if (entry && --entry->use_count == 0) {
		material_resource_add_use(resource, -1);
		fem_material_destroy(entry->id);
		*entry = world->materials[--world->material_count];
	}
}

void simulation_world_update_material(SimulationWorld *world, GDExtensionObjectPtr resource) {
	bool is_used = false;
	for (int32_t i = 0; i < world->material_count; i++) {
		const MaterialEntry *entry = &world->materials[i];
		if (entry->resource != resource) {
			continue;
		}
		FemMaterialDef def = scaled_def(resource, entry->density_scale);
		is_used = true;
		if (fem_material_set(entry->id, &def) != FEM_OK) {
			report_error("MaterialResource: the new values were refused: %s", fem_last_error());
		}
	}
	for (int32_t i = 0; is_used && i < world->body_count; i++) {
		simulation_body_apply_settings(world->bodies[i]);
	}
}

// ---- meshes

FemMeshId simulation_make_box_mesh(FemWorldId world, const BodyShape *shape) {
	FemTetArrays tets = {.node_count = shape->node_count,
		.tet_count = shape->tet_count,
		.nodes = shape->positions,
		.tets = shape->tets,
		.tet_plates = shape->tet_plates,
		.stretch = shape->stretch};
	FemMeshDef mesh = simulation_mesh_def(&tets);
	return fem_mesh_create(world, &mesh);
}

FemMeshDef simulation_mesh_def(const FemTetArrays *tets) {
	FemMeshDef mesh = fem_default_mesh_def();
	mesh.node_count = tets->node_count;
	mesh.node_positions = tets->nodes;
	mesh.tet_count = tets->tet_count;
	mesh.tets = tets->tets;
	mesh.tet_regions = tets->tet_regions;
	mesh.tet_plates = tets->tet_plates;
	mesh.stretch = tets->stretch.x > 0.0f ? tets->stretch : mesh.stretch;
	for (int32_t i = 0; tets->tet_plates && i < tets->tet_count; i++) {
		if (tets->tet_plates[i] != 0.0f) {
			mesh.quality_clamp = 0.0f; // plates are corrected; softening their flat tets on top would be too much
			break;
		}
	}
	return mesh;
}

static FemMeshId make_baked_mesh(FemWorldId world, DestructibleMesh *mesh) {
	FemMeshDef def = simulation_mesh_def(&mesh->baked.tet_mesh);
	def.layout = destructible_mesh_layout(mesh, &def.layout_count);
	FemMeshId id = fem_mesh_create(world, &def);
	destructible_mesh_keep_layout(mesh, id);
	return id;
}

FemMeshId simulation_world_acquire_mesh(SimulationWorld *world, DestructibleMesh *mesh) {
	for (int32_t i = 0; i < world->mesh_count; i++) {
		MeshEntry *entry = &world->meshes[i];
		if (entry->resource == mesh->base.object && entry->revision == mesh->revision) {
			entry->use_count++;
			return entry->id;
		}
	}
	if (world->mesh_count == world->mesh_capacity) {
		int32_t capacity = world->mesh_capacity ? 2 * world->mesh_capacity : 8;
		MeshEntry *meshes = realloc(world->meshes, (size_t)capacity * sizeof(MeshEntry));
		if (!meshes) {
			return (FemMeshId){0};
		}
		world->meshes = meshes;
		world->mesh_capacity = capacity;
	}
	FemMeshId id = make_baked_mesh(world->id, mesh);
	if (fem_mesh_is_valid(id)) {
		world->meshes[world->mesh_count++] = (MeshEntry){mesh->base.object, mesh->revision, id, 1};
	}
	return id;
}

static bool is_same_mesh(FemMeshId a, FemMeshId b) {
	return a.index1 == b.index1 && a.world0 == b.world0 && a.generation == b.generation;
}

// Boxes have a mesh of their own, which is in no entry.
void simulation_world_release_mesh(SimulationWorld *world, FemMeshId id) {
	for (int32_t i = 0; i < world->mesh_count; i++) {
		if (is_same_mesh(world->meshes[i].id, id)) {
			if (--world->meshes[i].use_count > 0) {
				return;
			}
			world->meshes[i] = world->meshes[--world->mesh_count];
			break;
		}
	}
	fem_mesh_destroy(id);
}
