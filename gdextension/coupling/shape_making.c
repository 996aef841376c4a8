// From a shape's data and its place, scale included, to what the engine takes.
#include "coupling/shape_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HULL_POINTS_MAX = 40 };     // of larger hulls the outermost in so many directions: the engine tries all triples
#define LENGTH_MIN 1e-3f           // m; thinner shapes are made this thick
#define MESH_THICKNESS 0.1f        // m, behind a triangle
#define TERRAIN_THICKNESS_MIN 1.0f // m, below a height map: nothing lies beneath it
#define SKEW_MAX 1e-4              // of the axes: what is less is a plain scale

// What is left of a transform when its rotation is taken out: scale on the diagonal, shear beside it.
typedef struct Stretch {
	double m[3][3];
	double scale[3];
	bool is_plain; // no shear
} Stretch;

static Stretch take_rotation(const Affine *local, FemQuat *out_rotation) {
	Stretch out = {.is_plain = true};
	Frame frame = {{0.0, 0.0, 0.0}, affine_rotation(local)};
	Affine back = affine_inverse_of_frame(&frame), rest = affine_product(&back, local);
	*out_rotation = frame.rotation;
	memcpy(out.m, rest.m, sizeof(out.m));
	for (int i = 0; i < 3; i++) {
		out.scale[i] = fabs(rest.m[i][i]);
	}
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++) {
			out.is_plain &= i == k || fabs(rest.m[i][k]) <= SKEW_MAX * (out.scale[i] + out.scale[k]);
		}
	}
	return out;
}

static FemVec3 stretched(const Stretch *s, FemVec3 p) {
	double x = (double)p.x, y = (double)p.y, z = (double)p.z;
	return (FemVec3){
		(float)(s->m[0][0] * x + s->m[0][1] * y + s->m[0][2] * z),
		(float)(s->m[1][0] * x + s->m[1][1] * y + s->m[1][2] * z),
		(float)(s->m[2][0] * x + s->m[2][1] * y + s->m[2][2] * z),
	};
}

static float at_least(float value, float low) {
	return value > low ? value : low; // also for what is no number
}

// ---- round, boxes

static bool make_points(ShapeMade *made, const FemVec3 *points, int32_t count, const Stretch *s) {
	made->points = malloc((size_t)(count > 0 ? count : 1) * sizeof(FemVec3));
	for (int32_t i = 0; made->points && i < count; i++) {
		made->points[i] = stretched(s, points[i]);
	}
	made->def.points = made->points;
	made->def.point_count = made->points ? count : 0;
	return made->points != NULL;
}

static bool make_box(const ShapeSource *source, const Stretch *s, float margin, ShapeMade *made) {
	FemVec3 half = {source->half.x + margin, source->half.y + margin, source->half.z + margin}, corners[8];
	if (s->is_plain) {
		made->def.type = FEM_SHAPE_BOX;
		made->def.half_extents = (FemVec3){at_least(half.x * (float)s->scale[0], LENGTH_MIN),
			at_least(half.y * (float)s->scale[1], LENGTH_MIN), at_least(half.z * (float)s->scale[2], LENGTH_MIN)};
		return true;
	}
	for (int i = 0; i < 8; i++) {
		corners[i] = (FemVec3){i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z};
	}
	made->def.type = FEM_SHAPE_CONVEX;
	return make_points(made, corners, 8, s);
}

// Unevenly scaled, they stay round: as wide as the mean of the two sides, as Godot's engines have it.
static bool make_round(const ShapeSource *source, const Stretch *s, float margin, ShapeMade *made) {
	float across = 0.5f * (float)(s->scale[0] + s->scale[2]), along = (float)s->scale[1];
	bool is_capsule = source->type == GD_PHYSICS_SERVER3D_SHAPE_CAPSULE;
	if (source->type == GD_PHYSICS_SERVER3D_SHAPE_SPHERE) {
		made->def.type = FEM_SHAPE_SPHERE;
		made->def.radius =
			at_least(source->radius * (float)cbrt(s->scale[0] * s->scale[1] * s->scale[2]) + margin, LENGTH_MIN);
		return true;
	}
	made->def.radius = at_least(source->radius * across + margin, LENGTH_MIN);
	float half = 0.5f * source->height * along + margin;
	made->def.half_height = is_capsule ? half - made->def.radius : at_least(half, LENGTH_MIN);
	made->def.type = is_capsule ? FEM_SHAPE_CAPSULE : FEM_SHAPE_CYLINDER;
	if (is_capsule && !(made->def.half_height > LENGTH_MIN)) {
		made->def.type = FEM_SHAPE_SPHERE;
	}
	return true;
}

static bool make_half_space(const ShapeSource *source, const Affine *local, ShapeMade *made) {
	double normal[3],
		point[3] = {(double)(source->plane.normal.x * source->plane.d),
			(double)(source->plane.normal.y * source->plane.d), (double)(source->plane.normal.z * source->plane.d)};
	Affine linear = *local;
	linear.t[0] = linear.t[1] = linear.t[2] = 0.0;
	double n[3] = {(double)source->plane.normal.x, (double)source->plane.normal.y, (double)source->plane.normal.z};
	affine_apply(&linear, n, normal);
	affine_apply(local, point, point);
	double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
	if (!(length > 1e-6)) {
		return false;
	}
	// The shortest rotation from y to the normal; upside down, 180 degrees about x.
	FemVec3 up = {(float)(normal[0] / length), (float)(normal[1] / length), (float)(normal[2] / length)};
	float w = 1.0f + up.y, inv = w > 1e-6f ? 1.0f / sqrtf(up.z * up.z + up.x * up.x + w * w) : 0.0f;
	made->rotation = inv > 0.0f ? (FemQuat){up.z * inv, 0.0f, -up.x * inv, w * inv} : (FemQuat){1.0f, 0.0f, 0.0f, 0.0f};
	made->position = (FemVec3){(float)point[0], (float)point[1], (float)point[2]};
	made->def.type = FEM_SHAPE_HALF_SPACE;
	return true;
}

// ---- points

// Evenly spread directions (Fibonacci's spiral); of each the outermost point, none twice.
static int32_t choose_outermost(const FemVec3 *points, int32_t count, FemVec3 out[HULL_POINTS_MAX]) {
	int32_t chosen[HULL_POINTS_MAX], chosen_count = 0;
	for (int32_t d = 0; d < HULL_POINTS_MAX; d++) {
		float y = 1.0f - 2.0f * ((float)d + 0.5f) / HULL_POINTS_MAX, r = sqrtf(1.0f - y * y),
			  angle = 2.3999632f * (float)d;
		FemVec3 direction = {r * cosf(angle), y, r * sinf(angle)};
		int32_t best = 0;
		for (int32_t i = 1; i < count; i++) {
			best = vec_dot(points[i], direction) > vec_dot(points[best], direction) ? i : best;
		}
		bool is_new = true;
		for (int32_t i = 0; i < chosen_count; i++) {
			is_new &= chosen[i] != best;
		}
		if (is_new) {
			out[chosen_count] = points[best];
			chosen[chosen_count++] = best;
		}
	}
	return chosen_count;
}

static bool make_convex(const ShapeSource *source, const Stretch *s, ShapeMade *made) {
	FemVec3 chosen[HULL_POINTS_MAX];
	const FemVec3 *points = source->points;
	int32_t count = source->point_count;
	if (count > HULL_POINTS_MAX) {
		count = choose_outermost(points, count, chosen);
		points = chosen;
	}
	made->def.type = FEM_SHAPE_CONVEX;
	return count >= 4 && make_points(made, points, count, s);
}

// Each triangle has corners of its own. Triangles of a mirrored mesh are flipped.
static bool make_triangles(ShapeMade *made, int32_t count, bool is_mirrored) {
	made->triangles = malloc((size_t)(count > 0 ? count : 1) * 3 * sizeof(int32_t));
	for (int32_t i = 0; made->triangles && i < 3 * count; i++) {
		made->triangles[i] = is_mirrored && i % 3 > 0 ? i + (i % 3 == 1 ? 1 : -1) : i;
	}
	made->def.type = FEM_SHAPE_TRIANGLES;
	made->def.thickness = MESH_THICKNESS;
	made->def.triangles = made->triangles;
	made->def.triangle_count = count;
	return made->triangles && count > 0;
}

static bool make_concave(const ShapeSource *source, const Stretch *s, bool is_mirrored, ShapeMade *made) {
	int32_t count = source->point_count / 3;
	return make_points(made, source->points, 3 * count, s) && make_triangles(made, count, is_mirrored);
}

// ---- heights

static FemVec3 grid_point(const ShapeSource *source, int32_t i, int32_t k) {
	return (FemVec3){(float)i - 0.5f * (float)(source->width - 1), source->heights[k * source->width + i],
		(float)k - 0.5f * (float)(source->depth - 1)};
}

// Fields with holes, and those whose cells are no squares, as triangles; cells with a hole at a corner are left out.
static bool make_height_triangles(const ShapeSource *source, const Stretch *s, bool is_mirrored, ShapeMade *made) {
	int32_t cells = (source->width - 1) * (source->depth - 1), count = 0;
	FemVec3 *points = malloc((size_t)cells * 6 * sizeof(FemVec3));
	for (int32_t cell = 0; points && cell < cells; cell++) {
		int32_t i = cell % (source->width - 1), k = cell / (source->width - 1);
		FemVec3 a = grid_point(source, i, k), b = grid_point(source, i + 1, k), c = grid_point(source, i + 1, k + 1),
				d = grid_point(source, i, k + 1), corners[6] = {a, c, b, a, d, c};
		if (isfinite(a.y + b.y + c.y + d.y)) {
			memcpy(points + count, corners, sizeof(corners));
			count += 6;
		}
	}
	bool is_good =
		points && count > 0 && make_points(made, points, count, s) && make_triangles(made, count / 3, is_mirrored);
	free(points);
	return is_good;
}

static bool make_heights(const ShapeSource *source, const Stretch *s, bool is_mirrored, ShapeMade *made) {
	if (!source->heights) {
		return false;
	}
	double lean = fabs(s->scale[0] - s->scale[2]);
	if (source->has_holes || is_mirrored || !s->is_plain || s->m[1][1] <= 0.0 || lean > 1e-4 * s->scale[0]) {
		return make_height_triangles(source, s, is_mirrored, made);
	}
	size_t count = (size_t)source->width * (size_t)source->depth;
	made->heights = malloc(count * sizeof(float));
	for (size_t i = 0; made->heights && i < count; i++) {
		made->heights[i] = source->heights[i] * (float)s->m[1][1];
	}
	made->def.type = FEM_SHAPE_HEIGHT_FIELD;
	made->def.heights = made->heights;
	made->def.width = source->width;
	made->def.depth = source->depth;
	made->def.cell_size = (float)s->scale[0];
	made->def.thickness = at_least(made->def.cell_size, TERRAIN_THICKNESS_MIN);
	return made->heights != NULL;
}

// ---- all

bool shape_source_make(const ShapeSource *source, const Affine *local, float margin, ShapeMade *out) {
	FemColliderDef usual = fem_default_collider_def();
	*out = (ShapeMade){.def = usual.shape,
		.position = {(float)local->t[0], (float)local->t[1], (float)local->t[2]},
		.rotation = usual.rotation};
	if (!affine_is_sound(local)) {
		return false;
	}
	bool is_mirrored = affine_determinant(local) < 0.0;
	Stretch stretch = take_rotation(local, &out->rotation);
	switch (source->type) {
	case GD_PHYSICS_SERVER3D_SHAPE_WORLD_BOUNDARY: return make_half_space(source, local, out);
	case GD_PHYSICS_SERVER3D_SHAPE_SPHERE:
	case GD_PHYSICS_SERVER3D_SHAPE_CAPSULE:
	case GD_PHYSICS_SERVER3D_SHAPE_CYLINDER: return make_round(source, &stretch, margin, out);
	case GD_PHYSICS_SERVER3D_SHAPE_BOX: return make_box(source, &stretch, margin, out);
	case GD_PHYSICS_SERVER3D_SHAPE_CONVEX_POLYGON: return make_convex(source, &stretch, out);
	case GD_PHYSICS_SERVER3D_SHAPE_CONCAVE_POLYGON: return make_concave(source, &stretch, is_mirrored, out);
	case GD_PHYSICS_SERVER3D_SHAPE_HEIGHTMAP: return make_heights(source, &stretch, is_mirrored, out);
	default: return false;
	}
}

void shape_made_free(ShapeMade *made) {
	free(made->points);
	free(made->triangles);
	free(made->heights);
	made->points = NULL;
	made->triangles = NULL;
	made->heights = NULL;
}
