// The six rigid motions of a stiff free island, or the rotations of one that hangs on a hinge (`hinged_motion.h`), kept
// apart from its elasticity by arithmetic.
//
// Rigid motions strain nothing: K R = 0, and elastic forces have no net force and no net torque: R^T K = 0. Floats keep
// neither. The difference form of rows.h makes translations exact; of a rotation a product with dt^2 K leaves rounding
// of eps kappa beside the island's own inertia, kappa = dt (dt + alpha_K) |K| / m being the largest ratio of stiffness
// to mass of a tet and eps = 6e-8. At kappa = 1e7 that is as large as the motion itself: a steel cube of 1 cm that
// met the ground at 3 m/s left it at 185. Where kappa is above FEM_BALANCE_STIFFNESS the solve therefore works with
//
//   A = M + contact + P^T dt (dt + alpha_K) K P,    P = 1 - R (R^T M R)^-1 R^T M,
//
// in the place of M + contact + dt (dt + alpha_K) K: P takes the rigid part out of a velocity, P^T out of an impulse.
// The two are equal but for rounding, and but for terms of the order of the strain by which the axes of strained
// elements, held fixed in the linearization, resist the rotation of the whole. The elastic impulses of the right-hand
// side are freed of their rigid part alike, and the preconditioner is P M^-1 P^T plus the rigid motions themselves.
#ifndef FEM_DYNAMICS_RIGID_BALANCE_H
#define FEM_DYNAMICS_RIGID_BALANCE_H

#include "base/range.h"
#include "base/vec.h"
#include "dynamics/hinged_motion.h"
#include "model/body.h"

typedef struct FemRigidBalance {
	bool is_on;
	bool is_complete; // see fem_rigid_balance_complete_load()
	bool is_hinged;   // rotations about the hinge alone:
	FemHinge hinge;
	FemRange nodes;
	double mass;               // kg
	double center[3];          // m, of mass, in the body's frame; a point of the hinge
	double inverse_inertia[9]; // 1/(kg m^2), about the centre; of a line of pins that about its axis alone
	double factor[36];         // lower Cholesky factor of R^T D R, D of the masses and the ground
	double hinge_inverse[9];   // of a hinge in its place: as inverse_inertia, with D for the masses
} FemRigidBalance;

// On for a whole island without pins, or on a hinge (null: none), at dt; off where its nodes lie on a line or tets are
// soft.
FemRigidBalance fem_rigid_balance_open(const FemBody *body, FemRange nodes, const FemHinge *hinge, float dt);

// Before each solve: R^T D R with the ground as it presses.
void fem_rigid_balance_prepare(FemRigidBalance *balance, const FemBody *body);

// Takes the rigid part out of the elastic impulses in rhs.
void fem_rigid_balance_load(const FemRigidBalance *balance, FemBody *body, float dt, FemVec3 gravity);

// Turns the balance on, if it is off and can be, for an island with `nodes` set, and takes out of the right-hand side
// what K makes of the rigid part of the velocity, too. The linearization holds the axes of elements, so that turning a
// strained body linearly strains it further; what moves it afterwards turns it as it is (motion.h). Once a step;
// overwrites product and z.
void fem_rigid_balance_complete_load(FemRigidBalance *balance, FemBody *body, float dt, FemVec3 gravity);

// product = (D + P^T K P) x; returns x.product. Overwrites z.
double fem_rigid_balance_multiply(const FemRigidBalance *balance, FemBody *body, const FemVec4 *x);

// product = P^T residual, for a preconditioner that makes z of it.
void fem_rigid_balance_restrict(const FemRigidBalance *balance, FemBody *body);

// z = P z, plus the rigid motions R (R^T D R)^-1 R^T r if told so; returns r.z.
double fem_rigid_balance_complete(const FemRigidBalance *balance, FemBody *body, bool with_rigid);

// Takes the rigid motion out of a velocity of any free island.
void fem_rigid_balance_drop_motion(const FemBody *body, FemRange nodes, FemVec4 *x);

#endif
