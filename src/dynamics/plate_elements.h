// Plate cells of a body: their making, and the stage that gives a cell's forces, blocks and stress in place of its
// tets'. It runs after the element stage of all tets (dynamics/elements.h).
#ifndef FEM_DYNAMICS_PLATE_ELEMENTS_H
#define FEM_DYNAMICS_PLATE_ELEMENTS_H

#include "base/range.h"
#include "base/simd.h"
#include "base/vec.h"
#include "dynamics/plate_stiffness.h"
#include "model/body.h"
#include "model/plate_elements.h"
#include "model/tet_batches.h"
#include "topology/topology.h"

// None elastic yet. Null when memory fails.
FEM_MUST_USE FemPlateElements *fem_plate_elements_create(const FemTopology *topology);
void fem_plate_elements_free(FemPlateElements *elements);

// corners: m, of the rest shape. material null: its tets are by themselves, as they are in a cell without shape.
void fem_plate_element_set(FemPlateElements *elements, const FemTopology *topology, int32_t cell,
	double corners[FEM_CELL_CORNERS][3], const FemPlateMaterial *material);

// Room for `rest`; false without memory.
FEM_MUST_USE bool fem_plate_elements_yield(FemPlateElements *elements, const FemTopology *topology);

// What the kernel reads and writes for LANES cells, or fewer at the ends of its range.
typedef struct FemCellArguments {
	int set;              // 0 prisms, 1 hexahedra
	const int32_t *nodes; // [batch][corner][8]
	const int32_t *leaders;
	const float *values;
	const uint8_t
		*is_whole; // [cell of the set]: others are passed over, and nothing is written for them; null: all are
	const FemVec4 *rotation;  // of tets
	const FemVec4 *position;  // m
	const FemVec4 *velocity;  // m/s
	float dt;                 // s
	float viscous_stress;     // 1: stress has the viscous part too
	FemVec4 *out_forces;      // [cell][corner], N; of the set; or null
	float *out_blocks;        // [cell][pair][3 columns of 4]: (dt^2 + dt alpha_K) K; or null
	FemTetStress *out_stress; // [cell][corner], of the surface at each; or null
	float *out_yield;  // squared norm of the strain where it is largest, from the first cell of the first batch on, on
					   // 32 bytes; if not null, nothing else
	float *out_energy; // elastic energy, J, likewise, with nodes at position + share moved; if not null, nothing else
	const FemVec4 *moved; // m; w = 1: all of it, whatever the share
	float share;
	int32_t begin, end; // cells of the set
} FemCellArguments;

typedef void FemCellKernel(const FemCellArguments *arguments);

FemCellKernel fem_cells_update_scalar;
FemCellKernel fem_cells_update_sse2;
FemCellKernel fem_cells_update_avx2;

FemCellKernel *fem_cell_kernel(FemSimdLevel level);

// The values of the first lane of a batch of a set, and of one cell.
const float *fem_cell_values(const FemBody *body, int32_t cell);

// What a kernel reads of a body; the rest is 0.
FemCellArguments fem_cell_arguments(const FemBody *body, int set, FemRange cells);

// How much the cells whose lowest tet is in a run of batches want to fold, of all of the body before any of these is
// updated: with stress those of bodies that can break, else those of others.
void fem_plate_elements_find_demands(FemBody *body, int32_t batch_begin, int32_t batch_end, bool with_stress);

// Forces and blocks of the cells whose lowest tet is in a run of batches; their tets have none any more.
void fem_plate_elements_update(FemBody *body, int32_t batch_begin, int32_t batch_end, float dt);

// The same with the stress of the surfaces, of which each tet gets that of its corner with the largest tension.
void fem_plate_elements_update_stress(FemBody *body, int32_t batch_begin, int32_t batch_end, float dt, bool viscous);

// The displacements of the corners in the frame of the cell, m; false of a crushed one, whose frame means nothing.
bool fem_plate_deformation(const FemBody *body, int32_t cell, double out[FEM_CELL_CORNERS][3]);

// No less than |K| / m of an acting cell, 1/s^2, with so much mass at its corners, kg.
double fem_plate_element_stiffness(const FemBody *body, int32_t cell, const double masses[FEM_CELL_CORNERS]);

// Elastic energy of an acting cell with its corners at x (m), J.
double fem_plate_element_energy(const FemBody *body, int32_t cell, double x[FEM_CELL_CORNERS][3]);

// Stress at the corners of a cell, Pa, in world axes, with its nodes at x. Elastic alone.
void fem_plate_element_stress(
	const FemBody *body, int32_t cell, const FemVec4 *x, FemTetStress stress[FEM_CELL_CORNERS]);

// Elastic energy of an acting cell, J, and stress at its corners in world axes, Pa, for reading. Double but for the
// stress.
double fem_plate_element_read(const FemBody *body, int32_t cell, FemTetStress stress[FEM_CELL_CORNERS]);

#endif
