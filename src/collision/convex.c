#include "collision/convex.h"

#include "base/vec.h"

// ---- shared

// Volume over (edge length)^3 below which a tet has no usable faces: ten times the rounding of its floats.
#define FLAT_TET 1e-6f
// Of a hull's size: points within it of a face lie on the face; chosen: above the rounding of user's points.
#define FLAT_LAYER 1e-5
#define SAME_NORMAL 1e-6 // 1 - cos of the angle (1.4 mrad) between two faces of a hull that are one; chosen

static FemConvex start_shape(FemPosition origin, const FemVec4 *planes, const FemVec4 *vertices) {
	return (FemConvex){.origin = origin, .planes = planes, .vertices = vertices};
}

static void set_all_exterior(FemConvex *shape) {
	for (int i = 0; i < FEM_CONVEX_PLANES / 32; i++)
		shape->exterior[i] = ~0u;
}

static bool finite_position(FemPosition p) {
	return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

// Bounding box of the vertices; refuses what is not finite or too large. Comparisons are written so that NaN fails.
static bool seal(FemConvex *shape, int32_t plane_count, int32_t vertex_count) {
	FemVec3 min = fem_vec3_from(shape->vertices[0]), max = min;
	bool good = finite_position(shape->origin);
	for (int32_t i = 0; i < vertex_count; i++) {
		FemVec4 x = shape->vertices[i];
		good &= fabsf(x.x) < FEM_CONVEX_EXTENT && fabsf(x.y) < FEM_CONVEX_EXTENT && fabsf(x.z) < FEM_CONVEX_EXTENT;
		min = fem_vec3(x.x < min.x ? x.x : min.x, x.y < min.y ? x.y : min.y, x.z < min.z ? x.z : min.z);
		max = fem_vec3(x.x > max.x ? x.x : max.x, x.y > max.y ? x.y : max.y, x.z > max.z ? x.z : max.z);
	}
	shape->box_min = min;
	shape->box_max = max;
	if (!good)
		return false;
	shape->plane_count = plane_count;
	shape->vertex_count = vertex_count;
	return true;
}

// The plane through p with a normal of any length; 0 0 0 when it has none, which cuts nothing.
static FemVec4 plane_at(FemVec3 normal, FemVec3 p) {
	float length = fem_vec3_length(normal), inv = length > 0.0f ? 1.0f / length : 0.0f;
	FemVec3 n = fem_vec3_scale(normal, inv);
	return (FemVec4){n.x, n.y, n.z, fem_vec3_dot(n, p)};
}

// ---- tet

// Planes and corners are kept relative to the first corner: the differences of near numbers are exact, and three planes
// go through 0.
bool fem_convex_tet(
	FemPosition origin, const FemVec3 corners[4], uint32_t exterior, FemConvexTet *storage, FemConvex *out_shape) {
	*out_shape = start_shape(fem_position_move(origin, fem_vec3d_from(corners[0])), storage->planes, storage->vertices);
	out_shape->is_tet = true;
	FemVec3 p1 = fem_vec3_sub(corners[1], corners[0]), p2 = fem_vec3_sub(corners[2], corners[0]);
	FemVec3 p3 = fem_vec3_sub(corners[3], corners[0]), n1 = fem_vec3_cross(p3, p2);
	float six_volumes = -fem_vec3_dot(p1, n1);
	if (six_volumes < 0.0f) {
		FemVec3 swapped = p2;
		p2 = p3;
		p3 = swapped;
		n1 = fem_vec3_scale(n1, -1.0f);
		exterior = (exterior & 3) | (exterior >> 1 & 4) | (exterior << 1 & 8);
	}
	FemVec3 e2 = fem_vec3_sub(p2, p1), e3 = fem_vec3_sub(p3, p1), zero = fem_vec3(0.0f, 0.0f, 0.0f);
	float size_sq = fem_vec3_dot(p1, p1) + fem_vec3_dot(p2, p2) + fem_vec3_dot(p3, p3);
	if (!(fabsf(six_volumes) > 6.0f * FLAT_TET * size_sq * sqrtf(size_sq)))
		return false;
	storage->vertices[0] = fem_vec4_from(zero);
	storage->vertices[1] = fem_vec4_from(p1);
	storage->vertices[2] = fem_vec4_from(p2);
	storage->vertices[3] = fem_vec4_from(p3);
	storage->planes[0] = plane_at(fem_vec3_cross(e2, e3), p1);
	storage->planes[1] = plane_at(n1, zero);
	storage->planes[2] = plane_at(fem_vec3_cross(p1, p3), zero);
	storage->planes[3] = plane_at(fem_vec3_cross(p2, p1), zero);
	out_shape->exterior[0] = exterior & 15;
	return seal(out_shape, 4, 4);
}

// ---- box

bool fem_convex_box(
	FemPosition centre, FemQuat rotation, FemVec3 half_extents, FemConvexBox *storage, FemConvex *out_shape) {
	*out_shape = start_shape(centre, storage->planes, storage->vertices);
	float half[3] = {half_extents.x, half_extents.y, half_extents.z};
	double r[3][3];
	if (!(half[0] > 0.0f && half[1] > 0.0f && half[2] > 0.0f) || !fem_quat_normalize(&rotation))
		return false;
	fem_quat_to_matrix(rotation, r);
	for (int axis = 0; axis < 3; axis++) {
		FemVec4 plane = {(float)r[0][axis], (float)r[1][axis], (float)r[2][axis], half[axis]};
		storage->planes[2 * axis] = plane;
		storage->planes[2 * axis + 1] = (FemVec4){-plane.x, -plane.y, -plane.z, half[axis]};
	}
	for (int v = 0; v < 8; v++) {
		float x[3];
		for (int axis = 0; axis < 3; axis++)
			x[axis] = v >> axis & 1 ? half[axis] : -half[axis];
		FemVec3d at = fem_matrix_apply(r, (FemVec3d){(double)x[0], (double)x[1], (double)x[2]});
		storage->vertices[v] = fem_vec4_from(fem_vec3d_to_vec3(at));
	}
	set_all_exterior(out_shape);
	return seal(out_shape, 6, 8);
}

// ---- prisms

bool fem_convex_prism(
	FemPosition origin, const FemVec3 corners[3], FemVec3 extrusion, FemConvexPrism *storage, FemConvex *out_shape) {
	*out_shape = start_shape(fem_position_move(origin, fem_vec3d_from(corners[0])), storage->planes, storage->vertices);
	FemVec3 p[3];
	for (int i = 0; i < 3; i++)
		p[i] = fem_vec3_sub(corners[i], corners[0]);
	FemVec3 normal = fem_vec3_cross(p[1], p[2]);
	float two_volumes = fem_vec3_dot(normal, extrusion), side = two_volumes > 0.0f ? -1.0f : 1.0f;
	float size_sq = fmaxf(fem_vec3_dot(p[1], p[1]), fem_vec3_dot(p[2], p[2]));
	float area_sq = fem_vec3_dot(normal, normal);
	if (!(area_sq > 1e-12f * size_sq * size_sq) || !(fabsf(two_volumes) > 1e-6f * sqrtf(area_sq * size_sq)))
		return false;
	storage->planes[0] = plane_at(fem_vec3_scale(normal, side), p[0]);
	storage->planes[1] = plane_at(fem_vec3_scale(normal, -side), extrusion);
	for (int i = 0; i < 3; i++) {
		FemVec3 edge = fem_vec3_sub(p[(i + 1) % 3], p[i]);
		storage->planes[2 + i] = plane_at(fem_vec3_scale(fem_vec3_cross(extrusion, edge), side), p[i]);
		storage->vertices[i] = fem_vec4_from(p[i]);
		storage->vertices[3 + i] = fem_vec4_from(fem_vec3_add(p[i], extrusion));
	}
	out_shape->exterior[0] = 1;
	return seal(out_shape, 5, 6);
}

bool fem_convex_triangle(
	FemPosition origin, const FemVec3 corners[3], float thickness, FemConvexPrism *storage, FemConvex *out_shape) {
	FemVec3 e1 = fem_vec3_sub(corners[1], corners[0]), e2 = fem_vec3_sub(corners[2], corners[0]);
	FemVec4 front = plane_at(fem_vec3_cross(e1, e2), corners[0]);
	return fem_convex_prism(origin, corners, fem_vec3_scale(fem_vec3_from(front), -thickness), storage, out_shape);
}

uint32_t fem_convex_cell(FemPosition origin, const FemVec3 corners[4], FemVec3 extrusion, bool flip,
	FemConvexPrism storage[2], FemConvex out_shapes[2]) {
	static const uint8_t halves[2][2][3] = {{{0, 1, 2}, {0, 2, 3}}, {{1, 2, 3}, {1, 3, 0}}};
	uint32_t good = 0;
	for (int i = 0; i < 2; i++) {
		const uint8_t *order = halves[flip][i];
		FemVec3 triangle[3] = {corners[order[0]], corners[order[1]], corners[order[2]]};
		if (fem_convex_prism(origin, triangle, extrusion, &storage[i], &out_shapes[i]))
			good |= 1u << i;
	}
	return good;
}

// ---- hull

typedef struct HullPoints {
	FemVec3d x[FEM_CONVEX_VERTICES];
	int32_t count;
	double layer; // m
	bool used[FEM_CONVEX_VERTICES];
} HullPoints;

static bool copy_points(const FemVec3 *points, int32_t count, HullPoints *hull) {
	if (count < 4 || count > FEM_CONVEX_VERTICES)
		return false;
	double size_sq = 0.0;
	*hull = (HullPoints){.count = count};
	for (int32_t i = 0; i < count; i++) {
		hull->x[i] = fem_vec3d_from(points[i]);
		FemVec3d offset = fem_vec3d_sub(hull->x[i], hull->x[0]);
		size_sq = fmax(size_sq, fem_vec3d_dot(offset, offset));
		if (!(fabs(hull->x[i].x) + fabs(hull->x[i].y) + fabs(hull->x[i].z) < (double)FEM_CONVEX_EXTENT))
			return false;
	}
	hull->layer = FLAT_LAYER * sqrt(size_sq);
	return size_sq > 0.0;
}

// Whether all points lie on one side of the plane n.x = offset; n is flipped so that they lie below. False if there are
// points on both sides, or nothing but a layer.
static bool supports(const HullPoints *hull, FemVec3d *n, double *offset) {
	double below = 0.0, above = 0.0;
	for (int32_t i = 0; i < hull->count; i++) {
		double distance = fem_vec3d_dot(*n, hull->x[i]) - *offset;
		below = fmin(below, distance);
		above = fmax(above, distance);
		if (below < -hull->layer && above > hull->layer)
			return false;
	}
	if (above > -below) {
		*n = fem_vec3d_scale(*n, -1.0);
		*offset = -*offset;
	}
	return fmax(above, -below) > hull->layer;
}

// Keeps a face that is not there yet. The offset is that of the outermost point: the hull holds all its points.
static bool keep_face(HullPoints *hull, FemVec3d n, double offset, FemConvexStorage *storage, int32_t *plane_count) {
	for (int32_t i = 0; i < *plane_count; i++)
		if (fem_vec3d_dot(fem_vec3d_from4(storage->planes[i]), n) > 1.0 - SAME_NORMAL)
			return true;
	if (*plane_count == FEM_CONVEX_PLANES)
		return false;
	double outermost = offset;
	for (int32_t i = 0; i < hull->count; i++) {
		double along = fem_vec3d_dot(n, hull->x[i]);
		outermost = fmax(outermost, along);
		hull->used[i] |= along > offset - hull->layer;
	}
	FemVec4 plane = fem_vec4_from(fem_vec3d_to_vec3(n));
	plane.w = (float)outermost;
	storage->planes[(*plane_count)++] = plane;
	return true;
}

static bool try_triple(HullPoints *hull, int32_t i, int32_t j, int32_t k, FemConvexStorage *storage, int32_t *count) {
	FemVec3d a = fem_vec3d_sub(hull->x[j], hull->x[i]), b = fem_vec3d_sub(hull->x[k], hull->x[i]);
	FemVec3d n = fem_vec3d_cross(a, b);
	double length_sq = fem_vec3d_dot(n, n), a_sq = fem_vec3d_dot(a, a), b_sq = fem_vec3d_dot(b, b);
	// the normal of a needle-shaped triple is unreliable; every face also has a triple of another shape
	if (!(length_sq > 1e-8 * a_sq * b_sq && fmin(a_sq, b_sq) > hull->layer * hull->layer))
		return true;
	n = fem_vec3d_scale(n, 1.0 / sqrt(length_sq));
	double offset = fem_vec3d_dot(n, hull->x[i]);
	return !supports(hull, &n, &offset) || keep_face(hull, n, offset, storage, count);
}

bool fem_convex_hull(const FemVec3 *points, int32_t count, FemConvexStorage *storage, FemConvex *out_shape) {
	*out_shape = start_shape((FemPosition){0.0, 0.0, 0.0}, storage->planes, storage->vertices);
	HullPoints hull;
	if (!copy_points(points, count, &hull))
		return false;
	int32_t plane_count = 0, vertex_count = 0;
	for (int32_t i = 0; i < count; i++)
		for (int32_t j = i + 1; j < count; j++)
			for (int32_t k = j + 1; k < count; k++)
				if (!try_triple(&hull, i, j, k, storage, &plane_count))
					return false;
	for (int32_t i = 0; i < count; i++)
		if (hull.used[i])
			storage->vertices[vertex_count++] = fem_vec4_from(points[i]);
	set_all_exterior(out_shape);
	return plane_count >= 4 && vertex_count >= 4 && seal(out_shape, plane_count, vertex_count);
}

bool fem_convex_place(
	const FemConvex *local, FemPosition position, FemQuat rotation, FemConvexStorage *storage, FemConvex *out_shape) {
	*out_shape = *local;
	out_shape->plane_count = 0;
	double r[3][3];
	if (!fem_quat_normalize(&rotation) || local->vertex_count == 0 || local->vertex_count > FEM_CONVEX_VERTICES)
		return false;
	fem_quat_to_matrix(rotation, r);
	out_shape->origin = fem_position_move(position, fem_matrix_apply(r, fem_position_coordinates(local->origin)));
	out_shape->planes = storage->planes;
	out_shape->vertices = storage->vertices;
	for (int32_t i = 0; i < local->plane_count; i++) {
		FemVec3d n = fem_matrix_apply(r, fem_vec3d_from4(local->planes[i]));
		storage->planes[i] = fem_vec4_from(fem_vec3d_to_vec3(n));
		storage->planes[i].w = local->planes[i].w;
	}
	for (int32_t i = 0; i < local->vertex_count; i++) {
		FemVec3d x = fem_matrix_apply(r, fem_vec3d_from4(local->vertices[i]));
		storage->vertices[i] = fem_vec4_from(fem_vec3d_to_vec3(x));
	}
	return seal(out_shape, local->plane_count, local->vertex_count);
}
