// Rigid motion of an island, and the update of positions that does not stretch what spins.
//
// x += dt v moves a rotating node along its tangent: a body that spins at w grows by (w dt)^2 / 2 a step, a stiff one
// answers with stress that would break it, and energy rises. A free island is therefore moved in two parts: its rigid
// motion exactly (rotation about the centre of mass by the mean angular velocity of the step, `tumbling.h`) and the
// deformation velocity, rotated with it, by dt. L is kept over the rotation, so that the angular velocity after the
// step is that of the rotated and deformed body. What hangs on pins in a line is moved alike (hinged_motion.h).
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

#include "dynamics/rigid_motion.h"
#include "jobs/pool.h"
#include "model/body.h"
#include "model/island.h"
#include "model/piece.h"

// rad: the most that an island rotates in a step; faster spin is cut to this. Measured: at 1 crumbs gain energy, at 0.6
// a soft stick thrown with 10 rad/s loses angular momentum at 30 Hz.
#define FEM_ROTATION_MAX 0.8
// rad: of a rigid piece, whose rotation is taken for nothing else. Less than half a turn, beyond which nobody can tell
// which way it rotated, frames drawn between two steps neither.
#define FEM_RIGID_ROTATION_MAX 2.5

typedef struct FemIntegration {
	FemBody *body;
	const FemNodeChunk *chunks;
	int32_t chunk_count;
	FemMotionSums *partials; // [chunk_count]
	FemLoop *loop;
	uint64_t step;   // of the world
	float dt;        // s
	float speed_max; // m/s
	FemVec3 gravity;
	bool is_whole;                         // a whole piece: none of it sleeps
	bool is_free;                          // no pinned or driven node: rigid motion is treated exactly
	FemPiece *rigid;                       // of an island that is a rigid piece; else null
	bool in_contact;                       // momentum is not what external forces alone say
	const struct FemContactRows *contacts; // of its composite
} FemIntegration;

// Adds the impulse of the centrifugal and the Euler force, dt m (-w x (w x r) - w' x r), to the right-hand side.
void fem_motion_add_centrifugal(FemIntegration *integration);

// With the velocities v + dv that the solve asks for, and the impulse of all external forces; finite: all of it is.
FemMotionSums fem_motion_sums_after(FemIntegration *integration);

// v += dv, x += motion; reactions. Returns FemStepError bits; a body that is not finite is left as it was and marked.
uint32_t fem_motion_integrate(FemIntegration *integration);

#endif
