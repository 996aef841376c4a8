// Sums over the nodes of a modal body that follow from its amplitudes alone.
//
// With r = s + W z from the centre of mass, in axes of the frame, and modes that hold no rigid motion, sum m r = 0 and
// sum m s x w = 0, so that
//   sum m r r^T      = Q_0 + sum z_k Q_k + sum z_j z_k Q_jk,    Q_jk = sum m w_j w_k^T (its symmetric part),
//   sum m r x W z'   = sum_{j<k} (z_j z_k' - z_k z_j') A_jk,    A_jk = sum m w_j x w_k.
// A step needs neither nodes nor their velocities for inertia and angular momentum.
#ifndef FEM_DYNAMICS_MODAL_MOMENTS_H
#define FEM_DYNAMICS_MODAL_MOMENTS_H

#include "dynamics/rigid_motion.h"
#include "model/body.h"
#include "model/modal.h"

// Of a free body. Nothing where it has more than FEM_MODAL_MOMENTS_MODES.
void fem_modal_set_moments(FemModal *modal, const FemBody *body);

// out: mass, moment and second of the body with its centre at c and its axes along R, as its modes stand now, about the
// body's origin; angular: of its modes about the centre, kg m^2/s. False where moments are not known.
FEM_MUST_USE bool fem_modal_moments(
	const FemModal *modal, const double c[3], const double rotation[9], FemMotionSums *out, double angular[3]);

// Bound on the speed of any node, m/s, with velocity and spin of the frame.
double fem_modal_speed_bound(const FemModal *modal, const double velocity[3], const double spin[3]);

#endif
