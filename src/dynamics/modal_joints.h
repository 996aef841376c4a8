// Points of modal bodies that are joined, after the move (model/joint.h).
//
// The solve holds them together as contacts do, linearly and with finite strength. What that leaves, of which the
// rotation of a step is most, is made good afterwards joint by joint, again and again (Gauss-Seidel): by the change of
// frames and modes of least energy that brings the two points of a joint together, and then their velocities. Both
// sides get the same impulse, so that momenta are kept.
#ifndef FEM_DYNAMICS_MODAL_JOINTS_H
#define FEM_DYNAMICS_MODAL_JOINTS_H

#include "dynamics/contact_rows.h"

// Joints among the contacts of a composite whose bodies have been moved by dt (s). speed_max (m/s): of grabs.
void fem_joints_settle(const FemContactRows *rows, float dt, float speed_max);

#endif
