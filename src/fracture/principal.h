// Principal values of symmetric 3x3 matrices, for stresses and separation tensors. Matrices are xx yy zz xy yz zx.
#ifndef FEM_FRACTURE_PRINCIPAL_H
#define FEM_FRACTURE_PRINCIPAL_H

#include <stdbool.h>

// Descending, in closed form (Smith 1961).
void fem_principal_values(const double m[6], double values[3]);

// Unit eigenvector of one of the values, by the largest cross product of two rows of m - value I; by Jacobi rotations
// where the value is (nearly) double, and any direction of its space will do.
void fem_principal_vector(const double m[6], double value, double vector[3]);

// The part with positive principal values: tension (O'Brien & Hodgins 1999, eq. 29). False when there is none.
bool fem_tensile_part(const double m[6], double out[6]);

#endif
