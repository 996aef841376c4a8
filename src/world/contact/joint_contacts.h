// Joints among the contacts of a step (model/joint.h).
#ifndef FEM_WORLD_JOINT_CONTACTS_H
#define FEM_WORLD_JOINT_CONTACTS_H

#include "model/joint.h"
#include "world/world.h"

// After contacts were made: three for each joint come among them, in the same order. Joints whose tets are gone are
// released; what is joined with something awake wakes.
void fem_joints_add_contacts(FemWorld *world, float dt);

// What is joined may overlap at its joint: it is not looked for contacts.
bool fem_bodies_are_joined(const FemContactStage *stage, int32_t body, int32_t other);

void fem_joints_forget(FemContactStage *stage, int32_t body_index); // when the body goes

// m, in the frame of the body: where the joint holds it (side 0 or 1 of the joint).
void fem_joint_point(const FemBody *body, const FemJoint *joint, int side, double out[3]);

#endif
