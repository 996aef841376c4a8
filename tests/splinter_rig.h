// Boxes that fill a block, as splinters: 8 vertices each, tied to the tets of the block.
#ifndef FEM_TEST_SPLINTER_RIG_H
#define FEM_TEST_SPLINTER_RIG_H

#include "scenes/box_mesh.h"

typedef struct FemBoxSplinters {
	FemSplintersDef def; // points into the arrays
	int32_t *home_tets, *vertex_splinters, *vertex_tets;
	FemVec3 *vertex_positions;
} FemBoxSplinters;

// nx * ny * nz boxes in [low, high], each a little smaller than its place. Counts 0 when memory fails.
FemBoxSplinters fem_box_splinters(
	const FemBoxMesh *mesh, FemVec3 low, FemVec3 high, int32_t nx, int32_t ny, int32_t nz);
void fem_box_splinters_free(FemBoxSplinters *splinters);

#endif
