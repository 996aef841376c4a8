// Blows that wait for their look.
//
// Where more is struck in one step than the limit on elastic tets lets be looked at (FemWorkLimits), what falls on
// something that does not move stands still for a step, as if its time had stopped where it touches, and is struck in
// the next one with all its speed. Thirty vases that land in one step break within a tenth of a second, where without
// it six broke and the rest stayed whole. What touches other things that move cannot wait: they would push against it
// in vain, and momentum would be lost.
#ifndef FEM_WORLD_BLOW_WAITS_H
#define FEM_WORLD_BLOW_WAITS_H

#include "world/step/step.h"

// Lets a body wait that was to be looked at, if it can: nothing touches it in this step from now on.
bool fem_blow_wait(FemStep *step, int32_t body);

// Of a chunk of nodes, after the ground was looked for: it does not touch what waits.
void fem_blow_waits_leave_ground(FemBody *body, int32_t begin, int32_t end);

// After the last pass: what waits is where it was at the start of the step, as fast as it was.
void fem_blow_waits_return(FemStep *step);

#endif
