// What bears what, for the strength that contacts under load may have (docs/method.md, "Strength").
//
// Of each side of a contact is known how heavy what presses on the other through it is, and whether it stands on what
// does not move, both without what comes through the contact itself. Each step passes that on to the next contacts: a
// tower knows what stands on it, and on what it stands, after as many steps as it has layers.
#ifndef FEM_WORLD_BEARING_H
#define FEM_WORLD_BEARING_H

#include "model/contact.h"
#include "world/step/step.h"

// Contacts of two pieces, or of a piece and a collider, as the step begins: what those of the last step knew (`last`,
// or null).
void fem_bearing_begin(const struct FemWorld *world, FemContact *contacts, int32_t count, const FemContact *last);

// How many times its own strength a contact may have under load: by the heaviest that can press on it. What both sides
// of stand firm is jammed, so that nothing but the heavier of them presses; what strikes a free piece is not borne by
// it.
float fem_bearing_ratio_max(const struct FemWorld *world, const FemContact *contact);

// After a step: passes it on.
void fem_bearing_measure(FemStep *step);

#endif
