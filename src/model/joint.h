// Two points of two modal bodies that stay together (Hauser et al. 2003, section 4.3: joints are constraints of zero
// relative velocity and acceleration). In the solve a joint is three contacts that hold both ways, one an axis, so that
// all that contacts know of waking, sleep, islands and cracks holds for it (world/contact/joint_contacts.h).
#ifndef FEM_MODEL_JOINT_H
#define FEM_MODEL_JOINT_H

#include "fem_constants.h"
#include "model/contact.h"

#include <stdbool.h>
#include <stdint.h>

// kg, of the lighter piece's mass: how strong a joint is in the solve. As FEM_GRAB_STRENGTH.
#define FEM_JOINT_STRENGTH 1000.0f
// m/s, at which points that are apart are drawn together. Chosen: as fast as what overlaps deeply comes apart.
#define FEM_JOINT_SPEED 2.0f

typedef struct FemJoint {
	uint32_t number;     // FemJointNumber; 0: the slot is free
	int32_t body[2];     // index, the lower one first
	int32_t tet[2];      // inside numbers, which cracks leave as they are
	float weights[2][4]; // barycentric
} FemJoint;

static inline uint64_t fem_joint_key(int32_t slot, int axis) {
	return (uint64_t)(FEM_CONTACT_JOINT_KEY + (uint32_t)axis) << 32 | (uint32_t)slot;
}

static inline bool fem_contact_is_joint(const FemContact *contact) {
	return fem_side_is_body(&contact->side[1]) && contact->key >> 32 >= FEM_CONTACT_JOINT_KEY;
}

// Of a contact of a joint.
static inline int32_t fem_joint_slot(const FemContact *contact) {
	return (int32_t)(uint32_t)contact->key;
}

static inline int fem_joint_axis(const FemContact *contact) {
	return (int)(contact->key >> 32 & 3);
}

#endif
