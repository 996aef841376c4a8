// Checks of what fem_budget.h takes.
#ifndef FEM_WORLD_BUDGET_H
#define FEM_WORLD_BUDGET_H

#include "fem_destruction.h"

FemResult fem_work_limits_check(FemWorkLimits *limits); // and clamps

#endif
