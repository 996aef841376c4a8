// Friction as P&O09 section 6 has it (FEM_FRICTION_PAPER; corrected: docs/method.md, "Friction"): sliding contacts get
// implicit damping bounded by a heuristic normal force, slow ones an explicit controller that takes back their slip.
#ifndef FEM_DYNAMICS_PAPER_FRICTION_H
#define FEM_DYNAMICS_PAPER_FRICTION_H

#include "dynamics/solver.h"

// Gains of the controller F = -(Kp w + Ki int w dt + Kd dw/dt), w the tangential velocity (m/s).
typedef struct FemFrictionGains {
	float proportional; // Kp in units of effective mass / dt
	float integral;     // Ki in effective mass / dt^2
	float derivative;   // Kd in effective mass
	float threshold;    // m/s: slower contacts are static
} FemFrictionGains;

FemFrictionGains fem_default_friction_gains(void); // those found by tests/tuning

// Before each solve of a step: friction_strength and the holds of the composite's active contacts, from the
// velocities at the start of the step, and what the controllers keep for the next one. The integral is not fed while
// the force is at its limit (anti-windup).
void fem_paper_friction_apply(FemSystem *system, const FemFrictionGains *gains, FemVec3 gravity, float dt);

// To the contact of a new step, from the one at its place in the last that pressed.
void fem_paper_friction_carry(const FemPaperHold *last, FemPaperHold *out);

#endif
