// Box meshes of tets for tests and benchmarks.
#ifndef FEM_SCENES_BOX_MESH_H
#define FEM_SCENES_BOX_MESH_H

#include "fem_destruction.h"

typedef enum {
	FEM_CELLS_FIVE, // 5 tets a cell, alternating, as the yardstick's bar
	FEM_CELLS_KUHN, // 6 tets a cell around its diagonal
} FemCellKind;

typedef struct FemBoxMesh {
	int32_t node_count, tet_count;
	FemVec3 *positions;
	int32_t *tets;
} FemBoxMesh;

// nx * ny * nz cells filling [0, size]; node (i, j, k) is (i * (ny + 1) + j) * (nz + 1) + k, so that the face x = 0
// comes first. Cells in order of i, j, k. All counts 0 when memory fails.
FemBoxMesh fem_box_mesh(int32_t nx, int32_t ny, int32_t nz, FemVec3 size, FemCellKind kind);
void fem_box_mesh_free(FemBoxMesh *mesh);

// As many copies side by side, each moved on by `step` (m): one mesh of several pieces. All counts 0 when memory fails.
FemBoxMesh fem_box_mesh_row(const FemBoxMesh *mesh, int32_t copies, FemVec3 step);

// A default def that points into the mesh: keep the mesh until the engine's mesh is made.
FemMeshDef fem_box_mesh_def(const FemBoxMesh *mesh);

#endif
