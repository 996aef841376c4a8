// The public API of what broke: pieces, and the splinters drawn with them. Conventions in fem_destruction.h.
#ifndef FEM_FRACTURE_H
#define FEM_FRACTURE_H

#include "fem_basics.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- pieces

// A body that breaks stays one body of several pieces, each of which moves, sleeps and collides on its own. A piece's
// number holds as long as the piece: where one breaks, its largest part keeps it. 0 is no piece.
typedef uint32_t FemPieceNumber;

typedef struct FemPieceState {
	FemPieceNumber piece;
	FemPieceNumber parent;    // the piece it broke off; 0: there from the start
	double age;               // s since it broke off
	double time_left;         // s until it is removed for its age or because there are too many; infinite: it stays
	double mass;              // kg
	double volume;            // m^3, rest
	FemPosition center;       // centre of mass, m
	FemVec3 linear_velocity;  // m/s
	FemVec3 angular_velocity; // rad/s, of the rigid motion with the same angular momentum
	FemQuat rotation;         // mean rotation of its tets since rest
	FemPosition min, max;     // box, m
	int32_t tet_count, node_count;
	bool is_attached; // a node of it is pinned or driven
	bool asleep;
} FemPieceState;

// The pieces of a body in a fixed order.
int32_t fem_body_get_pieces(FemBodyId body, FemPieceNumber *out_pieces, int32_t capacity);
FemResult fem_body_get_piece_state(FemBodyId body, FemPieceNumber piece, FemPieceState *out_state);

// For fading out pieces that will be removed for their age or number: how much is left of the last `fade_time` seconds,
// 1 to 0, of each node's piece; 1 for all others. Nodes as in the positions. Whether any piece fades is quicker to ask.
int32_t fem_body_get_node_fades(FemBodyId body, float fade_time, float *out_fades, int32_t node_capacity);
bool fem_body_has_fading_pieces(FemBodyId body, float fade_time);

// The piece that a tet belongs to; 0 for a removed tet.
FemPieceNumber fem_body_get_tet_piece(FemBodyId body, int32_t tet);

// The tets of a piece, ascending.
int32_t fem_body_get_piece_tets(FemBodyId body, FemPieceNumber piece, int32_t *out_tets, int32_t capacity);

// Its tets leave every loop at once; the memory returns with the body. The last piece stays: destroy the body instead.
// For bodies that can break.
FemResult fem_body_remove_piece(FemBodyId body, FemPieceNumber piece);

// As in FemBodyDef, for bodies that can break: also for one whose material became breakable only later.
FemResult fem_body_set_piece_limits(FemBodyId body, int32_t piece_limit, float piece_lifetime, float piece_fade);
FemResult fem_body_set_fracture_seed(FemBodyId body, uint32_t fracture_seed);
FemResult fem_body_get_piece_limits(
	FemBodyId body, int32_t *out_limit, float *out_lifetime, float *out_fade); // [any time]
FemResult fem_body_get_fracture_seed(FemBodyId body, uint32_t *out_seed);      // [any time]

FemResult fem_body_sleep_piece(FemBodyId body, FemPieceNumber piece);
FemResult fem_body_wake_piece(FemBodyId body, FemPieceNumber piece);

// A face that opened in the last step: one for both sides.
typedef struct FemFractureFace {
	FemBodyId body;
	FemPosition center; // m, at the end of the step: of the side of the first tet
	FemVec3 area;       // m^2, normal to the face, from the first tet to the second
	int32_t tets[2];
	FemMaterialId material; // of the first tet
	float energy;           // J, elastic energy that the face's share of both tets held
} FemFractureFace;

// A piece that broke off in the last step.
typedef struct FemPieceEvent {
	FemBodyId body;
	FemPieceNumber piece, parent;
} FemPieceEvent;

// What of a body went to grains and dust in the last step, under a pressure beyond its crush_strength. Its tets are
// gone like those of removed pieces.
typedef struct FemCrushEvent {
	FemBodyId body;
	FemPosition center; // m, centre of mass
	FemVec3 velocity;   // m/s, of the centre of mass
	float volume;       // m^3
	float mass;         // kg
	int32_t tet_count;
	FemMaterialId material; // of the first of its tets
} FemCrushEvent;

// Of the last step, in deterministic order; valid until the next step. Return their number. [any time]
int32_t fem_world_get_fracture_faces(FemWorldId world, const FemFractureFace **out_faces);
int32_t fem_world_get_piece_events(FemWorldId world, const FemPieceEvent **out_events);
int32_t fem_world_get_crush_events(FemWorldId world, const FemCrushEvent **out_events);

// ---- joined pieces

// What a body with FEM_DYNAMICS_RIGID_PIECES is cut into beforehand, and how it comes apart (Li, Andrews, Jones &
// Bargteil 2018): pieces that move rigidly, joined at the corners of the faces between them. A bond that bears more
// than its strength, toughness times its share of the faces, breaks within the step, and the elastic energy that it
// held goes back into what it joined.
typedef struct FemJoinedDef {
	// Which tets are one piece, the first that is given counts: a number for each tet of the mesh; or tets from which
	// pieces grow, each by a tet in turn, as from the homes of splinters; or so many such tets at random. What does not
	// hang together by faces is several pieces, and what has fewer than 3 tets goes to a neighbour.
	const int32_t *tet_pieces;
	const int32_t *seed_tets;
	int32_t seed_count; // of seed_tets, or at random, default 10; clamped to 1..the number of tets
	uint32_t seed;      // of those at random, default 0

	float energy_release;    // share of the energy of a broken bond that is given back, default 1; 0: it only lets go,
							 // above 1: more than there was, for effect; clamped to 0..100
	float breaks_per_second; // bonds, most; default 0: no limit
	bool refine_on_break;    // pieces that lost a bond go on as those of an automatic body, by finite elements; default
							 // false
	uint32_t cookie;
} FemJoinedDef;

FemJoinedDef fem_default_joined_def(void); // [any time]

// For bodies that can break. A body that has these dynamics already is put together and cut anew: joints that broke
// hold again only where nothing else is told of their faces. Without a call a body is cut by the default.
FemResult fem_body_set_joined(FemBodyId body, const FemJoinedDef *def);

// As in FemJoinedDef, without cutting anew.
FemResult fem_body_set_bond_breaking(
	FemBodyId body, float energy_release, float breaks_per_second, bool refine_on_break);

typedef struct FemBondState {
	int32_t tets[2]; // one of each of the two pieces, at the joint
	FemPieceNumber pieces[2];
	FemPosition point; // m
	float area;        // m^2, its share of the faces between the two pieces
	float stiffness;   // N/m
	float strength;    // N; infinite: it does not break
	float energy;      // J, that it held when it broke; else 0
	bool is_broken;
} FemBondState;

// All joints that the body was cut with, in a fixed order.
int32_t fem_body_get_bonds(FemBodyId body, FemBondState *out_joints, int32_t capacity);

// ---- splinters

// What is drawn of a body that can break: closed bits of its render mesh, much smaller than a tet, that stay whole when
// the body cracks (P&O09 section 5). Every splinter has a home tet. Every render vertex of it follows the tet it lies
// in, as long as that tet still hangs together with the home tet near the splinter; after that the nearest one that
// does.
typedef struct FemSplintersDef {
	int32_t splinter_count;
	const int32_t *home_tets; // [splinter]: the tet that holds its centre
	int32_t vertex_count;
	const int32_t *vertex_splinters; // [vertex]: what it is a vertex of
	const int32_t *vertex_tets;      // [vertex]: the tet that holds it, or the nearest
	const FemVec3 *vertex_positions; // [vertex]: m, rest, in the mesh's space
	uint32_t cookie;
} FemSplintersDef;

// What a render vertex follows: the sum of weights[k] times the position of node nodes[k].
typedef struct FemVertexOwner {
	int32_t tet; // -1: of a removed piece; nodes are then -1 and weights 0
	int32_t nodes[4];
	float weights[4]; // sum 1; outside the tet some are negative
} FemVertexOwner;

typedef enum FemOwnerChangeKind {
	FEM_OWNER_NODES = 1, // the tet is the same, but some of its nodes are copies now
	FEM_OWNER_TET,       // another tet, and other weights
	FEM_OWNER_REMOVED,   // its piece was removed
} FemOwnerChangeKind;

typedef struct FemOwnerChange {
	int32_t vertex;
	FemOwnerChangeKind kind;
	FemVertexOwner owner;  // the new one
	FemVertexOwner before; // the tet it followed until then, with that tet's present nodes; tet -1: removed
} FemOwnerChange;

FemSplintersDef fem_default_splinters_def(void); // [any time]

// Gives splinters to a body that can break, in place of those it had; none with both counts 0. Copies what it needs.
// Vertices that do not hang together with their home as the body is now are moved at once: read the owners afterwards.
FemResult fem_body_set_splinters(FemBodyId body, const FemSplintersDef *def);

// How many splinters the body has; out_vertex_count, which may be null: how many vertices they have.
int32_t fem_body_get_splinter_count(FemBodyId body, int32_t *out_vertex_count);

FemResult fem_body_get_vertex_owner(FemBodyId body, int32_t vertex, FemVertexOwner *out_owner);

// A piece that breaks off without the home of a splinter takes over one of those it broke off from, if enough of it
// lies there. Else it is bare: no splinter shows it, and it may be drawn by the faces of its tets. Writes the first
// `capacity` tets of bare pieces, ascending, by their numbers in the mesh, and returns how many there are. 0 for a body
// without splinters.
int32_t fem_body_get_bare_tets(FemBodyId body, int32_t *out_tets, int32_t capacity);

// The owner that the vertex would have in that tet. As FemOwnerChange.before it says where the vertex was drawn until
// its tet changed: in a strained body that is another place, from which it may be led to the new one.
FemResult fem_body_get_vertex_owner_in(FemBodyId body, int32_t vertex, int32_t tet, FemVertexOwner *out_owner);

// Exactly the vertices whose nodes or weights are others since the last step (and since pieces were removed before it),
// each once, by vertex number; valid until the next step or change of the body. Returns their number. [any time]
int32_t fem_body_get_owner_changes(FemBodyId body, const FemOwnerChange **out_changes);

#ifdef __cplusplus
}
#endif

#endif
