#include "filling/stuffing.h"

#include "base/assert.h"
#include "base/error.h"
#include "filling/stencils.h"

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

// ---- tets

// The node at the cut between a (inside) and b.
static int32_t cut_id(void *context, int32_t a, int32_t b) {
	Stuffing *stuffing = context;
	const FemBccLattice *lattice = &stuffing->lattice;
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

// With one long edge cut the diagonal goes to that cut; with two short ones the
// node with an odd number of coordinates above c's takes it (the parity rule).
static bool diagonal_at_first(void *context, int32_t a, int32_t b, int32_t c) {
	const FemBccLattice *lattice = &((const Stuffing *)context)->lattice;
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

// The four tets round the long edge from a centre to the next one along an axis: one for each edge of the face between.
static void add_tets_along(const FemStencils *stencils, const FemBccLattice *lattice, const int32_t at[3], int axis) {
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
		fem_stencils_add_tet(stencils, (int32_t[4]){from, to, ring[i], ring[(i + 1) % 4]});
}

static void add_tets(Stuffing *stuffing) {
	FemBccLattice *lattice = &stuffing->lattice;
	const int32_t *cells = lattice->cells;
	FemStencils stencils = {
		lattice->nodes, lattice->signs, lattice->node_ids, stuffing->out, stuffing, cut_id, diagonal_at_first};
	int32_t at[3];
	for (at[0] = 0; at[0] < cells[0]; at[0]++)
		for (at[1] = 0; at[1] < cells[1]; at[1]++)
			for (at[2] = 0; at[2] < cells[2]; at[2]++)
				for (int axis = 0; axis < 3; axis++)
					if (at[axis] + 1 < cells[axis])
						add_tets_along(&stencils, lattice, at, axis);
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
