// The convex parts of a body's rigid pieces, kept from step to step.
#ifndef FEM_WORLD_CONVEX_PIECES_H
#define FEM_WORLD_CONVEX_PIECES_H

#include "collision/piece_parts.h"

typedef struct FemConvexPiece {
	bool is_known;       // its parts were looked for in the shape that it has
	uint8_t count, room; // parts; 0: it touches tet by tet
	int32_t first;       // into FemConvexPieces.hulls
	int32_t solid;       // into FemContactStage.solids, its first, ...
	uint32_t placed_in;  // ... where that is of FemContactStage.placed_number
} FemConvexPiece;

typedef struct FemConvexPieces {
	FemConvexPiece *pieces; // [component]
	int32_t piece_count;
	FemPieceHull *hulls;
	int32_t hull_count, hull_capacity;
} FemConvexPieces;

#endif
