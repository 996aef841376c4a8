// Bodies without a world, for tests of collision: topology, positions and surface trees of a mesh of tets.
#ifndef FEM_SCENES_TREE_SHAPE_H
#define FEM_SCENES_TREE_SHAPE_H

#include "base/vec.h"
#include "collision/surface_trees.h"
#include "scenes/box_mesh.h"
#include "topology/topology.h"

typedef struct FemTreeShape {
	FemTopology *topology;
	FemVec4 *positions; // m, as the trees know them after a refit
	FemVec4 *rest;      // m
	FemSurfaceTrees *trees;
} FemTreeShape;

// Every `part_nodes` user nodes are a part.
FemTreeShape fem_tree_shape(const FemBoxMesh *mesh, int32_t part_nodes);
FemTreeShape fem_tree_box(int32_t nx, int32_t ny, int32_t nz, FemVec3 size, FemCellKind kind); // parts of 30 nodes
void fem_tree_shape_free(FemTreeShape *shape);

// After positions were changed.
void fem_tree_shape_refit(FemTreeShape *shape);

// From the rest shape: turned about `centre`, then moved; refitted.
void fem_tree_shape_pose(FemTreeShape *shape, FemQuat rotation, FemVec3d centre, FemVec3d move);

FemQuat fem_seeded_rotation(uint32_t *random);

#endif
