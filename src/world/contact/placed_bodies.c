#include "world/contact/placed_bodies.h"

#include "base/memory.h"
#include "base/vec.h"
#include "dynamics/tumbling.h"
#include "model/body.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/api/checks.h"

#include <math.h>
#include <string.h>

// Of what a piece is thick (a third of a cube's edge), and of the distance that it falls in a step: the most that a
// surface is moved out; so that gaps of 1 mm under and between cubes of 5 cm count as none, 2.5 % of their edge.
#define SWELL_SHARE 0.075f
#define FALL_SHARE 0.5f
#define NORMAL_FLOOR 0.05 // added to the normal equations of a node: a node of one plane moves along its normal; chosen

static bool is_zero(FemVec4 v) {
	return v.x == 0.0f && v.y == 0.0f && v.z == 0.0f;
}

// Nothing has moved it: neither a velocity that was set nor a solve. What wakes has its contacts as it slept.
static bool is_placed(const FemBody *body) {
	if (body->kinematic || body->pinned_count > 0 || body->own_topology || body->live_part_count == 0 ||
		body->was_asleep)
		return false;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		if (!is_zero(body->velocity[i]) || !is_zero(body->last_dv[i]))
			return false;
	}
	return true;
}

static float swell_of(const FemWorld *world, const FemBody *body, float dt) {
	float swell = FALL_SHARE * dt * dt * fem_vec3_length(fem_body_gravity(world, body));
	for (int32_t c = 0; c < body->topology->component_count; c++)
		swell = fminf(swell, SWELL_SHARE * body->pieces[c].thickness);
	return swell;
}

// Of the normals n_f of outer faces around a node: sum n_f, and sum n_f n_f^T row by row.
typedef struct Normals {
	double sum[3], square[9];
} Normals;

static void add_normals(const FemBody *body, const FemVec4 *position, Normals *normals) {
	const FemTopology *t = body->topology;
	for (int32_t k = 0; k < t->triangle_count; k++) {
		const int32_t *face = t->triangles + 3 * (int64_t)k;
		FemVec3 a = fem_vec3_from(position[face[0]]);
		FemVec3 cross = fem_vec3_cross(
			fem_vec3_sub(fem_vec3_from(position[face[1]]), a), fem_vec3_sub(fem_vec3_from(position[face[2]]), a));
		float length = fem_vec3_length(cross);
		if (!(length > 0.0f))
			continue;
		const double n[3] = {(double)(cross.x / length), (double)(cross.y / length), (double)(cross.z / length)};
		for (int c = 0; c < 3; c++) {
			Normals *node = &normals[face[c]];
			for (int i = 0; i < 3; i++)
				node->sum[i] += n[i];
			for (int i = 0; i < 9; i++)
				node->square[i] += n[i / 3] * n[i % 3];
		}
	}
}

// Moves the corners of outer faces so that all of these are moved out alike, as nearly as can be:
// (sum n_f n_f^T) d = swell sum n_f. Keeps where all nodes stood.
static void swell_body(FemBody *body, Normals *normals, FemVec4 *out_kept) {
	int32_t count = body->topology->node_count;
	memcpy(out_kept, body->position, sizeof *out_kept * (size_t)count);
	memset(normals, 0, sizeof *normals * (size_t)count);
	add_normals(body, out_kept, normals);
	for (int32_t k = 0; k < body->surface_node_count; k++) {
		Normals *node = &normals[body->surface_nodes[k]];
		double d[3];
		for (int i = 0; i < 3; i++)
			node->square[4 * i] += NORMAL_FLOOR;
		fem_solve3(node->square, node->sum, d);
		FemVec4 *x = &body->position[body->surface_nodes[k]];
		x->x += body->swell * (float)d[0], x->y += body->swell * (float)d[1], x->z += body->swell * (float)d[2];
	}
}

// Finds what was placed; returns how many nodes that has.
static int64_t find_placed(FemWorld *world, float dt, int32_t *out_largest) {
	int64_t count = 0;
	*out_largest = 0;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		int32_t nodes = body->topology->node_count;
		body->swell = is_placed(body) ? swell_of(world, body, dt) : 0.0f;
		if (body->swell == 0.0f)
			continue;
		count += nodes;
		*out_largest = nodes > *out_largest ? nodes : *out_largest;
	}
	return count;
}

// Without memory they fall one after the other.
void fem_placed_bodies_swell(FemWorld *world, float dt) {
	FemContactStage *stage = &world->contacts;
	int32_t largest;
	stage->placed_count = find_placed(world, dt, &largest);
	stage->placed = NULL;
	if (stage->placed_count == 0)
		return;
	Normals *normals = FEM_ALLOC_ARRAY_UNSET(Normals, largest);
	stage->placed = normals ? FEM_ALLOC_ARRAY_UNSET(FemVec4, stage->placed_count) : NULL;
	FemVec4 *kept = stage->placed;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		body->swell = kept ? body->swell : 0.0f;
		if (body->swell == 0.0f)
			continue;
		swell_body(body, normals, kept);
		kept += body->topology->node_count;
	}
	FEM_FREE_ARRAY(normals, largest);
}

void fem_placed_bodies_shrink(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	const FemVec4 *kept = stage->placed;
	for (int32_t i = 0; i < world->islands.active_count && kept; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (body->swell == 0.0f)
			continue;
		memcpy(body->position, kept, sizeof *kept * (size_t)body->topology->node_count);
		kept += body->topology->node_count;
		body->swell = 0.0f;
	}
	FEM_FREE_ARRAY(stage->placed, stage->placed_count);
	stage->placed = NULL;
	stage->placed_count = 0;
}
