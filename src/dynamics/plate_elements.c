#include "dynamics/plate_elements.h"

#include "base/assert.h"
#include "base/carve.h"
#include "base/mat3.h"
#include "dynamics/plate_flow.h"
#include "fem_constants.h"
#include "model/body_step.h"

#include <math.h>
#include <string.h>

// ---- making

static void place(FemPlateElements *elements, const FemPlateCells *cells, FemCarver *carver) {
	for (int set = 0; set < FEM_CELL_SETS; set++) {
		size_t batches = (size_t)fem_cell_batch_count(cells, set);
		elements->values[set] = FEM_CARVE(carver, float, batches *(size_t)FEM_CELL_VALUES(set + 3) * FEM_LANES);
		elements->leaders[set] = FEM_CARVE(carver, int32_t, batches * FEM_LANES);
	}
	elements->is_uniform = FEM_CARVE(carver, uint8_t, fem_plate_cell_count(cells));
}

FemPlateElements *fem_plate_elements_create(const FemTopology *topology) {
	FemPlateElements sizes;
	FemCarver measure = {0}, carver = {0};
	fem_carve(&measure, sizeof(FemPlateElements));
	place(&sizes, &topology->cells, &measure);
	carver.base = fem_alloc(measure.used);
	if (!carver.base)
		return NULL;
	FemPlateElements *elements = fem_carve(&carver, sizeof(FemPlateElements));
	place(elements, &topology->cells, &carver);
	elements->block = carver.base;
	elements->bytes = measure.used;
	for (int set = 0, first = 0; set < FEM_CELL_SETS; first += topology->cells.count[set++]) {
		int32_t count = topology->cells.count[set];
		for (int32_t i = 0; i < fem_cell_batch_count(&topology->cells, set) * FEM_LANES; i++)
			elements->leaders[set][i] = topology->cells.cells[first + (i < count ? i : count - 1)].tets[0];
	}
	return elements;
}

void fem_plate_elements_free(FemPlateElements *elements) {
	if (!elements)
		return;
	fem_free(elements->rest, elements->rest_bytes);
	fem_free(elements->block, elements->bytes);
}

bool fem_plate_elements_yield(FemPlateElements *elements, const FemTopology *topology) {
	FEM_ASSERT(!elements->rest);
	elements->rest_bytes = sizeof(FemPlateRest) * (size_t)fem_plate_cell_count(&topology->cells);
	elements->rest = fem_alloc(elements->rest_bytes);
	return elements->rest != NULL;
}

// Gradients of the affine field nearest to the corners' values: g_k = (sum X X^T)^-1 X_k about their mean.
static bool fit_gradients(double corners[FEM_CELL_CORNERS][3], int count, double out[FEM_CELL_CORNERS][3]) {
	double mean[3] = {0.0, 0.0, 0.0}, moments[3][3] = {{0.0}}, inverse[3][3];
	for (int k = 0; k < count * 3; k++)
		mean[k % 3] += corners[k / 3][k % 3] / count;
	for (int k = 0; k < count; k++) {
		for (int i = 0; i < 9; i++)
			moments[i / 3][i % 3] += (corners[k][i / 3] - mean[i / 3]) * (corners[k][i % 3] - mean[i % 3]);
	}
	if (!fem_invert3(moments, inverse))
		return false;
	for (int k = 0; k < count; k++) {
		for (int i = 0; i < 3; i++) {
			out[k][i] = 0.0;
			for (int j = 0; j < 3; j++)
				out[k][i] += inverse[i][j] * (corners[k][j] - mean[j]);
		}
	}
	return true;
}

static void set_value(float *values, int at, double value) {
	values[at * FEM_LANES] = (float)value;
}

static bool set_triangles(
	float *values, int columns, double corners[FEM_CELL_CORNERS][3], const FemPlateMaterial *material) {
	for (int index = 0; index < FEM_CELL_TRIANGLE_COUNT(columns); index++) {
		int at = FEM_CELL_TRIANGLE(columns) + FEM_CELL_TRIANGLE_VALUES * index;
		FemPlateTriangle triangle;
		double fibres[3];
		if (!fem_plate_triangle(
				corners, columns == 3 ? fem_prism_triangles[index] : fem_hexahedron_triangles[index], &triangle))
			return false;
		for (int i = 0; i < 9; i++)
			set_value(values, at + i, triangle.axes[i / 3][i % 3]);
		for (int i = 0; i < 4; i++)
			set_value(values, at + 9 + i, triangle.edges[i / 2][i % 2]);
		set_value(values, at + 13, triangle.thickness);
		for (int i = 0; i < 3; i++)
			set_value(values, FEM_CELL_ARCS(columns) + i, columns == 3 ? triangle.arcs[i] : 0.0);
		fem_plate_fibres(material, triangle.axes, fibres);
		for (int i = 0; i < 3; i++)
			set_value(values, at + 14 + i, fibres[i]);
	}
	return true;
}

static void set_stiffness(float *values, int columns, double k[24][24]) {
	int at = FEM_CELL_STIFFNESS(columns);
	for (int i = 0; i < 2 * columns; i++) {
		for (int j = i + 1; j < 2 * columns; j++, at += 9) {
			for (int e = 0; e < 9; e++)
				set_value(values, at + e, k[3 * i + e / 3][3 * j + e % 3]);
		}
	}
}

// A lane without shape gets that of its batch's other lanes' kind all the same: 0 everywhere, whose rotation is the
// leader's and whose force is 0.
static bool fill_lane(
	float *values, int columns, double corners[FEM_CELL_CORNERS][3], const FemPlateMaterial *material) {
	double gradient[FEM_CELL_CORNERS][3] = {{0.0}}, stiffness[24][24], nu = material->poisson_ratio, p, q;
	if (!fit_gradients(corners, 2 * columns, gradient) || !fem_plate_stiffness(corners, columns, material, stiffness) ||
		!set_triangles(values, columns, corners, material))
		return false;
	for (int k = 0; k < 6 * columns; k++) {
		set_value(values, FEM_CELL_REST + k, corners[k / 3][k % 3] - corners[0][k % 3]);
		set_value(values, FEM_CELL_GRADIENT(columns) + k, gradient[k / 3][k % 3]);
	}
	set_value(values, FEM_CELL_DAMPING(columns), material->damping);
	set_value(values, FEM_CELL_MODULUS(columns), material->young_modulus / (1.0 - nu * nu));
	set_value(values, FEM_CELL_POISSON(columns), nu);
	fem_plate_yield_form(material, &p, &q);
	set_value(values, FEM_CELL_YIELD(columns), p);
	set_value(values, FEM_CELL_YIELD(columns) + 1, q);
	set_stiffness(values, columns, stiffness);
	return true;
}

static float *values_of(const FemPlateElements *elements, const FemTopology *topology, int32_t cell) {
	int set = cell < topology->cells.count[0] ? 0 : 1;
	int32_t index = cell - (set ? topology->cells.count[0] : 0);
	return elements->values[set] + (size_t)(index / FEM_LANES) * (size_t)FEM_CELL_VALUES(set + 3) * FEM_LANES +
		index % FEM_LANES;
}

const float *fem_cell_values(const FemBody *body, int32_t cell) {
	return values_of(body->cells, body->topology, cell);
}

void fem_plate_element_set(FemPlateElements *elements, const FemTopology *topology, int32_t cell,
	double corners[FEM_CELL_CORNERS][3], const FemPlateMaterial *material) {
	int set = cell < topology->cells.count[0] ? 0 : 1, columns = set + 3;
	elements->is_uniform[cell] = material && fill_lane(values_of(elements, topology, cell), columns, corners, material);
}

// ---- stage

FemCellKernel *fem_cell_kernel(FemSimdLevel level) {
	switch (level) {
#ifndef FEM_NO_AVX2
	case FEM_SIMD_AVX2: return fem_cells_update_avx2;
#endif
	case FEM_SIMD_SCALAR: return fem_cells_update_scalar;
	default: return fem_cells_update_sse2;
	}
}

// The first cell of a set whose lowest tet is not before this one.
static int32_t first_cell_from(const FemPlateCells *cells, int set, int32_t tet) {
	int32_t first = set ? cells->count[0] : 0, low = 0, high = cells->count[set];
	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		if (cells->cells[first + middle].tets[0] < tet)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Forces go into the place of one of the tets that have a corner, the others' are 0; blocks of the tets count no more.
static void take_over(FemBody *body, int32_t index, const FemVec4 *forces) {
	const FemPlateCell *cell = &body->topology->cells.cells[index];
	FemBodyStep *step = body->step;
	for (int32_t k = 0; k < fem_cell_tet_count(cell); k++) {
		int32_t tet = cell->tets[k];
		for (int v = 0; v < 4; v++) {
			bool reads = cell->corners[cell->place[k][v]] == 4 * tet + v;
			step->tet_forces[tet].force[v] = reads ? forces[cell->place[k][v]] : (FemVec4){0.0f, 0.0f, 0.0f, 0.0f};
		}
		step->tet_blocks[tet].gradient[0].w = step->tet_blocks[tet].gradient[1].w = 0.0f;
		if (step->tet_plates)
			step->tet_plates[tet].normal.w = 0.0f;
	}
}

static FemVec4 scaled(FemVec4 v, float scale) {
	return (FemVec4){scale * v.x, scale * v.y, scale * v.z, v.w};
}

static void give_stress(FemBody *body, int32_t index, FemTetStress *stress) {
	const FemPlateCell *cell = &body->topology->cells.cells[index];
	float borne = body->step->cell_demands ? body->step->cell_demands[index].borne : 1.0f;
	for (int32_t corner = 0; borne < 1.0f && corner < 2 * fem_cell_column_count(cell); corner++)
		stress[corner] = (FemTetStress){scaled(stress[corner].normal, borne), scaled(stress[corner].shear, borne)};
	float tension[FEM_CELL_CORNERS];
	for (int32_t corner = 0; corner < 2 * fem_cell_column_count(cell); corner++)
		tension[corner] = fem_tension_bound(&stress[corner]);
	for (int32_t k = 0; k < fem_cell_tet_count(cell); k++) {
		int most = cell->place[k][0];
		for (int v = 1; v < 4; v++)
			most = tension[cell->place[k][v]] > tension[most] ? cell->place[k][v] : most;
		body->step->tet_stress[cell->tets[k]] = stress[most];
	}
}

FemCellArguments fem_cell_arguments(const FemBody *body, int set, FemRange cells) {
	return (FemCellArguments){
		.set = set,
		.nodes = fem_cell_batch_nodes(body->topology, set, 0),
		.leaders = body->cells->leaders[set],
		.values = body->cells->values[set],
		.rotation = body->rotation,
		.position = body->position,
		.velocity = body->velocity,
		.begin = cells.begin,
		.end = cells.end,
	};
}

static void update_set(FemBody *body, int set, FemRange cells, float dt, float viscous, bool with_stress) {
	FemBodyStep *step = body->step;
	int corners = 2 * (set + 3);
	int32_t first = set ? body->topology->cells.count[0] : 0, corners_before = 6 * first;
	FemCellArguments arguments = fem_cell_arguments(body, set, cells);
	if (body->plastics && with_stress == (body->breaking != NULL))
		fem_plate_flow(body, set, cells, dt);
	arguments.is_whole = body->own_topology ? body->topology->cell_is_whole + first : NULL;
	arguments.dt = dt;
	arguments.viscous_stress = viscous;
	arguments.out_forces = step->cell_forces + corners_before;
	// Rows are not made of the shape after the solve.
	arguments.out_blocks =
		with_stress ? NULL : step->cell_blocks + (set ? (size_t)first * FEM_CELL_BLOCK_FLOATS(3) : 0);
	arguments.out_stress = with_stress ? step->cell_stress + corners_before : NULL;
	fem_cell_kernel(fem_simd_level())(&arguments);
	for (int32_t i = cells.begin; i < cells.end; i++) {
		if (!fem_cell_acts(body, first + i))
			continue;
		take_over(body, first + i, arguments.out_forces + (size_t)i * (size_t)corners);
		if (with_stress)
			give_stress(body, first + i, arguments.out_stress + (size_t)i * (size_t)corners);
	}
}

static void update(FemBody *body, int32_t begin, int32_t end, float dt, float viscous, bool with_stress) {
	for (int set = 0; body->cells && set < FEM_CELL_SETS; set++) {
		const FemPlateCells *cells = &body->topology->cells;
		FemRange range = {first_cell_from(cells, set, begin * FEM_LANES), first_cell_from(cells, set, end * FEM_LANES)};
		if (range.begin < range.end)
			update_set(body, set, range, dt, viscous, with_stress);
	}
}

void fem_plate_elements_find_demands(FemBody *body, int32_t begin, int32_t end, bool with_stress) {
	bool flows = body->cells && body->step->cell_demands && with_stress == (body->breaking != NULL);
	for (int set = 0; flows && set < FEM_CELL_SETS; set++) {
		const FemPlateCells *cells = &body->topology->cells;
		FemRange range = {first_cell_from(cells, set, begin * FEM_LANES), first_cell_from(cells, set, end * FEM_LANES)};
		if (range.begin < range.end)
			fem_plate_find_demands(body, set, range);
	}
}

void fem_plate_elements_update(FemBody *body, int32_t batch_begin, int32_t batch_end, float dt) {
	update(body, batch_begin, batch_end, dt, 0.0f, false);
}

void fem_plate_elements_update_stress(FemBody *body, int32_t batch_begin, int32_t batch_end, float dt, bool viscous) {
	update(body, batch_begin, batch_end, dt, viscous ? 1.0f : 0.0f, true);
}

// ---- reading

// Gershgorin: no eigenvalue of M^-1 K is larger than the largest sum of |K_ij| / m_i over a row. K_ii = -sum K_ij.
double fem_plate_element_stiffness(const FemBody *body, int32_t cell, const double masses[FEM_CELL_CORNERS]) {
	const float *values = fem_cell_values(body, cell);
	int columns = fem_cell_column_count(&body->topology->cells.cells[cell]), at = FEM_CELL_STIFFNESS(columns);
	double own[FEM_CELL_CORNERS][9] = {{0.0}}, others[FEM_CELL_CORNERS][3] = {{0.0}}, largest = 0.0;
	for (int i = 0; i < 2 * columns; i++) {
		for (int j = i + 1; j < 2 * columns; j++, at += 9) {
			for (int e = 0; e < 9; e++) {
				double k = (double)values[(at + e) * FEM_LANES];
				own[i][e] -= k;
				own[j][3 * (e % 3) + e / 3] -= k;
				others[i][e / 3] += fabs(k);
				others[j][e % 3] += fabs(k);
			}
		}
	}
	for (int k = 0; k < 6 * columns; k++) {
		const double *row = &own[k / 3][3 * (k % 3)];
		largest = fmax(largest, (fabs(row[0]) + fabs(row[1]) + fabs(row[2]) + others[k / 3][k % 3]) / masses[k / 3]);
	}
	return largest;
}

// Elastic energy u.K u / 2 = 1/2 sum over i of u_i.(sum over j of K_ij (u_j - u_i)), K_ji = K_ij^T. (Pairs of
// differences alone, d.K_ij d, would do for symmetric blocks only.)
static double energy_of(const float *values, int columns, double u[FEM_CELL_CORNERS][3]) {
	double sum = 0.0;
	int at = FEM_CELL_STIFFNESS(columns);
	for (int i = 0; i < 2 * columns; i++) {
		for (int j = i + 1; j < 2 * columns; j++, at += 9) {
			for (int e = 0; e < 9; e++) {
				int a = e / 3, b = e % 3;
				sum += (double)values[(at + e) * FEM_LANES] *
					(u[i][a] * (u[j][b] - u[i][b]) - u[j][b] * (u[j][a] - u[i][a]));
			}
		}
	}
	return 0.5 * sum;
}

// The frame of a cell with its corners at x. False of a crushed one: it has the rotation of its first tet.
static bool find_frame(const FemBody *body, int32_t index, double x[FEM_CELL_CORNERS][3], double r[3][3]) {
	const FemPlateCell *cell = &body->topology->cells.cells[index];
	const float *values = fem_cell_values(body, index);
	int columns = fem_cell_column_count(cell);
	double f[3][3] = {{0.0}};
	for (int k = 0; k < 2 * columns; k++) {
		for (int i = 0; i < 9; i++)
			f[i / 3][i % 3] +=
				(x[k][i / 3] - x[0][i / 3]) * (double)values[(FEM_CELL_GRADIENT(columns) + 3 * k + i % 3) * FEM_LANES];
	}
	FemVec4 q = body->rotation[cell->tets[0]];
	fem_quat_to_matrix((FemQuat){q.x, q.y, q.z, q.w}, r);
	bool is_sound = fem_determinant3(f) >= (double)FEM_QR_VOLUME_RATIO;
	if (is_sound)
		fem_polar_polish(f, r);
	return is_sound;
}

// The displacements of corners at x in the frame r.
static void deform(const FemBody *body, int32_t index, double x[FEM_CELL_CORNERS][3], double r[3][3],
	double out[FEM_CELL_CORNERS][3]) {
	const float *values = fem_cell_values(body, index);
	for (int k = 0; k < 2 * fem_cell_column_count(&body->topology->cells.cells[index]); k++) {
		for (int i = 0; i < 3; i++) {
			out[k][i] = -(double)values[(FEM_CELL_REST + 3 * k + i) * FEM_LANES];
			for (int j = 0; j < 3; j++)
				out[k][i] += r[j][i] * (x[k][j] - x[0][j]);
		}
	}
}

bool fem_plate_deformation(const FemBody *body, int32_t index, double out[FEM_CELL_CORNERS][3]) {
	const FemPlateCell *cell = &body->topology->cells.cells[index];
	double x[FEM_CELL_CORNERS][3], r[3][3];
	for (int k = 0; k < 2 * fem_cell_column_count(cell); k++) {
		FemVec4 p = body->position[fem_tet_node(body->topology, cell->corners[k] / 4, cell->corners[k] % 4)];
		x[k][0] = (double)p.x, x[k][1] = (double)p.y, x[k][2] = (double)p.z;
	}
	bool is_sound = find_frame(body, index, x, r);
	deform(body, index, x, r, out);
	return is_sound;
}

double fem_plate_element_energy(const FemBody *body, int32_t index, double x[FEM_CELL_CORNERS][3]) {
	double r[3][3], u[FEM_CELL_CORNERS][3];
	(void)find_frame(body, index, x, r);
	deform(body, index, x, r, u);
	return energy_of(fem_cell_values(body, index), fem_cell_column_count(&body->topology->cells.cells[index]), u);
}

// The scalar kernel on one lane: the next value of it is FEM_LANES floats further.
void fem_plate_element_stress(
	const FemBody *body, int32_t cell, const FemVec4 *x, FemTetStress stress[FEM_CELL_CORNERS]) {
	const FemTopology *t = body->topology;
	int set = cell < t->cells.count[0] ? 0 : 1;
	int32_t index = cell - (set ? t->cells.count[0] : 0);
	FemCellArguments arguments = fem_cell_arguments(body, set, (FemRange){0, 1});
	arguments.nodes = fem_cell_batch_nodes(t, set, index / FEM_LANES) + index % FEM_LANES;
	arguments.leaders += index;
	arguments.values = fem_cell_values(body, cell);
	arguments.position = x;
	arguments.out_stress = stress;
	fem_cells_update_scalar(&arguments);
}

double fem_plate_element_read(const FemBody *body, int32_t cell, FemTetStress stress[FEM_CELL_CORNERS]) {
	double u[FEM_CELL_CORNERS][3];
	fem_plate_element_stress(body, cell, body->position, stress);
	(void)fem_plate_deformation(body, cell, u);
	return energy_of(fem_cell_values(body, cell), fem_cell_column_count(&body->topology->cells.cells[cell]), u);
}
