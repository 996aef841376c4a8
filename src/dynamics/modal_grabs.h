// Points of a modal body that a user holds (Hauser et al. 2003, section 3.4: manipulation constraints).
//
// In the solve a grab is a contact that holds on all sides, so that it and contacts know of each other. What is left
// then, since the solve is linear and its strength finite, is made good after the move: of all changes of frame and
// modes that bring the points to where, and to as fast as, they are to be, the one of least energy, by the
// pseudo-inverse of what the points can do. Points that cannot all be where they are to be come as near as they can.
#ifndef FEM_DYNAMICS_MODAL_GRABS_H
#define FEM_DYNAMICS_MODAL_GRABS_H

#include "model/body.h"
#include "model/contact.h"
#include "model/modal.h"

// Of the body's mass, kg: how strong a grab is in the solve. Chosen: a thousandth of its way is left for afterwards,
// and floats hold the matrix.
#define FEM_GRAB_STRENGTH 1000.0f

typedef struct FemGrabPull {
	float point[3];    // m, in the body's frame
	float velocity[3]; // m/s
	float goal[3];     // m/s, that would bring it there in the step
} FemGrabPull;

FemGrabPull fem_grab_pull(const FemBody *body, const FemGrab *grab, float dt);

// After the last solve, before the move: the forces that held the points.
void fem_grabs_keep_forces(FemBody *body, const FemProxy *rigid, float dt);

// After the move: the points are where they are to be ...
void fem_grabs_settle_positions(FemBody *body);
// ... and as fast, but no faster than speed_max (m/s) ...
void fem_grabs_settle_velocities(FemBody *body, float dt, float speed_max);
// ... and the step is over for them.
void fem_grabs_arrive(FemModal *modal);

#endif
