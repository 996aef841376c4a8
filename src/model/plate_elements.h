// The cells of a body's plates as the cell kernel reads them: what they are, 8 side by side (docs/method.md, "Plates").
#ifndef FEM_MODEL_PLATE_ELEMENTS_H
#define FEM_MODEL_PLATE_ELEMENTS_H

#include "fem_constants.h"
#include "model/body.h"
#include "topology/topology.h"

// Values of a batch, each of FEM_LANES floats: places for a cell of c columns, 2 c corners.
#define FEM_CELL_PAIRS(c) ((c) * (2 * (c)-1)) // pairs of corners i < j, by i, then j
#define FEM_CELL_REST 0                       // [corner][axis]: m, from corner 0
#define FEM_CELL_GRADIENT(c) (6 * (c))        // [corner][axis]: 1/m; F = sum (x_k - x_0) g_k^T
#define FEM_CELL_DAMPING(c) (12 * (c))        // s, alpha_K
#define FEM_CELL_MODULUS(c) (12 * (c) + 1)    // Pa, E / (1 - nu^2)
#define FEM_CELL_POISSON(c) (12 * (c) + 2)    // Poisson's ratio
#define FEM_CELL_YIELD(c) (12 * (c) + 3)      // p, q of the square of a strain, p (xx^2 + yy^2) + q xx yy + xy^2 / 2
#define FEM_CELL_ARCS(c) (12 * (c) + 5)       // [side of a prism]: FemPlateTriangle.arcs, 1/m^3
#define FEM_CELL_TRIANGLE(c) (12 * (c) + 8)   // [triangle]: axes[3][3], edges[2][2], thickness, fibres[3]
#define FEM_CELL_TRIANGLE_VALUES 17           // of a triangle
#define FEM_CELL_TRIANGLE_COUNT(c) ((c) == 3 ? 1 : 4) // of a cell
#define FEM_CELL_STIFFNESS(c) (FEM_CELL_TRIANGLE(c) + FEM_CELL_TRIANGLE_VALUES * FEM_CELL_TRIANGLE_COUNT(c))
#define FEM_CELL_VALUES(c) (FEM_CELL_STIFFNESS(c) + 9 * FEM_CELL_PAIRS(c)) // stiffness [pair][row][column], N/m

// Floats of the blocks that the cell kernel leaves for assembly: of each pair 3 columns of 4.
#define FEM_CELL_BLOCK_FLOATS(c) (12 * FEM_CELL_PAIRS(c))

typedef struct FemPlateMaterial {
	double young_modulus; // Pa
	double poisson_ratio;
	double fibre_modulus;   // Pa, beside Young's modulus
	double fibre[3];        // unit, their direction in the axes of the rest shape
	double spring_share;    // of Young's modulus across the thickness; 1 but where floats could not hold it
	double damping;         // s, alpha_K
	double yield_strain;    // norm of elastic strain where flow begins
	double creep_rate;      // 1/s
	double plastic_limit;   // norm of plastic strain; 0 = elastic
	bool is_deviatoric;     // flow keeps the volume
	double crease_strength; // share of its bending strength that is left where it was folded by
	double crease_angle;    // rad, this or more; between, linear. 1: as strong as before
} FemPlateMaterial;

// What a cell was before it flowed, and is made of.
typedef struct FemPlateRest {
	FemPlateMaterial material;
	float corners[FEM_CELL_CORNERS][3]; // m
} FemPlateRest;

typedef struct FemPlateElements {
	float *values[FEM_CELL_SETS];    // [batch][value][8]
	int32_t *leaders[FEM_CELL_SETS]; // [batch * 8 + lane]: its lowest tet, whose rotation starts that of the cell
	uint8_t *is_uniform;             // [cell]: one material and a shape; else its tets are by themselves
	FemPlateRest *rest;              // [cell], of bodies with plastic state, else null
	bool creases;                    // some cell loses strength where it folds
	void *block;
	size_t bytes, rest_bytes;
} FemPlateElements;

// Whether the cell acts in place of its tets.
static inline bool fem_cell_acts(const FemBody *body, int32_t cell) {
	return body->topology->cell_is_whole[cell] && body->cells->is_uniform[cell];
}

// The acting cell that a tet is in, or -1.
static inline int32_t fem_acting_cell(const FemBody *body, int32_t tet) {
	int32_t cell = body->cells ? body->topology->cell_of_tet[tet] : -1;
	return cell >= 0 && fem_cell_acts(body, cell) ? cell : -1;
}

// Whether a tet of a plate keeps all of its transverse shear: of a cell that is a piece by itself there is nothing to
// bend, and what spins would be folded by the torque that softer shears leave.
static inline bool fem_tet_is_plain(const FemBody *body, int32_t tet) {
	int32_t cell = body->cells ? body->topology->cell_of_tet[tet] : -1;
	return cell >= 0 && !body->topology->cell_is_whole[cell];
}

// The corner of its cell that a node of a tet is.
static inline int32_t fem_cell_corner(const FemTopology *topology, int32_t cell, int32_t tet, int32_t local) {
	const FemPlateCell *record = &topology->cells.cells[cell];
	int32_t k = 0;
	while (record->tets[k] != tet)
		k++;
	return record->place[k][local];
}

// The place of a corner in arrays [cell][corner], prisms before hexahedra.
static inline int64_t fem_cell_corner_place(const FemTopology *topology, int32_t cell, int32_t corner) {
	int64_t prisms = topology->cells.count[0];
	return cell < prisms ? 6 * (int64_t)cell + corner : 6 * prisms + 8 * (cell - prisms) + corner;
}

#endif
