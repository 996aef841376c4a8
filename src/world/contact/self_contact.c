// Which pieces can touch themselves.
#include "base/vec.h"
#include "collision/lanes4.h"
#include "fem_constants.h"
#include "model/body.h"
#include "topology/topology.h"
#include "world/contact/contact_stage.h"
#include "world/world.h"

#include <math.h>

// Square of the cosine of half of 40 degrees; chosen below the 45 of a right angle shared by two places.
#define SELF_BEND_COS_SQ 0.883f

// Of the deformation gradient along any direction, for a body that counts as one that lies nowhere in itself. Chosen:
// floats lose under 1e-3 of it in tets of 1 mm whose body is within 16 m of its origin.
#define ONE_TO_ONE_MARGIN 0.05f

#define GAP_MARGIN 0.95 // of the gap: floats lose 2e-6 m where a body is 16 m from its origin; chosen

// The rotation of one of the tets at a node.
static FemVec4 rotation_at(const FemBody *body, int32_t node) {
	const FemTopology *t = body->topology;
	return body->rotation[t->node_tets[t->node_tet_start[node]] >> 2];
}

static float dot(FemVec4 a, FemVec4 b) {
	return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// Sum of the rotations at nodes, not of unit length.
static FemVec4 sum_rotations(const FemBody *body, FemRange nodes) {
	FemVec4 first = rotation_at(body, nodes.begin), sum = {0.0f, 0.0f, 0.0f, 0.0f};
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 q = rotation_at(body, i);
		float sign = dot(q, first) < 0.0f ? -1.0f : 1.0f;
		sum.x += sign * q.x, sum.y += sign * q.y, sum.z += sign * q.z, sum.w += sign * q.w;
	}
	return sum;
}

// The rotation at a node that differs most from the given one.
static FemVec4 farthest_rotation(const FemBody *body, FemRange nodes, FemVec4 from) {
	FemVec4 farthest = from;
	float least = INFINITY;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 q = rotation_at(body, i);
		float cosine = fabsf(dot(q, from));
		if (cosine < least) {
			least = cosine;
			farthest = q;
		}
	}
	return farthest;
}

// Between the two that differ most, not of unit length.
static FemVec4 middle_rotation(const FemBody *body, FemRange nodes) {
	FemVec4 a = farthest_rotation(body, nodes, sum_rotations(body, nodes)), b = farthest_rotation(body, nodes, a);
	float sign = dot(a, b) < 0.0f ? -1.0f : 1.0f;
	return (FemVec4){a.x + sign * b.x, a.y + sign * b.y, a.z + sign * b.z, a.w + sign * b.w};
}

bool fem_contact_may_fold(const FemWorld *world, const FemBody *body, int32_t component) {
	if (world->meshes[body->mesh_index].convexity != FEM_CONVEX_YES)
		return true;
	FemRange nodes = body->topology->component_nodes[component];
	FemVec4 mean = sum_rotations(body, nodes);
	float square = dot(mean, mean);
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec4 q = rotation_at(body, i);
		float cosine = dot(q, mean);
		if (!(cosine * cosine > SELF_BEND_COS_SQ * square))
			return true;
	}
	return false;
}

// ---- one to one

typedef struct Points4 {
	Float4 x, y, z; // of four points, m
} Points4;

static Points4 load_points(const FemVec4 *position, const int32_t *nodes) {
	Float4 a = load4(&position[nodes[0]]), b = load4(&position[nodes[1]]);
	Float4 c = load4(&position[nodes[2]]), d = load4(&position[nodes[3]]);
	Float4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
	Float4 ab_z = __builtin_shufflevector(a, b, 2, 6, 2, 6), cd_z = __builtin_shufflevector(c, d, 2, 6, 2, 6);
	return (Points4){__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
		__builtin_shufflevector(ab_z, cd_z, 0, 1, 4, 5)};
}

// Q^T (p - o)
static Points4 rotate_back(float q[3][3], Points4 p, Points4 o) {
	Float4 x = p.x - o.x, y = p.y - o.y, z = p.z - o.z;
	return (Points4){all4(q[0][0]) * x + all4(q[1][0]) * y + all4(q[2][0]) * z,
		all4(q[0][1]) * x + all4(q[1][1]) * y + all4(q[2][1]) * z,
		all4(q[0][2]) * x + all4(q[1][2]) * y + all4(q[2][2]) * z};
}

// Bits of those of 4 tets in which the symmetric part of Q^T F - margin is positive, by its leading minors;
// F = sum (x_k - x_0) g_k^T.
static unsigned are_positive(const FemBody *body, int32_t first, float q[3][3]) {
	int32_t batch = first / FEM_LANES, lane = first % FEM_LANES;
	const FemVec4 *position = body->position;
	const int32_t *nodes = body->topology->batch_nodes + (size_t)batch * 4 * FEM_LANES + lane;
	float(*gradient)[3][FEM_LANES] = body->plastics ? body->plastics[batch].gradient : body->batches[batch].gradient;
	Points4 origin = load_points(position, nodes);
	Float4 xx = all4(-ONE_TO_ONE_MARGIN), yy = xx, zz = xx, xy = all4(0.0f), yz = xy, zx = xy; // twice xy, yz, zx
	for (int k = 0; k < 3; k++) {
		Points4 edge = rotate_back(q, load_points(position, nodes + (k + 1) * FEM_LANES), origin);
		Float4 gx = load4(&gradient[k][0][lane]), gy = load4(&gradient[k][1][lane]), gz = load4(&gradient[k][2][lane]);
		xx += edge.x * gx, yy += edge.y * gy, zz += edge.z * gz;
		xy += edge.x * gy + edge.y * gx;
		yz += edge.y * gz + edge.z * gy;
		zx += edge.z * gx + edge.x * gz;
	}
	Float4 quarter = all4(0.25f), zero = all4(0.0f);
	Float4 minor = xx * yy - quarter * xy * xy;
	Float4 determinant = zz * minor + quarter * (xy * yz * zx - xx * yz * yz - yy * zx * zx);
	return 15u & ~(not_above4(xx, zero) | not_above4(minor, zero) | not_above4(determinant, zero));
}

// Whether no two points of a whole body of a convex mesh are in one place. The line between two points of it at rest,
// from a to b, lies within it, so that (x(b) - x(a)) . Q (b - a) is the mean of (b - a) . Q^T F (b - a) along it: above
// 0 for any Q with which Q^T F is positive everywhere. With Q halfway between the two rotations that differ
// most that holds until these are nearly opposite, less what is strained.
static bool is_one_to_one(const FemBody *body) {
	const FemTopology *t = body->topology;
	FemVec4 middle = middle_rotation(body, t->component_nodes[0]);
	FemQuat unit = {middle.x, middle.y, middle.z, middle.w};
	double rotation[3][3];
	float q[3][3];
	if (!fem_quat_normalize(&unit))
		return false;
	fem_quat_to_matrix(unit, rotation);
	for (int i = 0; i < 9; i++)
		q[i / 3][i % 3] = (float)rotation[i / 3][i % 3];
	for (int32_t first = 0; first < t->batch_count * FEM_LANES; first += 4) {
		unsigned are_tets = 0;
		for (int32_t i = 0; i < 4; i++)
			are_tets |= (unsigned)(t->user_of_tet[first + i] >= 0) << i;
		if (are_tets & ~are_positive(body, first, q))
			return false;
	}
	return true;
}

// ---- as at rest

// By what distances at rest have grown at the least, where a body has another scale than its mesh was made for.
static double least_scale(const FemMesh *mesh, const FemBody *body) {
	FemVec3 now = body->scale, made = mesh->stretch;
	return (double)fminf(now.x / made.x, fminf(now.y / made.y, now.z / made.z));
}

// Whether all nodes of a whole body lie nearer to their places in its shape at rest, moved as one, than half of what
// could touch is apart there. A point of a tet is no farther from its place than the nodes are.
static bool keeps_its_gap(const FemMesh *mesh, const FemBody *body) {
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[0];
	FemVec4 sum = sum_rotations(body, nodes);
	FemQuat unit = {sum.x, sum.y, sum.z, sum.w};
	double q[3][3], half = 0.5 * GAP_MARGIN * (double)mesh->gap * least_scale(mesh, body);
	if (!(half > 0.0) || !fem_quat_normalize(&unit))
		return false;
	fem_quat_to_matrix(unit, q);
	FemVec3d offset = {0.0, 0.0, 0.0};
	for (int pass = 0; pass < 2; pass++) {
		for (int32_t i = nodes.begin; i < nodes.end; i++) {
			FemVec3d rest = fem_mesh_rest_point(mesh, body->scale, t->user_of_node[i]);
			FemVec3d off = fem_vec3d_sub(fem_vec3d_from4(body->position[i]), fem_matrix_apply(q, rest));
			if (pass == 0)
				offset = fem_vec3d_add(offset, fem_vec3d_scale(off, 1.0 / (nodes.end - nodes.begin)));
			off = fem_vec3d_sub(off, offset);
			if (pass == 1 && !(fem_vec3d_dot(off, off) < half * half))
				return false;
		}
	}
	return true;
}

// ---- inside out

static bool is_inverted(const FemBody *body, int32_t tet) {
	FemVec3 a = fem_vec3_from(body->position[fem_tet_node(body->topology, tet, 0)]), e[3];
	for (int k = 0; k < 3; k++)
		e[k] = fem_vec3_sub(fem_vec3_from(body->position[fem_tet_node(body->topology, tet, k + 1)]), a);
	return fem_vec3_dot(e[0], fem_vec3_cross(e[1], e[2])) < 0.0f;
}

// Whether tets of the piece are inverted. The surface of such a piece no longer separates it from itself: self-contact
// would push in the wrong direction and keep it crumpled. Elasticity alone brings it back, then it touches itself
// again. Every tet is found at its corner 0.
static bool is_inside_out(const FemBody *body, int32_t component) {
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[component];
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		if ((t->node_tets[k] & 3) == 0 && is_inverted(body, t->node_tets[k] >> 2))
			return true;
	}
	return false;
}

bool fem_contact_may_touch_itself(const FemWorld *world, const FemBody *body, int32_t component) {
	if (!fem_contact_may_fold(world, body, component))
		return false;
	bool is_whole = !body->own_topology && body->topology->component_count == 1;
	bool is_convex = is_whole && world->meshes[body->mesh_index].convexity == FEM_CONVEX_YES;
	if (is_convex ? is_one_to_one(body) : is_whole && keeps_its_gap(&world->meshes[body->mesh_index], body))
		return false;
	return !is_inside_out(body, component);
}
