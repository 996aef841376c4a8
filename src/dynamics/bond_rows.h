// Bonds of rigid pieces as rows of a solve (model/bond.h).
#ifndef FEM_DYNAMICS_BOND_ROWS_H
#define FEM_DYNAMICS_BOND_ROWS_H

#include "dynamics/contact_rows.h"

// Once a step, before the first solve, when the unknowns of rigid pieces are open. A point of what turns does not end
// where its velocity says but dt^2 w x (w x r) / 2 beside that; without it the bonds of a beam that turns at 10 rad/s
// gape by 1 mm.
void fem_bond_rows_follow_rotation(FemContactRows *rows, float dt);

// After the last solve: their impulses.
void fem_bond_rows_keep(FemContactRows *rows);

#endif
