// A small rigid piece that is convex, as the planes of its faces.
//
// Two bricks that lie on each other meet in dozens of tets, each with an overlap of its own; as two solids of six
// planes they have one, with up to four points at its corners. That holds a rigid piece as well, which has six
// unknowns, at a fifth of the cost. What is not convex, has many faces or is of several materials touches tet by tet.
//
// Planes are found once, of the shape that the piece has while it is rigid; where they are now follows from its nodes.
#ifndef FEM_COLLISION_PIECE_HULL_H
#define FEM_COLLISION_PIECE_HULL_H

#include "collision/convex.h"
#include "model/body.h"

// Chosen: a box has 6 and 8. An overlap costs about as much as its planes, and bodies keep room for so many.
#define FEM_PIECE_HULL_PLANES 20
#define FEM_PIECE_HULL_VERTICES 36 // of so many planes, at three a vertex: 2 * 20 - 4

typedef enum FemPieceHullState {
	FEM_PIECE_HULL_UNKNOWN = 0,
	FEM_PIECE_HULL_NONE,
	FEM_PIECE_HULL_CONVEX,
} FemPieceHullState;

// Nodes are counted from the first of the piece.
typedef struct FemPieceHull {
	uint8_t state; // FemPieceHullState
	uint8_t plane_count, vertex_count;
	int32_t tet;                               // the largest of the piece, for which its contacts stand
	uint16_t planes[FEM_PIECE_HULL_PLANES][4]; // three nodes of it, counter-clockwise from outside, one farthest out
	uint16_t vertices[FEM_PIECE_HULL_VERTICES];
} FemPieceHull;

// Of the shape of a rigid piece (FemBody.shape); its state says whether there is one.
FemPieceHull fem_piece_hull_find(const FemBody *body, int32_t component);

// Where the piece is now, relative to the body's origin. False when it is not finite, or has no volume.
bool fem_piece_hull_shape(
	const FemBody *body, int32_t component, const FemPieceHull *hull, FemConvexStorage *storage, FemConvex *out_shape);

// Whether two pieces of a body that broke have an edge or a corner of its mesh in common, and no face, and the copies
// of that are still near each other: they graze, and what lies between them holds both.
bool fem_piece_hulls_graze(
	const FemBody *body, int32_t component, const FemPieceHull *hull, int32_t other, const FemPieceHull *other_hull);

#endif
