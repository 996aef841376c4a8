// Ids to records: null (with a sentence in fem_last_error) for bad ones.
#ifndef FEM_WORLD_REGISTRY_H
#define FEM_WORLD_REGISTRY_H

#include "world/world.h"

FemWorld *fem_world_find(FemWorldId id);                             // any time
FemWorld *fem_world_find_idle(FemWorldId id, FemResult *out_result); // not while stepping
FemBody *fem_body_find(FemBodyId id, FemWorld **out_world);
FemBody *fem_body_find_idle(FemBodyId id, FemWorld **out_world, FemResult *out_result);
FemCollider *fem_collider_find(FemColliderId id, FemWorld **out_world);
FemCollider *fem_collider_find_idle(FemColliderId id, FemWorld **out_world, FemResult *out_result);
FemColliderId fem_collider_id(const FemWorld *world, int32_t collider_index);
FemMaterial *fem_material_find(FemMaterialId id, FemWorld **out_world);
FemMaterial *fem_material_find_idle(FemMaterialId id, FemWorld **out_world, FemResult *out_result);
FemMesh *fem_mesh_find(FemMeshId id, FemWorld **out_world);
FemMesh *fem_mesh_find_idle(FemMeshId id, FemWorld **out_world, FemResult *out_result);
FemWorld *fem_registry_add(void);                     // an empty world in a free slot, or null
FemWorld *fem_registry_at(uint32_t index0);           // the world in a slot, or null
void fem_registry_remove(FemWorld *world);            // frees the record itself
uint16_t fem_first_generation(const FemWorld *world); // of a slot made in this world
uint16_t fem_next_generation(uint16_t generation);
FemBodyId fem_body_id(const FemWorld *world, int32_t body_index);
FemMaterialId fem_material_id(const FemWorld *world, int32_t material_index);
FemMeshId fem_mesh_id(const FemWorld *world, int32_t mesh_index);

#endif
