// Bodies that move by their modes, for the tests of suite `modal`.
#ifndef FEM_MODAL_RIG_H
#define FEM_MODAL_RIG_H

#include "fem_modes.h"
#include "scenes/rig.h"

// A soft bar of 1 x 0.2 x 0.2 m.
FemRigDef fem_wobbly_bar(void);
FemBodyId fem_add_wobbly(FemWorldId world, FemPosition position, FemVec3 velocity, FemVec3 spin, float young);

// All modes up to a count. The caller frees them.
FemModes fem_test_modes_of(FemBodyId body, int32_t count);
// Computes modes of the body and gives them to it. The caller frees them.
FemModes fem_give_modes(FemBodyId body, int32_t count);
void fem_make_modal(FemBodyId body, int32_t count);

FemModalState fem_modal_state(FemBodyId body);
// J: of a body that moves by modes; elasticity is that of the modes.
double fem_modal_energy(FemBodyId body);

double fem_length3(FemVec3 v);
double fem_distance3(FemVec3 a, FemVec3 b);

#endif
