// The stiffness of a plate cell at rest (docs/method.md, "Plates"), in double, for creation only: bending by discrete
// Kirchhoff triangles, stretching in the plane by constant strain or, in hexahedra, by four nodes with incompatible
// modes, and one spring a column across the thickness.
#ifndef FEM_DYNAMICS_PLATE_STIFFNESS_H
#define FEM_DYNAMICS_PLATE_STIFFNESS_H

#include "topology/plate_cells.h"

#include <stdbool.h>

#define FEM_CELL_TRIANGLES 4 // of a hexahedron: both ways to cut it in two count half

// Columns of the triangles of a prism (the first alone) and of a hexahedron.
extern const int fem_prism_triangles[1][3];
extern const int fem_hexahedron_triangles[FEM_CELL_TRIANGLES][3];

typedef struct FemPlateMaterial {
	double young_modulus; // Pa
	double poisson_ratio;
	double spring_share; // of Young's modulus across the thickness; 1 but where floats could not hold it
} FemPlateMaterial;

// A triangle of mid points of columns in its own plane.
typedef struct FemPlateTriangle {
	double axes[3][3];  // unit: two in the plane and the normal, which points to the top
	double edges[2][2]; // m: from the first column to the second and to the third, along the first two axes
	double thickness;   // m, mean of its columns
	double area;        // m^2
} FemPlateTriangle;

// False for one without area or thickness.
FEM_MUST_USE bool fem_plate_triangle(double corners[FEM_CELL_CORNERS][3], const int columns[3], FemPlateTriangle *out);

// out[3 corner + axis][...]: symmetric, positive semidefinite, 0 for rigid motions. False where the cell has no shape.
FEM_MUST_USE bool fem_plate_stiffness(
	double corners[FEM_CELL_CORNERS][3], int columns, const FemPlateMaterial *material, double out[24][24]);

#endif
