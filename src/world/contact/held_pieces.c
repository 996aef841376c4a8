#include "world/contact/held_pieces.h"

#include "base/vec.h"
#include "model/piece.h"
#include "world/api/checks.h"
#include "world/world.h"

#include <math.h>

static FemVec3 mean_velocity(const FemBody *body, FemRange nodes, double mass) {
	double sum[3] = {0.0, 0.0, 0.0};
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		double m = (double)body->mass[i];
		sum[0] += m * (double)body->velocity[i].x;
		sum[1] += m * (double)body->velocity[i].y;
		sum[2] += m * (double)body->velocity[i].z;
	}
	return (FemVec3){(float)(sum[0] / mass), (float)(sum[1] / mass), (float)(sum[2] / mass)};
}

static void add_velocity(FemBody *body, FemRange nodes, FemVec3 change) {
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		if (body->node_kind[i] != FEM_NODE_FREE)
			continue;
		body->velocity[i].x += change.x;
		body->velocity[i].y += change.y;
		body->velocity[i].z += change.z;
	}
}

// The share of `change` that the piece moves along with: taken off it, that makes it slower and never reverses it.
static FemVec3 borne_by_motion(const FemBody *body, int32_t component, FemVec3 change) {
	FemVec3 v = mean_velocity(body, body->topology->component_nodes[component], (double)body->pieces[component].mass);
	float square = fem_vec3_dot(change, change), along = fem_vec3_dot(v, change);
	float share = square > 0.0f ? fminf(fmaxf(along / square, 0.0f), 1.0f) : 0.0f;
	return fem_vec3_scale(change, fem_is_finite(share) ? share : 0.0f);
}

// Colliders with mass are told what their own momentum does; others what they bear.
static void tell_collider(FemWorld *world, int32_t collider_index, const FemBody *body, int32_t component, FemVec3 v) {
	if (collider_index < 0 || collider_index >= world->collider_capacity || !world->colliders[collider_index].in_use)
		return;
	FemCollider *collider = &world->colliders[collider_index];
	if (collider->leader >= 0)
		collider = &world->colliders[collider->leader];
	if (fem_collider_is_free(collider))
		return;
	FemVec3 impulse = fem_vec3_scale(v, body->pieces[component].mass);
	collider->held_impulse = fem_vec3_add(collider->held_impulse, impulse);
	if (collider->shape.type == FEM_SHAPE_HALF_SPACE)
		return;
	FemRange nodes = body->topology->component_nodes[component];
	FemVec3d center = {0.0, 0.0, 0.0};
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		double share = (double)body->mass[i] / (double)body->pieces[component].mass;
		center = fem_vec3d_add(center, fem_vec3d_scale(fem_vec3d_from4(body->position[i]), share));
	}
	FemVec3 arm =
		fem_vec3_sub(fem_vec3d_to_vec3(fem_position_sub(fem_position_move(body->origin, center), collider->position)),
			collider->center);
	collider->held_angular_impulse = fem_vec3_add(collider->held_angular_impulse, fem_vec3_cross(arm, impulse));
}

static bool is_zero(FemVec3 v) {
	return v.x == 0.0f && v.y == 0.0f && v.z == 0.0f;
}

void fem_held_pieces_release(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t c = 0; c < world->collider_capacity; c++)
		world->colliders[c].held_impulse = world->colliders[c].held_angular_impulse = (FemVec3){0.0f, 0.0f, 0.0f};
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		for (int32_t c = 0; c < body->topology->component_count; c++) {
			FemPiece *piece = &body->pieces[c];
			piece->released = piece->held;
			piece->held = (FemVec3){0.0f, 0.0f, 0.0f};
			if (is_zero(piece->released))
				continue;
			add_velocity(body, body->topology->component_nodes[c], piece->released);
			tell_collider(world, piece->held_by, body, c, fem_vec3_scale(piece->released, -1.0f));
		}
	}
}

void fem_held_pieces_settle(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		for (int32_t c = 0; c < body->topology->component_count; c++) {
			FemPiece *piece = &body->pieces[c];
			if (is_zero(piece->released))
				continue;
			FemVec3 lost = borne_by_motion(body, c, piece->released);
			add_velocity(body, body->topology->component_nodes[c], fem_vec3_scale(lost, -1.0f));
			tell_collider(world, piece->held_by, body, c, lost);
			piece->released = (FemVec3){0.0f, 0.0f, 0.0f};
		}
	}
}

void fem_piece_hold(FemStep *step, int32_t body_index, int32_t component, float time, int32_t collider) {
	FemBody *body = step->world->bodies[body_index];
	FemPiece *piece = &body->pieces[component];
	FemVec3 gained = fem_vec3_scale(fem_body_gravity(step->world, body), time);
	piece->held = borne_by_motion(body, component, gained);
	piece->held_by = collider;
	add_velocity(body, body->topology->component_nodes[component], fem_vec3_scale(piece->held, -1.0f));
	tell_collider(step->world, collider, body, component, piece->held);
}

void fem_held_pieces_forget(FemWorld *world, int32_t collider) {
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		for (int32_t c = 0; body && c < body->topology->component_count; c++) {
			if (body->pieces[c].held_by == collider)
				body->pieces[c].held_by = -1;
		}
	}
}
