// Explosions and damage: what games do to a region of space and all bodies in it.
#include "base/vec.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <math.h>

#define SPEED_HELD 1e15f    // m/s, of a node until its piece has been looked at: floats hold its square
#define SPREAD_ROUNDS 8     // in which momentum goes from nodes that are too fast to the others; chosen
#define SPEED_FULL 0.99999f // of node_speed_max: a node that fast takes nothing more, whatever was rounded

typedef struct Blast {
	FemPosition center; // m, world
	double radius;      // m
	double strength;    // N s / m^2
} Blast;

static FemResult check_place(FemPosition center, float radius) {
	if (!fem_position_is_valid(center))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The place must be within +-%g m of the world's origin.", FEM_COORDINATE_MAX);
	if (!(radius > 0.0f) || !fem_is_finite(radius))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "radius must be a positive number of metres.");
	return FEM_OK;
}

static bool is_near(const FemBody *body, FemPosition center, double radius) {
	FemVec3d local = fem_position_sub(center, body->published_origin);
	const double at[3] = {local.x, local.y, local.z};
	double distance_sq = 0.0;
	for (int axis = 0; axis < 3; axis++) {
		double low = (double)body->box_min[axis] - at[axis], high = at[axis] - (double)body->box_max[axis];
		double outside = fmax(fmax(low, high), 0.0);
		distance_sq += outside * outside;
	}
	return distance_sq < radius * radius;
}

// ---- explosion

// The impulse on a face, N s: strength times the area that the centre sees of it, straight away from the centre.
static bool face_impulse(const Blast *blast, FemVec3d local, const FemVec3d x[3], FemVec3d *out) {
	FemVec3d middle = fem_vec3d_scale(fem_vec3d_add(fem_vec3d_add(x[0], x[1]), x[2]), 1.0 / 3.0);
	FemVec3d area = fem_vec3d_scale(fem_vec3d_cross(fem_vec3d_sub(x[1], x[0]), fem_vec3d_sub(x[2], x[0])), 0.5);
	FemVec3d arm = fem_vec3d_sub(middle, local);
	double distance = sqrt(fem_vec3d_dot(arm, arm));
	if (distance >= blast->radius || distance <= 0.0)
		return false;
	FemVec3d away = fem_vec3d_scale(arm, 1.0 / distance);
	double seen = -fem_vec3d_dot(area, away), share = 1.0 - distance / blast->radius;
	*out = fem_vec3d_scale(away, blast->strength * share * share * seen);
	return seen > 0.0;
}

// Its speed may be beyond what nodes may have until limit_speeds().
static void push_node(FemWorld *world, FemBody *body, int32_t node, FemVec3d impulse) {
	if (body->node_kind[node] != FEM_NODE_FREE)
		return;
	FemVec3d dv = fem_vec3d_scale(impulse, 1.0 / (double)body->mass[node]);
	FemVec3d v = fem_vec3d_add(fem_vec3d_from4(body->velocity[node]), dv);
	body->velocity[node] = fem_vec4_from(fem_clamp_speed(v, SPEED_HELD));
	body->blow_speed = fmaxf(body->blow_speed, (float)sqrt(fem_vec3d_dot(dv, dv)));
	fem_body_wake_part(&world->islands, body, body->topology->node_part[node]);
	fem_piece_release(&body->pieces[fem_node_component(body->topology, node)]);
}

// Cuts the speeds of a piece's free nodes. Returns what they lost, N s, and the mass of those that can take it, kg.
static FemVec3d cut_speeds(FemBody *body, FemRange nodes, float most, double *out_mass) {
	FemVec3d lost = {0};
	*out_mass = 0.0;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec3d v = fem_vec3d_from4(body->velocity[i]);
		double m = (double)body->mass[i], square = fem_vec3d_dot(v, v), full = (double)(SPEED_FULL * most);
		if (body->node_kind[i] != FEM_NODE_FREE)
			continue;
		if (square < full * full)
			*out_mass += m;
		if (square <= (double)most * (double)most)
			continue;
		body->velocity[i] = fem_vec4_from(fem_clamp_speed(v, most));
		lost = fem_vec3d_add(lost, fem_vec3d_scale(fem_vec3d_sub(v, fem_vec3d_from4(body->velocity[i])), m));
	}
	return lost;
}

// Nodes of a fine mesh have little mass: what would make them faster than nodes may be goes to the rest of their piece,
// in equal velocities, so that the momentum is all there. Only a piece that is too fast as a whole loses some.
static void limit_speeds(FemBody *body, FemRange nodes, float most) {
	double mass;
	FemVec3d lost = cut_speeds(body, nodes, most, &mass);
	for (int round = 0; round < SPREAD_ROUNDS && mass > 0.0 && fem_vec3d_dot(lost, lost) > 0.0; round++) {
		FemVec3d dv = fem_vec3d_scale(lost, 1.0 / mass);
		for (int32_t i = nodes.begin; i < nodes.end; i++) {
			FemVec3d v = fem_vec3d_from4(body->velocity[i]);
			double full = (double)(SPEED_FULL * most);
			if (body->node_kind[i] == FEM_NODE_FREE && fem_vec3d_dot(v, v) < full * full)
				body->velocity[i] = fem_vec4_from(fem_vec3d_to_vec3(fem_vec3d_add(v, dv)));
		}
		lost = cut_speeds(body, nodes, most, &mass);
	}
}

static bool blow(FemWorld *world, FemBody *body, const Blast *blast) {
	const FemTopology *t = body->topology;
	FemVec3d local = fem_position_sub(blast->center, body->origin);
	bool reached = false;
	if (body->kinematic || !is_near(body, blast->center, blast->radius))
		return false;
	for (int32_t f = 0; f < t->triangle_count; f++) {
		const int32_t *nodes = &t->triangles[3 * f];
		FemVec3d x[3], impulse;
		for (int k = 0; k < 3; k++)
			x[k] = fem_vec3d_from4(body->position[nodes[k]]);
		if (!face_impulse(blast, local, x, &impulse))
			continue;
		for (int k = 0; k < 3; k++)
			push_node(world, body, nodes[k], fem_vec3d_scale(impulse, 1.0 / 3.0));
		reached = true;
	}
	for (int32_t c = 0; reached && c < t->component_count; c++)
		limit_speeds(body, t->component_nodes[c], world->def.node_speed_max);
	return reached;
}

static FemResult check_blast(FemPosition center, float radius, float strength) {
	FemResult result = check_place(center, radius);
	if (result == FEM_OK && !fem_is_finite(strength))
		result = fem_fail(FEM_ERROR_INVALID_ARGUMENT, "strength is not finite: correct it.");
	return result;
}

FemResult fem_body_apply_explosion(FemBodyId id, FemPosition center, float radius, float strength) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || (result = check_blast(center, radius, strength)) != FEM_OK)
		return result;
	Blast blast = {center, (double)radius, (double)strength};
	blow(world, body, &blast);
	return FEM_OK;
}

int32_t fem_world_apply_explosion(FemWorldId id, FemPosition center, float radius, float strength) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	int32_t count = 0;
	if (!world || check_blast(center, radius, strength) != FEM_OK)
		return -1;
	Blast blast = {center, (double)radius, (double)strength};
	for (int32_t b = 0; b < world->body_capacity; b++)
		count += world->bodies[b] && blow(world, world->bodies[b], &blast);
	return count;
}

// ---- damage

static FemVec3d centroid(const FemBody *body, int32_t tet) {
	FemVec3d sum = {0};
	for (int32_t v = 0; v < 4; v++)
		sum = fem_vec3d_add(sum, fem_vec3d_from4(body->position[fem_tet_node(body->topology, tet, v)]));
	return fem_vec3d_scale(sum, 0.25);
}

FemResult fem_body_apply_damage(FemBodyId id, FemPosition point, float radius, float amount, int32_t *out_count) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || (result = check_place(point, radius)) != FEM_OK)
		return result;
	if (!(amount >= 0.0f && amount <= 1.0f))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "amount must be a share of the toughness, 0..1.");
	if (!body->breaking)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The body has no material that breaks: set breakable in one of them first.");
	FemVec3d local = fem_position_sub(point, body->origin);
	int32_t count = 0;
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		FemVec3d arm = fem_vec3d_sub(centroid(body, tet), local);
		double distance = sqrt(fem_vec3d_dot(arm, arm));
		if (body->topology->user_of_tet[tet] < 0 || !(distance < (double)radius))
			continue;
		body->tet_scale[tet] *= (float)(1.0 - (double)amount * (1.0 - distance / (double)radius));
		count++;
	}
	if (count > 0) {
		fem_body_refresh_toughness(world, body);
		fem_body_wake_all(&world->islands, body);
	}
	if (out_count)
		*out_count = count;
	return FEM_OK;
}
