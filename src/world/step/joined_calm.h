// Joined pieces that stand still.
//
// A wall of a thousand pieces that stands has its bonds loaded as they were in the step before. Pieces that hang
// together by bonds and have been still for some steps move as one rigid body, with 6 unknowns in all, until something
// strikes one of them or what bears them bears something else. Then their bonds are part of the solve again, in the
// same step for a blow and in the next for a load that grows.
#ifndef FEM_WORLD_JOINED_CALM_H
#define FEM_WORLD_JOINED_CALM_H

#include "world/step/step.h"

// Once a step, when contacts are found: FemPiece.moves_as_one.
void fem_joined_find_calm(FemStep *step);

// After the last pass: whether loads are still those of when bonds were solved for.
void fem_joined_watch_calm(FemStep *step);

#endif
