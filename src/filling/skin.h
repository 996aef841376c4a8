// A surface that cells are laid along: triangles that are refined, then coarsened to as many as are wanted.
//
// Coarsening joins the ends of edges in the order of an error (Garland & Heckbert 1997, "Surface simplification using
// quadric error metrics"): the squared distance to the planes of the triangles that a vertex has come to stand for,
// plus a small share of their squared distance to it, which keeps flat places evenly meshed and lets curved ones have
// more vertices. Sharp edges, corners and rims keep their vertices.
#ifndef FEM_FILLING_SKIN_H
#define FEM_FILLING_SKIN_H

#include "base/assert.h"
#include "geometry/triangle_soup.h"

typedef struct FemSkin {
	int32_t vertex_count, vertex_capacity, triangle_count, triangle_capacity;
	FemVec3d *vertices; // unit space of the triangles it was made from
	int32_t (*triangles)[3];
	int32_t *sources; // [triangle]: the triangle it is a part of; -1 once coarsened
	// Null but of rings (revolved_skin.h), some of whose triangles are halves of quadrangles that are one cell.
	int8_t *first_halves; // [triangle]: whether the next one is the other half
	int8_t *is_odd;       // [vertex]: not like those at the other ends of its quadrangles' sides
} FemSkin;

typedef enum FemSkinResult {
	FEM_SKIN_MADE,
	FEM_SKIN_NO_MEMORY,
	FEM_SKIN_TANGLED, // an edge has three triangles, or two that do not agree in their orientation
	FEM_SKIN_APART,   // it is not one connected surface
} FemSkinResult;

// The triangles whose entry of `sides` is `side`. A vertex at which several fans of triangles meet is taken apart.
FemSkinResult fem_skin_create(const FemTriangles *triangles, const int8_t *sides, int8_t side, FemSkin *out);
void fem_skin_free(FemSkin *skin);

double fem_skin_area(const FemSkin *skin);
FemVec3d fem_skin_area_vector(const FemSkin *skin, int32_t triangle); // half the cross product of two edges

// Halves edges until none is longer than edge_max, or there would be more than triangle_max triangles.
FEM_MUST_USE bool fem_skin_refine(FemSkin *skin, double edge_max, int32_t triangle_max);

// Joins vertices until at most triangle_count triangles are left, or nothing more can be joined without harm: the
// surface stays what it was topologically, no triangle turns over, and no vertex lies farther than error_max from the
// planes (and at a rim, from the edges) that it stands for, in the mean square. False without memory.
FEM_MUST_USE bool fem_skin_coarsen(FemSkin *skin, int32_t triangle_count, double error_max);

#endif
