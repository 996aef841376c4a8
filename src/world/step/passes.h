// Passes of a step: what breaks goes back to the start of the step and takes it again with its new connections
// (docs/method.md, "Fracture within a step").
#ifndef FEM_WORLD_PASSES_H
#define FEM_WORLD_PASSES_H

#include "world/step/step.h"
#include "world/world.h"

// The start of the step of one body: all that a pass changes of it.
typedef struct FemBodyStart {
	FemVec4 *position, *velocity; // [node]
	float *ground_force;          // [node]
	FemVec4 *rotation;            // [batch * 8 + lane], of bodies that can break: others keep that of the first pass
	struct FemBatch *batches;     // of such as flow, too; else null
	struct FemBatchPlastic *plastics;
} FemBodyStart;

size_t fem_passes_bytes(const FemWorld *world, int32_t pass); // that fem_passes_save() may take
void fem_passes_save(FemStep *step);                          // the start of all bodies that break, or touch what does
void fem_passes_open(FemStep *step);                          // after composites were made: whose step is over

// Marks a piece that is to take the step again, and all others of a body that goes back as a whole.
void fem_body_send_back(FemBody *body, int32_t component);
bool fem_body_goes_back_whole(const FemBody *body);
void fem_body_return_to_start(FemBody *body); // the pieces that go back, before nodes get new numbers
void fem_body_forget_passes(FemBody *body);   // between steps

// Marks what hangs together by composites with pieces that go back.
void fem_passes_find_who_goes_back(FemStep *step);

// Before splits: ends the step of all pieces that have no part in them, and puts the rest back to its start.
void fem_passes_go_back(FemStep *step);

// After splits of a look, which moved nothing: all go on.
void fem_passes_look_again(FemStep *step);

// The next run of batches, after `run`, with tets whose step is not over; false: there are none before `end`.
bool fem_passes_next_batches(const FemBody *body, int32_t end, FemRange *run);

// Whether its solve was not finite in the pass in which its step ended.
bool fem_composite_went_bad(const FemStep *step, int32_t composite);

#endif
