// Contacts as rank-3 rows applied without forming blocks: A += B^T (k_n n n^T + k_t (I - n n^T)) B over the active
// ones, B the weights that make the relative velocity of a contact's two sides.
//
// Before each solve the active contacts are packed into rows that hold no more than the product reads. A product takes
// two loops: one over rows for the impulse that each makes of the velocities at its ends, one over node chunks that
// gather these impulses in row order. No thread writes what another does, and sums keep their order.
#ifndef FEM_DYNAMICS_CONTACT_ROWS_H
#define FEM_DYNAMICS_CONTACT_ROWS_H

#include "base/vec.h"
#include "fem_constants.h"
#include "model/body.h"
#include "model/body_step.h"
#include "model/contact.h"
#include "model/island.h"
#include "model/modal.h"

#define FEM_CONTACT_REFS 8   // most nodes of a contact: the corners of two tets
#define FEM_CONTACT_CHUNK 64 // rows a unit of work; chosen: above what handing it to a thread costs

// Whether two contacts are of the same two bodies, or of the same body and collider.
static inline bool fem_contact_same_pair(const FemContact *a, const FemContact *b) {
	return a->side[0].body == b->side[0].body && a->side[1].body == b->side[1].body &&
		(fem_side_is_body(&a->side[1]) || a->side[1].collider == b->side[1].collider);
}

// Whether two contacts of the same pair are of the same two pieces, or of the same piece and collider. Of two pieces of
// one body either may be side 0.
static inline bool fem_contact_same_pieces(const FemContact *a, const FemContact *b) {
	bool same = a->side[0].piece == b->side[0].piece && a->side[1].piece == b->side[1].piece;
	bool swapped = a->side[0].piece == b->side[1].piece && a->side[1].piece == b->side[0].piece;
	return fem_contact_same_pair(a, b) && (same || (swapped && a->side[0].body == a->side[1].body));
}

// Where the contacts of the pieces of contacts[begin] end in a list in key order.
static inline int32_t fem_contacts_end_of_pieces(const FemContact *contacts, int32_t begin, int32_t count) {
	int32_t end = begin + 1;
	while (end < count && fem_contact_same_pieces(&contacts[begin], &contacts[end]))
		end++;
	return end;
}

// An active contact as the product sees it.
typedef struct FemContactRow {
	int32_t nodes[FEM_CONTACT_REFS]; // of side 0, then of side 1: those with weight
	float weights[FEM_CONTACT_REFS]; // side 1 counts negative
	float normal[3];
	float normal_strength, friction_strength; // kg
	int32_t body[2];                          // of sides that are unknowns; -1: none, or a rigid one
	int8_t node_count[2];                     // 0 of rigid sides
	float mass[2];                            // kg, of what the two sides are points of; infinite: held
	FemProxy *rigid[2];                       // of sides that are points of a dynamic collider or a rigid piece
	float arm[2][3];                          // m, of these: the point from the centre of mass
	FemModal *modal[2];                       // of sides that are points of a piece that moves by modes,
	const float *jacobian[2];                 // and how these move the point; null: they do not
	int32_t contact;
} FemContactRow;

// A node's share in a row.
typedef struct FemContactRef {
	int32_t row;
	int32_t node;
	float weight; // side 1 counts negative
} FemContactRef;

typedef struct FemContactRows {
	FemBody *const *bodies;
	FemContact *contacts; // of the composite, in key order; then
	int32_t count;
	int32_t bond_count;  // bonds
	FemVec4 *before;     // [contact] m/s: velocity of side 0 against side 1 before the solve
	FemVec4 *after;      // [contact] the same after it, of a direct solve; null: from dv of the nodes
	FemProxy *proxies;   // the world's colliders
	FemContactRow *rows; // the active ones, in the same order
	int32_t row_count;
	float rebound;       // largest restitution of those that rebound; 0: none does
	bool moves_rigidly;  // a rigid space answers for the rigid motions of all that is free: the diagonal need not
	FemVec4 *impulses;   // [row]: of the last product; a direct solve has `after` here
	FemContactRef *refs; // by chunk, then row
	int32_t *ref_start;  // [chunk_count + 1]
	// [contact.hold]: friction is given before each solve, not made of the normal impulses; null: Coulomb's.
	FemPaperHold *holds;
} FemContactRows;

// Which vector of the nodes the contact product is taken of.
typedef enum FemContactField {
	FEM_FIELD_DV,
	FEM_FIELD_DIRECTION,
	FEM_FIELD_Z,    // the preconditioned residual of bodies
	FEM_FIELD_LOAD, // the present velocities and the bias: what contacts ask of the right-hand side
} FemContactField;

// Contacts and joints: what makes the matrix.
static inline int32_t fem_contact_rows_total(const FemContactRows *rows) {
	return rows->count + rows->bond_count;
}

// The node chunk of the composite that a live node belongs to.
static inline int32_t fem_contact_chunk_of(const FemBody *body, int32_t node) {
	int32_t part = body->topology->node_part[node];
	return body->step->part_chunk[part] + (node - body->topology->part_nodes[part].begin) / FEM_NODE_CHUNK;
}

// Whether a node's part is awake. Pinned nodes count: contact impulses on them belong to their reaction.
static inline bool fem_contact_node_is_live(const FemBody *body, int32_t node) {
	return body->part_state[body->topology->node_part[node]] == FEM_ISLAND_LIVE;
}

// Once a step, before the first solve: FemContactRows.before.
void fem_contact_rows_open(FemContactRows *rows);

static inline void fem_contact_rows_note_rebound(FemContactRows *rows, const FemContact *contact) {
	if (contact->bounces && contact->restitution > rows->rebound)
		rows->rebound = contact->restitution;
}

// Packs the active contacts and lists their live nodes by chunk, before each solve. FemBodyStep.part_chunk holds the
// chunks of the composite.
void fem_contact_rows_build(FemContactRows *rows, int32_t chunk_count);

// What the active contacts add to the diagonal blocks of a chunk's nodes: FemBodyStep.contact_blocks.
void fem_contact_rows_diagonal(const FemContactRows *rows, const FemNodeChunk *chunk, int32_t chunk_index);

// Impulses of the rows [begin, end); returns their share of x.Ax.
double fem_contact_rows_impulses(FemContactRows *rows, int32_t begin, int32_t end, FemContactField field);

// y += sign * impulses, on the nodes of a chunk.
void fem_contact_rows_gather(const FemContactRows *rows, int32_t chunk_index, FemVec4 *y, float sign);

typedef enum FemProxyField {
	FEM_PROXY_RESIDUAL,
	FEM_PROXY_PRODUCT,
} FemProxyField;

// y += sign * impulses, on the 6 unknowns of every dynamic collider and rigid piece.
void fem_contact_rows_gather_proxies(const FemContactRows *rows, FemProxyField field, float sign);

// The unknowns that a side acts on; null: nodes, or nothing that moves. Nothing moves a piece that its pins hold: it
// has a proxy without mass.
static inline FemProxy *fem_contact_side_rigid(const FemContactRows *rows, const FemContactSide *side) {
	if (side->is_fixed)
		return NULL;
	if (fem_side_is_collider(side))
		return &rows->proxies[side->proxy];
	FemProxy **pieces = rows->bodies[side->body]->step->rigid;
	return pieces ? pieces[side->piece] : NULL;
}

typedef struct FemContactUpdate {
	bool changed;    // a contact became active or stopped being so, or friction changed by 2 %: worth another solve
	bool any_active; // some contact is active
} FemContactUpdate;

// After a solve: normal impulses, the active set they imply, and the friction they allow. Friction acts like a damper
// below slip_min (m/s), which sets the speed of creep.
FemContactUpdate fem_contact_rows_update(FemContactRows *rows, float slip_min);

// After a solve, before the update: slows rebounds that added energy (fem_rebound_share()). True if any did: with the
// same active set and friction the solve is worth repeating.
bool fem_contact_rows_limit_bounces(FemContactRows *rows);

// Velocity of side 0 against side 1 as they move, without what a solve changes.
void fem_contact_velocity(const FemContactRows *rows, const FemContact *contact, float out[3]);

// The same of contact c with what the last solve changed.
void fem_contact_velocity_after(const FemContactRows *rows, int32_t c, float out[3]);

// The point of a side of a dynamic collider or a rigid piece, from the centre of mass, m.
void fem_contact_side_arm(const FemContactRows *rows, const FemContactSide *side, const FemProxy *rigid, float out[3]);

// out += sign times the velocity of the point at an arm.
static inline void fem_add_rigid_point(const float a[3], const float v[3], const float w[3], float sign, float out[3]) {
	for (int i = 0; i < 3; i++)
		out[i] += sign * (v[i] + w[(i + 1) % 3] * a[(i + 2) % 3] - w[(i + 2) % 3] * a[(i + 1) % 3]);
}

#endif
