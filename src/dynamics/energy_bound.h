// Keeps a solve that was stopped at its cap from adding energy.
//
// With residual r = b - A dv left, a step of backward Euler changes kinetic and elastic energy by
//
//   dE = W - 1/2 dv.M dv - dt (dt/2 + alpha_K) v+.K v+ - v+.r,    v+ = v + dv,
//
// W the work of external forces and of the contacts' biases less what contacts and friction take (docs/method.md,
// "Capped solves"). All but the last term is lost whatever dv is; the last is energy from nowhere where v+.r < 0. It
// vanishes when r is orthogonal to a space that v+ lies in. So the last iterate is replaced by the best solution (that
// of least A-norm of the error) among the velocities
//
//   v+ = R y + s d,    R the rigid motions of free islands and dynamic colliders, d the deformation in v+,
//
// with s no larger than 1: for smaller s, d.r > 0. At s = 0 things move rigidly, which neither strains nor pulls.
#ifndef FEM_DYNAMICS_ENERGY_BOUND_H
#define FEM_DYNAMICS_ENERGY_BOUND_H

#include "dynamics/solver.h"

// After fem_system_solve() of the same system. `rigid` is prepared for it, or null: then d is all of v+, and rigid
// motion is slowed down with it. Returns the s that was taken; dv and the residual are those of it.
float fem_energy_bound(FemSystem *system, FemRigidSpace *rigid);

#endif
