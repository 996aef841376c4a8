// Rigid motion of an island, and the update of positions that does not stretch what spins.
//
// x += dt v moves a rotating node along its tangent: a body that spins at w grows by (w dt)^2 / 2 a step, a stiff one
// answers with stress that would break it, and energy rises. A free island is therefore moved in two parts: its rigid
// motion exactly (rotation about the centre of mass by the mean angular velocity of the step, `tumbling.h`) and the
// deformation velocity, rotated with it, by dt. L is kept over the rotation, so that the angular velocity after the
// step is that of the rotated and deformed body.
//
// What the rotating frame hides from the deformation is added to the right-hand side: the centrifugal force
// -m w x (w x r) and the Euler force -m w' x r, w' = -I^-1 (w x I w). The first alone has the net torque -w x I w. A
// free island's balance of momenta would take that out again, but one in contact would be rotated by it: two spinning
// blocks that met were 6 % off in their common angular momentum after a second. Both together have none.
//
// For these forces w is the mean angular velocity of the step before, by the same rule with -dt. The solve takes the
// stiffness of strained elements along the rotation with their axes held, an error of the order of strain times w dt,
// which feeds or drains tumbling. Measured: a bar 1 x .2 x .2 m, E 1e5, 10 rad/s, 30 Hz, 20 s had at most 1.41 times
// its energy with w of the end of the step, 1.03 with that of the start, and 1 with that of half a step before.
//
// Conjugate gradients that stop early leak momentum, and a strained element's linearized force has a small torque.
// Internal forces can do neither, so for a free island both momenta are set to what the external forces say.
#ifndef FEM_DYNAMICS_MOTION_H
#define FEM_DYNAMICS_MOTION_H

#include "jobs/pool.h"
#include "model/body.h"
#include "model/contact.h"
#include "model/island.h"

// Sums over the nodes of a chunk or an island, about the body's origin.
typedef struct FemMotionSums {
	double mass;        // kg
	double moment[3];   // m x, kg m
	double second[6];   // m x x^T: xx yy zz xy yz zx, kg m^2
	double momentum[3]; // m v, kg m/s
	double angular[3];  // x cross m v
	double impulse[3];  // external, N s
	double torque[3];   // x cross external impulse
	bool finite;
} FemMotionSums;

typedef struct FemMotion {
	float center[3];   // m, centre of mass
	float velocity[3]; // m/s
	float spin[3];     // rad/s; 0 where the inertia tensor is singular
} FemMotion;

typedef struct FemIntegration {
	FemBody *body;
	const FemNodeChunk *chunks;
	int32_t chunk_count;
	FemMotionSums *partials; // [chunk_count]
	FemLoop *loop;
	float dt;        // s
	float speed_max; // m/s
	FemVec3 gravity;
	bool is_free;    // no pinned or driven node: rigid motion is treated exactly
	bool in_contact; // momentum is not what external forces alone say
} FemIntegration;

// Adds the impulse of the centrifugal and the Euler force, dt m (-w x (w x r) - w' x r), to the right-hand side.
void fem_motion_add_centrifugal(FemIntegration *integration);

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

// Takes a whole free piece back by `time` (s) along the motion it has now: rigid motion as in the step (`tumbling.h`),
// which keeps energy and both momenta, and deformation. Straight back, x - time v, stretches what spins at w by
// (w time)^2 / 2 and leaves it velocities that strain it further: in a stiff piece energy from nowhere.
void fem_motion_rewind(FemBody *body, FemRange nodes, float time);

// v += dv, x += motion; reactions. Returns FemStepError bits; a body that is not finite is left as it was and marked.
uint32_t fem_motion_integrate(FemIntegration *integration);

#endif
