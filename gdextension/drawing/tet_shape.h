// The rest shape of a body's tets, with what is made from it: which tets lay side by side, stencils for smooth normals.
//
// Bodies of the same mesh and scale share one.
#ifndef TET_SHAPE_H
#define TET_SHAPE_H

#include "fem_destruction.h"

typedef struct TetShape {
	int32_t node_count, tet_count;
	FemVec3 *nodes;         // m, in the mesh's own space
	FemVec3 scale;          // of the body, for texture coordinates in metres
	int32_t *tets;          // 4 nodes each
	float flatness;         // longest edge of a tet by its least height, on average; at least 1
	int32_t *neighbors;     // 4 a tet, across the face without the node of that place; -1: outside. Null until needed
	int32_t stencil_offset; // of bodies that are whole, in the texture of stencils; -1 until needed
	// Among all shapes
	uint64_t hash;
	int32_t use_count;
	struct TetShape *next;
} TetShape;

// Face f has all nodes of a positive tet but f, counter-clockwise from outside.
extern const uint8_t tet_shape_faces[4][3];

// Copies, or finds the one there is; null when memory is short. Release it, which null survives.
TetShape *tet_shape_acquire(
	int32_t node_count, const FemVec3 *nodes, FemVec3 scale, int32_t tet_count, const int32_t *tets);
void tet_shape_release(TetShape *shape);

// Fills shape->neighbors if it is not there yet; false when memory is short.
bool tet_shape_find_neighbors(TetShape *shape);

#endif
