// Meshes baked and cut, and what the pieces must be like.
#ifndef FEM_TEST_CUTTING_RIG_H
#define FEM_TEST_CUTTING_RIG_H

#include "baking/baked_mesh.h"
#include "scenes/surface_meshes.h"

typedef struct FemPieceCheck {
	double volume_sum;  // m^3, of all pieces
	double smallest;    // m^3, signed: of the piece with the least
	int32_t open_edges; // of all pieces
	int32_t piece_count, triangle_count;
} FemPieceCheck;

// A render mesh with one surface of all attributes, or several of every n-th triangle each.
void fem_cutting_render(const FemSurfaceMesh *surface, int32_t surface_count, FemRenderMesh *out);

// Takes the surface over; tets by the bake. False when it fails.
bool fem_cutting_bake(FemSurfaceMesh surface, int32_t elements, FemBakedMesh *out);

double fem_cutting_volume(const FemRenderMesh *render); // signed, m^3
FemPieceCheck fem_cutting_check(const FemSplinterMesh *mesh);
FemPieceCheck fem_cutting_check_coarse(const FemSplinterMesh *mesh); // of the coarse triangles

#endif
