// What a body keeps that can break, the stage in which it does, and what follows from it.
#ifndef FEM_WORLD_BREAKING_H
#define FEM_WORLD_BREAKING_H

#include "base/assert.h"
#include "fracture/crack.h"
#include "fracture/splinters.h"
#include "topology/splitting.h"
#include "world/world.h"

struct FemStep;

// ---- breaking.c
// With breakable materials: toughness and pieces. Called while a body is built. False when memory fails.
FEM_MUST_USE bool fem_body_breaking_create(
	FemWorld *world, FemBody *body, const FemMesh *mesh, const int32_t *tet_materials, bool breaks);
void fem_body_breaking_free(FemBody *body);
void fem_body_drop_loaded_homes(FemBody *body);
FEM_MUST_USE bool fem_body_prepare_breaking(FemWorld *world, int32_t body_index); // the same for a body in the world
void fem_body_refresh_toughness(const FemWorld *world, FemBody *body);
void fem_body_follow_relief(const FemWorld *world, FemBody *body); // toughness of tets that hold no prestress any more

// Pa: tension at which a tet breaks or yields; 0: it is not stiff, in that it is seen to deform before, or breaks by
// force.
float fem_tet_strength(const FemBody *body, int32_t tet);

// The same of soft tets as well; 0 where toughness is the paper's force.
float fem_tet_limit(const FemBody *body, int32_t tet);

// ---- splittable.c
FEM_MUST_USE bool fem_body_make_splittable(
	const FemWorld *world, FemBody *body); // its own topology; false when memory fails

// ---- fracture_stage.c
bool fem_fracture_stage_look(struct FemStep *step); // before the move: true: a blow split something (blows.h)
// After the move; `is_again`: some of it is to be taken again for other reasons. True: it is, and what has part in that
// is back at the start of the step.
bool fem_fracture_stage_run(struct FemStep *step, bool is_again);
void fem_fracture_stage_finish(struct FemStep *step);                // after the last pass
size_t fem_fracture_step_bytes(const FemWorld *world, int32_t pass); // that it takes of a pass's memory
void fem_fracture_free(FemWorld *world);
void fem_fracture_publish(FemWorld *world);
void fem_cuts_free(FemBreaking *breaking); // the lists of cuts, which live within a step
void fem_fracture_tell_face(FemWorld *world, const FemFractureFace *face); // in the events of the step

// ---- topology_change.c: a body's topology was split; everything that follows from it. Any thread, one a body.
// is_in_pass: splinters follow with fem_body_end_splits().
void fem_body_apply_split(FemWorld *world, FemBody *body, bool is_in_pass);
// The rest of a split: what touches the data of other bodies. Runs on the stepping thread, in body order.
void fem_body_finish_split(FemWorld *world, int32_t body_index);
// The same two halves for what follows when all passes are done: splinters, and the surface of a body that was split in
// several of them.
void fem_body_end_splits(FemWorld *world, FemBody *body);
void fem_body_finish_surface(FemWorld *world, int32_t body_index);

#endif
