// Bodies that were placed side by side: a stack of crates whose faces just touch.
//
// Contacts come of overlaps, and what just touches has none. In its first step all of a stack but the lowest body would
// fall freely, in the second all but two, and so on: at 30 Hz the tenth cube falls 11 cm before it meets the ninth. So
// bodies that nothing has moved yet have their surface a little farther out while their first contacts are found, by
// which these contacts are told to be less deep: gaps that may close in the step, and no more.
#ifndef FEM_WORLD_PLACED_BODIES_H
#define FEM_WORLD_PLACED_BODIES_H

#include "world/world.h"

void fem_placed_bodies_swell(FemWorld *world, float dt);
void fem_placed_bodies_shrink(FemWorld *world); // back to where they were, to the bit

#endif
