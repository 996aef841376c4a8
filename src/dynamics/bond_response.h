// How rigid pieces on the springs of their bonds answer an impulse within a short time t: z = (M + t^2 K)^-1 J, with 6
// unknowns a piece. The counterpart of what elements do with the same matrix (world/step/blow_response.h).
#ifndef FEM_DYNAMICS_BOND_RESPONSE_H
#define FEM_DYNAMICS_BOND_RESPONSE_H

#include "base/arena.h"
#include "dynamics/rigid_motion.h"

#include <stdint.h>

typedef struct FemBondLink {
	int32_t piece[2]; // -1: it is held
	float arm[2][3];  // m, from the centres of mass
	float stiffness;  // N/m, in all directions; 0: it has broken
} FemBondLink;

typedef struct FemBondNet {
	int32_t piece_count, link_count;
	FemBondLink *links;
	// ---- [piece]
	FemMotionSums *sums;
	double *centers; // 3 each: m
	double *inertia; // 9 each: kg m^2, about its centre; 0 where its nodes lie on a line
	// ---- [piece], 6 each: linear, angular about its centre
	double *load;     // of the impulse, N s and N m s, for 1 N s in all
	double *response; // m/s and rad/s; that of the last call is where the next starts
	double *residual, *direction, *product;
	double *factors; // 36 each
} FemBondNet;

// J.z of both parts, 1/kg for a load of 1 N s: z.M z and t^2 z.K z.
typedef struct FemBondResponse {
	double inertia, elastic;
} FemBondResponse;

size_t fem_bond_net_bytes(int32_t pieces, int32_t links); // that it takes of an arena
FemBondNet fem_bond_net_take(FemArena *arena, int32_t pieces, int32_t links);

// A piece as it is now, at rest: no response yet.
void fem_bond_net_set_piece(FemBondNet *net, int32_t piece, const FemMotionSums *sums);

// Of all pieces as one rigid body, J.z; 1/kg.
double fem_bond_net_rigid(const FemBondNet *net);

FemBondResponse fem_bond_net_respond(FemBondNet *net, double time);

// m/s: the response of a link's side 0 against its side 1.
void fem_bond_net_stretch(const FemBondNet *net, int32_t link, double out[3]);

#endif
