// Keeps elements that rotate far within a step from making energy.
//
// The solve knows elements by the axes they have at the start of the step. Nodes go straight, so one that rotates by
// theta against its piece is stretched by theta^2 / 2, of which the solve knows nothing: a pane of 1e8 Pa that fell on
// a corner had 1.33 times its energy for two steps. No step gains while the elastic energy after it is at most
//
//   W(x+) <= W(x) + KE(v) - KE(v+) + dt f_ext.v+ + max(c.v+, 0),
//
// c the impulses of contacts, the ground and what drives nodes: what these take may be stored, since less is lost then,
// what they give is work. Where W(x+) is larger, the piece makes its rigid motion and only a share s of its
// deformation: the excess goes with s^4. What is left of it is taken out of the speed of the deformation. Where another
// body leaves no room for a smaller share the piece makes all of it and gains, but for what is more than ten times its
// energy of motion (docs/method.md, "Elements that rotate far within a step").
#ifndef FEM_DYNAMICS_STRAIN_BOUND_H
#define FEM_DYNAMICS_STRAIN_BOUND_H

#include "dynamics/motion.h"

// What the move of an island is made of: the velocities v + dv + correction + correction_spin x (x - center) split by
// the rigid motion.
typedef struct FemStrainBound {
	FemIntegration *integration;
	const FemRigidMove *move;
	const float *correction, *correction_spin; // m/s, rad/s: [3], or null
	float share;                               // s that is tried
} FemStrainBound;

// Before the move of a whole elastic island; kinetic energy after the step and 1/2 dv.M dv, J. Leaves dt d, the
// displacement by its deformation (m), in body->step->direction, and returns the share of it that nodes go further than
// their speed says: s - 1 where s < 1, and more where dv was made to have less of d. 0 as a rule.
float fem_strain_bound(FemStrainBound *bound, double kinetic, double lost);

#endif
