// A node's transform taken apart into what the engine takes.
#ifndef NODE_POSE_H
#define NODE_POSE_H

#include "fem_destruction.h"
#include "godot_calls.h"

typedef struct NodePose {
	FemPosition position;
	FemQuat rotation;
	FemVec3 scale;
} NodePose;

// The transform must have no fault. Shear, which a rotated child of a stretched parent has, is left out: the axes are
// made square, the first kept.
NodePose node_pose_of(const GdTransform3D *transform);

bool node_pose_is_finite(const GdTransform3D *transform);
bool node_pose_has_shear(const GdTransform3D *transform);

// Why a body cannot stand there: cause and remedy, or null.
const char *node_pose_fault(const GdTransform3D *transform);

// The basis of a unit quaternion.
GdBasis node_pose_basis(FemQuat rotation);

#endif
