#include "dynamics/plate_flow.h"

#include "base/assert.h"
#include "base/mat3.h"
#include "dynamics/elements.h"
#include "dynamics/plate_elements.h"
#include "fem_constants.h"

#include <math.h>
#include <string.h>

// Flow of less than this share of the yield strain waits: creep comes ever nearer to it, and each time costs a
// stiffness matrix. Chosen: a hundredth of the load.
#define FLOW_LEAST 0.01

// Volume of a tet of the rest shape over what it was: chosen; smaller ones would have no direction to push back.
#define VOLUME_LEAST 0.1

// Norm of the plastic strain of a tet, most of it shear, as columns lean where a cell is bent: chosen, some 0.6 rad to
// either side. Cells of 1.7 had no stable stiffness: pieces of a crumpled sheet came to 1e10 J.
#define STRAIN_MOST 0.5

#define HALVINGS 3 // of a flow that goes beyond it; chosen

static bool has_flowed(const FemBody *body, const FemPlateCell *cell) {
	bool any = false;
	for (int32_t k = 0; k < fem_cell_tet_count(cell); k++) {
		for (int i = 0; i < 6; i++)
			any |= body->plastics[cell->tets[k] / FEM_LANES].strain[i][cell->tets[k] % FEM_LANES] != 0.0f;
	}
	return any;
}

// ---- from the strains of the tets to the shape of the cell

// (I + e^P) x
static void stretch(const FemBatchPlastic *plastic, int32_t lane, const double x[3], double out[3]) {
	double p[6];
	for (int i = 0; i < 6; i++)
		p[i] = (double)plastic->strain[i][lane];
	out[0] = (1.0 + p[0]) * x[0] + p[3] * x[1] + p[5] * x[2];
	out[1] = p[3] * x[0] + (1.0 + p[1]) * x[1] + p[4] * x[2];
	out[2] = p[5] * x[0] + p[4] * x[1] + (1.0 + p[2]) * x[2];
}

// Unit axes of a triangle, row by row: its first edge, square to that in its plane, the normal.
static void triangle_axes(const double a[3], const double b[3], const double c[3], double out[3][3]) {
	double e[3], f[3], length = 0.0, along = 0.0, height = 0.0;
	for (int i = 0; i < 3; i++) {
		e[i] = b[i] - a[i];
		f[i] = c[i] - a[i];
		length += e[i] * e[i];
		along += e[i] * f[i];
	}
	for (int i = 0; i < 3; i++) {
		out[0][i] = e[i] / sqrt(length);
		f[i] -= along / length * e[i];
		height += f[i] * f[i];
	}
	for (int i = 0; i < 3; i++)
		out[1][i] = f[i] / sqrt(height);
	for (int i = 0; i < 3; i++)
		out[2][i] = out[0][(i + 1) % 3] * out[1][(i + 2) % 3] - out[0][(i + 2) % 3] * out[1][(i + 1) % 3];
}

// The corner of a tet that is not placed yet, once the other three are: they say how the tet lies.
static void place_corner(double own[4][3], double *const at[4], int missing) {
	int a = (missing + 1) % 4, b = (missing + 2) % 4, c = (missing + 3) % 4;
	double from[3][3], to[3][3];
	triangle_axes(own[a], own[b], own[c], from);
	triangle_axes(at[a], at[b], at[c], to);
	for (int i = 0; i < 3; i++)
		at[missing][i] = at[a][i];
	for (int k = 0; k < 3; k++) {
		double along = 0.0;
		for (int i = 0; i < 3; i++)
			along += from[k][i] * (own[missing][i] - own[a][i]);
		for (int i = 0; i < 3; i++)
			at[missing][i] += along * to[k][i];
	}
}

// Places what can be placed of a tet; true when all of it is.
static bool place_tet(const FemBody *body, const FemPlateCell *cell, int32_t k, double rest[FEM_CELL_CORNERS][3],
	uint32_t *placed, double out[FEM_CELL_CORNERS][3]) {
	int32_t tet = cell->tets[k];
	double own[4][3], *at[4];
	int count = 0, missing = 0;
	for (int v = 0; v < 4; v++) {
		int corner = cell->place[k][v];
		bool is_placed = *placed >> corner & 1;
		stretch(&body->plastics[tet / FEM_LANES], tet % FEM_LANES, rest[corner], own[v]);
		at[v] = out[corner];
		count += is_placed;
		missing = is_placed ? missing : v;
	}
	if (*placed == 0)
		for (int v = 0; v < 4; v++)
			memcpy(at[v], own[v], sizeof own[v]);
	else if (count == 3)
		place_corner(own, at, missing);
	else
		return count == 4;
	for (int v = 0; v < 4; v++)
		*placed |= 1u << cell->place[k][v];
	return true;
}

void fem_plate_rest_shape(const FemBody *body, int32_t index, double out[FEM_CELL_CORNERS][3]) {
	const FemPlateCell *cell = &body->topology->cells.cells[index];
	double rest[FEM_CELL_CORNERS][3];
	uint32_t placed = 0;
	for (int i = 0; i < FEM_CELL_CORNERS * 3; i++)
		rest[i / 3][i % 3] = (double)body->cells->rest[index].corners[i / 3][i % 3];
	memcpy(out, rest, sizeof rest);
	if (!has_flowed(body, cell))
		return;
	// Each tet but the first shares a face with one before it, if not always with the last.
	for (int32_t round = 0; round < fem_cell_tet_count(cell); round++) {
		bool is_complete = true;
		for (int32_t k = 0; k < fem_cell_tet_count(cell); k++)
			is_complete &= place_tet(body, cell, k, rest, &placed, out);
		if (is_complete)
			break;
	}
}

static void make_again(FemBody *body, int32_t cell) {
	double corners[FEM_CELL_CORNERS][3];
	fem_plate_rest_shape(body, cell, corners);
	fem_plate_element_set(body->cells, body->topology, cell, corners, &body->cells->rest[cell].material);
}

void fem_plate_cells_follow(FemBody *body, const FemBatchPlastic *before) {
	for (int32_t i = 0; body->cells && body->plastics && i < fem_plate_cell_count(&body->topology->cells); i++) {
		const FemPlateCell *cell = &body->topology->cells.cells[i];
		bool is_other = !before;
		for (int32_t k = 0; before && k < fem_cell_tet_count(cell); k++) {
			int32_t batch = cell->tets[k] / FEM_LANES, lane = cell->tets[k] % FEM_LANES;
			for (int e = 0; e < 6; e++)
				is_other |= before[batch].strain[e][lane] != body->plastics[batch].strain[e][lane];
		}
		if (is_other && body->cells->is_uniform[i])
			make_again(body, i);
	}
}

// ---- and back

// e^P = U - I of the map A = R U of a tet's undeformed shape to its new one.
static bool strain_of_tet(
	const FemPlateCell *cell, int32_t k, const FemPlateRest *rest, double corners[FEM_CELL_CORNERS][3], float out[6]) {
	double from[3][3], inverse[3][3], a[3][3] = {{0.0}}, r[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
	const uint8_t *place = cell->place[k];
	double square = 0.0;
	for (int i = 0; i < 3; i++) {
		for (int v = 0; v < 3; v++)
			from[i][v] = (double)rest->corners[place[v + 1]][i] - (double)rest->corners[place[0]][i];
	}
	if (!fem_invert3(from, inverse))
		return false;
	for (int i = 0; i < 9; i++) {
		for (int v = 0; v < 3; v++)
			a[i / 3][i % 3] += (corners[place[v + 1]][i / 3] - corners[place[0]][i / 3]) * inverse[v][i % 3];
	}
	if (!(fem_determinant3(a) > VOLUME_LEAST))
		return false;
	fem_polar_polish(a, r);
	for (int i = 0; i < 6; i++) {
		int row = i % 3, column = i < 3 ? row : (row + 1) % 3;
		double first = 0.0, second = 0.0;
		for (int j = 0; j < 3; j++) {
			first += r[j][row] * a[j][column];
			second += r[j][column] * a[j][row];
		}
		out[i] = (float)(0.5 * (first + second) - (i < 3 ? 1.0 : 0.0));
		square += (double)out[i] * (double)out[i] * (i < 3 ? 1.0 : 2.0);
	}
	return square < STRAIN_MOST * STRAIN_MOST;
}

// Tets and cell get that rest shape, or keep theirs if it is none that a cell may have.
static bool set_rest_shape(FemBody *body, int32_t index, double corners[FEM_CELL_CORNERS][3]) {
	const FemPlateCell *cell = &body->topology->cells.cells[index];
	float before[FEM_CELL_TETS][6], after[FEM_CELL_TETS][6];
	for (int32_t k = 0; k < fem_cell_tet_count(cell); k++) {
		for (int i = 0; i < 6; i++)
			before[k][i] = body->plastics[cell->tets[k] / FEM_LANES].strain[i][cell->tets[k] % FEM_LANES];
		if (!strain_of_tet(cell, k, &body->cells->rest[index], corners, after[k]))
			return false;
	}
	bool is_sound = true;
	for (int32_t k = 0; k < fem_cell_tet_count(cell); k++)
		is_sound &= fem_tet_set_plastic_strain(body, cell->tets[k], after[k]);
	if (is_sound)
		make_again(body, index);
	if (is_sound && body->cells->is_uniform[index])
		return true;
	for (int32_t k = 0; k < fem_cell_tet_count(cell); k++) {
		bool was_sound = fem_tet_set_plastic_strain(body, cell->tets[k], before[k]);
		FEM_ASSERT(was_sound);
		(void)was_sound;
	}
	make_again(body, index);
	return false;
}

// ---- flow

// How far a shape is from what the cell was before it flowed: both about their mean, the shape rotated to fit.
static void shape_change(
	const FemPlateRest *rest, int count, double corners[FEM_CELL_CORNERS][3], double out[FEM_CELL_CORNERS][3]) {
	double mean[2][3] = {{0.0}}, m[3][3] = {{0.0}}, r[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
	for (int k = 0; k < count; k++) {
		for (int i = 0; i < 3; i++) {
			mean[0][i] += (double)rest->corners[k][i] / count;
			mean[1][i] += corners[k][i] / count;
		}
	}
	for (int k = 0; k < count; k++) {
		for (int i = 0; i < 9; i++)
			m[i / 3][i % 3] +=
				(corners[k][i / 3] - mean[1][i / 3]) * ((double)rest->corners[k][i % 3] - mean[0][i % 3]);
	}
	fem_polar_polish(m, r);
	for (int k = 0; k < count; k++) {
		for (int i = 0; i < 3; i++) {
			out[k][i] = mean[0][i] - (double)rest->corners[k][i];
			for (int j = 0; j < 3; j++)
				out[k][i] += r[j][i] * (corners[k][j] - mean[1][j]);
		}
	}
}

// Norm of the plastic strain that a rest shape is.
static double plastic_size(const FemPlateRest *rest, int columns, double corners[FEM_CELL_CORNERS][3]) {
	double undeformed[FEM_CELL_CORNERS][3], change[FEM_CELL_CORNERS][3], stretch;
	for (int i = 0; i < 6 * columns; i++)
		undeformed[i / 3][i % 3] = (double)rest->corners[i / 3][i % 3];
	shape_change(rest, 2 * columns, corners, change);
	return sqrt(fem_plate_strain_square(undeformed, columns, &rest->material, change, &stretch));
}

// out = corners + share u, columns thinner by what the plane was stretched.
static void flow_by(double corners[FEM_CELL_CORNERS][3], int columns, double u[FEM_CELL_CORNERS][3], double share,
	double thinning, double out[FEM_CELL_CORNERS][3]) {
	for (int k = 0; k < 2 * columns; k++) {
		for (int i = 0; i < 3; i++) {
			double half = 0.5 * (corners[k][i] - corners[k ^ 1][i]);
			out[k][i] = corners[k][i] + share * (u[k][i] - thinning * half);
		}
	}
}

static void flow_cell(FemBody *body, int32_t index, double norm, float dt) {
	const FemPlateRest *rest = &body->cells->rest[index];
	const FemPlateMaterial *material = &rest->material;
	const float *values = fem_cell_values(body, index);
	int columns = fem_cell_column_count(&body->topology->cells.cells[index]);
	double u[FEM_CELL_CORNERS][3], corners[FEM_CELL_CORNERS][3], next[FEM_CELL_CORNERS][3], stretch;
	if (!fem_plate_deformation(body, index, u))
		return; // crushed: its strain means nothing
	for (int k = 0; k < 6 * columns; k++)
		corners[k / 3][k % 3] = (double)values[(FEM_CELL_REST + k) * FEM_LANES];
	(void)fem_plate_strain_square(corners, columns, material, u, &stretch);
	double nu = material->poisson_ratio, thinning = (material->is_deviatoric ? 1.0 : nu / (1.0 - nu)) * stretch;
	double share = fmin(material->creep_rate * (double)dt, 1.0) * (norm - material->yield_strain) / norm;
	flow_by(corners, columns, u, share, thinning, next);
	double size = plastic_size(rest, columns, next), before = plastic_size(rest, columns, corners);
	if (size > material->plastic_limit && size > before) {
		share *=
			fmax(material->plastic_limit - before, 0.0) / (size - before); // norms are convex: no more than the limit
		flow_by(corners, columns, u, share, thinning, next);
	}
	for (int tries = 0; share > 0.0 && tries <= HALVINGS && !set_rest_shape(body, index, next); tries++) {
		share *= 0.5;
		flow_by(corners, columns, u, share, thinning, next);
	}
}

void fem_plate_flow(FemBody *body, int set, FemRange cells, float dt) {
	int32_t first = set ? body->topology->cells.count[0] : 0;
	for (int32_t begin = cells.begin; begin < cells.end;) {
		int32_t batch = begin / FEM_LANES * FEM_LANES,
				end = batch + FEM_LANES < cells.end ? batch + FEM_LANES : cells.end;
		_Alignas(32) float squares[FEM_LANES];
		FemCellArguments arguments = fem_cell_arguments(body, set, (FemRange){begin, end});
		arguments.out_yield = squares;
		fem_cell_kernel(fem_simd_level())(&arguments);
		for (int32_t i = begin; i < end; i++) {
			if (!fem_cell_acts(body, first + i))
				continue;
			const FemPlateMaterial *material = &body->cells->rest[first + i].material;
			double norm = sqrt((double)squares[i - batch]);
			if (material->plastic_limit > 0.0 && norm > (1.0 + FLOW_LEAST) * material->yield_strain && norm < INFINITY)
				flow_cell(body, first + i, norm, dt);
		}
		begin = end;
	}
}
