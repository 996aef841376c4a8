// The meshes of a world: slots, making, and their layout as data.
#ifndef FEM_WORLD_MESHES_H
#define FEM_WORLD_MESHES_H

#include "base/assert.h"
#include "world/world.h"

int32_t fem_mesh_slot(FemWorld *world); // a free slot, growing the list; -1 when memory fails
// Copies, partitions (or takes the given part of each user node) and builds the topology.
FemResult fem_mesh_fill(FemMesh *mesh, const FemMeshDef *checked_def, const int32_t *node_part_or_null);
void fem_mesh_clear(FemMesh *mesh);

// ---- mesh_layout.c: of a def. Its partition by user node, or null when it does not fit the mesh; and its orders, once
// the topology was made from that partition: false when they are none, or memory fails.
const int32_t *fem_mesh_layout_parts(const FemMesh *mesh, const int32_t *layout, int32_t count);
FEM_MUST_USE bool fem_mesh_take_layout_orders(FemMesh *mesh, const int32_t *layout);

#endif
