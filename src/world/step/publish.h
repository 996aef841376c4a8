// What the game sees after a step.
#ifndef FEM_WORLD_PUBLISH_H
#define FEM_WORLD_PUBLISH_H

#include "world/world.h"

void fem_body_publish(FemBody *body);
void fem_world_publish(FemWorld *world); // end of a step: bodies that moved, and events
void fem_world_add_event(FemWorld *world, FemEventType type, int32_t body_index);

#endif
