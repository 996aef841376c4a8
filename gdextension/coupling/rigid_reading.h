// What one of Godot's bodies is made of: its mode, layers, friction and shapes.
//
// A physics server with a thread of its own is asked through a queue: each question waits until that thread has run,
// and a dozen of them cost more than everything else of the coupling. There bodies are read through their nodes, which
// know the same. Without the thread the server is asked, which also knows what was set behind the node's back.
#ifndef RIGID_READING_H
#define RIGID_READING_H

#include "coupling/rigid_records.h"

// Its node, or null.
GDExtensionObjectPtr reading_node(const RigidRecord *record);

// Whether its RID still is one: that of a body without a node (of CSG shapes, grid maps, scripts) dies without notice,
// and most questions about a dead one are errors in the log.
bool reading_is_alive(const RigidRecord *record);

// Whether it is still in the world's space.
bool reading_is_in_space(const Coupling *coupling, const RigidRecord *record);

int64_t reading_mode(const RigidRecord *record); // PhysicsServer3D.BodyMode
void reading_layers(const RigidRecord *record, uint32_t *out_layer, uint32_t *out_mask);
float reading_friction(const RigidRecord *record);
float reading_restitution(const RigidRecord *record); // the bounce of its PhysicsMaterial; 0 of one that absorbs
bool reading_can_sleep(const RigidRecord *record);

// Of a static body: where it is, and how its surface moves (conveyor belts).
GdTransform3D reading_transform(const RigidRecord *record);
void reading_surface_motion(const RigidRecord *record, FemVec3 *out_velocity, FemVec3 *out_spin);

int32_t reading_shape_count(const RigidRecord *record);

// The shape with this number; its RID is null when there is none.
typedef struct ShapeSeen {
	GdRID rid;
	GdTransform3D local;
	bool is_disabled;
} ShapeSeen;

ShapeSeen reading_shape(const RigidRecord *record, int32_t index);

#endif
