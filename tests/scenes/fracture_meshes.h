// Meshes of things that break: panes, a wall, a bowl. Made with a seed, so that cracks find no straight lines to
// follow.
#ifndef FEM_SCENES_FRACTURE_MESHES_H
#define FEM_SCENES_FRACTURE_MESHES_H

#include "scenes/box_mesh.h"

// A box with the nodes of fem_box_mesh() and 6 tets a cell, whose diagonals are the same on both sides of a layer: a
// pane in one layer of 5-tet cells, held on all sides, bends 200 times too little. Nodes that are inner ones along x
// and y are moved in that plane by up to `jitter` of a cell, all along z by the same.
FemBoxMesh fem_plate_mesh(int32_t nx, int32_t ny, int32_t nz, FemVec3 size, float jitter, uint32_t seed);

// 338 nodes and 1,109 tets (O'Brien & Hodgins 1999, figure 10): a Kuhn grid of 10 x 9 x 2 cells with 8 split edges. The
// nodes of y = 0 are those with index % 30 < 3, but for the last 8.
FemBoxMesh fem_wall_mesh(FemVec3 size);

// Half of a hollow sphere, open above, in `cells` x `cells` x 1 cells (even) of 6 tets; its lowest point is the origin.
FemBoxMesh fem_bowl_mesh(float radius, float wall, int32_t cells, uint32_t seed);

#endif
