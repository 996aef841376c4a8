// Bodies whose elements a step need not compute.
//
// While all pieces of a body are rigid its elements only rotate: the forces of their strain balance each other, and
// their stress is what it was when the pieces became rigid. So no more than their rotations is computed, until a load
// is found under which a piece might deform, or a blow is looked at: then the elements of that body are made as they
// were at the start of the step.
#ifndef FEM_WORLD_KEPT_ELEMENTS_H
#define FEM_WORLD_KEPT_ELEMENTS_H

#include "world/step/step.h"

// Before the elements of a pass: FemBodyStep.is_kept.
void fem_kept_elements_find(FemStep *step);

// Those of bodies with FemBodyStep.wants_elements, at any time of the pass; clears is_kept.
void fem_kept_elements_make(FemStep *step);

// After the last look at blows: those of bodies that were looked at, which are of the shape that the blow gave them.
// Its forces would push what did not break.
void fem_kept_elements_renew(FemStep *step);

// All elements of some batches of a body, or the rotations alone.
void fem_step_update_elements_task(void *step, int32_t chunk_index);

// After all of those: plate cells take the place of tets that may be of other chunks.
void fem_step_update_cells_task(void *step, int32_t chunk_index);

#endif
