// Nodes attached to a body: lamps, decals, markers. Each follows the tet that was nearest when it was attached,
// through bending and breaking.
#ifndef NODE_ATTACHMENTS_H
#define NODE_ATTACHMENTS_H

#include "simulation/simulation.h"

// Attaches a node as it stands now, or anew. False when memory is short.
bool node_attachments_attach(SimulationBody *body, GDExtensionObjectPtr node);
void node_attachments_detach(SimulationBody *body, uint64_t node_id);

// After a step: brings them to where their tets are.
void node_attachments_update(SimulationBody *body);
void node_attachments_free(SimulationBody *body);

// The attached nodes of a body that is made anew from the same tets, kept meanwhile. take: the body has none then.
// give: leaves nothing to drop.
typedef struct NodeAttachments {
	struct NodeAttachment *list;
	int32_t count;
} NodeAttachments;

NodeAttachments node_attachments_take(SimulationBody *body);
void node_attachments_give(SimulationBody *body, NodeAttachments *attachments);
void node_attachments_drop(NodeAttachments *attachments);

#endif
