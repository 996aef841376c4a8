// Nodes that ride on a body: lamps, decals, markers. Each follows the tet that was nearest when it was attached,
// through bending and breaking.
#ifndef NODE_RIDERS_H
#define NODE_RIDERS_H

#include "simulation/simulation.h"

// Attaches a node as it stands now, or anew. False when memory is short.
bool node_riders_attach(SimulationBody *body, GDExtensionObjectPtr node);
void node_riders_detach(SimulationBody *body, uint64_t node_id);

// After a step: brings them to where their tets are.
void node_riders_update(SimulationBody *body);
void node_riders_free(SimulationBody *body);

// The riders of a body that is made anew from the same tets, kept meanwhile. take: the body has none then. give: leaves
// nothing to drop.
typedef struct NodeRiders {
	struct NodeRider *list;
	int32_t count;
} NodeRiders;

NodeRiders node_riders_take(SimulationBody *body);
void node_riders_give(SimulationBody *body, NodeRiders *riders);
void node_riders_drop(NodeRiders *riders);

#endif
