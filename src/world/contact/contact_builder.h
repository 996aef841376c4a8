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
} FemContactBuilder;

// ---- contact_builder.c
// Sets a collider as one side of a contact. `moved`: displacement of the collider from its place now to where it
// touches, m.
void fem_contact_builder_set_collider_side(
	const FemContactBuilder *builder, FemContactSide *side, FemPosition point, FemVec3d moved);
void fem_contact_builder_start(
	const FemContactBuilder *builder, FemContact *contact, float slop); // active or not, and what it keeps
float fem_contact_builder_strength(
	const FemContactBuilder *builder, int32_t piece, int32_t other_piece); // phi dt, kg/m^2
float fem_contact_builder_friction(const FemWorld *world, int32_t body, int32_t tet);
float fem_contact_builder_tet_edge(const FemBody *body, int32_t tet); // m
float fem_contact_builder_push_limit(float depth, float edge);        // m/s

// ---- crack_contacts.c
// Pairs of pieces whose sides are still sunk into each other since they came apart.
void fem_contact_builder_list_cracks(FemContactBuilder *builder);
// FemContact.reference, m
float fem_contact_builder_reference(const FemContactBuilder *builder, const FemContact *contact, float slop);

// ---- contact_planes.c
void fem_contact_builder_add_half_spaces(FemContactBuilder *builder);
void fem_contact_builder_add_flat(
	FemContactBuilder *builder); // faces that lie wholly inside a flat solid, at their nodes

#endif
