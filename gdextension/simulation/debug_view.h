// What the engine sees, drawn over the scene: tets, stresses, contacts, islands and boxes of all worlds.
#ifndef DEBUG_VIEW_H
#define DEBUG_VIEW_H

#include "simulation/simulation_world.h"

// flags: a set of FemDebugDrawFlag; 0 takes the picture away. Main thread, between steps.
void debug_view_show(SimulationWorld *world, uint32_t flags);
void debug_view_free(SimulationWorld *world);
void debug_view_unload(void); // what all worlds share

#endif
