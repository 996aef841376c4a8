// What makes contacts from overlaps: shared by contact_builder.c and contact_planes.c.
#ifndef FEM_WORLD_CONTACT_BUILDER_H
#define FEM_WORLD_CONTACT_BUILDER_H

#include "world/step/step.h"
#include "world/world.h"

typedef struct FemContactBuilder {
	FemStep *step;
	FemWorld *world;
	FemContactStage *stage;
	const FemTouch *touch; // at hand
	float push;            // share of the depth that is pushed out in this step
	FemRange last;         // contacts of the touch in the last step, or of the two pieces at hand
} FemContactBuilder;

// ---- contact_builder.c
// Sets a collider as one side of a contact. `moved`: displacement of the collider from its place now to where it
// touches, m.
void fem_contact_builder_set_collider_side(
	const FemContactBuilder *builder, FemContactSide *side, FemPosition point, FemVec3d moved);
// The one that stood there in the last step, or, where faces of a crack have just been released or have come back, the
// first of the same two tets; null: none.
const FemContact *fem_contact_builder_last(const FemContactBuilder *builder, const FemContact *contact);
void fem_contact_builder_start(
	const FemContactBuilder *builder, FemContact *contact, float slop); // active or not, and what it keeps
float fem_contact_builder_strength(
	const FemContactBuilder *builder, int32_t piece, int32_t other_piece); // phi dt, kg/m^2
void fem_contact_builder_set_body_side(
	const FemContactBuilder *builder, FemContactSide *side, int32_t body_index, int32_t tet, FemPosition point);
// The same of a tet that stands for a rigid piece, which may be far from the point.
void fem_contact_builder_set_piece_side(
	const FemContactBuilder *builder, FemContactSide *side, int32_t body_index, int32_t tet, FemPosition point);
// That of the overlap, or, when it has none, along the velocity of side 0 relative to side 1; false when that is 0 too.
bool fem_contact_builder_set_normal(const FemContactBuilder *builder, FemContact *contact, const FemOverlap *overlap);
float fem_contact_builder_slop(const FemBody *body, int32_t tet); // m
// Adds one whose sides, normal, area and depth are set. is_ahead: a fast collider's gap may close, no more.
void fem_contact_builder_add(FemContactBuilder *builder, FemContact *contact, float slop, bool is_ahead);
float fem_contact_builder_friction(const FemWorld *world, int32_t body, int32_t tet);
// ---- contact_strength.c
float fem_contact_side_mass(
	const FemWorld *world, const FemContactSide *side); // kg, of what it is a point of; infinite: nothing moves it
// Contacts of a touch, in order: those under load are stronger, and those of pieces that meet in little area.
void fem_contact_builder_strengthen(const FemContactBuilder *builder, FemRange made);

// ---- contact_bounce.c
float fem_contact_builder_restitution(const FemWorld *world, int32_t body, int32_t tet, float dt);
// Whether a contact whose approach and bias are set rebounds in this step; its bias is then the speed of that.
void fem_contact_builder_bounce(const FemContactBuilder *builder, FemContact *contact);
// Contacts of two pieces, or of a piece and a collider: those that rebound get, together, what it takes to turn the
// lighter one round in one step, however small their area is.
void fem_contact_builder_strengthen_bounces(const FemWorld *world, FemContact *contacts, FemRange made);

float fem_contact_builder_tet_edge(const FemBody *body, int32_t tet); // m
float fem_contact_builder_push_limit(float depth, float edge);        // m/s

// ---- contact_manifolds.c
// Leaves few of the contacts of rigid pieces that cannot break with each other, in their order. Returns their new end.
FEM_MUST_USE int32_t fem_contact_builder_thin_out(const FemContactBuilder *builder, FemRange made);

// ---- crack_contacts.c
// Pairs of pieces whose sides are still sunk into each other since they came apart.
void fem_contact_builder_list_cracks(FemContactBuilder *builder);
// FemContact.reference, m
float fem_contact_builder_reference(const FemContactBuilder *builder, const FemContact *contact, float slop);

// ---- closed_cracks.c
void fem_contact_builder_add_closed_cracks(FemContactBuilder *builder); // one a pair of faces

// ---- convex_pieces.c
void fem_contact_builder_add_convex(
	FemContactBuilder *builder, const FemOverlapItem *item, const FemOverlap *overlap); // of two pieces as solids

// ---- contact_planes.c
void fem_contact_builder_add_half_spaces(FemContactBuilder *builder);
void fem_contact_builder_add_flat(
	FemContactBuilder *builder); // faces that lie wholly inside a flat solid, at their nodes

#endif
