// Bodies of Godot's physics that a destructible passes through.
#ifndef COLLISION_EXCEPTIONS_H
#define COLLISION_EXCEPTIONS_H

#include "simulation/simulation.h"

// False when there is no room for another one.
bool collision_exceptions_add(SimulationBody *body, uint64_t node_id);
void collision_exceptions_remove(SimulationBody *body, uint64_t node_id);
bool collision_exceptions_has(const SimulationBody *body, uint64_t node_id);

// The body is new in its world: what is there already learns of its exceptions.
void collision_exceptions_apply(SimulationBody *body);

#endif
