// DestructionServer: the engine singleton through which scripts reach the simulation as a whole.
#ifndef DESTRUCTION_SERVER_H
#define DESTRUCTION_SERVER_H

#include "binding/class_binding.h"

extern const ClassDescription destruction_server_class;

void destruction_server_start(void); // makes and registers the singleton
void destruction_server_stop(void);  // ends the simulation, takes the singleton away, frees what rendering needed

// Hooks the simulation to a scene tree's ticks, unless it is null, and to the renderer's frames; called for every body
// that enters a tree.
void destruction_server_attach(GDExtensionObjectPtr scene_tree);

#endif
