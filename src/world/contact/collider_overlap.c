// Colliders against tets: which are near, and the solid each shape is for the overlap routine.
//
// A half space is met node by node: exact, and its support is the whole outline. The item's tet is then a place in
// surface_nodes. All other shapes are clipped against the outer tets near them, triangles as prisms one by one.
#include "base/vec.h"
#include "collision/tree_walk.h"
#include "fem_colliders.h"
#include "model/body.h"
#include "world/contact/contact_stage.h"
#include "world/world.h"

#include <string.h>

static bool boxes_meet(const FemSweepBox *a, const FemSweepBox *b) {
	for (int i = 0; i < 3; i++) {
		if (a->min[i] > b->max[i] || a->max[i] < b->min[i])
			return false;
	}
	return true;
}

static FemSweepBox sub_shape_box(const FemCollider *collider, int32_t sub_shape, double r[3][3]) {
	FemSweepBox box = {{1e30, 1e30, 1e30}, {-1e30, -1e30, -1e30}};
	for (int k = 0; k < 3; k++) {
		FemVec3d local = fem_vec3d_from(collider->shape.points[collider->shape.triangles[3 * sub_shape + k]]);
		FemPosition p = fem_position_move(collider->shape_position, fem_matrix_apply(r, local));
		const double *x = &p.x;
		for (int i = 0; i < 3; i++) {
			box.min[i] = fmin(box.min[i], x[i] - (double)collider->shape.thickness);
			box.max[i] = fmax(box.max[i], x[i] + (double)collider->shape.thickness);
		}
	}
	return box;
}

// Sorts ascending. The order in which a tree lists triangles depends on where the body was when the tree was built; the
// order of contacts must not depend on that.
static void sort_numbers(int32_t *numbers, int32_t count) {
	for (int32_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
		for (int32_t i = gap; i < count; i++) {
			int32_t number = numbers[i], at = i;
			for (; at >= gap && numbers[at - gap] > number; at -= gap)
				numbers[at] = numbers[at - gap];
			numbers[at] = number;
		}
	}
}

// Adds an item for every outer tet of a METIS part of a body near a box, each once, ascending.
static void list_tets_near(
	FemWorld *world, int32_t touch_index, FemTreeSpan span, const FemSweepBox *box, int32_t sub_shape) {
	FemContactStage *stage = &world->contacts;
	const FemBody *body = world->bodies[stage->touches[touch_index].body];
	const double *origin = &body->origin.x;
	float low[3], high[3];
	for (int i = 0; i < 3; i++) {
		low[i] = (float)fmax(box->min[i] - origin[i], -1e6);
		high[i] = (float)fmin(box->max[i] - origin[i], 1e6);
	}
	int32_t found =
		fem_surface_trees_query_box(body->trees, span, low, high, stage->candidates, stage->candidate_capacity);
	if (found > stage->candidate_capacity &&
		FEM_LIST_HOLD(stage->candidates, stage->candidate_capacity, found, world->def.contact_capacity))
		fem_surface_trees_query_box(body->trees, span, low, high, stage->candidates, stage->candidate_capacity);
	stage->full |= found > stage->candidate_capacity;
	found = found < stage->candidate_capacity ? found : stage->candidate_capacity;
	for (int32_t i = 0; i < found; i++)
		stage->candidates[i] = body->topology->triangle_tets[stage->candidates[i]];
	sort_numbers(stage->candidates, found);
	for (int32_t i = 0; i < found; i++) {
		if (i == 0 || stage->candidates[i] != stage->candidates[i - 1])
			fem_contact_add_item(world, touch_index, stage->candidates[i], sub_shape);
	}
}

// A box seen from the shape, R^T (x - position), and grown by the thickness behind the triangles.
static Box4 box_in_frame(const FemCollider *collider, double r[3][3], const FemSweepBox *box) {
	const double *position = &collider->shape_position.x;
	float low[3], high[3], pad = collider->shape.thickness;
	for (int i = 0; i < 3; i++) {
		double sums[2] = {0.0, 0.0};
		for (int k = 0; k < 3; k++) {
			double a = r[k][i] * (box->min[k] - position[k]), b = r[k][i] * (box->max[k] - position[k]);
			sums[0] += fmin(a, b);
			sums[1] += fmax(a, b);
		}
		low[i] = (float)fmax(sums[0], -1e6) - pad;
		high[i] = (float)fmin(sums[1], 1e6) + pad;
	}
	return (Box4){{low[0], low[1], low[2], 0.0f}, {high[0], high[1], high[2], 0.0f}};
}

static bool visit_triangles(
	const FemCollider *collider, const FemSweepBox *near, FemVisitSubShape *visit, void *context) {
	double r[3][3];
	FemSurfaceTree tree = {.tree = collider->tree, .triangles = {0, collider->shape.triangle_count}};
	TreeWalk walk;
	fem_quat_to_matrix(collider->shape_rotation, r);
	walk_start(&walk, &tree, box_in_frame(collider, r, near));
	for (int32_t t; (t = walk_next(&walk)) >= 0;) {
		if (t >= collider->shape.triangle_count)
			continue; // a tree over a single triangle holds it twice
		FemSweepBox box = sub_shape_box(collider, t, r);
		if (boxes_meet(&box, near) && visit(context, t, &box))
			return true;
	}
	return false;
}

// ---- height fields

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

// One of the two prisms of a cell: sub_shape = 2 cell + half. Its coordinates are relative to the cell's first corner.
static bool height_field_prism(
	const FemCollider *collider, int32_t sub_shape, FemConvexPrism storage[2], FemConvex *out) {
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

static bool visit_height_field(
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

// ---- sub-shapes near a box

bool fem_collider_visit_near(
	const FemCollider *collider, const FemSweepBox *near, FemVisitSubShape *visit, void *context) {
	switch (collider->shape.type) {
	case FEM_SHAPE_TRIANGLES: return visit_triangles(collider, near, visit, context);
	case FEM_SHAPE_HEIGHT_FIELD: return visit_height_field(collider, near, visit, context);
	case FEM_SHAPE_HALF_SPACE: return false; // contact_planes.c goes over the nodes
	default: break;
	}
	FemSweepBox box = fem_collider_box(collider);
	return visit(context, 0, &box);
}

typedef struct Lister {
	FemWorld *world;
	int32_t touch;
	FemTreeSpan span;
	FemColliderSweep sweep; // 0 where only what it overlaps as it stands counts
} Lister;

static bool list_sub_shape(void *context, int32_t sub_shape, const FemSweepBox *box) {
	const Lister *lister = context;
	FemSweepBox swept = fem_collider_swept(&lister->sweep, box, 1.0f);
	list_tets_near(lister->world, lister->touch, lister->span, &swept, sub_shape);
	return false;
}

static void list_component(FemWorld *world, int32_t touch_index, int32_t component, float dt) {
	const FemTouch *touch = &world->contacts.touches[touch_index];
	const FemBody *body = world->bodies[touch->body];
	const FemCollider *collider = &world->colliders[touch->other];
	Lister lister = {.world = world, .touch = touch_index, .span = fem_surface_trees_component(body->trees, component)};
	FemSweepBox near = fem_contact_span_box(body, lister.span);
	if (touch->ahead && component < body->topology->component_count) {
		lister.sweep = fem_collider_sweep_at(world, collider, body, component, dt);
		near = fem_collider_swept(&lister.sweep, &near, -1.0f);
	}
	fem_collider_visit_near(collider, &near, list_sub_shape, &lister);
}

void fem_collider_list_items(FemWorld *world, int32_t touch_index, float dt) {
	const FemContactStage *stage = &world->contacts;
	const FemTouch *touch = &stage->touches[touch_index];
	if (fem_contact_list_few(world, touch_index))
		return;
	for (int32_t i = touch->pieces.begin; i < touch->pieces.end; i++)
		list_component(world, touch_index, stage->pieces[i].a, dt);
}

static bool prism(const FemCollider *collider, int32_t sub_shape, FemConvexPrism *storage, FemConvex *out) {
	FemVec3 corners[3];
	double r[3][3];
	fem_quat_to_matrix(collider->shape_rotation, r);
	for (int k = 0; k < 3; k++) {
		FemVec3 p = collider->shape.points[collider->shape.triangles[3 * sub_shape + k]];
		corners[k] = fem_vec3d_to_vec3(fem_matrix_apply(r, fem_vec3d_from(p)));
	}
	return fem_convex_triangle(collider->shape_position, corners, collider->shape.thickness, storage, out);
}

static void segment(const FemCollider *collider, FemPosition ends[2]) {
	FemVec3d up = fem_quat_rotate(collider->shape_rotation, (FemVec3d){0.0, (double)collider->shape.half_height, 0.0});
	ends[0] = fem_position_move(collider->shape_position, fem_vec3d_scale(up, -1.0));
	ends[1] = fem_position_move(collider->shape_position, up);
}

// Copies what the shape's own storage type holds into the common one.
static void widen(FemConvexStorage *storage, FemConvex *shape) {
	memcpy(storage->planes, shape->planes, sizeof *shape->planes * (size_t)shape->plane_count);
	memcpy(storage->vertices, shape->vertices, sizeof *shape->vertices * (size_t)shape->vertex_count);
	shape->planes = storage->planes;
	shape->vertices = storage->vertices;
}

bool fem_collider_flat_shape(
	const FemCollider *collider, int32_t sub_shape, FemConvexStorage *storage, FemConvex *out) {
	FemConvexPrism prism_storage[2];
	FemConvexBox box_storage;
	bool ok = false;
	switch (collider->shape.type) {
	case FEM_SHAPE_BOX:
		ok = fem_convex_box(
			collider->shape_position, collider->shape_rotation, collider->shape.half_extents, &box_storage, out);
		break;
	case FEM_SHAPE_CONVEX:
		ok = fem_convex_place(&collider->hull, collider->shape_position, collider->shape_rotation, storage, out);
		out->gives_normal = ok;
		return ok;
	case FEM_SHAPE_TRIANGLES: ok = prism(collider, sub_shape, &prism_storage[0], out); break;
	case FEM_SHAPE_HEIGHT_FIELD: ok = height_field_prism(collider, sub_shape, prism_storage, out); break;
	default: break;
	}
	if (ok)
		widen(storage, out);
	out->gives_normal = ok;
	return ok;
}

static bool round_shape(const FemCollider *collider, const FemConvex *tet, FemConvexStorage *storage, FemConvex *out) {
	FemPosition ends[2];
	segment(collider, ends);
	switch (collider->shape.type) {
	case FEM_SHAPE_SPHERE:
		return fem_convex_sphere(collider->shape_position, collider->shape.radius, tet, storage, out);
	case FEM_SHAPE_CAPSULE: return fem_convex_capsule(ends, collider->shape.radius, tet, storage, out);
	case FEM_SHAPE_CYLINDER: return fem_convex_cylinder(ends, collider->shape.radius, tet, storage, out);
	default: return false;
	}
}

float fem_collider_round_gap(const FemCollider *collider, const FemConvex *tet) {
	FemPosition ends[2] = {collider->shape_position, collider->shape_position};
	if (collider->shape.type == FEM_SHAPE_CAPSULE)
		segment(collider, ends);
	else if (collider->shape.type != FEM_SHAPE_SPHERE)
		return 0.0f;
	return fem_convex_round_gap(ends, collider->shape.radius, tet);
}

bool fem_collider_overlap(const FemCollider *collider, const FemConvex *tet, int32_t sub_shape, FemOverlap *out) {
	FemConvexStorage storage;
	FemConvex shape;
	bool ok =
		fem_collider_flat_shape(collider, sub_shape, &storage, &shape) || round_shape(collider, tet, &storage, &shape);
	return ok && fem_overlap(tet, &shape, out);
}

const FemConvex *fem_flat_shape(FemFlatShape *last, const FemCollider *collider, int32_t sub_shape) {
	if (last->collider != collider || last->sub_shape != sub_shape) {
		last->collider = collider;
		last->sub_shape = sub_shape;
		last->is_flat = fem_collider_flat_shape(collider, sub_shape, &last->storage, &last->convex);
	}
	return last->is_flat ? &last->convex : NULL;
}
