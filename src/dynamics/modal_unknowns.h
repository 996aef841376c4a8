// The modes of a body as unknowns of the solve of its composite, beside the six of its frame.
//
// A mode moves exactly under a force g that is constant over the step: z+ = p11 z + p12 z' + (1 - p11)/lambda g. So an
// impulse dt g gives it the mean velocity dt g / mu with mu = lambda dt^2 / (1 - p11) > 0, and mu is its place on the
// diagonal of the matrix; the unknown is the mean velocity of the step less the velocity before it, which is dv of all
// that moves by backward Euler. The work of a constant force is force times displacement, hence what contacts, which
// only take, give to a mode is never more than they took elsewhere: no energy is made, however stiff the mode is.
#ifndef FEM_DYNAMICS_MODAL_UNKNOWNS_H
#define FEM_DYNAMICS_MODAL_UNKNOWNS_H

#include "dynamics/contact_rows.h"
#include "model/body.h"
#include "model/contact.h"
#include "model/modal.h"

// At the start of a step: amplitudes and their velocities as the nodes have them; the unknowns of the frame of what is
// free, at dv = 0, and none of what is held.
FemProxy fem_modal_frame(FemBody *body, bool is_free);

// Once a step, after fem_modal_frame() of what is free: what forces but contacts do, and which nodes the ground bears.
// `contact_count`: of the composite; near_ground: nodes of it may touch the ground.
void fem_modal_open(
	FemBody *body, FemProxy *rigid, FemVec3 gravity, float dt, int32_t contact_count, bool is_near_ground);

// Instead of fem_rigid_unknowns_load(), with the same meaning, for frame and modes.
void fem_modal_load(FemBody *body, FemProxy *rigid, float extra[36]);

// How modes move the point of a contact's side: [3][stride], world axes; null when memory fails.
const float *fem_modal_jacobian(FemModal *modal, const FemContactSide *side);

// After a solve, and after the rigid unknowns were spread: dv of the nodes that contacts and the ground look at.
void fem_modal_spread(FemBody *body, const FemProxy *rigid, const FemContactRows *rows, int32_t body_index);

// After the last solve: the mean velocity of the step, and what the frame gained.
void fem_modal_close(const FemBody *body, const FemProxy *rigid);

// ---- parts of the conjugate gradients, of one body

void fem_modal_begin(FemModal *modal);                       // residual = load, direction = 0
void fem_modal_drop_start(FemModal *modal);                  // dv = 0
void fem_modal_clear_solved(FemModal *modal);                // solved = 0
void fem_modal_subtract(FemModal *modal, FemProxy *rigid);   // residual -= A dv, without contacts
double fem_modal_multiply(FemModal *modal, FemProxy *rigid); // product = A direction; returns their share in d.Ad
void fem_modal_redirect(FemModal *modal, float beta);        // direction = solved + beta direction
void fem_modal_advance(FemModal *modal, float alpha);        // dv += alpha direction, residual -= alpha product
void fem_modal_prepare(FemModal *modal, const FemContactRows *rows); // the factor, before each solve
double fem_modal_precondition(FemModal *modal);                      // solved = M^-1 residual; returns residual.solved

// Impulse on the six unknowns of its frame by modes that move with `solved`: torque from the ground and grabs.
void fem_modal_couple(const FemModal *modal, const float *x, float out[6]);

#endif
