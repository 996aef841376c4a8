// What the solver keeps with a mesh and with a body.
#ifndef FEM_WORLD_SOLVER_STATE_H
#define FEM_WORLD_SOLVER_STATE_H

#include "base/assert.h"
#include "model/piece.h"
#include "world/world.h"

// Whether the pieces of the body have preconditioners: all have, or none.
static inline bool fem_body_has_solver(const FemBody *body) {
	return body->pieces[0].preconditioner != NULL;
}

FEM_MUST_USE bool fem_mesh_make_orders(FemMesh *mesh);
void fem_mesh_free_orders(FemMesh *mesh);
void fem_world_prepare_solvers(FemWorld *world); // of bodies that are live; whole ones that sleep give theirs up
bool fem_body_solver_create(FemBody *body, const FemMesh *mesh); // of a whole body
void fem_body_solver_free(FemBody *body);
void fem_body_note_kinds(FemBody *body);
FEM_MUST_USE bool fem_body_restore_solver(
	const FemWorld *world, FemBody *body); // of a body that was read and had one; false when memory fails
void fem_body_solver_follow_split(const FemMesh *mesh, FemBody *body); // new preconditioners for what changed
size_t fem_body_solver_bytes(const FemBody *body);
size_t fem_body_solver_state_size(const FemBody *body); // what must be saved to go on bitwise
void fem_body_solver_state_write(const FemBody *body, void *out);
FEM_MUST_USE bool fem_body_solver_state_read(
	FemBody *body, const void *data, size_t size); // false: damaged or no memory

#endif
