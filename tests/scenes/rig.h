// What a physics test needs around one body: a world, a box of tets, and readings in user order.
#ifndef FEM_SCENES_RIG_H
#define FEM_SCENES_RIG_H

#include "scenes/box_mesh.h"

typedef struct FemRig {
	FemWorldId world;
	FemMaterialId material;
	FemMeshId mesh;
	FemBodyId body;
	FemBoxMesh box;   // rest shape
	FemVec3 size;     // m, of the box
	FemVec3 *offsets; // positions of the last fem_rig_read(), relative to `origin`
	FemVec3 *velocities;
	int32_t *triangles; // outer faces of the whole body, before it broke
	int32_t triangle_count;
	FemPosition origin;
} FemRig;

typedef struct FemRigDef {
	int32_t cells[3];
	FemVec3 size; // m
	FemCellKind kind;
	FemMaterialDef material;
	FemWorldDef world;      // no gravity, no sleeping
	FemBodyDef body;        // mesh, materials and pins are filled in
	bool clamped;           // face x = 0
	float plate_correction; // of every tet
	float quality_clamp;    // of the mesh
	float jitter;           // m, inner nodes are moved at random by up to this
} FemRigDef;

// The standard bar (docs/method.md, "Standard measurements"): 1 x 0.1 x 0.1 m, E 1e6, rho 1000, clamped, no gravity,
// tolerance 1e-6.
FemRigDef fem_rig_bar_def(int32_t nx, int32_t ny, int32_t nz, FemCellKind kind, float poisson_ratio);

// A free bar of stone, 1 x 0.1 x 0.1 m with n cells across: E 5e8, breaks at 1.6e5 Pa.
FemRigDef fem_rig_stone_def(int32_t n);

// A free cube of edge size with n cells a side.
FemRigDef fem_rig_cube_def(int32_t n, float size);

// body is null on failure. One body in a world of its own.
FemRig fem_rig_create(const FemRigDef *def);
void fem_rig_destroy(FemRig *rig);

void fem_rig_read(FemRig *rig);

// Displacement from the rest shape at the world's origin, after fem_rig_read().
FemVec3 fem_rig_displacement(const FemRig *rig, int32_t node);

// Nodes of the box's face x = max: [first, node_count).
int32_t fem_rig_tip_begin(const FemRig *rig);
double fem_rig_tip_mean_y(const FemRig *rig); // m, mean displacement, after fem_rig_read()

// Uniform traction (N in all) on the face x = max or x = 0, spread by the areas of its triangles.
void fem_rig_load_face(const FemRig *rig, bool far_face, FemVec3 force);

// Steps until the fastest node is slower than speed (m/s) or `limit` steps are over; `load` is called before each.
typedef void FemRigLoad(FemRig *rig, void *context);
int32_t fem_rig_settle(FemRig *rig, float dt, float speed, int32_t limit, FemRigLoad *load, void *context);

double fem_rig_fastest(FemRig *rig); // m/s

// A small generator of random numbers that gives the same sequence everywhere; in [-1, 1).
float fem_random(uint32_t *state);

#endif
