#include "modes/mode_matrix.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/union_find.h"
#include "dynamics/plate_stiffness.h"
#include "dynamics/sparse_cholesky.h"
#include "fem_constants.h"
#include "islands/metis_partition.h"
#include "topology/tet_mesh.h"

#include <math.h>
#include <string.h>

#define SIDES FEM_SOLVE_SIDES // columns of every vector

// ---- def

static FemResult check_material(const FemModeMaterial *material, int32_t region) {
	bool good = material->young_modulus > 0.0f && material->young_modulus <= 1e15f && material->poisson_ratio >= 0.0f &&
		material->poisson_ratio <= 0.49f && material->density > 0.0f && material->density <= 1e6f;
	return good
		? FEM_OK
		: fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			  "Modes need a material with a Young's modulus above 0 Pa, a Poisson's ratio of 0..0.49 and a density "
			  "above 0 kg/m^3; that of region %d has %g, %g and %g.",
			  region, (double)material->young_modulus, (double)material->poisson_ratio, (double)material->density);
}

FemResult fem_modes_check(const FemModesDef *def) {
	if (!def || !def->materials || def->material_count < 1)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "Modes need a material: set materials and material_count.");
	for (int32_t i = 0; i < def->material_count; i++) {
		FemResult result = check_material(&def->materials[i], i);
		if (result != FEM_OK)
			return result;
	}
	if (def->mode_count < 1 || def->mode_count > FEM_MODES_MAX || !(def->frequency_max >= 0.0f))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"Modes: mode_count is 1..%d and frequency_max 0 Hz or more; they are %d and %g.", FEM_MODES_MAX,
			def->mode_count, (double)def->frequency_max);
	FemMeshDef mesh = fem_default_mesh_def();
	mesh.node_count = def->node_count;
	mesh.node_positions = def->node_positions;
	mesh.tet_count = def->tet_count;
	mesh.tets = def->tets;
	mesh.tet_regions = def->tet_regions;
	mesh.tet_plates = def->tet_plates;
	return fem_tet_mesh_check(&mesh);
}

static const FemModeMaterial *material_of(const FemModesDef *def, int32_t tet) {
	int32_t region = def->tet_regions ? def->tet_regions[tet] : 0;
	return &def->materials[region < def->material_count ? region : def->material_count - 1];
}

// ---- assembly

typedef struct Assembly {
	FemModeMatrix *matrix;
	const FemModesDef *def;
	int32_t *tets; // oriented
	FemPlateCells cells;
	uint8_t *in_cell; // [tet]
} Assembly;

static bool begin(Assembly *a) {
	FemModeMatrix *m = a->matrix;
	const FemModesDef *def = a->def;
	m->user_count = def->node_count;
	m->free_of_user = FEM_ALLOC_ARRAY(int32_t, def->node_count);
	m->user_of_free = FEM_ALLOC_ARRAY(int32_t, def->node_count);
	m->component = FEM_ALLOC_ARRAY(int32_t, def->node_count);
	m->mass = FEM_ALLOC_ARRAY(double, def->node_count);
	m->root_mass = FEM_ALLOC_ARRAY(double, def->node_count);
	a->tets = FEM_ALLOC_ARRAY(int32_t, 4 * (int64_t)def->tet_count);
	a->in_cell = FEM_ALLOC_ARRAY(uint8_t, def->tet_count);
	return m->free_of_user && m->user_of_free && m->component && m->mass && m->root_mass && a->tets && a->in_cell;
}

static void number_nodes(Assembly *a) {
	FemModeMatrix *m = a->matrix;
	const FemModesDef *def = a->def;
	for (int32_t i = 0; i < def->node_count; i++) {
		bool pinned = def->pinned_nodes && def->pinned_nodes[i];
		m->free_of_user[i] = pinned ? -1 : m->node_count;
		m->component[i] = i;
		if (!pinned)
			m->user_of_free[m->node_count++] = i;
	}
	memcpy(a->tets, def->tets, sizeof *a->tets * 4 * (size_t)def->tet_count);
	for (int32_t t = 0; t < def->tet_count; t++) {
		int32_t *tet = a->tets + 4 * (size_t)t;
		fem_tet_orient(def->node_positions, tet);
		for (int v = 1; v < 4; v++)
			fem_union_join(m->component, tet[0], tet[v]);
	}
	for (int32_t i = 0; i < def->node_count; i++)
		m->component[i] = fem_union_root(m->component, i);
}

static bool find_cells(Assembly *a) {
	const FemModesDef *def = a->def;
	if (!fem_plate_cells_find(def->node_positions, def->node_count, a->tets, def->tet_count, def->tet_plates,
			def->tet_regions, &a->cells))
		return false;
	for (int32_t i = 0; i < fem_plate_cell_count(&a->cells); i++) {
		for (int32_t k = 0; k < fem_cell_tet_count(&a->cells.cells[i]); k++)
			a->in_cell[a->cells.cells[i].tets[k]] = 1;
	}
	return true;
}

// The pattern in free numbers: a pinned node's place is taken by a free one of the same quadruple, if there is any.
static bool make_graph(Assembly *a) {
	FemModeMatrix *m = a->matrix;
	int32_t count, kept = 0;
	int32_t *pattern = fem_plate_cells_pattern(&a->cells, a->tets, a->def->tet_count, &count);
	if (!pattern)
		return false;
	for (int32_t q = 0; q < count; q++) {
		int32_t nodes[4], any = -1;
		for (int v = 0; v < 4; v++) {
			nodes[v] = m->free_of_user[pattern[4 * (size_t)q + (size_t)v]];
			any = nodes[v] >= 0 ? nodes[v] : any;
		}
		for (int v = 0; any >= 0 && v < 4; v++)
			pattern[4 * (size_t)kept + (size_t)v] = nodes[v] >= 0 ? nodes[v] : any;
		kept += any >= 0;
	}
	bool good = fem_node_graph_create(&m->graph, m->node_count, pattern, kept);
	FEM_FREE_ARRAY(pattern, 4 * (size_t)count);
	m->diagonal = good ? fem_alloc(sizeof *m->diagonal * ((size_t)m->node_count + 1)) : NULL;
	m->blocks = good ? fem_alloc(sizeof *m->blocks * ((size_t)m->graph.row_start[m->node_count] + 1)) : NULL;
	return m->diagonal && m->blocks;
}

// The block that couples two user nodes, or null when one is pinned.
static double *block_of(FemModeMatrix *m, int32_t user_row, int32_t user_column) {
	int32_t row = m->free_of_user[user_row], column = m->free_of_user[user_column];
	if (row < 0 || column < 0)
		return NULL;
	if (row == column)
		return m->diagonal[row];
	return m->blocks[fem_graph_entry(m->graph.row_start, m->graph.column, row, column)];
}

// K_ij = V (lambda g_i g_j^T + mu g_j g_i^T + mu g_i.g_j 1).
static void add_tet_stiffness(
	FemModeMatrix *m, const int32_t *tet, const FemTetShape *shape, const FemModeMaterial *e) {
	double young = (double)e->young_modulus, nu = (double)e->poisson_ratio;
	double lambda = young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)) * shape->volume;
	double mu = young / (2.0 * (1.0 + nu)) * shape->volume;
	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < 4; j++) {
			double *block = block_of(m, tet[i], tet[j]);
			const double *gi = shape->gradient[i], *gj = shape->gradient[j];
			double dot = gi[0] * gj[0] + gi[1] * gj[1] + gi[2] * gj[2];
			for (int k = 0; block && k < 9; k++)
				block[k] += lambda * gi[k / 3] * gj[k % 3] + mu * gj[k / 3] * gi[k % 3] + (k % 4 == 0 ? mu * dot : 0.0);
		}
	}
}

static FemResult add_tets(Assembly *a) {
	const FemVec3 unit = {1.0f, 1.0f, 1.0f};
	for (int32_t t = 0; t < a->def->tet_count; t++) {
		const int32_t *tet = a->tets + 4 * (size_t)t;
		const FemModeMaterial *material = material_of(a->def, t);
		FemTetShape shape;
		if (!fem_tet_shape(a->def->node_positions, tet, unit, &shape))
			return fem_fail(FEM_ERROR_MESH, "Tet %d has no volume: bake the mesh again.", t);
		for (int v = 0; v < 4; v++)
			a->matrix->mass[tet[v]] += 0.25 * (double)material->density * shape.volume;
		if (!a->in_cell[t])
			add_tet_stiffness(a->matrix, tet, &shape, material);
	}
	return FEM_OK;
}

static void add_cell(Assembly *a, const FemPlateCell *cell, const FemModeMaterial *e) {
	FemPlateMaterial material = {
		.young_modulus = (double)e->young_modulus, .poisson_ratio = (double)e->poisson_ratio, .spring_share = 1.0};
	double corners[FEM_CELL_CORNERS][3], k[24][24];
	int columns = fem_cell_column_count(cell);
	int32_t nodes[FEM_CELL_CORNERS];
	for (int c = 0; c < 2 * columns; c++) {
		nodes[c] = a->tets[cell->corners[c]];
		FemVec3 p = a->def->node_positions[nodes[c]];
		corners[c][0] = (double)p.x, corners[c][1] = (double)p.y, corners[c][2] = (double)p.z;
	}
	if (!fem_plate_stiffness(corners, columns, &material, k)) {
		for (int32_t t = 0; t < fem_cell_tet_count(cell); t++)
			a->in_cell[cell->tets[t]] = 0; // its tets are by themselves
		return;
	}
	for (int i = 0; i < 2 * columns; i++) {
		for (int j = 0; j < 2 * columns; j++) {
			double *block = block_of(a->matrix, nodes[i], nodes[j]);
			for (int n = 0; block && n < 9; n++)
				block[n] += k[3 * i + n / 3][3 * j + n % 3];
		}
	}
}

static void scale_by_mass(FemModeMatrix *m) {
	for (int32_t i = 0; i < m->node_count; i++)
		m->root_mass[i] = sqrt(m->mass[m->user_of_free[i]]);
	for (int32_t i = 0; i < m->node_count; i++) {
		for (int k = 0; k < 9; k++)
			m->diagonal[i][k] /= m->root_mass[i] * m->root_mass[i];
		for (int k = 0; k < 9; k += 4)
			m->largest = m->diagonal[i][k] > m->largest ? m->diagonal[i][k] : m->largest;
		for (int32_t e = m->graph.row_start[i]; e < m->graph.row_start[i + 1]; e++) {
			for (int k = 0; k < 9; k++)
				m->blocks[e][k] /= m->root_mass[i] * m->root_mass[m->graph.column[e]];
		}
	}
}

FemResult fem_mode_matrix_create(FemModeMatrix *matrix, const FemModesDef *def) {
	*matrix = (FemModeMatrix){0};
	Assembly a = {.matrix = matrix, .def = def};
	bool good = begin(&a);
	if (good) {
		number_nodes(&a);
		good = find_cells(&a) && (matrix->node_count == 0 || make_graph(&a));
	}
	FemResult result =
		good ? FEM_OK : fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for modes: close other programs.");
	if (result == FEM_OK && matrix->node_count > 0) {
		for (int32_t i = 0; i < fem_plate_cell_count(&a.cells); i++)
			add_cell(&a, &a.cells.cells[i], material_of(def, a.cells.cells[i].tets[0]));
		result = add_tets(&a);
		scale_by_mass(matrix);
	}
	fem_plate_cells_free(&a.cells);
	FEM_FREE_ARRAY(a.tets, 4 * (int64_t)def->tet_count);
	FEM_FREE_ARRAY(a.in_cell, def->tet_count);
	if (result != FEM_OK)
		fem_mode_matrix_free(matrix);
	return result;
}

void fem_mode_matrix_free(FemModeMatrix *m) {
	if (m->blocks)
		FEM_FREE_ARRAY(m->blocks, m->graph.row_start[m->node_count] + 1);
	if (m->diagonal)
		FEM_FREE_ARRAY(m->diagonal, m->node_count + 1);
	fem_node_graph_free(&m->graph);
	FEM_FREE_ARRAY(m->free_of_user, m->user_count);
	FEM_FREE_ARRAY(m->user_of_free, m->user_count);
	FEM_FREE_ARRAY(m->component, m->user_count);
	FEM_FREE_ARRAY(m->mass, m->user_count);
	FEM_FREE_ARRAY(m->root_mass, m->user_count);
	*m = (FemModeMatrix){0};
}

// ---- use

FemDoubleCholesky *fem_mode_matrix_factor(const FemModeMatrix *m, double shift) {
	int32_t n = m->node_count, *order = FEM_ALLOC_ARRAY(int32_t, 2 * (int64_t)n);
	FemDoubleCholesky *factor = NULL;
	for (int32_t i = 0; i < n; i++) {
		for (int k = 0; k < 9; k += 4)
			m->diagonal[i][k] += shift;
	}
	if (order && fem_metis_order(n, m->graph.row_start, m->graph.column, NULL, order, order + n) == FEM_OK)
		factor = fem_double_cholesky_create(n, m->graph.row_start, m->graph.column, order, m->diagonal, m->blocks);
	for (int32_t i = 0; i < n; i++) {
		for (int k = 0; k < 9; k += 4)
			m->diagonal[i][k] -= shift;
	}
	FEM_FREE_ARRAY(order, 2 * (int64_t)n);
	return factor;
}

static void add_product(const double *block, double (*x)[SIDES], double (*y)[SIDES]) {
	for (int r = 0; r < 3; r++) {
		for (int c = 0; c < SIDES; c++)
			y[r][c] += block[3 * r] * x[0][c] + block[3 * r + 1] * x[1][c] + block[3 * r + 2] * x[2][c];
	}
}

void fem_mode_matrix_apply(const FemModeMatrix *m, double (*x)[FEM_SOLVE_SIDES], double (*y)[FEM_SOLVE_SIDES]) {
	for (int32_t i = 0; i < m->node_count; i++) {
		double(*row)[SIDES] = y + 3 * (size_t)i;
		memset(row, 0, 3 * sizeof *row);
		add_product(m->diagonal[i], x + 3 * (size_t)i, row);
		for (int32_t e = m->graph.row_start[i]; e < m->graph.row_start[i + 1]; e++)
			add_product(m->blocks[e], x + 3 * (size_t)m->graph.column[e], row);
	}
}
