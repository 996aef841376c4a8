// K and M of a rest shape, for modes: the stiffness of tets and plate cells in double, masses lumped to the nodes as in
// the step, pinned nodes taken out. Unknowns are displacements times the root of the mass, so that M is 1.
#ifndef FEM_MODES_MODE_MATRIX_H
#define FEM_MODES_MODE_MATRIX_H

#include "base/assert.h"
#include "fem_modes.h"
#include "modes/double_cholesky.h"
#include "topology/topology.h"

typedef struct FemModeMatrix {
	int32_t node_count;    // free ones: those of the arrays below
	int32_t user_count;    // all nodes of the def
	int32_t *free_of_user; // [user node], -1: pinned
	int32_t *user_of_free; // [node]
	int32_t *component;    // [user node]: the lowest node that hangs together with it
	double *mass;          // [user node], kg
	double *root_mass;     // [node], kg^1/2
	FemNodeGraph graph;    // of the free nodes
	double (*diagonal)[9]; // [node]: blocks of M^-1/2 K M^-1/2, rad^2/s^2
	double (*blocks)[9];   // [graph.column]
	double largest;        // rad^2/s^2, of the diagonal: about the largest eigenvalue
} FemModeMatrix;

// A def as fem_modes_check() takes it. FEM_OK, or what failed.
FemResult fem_mode_matrix_create(FemModeMatrix *matrix, const FemModesDef *def);
void fem_mode_matrix_free(FemModeMatrix *matrix);

// FEM_OK, or the first fault of a def with its sentence.
FemResult fem_modes_check(const FemModesDef *def);

// A factor of the matrix plus shift times 1; null when memory fails, or it is told to stop.
FEM_MUST_USE FemDoubleCholesky *fem_mode_matrix_factor(const FemModeMatrix *matrix, double shift);

// y = A x, [3 node + axis][FEM_SOLVE_SIDES].
void fem_mode_matrix_apply(const FemModeMatrix *matrix, double (*x)[FEM_SOLVE_SIDES], double (*y)[FEM_SOLVE_SIDES]);

#endif
