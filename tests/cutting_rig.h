// Meshes baked and cut, and what the splinters must be like.
#ifndef FEM_TEST_CUTTING_RIG_H
#define FEM_TEST_CUTTING_RIG_H

#include "baking/baked_mesh.h"
#include "scenes/surface_meshes.h"

typedef struct FemSplinterCheck {
	double volume_sum;  // m^3, of all splinters
	double smallest;    // m^3, signed: of the splinter with the least
	double spread;      // standard deviation of their volumes, in shares of the mean
	int32_t open_edges; // of all splinters
	int32_t splinter_count, triangle_count;
} FemSplinterCheck;

// A render mesh with one surface of all attributes, or several of every n-th triangle each.
void fem_cutting_render(const FemSurfaceMesh *surface, int32_t surface_count, FemRenderMesh *out);

// Takes the surface over; tets by the bake. False when it fails.
bool fem_cutting_bake(FemSurfaceMesh surface, int32_t elements, FemBakedMesh *out);

double fem_cutting_volume(const FemRenderMesh *render); // signed, m^3
FemSplinterCheck fem_cutting_check(const FemSplinterMesh *mesh);
FemSplinterCheck fem_cutting_check_coarse(const FemSplinterMesh *mesh); // of the coarse triangles

#endif
