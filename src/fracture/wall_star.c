#include "fracture/wall_star.h"

#include "base/assert.h"
#include "fracture/principal.h"
#include "model/body_step.h"
#include "model/plate_elements.h"
#include "topology/topology.h"

#include <math.h>

// Cosines of the angle between a cell and the wall at a node. Up to the first, 27 degrees, the wall counts as curved,
// as sides of cells do (docs/method.md, "Plates"); beyond, walls meet in an edge. Up to the second, 1.8 degrees, it is
// flat: nothing has to be laid flat, and at a crack tip each cell keeps its own stress. Chosen.
#define EDGE_COSINE 0.89
#define FLAT_COSINE 0.9995

#define AREA_MIN 1e-30   // m^2, and
#define VOLUME_MIN 1e-30 // m^3: keep divisions finite

static FemVec3d column_middle(const FemBody *body, const FemPlateCell *cell, int column) {
	FemVec3d ends[2];
	for (int side = 0; side < 2; side++) {
		int32_t entry = cell->corners[2 * column + side];
		FemVec4 x = body->position[fem_tet_node(body->topology, entry / 4, entry % 4)];
		ends[side] = (FemVec3d){(double)x.x, (double)x.y, (double)x.z};
	}
	return fem_vec3d_scale(fem_vec3d_add(ends[0], ends[1]), 0.5);
}

FemVec3d fem_wall_cell_normal(const FemBody *body, int32_t index) {
	const FemPlateCell *cell = &body->topology->cells.cells[index];
	FemVec3d a = column_middle(body, cell, 0), b = column_middle(body, cell, 1), c = column_middle(body, cell, 2);
	FemVec3d across =
		fem_cell_column_count(cell) == 3 ? fem_vec3d_sub(b, a) : fem_vec3d_sub(column_middle(body, cell, 3), b);
	FemVec3d normal = fem_vec3d_cross(fem_vec3d_sub(c, a), across);
	double length = sqrt(fem_vec3d_dot(normal, normal));
	return fem_vec3d_scale(normal, length > AREA_MIN ? 1.0 / length : 0.0);
}

static FemVec3d to_side_of(FemVec3d normal, FemVec3d side) {
	return fem_vec3d_dot(normal, side) < 0.0 ? fem_vec3d_scale(normal, -1.0) : normal;
}

static FemWallCell *find_cell(FemWallStar *wall, int32_t cell) {
	for (int32_t i = 0; i < wall->cell_count; i++)
		if (wall->cells[i].cell == cell)
			return &wall->cells[i];
	return NULL;
}

// False where a tet is in no acting cell, or where there are too many.
static bool gather_cells(const FemBody *body, const int32_t *star, int32_t star_count, FemWallStar *wall) {
	for (int32_t k = 0; k < star_count; k++) {
		int32_t tet = star[k] / 4, cell = fem_acting_cell(body, tet);
		FemWallCell *found = cell < 0 ? NULL : find_cell(wall, cell);
		if (cell < 0 || (!found && wall->cell_count == FEM_WALL_CELLS_MAX))
			return false;
		if (!found) {
			found = &wall->cells[wall->cell_count++];
			*found = (FemWallCell){cell, fem_cell_corner(body->topology, cell, tet, star[k] % 4), 0.0, {0.0, 0.0, 0.0}};
		}
		found->volume += (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
	}
	return true;
}

static bool find_normal(const FemBody *body, FemWallStar *wall) {
	FemVec3d sum = {0.0, 0.0, 0.0};
	double least = 1.0;
	for (int32_t i = 0; i < wall->cell_count; i++) {
		FemWallCell *cell = &wall->cells[i];
		FemVec3d normal =
			body->step->cell_normals ? body->step->cell_normals[cell->cell] : fem_wall_cell_normal(body, cell->cell);
		cell->normal = to_side_of(normal, sum);
		sum = fem_vec3d_add(sum, fem_vec3d_scale(cell->normal, cell->volume));
	}
	double length = sqrt(fem_vec3d_dot(sum, sum));
	if (!(length > 0.0))
		return false;
	wall->normal = fem_vec3d_scale(sum, 1.0 / length);
	for (int32_t i = 0; i < wall->cell_count; i++)
		least = fmin(least, fem_vec3d_dot(wall->cells[i].normal, wall->normal));
	return least > EDGE_COSINE && least < FLAT_COSINE;
}

// By the rotation of a, the cell's normal, to b, the wall's: v + w x v + w x (w x v) / (1 + a.b) with w = a x b.
static void rotate(FemVec3d a, FemVec3d b, double v[3]) {
	FemVec3d w = fem_vec3d_cross(a, b), once = fem_vec3d_cross(w, (FemVec3d){v[0], v[1], v[2]});
	FemVec3d twice = fem_vec3d_scale(fem_vec3d_cross(w, once), 1.0 / (1.0 + fem_vec3d_dot(a, b)));
	v[0] += once.x + twice.x, v[1] += once.y + twice.y, v[2] += once.z + twice.z;
}

void fem_wall_lay_flat(const FemWallStar *wall, int32_t cell, double v[3]) {
	for (int32_t i = 0; i < wall->cell_count; i++)
		if (wall->cells[i].cell == cell) {
			rotate(wall->cells[i].normal, wall->normal, v);
			return;
		}
	FEM_ASSERT(false);
}

// out += weight Q s Q^T, Q the rotation above.
static void add_rotated(FemVec3d a, FemVec3d b, const FemTetStress *s, double weight, double out[6]) {
	double xx = (double)s->normal.x, yy = (double)s->normal.y, zz = (double)s->normal.z;
	double xy = (double)s->shear.x, yz = (double)s->shear.y, zx = (double)s->shear.z;
	double half[3][3] = {{xx, xy, zx}, {xy, yy, yz}, {zx, yz, zz}}, whole[3][3]; // rows of s Q^T; columns of Q s Q^T
	for (int i = 0; i < 3; i++)
		rotate(a, b, half[i]);
	for (int j = 0; j < 3; j++) {
		for (int i = 0; i < 3; i++)
			whole[j][i] = half[i][j];
		rotate(a, b, whole[j]);
	}
	for (int i = 0; i < 3; i++) {
		out[i] += weight * whole[i][i];
		out[i + 3] += weight * whole[i][(i + 1) % 3];
	}
}

static FemTetStress pack(const double p[6]) {
	return (FemTetStress){{(float)p[0], (float)p[1], (float)p[2], 0.0f}, {(float)p[3], (float)p[4], (float)p[5], 0.0f}};
}

// The mean by volume. Curvatures are linear in a cell at best, so that neighbours differ at the node they share by as
// much as the moment changes over a cell: in a tube of 15 cells round that becomes an ellipse single corners have 0.81
// to 1.25 of the stress of theory, their mean 0.99 to 1.07.
static void find_stress(const FemBody *body, FemWallStar *wall) {
	double sum = 0.0, mean[6] = {0}, tension[6];
	for (int32_t i = 0; i < wall->cell_count; i++) {
		const FemWallCell *cell = &wall->cells[i];
		int64_t place = fem_cell_corner_place(body->topology, cell->cell, cell->corner);
		add_rotated(cell->normal, wall->normal, body->step->cell_stress + place, cell->volume, mean);
		sum += cell->volume;
	}
	for (int i = 0; i < 6; i++)
		mean[i] /= fmax(sum, VOLUME_MIN);
	fem_tensile_part(mean, tension);
	wall->stress = pack(mean);
	wall->tension = pack(tension);
}

void fem_wall_star(const FemBody *body, const int32_t *star, int32_t star_count, FemWallStar *out) {
	out->is_curved = false;
	out->cell_count = 0;
	if (!gather_cells(body, star, star_count, out) || !find_normal(body, out))
		return;
	find_stress(body, out);
	out->is_curved = true;
}
