// What the loads of a rigid piece would do to it if it were elastic.
//
// After a solve the residual of a rigid piece's nodes is what its elasticity would have to carry: contacts, the ground,
// the user's forces and gravity less the inertia of the rigid motion. Of that it carries what the strain in its shape
// balances: a piece that rests under the load it came to rest with deforms no further. One back-substitution with a
// factor of the piece's own matrix, M + dt (dt + alpha_K) K, tells how what is left, and the centrifugal force, would
// deform it within the step. The factor is kept while the piece is rigid: its matrix does not change but for the
// rotation.
#ifndef FEM_WORLD_PIECE_PROBE_H
#define FEM_WORLD_PIECE_PROBE_H

#include "fem_constants.h"
#include "model/body.h"

bool fem_probe_is_possible(const FemBody *body, int32_t component); // there is a factor

// First: the loads of the step, N s, but for the strain that is in the shape, and with the centrifugal force.
// Overwrites body->step->product; returns a bound, Pa, that is cheap and far above any stress that they can make. With
// S the sum of their sizes no bending moment is above S L, and no section modulus below V t / (6 L), V, L and t being
// the volume, length and thickness of the piece.
float fem_probe_external(FemBody *body, int32_t component, float dt);

// The same bound of what those loads are beyond FemBody.last_dv, to which fem_probe_keep() keeps them. The strain in
// the shape is the same for both. fem_probe_keep_strain(): those that an elastic piece balances by its strain.
float fem_probe_change(const FemBody *body, int32_t component, float dt);
void fem_probe_keep(FemBody *body, int32_t component, float dt);
void fem_probe_keep_strain(FemBody *body, int32_t component);

// Then: adds what the strain in the shape carries of them; the same bound of the sum.
float fem_probe_load(FemBody *body, int32_t component, float dt);

// The same bound of the forces of the strain that an elastic piece has.
float fem_probe_strain(const FemBody *body, int32_t component);

// Then: the displacement of the piece's nodes within the step, m, in body->step->z, and where they come to in
// body->step->direction.
void fem_probe_deform(FemBody *body, int32_t component, float dt);

// Then: Pa, upper bounds of the largest principal stress of a tet, or of the plate cell in its place: with that
// displacement, and of the strain that is in the piece's shape alone. body->step->start is where the step began.
typedef struct FemProbeTension {
	int32_t tet; // of a plate cell its first
	float now, kept;
} FemProbeTension;

// Those of a tet. Plate cells come eight at a time, at the first of them that the piece has. Returns their number.
int32_t fem_probe_tensions(const FemBody *body, int32_t component, int32_t tet, FemProbeTension out[FEM_LANES]);

// Stress over strength of the node that comes nearest to splitting with that displacement, if more than `least`, else
// 0: the bounds above are of one tet, and what parts a node is what pulls at all of its tets. Overwrites
// FemBodyStep.tet_stress and cell_stress of the piece.
float fem_probe_excess(FemBody *body, int32_t component, float least);

// The same of a tet as it is, at the start of a step, of any piece.
float fem_tet_tension(const FemBody *body, int32_t tet);

// Before the solve of a step of dt: body->step->dv = (mass_ratio M + dt (dt + alpha_K) K)^-1 body->step->rhs for the
// nodes of the piece. Also of elastic pieces, and without a factor. Overwrites rows and vectors of the solve.
void fem_probe_respond(FemBody *body, int32_t component, float dt, float mass_ratio);

// FemBody.reaction of the pinned nodes of a rigid piece, as if it stood on equal springs there.
void fem_probe_set_reactions(FemBody *body, int32_t component, float dt);

#endif
