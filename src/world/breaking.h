// What the files of fracture in this folder share.
#ifndef FEM_WORLD_BREAKING_H
#define FEM_WORLD_BREAKING_H

#include "fracture/crack.h"
#include "fracture/splinters.h"
#include "mesh/splitting.h"
#include "world/step.h"
#include "world/world.h"

typedef struct FemPiece {
	FemPieceNumber number, parent;
	double born; // s, of the world's time
} FemPiece;

// ---- body_splinters.c
FemResult fem_splinters_def_check(const FemSplintersDef *def, int32_t tet_count);
// Of a checked def, without owners; null (with a sentence) when memory fails.
FemSplinters *fem_body_make_splinters(const FemWorld *world, const FemBody *body, const FemSplintersDef *def);
void fem_splinters_publish_all(FemWorld *world);

#endif
