// The weight of fast pieces for the rest of the step in which they were stopped (docs/method.md, "Fast objects").
//
// A piece that is stopped after the fraction s of a step has fallen for s dt only. With the speed that gravity gives in
// dt it would have energy from nowhere: m g (1 - s) dt v. Its speed is therefore lowered by g (1 - s) dt, which acts in
// the next step together with the contact: friction and the impulse of the contact count it there. What nothing bears
// even then is taken back again at the end of that step, since the piece has lost the time for good.
#ifndef FEM_WORLD_HELD_PIECES_H
#define FEM_WORLD_HELD_PIECES_H

#include "world/step/step.h"

// At the start of a substep: what was held back acts now.
void fem_held_pieces_release(FemStep *step);

// After the move: takes back what no contact bears.
void fem_held_pieces_settle(FemStep *step);

// Holds back what gravity gave a wholly free piece in the last `time` (s) of the step. collider: the index of what
// stopped it; -1: another piece.
void fem_piece_hold(FemStep *step, int32_t body_index, int32_t component, float time, int32_t collider);

// The collider is destroyed: the next one in its slot bears nothing of the last step.
void fem_held_pieces_forget(struct FemWorld *world, int32_t collider);

#endif
