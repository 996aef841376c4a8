#include "world/api/targets.h"

#include "model/piece.h"
#include "topology/topology.h"
#include "world/api/registry.h"

static FemResult find_body(FemBodyId id, FemTarget *out_target) {
	FemResult result;
	*out_target = (FemTarget){.node = -1, .tet = -1, .component = -1};
	out_target->body = fem_body_find_idle(id, &out_target->world, &result);
	return result;
}

FemResult fem_target_node(FemBodyId id, int32_t user_node, FemTarget *out_target) {
	FemResult result = find_body(id, out_target);
	if (result != FEM_OK)
		return result;
	const FemTopology *t = out_target->body->topology;
	if (user_node < 0 || user_node >= t->user_node_count || t->node_of_user[user_node] < 0)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The body has no node %d: use 0..%d that were not removed.",
			user_node, t->user_node_count - 1);
	out_target->node = t->node_of_user[user_node];
	FEM_ASSERT_INDEX(out_target->node, t->node_count);
	return FEM_OK;
}

FemResult fem_target_tet(FemBodyId id, int32_t user_tet, FemTarget *out_target) {
	FemResult result = find_body(id, out_target);
	if (result != FEM_OK)
		return result;
	const FemTopology *t = out_target->body->topology;
	if (user_tet < 0 || user_tet >= t->user_tet_count || t->tet_of_user[user_tet] < 0)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The body has no tet %d: use 0..%d that were not removed.",
			user_tet, t->user_tet_count - 1);
	out_target->tet = t->tet_of_user[user_tet];
	FEM_ASSERT_INDEX(out_target->tet, t->batch_count * FEM_LANES);
	return FEM_OK;
}

FemResult fem_target_piece(FemBodyId id, FemPieceNumber number, FemTarget *out_target) {
	FemResult result = find_body(id, out_target);
	if (result != FEM_OK)
		return result;
	const FemBody *body = out_target->body;
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		if (body->pieces[c].number != number)
			continue;
		out_target->component = c;
		return FEM_OK;
	}
	return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The body has no piece %u: it was removed, or never was.", number);
}

FemResult fem_check_out(const void *out) {
	if (out)
		return FEM_OK;
	return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "A pointer to write to is null: pass places to write to.");
}
