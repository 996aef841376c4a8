// Forces, velocities, pins and states that users set between steps.
#include "base/vec.h"
#include "geometry/closest.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/api/registry.h"
#include "world/api/targets.h"
#include "world/step/publish.h"
#include "world/world.h"

#include <math.h>

static FemResult check_vector(FemVec3 v, const char *name) {
	if (fem_vec3_is_finite(v))
		return FEM_OK;
	return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "%s is not finite: correct it.", name);
}

static void wake_node(FemTarget target) {
	fem_body_wake_part(&target.world->islands, target.body, target.body->topology->node_part[target.node]);
}

// What moves a node by itself strains its piece.
static void wake_elastic(FemTarget target) {
	wake_node(target);
	fem_piece_release(&target.body->pieces[fem_node_component(target.body->topology, target.node)]);
}

// ---- forces and impulses

static bool can_add_force(FemTarget target, FemVec3 force) {
	return fem_vec3_is_finite(fem_vec3_add(fem_vec3_from(target.body->force[target.node]), force));
}

static void add_force(FemTarget target, FemVec3 force) {
	FemBody *body = target.body;
	FemVec3 sum = fem_vec3_add(fem_vec3_from(body->force[target.node]), force);
	body->force[target.node] = fem_vec4_from(sum);
	body->has_forces = true;
	target.world->has_forces = true;
	float threshold = target.world->def.wake_force_factor * fem_vec3_length(target.world->def.gravity);
	if (fem_vec3_length(sum) > threshold * body->mass[target.node])
		wake_node(target);
}

FemResult fem_body_apply_force(FemBodyId id, int32_t node, FemVec3 force) {
	FemTarget target;
	FemResult result = fem_target_node(id, node, &target);
	if (result == FEM_OK)
		result = check_vector(force, "force");
	if (result != FEM_OK)
		return result;
	if (!can_add_force(target, force))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The forces on node %d add up beyond all numbers: apply less.", node);
	add_force(target, force);
	return FEM_OK;
}

FemResult fem_body_apply_central_force(FemBodyId id, FemVec3 force) {
	FemResult result;
	FemTarget target = {0};
	target.body = fem_body_find_idle(id, &target.world, &result);
	if (!target.body || (result = check_vector(force, "force")) != FEM_OK)
		return result;
	int32_t count = target.body->topology->node_count;
	FemVec3 by_mass = fem_vec3_scale(force, 1.0f / target.body->total_mass);
	for (target.node = 0; target.node < count; target.node++) {
		if (!can_add_force(target, fem_vec3_scale(by_mass, target.body->mass[target.node])))
			return fem_fail(
				FEM_ERROR_INVALID_ARGUMENT, "The forces on the body add up beyond all numbers: apply less.");
	}
	for (target.node = 0; target.node < count; target.node++)
		add_force(target, fem_vec3_scale(by_mass, target.body->mass[target.node]));
	return FEM_OK;
}

#define SPREAD_SHARE 0.5 // of node_speed_max: the speed that a spread impulse gives; chosen, nodes may move already

// Nodes that take an impulse together, and whether a node is one of them.
typedef struct Spread {
	int32_t *nodes, count;
	bool *has;
	double mass; // kg
} Spread;

static void add_to_spread(const FemBody *body, Spread *spread, int32_t node) {
	if (spread->has[node] || body->node_kind[node] != FEM_NODE_FREE)
		return;
	spread->has[node] = true;
	spread->nodes[spread->count++] = node;
	spread->mass += (double)body->mass[node];
}

// The free nodes around one, ring by ring, until they have the mass or there are no more.
static void gather_mass(const FemBody *body, int32_t node, double mass, Spread *spread) {
	const FemTopology *t = body->topology;
	add_to_spread(body, spread, node);
	for (int32_t at = 0; at < spread->count && spread->mass < mass; at++) {
		int32_t from = spread->nodes[at];
		for (int32_t k = t->row_start[from]; k < t->row_start[from + 1]; k++)
			add_to_spread(body, spread, t->row_column[k]);
	}
}

static void set_speed(FemTarget target, FemVec3d v) {
	target.body->velocity[target.node] = fem_vec4_from(fem_clamp_speed(v, target.world->def.node_speed_max));
	wake_elastic(target);
}

// Gives an impulse that a node alone could not take to those around it: they get one change of velocity, so that the
// momentum is all there. False when memory fails.
static bool spread_impulse(FemTarget target, FemVec3d impulse) {
	FemBody *body = target.body;
	int32_t count = body->topology->node_count;
	Spread spread = {FEM_ALLOC_ARRAY(int32_t, count), 0, FEM_ALLOC_ARRAY(bool, count), 0.0};
	double enough = sqrt(fem_vec3d_dot(impulse, impulse)) / (SPREAD_SHARE * (double)target.world->def.node_speed_max);
	bool ok = spread.nodes && spread.has;
	if (ok)
		gather_mass(body, target.node, enough, &spread);
	for (int32_t i = 0; ok && i < spread.count; i++) {
		target.node = spread.nodes[i];
		FemVec3d dv = fem_vec3d_scale(impulse, 1.0 / spread.mass);
		set_speed(target, fem_vec3d_add(fem_vec3d_from4(body->velocity[target.node]), dv));
	}
	FEM_FREE_ARRAY(spread.nodes, count);
	FEM_FREE_ARRAY(spread.has, count);
	return ok;
}

// Whether an impulse moves a node at all: what is pinned, driven or kinematic it does not.
static bool takes_impulses(FemTarget target) {
	return target.body->node_kind[target.node] == FEM_NODE_FREE && !target.body->kinematic;
}

static FemVec3d velocity_after(FemTarget target, FemVec3 impulse) {
	FemVec3d dv = fem_vec3d_scale(fem_vec3d_from(impulse), 1.0 / (double)target.body->mass[target.node]);
	return fem_vec3d_add(fem_vec3d_from4(target.body->velocity[target.node]), dv);
}

// m/s: what an impulse changes the velocity of a node by, for the look at its cracks (world/step/blows.h).
static void note_blow(FemTarget target, double speed) {
	double most = (double)target.world->def.node_speed_max;
	target.body->blow_speed = fmaxf(target.body->blow_speed, (float)fmin(speed, most));
}

// Gives each node its share: dv = impulse / mass. A node of a fine mesh has little mass: when one would become faster
// than nodes may be, the neighbourhood of the node with the largest share takes all of the impulse.
static FemResult add_impulses(const FemTarget *targets, const FemVec3 *shares, int count) {
	double most = (double)targets[0].world->def.node_speed_max, largest = -1.0;
	FemVec3 sum = {0.0f, 0.0f, 0.0f};
	int at = 0;
	bool fits = true;
	for (int i = 0; i < count; i++) {
		FemVec3d v = velocity_after(targets[i], shares[i]);
		double share = (double)fem_vec3_dot(shares[i], shares[i]);
		if (!takes_impulses(targets[i]))
			continue;
		fits &= fem_vec3d_dot(v, v) <= most * most;
		sum = fem_vec3_add(sum, shares[i]);
		at = share > largest ? i : at;
		largest = fmax(largest, share);
		note_blow(targets[i], sqrt(share) / (double)targets[i].body->mass[targets[i].node]);
	}
	for (int i = 0; i < count && fits; i++) {
		if (takes_impulses(targets[i]))
			set_speed(targets[i], velocity_after(targets[i], shares[i]));
	}
	if (!fits && !spread_impulse(targets[at], fem_vec3d_from(sum)))
		return fem_fail(FEM_ERROR_MEMORY, "Out of memory while an impulse was spread: nothing was moved.");
	return FEM_OK;
}

FemResult fem_body_apply_impulse(FemBodyId id, int32_t node, FemVec3 impulse) {
	FemTarget target;
	FemResult result = fem_target_node(id, node, &target);
	if (result == FEM_OK)
		result = check_vector(impulse, "impulse");
	return result == FEM_OK ? add_impulses(&target, &impulse, 1) : result;
}

// Squared distance from a point to the box of four corners: a cheap lower bound.
static double box_distance_sq(FemVec3d p, const FemVec3d corners[4]) {
	double sum = 0.0;
	for (int axis = 0; axis < 3; axis++) {
		double low = INFINITY, high = -INFINITY, at = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
		for (int v = 0; v < 4; v++) {
			double c = axis == 0 ? corners[v].x : axis == 1 ? corners[v].y : corners[v].z;
			low = c < low ? c : low;
			high = c > high ? c : high;
		}
		double outside = at < low ? low - at : at > high ? at - high : 0.0;
		sum += outside * outside;
	}
	return sum;
}

int32_t fem_body_nearest_tet(const FemBody *body, FemPosition point, double out_weights[4]) {
	const FemTopology *t = body->topology;
	FemVec3d local = fem_position_sub(point, body->origin);
	int32_t nearest = 0;
	double best = INFINITY;
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES && best > 0.0; tet++) {
		FemVec3d corners[4];
		double weights[4];
		for (int32_t v = 0; v < 4; v++)
			corners[v] = fem_vec3d_from4(body->position[fem_tet_node(t, tet, v)]);
		if (t->user_of_tet[tet] < 0 || box_distance_sq(local, corners) >= best)
			continue;
		double distance_sq = fem_closest_in_tet(local, corners, weights);
		if (distance_sq >= best)
			continue;
		best = distance_sq;
		nearest = tet;
		for (int v = 0; v < 4; v++)
			out_weights[v] = weights[v];
	}
	return nearest;
}

typedef struct PointTargets {
	FemTarget targets[4];
	FemVec3 shares[4];
} PointTargets;

static FemResult find_point(FemBodyId id, FemPosition point, FemVec3 vector, const char *name, PointTargets *out) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || (result = check_vector(vector, name)) != FEM_OK)
		return result;
	if (!fem_position_is_valid(point))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "point must be within +-%g m of the world's origin.", FEM_COORDINATE_MAX);
	double weights[4] = {0.25, 0.25, 0.25, 0.25};
	int32_t tet = fem_body_nearest_tet(body, point, weights);
	for (int32_t v = 0; v < 4; v++) {
		out->targets[v] = (FemTarget){.world = world, .body = body, .node = fem_tet_node(body->topology, tet, v)};
		out->shares[v] = fem_vec3_scale(vector, (float)weights[v]);
	}
	return FEM_OK;
}

FemResult fem_body_apply_force_at_point(FemBodyId id, FemVec3 force, FemPosition point) {
	PointTargets nodes;
	FemResult result = find_point(id, point, force, "force", &nodes);
	for (int v = 0; v < 4 && result == FEM_OK; v++) {
		if (!can_add_force(nodes.targets[v], nodes.shares[v]))
			result =
				fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The forces at the point add up beyond all numbers: apply less.");
	}
	for (int v = 0; v < 4 && result == FEM_OK; v++)
		add_force(nodes.targets[v], nodes.shares[v]);
	return result;
}

FemResult fem_body_apply_impulse_at_point(FemBodyId id, FemVec3 impulse, FemPosition point) {
	PointTargets nodes;
	FemResult result = find_point(id, point, impulse, "impulse", &nodes);
	return result == FEM_OK ? add_impulses(nodes.targets, nodes.shares, 4) : result;
}

// ---- velocities

FemResult fem_body_set_velocity(FemBodyId id, int32_t node, FemVec3 velocity) {
	FemTarget target;
	FemResult result = fem_target_node(id, node, &target);
	if (result == FEM_OK)
		result = check_vector(velocity, "velocity");
	if (result != FEM_OK || target.body->node_kind[target.node] != FEM_NODE_FREE)
		return result;
	FemVec3 clamped = fem_clamp_speed(fem_vec3d_from(velocity), target.world->def.node_speed_max);
	target.body->velocity[target.node] = fem_vec4_from(clamped);
	wake_elastic(target);
	return FEM_OK;
}

FemResult fem_body_add_velocity(FemBodyId id, FemVec3 linear, FemVec3 angular) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || (result = check_vector(linear, "linear")) != FEM_OK ||
		(result = check_vector(angular, "angular")) != FEM_OK)
		return result;
	FemVec3d center = fem_body_center(body);
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		if (body->node_kind[i] != FEM_NODE_FREE)
			continue;
		FemVec3d arm = fem_vec3d_sub(fem_vec3d_from4(body->position[i]), center);
		FemVec3d dv = fem_vec3d_add(fem_vec3d_from(linear), fem_vec3d_cross(fem_vec3d_from(angular), arm));
		FemVec3d v = fem_vec3d_add(fem_vec3d_from4(body->velocity[i]), dv);
		body->velocity[i] = fem_vec4_from(fem_clamp_speed(v, world->def.node_speed_max));
	}
	fem_body_wake_all(&world->islands, body);
	fem_body_release_pieces(body); // one that is pinned moves only as an elastic one
	return FEM_OK;
}

// ---- positions

// Publishes the new place of a teleported body and drops its state before, so that no frame is drawn in between.
static void publish_jump(FemBody *body) {
	fem_body_publish(body);
	body->before.publication = 0;
}

FemResult fem_body_set_node_position(FemBodyId id, int32_t node, FemPosition position) {
	FemTarget target;
	FemResult result = fem_target_node(id, node, &target);
	if (result != FEM_OK)
		return result;
	if (!fem_position_is_valid(position))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "position must be within +-%g m of the world's origin.", FEM_COORDINATE_MAX);
	FemVec3d offset = fem_position_sub(position, target.body->origin);
	target.body->position[target.node] = fem_vec4_from(fem_vec3d_to_vec3(offset));
	wake_elastic(target);
	publish_jump(target.body);
	return FEM_OK;
}

// The rigid motion from the pose last set to the new one.
typedef struct Motion {
	FemPosition from, to;
	FemQuat rotation_change;
	double rotation[3][3];
	bool rotates; // a mere shift must keep the shape to the bit where the numbers allow
} Motion;

static Motion motion_between(const FemBody *body, FemPosition position, FemQuat rotation) {
	FemQuat old = body->pose_rotation;
	Motion motion = {.from = body->pose_position, .to = position};
	motion.rotation_change = fem_quat_mul(rotation, fem_quat_conjugate(old));
	motion.rotates = rotation.x != old.x || rotation.y != old.y || rotation.z != old.z || rotation.w != old.w;
	fem_quat_normalize(&motion.rotation_change);
	fem_quat_to_matrix(motion.rotation_change, motion.rotation);
	return motion;
}

static FemPosition move_point(Motion *motion, FemPosition p) {
	if (!motion->rotates)
		return fem_position_move(p, fem_position_sub(motion->to, motion->from));
	FemVec3d arm = fem_matrix_apply(motion->rotation, fem_position_sub(p, motion->from));
	return fem_position_move(motion->to, arm);
}

static FemVec4 rotate_vector(Motion *motion, FemVec4 v) {
	return fem_vec4_from(fem_vec3d_to_vec3(fem_matrix_apply(motion->rotation, fem_vec3d_from4(v))));
}

static void move_body(FemBody *body, Motion *motion) {
	const FemTopology *t = body->topology;
	FemPosition old_origin = body->origin;
	FemPosition center = fem_position_move(old_origin, fem_body_center(body));
	body->origin = fem_position_snap(move_point(motion, center));
	body->trees_moved = true;
	for (int32_t i = 0; i < t->node_count; i++) {
		FemPosition p = move_point(motion, fem_position_move(old_origin, fem_vec3d_from4(body->position[i])));
		body->position[i] = fem_vec4_from(fem_vec3d_to_vec3(fem_position_sub(p, body->origin)));
		if (!motion->rotates)
			continue;
		body->velocity[i] = rotate_vector(motion, body->velocity[i]);
		body->last_dv[i] = rotate_vector(motion, body->last_dv[i]);
	}
	fem_body_forget_loads(body);
	for (int32_t tet = 0; motion->rotates && tet < t->batch_count * FEM_LANES; tet++) {
		FemVec4 r = body->rotation[tet];
		FemQuat q = fem_quat_mul(motion->rotation_change, (FemQuat){r.x, r.y, r.z, r.w});
		fem_quat_normalize(&q);
		body->rotation[tet] = (FemVec4){q.x, q.y, q.z, q.w};
	}
}

FemResult fem_body_teleport(FemBodyId id, FemPosition position, FemQuat rotation) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return result;
	if (!fem_position_is_valid(position))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "position must be within +-%g m of the world's origin.", FEM_COORDINATE_MAX);
	if (!fem_quat_normalize(&rotation))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"rotation is no quaternion that can be normalized: use (0, 0, 0, 1) for no rotation.");
	Motion motion = motion_between(body, position, rotation);
	fem_world_wake_touching_body(world, id.index1 - 1); // what stood on it falls
	move_body(body, &motion);
	body->pose_position = position;
	body->pose_rotation = rotation;
	fem_body_wake_all(&world->islands, body);
	publish_jump(body);
	return FEM_OK;
}
