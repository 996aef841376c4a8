// The real force of a blow on bonds.
//
// A step spreads the momentum of a blow over its whole length, and bonds bear that over dt: 60 kg at 12 m/s then are a
// push of 43 kN for a sixtieth of a second on a brick column, that stands. As with elements (world/step/blows.h), what
// is struck is looked at by itself before the move: the pieces answer on the springs of their bonds within the time
// that the blow really lasts, and bonds that are overloaded then break (docs/method.md, "Joined pieces"). Only broken
// bonds come of it.
#ifndef FEM_WORLD_JOINED_BLOWS_H
#define FEM_WORLD_JOINED_BLOWS_H

#include "world/step/step.h"

size_t fem_joined_blows_bytes(const struct FemWorld *world); // that the look takes of a first pass's memory

// Of a first pass, before the move. True: bonds broke, and the pass is to be begun again.
bool fem_joined_look(FemStep *step);

#endif
