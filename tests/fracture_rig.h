// Things to break: a bar that is pulled at its ends, and a plate that is struck.
#ifndef FEM_TESTS_FRACTURE_RIG_H
#define FEM_TESTS_FRACTURE_RIG_H

#include "scenes/rig.h"

// 1 x 0.2 x 0.2 m in nx x n x n cells, free, of E 1e7.
FemRigDef fracture_rig_bar(int32_t nx, int32_t n, float toughness, FemToughnessMode mode);

// A pane-like plate, struck in the middle.
FemRig fracture_rig_struck_plate(int32_t workers, uint32_t seed);

// Hash of the state and of all events of a run.
uint64_t fracture_rig_run_plate(FemRig *rig, int32_t steps, int32_t *out_pieces);

#endif
