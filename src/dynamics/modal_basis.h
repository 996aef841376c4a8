// The modes of a body as it moves by them: made orthonormal to each other and to rigid motions in the body's own
// masses, with damping and propagators.
#ifndef FEM_DYNAMICS_MODAL_BASIS_H
#define FEM_DYNAMICS_MODAL_BASIS_H

#include "base/assert.h"
#include "model/body.h"
#include "model/modal.h"

typedef struct FemModalSource {
	int32_t mode_count;
	const double *eigenvalues;  // [mode]: rad^2/s^2
	const float *shapes;        // [mode][row][3]
	int32_t row_count;          // = nodes of the body
	const int32_t *row_of_node; // [inside node]
	const FemVec3d *rest;       // [inside node], m
} FemModalSource;

// Null when memory fails, or, with *out_fault set to a mode, when that mode is none of this body: with its masses its
// length is not 1, or it is a rigid motion or a sum of others.
FEM_MUST_USE FemModal *fem_modal_create(const FemBody *body, const FemModalSource *source, int32_t *out_fault);
FEM_MUST_USE FemModal *fem_modal_allocate(int32_t node_count, int32_t mode_count); // all 0
// What follows from rest shape, modes and pins; false when memory fails. A loaded basis needs it.
FEM_MUST_USE bool fem_modal_complete(FemModal *modal);
void fem_modal_free(FemModal *modal);

// Propagators of steps of dt.
void fem_modal_set_step(FemModal *modal, float dt);

// out [mode] = W^T field; field [node] is in axes of the rest shape.
void fem_modal_project(const FemModal *modal, const FemVec4 *field, double *out);

// u = W x of a node, in axes of the rest shape; x [stride].
void fem_modal_displacement(const FemModal *modal, int32_t node, const float *x, float out[3]);

#endif
