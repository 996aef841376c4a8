// Which bodies move by their modes (dynamics/modal_unknowns.h). A modal body is one rigid piece to all that treats
// rigid pieces (rigid_pieces.h), whose shape its modes change; it is released by the same rule, and becomes modal again
// when the tension of its tets has been low for a while. What it broke into moves as other bodies do.
#ifndef FEM_WORLD_MODAL_PIECES_H
#define FEM_WORLD_MODAL_PIECES_H

#include "model/body.h"
#include "model/modal.h"
#include "model/piece.h"
#include "world/step/step.h"
#include "world/world.h"

// At the start of the step: a body with modes that fit begins to move by them, unless it was struck too hard lately.
void fem_modal_pieces_begin(FemBody *body);

// Its tets need not be looked at in a step: it moves by modes, and cannot break.
static inline bool fem_modal_hides_tets(const FemBody *body) {
	return fem_modal_of(body) && !body->breaking;
}

// Pa, a bound of the tension that its modes make now.
float fem_modal_tension(const FemModal *modal);

// After fem_probe_deform(): what its modes move in the step as well.
void fem_modal_add_to_probe(FemBody *body, float dt);

// Nothing strains it that counts; its tets have the stress of this step.
bool fem_modal_is_calm(const FemBody *body);

// Makes it modal. False: it cannot be.
bool fem_modal_piece_begin(FemBody *body);

// At the end of the step: rotations of the tets that were not looked at.
void fem_modal_pieces_finish(FemStep *step);

int32_t fem_modal_pieces_count(const FemWorld *world); // that are awake

#endif
