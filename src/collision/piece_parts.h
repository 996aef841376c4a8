// What a small rigid piece is made of for contact: the fewest convex parts that are easily found.
//
// A piece that grew from a seeded tet, or broke off, is a handful of tets and seldom convex. Tets are put together as
// long as what they make is convex: half a dozen become two or three solids (docs/method.md, "Finding contacts").
#ifndef FEM_COLLISION_PIECE_PARTS_H
#define FEM_COLLISION_PIECE_PARTS_H

#include "collision/piece_hull.h"

// Of a piece: each is tried against each of another. Chosen: what has more is found faster tet by tet, by trees.
#define FEM_PIECE_PARTS 8

typedef struct FemPieceParts {
	int32_t count; // 0: it has too many
	FemPieceHull hulls[FEM_PIECE_PARTS];
} FemPieceParts;

// Of the shape of a rigid piece (FemBody.shape), where there are at most so many.
void fem_piece_parts_find(const FemBody *body, int32_t component, int32_t most, FemPieceParts *out);

#endif
