// The splinters while they are made: vertices and triangles one by one, before their number is known.
#ifndef FEM_CUTTING_CUT_MAKING_H
#define FEM_CUTTING_CUT_MAKING_H

#include "cutting/cut_splinters.h"

// An output vertex before the arrays are made.
typedef struct FemCutMade {
	int32_t splinter, vertex, solid; // solid: 0 the outside, 1 the inside
	int32_t triangle;                // outer: of its surface
	float weights[3];                // outer
	FemVec3 normal;                  // of cuts
	float tangent[4], uv[2];
} FemCutMade;

typedef struct FemCutMaking {
	const FemCutSource *source;
	FemCutSplinters splinters;
	FemKeyMap map; // of made vertices
	FemCutMade *made;
	int32_t made_count, made_capacity;
	int32_t *indices;
	int32_t index_count, index_capacity;
	int32_t *coarse_indices;
	int32_t coarse_count, coarse_capacity;
	bool is_rough;                     // there are coarse ones
	int32_t *surface_of, *triangle_of; // [triangle of all surfaces in a row]
	int32_t source_count;
	int32_t vertex_starts[FEM_SURFACE_MAX + 2], index_starts[FEM_SURFACE_MAX + 2], coarse_starts[FEM_SURFACE_MAX + 2];
	int32_t first_render_vertex[FEM_SURFACE_MAX];
	int32_t *face_starts; // [face + 1], in made
	FemLoopMesh loops;
	bool failed;
} FemCutMaking;

// A vertex of that name, -1 without memory; new ones are to be filled in.
int32_t fem_cut_make_vertex(FemCutMaking *out, const int32_t key[FEM_KEY_SIZE], bool *is_new);
void fem_cut_make_index(FemCutMaking *out, int32_t surface, int32_t made, bool is_coarse);
void fem_cut_make_surface(FemCutMaking *out, int32_t surface); // what comes next belongs to it

void fem_cut_make_outside(FemCutMaking *out);              // in cut_making_outside.c: all polygons
void fem_cut_make_face(FemCutMaking *out, int32_t number); // in cut_making_inside.c: both sides of a face

FemVec3d fem_cut_unit(FemVec3d v); // of length 1

#endif
