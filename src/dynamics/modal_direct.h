// The solve of one body that moves by modes and touches only what does not give way: the ground, colliders that do not
// move, sleepers. Its unknowns are few, some dozens, so that the matrix of all of them is factored at once.
#ifndef FEM_DYNAMICS_MODAL_DIRECT_H
#define FEM_DYNAMICS_MODAL_DIRECT_H

#include "dynamics/solver.h"

// Once its rows are built.
FEM_MUST_USE bool fem_modal_direct_is_possible(const FemSystem *system);

// As fem_system_solve().
FemSolveResult fem_modal_direct_solve(FemSystem *system);

#endif
