#include "dynamics/plate_flow.h"

#include "base/assert.h"
#include "base/mat3.h"
#include "dynamics/elements.h"
#include "dynamics/plate_elements.h"
#include "fem_constants.h"
#include "model/body_step.h"

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

#define CREASE_ROUNDS 4 // chosen: a fold through a tenth of the crease angle in a step is within 1 % of the last

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
	return sqrt(fem_plate_strain_square(undeformed, columns, &rest->material, change, 1.0, &stretch));
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

// ---- creases

// rad: by how much two columns of a cell have rotated against each other for good, the most of any two. It is the angle
// of a fold that runs through the cell, whatever its width, so that what a fold costs does not depend on the mesh.
static double fold_angle(const FemPlateRest *rest, int columns, double corners[FEM_CELL_CORNERS][3]) {
	double change[FEM_CELL_CORNERS][3], rotated[FEM_CELL_COLUMNS][3], most = 0.0;
	shape_change(rest, 2 * columns, corners, change);
	for (int k = 0; k < columns; k++) {
		double along[3], length_sq = 0.0, stretched = 0.0;
		for (int i = 0; i < 3; i++) {
			along[i] = (double)rest->corners[2 * k + 1][i] - (double)rest->corners[2 * k][i];
			rotated[k][i] = change[2 * k + 1][i] - change[2 * k][i];
			length_sq += along[i] * along[i];
			stretched += along[i] * rotated[k][i];
		}
		for (int i = 0; i < 3; i++)
			rotated[k][i] = (rotated[k][i] - stretched / length_sq * along[i]) / sqrt(length_sq);
	}
	for (int a = 0; a < columns; a++) {
		for (int b = 0; b < a; b++) {
			double x = rotated[a][0] - rotated[b][0], y = rotated[a][1] - rotated[b][1],
				   z = rotated[a][2] - rotated[b][2];
			most = fmax(most, sqrt(x * x + y * y + z * z));
		}
	}
	return 2.0 * asin(fmin(0.5 * most, 1.0));
}

static double fold_of_cell(const FemBody *body, const FemPlateCell *cell) {
	return (double)body->plastics[cell->tets[0] / FEM_LANES].fold[cell->tets[0] % FEM_LANES];
}

static void set_fold(FemBody *body, const FemPlateCell *cell, double fold) {
	for (int32_t k = 0; k < fem_cell_tet_count(cell); k++)
		body->plastics[cell->tets[k] / FEM_LANES].fold[cell->tets[k] % FEM_LANES] = (float)fold;
}

static double strength_of_fold(const FemPlateMaterial *material, double fold) {
	return 1.0 - (1.0 - material->crease_strength) * fmin(fold / material->crease_angle, 1.0);
}

static bool creases(const FemPlateMaterial *material) {
	return material->crease_strength < 1.0;
}

float fem_tet_crease(const FemBody *body, int32_t tet) {
	int32_t cell = body->plastics ? fem_acting_cell(body, tet) : -1;
	if (cell < 0 || !creases(&body->cells->rest[cell].material))
		return 1.0f;
	return (float)strength_of_fold(
		&body->cells->rest[cell].material, (double)body->plastics[tet / FEM_LANES].fold[tet % FEM_LANES]);
}

// ---- flow of a cell

// The share of u by which a cell flows that gets weaker as it folds: what is left of u is at the yield strain of the
// fold it then has. The strength falls with the share and the share grows with what the strength has lost.
static double creasing_share(const FemPlateRest *rest, int columns, double corners[FEM_CELL_CORNERS][3],
	double u[FEM_CELL_CORNERS][3], double fold, double thinning, double creep) {
	const FemPlateMaterial *material = &rest->material;
	double share = 0.0, stretch, next[FEM_CELL_CORNERS][3];
	for (int round = 0; round < CREASE_ROUNDS; round++) {
		double strength = strength_of_fold(material, fold);
		double norm =
			sqrt(fem_plate_strain_square(corners, columns, material, u, 1.0 / (strength * strength), &stretch));
		if (!(norm > (1.0 + FLOW_LEAST) * material->yield_strain))
			break; // only in the first: later ones have no more strength
		share = creep * (norm - material->yield_strain) / norm;
		flow_by(corners, columns, u, share, thinning, next);
		fold = fmax(fold, fold_angle(rest, columns, next));
	}
	return share;
}

static void flow_cell(FemBody *body, int32_t index, double norm, float dt) {
	const FemPlateRest *rest = &body->cells->rest[index];
	const FemPlateMaterial *material = &rest->material;
	const float *values = fem_cell_values(body, index);
	const FemPlateCell *cell = &body->topology->cells.cells[index];
	int columns = fem_cell_column_count(cell);
	double u[FEM_CELL_CORNERS][3], corners[FEM_CELL_CORNERS][3], next[FEM_CELL_CORNERS][3], stretch;
	if (!fem_plate_deformation(body, index, u))
		return; // crushed: its strain means nothing
	for (int k = 0; k < 6 * columns; k++)
		corners[k / 3][k % 3] = (double)values[(FEM_CELL_REST + k) * FEM_LANES];
	(void)fem_plate_strain_square(corners, columns, material, u, 1.0, &stretch);
	double nu = material->poisson_ratio, thinning = (material->is_deviatoric ? 1.0 : nu / (1.0 - nu)) * stretch;
	double creep = fmin(material->creep_rate * (double)dt, 1.0), share = creep * (norm - material->yield_strain) / norm,
		   fold = fold_of_cell(body, cell);
	if (creases(material))
		share = creasing_share(rest, columns, corners, u, fold, thinning, creep);
	flow_by(corners, columns, u, share, thinning, next);
	double size = plastic_size(rest, columns, next), before = plastic_size(rest, columns, corners);
	if (size > material->plastic_limit && size > before) {
		share *=
			fmax(material->plastic_limit - before, 0.0) / (size - before); // norms are convex: no more than the limit
		flow_by(corners, columns, u, share, thinning, next);
	}
	bool is_set = false;
	for (int tries = 0; share > 0.0 && tries <= HALVINGS && !is_set; tries++) {
		is_set = set_rest_shape(body, index, next);
		if (!is_set) {
			share *= 0.5;
			flow_by(corners, columns, u, share, thinning, next);
		}
	}
	if (is_set && creases(material))
		set_fold(body, cell, fmax(fold, fold_angle(rest, columns, next)));
}

// ---- which cells fold

// Beyond these a fold has little more to give (STRAIN_MOST) and keeps nothing beside it from folding: rad, and a share
// of the largest plastic strain; chosen.
#define FOLD_FULL 1.0
#define LIMIT_SHARE 0.95

// Share of the bending of a cell that is across to another: of what lies along a fold in cells of triangles it is a
// half, of what lies beside it at least 0.8.
#define ACROSS_SHARE 0.65

static bool has_more_to_give(const FemBody *body, int32_t index) {
	const FemPlateRest *rest = &body->cells->rest[index];
	double corners[FEM_CELL_CORNERS][3];
	fem_plate_rest_shape(body, index, corners);
	int columns = fem_cell_column_count(&body->topology->cells.cells[index]);
	return plastic_size(rest, columns, corners) < LIMIT_SHARE * rest->material.plastic_limit;
}

// Squares of what the cells of a batch are strained by, from `begin` on, which is one of `cells`. Returns where it
// ends.
static int32_t measure_batch(
	const FemBody *body, int set, FemRange cells, int32_t begin, float out_squares[FEM_LANES]) {
	int32_t next = begin / FEM_LANES * FEM_LANES + FEM_LANES, end = next < cells.end ? next : cells.end;
	FemCellArguments arguments = fem_cell_arguments(body, set, (FemRange){begin, end});
	arguments.out_yield = out_squares;
	fem_cell_kernel(fem_simd_level())(&arguments);
	return end;
}

void fem_plate_find_demands(FemBody *body, int set, FemRange cells) {
	int32_t first = set ? body->topology->cells.count[0] : 0;
	for (int32_t begin = cells.begin; begin < cells.end;) {
		_Alignas(32) float squares[FEM_LANES];
		int32_t batch = begin / FEM_LANES * FEM_LANES, end = measure_batch(body, set, cells, begin, squares);
		for (int32_t i = begin; i < end; i++) {
			const FemPlateMaterial *material = &body->cells->rest[first + i].material;
			double fold = fold_of_cell(body, &body->topology->cells.cells[first + i]);
			double yield = material->yield_strain * strength_of_fold(material, fold),
				   demand = sqrt((double)squares[i - batch]) / yield;
			bool flows = fem_cell_acts(body, first + i) && creases(material) && demand > 1.0 + FLOW_LEAST &&
				demand < INFINITY && fold < FOLD_FULL && has_more_to_give(body, first + i);
			body->step->cell_demands[first + i] = (FemCellDemand){flows ? (float)demand : 0.0f, (float)fold, 1.0f};
		}
		begin = end;
	}
}

static void centre_of_cell(const FemBody *body, int32_t index, double out[3]) {
	int corners = 2 * fem_cell_column_count(&body->topology->cells.cells[index]);
	for (int i = 0; i < 3; i++) {
		out[i] = 0.0;
		for (int k = 0; k < corners; k++)
			out[i] += (double)body->cells->rest[index].corners[k][i] / corners;
	}
}

// 1/m, [axis][direction]: how fast the columns of a cell rotate from one to the next by its elastic strain.
static void bending_of_cell(const FemBody *body, int32_t index, double out[3][3]) {
	const float *values = fem_cell_values(body, index);
	int columns = fem_cell_column_count(&body->topology->cells.cells[index]);
	double u[FEM_CELL_CORNERS][3];
	memset(out, 0, sizeof(double) * 9);
	(void)fem_plate_deformation(body, index, u);
	for (int k = 0; k < columns; k++) {
		for (int i = 0; i < 9; i++) {
			int at = FEM_CELL_GRADIENT(columns) + 6 * k + i % 3;
			double gradient = (double)values[at * FEM_LANES] + (double)values[(at + 3) * FEM_LANES];
			out[i / 3][i % 3] += (u[2 * k + 1][i / 3] - u[2 * k][i / 3]) * gradient;
		}
	}
}

// Whether the bending of a cell is across to another, not along with it.
static bool bends_towards(const FemBody *body, int32_t index, int32_t other) {
	double bending[3][3], from[3], to[3], length_sq = 0.0, along = 0.0, all = 0.0;
	bending_of_cell(body, index, bending);
	centre_of_cell(body, index, from);
	centre_of_cell(body, other, to);
	for (int i = 0; i < 3; i++)
		length_sq += (to[i] - from[i]) * (to[i] - from[i]);
	for (int i = 0; i < 3; i++) {
		double sum = 0.0;
		for (int j = 0; j < 3; j++) {
			sum += bending[i][j] * (to[j] - from[j]);
			all += bending[i][j] * bending[i][j];
		}
		along += sum * sum / length_sq;
	}
	return along > ACROSS_SHARE * all;
}

static bool folds_before(const FemBody *body, int32_t index, int32_t other) {
	const FemCellDemand *a = &body->step->cell_demands[index], *b = &body->step->cell_demands[other];
	if (!(b->demand > 0.0f) || b->fold < a->fold)
		return false;
	return b->fold > a->fold || b->demand > a->demand || (b->demand == a->demand && other < index);
}

// A step bends the cells beside a fold as far as the fold itself: all of them are beyond their yield strain when the
// step has been solved. Of those that lie across each other the one folds that has folded most, or else bends most:
// that unloads the others, which wait for what is left, and do not break in the meantime of more than they can bear.
static bool waits(const FemBody *body, int32_t index) {
	if (!body->step->cell_demands || !creases(&body->cells->rest[index].material))
		return false;
	const FemTopology *t = body->topology;
	const FemPlateCell *cell = &t->cells.cells[index];
	for (int32_t k = 0; k < fem_cell_tet_count(cell); k++) {
		for (int face = 0; face < 4; face++) {
			int32_t across = t->neighbours[4 * cell->tets[k] + face],
					other = across < 0 ? -1 : t->cell_of_tet[across / 4];
			if (other >= 0 && other != index && folds_before(body, index, other) && bends_towards(body, index, other))
				return true;
		}
	}
	return false;
}

void fem_plate_flow(FemBody *body, int set, FemRange cells, float dt) {
	int32_t first = set ? body->topology->cells.count[0] : 0;
	for (int32_t begin = cells.begin; begin < cells.end;) {
		_Alignas(32) float squares[FEM_LANES];
		int32_t batch = begin / FEM_LANES * FEM_LANES, end = measure_batch(body, set, cells, begin, squares);
		for (int32_t i = begin; i < end; i++) {
			if (!fem_cell_acts(body, first + i))
				continue;
			const FemPlateMaterial *material = &body->cells->rest[first + i].material;
			double norm = sqrt((double)squares[i - batch]), yield = material->yield_strain, least = yield;
			if (creases(material)) // at least: bending of a fold counts more than its norm
				least *= strength_of_fold(material, fold_of_cell(body, &body->topology->cells.cells[first + i]));
			if (!(material->plastic_limit > 0.0 && norm > (1.0 + FLOW_LEAST) * least && norm < INFINITY))
				continue;
			if (waits(body, first + i))
				body->step->cell_demands[first + i].borne = (float)fmin(yield / norm, 1.0);
			else
				flow_cell(body, first + i, norm, dt);
		}
		begin = end;
	}
}
