// Whether a collider can be made as its def says.
#include "base/vec.h"
#include "world/api/checks.h"
#include "world/api/colliders.h"
#include "world/api/cookies.h"
#include "world/world.h"

#define SHAPE_MIN 1e-4f     // m: thinner shapes cannot be told from nothing in float
#define SHAPE_MAX 1e5f      // m: at 100 km a float tells 8 mm; larger floors are half spaces
#define COUNT_MAX (1 << 24) // points, triangles; chosen: more would only be a slip

static bool is_length(float value) {
	return value >= SHAPE_MIN && value <= SHAPE_MAX;
}

static FemResult check_points(const FemShapeDef *shape) {
	int32_t least = shape->type == FEM_SHAPE_CONVEX ? 4 : 3,
			most = shape->type == FEM_SHAPE_CONVEX ? FEM_CONVEX_VERTICES : COUNT_MAX;
	if (!shape->points || shape->point_count < least || shape->point_count > most)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The shape has %d points: give %d to %d.",
			shape->points ? shape->point_count : 0, least, most);
	for (int32_t i = 0; i < shape->point_count; i++) {
		FemVec3 p = shape->points[i];
		if (!fem_vec3_is_finite(p) || fabsf(p.x) > SHAPE_MAX || fabsf(p.y) > SHAPE_MAX || fabsf(p.z) > SHAPE_MAX)
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "Point %d of the shape is not finite or beyond %g m.", i,
				(double)SHAPE_MAX);
	}
	return FEM_OK;
}

static FemResult check_triangles(const FemShapeDef *shape) {
	if (!shape->triangles || shape->triangle_count < 1 || shape->triangle_count > COUNT_MAX)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The shape has no triangles or too many: give 1 to %d.", COUNT_MAX);
	for (int32_t i = 0; i < 3 * shape->triangle_count; i++) {
		if (shape->triangles[i] < 0 || shape->triangles[i] >= shape->point_count)
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "Triangle %d names point %d: the shape has points 0..%d.",
				i / 3, shape->triangles[i], shape->point_count - 1);
	}
	if (!is_length(shape->thickness))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "thickness must be a length in m; 0.1 is usual.");
	return FEM_OK;
}

static FemResult check_heights(const FemShapeDef *shape) {
	if (!shape->heights || shape->width < 2 || shape->depth < 2 || (int64_t)shape->width * shape->depth > COUNT_MAX)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"A height field needs heights of at least 2 x 2 and at most %d points.", COUNT_MAX);
	if (!is_length(shape->cell_size) || !is_length(shape->thickness) ||
		!is_length(shape->cell_size * (float)(shape->width > shape->depth ? shape->width : shape->depth)))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"cell_size and thickness must be lengths in m, the field below %g m wide.", (double)SHAPE_MAX);
	for (int32_t i = 0; i < shape->width * shape->depth; i++) {
		if (!(fabsf(shape->heights[i]) <= SHAPE_MAX))
			return fem_fail(
				FEM_ERROR_INVALID_ARGUMENT, "Height %d is not finite or beyond %g m.", i, (double)SHAPE_MAX);
	}
	return FEM_OK;
}

static FemResult check_shape(const FemShapeDef *shape) {
	FemResult result = FEM_OK;
	bool sound = true;
	switch (shape->type) {
	case FEM_SHAPE_BOX:
		sound =
			is_length(shape->half_extents.x) && is_length(shape->half_extents.y) && is_length(shape->half_extents.z);
		break;
	case FEM_SHAPE_SPHERE: sound = is_length(shape->radius); break;
	case FEM_SHAPE_CAPSULE:
	case FEM_SHAPE_CYLINDER: sound = is_length(shape->radius) && is_length(shape->half_height); break;
	case FEM_SHAPE_CONVEX: result = check_points(shape); break;
	case FEM_SHAPE_HALF_SPACE: break;
	case FEM_SHAPE_TRIANGLES:
		result = check_points(shape);
		if (result == FEM_OK)
			result = check_triangles(shape);
		break;
	case FEM_SHAPE_HEIGHT_FIELD: result = check_heights(shape); break;
	default:
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The shape's type is %d, which is no FemShapeType.", (int)shape->type);
	}
	if (!sound)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The shape's lengths must lie between %g and %g m.",
			(double)SHAPE_MIN, (double)SHAPE_MAX);
	return result;
}

FemResult fem_collider_motion_check(FemPosition position, FemQuat *rotation, FemVec3 linear, FemVec3 angular) {
	if (!fem_position_is_valid(position))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "position must be within +-%g m of the world's origin.", FEM_COORDINATE_MAX);
	if (!fem_quat_normalize(rotation))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "rotation is no quaternion that can be normalized: use (0, 0, 0, 1) for none.");
	if (!fem_vec3_is_finite(linear) || !fem_vec3_is_finite(angular) || fem_vec3_length(linear) > FEM_SPEED_MAX ||
		fem_vec3_length(angular) > FEM_SPEED_MAX)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "Velocities must be finite and below %g.", (double)FEM_SPEED_MAX);
	return FEM_OK;
}

FemResult fem_collider_def_check(FemColliderDef *def) {
	if (def->cookie != FEM_COOKIE_COLLIDER)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The collider def was not made by fem_default_collider_def(): start from that.");
	if ((int)def->kind < FEM_COLLIDER_STATIC || def->kind > FEM_COLLIDER_DYNAMIC)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "kind is %d, which is no FemColliderKind.", (int)def->kind);
	if (def->kind == FEM_COLLIDER_DYNAMIC && !(def->mass > 1e-6f && def->mass < 1e12f))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "A dynamic collider needs a mass between 1e-6 and 1e12 kg.");
	if (def->kind == FEM_COLLIDER_DYNAMIC && def->shape.type == FEM_SHAPE_HALF_SPACE)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "A half space cannot be dynamic: it has no end and no centre of mass.");
	if (!fem_vec3_is_finite(def->inertia) || def->inertia.x < 0.0f || def->inertia.y < 0.0f || def->inertia.z < 0.0f)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "inertia must be 0 (from the shape) or positive.");
	if (!(def->friction >= 0.0f && def->friction <= FEM_FRICTION_MAX))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "friction must be within 0..%g.", (double)FEM_FRICTION_MAX);
	if (!(def->restitution >= 0.0f && def->restitution <= 1.0f))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "restitution must be within 0..1.");
	FemVec3 at = def->shape_position;
	if (!fem_quat_normalize(&def->shape_rotation) || !(fabsf(at.x) + fabsf(at.y) + fabsf(at.z) <= SHAPE_MAX))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"shape_position must be within %g m and shape_rotation a quaternion.", (double)SHAPE_MAX);
	FemResult result =
		fem_collider_motion_check(def->position, &def->rotation, def->linear_velocity, def->angular_velocity);
	return result == FEM_OK ? check_shape(&def->shape) : result;
}
