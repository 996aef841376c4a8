// The pieces of a body: its connected components, each a physical body of its own. A whole body is one piece (or
// several, if its mesh is); one that broke is as many as it fell into.
#ifndef FEM_MODEL_PIECE_H
#define FEM_MODEL_PIECE_H

#include "base/assert.h"
#include "fem_destruction.h"
#include "model/body.h"
#include "model/bond.h"
#include "model/island.h"
#include "model/modal.h"
#include "topology/topology.h"

#include <math.h>

typedef struct FemPiece {
	// ---- identity; components are numbered anew by every split, this is what lasts
	FemPieceNumber number, parent;
	double born;    // s, of the world's time
	double retires; // the same: when it is removed because there are too many; infinite: it is not one too many

	// ---- what limits on the work of a step made of it (fem_budget.h)
	double frozen_until; // s, of the world's time: contact does not wake it before
	bool waits_to_wake;  // something would have woken it
	bool is_held_up;     // scratch of one call of fem_world_shed()

	// ---- measures, of the rest shape; those of its surface are 0 while the world has contacts off. Centre of mass and
	// inertia are not among them: those of an elastic piece change with its shape, and each stage that asks for them
	// has moved its nodes since the last did.
	float mass;           // kg
	float volume;         // m^3
	float area;           // m^2
	float thickness;      // m, 2 volume / area: that of a plate, a third of a cube's edge
	float box_area;       // (volume of its box)^(2/3), m^2: mass over this is the scale of contact
	float length;         // m, diagonal of its box
	int32_t pinned_count; // of its nodes, pinned and driven ones

	// ---- motion (world/step/rigid_pieces.h)
	bool is_limited;     // in this step its loads are not looked at, for want of room in the step's limits
	bool is_rigid;       // moves by its 6 rigid motions, in the shape that FemBody.shape holds
	uint8_t load;        // within a step: what its loads come to, 0 is low
	int32_t calm_steps;  // in a row in which nothing strained it that counts
	int32_t calm_needed; // so many make it rigid
	float margin; // Pa, of rigid ones: least rise of tension that makes it elastic; infinite: nothing does. Of those
	// that cannot break: least load by which they are seen to bend, beyond what the strain in their shape balances.
	// Pa, of rigid ones: by how much loads other than those in FemBody.last_dv may strain them before that is to be
	// looked at; 0: not known, and those are none.
	float slack;
	// Of what its nodes bear: the stress over the strength that a probe foretold when it was last made elastic, and did
	// not break. Less does not make it elastic again soon.
	float borne;
	float probe_dt; // s, of the step that the factor kept for it is of (world/step/piece_probe.h)
	// While a step looks at blows (world/step/blows.h), else 0: the share of its speed that those so far took, and
	// until when what touched it is spent, s from the start of the step.
	float spent_speed, spent_until;
	float blow_time;   // s, in which its blow stops it; 0: not known
	bool blow_broke;   // these split it, or what it was part of: the step's own, weaker force of them does not count
	bool blow_decides; // they split nothing of it and say all of its loads: the same
	bool look_is_over; // they break nothing of it any more in this step
	// Of bodies with bonds (model/bond.h): the first of all pieces that it hangs together with by them, and whether
	// it does with any. Follows from the bonds.
	int32_t assembly;
	bool is_joined;
	int32_t assembly_count; // of the first of them: how many there are
	// Within a step: all of them stand still, and move as one rigid body, or, as one of them is held, not at all.
	bool moves_as_one, is_held_as_one;
	float bond_overload;      // within a step: load over strength of the most overloaded of its bonds,
	int32_t bond_other;       // and the piece beyond that one; -1: none is
	bool is_refined;          // it is no longer one of the rigid ones: it moves as the pieces of an automatic body do
	double shape_rotation[9]; // of rigid ones: from the axes of the shape to those of the world, row by row

	// ---- passes of a step (world/step/passes.h); false between steps
	bool goes_back;    // takes the step again
	bool is_over;      // its step ended in an earlier pass
	bool cannot_split; // it is strained far beyond its strength, and every cut would leave too little

	// ---- solver
	struct FemPreconditioner *preconditioner; // null: none is needed, or memory failed
	uint8_t
		preconditioner_kind; // FemPreconditionKind that is wanted for it, of bodies that broke: for splits, snapshots

	// ---- contact
	int32_t sweep_proxy; // its box in the sweep; of the first FemBody.sweep_proxy_count pieces
	FemVec3 held;        // m/s, what gravity gives for the rest of the step in which it was stopped (`held_pieces.h`)
	FemVec3 released;    // m/s, the same of the step before: part of its velocity in this one
	int32_t held_by;     // collider that stopped it; -1: a piece, or nothing
	float bears;         // kg, of the heaviest that presses on it, directly or through others; at least its own mass
	float ground_load;   // N s, what the ground gives it in a step, smoothed
	float ground_ratio;  // of the ground's strength under it to that of its own mass: for its load; 0: not known, as 1
} FemPiece;

// kg/m^2: what the strength of its contacts is measured in.
static inline float fem_piece_contact_scale(const FemPiece *piece) {
	return piece->mass / piece->box_area;
}

#define FEM_LOAD_STRENGTH 30.0f // times its own: strength of any contact under load; 100:1 then rests at 1.2 mm
#define FEM_LOAD_SHARE 0.25f    // of the ratio of masses: g dt^2 / (kappa beta d_t) = 0.23 at 60 Hz, 0.9 at 30 Hz

// How many times its own strength, which is that of the mass `lighter`, a contact under load may have when up to
// `loading` kg press on it. The load alone must not decide: what is jammed and pushed out answers with a load, which
// would make it stronger and stronger (half overlapping cubes left at 44 m/s).
static inline float fem_load_ratio_max(float loading, float lighter) {
	float ratio = FEM_LOAD_SHARE * loading / lighter;
	return ratio > FEM_LOAD_STRENGTH ? ratio : FEM_LOAD_STRENGTH;
}

// The component that a node or a tet belongs to.
static inline int32_t fem_node_component(const FemTopology *t, int32_t node) {
	return t->part_component[t->node_part[node]];
}

static inline int32_t fem_tet_component(const FemTopology *t, int32_t tet) {
	return fem_node_component(t, fem_tet_node(t, tet, 0));
}

// The rigid piece that an island is; null: the island is elastic. Rigid pieces are awake as a whole, and nowhere
// pinned.
static inline FemPiece *fem_rigid_piece_of(const FemBody *body, const FemIsland *island) {
	FemPiece *piece = &body->pieces[island->component];
	FEM_ASSERT(!piece->is_rigid || island->whole);
	return piece->is_rigid ? piece : NULL;
}

// It is elastic from now on, until it has been at rest with itself for a while. Its strain is in its shape, which is
// where its nodes are.
static inline void fem_piece_release(FemPiece *piece) {
	piece->is_rigid = piece->is_limited = false;
	piece->calm_steps = 0;
}

// The loads of its rigid pieces are to be looked at anew.
static inline void fem_body_forget_loads(FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++)
		body->pieces[c].slack = 0.0f;
}

static inline void fem_body_release_pieces(FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++)
		fem_piece_release(&body->pieces[c]);
}

// Its pieces are rigid whatever their loads: none is elastic, dents or goes to grains.
static inline bool fem_body_is_rigid_by_choice(const FemBody *body) {
	return body->dynamics == FEM_DYNAMICS_RIGID || body->dynamics == FEM_DYNAMICS_RIGID_PIECES;
}

// Nor does a load split them: only bonds between them break.
static inline bool fem_body_stays_rigid(const FemBody *body) {
	bool breaks_on = body->dynamics == FEM_DYNAMICS_RIGID_PIECES && body->joined && body->joined->refine_on_break;
	return fem_body_is_rigid_by_choice(body) && !breaks_on;
}

// Two pieces of one body that hang together by bonds, directly or through others, do not touch each other.
static inline bool fem_pieces_are_joined(const FemBody *body, int32_t component, int32_t other) {
	return fem_joined_of(body) && body->pieces[component].assembly == body->pieces[other].assembly;
}

// The modes that a body moves by now; null: it does not.
static inline FemModal *fem_modal_of(const FemBody *body) {
	return body->modal && body->modal->is_moving && body->pieces[0].is_rigid ? body->modal : NULL;
}

// Whether some of it is awake. A kinematic body never sleeps.
static inline bool fem_piece_is_live(const FemBody *body, int32_t component) {
	FemRange parts = body->topology->component_parts[component];
	bool live = body->kinematic;
	for (int32_t p = parts.begin; p < parts.end && !live; p++)
		live = body->part_state[p] == FEM_ISLAND_LIVE;
	return live;
}

static inline bool fem_piece_is_wholly_live(const FemBody *body, int32_t component) {
	FemRange parts = body->topology->component_parts[component];
	bool live = true;
	for (int32_t p = parts.begin; p < parts.end; p++)
		live &= body->part_state[p] == FEM_ISLAND_LIVE;
	return live;
}

// A node of it is pinned or driven.
static inline bool fem_piece_is_attached(const FemBody *body, int32_t component) {
	return body->pieces[component].pinned_count > 0;
}

static inline int32_t fem_largest_piece(const FemTopology *t) {
	int32_t largest = 0;
	for (int32_t c = 1; c < t->component_count; c++)
		largest = t->component_tets[c] > t->component_tets[largest] ? c : largest;
	return largest;
}

// It was told to go and fades: rigid from then on, whatever its loads, and only colliders and the ground are in its
// way.
static inline bool fem_piece_is_going(const FemPiece *piece) {
	return piece->retires < INFINITY;
}

static inline bool fem_body_has_going_piece(const FemBody *body, int32_t component) {
	return component < body->topology->component_count && fem_piece_is_going(&body->pieces[component]);
}

// What may be removed for its age or number: free, and not the largest.
static inline bool fem_piece_is_debris(const FemBody *body, int32_t component, int32_t largest) {
	return component != largest && !fem_piece_is_attached(body, component) && !body->pieces[component].is_joined;
}

#endif
