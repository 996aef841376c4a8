// What touches, for the solve: contacts, and colliders as rigid bodies.
#ifndef FEM_MODEL_CONTACT_H
#define FEM_MODEL_CONTACT_H

#include <stdbool.h>
#include <stdint.h>

// What a side of a contact is a point of.
typedef enum FemSideKind {
	FEM_SIDE_TET = 0,
	FEM_SIDE_NODE,
	FEM_SIDE_COLLIDER,
} FemSideKind;

typedef struct FemContactSide {
	uint8_t kind;  // FemSideKind
	bool is_fixed; // a sleeping body, or a collider without mass: not an unknown of the solve
	int32_t body;  // index; -1 with a collider
	union {
		int32_t tet;      // inside number
		int32_t node;     // inside number
		int32_t collider; // index
	};

	int32_t piece; // connected component of the body; 0 of a collider

	// ---- of a tet or a node
	int32_t nodes[4]; // inside numbers; all the same of a node
	float weights[4]; // barycentric coordinates of the point; 1, 0, 0, 0 of a node

	// ---- of a collider
	int32_t proxy; // whose unknowns it acts on, its own or its leader's
	float arm[3];  // m, the point from the centre of mass
} FemContactSide;

static inline bool fem_side_is_body(const FemContactSide *side) {
	return side->kind != FEM_SIDE_COLLIDER;
}

static inline bool fem_side_is_collider(const FemContactSide *side) {
	return side->kind == FEM_SIDE_COLLIDER;
}

// The number of the tet, node or collider, for order and files.
static inline int32_t fem_side_place(const FemContactSide *side) {
	switch ((FemSideKind)side->kind) {
	case FEM_SIDE_TET: return side->tet;
	case FEM_SIDE_NODE: return side->node;
	case FEM_SIDE_COLLIDER: return side->collider;
	}
	return -1;
}

#define FEM_REBOUND_GAIN 1e-3 // of the work of a rebound, which rounding and the tolerance may add; chosen
// Of the rebound that adds energy. Measured on cubes thrown with spin at e of 0.9 to 1: with 1 each solve leaves half
// of the gain, with 1.5 a tenth.
#define FEM_REBOUND_CUT 1.5

// What the paper's friction knows of a contact (dynamics/paper_friction.h). Few worlds have it, so that contacts only
// name theirs.
typedef struct FemPaperHold {
	bool is_static;                       // below the threshold speed
	float impulse[3];                     // N s, on side 1: explicit friction, set before a solve
	float integral[3];                    // m, slipped while static, before the step
	float slip[3];                        // m/s, tangential velocity at the start of the last step
	float next_integral[3], next_slip[3]; // both for the next step
} FemPaperHold;

// One-sided implicit damping between two points (P&O09 section 6, made one-sided): with u the velocity of side 0
// against side 1, the normal impulse is k_n max(0, n.u+ + b), friction k_t times the tangential u+.
typedef struct FemContact {
	FemContactSide side[2];
	float normal[3];         // unit, from side 0 to side 1
	float area;              // m^2
	float depth;             // m; negative: a gap that may close within the step
	float reference;         // m, of that depth: how deep two sides of a crack stood in each other when they came apart
	float bias;              // b, m/s: out of the overlap while deep, what may be closed of a gap
	float normal_strength;   // k_n = dt phi A, kg
	float friction;          // Coulomb coefficient of the pair
	float restitution;       // of the pair: speed outwards over that inwards when it strikes
	float friction_strength; // k_t = dt c_t, kg, from the last pass
	float normal_impulse;    // normal impulse the last solve asks for, N s; 0 = not pressing
	float impulse[3]; // N s, on side 1: what the last solve gave, by the active set and friction it was made with
	float slip;       // m/s, tangential speed after the last solve
	float approach;   // m/s, along the normal before the step; positive: closing in
	float pair_load;  // N s a step: normal impulse between the two pieces, smoothed over steps; the same in all their
					  // contacts
	// What bears what (world/contact/bearing.h), of each side, but for what comes through this very contact; the same
	// in all contacts of the two pieces.
	float bears[2]; // kg, of the heaviest of it and what presses on it
	float props[2]; // 1: it does not move; less: how near it stands to what does not; 0: on nothing
	int32_t hold;   // place of its FemPaperHold among those of its step; without meaning under Coulomb's friction
	bool active;    // takes part in the matrix
	bool bounces;   // strikes in this step: its bias is the speed of its rebound
	bool is_bond;   // of two pieces (model/bond.h): always active, pulls as well as it presses, equally hard all round
	uint64_t key;   // the pair of places, for finding it again in the next step
} FemContact;

// Newton's restitution together with friction may add energy: what friction turns round of a slip can go into the
// rebound (Kane & Levinson 1985). An impulse g at points of relative velocity u before and u+ after it changes kinetic
// energy by g.(u + u+) / 2, exactly, of which the normal part has lambda (v - a) / 2 for a rebound of v after an
// approach of a. gained: the sum of g.(u + u+) over the contacts of two pieces, J; rebound: that of lambda v. Returns
// the share of v that is left so that nothing is gained, or a little less, since friction follows v.
static inline float fem_rebound_share(double gained, double rebound) {
	double share = 1.0 - FEM_REBOUND_CUT * gained / rebound;
	return gained > FEM_REBOUND_GAIN * rebound && rebound > 0.0 ? (float)(share > 0.0 ? share : 0.0) : 1.0f;
}

// A rigid body in the solve: a collider, which is fixed, moves as told or has mass, or a rigid piece.
typedef struct FemProxy {
	float velocity[3]; // m/s, of the centre of mass
	float spin[3];     // rad/s
	float mass;        // kg; 0: not dynamic, moves as told, or is a piece that its pins hold
	float inertia[6];  // kg m^2, world axes, about the centre of mass: xx yy zz xy yz zx
	float impulse[6];  // external, N s and N m s: gravity, joints, loads seen elsewhere
	float center[3];   // m, centre of mass of a piece, in its body's frame
	// [36] kg, kg m, kg m^2, of a piece: what damping of its masses and the ground add to the matrix of its 6 unknowns;
	// column-major. Null: nothing.
	const float *extra;
	struct FemModal *modal; // of a piece: its modes, where they have part in the solve (dynamics/modal_unknowns.h)
	float dv[6], residual[6], direction[6], product[6], z[6]; // the solver's: linear, angular
	int32_t block; // the solver's: its place in the rigid space, or among what is rigid without one
} FemProxy;

#endif
