// Two small pieces seen along the axes of their rest shapes, as those are turned now.
//
// In a heap every piece has its own direction, and the boxes along the world's axes of half of all neighbours meet
// though they do not touch. Along its own axes a brick is as wide as its sides are long: pieces whose extents are apart
// along one of those six axes do not touch, and what two have in common is nowhere thicker than it is there. Both hold
// for any shape. An axis costs a multiplication by every node, the search for faces and tets that overlap hundreds.
#ifndef FEM_COLLISION_PIECE_EXTENTS_H
#define FEM_COLLISION_PIECE_EXTENTS_H

#include "collision/swept.h"

// m, at a fraction of the step: no part that two pieces have in common is thicker in all directions. Below 0: they are
// apart by so much. Infinite where one has too many nodes to be looked at.
float fem_pieces_common_depth(const FemSweptPiece *a, const FemSweptPiece *b, float fraction);

// Whether they are apart all along their straight paths through the step. False: they may not be.
bool fem_pieces_stay_apart(const FemSweptPiece *a, const FemSweptPiece *b);

#endif
