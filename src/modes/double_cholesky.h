// Sparse Cholesky factor in double, for modes: float factors do not resolve the lowest modes of thin things, whose
// eigenvalues are 1e-10 of the largest. The pattern is that of dynamics/cholesky_symbolic.h; a solve takes four
// right-hand sides at once, since that reads the factor once for all.
#ifndef FEM_MODES_DOUBLE_CHOLESKY_H
#define FEM_MODES_DOUBLE_CHOLESKY_H

#include "base/assert.h"

#include <stdbool.h>
#include <stdint.h>

#define FEM_SOLVE_SIDES 4 // right-hand sides of a solve: the block of the Lanczos iteration

typedef struct FemDoubleCholesky FemDoubleCholesky;

// Blocks of 3 x 3, row-major: diagonal[node], blocks[entry of column]; the graph as in fem_cholesky_create(). Null
// when memory fails, when a bake is told to stop (base/stop_check.h) or when a pivot is not positive.
FEM_MUST_USE FemDoubleCholesky *fem_double_cholesky_create(int32_t node_count, const int32_t *row_start,
	const int32_t *column, const int32_t *order, double (*diagonal)[9], double (*blocks)[9]);
void fem_double_cholesky_destroy(FemDoubleCholesky *factor);

// x = A^-1 x, [3 node + axis][FEM_SOLVE_SIDES]. Uses scratch of the factor: one thread at a time.
void fem_double_cholesky_solve(FemDoubleCholesky *factor, double (*x)[FEM_SOLVE_SIDES]);

#endif
