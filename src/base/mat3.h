// Symmetric 3x3 eigenproblems and polar rotations in double: for creation and reading, not for the step.
// Matrices are row-major; arguments that are not results are only read (C17 cannot pass double[3][3] as const).
#ifndef FEM_BASE_MAT3_H
#define FEM_BASE_MAT3_H

#include "base/assert.h"

// values ascending; vectors[k] is the unit eigenvector of values[k]; they form a right-handed frame.
void fem_eigen_symmetric3(double matrix[3][3], double values[3], double vectors[3][3]);

double fem_determinant3(double m[3][3]);

// out = m^-1; false when the determinant is 0 or not finite.
FEM_MUST_USE int fem_invert3(double m[3][3], double out[3][3]);

// The rotation R of f = R S, started from the rotation in `r`: maximises trace(R^T f) (Mueller et al. 2016, "A robust
// method to extract the rotational part of deformations"), which keeps R proper for inverted f too.
void fem_polar_polish(double f[3][3], double r[3][3]);

#endif
