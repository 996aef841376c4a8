// Bodies of joined rigid pieces within a step: bonds as rows of the solve, those that break, what they give back.
#ifndef FEM_WORLD_JOINED_PIECES_H
#define FEM_WORLD_JOINED_PIECES_H

#include "model/bond.h"
#include "world/step/step.h"
#include "world/world.h"

// Pieces that hang together by bonds are awake together: before contacts are found, and after these woke some.
void fem_joined_wake(FemWorld *world);

// Puts the bonds of live pieces behind the contacts of the step. False when memory fails.
FEM_MUST_USE bool fem_joined_list(FemStep *step);

// Whether one of these bonds would break by its FemContact.impulse: what is found of contacts is dropped then.
bool fem_joined_is_overloaded(const FemStep *step, const FemContact *rows, int32_t count);

// After the solve: bonds that bear more than their strength break, those of each piece that bear most of it first.
// True: all composites go back for it, so that the move can be left out.
bool fem_joined_find_breaks(FemStep *step);

// Then, or after the move: bodies of which some broke are back at the start of the step, pushed by what was given back.
// True: the step is to be taken again.
bool fem_joined_break(FemStep *step);

// ---- the same of a look at blows (world/step/joined_blows.h), step by step

// The bonds among FemComposites.contacts of a composite.
FemRange fem_joined_rows(const FemStep *step, int32_t composite);

// Before loads of a body's bonds are compared.
void fem_joined_begin_breaking(FemBody *body);

// Breaks those that bear more than their strength, by their FemContact.impulse. area: m^2 that may open, worst first,
// in a look at blows, which takes from it; null: in the move.
void fem_joined_break_rows(const FemStep *step, FemRange rows, double *area);

// What follows from bonds of a body that broke (FemJoined.has_broken). It is back at the start of the step.
void fem_joined_part(FemWorld *world, int32_t body_index);

// ----

// FemPiece.assembly of all pieces, whenever pieces or bonds are others.
void fem_joined_find_assemblies(FemBody *body);

// N, at which a bond breaks; infinite: it never does.
float fem_bond_strength(const FemBody *body, const FemBond *bond);

#endif
