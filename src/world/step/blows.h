// The real force of a blow.
//
// What strikes a hard thing is stopped within a millisecond or less. A step spreads the same momentum over all of its
// length, and over all that touches within it, so that a vase which falls on a floor feels a thirtieth of the real
// force. Before the move of a step, what is struck is therefore looked at by itself, from the moment of touch on: the
// contacts that touch first stop it within the time that the blow really lasts, at the stiffness that the material
// really has (`impact_modulus`). Only cracks come of a look; then the step is taken with the connections that are left
// (docs/method.md, "The real force of a blow"). What rests or is pushed slowly is not struck.
#ifndef FEM_WORLD_BLOWS_H
#define FEM_WORLD_BLOWS_H

#include "fracture/separation.h"
#include "world/step/step.h"
#include "world/world.h"

// Of the impulse of a blow: what pressed with more than this before does not strike, it pushes on. Chosen.
#define FEM_PUSH_SHARE 0.5f
// Of the energy of a blow: what may become cracks. Where rock is crushed a tenth to a hundredth of it is; chosen.
#define FEM_CRACK_SHARE 0.1f
// Sections of a free piece that its cracks must be able to run through, or none is begun: a vase of 0.3 m holds 0.3 m
// in any position. Chosen.
#define FEM_SECTIONS_LEAST 4.0f
#define FEM_BROKEN_SECTIONS_LEAST 1.0f // the same of what has broken, and has notches. Less would part nothing; chosen

size_t fem_blows_bytes(const FemBody *body); // that these take of a pass's memory

// Before the move: finds what is struck, and moves its nodes to where the blow displaces them at its peak; positions
// and rotations of the start are those of FemBodyStep.start. False when nothing is struck.
bool fem_blows_displace(FemStep *step);

// After their stress is known: nodes of what is struck are back.
void fem_blows_return(FemStep *step);

// Of a body that a look has cut, while its pieces still have their numbers: those that it did not cut are done.
void fem_blows_settle_uncut(FemBody *body);

// When nothing of it breaks any more: true when some goes on, and is struck again by what touches next.
bool fem_blows_go_on(FemStep *step);

// After the last pass: what impulses did is done.
void fem_blows_end(FemStep *step);

// Whether a piece is struck hard enough to be looked at.
bool fem_piece_is_struck(const FemBody *body, int32_t component);

// Whether the dent of a blow in a wall, which its mesh does not show, splits a node of a piece that is struck.
bool fem_blow_dents(const FemBody *body, int32_t component, int32_t node, FemSeparation *out);

#endif
