// Checks of a user's tet mesh, and the rest geometry of single tets. Creation only: all in double.
#ifndef FEM_TOPOLOGY_TET_MESH_H
#define FEM_TOPOLOGY_TET_MESH_H

#include "fem_destruction.h"

// FEM_OK, or the first fault with its sentence (which names the tet or node and the remedy) in fem_last_error().
FemResult fem_tet_mesh_check(const FemMeshDef *def);

// Makes the volume of a tet positive: swaps its last two nodes where it is negative.
void fem_tet_orient(const FemVec3 *positions, int32_t tet[4]);

typedef struct FemTetShape {
	double corners[4][3];  // m, scaled
	double gradient[4][3]; // 1/m: g of each node; g_1..3 are the rows of beta = Du^-1, g_0 = -(g_1 + g_2 + g_3)
	double volume;         // m^3
	double mean_edge;      // m
} FemTetShape;

// False when the scaled tet has no usable volume: below FEM_VOLUME_MIN or edges above FEM_REST_MAX.
bool fem_tet_shape(const FemVec3 *positions, const int32_t tet[4], FemVec3 scale, FemTetShape *out_shape);

// Factor on both Lame moduli that keeps a sliver from ruling the stiffness: min(1, (s_max / s_1)^2) with s_1 the
// largest singular value of beta and s_max = quality_clamp sqrt(2) / mean edge (a regular tet of edge a has s_1 =
// sqrt(2) / a). quality_clamp 0 = never.
float fem_tet_softening(const FemTetShape *shape, float quality_clamp);

typedef struct FemPlateFrame {
	float normal[3], tangent[3]; // unit, rest frame
	float softening;             // 1 - f, 0 = none
} FemPlateFrame;

// The plate correction of one tet: f = 1 / (1 + c (a2 - 1)), a2 = mean in-plane / smallest eigenvalue of the second
// moments of its nodes; the normal is the eigenvector of the smallest.
FemPlateFrame fem_tet_plate(const FemTetShape *shape, float strength);

#endif
