// What makes contacts from overlaps: shared by contact_making.c and contact_planes.c.
#ifndef FEM_WORLD_CONTACT_MAKER_H
#define FEM_WORLD_CONTACT_MAKER_H

#include "world/step/step.h"
#include "world/world.h"

typedef struct FemMaker {
	FemStep *step;
	FemWorld *world;
	FemContactStage *stage;
	const FemTouch *touch; // at hand
} FemMaker;

// ---- contact_making.c
// `moved`: how far the collider is from where it stands when it is touched there, m.
void fem_maker_set_collider_side(const FemMaker *maker, FemContactSide *side, FemPosition point, FemPosition moved);
void fem_maker_start(const FemMaker *maker, FemContact *contact, float slop); // active or not, and what it keeps
float fem_maker_friction(const FemWorld *world, int32_t body, int32_t tet);
float fem_maker_tet_edge(const FemBody *body, int32_t tet); // m
float fem_maker_push_limit(float depth, float edge);        // m/s

// ---- contact_planes.c
void fem_maker_add_half_spaces(FemMaker *maker);
void fem_maker_add_flat(FemMaker *maker); // faces that lie wholly inside a flat solid, at their nodes

#endif
