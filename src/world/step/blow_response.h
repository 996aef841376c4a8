// How a piece answers a blow (docs/method.md, "The real force of a blow").
#ifndef FEM_WORLD_BLOW_RESPONSE_H
#define FEM_WORLD_BLOW_RESPONSE_H

#include "model/body.h"
#include "world/step/wall_blows.h"

// ---- of both ways, elements and bonds
#define FEM_BLOW_GAIN 2.0f        // of a swing over what one implicit step of its inverse frequency makes of it
#define FEM_BLOW_ROUNDS 3         // solves for the duration of a blow: the second is mostly within a fifth; chosen
#define FEM_BLOW_TIME_FACTOR 2.0f // that the duration may be off: the force is then within a fifth of the largest
// Of the inertia of the deformation: the elastic part of a response that lasts long enough for the struck cells to
// bend. In less the nodes that are struck are only pushed off, whatever their mesh makes them weigh. Both parts are
// equal in the waves of plates and solids; chosen.
#define FEM_BLOW_RESOLVED_SHARE 0.5f
#define FEM_BLOW_TIME_MIN 1e-6f // s, of a blow: sound goes 5 mm; chosen
#define FEM_BLOW_TIME_MAX 0.1f  // s: longer is no blow; chosen
#define FEM_IMPULSE_SPEED 20.0f // m/s, of what strikes with an impulse: a thrown stone, a hammer; chosen

// How a piece is struck.
typedef struct FemBlow {
	bool is_struck;
	bool is_impulse;   // of a caller, or an explosion: no contact
	bool by_mover;     // a collider that moves has part in it
	float first;       // s, from the start of the step: when the first of its contacts touches
	float weight;      // kg, sum of the strengths of those that touch first
	float approach;    // m/s
	float mobility;    // 1/kg, of what strikes it
	float give;        // m/N, of what strikes it
	float stopped;     // share of its speed that the blow takes
	float impulse;     // N s, of its contacts
	float energy;      // J, that it takes out of the motion if nothing breaks
	float dent_energy; // J, elastic, of what the mesh does not show of a dent in a wall
	float load;        // N s a step, that what strikes it pressed with before
	bool leans;        // on something else, whose force is not in the blow
	FemWallBlow wall;
} FemBlow;

// Pa: Young's modulus of a tet in a blow, as if its Poisson ratio were 1/4.
float fem_impact_modulus(const FemBody *body, int32_t tet);

// Moves the nodes of a piece that is struck to where they are at the peak of the blow, but for its motion as a rigid
// body. Its load is in body->step->rhs: of contacts in kg, by their strengths; of impulses and explosions in N s. Sums
// in its FemBlow become means.
void fem_blow_displace(FemBody *body, int32_t component, float dt);

#endif
