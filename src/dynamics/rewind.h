#ifndef FEM_DYNAMICS_REWIND_H
#define FEM_DYNAMICS_REWIND_H

#include "base/range.h"
#include "model/body.h"

// Takes a whole free piece back by `time` (s) along the motion it has now: rigid motion as in the step (`tumbling.h`),
// which keeps energy and both momenta, and deformation. Straight back, x - time v, stretches what spins at w by
// (w time)^2 / 2 and leaves it velocities that strain it further: in a stiff piece energy from nowhere.
void fem_motion_rewind(FemBody *body, FemRange nodes, float time);

#endif
