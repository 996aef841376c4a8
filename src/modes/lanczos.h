// The lowest eigenvalues and eigenvectors of a mode matrix (modes/mode_matrix.h).
#ifndef FEM_MODES_LANCZOS_H
#define FEM_MODES_LANCZOS_H

#include "modes/mode_matrix.h"

typedef struct FemEigenpairs {
	int32_t count;
	int32_t unknown_count;              // of a vector
	double *values;                     // [count]: rad^2/s^2, ascending
	double (*vectors)[FEM_SOLVE_SIDES]; // [block][unknown]: vector k is column k % 4 of block k / 4
	int32_t capacity;                   // blocks
} FemEigenpairs;

typedef struct FemEigenGoal {
	int32_t count;    // wanted at most
	double value_max; // rad^2/s^2, none above it; INFINITY for any
	int32_t rigid_count;
	double (*rigid)[FEM_SOLVE_SIDES]; // [block][unknown]: orthonormal motions without deformation, left out; 0 beyond
	bool (*progress)(void *context, float share);
	void *progress_context;
} FemEigenGoal;

// FEM_OK, FEM_ERROR_MEMORY, or FEM_ERROR_LIMIT when progress stopped it; without a sentence. Eigenvalues that are 0 but
// for rounding are found too: those of mechanisms.
FemResult fem_eigenpairs_find(const FemModeMatrix *matrix, const FemEigenGoal *goal, FemEigenpairs *out);
void fem_eigenpairs_free(FemEigenpairs *pairs);

static inline double fem_eigenvector_entry(const FemEigenpairs *pairs, int32_t k, int32_t unknown) {
	return pairs
		->vectors[(size_t)(k / FEM_SOLVE_SIDES) * (size_t)pairs->unknown_count + (size_t)unknown][k % FEM_SOLVE_SIDES];
}

#endif
