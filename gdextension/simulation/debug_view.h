// What the engine sees, drawn over the scene: tets, stresses, contacts, islands, boxes and ways of moving of all
// worlds, and what stands for pieces in Godot's physics.
#ifndef DEBUG_VIEW_H
#define DEBUG_VIEW_H

#include "fem_debug_draw.h"
#include "simulation/simulation_world.h"

enum {
	DEBUG_VIEW_PROXIES = FEM_DRAW_ALL + 1, // beside the engine's own flags: shapes that stand for pieces
	DEBUG_VIEW_ALL = FEM_DRAW_ALL | DEBUG_VIEW_PROXIES,
};

// Names of the flags from the lowest on, as in an inspector.
#define DEBUG_VIEW_NAMES "Tetrahedra,Stress,Contacts,Islands,Boxes,Ways of Moving,Physics Proxies"

// flags: a set of FemDebugDrawFlag and DEBUG_VIEW_PROXIES; 0 takes the picture away. Main thread, between steps.
void debug_view_show(SimulationWorld *world, uint32_t flags);
void debug_view_free(SimulationWorld *world);
void debug_view_unload(void); // what all worlds share

#endif
