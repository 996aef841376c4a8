// Finding contacts: from boxes to pairs, from pairs to tets that overlap, from overlaps to contacts with what they keep
// from the last step.
#ifndef FEM_WORLD_CONTACT_STAGE_H
#define FEM_WORLD_CONTACT_STAGE_H

#include "base/assert.h"
#include "base/range.h"
#include "collision/key_sort.h"
#include "collision/narrow_phase.h"
#include "collision/overlap.h"
#include "collision/sweep.h"
#include "dynamics/contact_rows.h"
#include "fem_colliders.h"
#include "fem_constants.h"
#include "model/body.h"
#include "model/contact.h"
#include "model/joint.h"
#include "world/api/colliders.h"
#include "world/contact/fast_pairs.h"

#define FEM_SWEEP_COLLIDER 0x80000000u // of a proxy's user number: it is a collider

// Two bodies, a body with itself, or a body and a collider.
typedef struct FemTouch {
	int32_t body;
	int32_t other; // body, or collider
	bool is_collider;
	FemRange pieces;             // into FemContactStage.pieces: which of them
	FemRange hulls;              // into FemContactStage.hulls: those of which both have convex parts
	int32_t narrow;              // pair of the narrow phase; -1: colliders
	FemRange items;              // into FemContactStage.items
	int32_t closed;              // FemClosedBody, of a body with itself; -1: none
	float scale;                 // kg/m^2, of the collider; infinite: of the pieces alone
	float friction, restitution; // of the collider
	float inside_area;           // m^2, of all nodes inside the collider, where only tets of some are listed; else 0
	bool ahead; // the collider is fast for some of the pieces: also what it comes to overlap within the step
} FemTouch;

// Two faces that were one, of a body that broke, and still lie on each other.
typedef struct FemClosedFaces {
	int32_t face, across; // tet * 4 + opposite local node; face < across
	float depth;          // m, how far they stand in each other; negative: a gap
	float area;           // m^2
	FemVec3 normal;       // unit, out of the tet of `face`
	FemVec3 point;        // m, between the centroids of both, relative to the body's origin
} FemClosedFaces;

// Those of one body.
typedef struct FemClosedBody {
	int32_t body;
	FemRange faces; // into FemContactStage.closed
	FemRange pairs; // into FemContactStage.closed_pairs, sorted
	int32_t marks;  // into FemContactStage.closed_marks: of its first tet
} FemClosedBody;

// Two convex solids to be clipped against each other: a tet, and a tet or a sub-shape of a collider; or two parts of
// pieces.
typedef struct FemOverlapItem {
	int32_t touch;
	int32_t tet, other_tet; // of a collider: its sub-shape; of parts the tets that stand for them
	bool are_hulls;         // parts of rigid pieces ...
	int32_t solid[2];       // ... at these places in FemContactStage.solids
	bool found;
	uint8_t held; // bit k: its node k is inside a flat solid and held there, so that its overlap is not looked for
	float ahead;  // fraction of the step at which a fast collider overlaps the tet; 0: as it stands
} FemOverlapItem;

// A rigid piece whose convex parts are to be placed where they are in this step.
typedef struct FemPlacedPiece {
	int32_t body, component;
	int32_t solid, vector; // into FemContactStage.solids and solid_vectors: its first ones
} FemPlacedPiece;

// A piece whose surface trees are to be refitted to its nodes.
typedef struct FemRefit {
	int32_t body, component;
	FemTreeSpan span;
	int32_t first_task;
} FemRefit;

// The heaviest two that press on a piece, and the firmest two that it stands on: FemContact.bears and props of their
// contacts, and the first of these, to be told apart.
typedef struct FemBearing {
	float masses[2], props[2];
	int32_t mass_contacts[2], prop_contacts[2];
} FemBearing;

typedef struct FemContactStage {
	FemNarrowPhase narrow;
	uint32_t islands_seen; // their version when it was last marked what is still
	FemRefit *refits;
	int32_t refit_count, refit_capacity, refit_tasks;
	FemNarrowPieces *pieces; // of two touching bodies, or of a body that touches a collider
	int32_t piece_count, piece_capacity;
	FemNarrowPieces *hulls; // of two touching bodies: rigid, of convex parts both (convex_pieces.c)
	int32_t hull_count, hull_capacity;
	uint32_t placed_number; // of the list of placed pieces at hand
	FemPlacedPiece *placed_pieces;
	int32_t placed_piece_count, placed_piece_capacity;
	FemConvex *solids; // their parts
	int32_t solid_count, solid_capacity;
	FemVec4 *solid_vectors; // planes and vertices of those
	int32_t solid_vector_count, solid_vector_capacity;
	FemTouch *touches;
	int32_t touch_count, touch_capacity;
	FemOverlapItem *items;
	FemOverlap *overlaps; // [item]
	int32_t item_count, item_capacity, overlap_capacity;
	FemContact *contacts, *last_contacts; // in order of bodies, pieces, tets and points
	int32_t contact_count, last_count, contact_capacity, last_capacity;
	FemJoint *joints;                    // [slot]
	int32_t joint_count, joint_capacity; // slots that were used
	uint32_t joint_number;               // of the last one made
	FemPaperHold *holds, *last_holds;    // [contact.hold]: of contacts and last_contacts; null under Coulomb's friction
	int32_t hold_capacity, last_hold_capacity;
	FemProxy *proxies; // [collider]
	int32_t proxy_capacity;
	int32_t *candidates; // scratch: triangles near a collider
	int32_t candidate_capacity;
	float *node_area; // m^2, [node of one body]: scratch, all 0 between uses
	int32_t node_area_capacity;
	FemClosedBody *closed_bodies;
	int32_t closed_body_count, closed_body_capacity;
	FemClosedFaces *closed; // by body and face
	int32_t closed_count, closed_capacity;
	uint8_t *closed_marks; // [tet of a body in closed_bodies]: bit v for a closed face opposite local node v
	int32_t closed_mark_count, closed_mark_capacity;
	FemKeyed *closed_pairs; // pairs of pieces with closed faces, body by body; the second half is scratch
	int32_t closed_pair_count, closed_pair_capacity;
	FemKeyed *cracks; // of one body: pairs of pieces, sorted; the second half is scratch
	int32_t crack_count, crack_capacity;
	FemKeyed *order; // of contacts of one pair; the second half is scratch
	int32_t order_capacity;
	FemBearing *bearing; // [proxy of the sweep]: scratch
	int32_t bearing_capacity;
	FemVec4 *placed; // m, while contacts are found: where nodes of bodies that swell stand (placed_bodies.h); else null
	int64_t placed_count;
	int32_t ahead_count; // items of fast colliders
	double last_time;    // s, of the world when contacts were last looked for: pieces born since are new to contact
	FemFastPairs fast;
	FemContactEvent *events;
	int32_t event_count, event_capacity;
	FemContactEvent strikes[FEM_STRIKE_MAX]; // of substeps before the last
	int32_t strike_count;
	bool full; // of this step
} FemContactStage;

struct FemWorld;
struct FemMesh;
struct FemStep;

// Lists of this stage grow within a step, on the thread that fills them, up to bounds that follow from the def and from
// what is in the world. So what touches never depends on how much room there was, and a world at rest holds little.

// Boxes in the sweep for the world as it stands. False when memory fails.
FEM_MUST_USE bool fem_contact_stage_reserve(struct FemWorld *world);

int32_t fem_contact_stage_most_pairs(const struct FemWorld *world); // of pieces and colliders near each other

// Room for so many contacts; false when that is more than may be, or memory fails.
FEM_MUST_USE bool fem_contact_stage_hold(struct FemWorld *world, int64_t count);

void fem_contact_stage_free(struct FemWorld *world);

// What a body needs for contact: trees, outer faces and nodes, a box in the sweep. False when memory fails.
FEM_MUST_USE bool fem_body_contact_create(struct FemWorld *world, FemBody *body, int32_t body_index);
void fem_body_contact_free(struct FemWorld *world, FemBody *body, int32_t body_index);

// Fills step->contacts and step->proxies; wakes what lost its support.
void fem_contact_stage_find(struct FemStep *step);

// After the solve: what the contacts did, kept for the next step; wakes what was struck.
void fem_contact_stage_finish(struct FemStep *step);

// ---- contact_bodies.c
void fem_body_contact_follow_split(struct FemWorld *world, FemBody *body); // its surface is another
void fem_body_contact_follow_shape(struct FemWorld *world, FemBody *body); // the same but for trees, which it keeps
void fem_contacts_renumber(
	struct FemWorld *world, int32_t body_index); // contacts that are kept, after a split gave nodes new numbers
FEM_MUST_USE bool fem_contact_body_enter_pieces(
	struct FemWorld *world, FemBody *body, int32_t body_index); // into the sweep
void fem_contact_bodies_refit(struct FemWorld *world);          // trees and boxes of the pieces that may have moved
void fem_contact_bodies_mark_still(struct FemWorld *world);
FemSweepBox fem_contact_span_box(const FemBody *body, FemTreeSpan span); // world, of the last refit

// ---- mesh_convexity.c
FEM_MUST_USE bool fem_mesh_find_convexity(struct FemMesh *mesh); // fills FemMesh.convexity; false: no memory

// ---- mesh_gap.c
FEM_MUST_USE bool fem_mesh_find_gap(struct FemMesh *mesh); // fills FemMesh.gap, after its convexity; false: no memory

// ---- self_contact.c
// Whether a piece may be bent so far that it touches itself. One of a convex mesh can fold over only where two of its
// tets are rotated by a right angle against each other: the dents of a shard are sides of cracks, which begin closed.
// One tet at each node is compared with the mean rotation; if none differs by 40 degrees, it does not.
bool fem_contact_may_fold(const struct FemWorld *world, const FemBody *body, int32_t component);
// Whether self-contact of a piece is looked for.
bool fem_contact_may_touch_itself(const struct FemWorld *world, const FemBody *body, int32_t component);

// ---- collider_overlap.c
void fem_contact_add_item(struct FemWorld *world, int32_t touch, int32_t tet, int32_t other);
void fem_collider_list_items(struct FemWorld *world, int32_t touch_index, float dt);
// The sub-shapes of a collider, which are clipped one by one: a triangle or half a cell (else 0: all of it), near a
// box; each with a box of its own. True, from a visit or from all, ends it.
typedef bool FemVisitSubShape(void *context, int32_t sub_shape, const FemSweepBox *box);
bool fem_collider_visit_near(
	const FemCollider *collider, const FemSweepBox *near, FemVisitSubShape *visit, void *context);
// The solid of a box, a hull, one triangle or half a cell; false for other shapes. Plane 0 of a triangle's prism is the
// triangle.
bool fem_collider_flat_shape(const FemCollider *collider, int32_t sub_shape, FemConvexStorage *storage, FemConvex *out);
bool fem_collider_overlap(const FemCollider *collider, const FemConvex *tet, int32_t sub_shape, FemOverlap *out);
// How far a sphere or capsule is from the tet at least, m; 0 when they may meet, and for other shapes.
float fem_collider_round_gap(const FemCollider *collider, const FemConvex *tet);

// A flat shape of a collider as it was last asked for: items of one follow each other.
typedef struct FemFlatShape {
	const FemCollider *collider; // null: none yet
	int32_t sub_shape;
	bool is_flat; // else it is round, or has no volume
	FemConvexStorage storage;
	FemConvex convex;
} FemFlatShape;
const FemConvex *fem_flat_shape(FemFlatShape *last, const FemCollider *collider, int32_t sub_shape); // null: not flat

// Nodes of a tet that a flat solid holds, a bit each: those of outer faces that lie wholly inside it, and, of what
// moves by modes and therefore stands on a few nodes, all outer ones (contact_planes.c).
uint8_t fem_contact_nodes_held(const struct FemBody *body, int32_t tet, const FemConvex *shape);
// What moves by modes and has as many nodes inside a flat solid as it stands on needs no others, nor what overlaps:
// tets of those nodes are listed. False, and nothing is listed, where it has fewer, or the solid is none.
bool fem_contact_list_few(struct FemWorld *world, int32_t touch_index);
// The modes of a body that stands on few points; null: it needs all.
const struct FemModal *fem_contact_few_points(const struct FemBody *body);

// ---- collider_ahead.c
// Whether it goes farther in a step than the thinner of it and a piece of so much thickness, m.
bool fem_collider_looks_ahead(const struct FemWorld *world, const FemCollider *collider, float thickness, float dt);
void fem_colliders_draw_out(struct FemWorld *world, float dt); // boxes in the sweep, over the whole step
// Moves a copy of a collider along its path by a time, relative to a frame that moves with velocity `against` (m/s).
void fem_collider_move(const struct FemWorld *world, FemCollider *collider, FemVec3 against, float time);
FemVec3 fem_collider_tet_velocity(const FemBody *body, int32_t tet); // m/s: the `against` of a tet
// Displacement of a collider in a step relative to a piece, m, and how far single points of both deviate from it.
typedef struct FemColliderSweep {
	FemVec3 displacement;
	float grow;
} FemColliderSweep;

FemColliderSweep fem_collider_sweep_at(
	const struct FemWorld *world, const FemCollider *collider, const FemBody *body, int32_t component, float dt);
FemSweepBox fem_collider_swept(
	const FemColliderSweep *sweep, const FemSweepBox *box, float sign); // -1: against its displacement
// Whether a fast collider overlaps the tet within the step; writes the fraction of the step at which it first does to
// item->ahead.
bool fem_collider_overlap_ahead(const struct FemWorld *world, const FemTouch *touch, FemOverlapItem *item, float dt,
	const FemConvex *tet, FemOverlap *out);

// ---- convex_pieces.c
// Whether two pieces near each other are rigid, of convex parts, and touch as such: not tet by tet.
bool fem_convex_pieces_may_touch(struct FemWorld *world, FemBody *a, int32_t piece, FemBody *b, int32_t other);
void fem_convex_pieces_begin(FemContactStage *stage); // a new list of such pairs
// Adds one. False when there is no room.
FEM_MUST_USE bool fem_convex_pieces_add(
	struct FemWorld *world, int32_t body, int32_t piece, int32_t other_body, int32_t other);
void fem_convex_pieces_place(struct FemWorld *world); // the parts of all that are listed
void fem_convex_pieces_list_items(struct FemWorld *world, int32_t touch_index);
bool fem_convex_pieces_overlap(const struct FemWorld *world, const FemOverlapItem *item, FemOverlap *out);
void fem_convex_pieces_forget(FemBody *body);                   // its pieces are others
void fem_convex_piece_forget(FemBody *body, int32_t component); // its shape is another

// ---- contact_builder.c
void fem_contacts_make(
	struct FemStep *step); // contacts from overlaps, in order, with what they keep from the last step
int fem_contact_compare_places(const FemContact *a, const FemContact *b); // the order of the list: no two are equal
const FemContact *fem_contact_find_place(
	const FemContact *contacts, int32_t count, const FemContact *contact); // or null
// The contacts of a pair in such a list, where they stand together. is_collider: `other` is one.
FemRange fem_contacts_of_pair(const FemContact *contacts, int32_t count, int32_t body, int32_t other, bool is_collider);

// Those of the same pieces, or of the same piece and collider, as a contact of any step.
FemRange fem_contacts_of_pieces(const FemContact *contacts, int32_t count, const FemContact *like);

// ---- contact_bounce.c
// After fem_ground_detect() of the same nodes, all of one piece: those that strike the ground rebound.
void fem_ground_bounce(const struct FemStep *step, FemBody *body, int32_t begin, int32_t end);

// ---- closed_cracks.c
void fem_closed_cracks_find(struct FemWorld *world); // of all bodies that broke and have live pieces, as they stand
int32_t fem_closed_cracks_of(const FemContactStage *stage, int32_t body);         // place in closed_bodies; -1: none
FemCrackTets fem_closed_cracks_tets(const struct FemWorld *world, int32_t place); // of one of closed_bodies

bool fem_closed_cracks_join(const FemContactStage *stage, int32_t place, int32_t a, int32_t b); // these two pieces

// Pairs of faces of a place in closed_bodies.
static inline int32_t fem_closed_cracks_count(const FemContactStage *stage, int32_t place) {
	return place < 0 ? 0 : stage->closed_bodies[place].faces.end - stage->closed_bodies[place].faces.begin;
}

// ---- contact_waking.c
void fem_contacts_wake(struct FemWorld *world); // sleepers that are struck or lost their support, before the solve
void fem_contacts_wake_loaded(
	struct FemWorld *world, float dt); // sleepers under a large normal impulse, after the solve

// ---- contact_results.c
void fem_contacts_keep_solved(struct FemStep *step, int32_t composite); // from its copies to the list of the stage
void fem_contact_stage_publish(
	struct FemWorld *world); // events, from the contacts of the last substep and earlier strikes

// ---- contact_events.c
void fem_contacts_find_ground_hits(struct FemStep *step); // after each substep's solve
void fem_contacts_keep_strikes(struct FemWorld *world);   // after each substep but the last
void fem_contacts_forget(
	struct FemWorld *world, int32_t body_index, int32_t collider_index); // that one is about to go; -1: none

// Wakes every piece whose box meets that of a body, piece or collider that is about to go, to be moved, or has been
// moved.
void fem_world_wake_touching(struct FemWorld *world, int32_t collider_index);
void fem_world_wake_touching_body(struct FemWorld *world, int32_t body_index);
void fem_world_wake_touching_piece(struct FemWorld *world, const FemBody *body, int32_t component);

#endif
