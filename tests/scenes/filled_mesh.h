// A mesh for a world, of the tets that the filling made.
#ifndef FEM_SCENES_FILLED_MESH_H
#define FEM_SCENES_FILLED_MESH_H

#include "fem_destruction.h"
#include "filling/tetrahedralize.h"

// Names the arrays of the tets, which must stay while it is used. As in Godot tets of plates, which are flat by intent,
// are not softened for their shape.
static inline FemMeshDef fem_filled_mesh_def(const FemTetMesh *tets) {
	FemMeshDef def = fem_default_mesh_def();
	def.node_positions = tets->nodes;
	def.node_count = tets->node_count;
	def.tets = tets->tets;
	def.tet_count = tets->tet_count;
	def.tet_plates = tets->tet_plates;
	def.quality_clamp = tets->has_plates ? 0.0f : def.quality_clamp;
	return def;
}

#endif
