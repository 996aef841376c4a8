// What the simulation tells of itself.
#ifndef SIMULATION_STATISTICS_H
#define SIMULATION_STATISTICS_H

#include "simulation/simulation.h"

// Monitors of Godot's debugger, which call `method` of the target with the number of a monitor.
void monitors_add(GDExtensionObjectPtr target, const GdStringName *method);
void monitors_remove(void);
double monitors_get(int64_t index); // 0 for numbers that are none

// At the end of a tick: what monitors tell, and a mark for each phase in the profiler.
void monitors_after_tick(void);

#endif
