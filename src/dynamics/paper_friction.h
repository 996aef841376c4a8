// Friction as P&O09 section 6 has it (FEM_FRICTION_PAPER; corrected: docs/method.md, "Friction"): sliding contacts get
// implicit damping bounded by a heuristic normal force, slow ones an explicit controller that takes back their slip.
#ifndef FEM_DYNAMICS_PAPER_FRICTION_H
#define FEM_DYNAMICS_PAPER_FRICTION_H

#include "dynamics/contact_rows.h"

// Of the controller F = -(Kp w + Ki int w dt + Kd dw/dt), w the tangential velocity.
typedef struct FemFrictionGains {
	float proportional; // Kp in units of effective mass / dt
	float integral;     // Ki in effective mass / dt^2
	float derivative;   // Kd in effective mass
	float threshold;    // m/s: slower contacts are static
} FemFrictionGains;

FemFrictionGains fem_default_friction_gains(void); // those found by tests/tuning

typedef struct FemPaperFriction {
	FemFrictionGains gains;
	FemVec3 gravity; // m/s^2
	float mass;      // kg, all that moves in the composite
	float dt;        // s
} FemPaperFriction;

// Before each solve of a step: friction_strength and static_impulse of the composite's active contacts, from the
// velocities at the start of the step.
void fem_paper_friction_apply(FemContactRows *rows, const FemPaperFriction *friction);

// After the last solve: what the controllers keep.
void fem_paper_friction_finish(FemContactRows *rows, float dt);

#endif
