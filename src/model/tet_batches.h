// Tets as the element kernel reads and leaves them: what they are, 8 side by side, and what a step makes of each.
#ifndef FEM_MODEL_TET_BATCHES_H
#define FEM_MODEL_TET_BATCHES_H

#include "base/vec.h"
#include "fem_constants.h"
#include <math.h>

// Material and rest shape of 8 tets, as the element kernel reads them: lane by lane side by side.
typedef struct FemBatch {
	float gradient[3][3][FEM_LANES]; // g of nodes 1..3 (g_0 = -sum): [node - 1][axis], 1/m; plastic flow rewrites it
	float volume[FEM_LANES];         // m^3, rest
	float lambda[FEM_LANES];         // Pa, Lame; slivers softened (mesh quality clamp)
	float mu[FEM_LANES];             // Pa
	float damping[FEM_LANES];        // s, alpha_K
} FemBatch;

// A lane without a tet has no volume and no moduli, and hence no force.
static inline void fem_batches_clear(FemBatch *batches, int32_t tet) {
	FemBatch *batch = &batches[tet / FEM_LANES];
	int32_t lane = tet % FEM_LANES;
	batch->volume[lane] = batch->lambda[lane] = batch->mu[lane] = batch->damping[lane] = 0.0f;
}

// The plate correction of a batch (docs/method.md, "Plates"): transverse shear is scaled.
typedef struct FemBatchPlate {
	float normal[3][FEM_LANES];  // unit, rest frame
	float tangent[3][FEM_LANES]; // unit, rest frame; the second tangent is normal x tangent
	float softening[FEM_LANES];  // 1 - f, 0 = none
} FemBatchPlate;

// Fibres of a batch (docs/method.md, "Fibres"): they resist stretch along them beside an isotropic material.
typedef struct FemBatchFibre {
	float direction[3][FEM_LANES]; // unit, rest frame
	float modulus[FEM_LANES];      // Pa; 0 = none
} FemBatchFibre;

// Plastic state and limits of a batch.
typedef struct FemBatchPlastic {
	float gradient[3][3][FEM_LANES]; // of the undeformed rest shape
	float strain[6][FEM_LANES];      // e^P: xx yy zz xy yz zx, element frame
	float fold[FEM_LANES];           // rad, the largest angle that its plate cell was ever bent by for good
	float yield[FEM_LANES];          // norm of elastic strain
	float creep[FEM_LANES];          // 1/s
	float limit[FEM_LANES];          // norm of plastic strain; 0 = elastic
	float deviatoric[FEM_LANES];     // 0 or 1
} FemBatchPlastic;

// What the element kernel leaves for assembly, one cache line a tet: the rotated gradients c_i = R g_i of the 4 nodes,
// and in the fourth lanes V (dt^2 + dt alpha_K) lambda, the same with mu, 0, 0.
typedef struct FemTetBlocks {
	FemVec4 gradient[4];
} FemTetBlocks;

// Forces on the 4 nodes, N: elastic, minus (alpha_K + dt) K v.
typedef struct FemTetForces {
	FemVec4 force[4];
} FemTetForces;

// World axes of a plate tet, for assembly: normal, two tangents; normal.w = (1 - f) V (dt^2 + dt alpha_K) mu.
typedef struct FemTetPlate {
	FemVec4 normal, tangent[2];
} FemTetPlate;

// Cauchy stress of a tet for fracture, Pa, world axes: xx yy zz, then xy yz zx.
typedef struct FemTetStress {
	FemVec4 normal, shear;
} FemTetStress;

// An upper bound of the largest principal stress, Pa: mean + sqrt(2/3) |deviator|.
static inline float fem_tension_bound(const FemTetStress *s) {
	float mean = (s->normal.x + s->normal.y + s->normal.z) * (1.0f / 3.0f);
	float a = s->normal.x - mean, b = s->normal.y - mean, c = s->normal.z - mean;
	float shear = s->shear.x * s->shear.x + s->shear.y * s->shear.y + s->shear.z * s->shear.z;
	return mean + sqrtf((2.0f / 3.0f) * (a * a + b * b + c * c + 2.0f * shear));
}

#endif
