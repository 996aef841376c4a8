// The stiffness of a plate cell at rest (docs/method.md, "Plates"), in double, for creation only: bending by discrete
// Kirchhoff triangles, stretching in the plane by constant strain or, in hexahedra, by four nodes with incompatible
// modes, and one spring a column across the thickness.
#ifndef FEM_DYNAMICS_PLATE_STIFFNESS_H
#define FEM_DYNAMICS_PLATE_STIFFNESS_H

#include "model/plate_elements.h"

#define FEM_CELL_TRIANGLES 4 // of a hexahedron: both ways to cut it in two count half

// Columns of the triangles of a prism (the first alone) and of a hexahedron.
extern const int fem_prism_triangles[1][3];
extern const int fem_hexahedron_triangles[FEM_CELL_TRIANGLES][3];

// A triangle of mid points of columns in its own plane.
typedef struct FemPlateTriangle {
	double axes[3][3];  // unit: two in the plane and the normal, which points to the top
	double edges[2][2]; // m: from the first column to the second and to the third, along the first two axes
	double thickness;   // m, mean of its columns
	double area;        // m^2
	double arcs[3];     // 1/m^3: what the wall stretches by where its normals rotate along the side that begins at each
						// column, see add_arcs() in the .c; for prisms
} FemPlateTriangle;

// False for one without area or thickness.
FEM_MUST_USE bool fem_plate_triangle(double corners[FEM_CELL_CORNERS][3], const int columns[3], FemPlateTriangle *out);

// sqrt(k) (a_x^2, a_y^2, a_x a_y) of fibres along a in a plane: they add q (q.e) to the plane stress of e = (xx, yy, 2
// xy).
void fem_plate_fibres(const FemPlateMaterial *material, double axes[3][3], double out[3]);

// out[3 corner + axis][...]: symmetric, positive semidefinite, 0 for rigid motions. False where the cell has no shape.
FEM_MUST_USE bool fem_plate_stiffness(
	double corners[FEM_CELL_CORNERS][3], int columns, const FemPlateMaterial *material, double out[24][24]);

// A strain of the middle e, or one of bending k of thickness t as t/3 k, has the squared norm of its 3D strain in plane
// stress, or of the deviator of that: p (xx^2 + yy^2) + q xx yy + xy^2 / 2 with xy = 2 e_xy.
void fem_plate_yield_form(const FemPlateMaterial *material, double *out_p, double *out_q);

// Largest of the columns of what a displacement strains: squared norm of the stretch plus `softness` times that of the
// bending, which is 1 over the squared yield strain where a section has yielded through and through. And the mean
// stretch, xx + yy. A softness of 1 is that of a section which resists bending as it does stretching.
double fem_plate_strain_square(double corners[FEM_CELL_CORNERS][3], int columns, const FemPlateMaterial *material,
	double u[FEM_CELL_CORNERS][3], double softness, double *out_stretch);

#endif
