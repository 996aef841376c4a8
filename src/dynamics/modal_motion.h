// How a body that moves by modes is put where they say: x = c + R (s + W z), v = V + w x (x - c) + R W z'.
//
// FemBody.shape holds s + W z, so that to all that moves rigid pieces it is one. Frame, amplitudes and their velocities
// are found anew from the nodes where these were moved by anything else since: a user, a collision of fast objects, a
// step that is taken again.
#ifndef FEM_DYNAMICS_MODAL_MOTION_H
#define FEM_DYNAMICS_MODAL_MOTION_H

#include "base/assert.h"
#include "dynamics/rigid_motion.h"
#include "jobs/pool.h"
#include "model/body.h"
#include "model/modal.h"

// The body becomes modal: frame, amplitudes and velocities as its nodes have them; what modes do not hold of its
// deformation is given up, both momenta are kept. False, and nothing is changed, where its nodes lie on a line.
FEM_MUST_USE bool fem_modal_take(FemBody *body);

// At the start of a step: the same, but for what has not changed since the last.
void fem_modal_find_state(FemBody *body);

// Sums over the nodes of a body as it was found, kept from where it was placed if nothing moved it since.
FemMotionSums fem_modal_sums(FemBody *body);

// The same after the solve, with what its frame gained and all that acts from outside, as of fem_motion_sums_after();
// false where these must be summed over the nodes.
FEM_MUST_USE bool fem_modal_sums_after(FemBody *body, FemVec3 gravity, float dt, FemMotionSums *out);

// After the move, of a body that was placed as it is: the sums of its nodes but for their motion, and their momenta
// about the origin.
void fem_modal_keep_sums(FemBody *body, const FemMotionSums *sums, const double momentum[3], const double angular[3]);

// After the solve: amplitudes after the step.
void fem_modal_step(FemModal *modal);

// Before nodes are placed: amplitudes as floats.
void fem_modal_prepare_placing(FemModal *modal);

// Shape, positions and velocities of all nodes in a frame of this centre of mass (m), rotation, velocity (m/s) and spin
// (rad/s), by amplitudes as they were prepared.
void fem_modal_place_all(FemBody *body, FemLoop *loop, const double center[3], const double rotation[9],
	const float velocity[3], const double spin[3]);

// Positions of all nodes of a frame at `center` (m), by its rotation and amplitudes as they are.
void fem_modal_place(FemBody *body, const double center[3]);

// Adds a velocity (m/s), a spin (rad/s) about `from` and rates of the modes, kg^1/2 m/s.
void fem_modal_speed_up(
	FemBody *body, const double from[3], const double velocity[3], const double spin[3], const double *rates);

// Of what is held: positions and velocities of all nodes.
void fem_modal_place_held(FemBody *body, FemLoop *loop); // loop may be null

// After the move: nodes are where the modes put them.
void fem_modal_keep_placed(FemBody *body);

// Amplitudes are those of the start of the step.
void fem_modal_return_to_start(FemModal *modal);

#endif
