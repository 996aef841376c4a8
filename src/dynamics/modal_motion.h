// How a body that moves by modes is put where they say: x = c + R (s + W z), v = V + w x (x - c) + R W z'.
//
// FemBody.shape holds s + W z, so that to all that moves rigid pieces it is one. Frame, amplitudes and their velocities
// are found anew from the nodes where these were moved by anything else since: a user, a collision of fast objects, a
// step that is taken again.
#ifndef FEM_DYNAMICS_MODAL_MOTION_H
#define FEM_DYNAMICS_MODAL_MOTION_H

#include "base/assert.h"
#include "model/body.h"
#include "model/modal.h"

// The body becomes modal: frame, amplitudes and velocities as its nodes have them; what modes do not hold of its
// deformation is given up, both momenta are kept. False, and nothing is changed, where its nodes lie on a line.
FEM_MUST_USE bool fem_modal_take(FemBody *body);

// At the start of a step: the same, but for what has not changed since the last.
void fem_modal_find_state(FemBody *body);

// After the solve: amplitudes after the step.
void fem_modal_step(FemModal *modal);

// Before nodes are placed: amplitudes as floats.
void fem_modal_prepare_placing(FemModal *modal);

// Shape of a node, which goes to FemBody.shape, and its velocity in the frame, m/s, axes of the shape.
void fem_modal_place_node(const FemModal *modal, FemBody *body, int32_t node, float out_velocity[3]);

// Positions of all nodes of a frame at `center` (m), by its rotation and amplitudes as they are.
void fem_modal_place(FemBody *body, const double center[3]);

// Adds a velocity (m/s), a spin (rad/s) about `from` and rates of the modes, kg^1/2 m/s.
void fem_modal_speed_up(
	FemBody *body, const double from[3], const double velocity[3], const double spin[3], const double *rates);

// Of what is held: positions and velocities of all nodes.
void fem_modal_place_held(FemBody *body);

// After the move: nodes are where the modes put them.
void fem_modal_keep_placed(FemBody *body);

// Amplitudes are those of the start of the step.
void fem_modal_return_to_start(FemModal *modal);

#endif
