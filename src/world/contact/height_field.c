// Height fields: the cells near a box, each as two prisms that go straight down.
#include "base/vec.h"
#include "world/contact/contact_stage.h"
#include "world/world.h"

// A grid point in the collider's frame; the grid is centred on its origin.
static FemVec3d grid_point(const FemShapeDef *shape, int32_t i, int32_t k) {
	double cell = (double)shape->cell_size;
	return (FemVec3d){cell * (i - 0.5 * (shape->width - 1)), (double)shape->heights[(int64_t)k * shape->width + i],
		cell * (k - 0.5 * (shape->depth - 1))};
}

// Corners in the order of fem_convex_cell(), rotated to world axes, relative to the collider's position.
static void cell_corners(const FemCollider *collider, int32_t cell, FemVec3d out[4]) {
	static const int32_t order[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
	const FemShapeDef *shape = &collider->shape;
	int32_t i = cell % (shape->width - 1), k = cell / (shape->width - 1);
	double r[3][3];
	fem_quat_to_matrix(collider->shape_rotation, r);
	for (int c = 0; c < 4; c++)
		out[c] = fem_matrix_apply(r, grid_point(shape, i + order[c][0], k + order[c][1]));
}

static FemVec3d cell_extrusion(const FemCollider *collider) {
	return fem_quat_rotate(collider->shape_rotation, (FemVec3d){0.0, -(double)collider->shape.thickness, 0.0});
}

// Coordinates are relative to the cell's first corner.
bool fem_height_field_prism(const FemCollider *collider, int32_t sub_shape, FemConvexPrism storage[2], FemConvex *out) {
	FemVec3d world[4];
	FemVec3 corners[4];
	FemConvex halves[2];
	cell_corners(collider, sub_shape / 2, world);
	for (int c = 0; c < 4; c++)
		corners[c] = fem_vec3d_to_vec3(fem_vec3d_sub(world[c], world[0]));
	FemVec3 down = fem_vec3d_to_vec3(cell_extrusion(collider));
	uint32_t good =
		fem_convex_cell(fem_position_move(collider->shape_position, world[0]), corners, down, false, storage, halves);
	*out = halves[sub_shape & 1];
	return good >> (sub_shape & 1) & 1;
}

static FemSweepBox half_cell_box(const FemCollider *collider, const FemVec3d corners[4], int half) {
	FemSweepBox box = {{1e30, 1e30, 1e30}, {-1e30, -1e30, -1e30}};
	FemVec3d down = cell_extrusion(collider);
	for (int c = 0; c < 4; c++) {
		if (c == 3 - 2 * half)
			continue; // the corner that this half, cut along 0-2, has not
		FemPosition top = fem_position_move(collider->shape_position, corners[c]),
					bottom = fem_position_move(top, down);
		const double *x = &top.x, *y = &bottom.x;
		for (int i = 0; i < 3; i++) {
			box.min[i] = fmin(box.min[i], fmin(x[i], y[i]));
			box.max[i] = fmax(box.max[i], fmax(x[i], y[i]));
		}
	}
	return box;
}

// The grid lines below and above a box: cells [begin, end) along one axis of the field.
static FemRange cells_along(double low, double high, float cell, int32_t points) {
	double middle = 0.5 * (points - 1), last = points - 1;
	double begin = floor(low / (double)cell + middle), end = floor(high / (double)cell + middle) + 1.0;
	return (FemRange){(int32_t)fmin(fmax(begin, 0.0), last), (int32_t)fmin(fmax(end, 0.0), last)};
}

static bool boxes_meet(const FemSweepBox *a, const FemSweepBox *b) {
	for (int i = 0; i < 3; i++) {
		if (a->min[i] > b->max[i] || a->max[i] < b->min[i])
			return false;
	}
	return true;
}

bool fem_height_field_visit_near(
	const FemCollider *collider, const FemSweepBox *near, FemVisitSubShape *visit, void *context) {
	const FemShapeDef *shape = &collider->shape;
	double r[3][3], low[3], high[3];
	const double *position = &collider->shape_position.x;
	fem_quat_to_matrix(collider->shape_rotation, r);
	for (int i = 0; i < 3; i++) { // the box seen from the field: R^T (x - position)
		low[i] = high[i] = 0.0;
		for (int k = 0; k < 3; k++) {
			double a = r[k][i] * (near->min[k] - position[k]), b = r[k][i] * (near->max[k] - position[k]);
			low[i] += fmin(a, b);
			high[i] += fmax(a, b);
		}
	}
	FemRange x = cells_along(low[0], high[0], shape->cell_size, shape->width);
	FemRange z = cells_along(low[2], high[2], shape->cell_size, shape->depth);
	for (int32_t k = z.begin; k < z.end; k++) {
		for (int32_t i = x.begin; i < x.end; i++) {
			int32_t cell = k * (shape->width - 1) + i;
			FemVec3d corners[4];
			cell_corners(collider, cell, corners);
			for (int half = 0; half < 2; half++) {
				FemSweepBox box = half_cell_box(collider, corners, half);
				if (boxes_meet(&box, near) && visit(context, 2 * cell + half, &box))
					return true;
			}
		}
	}
	return false;
}
