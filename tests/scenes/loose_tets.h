// Batches of tets that share no nodes, for tests of the element kernel alone, and its twin in double precision.
#ifndef FEM_SCENES_LOOSE_TETS_H
#define FEM_SCENES_LOOSE_TETS_H

#include "dynamics/elements.h"

#define LOOSE_YOUNG_MODULUS 1e6
#define LOOSE_SIZE 0.1 // m, about the length of an edge

// Tet t has the nodes 4 t .. 4 t + 3.
typedef struct LooseTets {
	int32_t batch_count, tet_count;
	int32_t *nodes; // [batch][4][8]
	FemBatch *batches;
	FemBatchPlate *plates;
	FemBatchFibre *fibres; // with plates
	FemBatchPlastic *plastics;
	FemVec4 *rotation, *rest, *position, *velocity;
	FemTetBlocks *blocks;
	FemTetForces *forces;
	FemTetPlate *world_plates;
	FemVec4 *world_fibres;
	bool has_plates, has_plastics;
} LooseTets;

// Random shapes at rest; every second one has a plate correction if has_plates, and every third one fibres. Plasticity:
// yield at infinity.
LooseTets loose_tets_create(int32_t batch_count, uint32_t seed, bool has_plates, bool has_plastics);
void loose_tets_free(LooseTets *tets);

void loose_tets_run(LooseTets *tets, FemElementKernel *kernel, float dt);

// position = m * rest (row by row) for one tet, or with a random stretch and turn of up to `strain`.
void loose_tets_transform(LooseTets *tets, int32_t tet, const double m[9]);
void loose_tets_deform(LooseTets *tets, int32_t tet, double strain, uint32_t *seed);

// The elastic energy (J) of a tet with its nodes at x, in double: V (mu |e|^2 + lambda/2 tr(e)^2), e = S - I, F = R S,
// less the softened transverse shears, and k/2 (a.e a)^2 of fibres. With `rotation` (row by row) R is held there, and e
// = sym(R^T F) - I.
double loose_tets_energy(const LooseTets *tets, int32_t tet, const double x[12], const double *rotation);

// Force (N) on each coordinate: minus the energy's central differences.
void loose_tets_force(const LooseTets *tets, int32_t tet, const double *rotation, double out[12]);

void loose_tets_positions(const LooseTets *tets, int32_t tet, double out[12]);
void loose_tets_rotation(const LooseTets *tets, int32_t tet, double out[9]); // the kernel's, row by row

void random_rotation(uint32_t *seed, double out[9]);

#endif
