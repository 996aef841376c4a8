// What fem_world_debug_draw() shows.
#include "fem_debug_draw.h"

#include "base/mat3.h"
#include "base/vec.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/api/bodies.h"
#include "world/api/colliders.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <math.h>

#define NORMAL_LENGTH 0.1 // m: seen beside things of a game's size; chosen

// RGBA; chosen: far apart.
#define COLOR_AWAKE 0xffffffffu
#define COLOR_ASLEEP 0x808080ffu
#define COLOR_KINEMATIC 0x4080ffffu
#define COLOR_ACTIVE 0xff2020ffu
#define COLOR_TOUCHING 0xffd020ffu
#define COLOR_ELASTIC 0xff9020ffu
#define COLOR_RIGID 0x2070ffffu
#define COLOR_DRIVEN 0xb050ffffu
#define COLOR_BODY_BOX 0x20ff20ffu
#define COLOR_COLLIDER_BOX 0x20ffffffu

static FemPosition node_position(const FemBody *body, int32_t node) {
	return fem_position_move(body->origin, fem_vec3d_from4(body->position[node]));
}

// ---- boxes

static void draw_box(const FemDebugDraw *draw, FemPosition low, FemPosition high, uint32_t color) {
	FemPosition corners[8];
	for (int i = 0; i < 8; i++)
		corners[i] = (FemPosition){i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z};
	for (int i = 0; i < 8; i++) {
		for (int axis = 1; axis < 8; axis *= 2) {
			if (!(i & axis))
				draw->line(draw->user, corners[i], corners[i | axis], color);
		}
	}
}

static void draw_boxes(const FemWorld *world, const FemDebugDraw *draw) {
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemPosition low, high;
		if (world->bodies[b] && fem_body_get_bounds(fem_body_id(world, b), &low, &high) == FEM_OK)
			draw_box(draw, low, high, COLOR_BODY_BOX);
	}
	for (int32_t c = 0; c < world->collider_capacity; c++) {
		if (!world->colliders[c].in_use)
			continue;
		FemSweepBox box = fem_collider_box(&world->colliders[c]);
		bool is_finite = true;
		for (int axis = 0; axis < 3; axis++)
			is_finite &= fabs(box.min[axis]) <= FEM_COORDINATE_MAX && fabs(box.max[axis]) <= FEM_COORDINATE_MAX;
		if (is_finite)
			draw_box(draw, (FemPosition){box.min[0], box.min[1], box.min[2]},
				(FemPosition){box.max[0], box.max[1], box.max[2]}, COLOR_COLLIDER_BOX);
	}
}

// ---- tets

static uint32_t node_color(const FemBody *body, int32_t node) {
	if (body->kinematic)
		return COLOR_KINEMATIC;
	return body->part_state[body->topology->node_part[node]] == FEM_ISLAND_ASLEEP ? COLOR_ASLEEP : COLOR_AWAKE;
}

// The rows hold each edge from both its ends.
static void draw_tets(const FemBody *body, const FemDebugDraw *draw) {
	const FemTopology *t = body->topology;
	for (int32_t i = 0; i < t->node_count; i++) {
		for (int32_t k = t->row_start[i]; k < t->row_start[i + 1]; k++) {
			int32_t j = t->row_column[k];
			if (i < j)
				draw->line(draw->user, node_position(body, i), node_position(body, j), node_color(body, i));
		}
	}
}

// ---- stress

// Colour of a share 0..1, from blue by green to red.
static uint32_t heat_color(double share) {
	double s = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
	uint32_t red = (uint32_t)(255.0 * fmax(0.0, 2.0 * s - 1.0)), blue = (uint32_t)(255.0 * fmax(0.0, 1.0 - 2.0 * s));
	return red << 24 | (255 - red - blue) << 16 | blue << 8 | 0xff;
}

// Largest principal stress of a tet, Pa; 0 under compression.
static double tension_of(const FemBody *body, int32_t tet) {
	FemTetStrain strain;
	double values[3], vectors[3][3];
	fem_tet_strain(body, tet, &strain);
	fem_eigen_symmetric3(strain.stress, values, vectors);
	return fmax(values[2], 0.0);
}

// Tensile stress at which a tet breaks, Pa; infinite for one that does not break, or breaks by a force.
static double strength_of(const FemBody *body, int32_t tet) {
	return body->breaking && !body->tet_by_force[tet] ? (double)body->tet_toughness[tet] : INFINITY;
}

static void draw_stress(const FemBody *body, const FemDebugDraw *draw) {
	const FemTopology *t = body->topology;
	double largest = 0.0;
	for (int32_t i = 0; !(draw->stress_max > 0.0f) && i < t->triangle_count; i++)
		largest = fmax(largest, tension_of(body, t->triangle_tets[i]));
	for (int32_t i = 0; i < t->triangle_count; i++) {
		int32_t tet = t->triangle_tets[i];
		double strength = strength_of(body, tet), red = isfinite(strength) ? strength : largest;
		red = draw->stress_max > 0.0f ? (double)draw->stress_max : red;
		FemPosition corners[3];
		for (int v = 0; v < 3; v++)
			corners[v] = node_position(body, t->triangles[3 * (size_t)i + (size_t)v]);
		draw->triangle(draw->user, corners, heat_color(red > 0.0 ? tension_of(body, tet) / red : 0.0));
	}
}

// ---- ways of moving

static uint32_t motion_color(const FemBody *body, int32_t node) {
	if (body->kinematic)
		return COLOR_DRIVEN;
	if (body->part_state[body->topology->node_part[node]] == FEM_ISLAND_ASLEEP)
		return COLOR_ASLEEP;
	return body->pieces[fem_node_component(body->topology, node)].is_rigid ? COLOR_RIGID : COLOR_ELASTIC;
}

static void draw_motion(const FemBody *body, const FemDebugDraw *draw) {
	const FemTopology *t = body->topology;
	for (int32_t i = 0; i < t->triangle_count; i++) {
		const int32_t *nodes = &t->triangles[3 * (size_t)i];
		FemPosition corners[3];
		for (int v = 0; v < 3; v++)
			corners[v] = node_position(body, nodes[v]);
		draw->triangle(draw->user, corners, motion_color(body, nodes[0]));
	}
}

// ---- contacts

static void draw_contact(const FemWorld *world, const FemContact *contact, const FemDebugDraw *draw) {
	const FemContactSide *side = &contact->side[0];
	const FemBody *body = world->bodies[side->body];
	FemPosition at = body->origin;
	for (int k = 0; k < 4; k++)
		at = fem_position_move(
			at, fem_vec3d_scale(fem_vec3d_from4(body->position[side->nodes[k]]), (double)side->weights[k]));
	const float *j = contact->impulse, *n = contact->normal;
	uint32_t color = j[0] * n[0] + j[1] * n[1] + j[2] * n[2] > 0.0f ? COLOR_ACTIVE : COLOR_TOUCHING;
	FemVec3d normal = {(double)n[0], (double)n[1], (double)n[2]};
	if (draw->point)
		draw->point(draw->user, at, color);
	if (draw->line)
		draw->line(draw->user, at, fem_position_move(at, fem_vec3d_scale(normal, NORMAL_LENGTH)), color);
}

// ---- islands

static void draw_island(const FemWorld *world, int32_t index, const FemDebugDraw *draw) {
	const FemIsland *island = &world->islands.islands[index];
	const FemBody *body = world->bodies[island->body];
	FemPosition low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
	for (int32_t p = island->parts.begin; p < island->parts.end; p++) {
		FemRange nodes = body->topology->part_nodes[world->islands.part_list[p]];
		for (int32_t i = nodes.begin; i < nodes.end; i++) {
			FemPosition x = node_position(body, i);
			low = (FemPosition){fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z)};
			high = (FemPosition){fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z)};
		}
	}
	// Steps of the golden ratio: neighbours in the list differ most.
	draw_box(draw, low, high, ((uint32_t)(index + 1) * 2654435769u & 0xffffff00u) | 0xff);
}

// A piece that broke off or fell asleep since is in the lists only after an update. Without memory for it, none are
// drawn.
static void draw_islands(FemWorld *world, const FemDebugDraw *draw) {
	if (!fem_islands_update(&world->islands, world->bodies, world->body_capacity))
		return;
	for (int32_t i = 0; i < world->islands.count; i++)
		draw_island(world, i, draw);
}

FemResult fem_world_debug_draw(FemWorldId id, uint32_t flags, const FemDebugDraw *draw) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world)
		return result;
	if (!draw || (draw->stress_max != 0.0f && !(draw->stress_max > 0.0f)))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "draw is null, or its stress_max negative or not a number: pass callbacks.");
	for (int32_t b = 0; b < world->body_capacity; b++) {
		if (world->bodies[b] && draw->line && flags & FEM_DRAW_TETS)
			draw_tets(world->bodies[b], draw);
		if (world->bodies[b] && draw->triangle && flags & FEM_DRAW_STRESS)
			draw_stress(world->bodies[b], draw);
		if (world->bodies[b] && draw->triangle && flags & FEM_DRAW_MOTION)
			draw_motion(world->bodies[b], draw);
	}
	for (int32_t i = 0; flags & FEM_DRAW_CONTACTS && i < world->contacts.contact_count; i++)
		draw_contact(world, &world->contacts.contacts[i], draw);
	if (draw->line && flags & FEM_DRAW_ISLANDS)
		draw_islands(world, draw);
	if (draw->line && flags & FEM_DRAW_BOXES)
		draw_boxes(world, draw);
	return FEM_OK;
}
