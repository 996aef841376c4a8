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
void fem_body_return_to_start(FemBody *body);                 // before its nodes get new numbers

// Marks what has returned to the start of the step in this pass, and what hangs together with it by composites.
void fem_passes_find_who_goes_back(FemStep *step);

// After splits: ends the step of all that has no part in them, and puts the rest back to its start.
void fem_passes_go_back(FemStep *step);

// After splits of a look, which moved nothing: all go on.
void fem_passes_look_again(FemStep *step);

// Whether the step of a composite ended in an earlier pass.
bool fem_composite_is_over(const FemStep *step, const FemComposite *composite);
// Whether its solve was not finite in the pass in which its step ended.
bool fem_composite_went_bad(const FemStep *step, int32_t composite);

#endif
