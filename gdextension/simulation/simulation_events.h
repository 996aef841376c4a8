// What happened in a tick, copied from the engine and told to the nodes when all worlds have been stepped.
//
// Signals go out last and from a copy, because a script may free nodes, remove pieces or change the scene in its
// answer.
#ifndef SIMULATION_EVENTS_H
#define SIMULATION_EVENTS_H

#include "simulation/simulation_world.h"

void simulation_events_clear(void);

// Adds those of the world's last step. Bodies of which faces opened are marked as cut.
void simulation_events_collect(SimulationWorld *world);
void simulation_events_tell(void);
void simulation_events_free(void);

#endif
