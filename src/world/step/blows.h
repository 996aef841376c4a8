// The real force of a blow.
//
// What strikes a hard thing is stopped within a millisecond or less. A step spreads the same momentum over all of its
// length, so that a vase which falls on a floor feels a thirtieth of the real force. The stress that a step adds to a
// piece that is struck is therefore taken as many times as the step is longer than the blow (`impact_duration` of the
// material): the look at its cracks sees the force of the blow, the motion its momentum. What rests or is pushed slowly
// is no blow.
#ifndef FEM_WORLD_BLOWS_H
#define FEM_WORLD_BLOWS_H

#include "world/step/step.h"
#include "world/world.h"

size_t fem_blows_bytes(const FemBody *body); // that these take of a pass's memory

// After the move of a pass: FemBodyStep.blow of bodies that are struck.
void fem_blows_find(FemStep *step);

// After the last pass: what impulses did is done.
void fem_blows_end(FemStep *step);

// Positions and stress of bodies that are struck change places with those of the start of the step, for the stress of
// that to be found first; and back again. False: there are none.
bool fem_blows_swap_with_start(FemStep *step);

// After both: the stress that the real force makes.
void fem_blows_amplify_stress(FemBody *body, int32_t batch_begin, int32_t batch_end);

// How many times harder than a step sees it a piece is struck, 1 or more.
float fem_blow_of_piece(const FemBody *body, int32_t component);

#endif
