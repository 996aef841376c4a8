#include "filling/graded_lattice.h"

#include "base/error.h"
#include "base/growing.h"
#include "base/stop_check.h"

#include <math.h>

#define CUBES_MAX (1 << 20) // of a lattice: some 0.5 GB; more would only be a slip
#define LEVELS_MAX 36       // bisections one after another: edges are halved 12 times; chosen
#define CELL_TETS 12.0      // of a body-centred cubic cell, in whose edges sizes are told
#define CUBE_TETS 6         // of a cube

// Corners of the six tets of a cube, from its lowest corner to its highest: bits are steps along the axes. Sorted by
// the order of the axes, as find_root() numbers them.
static const int8_t paths[CUBE_TETS][4] = {
	{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}};

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the lattice: ask for fewer elements.");
}

double fem_graded_size(const FemGradedLattice *lattice, int32_t tet) {
	return lattice->cell * cbrt(CELL_TETS / CUBE_TETS / exp2(lattice->tets[tet].level));
}

// ---- growing

// -1 without memory.
static int32_t add_node(FemGradedLattice *lattice, FemVec3d at) {
	if (!FEM_GROW(lattice->nodes, lattice->node_count, &lattice->node_capacity) ||
		!FEM_GROW(lattice->first, lattice->node_count, &lattice->first_capacity))
		return -1;
	lattice->nodes[lattice->node_count] = at;
	lattice->first[lattice->node_count] = -1;
	return lattice->node_count++;
}

FEM_MUST_USE static bool add_tet(FemGradedLattice *lattice, const int32_t nodes[4], int tag, int level) {
	int32_t tet = lattice->tet_count;
	if (!FEM_GROW(lattice->tets, tet, &lattice->tet_capacity))
		return false;
	for (int v = 0; v < 4; v++)
		if (!FEM_GROW(lattice->next, 4 * tet + v, &lattice->next_capacity))
			return false;
	lattice->tets[tet] = (FemGradedTet){{nodes[0], nodes[1], nodes[2], nodes[3]}, -1, (int8_t)tag, (int8_t)level};
	for (int v = 0; v < 4; v++) {
		FEM_ASSERT_INDEX(nodes[v], lattice->node_count);
		lattice->next[4 * tet + v] = lattice->first[nodes[v]];
		lattice->first[nodes[v]] = 4 * tet + v;
	}
	lattice->tet_count++;
	lattice->leaf_count++;
	return true;
}

static int32_t corner_at(const FemGradedLattice *lattice, const int32_t at[3]) {
	return (at[0] * (lattice->cells[1] + 1) + at[1]) * (lattice->cells[2] + 1) + at[2];
}

static bool choose_cells(FemGradedLattice *lattice, const double half[3], double size, double shift) {
	static const double shares[3] = {0.5, 0.31, 0.19}; // of the shift, by axis: chosen without a common measure
	double total = 1.0;
	lattice->cell = size / cbrt(CELL_TETS / CUBE_TETS);
	for (int axis = 0; axis < 3; axis++) {
		double whole = ceil(2.0 * half[axis] / lattice->cell) + 3.0;
		total *= whole;
		if (!(total < CUBES_MAX))
			return false;
		lattice->cells[axis] = (int32_t)whole;
		lattice->origin[axis] = lattice->cell * (shift * shares[axis] - 0.5 * whole);
	}
	return true;
}

static bool add_cubes(FemGradedLattice *lattice) {
	int32_t at[3];
	for (at[0] = 0; at[0] <= lattice->cells[0]; at[0]++)
		for (at[1] = 0; at[1] <= lattice->cells[1]; at[1]++)
			for (at[2] = 0; at[2] <= lattice->cells[2]; at[2]++) {
				FemVec3d p = {lattice->origin[0] + lattice->cell * at[0], lattice->origin[1] + lattice->cell * at[1],
					lattice->origin[2] + lattice->cell * at[2]};
				if (add_node(lattice, p) < 0)
					return false;
			}
	for (at[0] = 0; at[0] < lattice->cells[0]; at[0]++)
		for (at[1] = 0; at[1] < lattice->cells[1]; at[1]++)
			for (at[2] = 0; at[2] < lattice->cells[2]; at[2]++)
				for (int n = 0; n < CUBE_TETS; n++) {
					int32_t nodes[4];
					for (int v = 0; v < 4; v++) {
						int c = paths[n][v];
						nodes[v] =
							corner_at(lattice, (int32_t[3]){at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)});
					}
					if (!add_tet(lattice, nodes, 3, 0))
						return false;
				}
	return true;
}

FemResult fem_graded_create(FemGradedLattice *lattice, const double half[3], double size, double shift) {
	*lattice = (FemGradedLattice){0};
	if (!choose_cells(lattice, half, size, shift))
		return fem_fail(
			FEM_ERROR_LIMIT, "The lattice would need more than %d cells: ask for fewer elements.", CUBES_MAX);
	return add_cubes(lattice) ? FEM_OK : no_memory();
}

void fem_graded_free(FemGradedLattice *lattice) {
	FEM_FREE_ARRAY(lattice->nodes, lattice->node_capacity);
	FEM_FREE_ARRAY(lattice->tets, lattice->tet_capacity);
	FEM_FREE_ARRAY(lattice->first, lattice->first_capacity);
	FEM_FREE_ARRAY(lattice->next, lattice->next_capacity);
	*lattice = (FemGradedLattice){0};
}

// ---- finding

static double side_of(FemVec3d a, FemVec3d b, FemVec3d c, FemVec3d p) {
	FemVec3d n = fem_vec3d_cross(fem_vec3d_sub(b, a), fem_vec3d_sub(c, a));
	return fem_vec3d_dot(n, fem_vec3d_sub(p, a));
}

// The tet of a cube whose path takes the axis of the largest fraction first.
static int32_t find_root(const FemGradedLattice *lattice, FemVec3d p) {
	double at[3] = {p.x, p.y, p.z}, fraction[3];
	int32_t cube = 0;
	for (int axis = 0; axis < 3; axis++) {
		double cells = (at[axis] - lattice->origin[axis]) / lattice->cell;
		if (!(cells >= 0.0 && cells < lattice->cells[axis]))
			return -1;
		cube = cube * lattice->cells[axis] + (int32_t)cells;
		fraction[axis] = cells - floor(cells);
	}
	int first = fraction[0] >= fraction[1] ? (fraction[0] >= fraction[2] ? 0 : 2) : fraction[1] >= fraction[2] ? 1 : 2;
	int low = first == 0 ? 1 : 0, high = first == 2 ? 1 : 2;
	return CUBE_TETS * cube + 2 * first + (fraction[low] < fraction[high]);
}

int32_t fem_graded_find(const FemGradedLattice *lattice, FemVec3d p) {
	int32_t tet = find_root(lattice, p);
	while (tet >= 0 && lattice->tets[tet].child >= 0) {
		const FemGradedTet *parent = &lattice->tets[tet];
		int32_t middle = lattice->tets[parent->child].nodes[parent->tag], others[2];
		int count = 0;
		for (int v = 1; v < 4; v++)
			if (v != parent->tag)
				others[count++] = parent->nodes[v];
		const FemVec3d *nodes = lattice->nodes;
		double start = side_of(nodes[middle], nodes[others[0]], nodes[others[1]], nodes[parent->nodes[0]]);
		double here = side_of(nodes[middle], nodes[others[0]], nodes[others[1]], p);
		tet = parent->child + (start * here < 0.0);
	}
	return tet;
}

// ---- bisecting

// The other children of an edge are found by the list of one of its ends; tets that are no leaves drop out of it.
static int32_t next_leaf(FemGradedLattice *lattice, int32_t *io_link) {
	while (*io_link >= 0 && lattice->tets[*io_link / 4].child >= 0)
		*io_link = lattice->next[*io_link];
	return *io_link >= 0 ? *io_link / 4 : -1;
}

static bool holds_node(const FemGradedTet *tet, int32_t node) {
	return tet->nodes[0] == node || tet->nodes[1] == node || tet->nodes[2] == node || tet->nodes[3] == node;
}

static bool is_halved_at(const FemGradedTet *tet, int32_t a, int32_t b) {
	int32_t from = tet->nodes[0], to = tet->nodes[tet->tag];
	return (from == a && to == b) || (from == b && to == a);
}

// Some leaf at the edge a-b whose own bisection is of another edge; -1: none.
static int32_t find_unlike(FemGradedLattice *lattice, int32_t a, int32_t b) {
	for (int32_t *link = &lattice->first[a];; link = &lattice->next[*link]) {
		int32_t tet = next_leaf(lattice, link);
		if (tet < 0)
			return -1;
		if (holds_node(&lattice->tets[tet], b) && !is_halved_at(&lattice->tets[tet], a, b))
			return tet;
	}
}

static bool halve_tet(FemGradedLattice *lattice, int32_t tet, int32_t middle) {
	FemGradedTet parent = lattice->tets[tet];
	const int32_t *x = parent.nodes;
	int tag = parent.tag > 1 ? parent.tag - 1 : 3, level = parent.level + 1;
	int32_t lower[4] = {x[0], x[1], x[2], x[3]}, upper[4] = {x[1], x[2], x[3], middle};
	lower[parent.tag] = middle;
	if (parent.tag == 2)
		upper[2] = middle, upper[3] = x[3];
	else if (parent.tag == 1)
		upper[1] = middle, upper[2] = x[2], upper[3] = x[3];
	int32_t child = lattice->tet_count;
	if (!add_tet(lattice, lower, tag, level) || !add_tet(lattice, upper, tag, level))
		return false;
	lattice->tets[tet].child = child;
	lattice->leaf_count--;
	return true;
}

// All leaves at an edge that is the next to be halved in each of them.
static bool halve_edge(FemGradedLattice *lattice, int32_t a, int32_t b) {
	int32_t middle = add_node(lattice, fem_vec3d_scale(fem_vec3d_add(lattice->nodes[a], lattice->nodes[b]), 0.5));
	if (middle < 0)
		return false;
	for (int32_t link = lattice->first[a]; link >= 0; link = lattice->next[link]) {
		int32_t tet = link / 4;
		// Children are put in front of the list, so the loop does not come to them.
		if (lattice->tets[tet].child < 0 && holds_node(&lattice->tets[tet], b) && !halve_tet(lattice, tet, middle))
			return false;
	}
	return true;
}

// Neighbours at the edge that are to be halved elsewhere go first, and theirs before them: their edges are longer, so
// that ends.
static bool bisect(FemGradedLattice *lattice, int32_t tet) {
	while (lattice->tets[tet].child < 0) {
		int32_t a = lattice->tets[tet].nodes[0], b = lattice->tets[tet].nodes[lattice->tets[tet].tag];
		int32_t unlike = find_unlike(lattice, a, b);
		if (!(unlike < 0 ? halve_edge(lattice, a, b) : bisect(lattice, unlike)))
			return false;
	}
	return true;
}

FemResult fem_graded_refine(
	FemGradedLattice *lattice, const FemGradedDemand *demands, int32_t count, int32_t leaves_most, bool *out_met) {
	*out_met = true;
	for (int32_t d = 0; d < count; d++) {
		int32_t tet = fem_graded_find(lattice, demands[d].at);
		while (tet >= 0 && fem_graded_size(lattice, tet) > demands[d].size && lattice->tets[tet].level < LEVELS_MAX) {
			if (lattice->leaf_count > leaves_most) {
				*out_met = false;
				return FEM_OK;
			}
			if (fem_stop_asked())
				return fem_fail_stopped();
			if (!bisect(lattice, tet))
				return no_memory();
			tet = fem_graded_find(lattice, demands[d].at);
		}
	}
	return FEM_OK;
}
