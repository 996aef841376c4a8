// Bonds: what holds the pieces of a body together that was cut beforehand (Li, Andrews, Jones & Bargteil 2018).
//
// Tets that share a corner of a face between two pieces name two copies of one node. A bond is a soft constraint
// between the two copies; in the solve it is a contact that pulls as well as it presses (FemContact.is_bond). Corners
// are told by tets, which no split renumbers.
#ifndef FEM_MODEL_BOND_H
#define FEM_MODEL_BOND_H

#include "base/vec.h"
#include "model/body.h"
#include "topology/topology.h"

typedef struct FemBond {
	int32_t corner[2]; // tet * 4 + local node, of the two pieces
	FemVec3 normal;  // unit, of the faces between the two pieces, from the first to the second: axes of the rest shape
	float area;      // m^2, its share of these faces
	float stiffness; // N/m, of the material between the middles of the two pieces
	float energy;    // J, that it held when it broke
	bool is_broken;
	int32_t pieces[2]; // within a pass in which bonds break: components of its two sides; -1: its tets are gone
} FemBond;

// A face between two pieces.
typedef struct FemBondFace {
	int32_t face, across; // tet * 4 + opposite local node
	int32_t bonds[3];     // at its corners
	float area;           // m^2
	bool is_open;         // all of them have broken
} FemBondFace;

// A bond that broke and whose energy has not been given back: its two sides still hang together by others.
typedef struct FemBondKick {
	int32_t bond;
	FemVec3 force; // N, that it bore on its first side, in the axes of the rest shape of that side's tet
	float energy;  // J, times the share that is given back
} FemBondKick;

typedef struct FemJoined {
	int32_t *tet_piece; // [user tet]: the piece that it is to be of
	int32_t tet_count;
	int32_t label_count; // pieces that it says
	bool is_cut;         // the faces between pieces are open: bonds hold

	FemBond *bonds;
	FemBondFace *faces;
	FemBondKick *kicks; // as many as there are bonds
	int32_t bond_count, bond_capacity, face_count, kick_count;
	int32_t whole_count; // bonds that hold

	float energy_release;    // share of the energy of a bond that is given back when it breaks
	float breaks_per_second; // most; infinite: no limit
	bool refine_on_break;    // what has lost a bond goes on to break by finite elements
	float break_allowance;   // bonds that may break now
	bool has_broken;         // within a step: some have in this pass,
	int32_t old_kick_count;  // and kicks that there were before it

	// ---- of the last step in which bonds were solved for (world/step/joined_calm.h)
	float overload;  // load over strength of the most loaded of all, at most 1
	float calm_load; // N, that all contacts and the ground bore,
	float load;      // and that they bear now
	bool is_stirred; // these are not the same: bonds are to be solved for
} FemJoined;

static inline int32_t fem_bond_node(const FemTopology *t, const FemBond *bond, int side) {
	return fem_tet_node(t, bond->corner[side] / 4, bond->corner[side] % 4);
}

// Neither its tets are gone.
static inline bool fem_bond_is_there(const FemTopology *t, const FemBond *bond) {
	return t->user_of_tet[bond->corner[0] / 4] >= 0 && t->user_of_tet[bond->corner[1] / 4] >= 0;
}

// Whether it takes part in the solve.
static inline bool fem_bond_holds(const FemTopology *t, const FemBond *bond) {
	return !bond->is_broken && fem_bond_is_there(t, bond);
}

// The bonds of a body that hold now; null: it has none.
static inline FemJoined *fem_joined_of(const FemBody *body) {
	return body->joined && body->joined->is_cut && body->joined->whole_count > 0 ? body->joined : NULL;
}

#endif
