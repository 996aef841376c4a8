// Rigid rotation of islands that hang on pins in a line or on one pin: a door, a pendulum, the stub of a broken slab.
//
// x += dt v stretches what swings about its pins at w by (w dt)^2 / 2 a step, as it does what spins freely (motion.h).
// So the angular velocity about the line or the point of the pins is found from the angular momentum, nodes are rotated
// by it exactly, and the rest of their velocities moves them as before. Pins over an area leave no rotation.
#ifndef FEM_DYNAMICS_HINGED_MOTION_H
#define FEM_DYNAMICS_HINGED_MOTION_H

#include "dynamics/motion.h"

typedef struct FemHinge {
	bool is_line;      // rotation about one axis; else about any through the point
	int32_t node;      // the first pin
	double point[3];   // m, from the body's origin: where that is
	double axis[3];    // unit vector along the line
	double angular[3]; // N m s: angular momentum about the point, of the velocities that the solve asks for
} FemHinge;

// The hinge of a piece: its pinned nodes lie on a line or are one, and none is driven.
bool fem_hinge_of_piece(const FemBody *body, FemRange nodes, FemHinge *out);

// The same of an island, which must be a whole piece.
bool fem_hinge_find(const FemIntegration *integration, FemHinge *out);

// Inertia about the point (kg m^2, row by row) and angular velocity (rad/s) of a piece as it is and moves now. False
// where there is no rotation: the nodes lie in the axis.
bool fem_hinge_motion(const FemBody *body, FemRange nodes, const FemHinge *hinge, double inertia[9], double spin[3]);

// Gives the nodes the velocities of a rotation about the hinge (rad/s).
void fem_hinge_set_spin(FemBody *body, FemRange nodes, const FemHinge *hinge, const double spin[3]);

// Adds the impulse of the centrifugal and the Euler force of its rotation to the right-hand side, as
// fem_motion_add_centrifugal().
void fem_hinge_add_centrifugal(FemIntegration *integration, const FemHinge *hinge);

// The rotation of the step about the hinge, for velocities v + dv. False where there is none: the nodes lie in the
// axis.
bool fem_hinge_rotation(FemIntegration *integration, FemHinge *hinge, FemRigidMove *out);

// After the move: deformation has changed the inertia, and with it the angular momentum, which is set again.
void fem_hinge_settle(FemIntegration *integration, const FemHinge *hinge);

// Takes the nodes of a whole piece back by `time` (s) along the motion they have now; false if it hangs on no hinge.
bool fem_hinge_rewind(FemBody *body, FemRange nodes, float time);

#endif
