// Where the nodes of a saved body are and how they move: one pose for a body that is not deformed, else node by node.
#include "base/mat3.h"
#include "base/vec.h"
#include "dynamics/elements.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/state/body_state.h"
#include "world/state/stream.h"
#include "world/world.h"

// Of the diagonal of the rest shape: what is nearer than this to a rigid motion of it has not deformed. 10 um of 1 m
// are not seen, and more than stiff bodies give under their own weight: an oak crate of 1 m sags by 0.4 um, one of 1
// MPa by 5 mm.
#define RIGID_ERROR 1e-5
#define ROUNDING 0x1p-22        // of the largest coordinate: two units in the last place of a float
#define RIGID_STEP (1.0 / 60.0) // s: velocities may differ by what moves nodes by the above within this

// ---- rest shape

static FemVec3d rest_center(const FemMesh *mesh, FemVec3 scale) {
	FemVec3d sum = {0};
	for (int32_t user = 0; user < mesh->node_count; user++)
		sum = fem_vec3d_add(sum, fem_mesh_rest_point(mesh, scale, user));
	return fem_vec3d_scale(sum, 1.0 / mesh->node_count);
}

static double rest_diagonal(const FemMesh *mesh, FemVec3 scale) {
	FemVec3d low = fem_mesh_rest_point(mesh, scale, 0), high = low;
	for (int32_t user = 1; user < mesh->node_count; user++) {
		FemVec3d p = fem_mesh_rest_point(mesh, scale, user);
		low = (FemVec3d){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
		high = (FemVec3d){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
	}
	FemVec3d d = fem_vec3d_sub(high, low);
	return sqrt(fem_vec3d_dot(d, d));
}

// ---- from a pose

// The nodes of a whole body that has a pose, one after the other.
typedef struct Posed {
	const FemMesh *mesh;
	const FemBody *body;
	FemVec3d rest, shift; // m: centre of the rest shape, and of the nodes from the origin that the body would have
	FemVec3d center;      // m: of mass, relative to the same
	FemVec3d linear, angular;
	double rotation[3][3];
} Posed;

static FemPosition posed_origin(const FemRigidPose *pose) {
	return fem_position_snap(pose->center);
}

static Posed posed_start(const FemMesh *mesh, const FemBody *body, const FemRigidPose *pose) {
	Posed posed = {.mesh = mesh, .body = body, .rest = rest_center(mesh, body->scale)};
	posed.shift = fem_position_sub(pose->center, posed_origin(pose));
	posed.linear = fem_vec3d_from(pose->linear);
	posed.angular = fem_vec3d_from(pose->angular);
	fem_quat_to_matrix(pose->rotation, posed.rotation);
	return posed;
}

static FemVec4 posed_position(Posed *posed, int32_t node) {
	FemVec3d r = fem_mesh_rest_point(posed->mesh, posed->body->scale, posed->body->topology->user_of_node[node]);
	FemVec3d p = fem_matrix_apply(posed->rotation, fem_vec3d_sub(r, posed->rest));
	return fem_vec4_from(fem_vec3d_to_vec3(fem_vec3d_add(p, posed->shift)));
}

static void find_center(Posed *posed) {
	FemVec3d sum = {0};
	double mass = 0.0;
	for (int32_t i = 0; i < posed->body->topology->node_count; i++) {
		double m = (double)posed->body->mass[i];
		sum = fem_vec3d_add(sum, fem_vec3d_scale(fem_vec3d_from4(posed_position(posed, i)), m));
		mass += m;
	}
	posed->center = fem_vec3d_scale(sum, 1.0 / mass);
}

static FemVec4 posed_velocity(const Posed *posed, FemVec4 position) {
	FemVec3d arm = fem_vec3d_sub(fem_vec3d_from4(position), posed->center);
	return fem_vec4_from(fem_vec3d_to_vec3(fem_vec3d_add(posed->linear, fem_vec3d_cross(posed->angular, arm))));
}

// ---- fit

// Shape matching: the rotation of the polar decomposition of sum (x - c) (r - c_rest)^T.
static void fit_place(const FemMesh *mesh, const FemBody *body, FemRigidPose *out) {
	const FemTopology *t = body->topology;
	FemVec3d center = {0}, rest = rest_center(mesh, body->scale);
	double moments[3][3] = {{0}}, rotation[3][3], size_sq = 0.0;
	for (int32_t i = 0; i < t->node_count; i++)
		center = fem_vec3d_add(center, fem_vec3d_from4(body->position[i]));
	center = fem_vec3d_scale(center, 1.0 / t->node_count);
	for (int32_t i = 0; i < t->node_count; i++) {
		FemVec3d p = fem_vec3d_sub(fem_vec3d_from4(body->position[i]), center);
		FemVec3d q = fem_vec3d_sub(fem_mesh_rest_point(mesh, body->scale, t->user_of_node[i]), rest);
		double a[3] = {p.x, p.y, p.z}, b[3] = {q.x, q.y, q.z};
		for (int k = 0; k < 9; k++)
			moments[k / 3][k % 3] += a[k / 3] * b[k % 3];
		size_sq += fem_vec3d_dot(q, q);
	}
	for (int k = 0; k < 9; k++)
		moments[k / 3][k % 3] /= size_sq; // of any size, for what the polar decomposition takes to be small
	// A start that is far off, as the rotation of an inverted tet, may make the fit fail; the nodes are then saved one
	// by one.
	FemVec4 start = body->rotation[t->tet_of_user[0]];
	fem_quat_to_matrix((FemQuat){start.x, start.y, start.z, start.w}, rotation);
	fem_polar_polish(moments, rotation);
	out->center = fem_position_move(body->origin, center);
	out->rotation = fem_quaternion_of(rotation);
}

// Linear and angular momentum are the body's.
static void fit_motion(const FemBody *body, FemRigidPose *out) {
	FemVec3d center = fem_body_center(body), momentum = {0}, angular = {0};
	double inertia[3][3] = {{0}}, inverse[3][3], mass = 0.0;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		FemVec3d r = fem_vec3d_sub(fem_vec3d_from4(body->position[i]), center);
		double m = (double)body->mass[i], a[3] = {r.x, r.y, r.z};
		FemVec3d p = fem_vec3d_scale(fem_vec3d_from4(body->velocity[i]), m);
		mass += m;
		momentum = fem_vec3d_add(momentum, p);
		angular = fem_vec3d_add(angular, fem_vec3d_cross(r, p));
		for (int k = 0; k < 9; k++)
			inertia[k / 3][k % 3] += m * ((k % 4 == 0 ? fem_vec3d_dot(r, r) : 0.0) - a[k / 3] * a[k % 3]);
	}
	out->linear = fem_vec3d_to_vec3(fem_vec3d_scale(momentum, 1.0 / mass));
	out->angular = fem_invert3(inertia, inverse) ? fem_vec3d_to_vec3(fem_matrix_apply(inverse, angular)) : (FemVec3){0};
}

// The largest differences that the body has from the pose.
static void measure_error(
	const FemMesh *mesh, const FemBody *body, const FemRigidPose *pose, double *out_place, double *out_speed) {
	Posed posed = posed_start(mesh, body, pose);
	FemVec3d shift = fem_position_sub(body->origin, posed_origin(pose));
	double place_sq = 0.0, speed_sq = 0.0;
	find_center(&posed);
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		FemVec4 x = posed_position(&posed, i), v = posed_velocity(&posed, x);
		FemVec3d at = fem_vec3d_add(fem_vec3d_from4(body->position[i]), shift);
		FemVec3d d = fem_vec3d_sub(at, fem_vec3d_from4(x));
		FemVec3d dv = fem_vec3d_sub(fem_vec3d_from4(body->velocity[i]), fem_vec3d_from4(v));
		place_sq = fmax(place_sq, fem_vec3d_dot(d, d));
		speed_sq = fmax(speed_sq, fem_vec3d_dot(dv, dv));
	}
	*out_place = sqrt(place_sq);
	*out_speed = sqrt(speed_sq);
}

// Whether every node is, to the bit, where the pose would put it: what is fitted anew differs in the last place, and a
// state that is loaded and saved again must not change.
static bool has_pose(const FemMesh *mesh, const FemBody *body, const FemRigidPose *pose) {
	FemPosition origin = posed_origin(pose);
	FemQuat q = pose->rotation;
	if (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w == 0.0f || origin.x != body->origin.x ||
		origin.y != body->origin.y || origin.z != body->origin.z)
		return false;
	Posed posed = posed_start(mesh, body, pose);
	find_center(&posed);
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		FemVec4 x = posed_position(&posed, i), v = posed_velocity(&posed, x);
		if (x.x != body->position[i].x || x.y != body->position[i].y || x.z != body->position[i].z ||
			v.x != body->velocity[i].x || v.y != body->velocity[i].y || v.z != body->velocity[i].z)
			return false;
	}
	return true;
}

static double largest_coordinate(const FemBody *body) {
	double largest = 0.0;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		FemVec4 p = body->position[i];
		largest = fmax(largest, fmax(fabs((double)p.x), fmax(fabs((double)p.y), fabs((double)p.z))));
	}
	return largest;
}

bool fem_state_find_pose(const FemWorld *world, const FemBody *body, FemRigidPose *out) {
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	*out = body->loaded_pose;
	if (fem_state_is_broken(world, body))
		return false;
	if (has_pose(mesh, body, out))
		return true;
	double place, speed,
		limit = fmax(RIGID_ERROR * rest_diagonal(mesh, body->scale), ROUNDING * largest_coordinate(body));
	fit_place(mesh, body, out);
	fit_motion(body, out);
	measure_error(mesh, body, out, &place, &speed);
	return place <= limit && speed * RIGID_STEP <= limit;
}

// ---- reading

bool fem_state_pose_moves(const FemRigidPose *pose) {
	FemVec3 v = pose->linear, w = pose->angular;
	return v.x != 0.0f || v.y != 0.0f || v.z != 0.0f || w.x != 0.0f || w.y != 0.0f || w.z != 0.0f;
}

void fem_state_sync_pose(FemStream *s, FemRigidPose *pose, uint32_t flags) {
	FEM_STREAM(s, pose->center);
	FEM_STREAM(s, pose->rotation);
	if (!(flags & FEM_STATE_MOVING))
		return;
	FEM_STREAM(s, pose->linear);
	FEM_STREAM(s, pose->angular);
}

bool fem_state_take_pose(const FemWorld *world, FemBody *body, const FemRigidPose *pose) {
	FemQuat q = pose->rotation, unit = q;
	if (!fem_position_is_valid(pose->center) || !fem_quat_normalize(&unit) || !fem_vec3_is_finite(pose->linear) ||
		!fem_vec3_is_finite(pose->angular))
		return false;
	Posed posed = posed_start(&world->meshes[body->mesh_index], body, pose);
	body->origin = posed_origin(pose);
	body->loaded_pose = *pose;
	find_center(&posed);
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		body->position[i] = posed_position(&posed, i);
		body->velocity[i] = posed_velocity(&posed, body->position[i]);
	}
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++)
		body->rotation[tet] = (FemVec4){unit.x, unit.y, unit.z, unit.w};
	return true;
}

void fem_state_sync_nodes(FemStream *s, FemBody *body) {
	const FemTopology *t = body->topology;
	FEM_STREAM(s, body->origin);
	FemPosition snapped = fem_position_snap(body->origin);
	s->failed = s->failed || !fem_position_is_valid(body->origin) || snapped.x != body->origin.x ||
		snapped.y != body->origin.y || snapped.z != body->origin.z;
	for (int32_t user = 0; user < t->user_node_count && !s->failed; user++) {
		int32_t node = t->node_of_user[user];
		if (node < 0)
			continue; // of a removed piece
		FemVec3 x = fem_vec3_from(body->position[node]), v = fem_vec3_from(body->velocity[node]);
		FEM_STREAM(s, x);
		FEM_STREAM(s, v);
		if (!fem_stream_reads(s))
			continue;
		s->failed = s->failed || !fem_position_is_valid(fem_position_at(fem_vec3d_from(x))) || !fem_vec3_is_finite(v);
		body->position[node] = fem_vec4_from(x);
		body->velocity[node] = fem_vec4_from(v);
	}
}

void fem_state_find_rotations(FemBody *body) {
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		double f[3][3];
		float rows[9], q[4] = {0.0f, 0.0f, 0.0f, 1.0f};
		fem_tet_deformation(body, tet, f);
		for (int k = 0; k < 9; k++)
			rows[k] = (float)f[k / 3][k % 3];
		fem_rotation_of_crushed(rows, q); // the nearest one, of sound tets too
		body->rotation[tet] = (FemVec4){q[0], q[1], q[2], q[3]};
	}
}
