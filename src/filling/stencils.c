#include "filling/stencils.h"

#include "base/assert.h"

int32_t fem_stencils_node(const FemStencils *stencils, int32_t node) {
	int32_t *id = &stencils->node_ids[node];
	if (*id < 0)
		*id = fem_tet_list_add_node(stencils->out, stencils->nodes[node]);
	return *id;
}

// The node at the cut between a (inside) and b; a itself where a lies on the surface.
static int32_t cut_id(const FemStencils *stencils, int32_t a, int32_t b) {
	return stencils->signs[a] == 0 ? fem_stencils_node(stencils, a) : stencils->cut_id(stencils->context, a, b);
}

// A prism with triangles p and q; holds[i]: on the quad of corners i and i + 1 the diagonal starts at p of i (else at p
// of i + 1). Corners with p = q and the tets they flatten drop out.
static void add_prism(FemTetList *out, const int32_t p[3], const int32_t q[3], const bool holds[3]) {
	int wins[3] = {holds[0] + !holds[2], holds[1] + !holds[0], holds[2] + !holds[1]}, order[3] = {0, 1, 2};
	for (int i = 1; i < 3; i++)
		for (int j = i; j > 0 && wins[order[j]] > wins[order[j - 1]]; j--) {
			int corner = order[j];
			order[j] = order[j - 1];
			order[j - 1] = corner;
		}
	FEM_ASSERT(wins[order[0]] == 2 && wins[order[1]] == 1); // no circle of diagonals
	int a = order[0], b = order[1], c = order[2];
	fem_tet_list_add_tet(out, p[a], q[a], q[b], q[c]);
	fem_tet_list_add_tet(out, p[a], p[b], q[b], q[c]);
	fem_tet_list_add_tet(out, p[a], p[b], p[c], q[c]);
}

// One node d outside: a, b, c stay, the corner at d goes.
static void add_corner_cut(const FemStencils *stencils, const int32_t keep[3], int32_t d) {
	int32_t p[3], q[3];
	bool holds[3];
	for (int i = 0; i < 3; i++) {
		p[i] = fem_stencils_node(stencils, keep[i]);
		q[i] = cut_id(stencils, keep[i], d);
	}
	for (int i = 0; i < 3; i++) {
		int32_t a = keep[i], b = keep[(i + 1) % 3];
		// A node on the surface has no quads: it comes first in the prism's order, which leaves no cycle.
		bool on_a = stencils->signs[a] == 0, on_b = stencils->signs[b] == 0;
		holds[i] = on_a != on_b ? on_a : on_a ? i != 2 : stencils->diagonal_at_first(stencils->context, a, b, d);
	}
	add_prism(stencils->out, p, q, holds);
}

static double distance_sq(const FemTetList *list, int32_t a, int32_t b) {
	FemVec3d edge_vector = fem_vec3d_sub(list->nodes[a], list->nodes[b]);
	return fem_vec3d_dot(edge_vector, edge_vector);
}

// Two nodes c, d outside: a wedge along a-b. The quad of four cuts is on the surface; its diagonal is free unless the
// diagonals of the two other quads leave only one choice.
static void add_wedge(const FemStencils *stencils, int32_t a, int32_t b, int32_t c, int32_t d) {
	int32_t p[3] = {fem_stencils_node(stencils, a), cut_id(stencils, a, c), cut_id(stencils, a, d)};
	int32_t q[3] = {fem_stencils_node(stencils, b), cut_id(stencils, b, c), cut_id(stencils, b, d)};
	bool holds[3] = {stencils->diagonal_at_first(stencils->context, a, b, c), false,
		!stencils->diagonal_at_first(stencils->context, a, b, d)};
	if (stencils->signs[a] == 0 || stencils->signs[b] == 0)
		holds[0] = true, holds[2] = false;
	if (holds[0] == holds[2])
		holds[1] = !holds[0]; // 0 > 1 and 2 > 0 ask for 2 > 1; 1 > 0 and 0 > 2 for 1 > 2
	else
		holds[1] = distance_sq(stencils->out, p[1], q[2]) <= distance_sq(stencils->out, p[2], q[1]);
	add_prism(stencils->out, p, q, holds);
}

void fem_stencils_add_tet(const FemStencils *stencils, const int32_t nodes[4]) {
	int32_t kept[4], gone[4];
	int kept_count = 0, gone_count = 0, inside = 0;
	for (int v = 0; v < 4; v++) {
		inside += stencils->signs[nodes[v]] > 0;
		if (stencils->signs[nodes[v]] >= 0)
			kept[kept_count++] = nodes[v];
		else
			gone[gone_count++] = nodes[v];
	}
	if (inside == 0)
		return;
	if (gone_count == 0)
		fem_tet_list_add_tet(stencils->out, fem_stencils_node(stencils, nodes[0]),
			fem_stencils_node(stencils, nodes[1]), fem_stencils_node(stencils, nodes[2]),
			fem_stencils_node(stencils, nodes[3]));
	else if (gone_count == 1)
		add_corner_cut(stencils, kept, gone[0]);
	else if (gone_count == 2)
		add_wedge(stencils, kept[0], kept[1], gone[0], gone[1]);
	else
		fem_tet_list_add_tet(stencils->out, fem_stencils_node(stencils, kept[0]), cut_id(stencils, kept[0], gone[0]),
			cut_id(stencils, kept[0], gone[1]), cut_id(stencils, kept[0], gone[2]));
}
