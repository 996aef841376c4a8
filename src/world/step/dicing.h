// Cracks that prestress drives (fracture/dice.h), within a pass of a step: how far they get, what they wake, and what
// the energy that they set free does.
#ifndef FEM_WORLD_DICING_H
#define FEM_WORLD_DICING_H

#include "fracture/dice.h"
#include "world/world.h"

// Among the splits of a pass: cuts dice as far as the front gets until the end of the step. False: there are none.
FEM_MUST_USE bool fem_dicing_cut(FemWorld *world, FemBody *body, float dt, FemDice *out);

// After the splits: what the front passed is relieved, and its energy flings the dice apart, if they are. The body is
// at the start of the step.
void fem_dicing_finish(const FemWorld *world, FemBody *body, FemDice *dice, bool is_cut);

#endif
