// What public calls name within a body, checked: a node, a tet or a piece.
#ifndef FEM_WORLD_TARGETS_H
#define FEM_WORLD_TARGETS_H

#include "base/assert.h"
#include "world/world.h"

typedef struct FemTarget {
	FemWorld *world;
	FemBody *body;
	int32_t node, tet, component; // inside number of what was asked for; -1 for the other two
} FemTarget;

// FEM_OK, or why not with a sentence: the id is bad, a step is under way, or the body has no such node, tet or piece.
FEM_MUST_USE FemResult fem_target_node(FemBodyId id, int32_t user_node, FemTarget *out_target);
FEM_MUST_USE FemResult fem_target_tet(FemBodyId id, int32_t user_tet, FemTarget *out_target);
FEM_MUST_USE FemResult fem_target_piece(FemBodyId id, FemPieceNumber number, FemTarget *out_target);

// FEM_OK, or FEM_ERROR_INVALID_ARGUMENT with a sentence for a call that was given no place to write to.
FEM_MUST_USE FemResult fem_check_out(const void *out);

#endif
