// What the files of fracture in this folder share.
#ifndef FEM_WORLD_BREAKING_H
#define FEM_WORLD_BREAKING_H

#include "fracture/crack.h"
#include "mesh/splitting.h"
#include "world/step.h"
#include "world/world.h"

typedef struct FemPiece {
	FemPieceNumber number, parent;
	double born; // s, of the world's time
} FemPiece;

#endif
