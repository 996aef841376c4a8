// What a bond gives back when it breaks (Li et al. 2018, with signs, units and the double energy corrected).
//
// The two sides are pushed at the bond, each along the part of its arm that is normal to the force that the bond
// bore, -(torque x force): the way in which bending or stretching let go drives it. What both pushes have in common is
// taken away, so that neither momentum nor spin comes in, and the rest is scaled so that kinetic energy grows by the
// energy given, whatever the two do already.
#ifndef FEM_DYNAMICS_BOND_RELEASE_H
#define FEM_DYNAMICS_BOND_RELEASE_H

#include "dynamics/rigid_motion.h"

typedef struct FemReleaseSide {
	FemMotionSums sums; // of what is pushed as one rigid body
	bool is_held;       // nothing of it moves: the other side has all of the energy
	double pivot[3];    // m, where it was joined
	// ---- the result
	double center[3], velocity[3], spin[3]; // m, m/s, rad/s: to be added at each node
} FemReleaseSide;

// force: N, that the bond bore on the first side; normal: unit, from the first to the second; chance: a unit vector,
// for bonds that were pulled along the line of the centres. False: nothing is to be added, since both are held, have
// no inertia or are given no energy.
bool fem_bond_release(
	FemReleaseSide sides[2], const double force[3], const double normal[3], const double chance[3], double energy);

// The sums of a side as they are once it is pushed, and all its pushes together as one: the same center, the sum of
// velocities and spins.
void fem_release_add(FemReleaseSide *whole, const FemReleaseSide *push);

// The velocity of a point x of a side that had v.
static inline FemVec4 fem_release_at(const FemReleaseSide *side, FemVec4 x, FemVec4 v) {
	const double *w = side->spin, *u = side->velocity;
	double r[3] = {(double)x.x - side->center[0], (double)x.y - side->center[1], (double)x.z - side->center[2]};
	return (FemVec4){(float)((double)v.x + u[0] + w[1] * r[2] - w[2] * r[1]),
		(float)((double)v.y + u[1] + w[2] * r[0] - w[0] * r[2]),
		(float)((double)v.z + u[2] + w[0] * r[1] - w[1] * r[0]), 0.0f};
}

#endif
