// What a solve that stopped early leaves of a group's momenta is made good.
#ifndef FEM_DYNAMICS_GROUP_BALANCE_H
#define FEM_DYNAMICS_GROUP_BALANCE_H

#include "dynamics/motion.h"
#include "model/contact.h"

// Both momenta of a group of islands and rigid bodies that touches nothing else: what external forces say they should
// be, and what the solve made of them. Contact forces within the group cancel, and act along one line; a solve cut
// short does not know it. What is missing is made up for by one rigid motion of all.
typedef struct FemGroupBalance {
	FemMotionSums sums; // about the group's origin
	double center[3];   // m, of mass
	float velocity[3];  // m/s, the change for all ...
	float spin[3];      // rad/s, ... about the centre
} FemGroupBalance;

// `offset`, m: the body's origin, or a rigid body's centre of mass, from the group's origin. First add all, then solve,
// then share out.
void fem_balance_add_island(FemGroupBalance *balance, FemIntegration *integration, const double offset[3]);
void fem_balance_add_rigid(FemGroupBalance *balance, const FemProxy *proxy, const double offset[3]);
void fem_balance_solve(FemGroupBalance *balance);
void fem_balance_share_island(const FemGroupBalance *balance, FemIntegration *integration, const double offset[3]);
void fem_balance_share_rigid(const FemGroupBalance *balance, FemProxy *proxy, const double offset[3]);

#endif
