#include "filling/bcc_lattice.h"

#include "base/assert.h"
#include "base/carve.h"
#include "base/error.h"
#include "base/stop_check.h"

#include <string.h>

#define CELL_MAX (1 << 24) // of a lattice: 114 bytes each, some 2 GB; more would only be a slip

int32_t fem_bcc_corner(const FemBccLattice *lattice, int32_t i, int32_t j, int32_t k) {
	return (i * (lattice->cells[1] + 1) + j) * (lattice->cells[2] + 1) + k;
}

int32_t fem_bcc_center(const FemBccLattice *lattice, int32_t i, int32_t j, int32_t k) {
	return lattice->corner_count + (i * lattice->cells[1] + j) * lattice->cells[2] + k;
}

void fem_bcc_coordinates(const FemBccLattice *lattice, int32_t node, int32_t out[3]) {
	FEM_ASSERT_INDEX(node, lattice->node_count);
	int32_t odd = node >= lattice->corner_count;
	int32_t at = odd ? node - lattice->corner_count : node;
	int32_t width = lattice->cells[1] + !odd, depth = lattice->cells[2] + !odd;
	out[0] = 2 * (at / depth / width) + odd;
	out[1] = 2 * (at / depth % width) + odd;
	out[2] = 2 * (at % depth) + odd;
}

// -1 outside the lattice.
static int32_t node_at(const FemBccLattice *lattice, const int32_t at[3]) {
	int32_t odd = at[0] & 1;
	FEM_ASSERT((at[1] & 1) == odd && (at[2] & 1) == odd); // corners have even coordinates, centres odd ones
	for (int axis = 0; axis < 3; axis++) {
		if (at[axis] < 0 || at[axis] > 2 * lattice->cells[axis])
			return -1;
	}
	return odd ? fem_bcc_center(lattice, at[0] / 2, at[1] / 2, at[2] / 2)
			   : fem_bcc_corner(lattice, at[0] / 2, at[1] / 2, at[2] / 2);
}

// Long edges: 3 a node, to the next node along each axis. Short edges: 8 a centre.
static int32_t long_edge(int32_t lower, int axis) {
	return 3 * lower + axis;
}

static int32_t short_edge(const FemBccLattice *lattice, int32_t center, int corner) {
	return 3 * lattice->node_count + 8 * (center - lattice->corner_count) + corner;
}

int32_t fem_bcc_neighbor(const FemBccLattice *lattice, int32_t node, int which, int32_t *out_edge, bool *out_first) {
	int32_t at[3];
	fem_bcc_coordinates(lattice, node, at);
	if (which < 6) {
		at[which / 2] += which % 2 ? 2 : -2;
		int32_t other = node_at(lattice, at);
		*out_first = which % 2;
		*out_edge = other < 0 ? -1 : long_edge(*out_first ? node : other, which / 2);
		return other;
	}
	int corner = which - 6;
	for (int axis = 0; axis < 3; axis++)
		at[axis] += corner >> axis & 1 ? 1 : -1;
	int32_t other = node_at(lattice, at);
	*out_first = node >= lattice->corner_count;
	*out_edge = other < 0 ? -1
		: *out_first      ? short_edge(lattice, node, corner)
						  : short_edge(lattice, other, 7 - corner);
	return other;
}

int32_t fem_bcc_edge(const FemBccLattice *lattice, int32_t a, int32_t b, bool *out_first, bool *out_long) {
	int32_t at_a[3], at_b[3];
	fem_bcc_coordinates(lattice, a, at_a);
	fem_bcc_coordinates(lattice, b, at_b);
	int corner = 0;
	for (int axis = 0; axis < 3; axis++) {
		int32_t step = at_b[axis] - at_a[axis];
		if (step == 2 || step == -2) {
			*out_long = true;
			*out_first = step > 0;
			return long_edge(step > 0 ? a : b, axis);
		}
		corner |= (step > 0) << axis;
	}
	FEM_ASSERT((a >= lattice->corner_count) != (b >= lattice->corner_count)); // a short edge has one centre
	*out_long = false;
	*out_first = a >= lattice->corner_count;
	return *out_first ? short_edge(lattice, a, corner) : short_edge(lattice, b, 7 - corner);
}

// ---- create

static size_t place(FemBccLattice *lattice, char *base) {
	FemCarver carver = {.base = base};
	lattice->nodes = FEM_CARVE(&carver, FemVec3d, lattice->node_count);
	lattice->signs = FEM_CARVE(&carver, int8_t, lattice->node_count);
	lattice->node_ids = FEM_CARVE(&carver, int32_t, lattice->node_count);
	lattice->cuts = FEM_CARVE(&carver, float, lattice->edge_count);
	lattice->cut_ids = FEM_CARVE(&carver, int32_t, lattice->edge_count);
	return carver.used;
}

static bool choose_cells(
	FemBccLattice *lattice, const FemSolid *solid, const double cell[3], bool fitted, double shift) {
	static const double shares[3] = {0.5, 0.31, 0.19}; // of the shift, by axis: chosen without a common measure
	double total = 1.0;
	for (int axis = 0; axis < 3; axis++) {
		double extent = 2.0 * (solid->half_extents[axis] + solid->inflation);
		double whole = fitted ? fmax(1.0, floor(extent / cell[axis] + 0.5)) : ceil(extent / cell[axis]) + (shift > 0.0);
		total *= whole + 2.0;
		if (!(total < CELL_MAX))
			return false;
		lattice->cells[axis] = (int32_t)whole + 2;
		lattice->cell[axis] = fitted ? extent / whole : cell[axis];
		lattice->origin[axis] = -0.5 * lattice->cell[axis] * lattice->cells[axis];
		lattice->origin[axis] += fitted ? 0.0 : shift * shares[axis] * cell[axis];
	}
	lattice->corner_count = (lattice->cells[0] + 1) * (lattice->cells[1] + 1) * (lattice->cells[2] + 1);
	lattice->node_count = lattice->corner_count + lattice->cells[0] * lattice->cells[1] * lattice->cells[2];
	lattice->edge_count = 3 * lattice->node_count + 8 * (lattice->node_count - lattice->corner_count);
	return true;
}

// Places the nodes and tells inside from outside; false when the bake is to stop.
static bool fill_nodes(FemBccLattice *lattice, const FemSolid *solid) {
	for (int32_t n = 0; n < lattice->node_count; n++) {
		int32_t at[3];
		if (fem_stop_asked())
			return false;
		fem_bcc_coordinates(lattice, n, at);
		lattice->nodes[n] = (FemVec3d){lattice->origin[0] + 0.5 * lattice->cell[0] * at[0],
			lattice->origin[1] + 0.5 * lattice->cell[1] * at[1], lattice->origin[2] + 0.5 * lattice->cell[2] * at[2]};
		lattice->signs[n] = fem_solid_inside(solid, lattice->nodes[n]) ? 1 : -1;
		lattice->node_ids[n] = -1;
	}
	for (int32_t e = 0; e < lattice->edge_count; e++) {
		lattice->cuts[e] = -1.0f;
		lattice->cut_ids[e] = -1;
	}
	return true;
}

// Finds where edges from inside to outside leave the solid; false when the bake is to stop.
static bool fill_cuts(FemBccLattice *lattice, const FemSolid *solid) {
	for (int32_t n = 0; n < lattice->node_count; n++) {
		if (lattice->signs[n] < 0)
			continue;
		for (int which = 0; which < FEM_BCC_NEIGHBORS; which++) {
			int32_t edge;
			bool first;
			int32_t other = fem_bcc_neighbor(lattice, n, which, &edge, &first);
			if (other < 0 || lattice->signs[other] > 0)
				continue;
			if (fem_stop_asked())
				return false;
			float t = (float)fem_solid_exit(solid, lattice->nodes[n], lattice->nodes[other]);
			FEM_ASSERT_INDEX(edge, lattice->edge_count);
			FEM_ASSERT(t >= 0.0f && t <= 1.0f && lattice->cuts[edge] < 0.0f); // from its inner end only
			lattice->cuts[edge] = first ? t : 1.0f - t;
		}
	}
	return true;
}

FemResult fem_bcc_create(
	FemBccLattice *lattice, const FemSolid *solid, const double cell[3], bool fitted, double shift) {
	*lattice = (FemBccLattice){0};
	if (!choose_cells(lattice, solid, cell, fitted, shift))
		return fem_fail(
			FEM_ERROR_LIMIT, "The lattice would need more than %d cells: ask for fewer elements.", CELL_MAX);
	lattice->bytes = place(lattice, NULL);
	lattice->block = fem_alloc(lattice->bytes);
	if (!lattice->block)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the lattice: ask for fewer elements.");
	size_t placed = place(lattice, lattice->block);
	FEM_ASSERT(placed == lattice->bytes);
	return fill_nodes(lattice, solid) && fill_cuts(lattice, solid) ? FEM_OK : fem_fail_stopped();
}

void fem_bcc_free(FemBccLattice *lattice) {
	fem_free(lattice->block, lattice->bytes);
	*lattice = (FemBccLattice){0};
}
