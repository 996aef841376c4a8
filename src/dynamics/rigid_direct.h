// The solve of a composite in which nothing deforms: rigid pieces and dynamic colliders, joined by contacts.
//
// Its matrix is that of the rigid space, which is factored anyway: no conjugate gradients are needed, nor rows by node.
// dv is corrected by the factor's answer to the residual, which is computed from the contacts themselves, until what
// single precision leaves is below the tolerance: one correction, or two. Velocities at the contacts follow from six
// numbers a side.
#ifndef FEM_DYNAMICS_RIGID_DIRECT_H
#define FEM_DYNAMICS_RIGID_DIRECT_H

#include "dynamics/solver.h"

// Whether a system is of this kind. All but its rigid space, which systems of several bodies need, is set.
bool fem_rigid_direct_is_possible(const FemSystem *system);

// Once a step: dv = 0, and of all contacts, active or not, FemContactRow.rigid and arm, by the place of the contact.
void fem_rigid_direct_open(FemSystem *system);

// Solves for FemProxy.dv from what it is, with the contacts that are active now, and sets FemContactRows.after. The
// rigid space, if there is one, is prepared and valid.
FemSolveResult fem_rigid_direct_solve(FemSystem *system);

#endif
