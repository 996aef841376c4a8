// The six unknowns of a rigid piece in the solve of its composite.
//
// A rigid piece enters the linear system as a dynamic collider does: by the velocity of its centre of mass and its
// angular velocity, with contacts acting at arms. Its nodes take no part in the iterations. The loads of the nodes are
// summed before a solve, the change of velocity is given back to them after it.
#ifndef FEM_DYNAMICS_RIGID_UNKNOWNS_H
#define FEM_DYNAMICS_RIGID_UNKNOWNS_H

#include "base/range.h"
#include "dynamics/rigid_motion.h"
#include "model/body.h"
#include "model/contact.h"

// Once a step: centre, mass, inertia and motion of the piece with these nodes, at dv = 0; or of several that move as
// one.
FemProxy fem_rigid_unknowns_open(const FemBody *body, FemRange nodes);
FemProxy fem_rigid_unknowns_of_sums(const FemMotionSums *sums);
FemProxy fem_rigid_unknowns_open_group(const FemBody *body, const FemRange *nodes, int32_t count);

// The same of a piece that has pins. What they hold has no mass here, and does not move. What hangs on a hinge has its
// centre there, where it is FEM_HINGE_STIFFNESS times as heavy as it is, and turns as much harder about axes that the
// pins hold: the six unknowns of a free piece, of which all but the rotation about the hinge stay next to 0.
#define FEM_HINGE_STIFFNESS 1e4 // chosen: floats hold the inertia about the axis beside it to 1e-3
FemProxy fem_rigid_unknowns_open_pinned(const FemBody *body, FemRange nodes);

// Whenever FemBodyStep.diagonal or ground changed: the impulse of all loads, and what damping and the ground add to the
// matrix, which stays in `extra`.
void fem_rigid_unknowns_load(FemProxy *rigid, float extra[36], const FemBody *body, FemRange nodes);
void fem_rigid_unknowns_load_group(
	FemProxy *rigid, float extra[36], const FemBody *body, const FemRange *nodes, int32_t count);

// After a solve: dv of the nodes.
void fem_rigid_unknowns_spread(const FemProxy *rigid, FemBody *body, FemRange nodes);

// After the last: residual = rhs + ground - D dv of the nodes, without the contacts. What is left when contacts have
// been added, too, is what the elasticity of the piece would have to carry.
void fem_rigid_unknowns_residual(FemBody *body, FemRange nodes);

// ---- of a rigid piece or a dynamic collider: the matrix without contacts

void fem_rigid_unknowns_multiply(const FemProxy *rigid, const float x[6], float y[6]); // y = A x
void fem_rigid_unknowns_weigh(const FemProxy *rigid, double out[36]);                  // A, row by row

// ---- six by six

void fem_factor6(double m[36]);                            // lower Cholesky factor in place, row by row
void fem_solve_factored6(const double m[36], double x[6]); // x = (L L^T)^-1 x

static inline float fem_dot6(const float a[6], const float b[6]) {
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// out += J^T (k_t 1 + (k_n - k_t) n n^T) J, J = [1, -arm x]: what a contact at an arm adds to the matrix of a motion.
void fem_add_contact6(
	double out[36], const float normal[3], float normal_strength, float friction_strength, const float arm[3]);

// out (column-major) += J^T D J for D diagonal and J = [1, -arm x].
void fem_add_point6(float out[36], const float d[3], const float arm[3]);

#endif
