// Contact of nodes with the solid half space y <= height: implicit, one-sided damping with a bias velocity, as all
// contact of the engine (P&O09 section 6 made one-sided; docs/method.md, "Bias").
//
// Why it is not a half-space collider, which holds bodies up as well: contacts are rows of the solve, and join what
// lies on the ground to composites; terms of the diagonal cost next to nothing. Processor time a step of fem_bench
// scenes with a half-space collider over that with the built-in ground, interleaved on one thread: bowls4 1.17 and
// rubble500 1.03 to 1.11, whose many pieces lie side by side; pile27 and pole 1.0, wall and ductile 0.95, bowls1 0.9.
//
// A node's record (FemBodyStep.ground) while a step lasts:
//   x  k_n = dt phi, kg: 0 while the contact is not active
//   y  b, m/s: the node may not move down faster than this; up, out of the ground, when it stands below
//   z  k_t = dt c_t, kg: friction as damping, bounded by mu times the normal force
//   w  k_n that it has while active, kg; 0 if the node cannot touch the ground in this step
#ifndef FEM_COLLISION_GROUND_H
#define FEM_COLLISION_GROUND_H

#include "model/body.h"

typedef struct FemGround {
	bool enabled;
	double height;  // m, world
	float friction; // Coulomb coefficient
	float dt;       // s
	FemVec3 gravity;
} FemGround;

// Which of the nodes [begin, end) may touch, and which start active: those with a ground force in the last step and
// those that would otherwise go below. Returns the number that may touch.
int32_t fem_ground_detect(FemBody *body, int32_t begin, int32_t end, const FemGround *ground);

// How many of them may touch, as it was detected in this step.
int32_t fem_ground_count(const FemBody *body, int32_t begin, int32_t end);

// Whether any of the nodes rebounds in this step.
bool fem_ground_bounces(const FemBody *body, int32_t begin, int32_t end, const FemGround *ground);

// After a solve, before the update: slows rebounds of the nodes that added energy (fem_rebound_share()). True if so.
bool fem_ground_limit_bounces(FemBody *body, int32_t begin, int32_t end, const FemGround *ground);

// After a solve: normal forces from the new velocities, and the active set they imply. True if the set changed, or
// friction by more than 2 %: the solve is then worth repeating.
bool fem_ground_update(FemBody *body, int32_t begin, int32_t end, const FemGround *ground);

// After the move: what the ground bears of each piece, and how strong it is to be for that in the next
// step (docs/method.md, "Strength"). First for the body, then for each of its chunks of nodes, then for the body again.
void fem_ground_begin_load(FemBody *body);
void fem_ground_add_load(FemBody *body, int32_t begin, int32_t end, float dt);
void fem_ground_end_load(FemBody *body, float dt);

#endif
