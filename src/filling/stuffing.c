#include "filling/stuffing.h"

#include "base/assert.h"
#include "base/error.h"

// Labelle & Shewchuk 2007, table 1: a node is warped when a cut is nearer than this share of the edge.
#define WARP_LONG 0.24999f
#define WARP_SHORT 0.41189f

typedef struct Stuffing {
	FemBccLattice lattice;
	FemTetList *out;
} Stuffing;

// ---- warp

// The cut next to a node, relative to its edge's limit; below 1 it violates.
static float nearest_cut(const FemBccLattice *lattice, int32_t node, FemVec3d *out_cut) {
	float best = 1.0f;
	for (int which = 0; which < FEM_BCC_NEIGHBORS; which++) {
		int32_t edge;
		bool first;
		int32_t other = fem_bcc_neighbor(lattice, node, which, &edge, &first);
		if (other < 0 || lattice->cuts[edge] < 0.0f)
			continue;
		float t = first ? lattice->cuts[edge] : 1.0f - lattice->cuts[edge];
		float relative = t / (which < 6 ? WARP_LONG : WARP_SHORT);
		if (relative >= best)
			continue;
		best = relative;
		FemVec3d edge_vector = fem_vec3d_sub(lattice->nodes[other], lattice->nodes[node]);
		*out_cut = fem_vec3d_add(lattice->nodes[node], fem_vec3d_scale(edge_vector, (double)t));
	}
	return best;
}

// A warped node lies on the surface: its edges are no longer cut, which may save its neighbours from being warped.
static void warp_nodes(FemBccLattice *lattice) {
	for (int32_t n = 0; n < lattice->node_count; n++) {
		FemVec3d cut;
		if (!(nearest_cut(lattice, n, &cut) < 1.0f))
			continue;
		for (int which = 0; which < FEM_BCC_NEIGHBORS; which++) {
			int32_t edge;
			bool first;
			if (fem_bcc_neighbor(lattice, n, which, &edge, &first) >= 0)
				lattice->cuts[edge] = -1.0f;
		}
		lattice->nodes[n] = cut;
		lattice->signs[n] = 0;
	}
}

// ---- stencils

static int32_t node_id(Stuffing *stuffing, int32_t node) {
	int32_t *id = &stuffing->lattice.node_ids[node];
	if (*id < 0)
		*id = fem_tet_list_add_node(stuffing->out, stuffing->lattice.nodes[node]);
	return *id;
}

// The node at the cut between a (inside) and b; a itself where a lies on the surface.
static int32_t cut_id(Stuffing *stuffing, int32_t a, int32_t b) {
	const FemBccLattice *lattice = &stuffing->lattice;
	if (lattice->signs[a] == 0)
		return node_id(stuffing, a);
	bool first, is_long;
	int32_t edge = fem_bcc_edge(lattice, a, b, &first, &is_long);
	int32_t *id = &stuffing->lattice.cut_ids[edge];
	FEM_ASSERT(lattice->signs[a] > 0 && lattice->signs[b] < 0 && lattice->cuts[edge] >= 0.0f);
	if (*id < 0) {
		double t = (double)(first ? lattice->cuts[edge] : 1.0f - lattice->cuts[edge]);
		FemVec3d edge_vector = fem_vec3d_sub(lattice->nodes[b], lattice->nodes[a]);
		*id = fem_tet_list_add_node(stuffing->out, fem_vec3d_add(lattice->nodes[a], fem_vec3d_scale(edge_vector, t)));
	}
	return *id;
}

// The quad that is left of face a b c when its node c is cut off: does the diagonal start at a? Both tets of the face
// must agree, so only the face counts. With one long edge cut the diagonal goes to that cut; with two short ones the
// node with an odd number of coordinates above c's takes it (the parity rule).
static bool diagonal_at_first(const FemBccLattice *lattice, int32_t a, int32_t b, int32_t c) {
	bool first, long_ac, long_bc;
	fem_bcc_edge(lattice, a, c, &first, &long_ac);
	fem_bcc_edge(lattice, b, c, &first, &long_bc);
	if (long_ac || long_bc)
		return long_bc;
	int32_t at_a[3], at_c[3];
	fem_bcc_coordinates(lattice, a, at_a);
	fem_bcc_coordinates(lattice, c, at_c);
	return ((at_a[0] > at_c[0]) + (at_a[1] > at_c[1]) + (at_a[2] > at_c[2])) % 2 == 1;
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
static void add_corner_cut(Stuffing *stuffing, const int32_t keep[3], int32_t d) {
	const FemBccLattice *lattice = &stuffing->lattice;
	int32_t p[3], q[3];
	bool holds[3];
	for (int i = 0; i < 3; i++) {
		p[i] = node_id(stuffing, keep[i]);
		q[i] = cut_id(stuffing, keep[i], d);
	}
	for (int i = 0; i < 3; i++) {
		int32_t a = keep[i], b = keep[(i + 1) % 3];
		// A node on the surface has no quads: it comes first in the prism's order, which leaves no cycle.
		bool on_a = lattice->signs[a] == 0, on_b = lattice->signs[b] == 0;
		holds[i] = on_a != on_b ? on_a : on_a ? i != 2 : diagonal_at_first(lattice, a, b, d);
	}
	add_prism(stuffing->out, p, q, holds);
}

static double distance_sq(const FemTetList *list, int32_t a, int32_t b) {
	FemVec3d edge_vector = fem_vec3d_sub(list->nodes[a], list->nodes[b]);
	return fem_vec3d_dot(edge_vector, edge_vector);
}

// Two nodes c, d outside: a wedge along a-b. The quad of four cuts is on the surface; its diagonal is free unless the
// diagonals of the two other quads leave only one choice.
static void add_wedge(Stuffing *stuffing, int32_t a, int32_t b, int32_t c, int32_t d) {
	const FemBccLattice *lattice = &stuffing->lattice;
	int32_t p[3] = {node_id(stuffing, a), cut_id(stuffing, a, c), cut_id(stuffing, a, d)};
	int32_t q[3] = {node_id(stuffing, b), cut_id(stuffing, b, c), cut_id(stuffing, b, d)};
	bool holds[3] = {diagonal_at_first(lattice, a, b, c), false, !diagonal_at_first(lattice, a, b, d)};
	if (lattice->signs[a] == 0 || lattice->signs[b] == 0)
		holds[0] = true, holds[2] = false;
	if (holds[0] == holds[2])
		holds[1] = !holds[0]; // 0 > 1 and 2 > 0 ask for 2 > 1; 1 > 0 and 0 > 2 for 1 > 2
	else
		holds[1] = distance_sq(stuffing->out, p[1], q[2]) <= distance_sq(stuffing->out, p[2], q[1]);
	add_prism(stuffing->out, p, q, holds);
}

static void add_tet(Stuffing *stuffing, const int32_t nodes[4]) {
	const FemBccLattice *lattice = &stuffing->lattice;
	int32_t kept[4], gone[4];
	int kept_count = 0, gone_count = 0, inside = 0;
	for (int v = 0; v < 4; v++) {
		inside += lattice->signs[nodes[v]] > 0;
		if (lattice->signs[nodes[v]] >= 0)
			kept[kept_count++] = nodes[v];
		else
			gone[gone_count++] = nodes[v];
	}
	if (inside == 0)
		return;
	if (gone_count == 0)
		fem_tet_list_add_tet(stuffing->out, node_id(stuffing, nodes[0]), node_id(stuffing, nodes[1]),
			node_id(stuffing, nodes[2]), node_id(stuffing, nodes[3]));
	else if (gone_count == 1)
		add_corner_cut(stuffing, kept, gone[0]);
	else if (gone_count == 2)
		add_wedge(stuffing, kept[0], kept[1], gone[0], gone[1]);
	else
		fem_tet_list_add_tet(stuffing->out, node_id(stuffing, kept[0]), cut_id(stuffing, kept[0], gone[0]),
			cut_id(stuffing, kept[0], gone[1]), cut_id(stuffing, kept[0], gone[2]));
}

// The four tets round the long edge from a centre to the next one along an axis: one for each edge of the face between.
static void add_tets_along(Stuffing *stuffing, const int32_t at[3], int axis) {
	const FemBccLattice *lattice = &stuffing->lattice;
	int u = (axis + 1) % 3, v = (axis + 2) % 3;
	int32_t next[3] = {at[0], at[1], at[2]}, ring[4];
	next[axis]++;
	static const int32_t square[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
	for (int i = 0; i < 4; i++) {
		int32_t corner[3] = {next[0], next[1], next[2]};
		corner[u] += square[i][0];
		corner[v] += square[i][1];
		ring[i] = fem_bcc_corner(lattice, corner[0], corner[1], corner[2]);
	}
	int32_t from = fem_bcc_center(lattice, at[0], at[1], at[2]),
			to = fem_bcc_center(lattice, next[0], next[1], next[2]);
	for (int i = 0; i < 4; i++)
		add_tet(stuffing, (int32_t[4]){from, to, ring[i], ring[(i + 1) % 4]});
}

static void add_tets(Stuffing *stuffing) {
	const int32_t *cells = stuffing->lattice.cells;
	int32_t at[3];
	for (at[0] = 0; at[0] < cells[0]; at[0]++)
		for (at[1] = 0; at[1] < cells[1]; at[1]++)
			for (at[2] = 0; at[2] < cells[2]; at[2]++)
				for (int axis = 0; axis < 3; axis++)
					if (at[axis] + 1 < cells[axis])
						add_tets_along(stuffing, at, axis);
}

FemResult fem_stuffing_fill(const FemSolid *solid, const double cell[3], bool fitted, double shift, FemTetList *out) {
	Stuffing stuffing = {.out = out};
	FemResult result = fem_bcc_create(&stuffing.lattice, solid, cell, fitted, shift);
	if (result == FEM_OK) {
		warp_nodes(&stuffing.lattice);
		add_tets(&stuffing);
		if (out->failed)
			result = fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.");
	}
	fem_bcc_free(&stuffing.lattice);
	return result;
}
