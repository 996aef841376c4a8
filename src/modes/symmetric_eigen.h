// All eigenvalues and eigenvectors of a small dense symmetric matrix, in double.
#ifndef FEM_MODES_SYMMETRIC_EIGEN_H
#define FEM_MODES_SYMMETRIC_EIGEN_H

#include "base/assert.h"

#include <stdbool.h>
#include <stdint.h>

// matrix: n x n, symmetric, both triangles. On return row k of it is the unit eigenvector of values[k]; values ascend.
// scratch: 3 n. False when the iteration does not end, as with numbers that are not finite.
FEM_MUST_USE bool fem_symmetric_eigen(double *matrix, int32_t n, double *values, double *scratch);

#endif
