// What contact tests build their worlds of: blocks, colliders, and readings of both.
#ifndef FEM_CONTACT_RIG_H
#define FEM_CONTACT_RIG_H

#include "scenes/box_mesh.h"

#define CONTACT_DT (1.0f / 60.0f) // s

typedef struct FemBlock {
	int32_t cells[3];
	FemVec3 size; // m
	FemCellKind kind;
	float jitter; // m, of inner nodes
	FemMaterialDef material;
	FemBodyDef body; // position is that of the corner (0, 0, 0)
	bool all_pinned;
} FemBlock;

// A cube of `size` m with n cells a side, E 1e7.
FemBlock fem_block(float size, int32_t n);
FemBodyId fem_block_add(FemWorldId world, const FemBlock *block);

// One body of three cubes of 0.3 m that hang together nowhere: the second stands on the first, the third 1 m aside.
// Those that can break never do, but lose pieces. Nodes of the cubes follow each other.
FemBodyId fem_add_three_cubes(FemWorldId world, bool breakable, int32_t *out_cube_nodes);

// Default but for sleeping, which is off.
FemWorldDef fem_contact_world_def(void);

// A flat top at y = 0 of the frame, 40 x 4 m, turned by the rotation about the origin.
FemColliderId fem_add_plane(FemWorldId world, FemShapeType shape, FemQuat rotation, float friction);

FemColliderId fem_add_bouncing_plane(FemWorldId world, FemShapeType shape, float restitution); // level, at y = 0

FemQuat fem_rotation_z(double angle); // rad

void fem_steps(FemWorldId world, int32_t count);
FemPosition fem_center(FemBodyId body);
double fem_low(FemBodyId body);  // m, lowest node
double fem_high(FemBodyId body); // m, highest node

// Root mean square of the speeds of all nodes of all bodies, and the fastest of them, m/s. NaN if any is not finite.
double fem_rms_speed(const FemBodyId *bodies, int32_t count);
double fem_peak_speed(const FemBodyId *bodies, int32_t count);

// Kinetic plus elastic energy, J.
double fem_energy(const FemBodyId *bodies, int32_t count);

// The environment asks for the long runs too.
bool fem_long_tests(void);

#endif
