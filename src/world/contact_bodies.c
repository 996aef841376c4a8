// What a body brings to contact: trees over its surface, which faces and nodes are outside, its place in the sweep.
#include "base/memory.h"
#include "base/vec.h"
#include "mesh/topology.h"
#include "world/step.h"
#include "world/world.h"

#include <string.h>

static void mark_exterior(FemBody *body) {
	const FemTopology *t = body->topology;
	for (int32_t k = 0; k < t->triangle_count; k++) {
		int32_t tet = t->triangle_tets[k];
		const int32_t *face = t->triangles + 3 * (int64_t)k;
		for (int i = 0; i < 4; i++) {
			int32_t node = fem_tet_node(t, tet, i);
			if (node != face[0] && node != face[1] && node != face[2])
				body->tet_exterior[tet] |= (uint8_t)(1u << i);
		}
	}
}

static double face_area(const FemBody *body, const int32_t *face) {
	FemPosition a = fem_position_from4(body->position[face[0]]);
	FemPosition u = fem_position_sub(fem_position_from4(body->position[face[1]]), a);
	FemPosition v = fem_position_sub(fem_position_from4(body->position[face[2]]), a);
	FemPosition n = fem_position_cross(u, v);
	return 0.5 * sqrt(fem_position_dot(n, n));
}

// Ascending. `place` is scratch of one int per node.
static void list_surface_nodes(FemBody *body, int32_t *place) {
	const FemTopology *t = body->topology;
	for (int32_t k = 0; k < 3 * t->triangle_count; k++)
		place[t->triangles[k]] = 1;
	for (int32_t i = 0; i < t->node_count; i++) {
		if (!place[i])
			continue;
		place[i] = body->surface_node_count;
		body->surface_nodes[body->surface_node_count++] = i;
	}
	for (int32_t k = 0; k < t->triangle_count; k++) {
		const int32_t *face = t->triangles + 3 * (int64_t)k;
		float third = (float)(face_area(body, face) / 3.0);
		for (int i = 0; i < 3; i++)
			body->surface_area[place[face[i]]] += third;
	}
}

static void measure_box(FemBody *body) {
	double low[3] = {1e30, 1e30, 1e30}, high[3] = {-1e30, -1e30, -1e30}, volume = 1.0;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		double x[3] = {body->position[i].x, body->position[i].y, body->position[i].z};
		for (int k = 0; k < 3; k++) {
			low[k] = fmin(low[k], x[k]);
			high[k] = fmax(high[k], x[k]);
		}
	}
	for (int k = 0; k < 3; k++)
		volume *= high[k] - low[k];
	body->box_strength = (float)((double)body->total_mass / pow(volume, 2.0 / 3.0));
}

static FemSweepBox body_box(const FemBody *body) {
	float low[3], high[3];
	const double *origin = &body->origin.x;
	FemSweepBox box;
	fem_surface_trees_box(body->trees, low, high);
	for (int i = 0; i < 3; i++) {
		box.min[i] = origin[i] + (double)low[i];
		box.max[i] = origin[i] + (double)high[i];
	}
	return box;
}

bool fem_body_contact_create(FemWorld *world, FemBody *body, int32_t body_index) {
	const FemTopology *t = body->topology;
	body->sweep_proxy = -1;
	if (!world->def.contacts_enabled)
		return true;
	int32_t *place = FEM_ALLOC_ARRAY(int32_t, t->node_count);
	body->tet_exterior = FEM_ALLOC_ARRAY(uint8_t, t->batch_count * FEM_LANES);
	body->surface_nodes = FEM_ALLOC_ARRAY(int32_t, t->node_count);
	body->surface_area = FEM_ALLOC_ARRAY(float, t->node_count);
	body->trees = fem_surface_trees_create(t, body->position);
	bool ok = place && body->tet_exterior && body->surface_nodes && body->surface_area && body->trees;
	if (ok) {
		mark_exterior(body);
		list_surface_nodes(body, place);
		measure_box(body);
		fem_surface_trees_begin_refit(body->trees, body->position);
		for (int32_t task = 0; task < fem_surface_trees_task_count(body->trees); task++)
			fem_surface_trees_refit_task(body->trees, task);
		FemSweepBox box = body_box(body);
		body->sweep_proxy = fem_sweep_create_proxy(&world->sweep, &box, (uint32_t)body_index, fem_body_sleeps(body));
		ok = body->sweep_proxy >= 0;
	}
	FEM_FREE_ARRAY(place, t->node_count);
	return ok;
}

void fem_body_contact_free(FemWorld *world, FemBody *body) {
	const FemTopology *t = body->topology;
	if (body->sweep_proxy >= 0)
		fem_sweep_destroy_proxy(&world->sweep, body->sweep_proxy);
	FEM_FREE_ARRAY(body->tet_exterior, t->batch_count * FEM_LANES);
	FEM_FREE_ARRAY(body->surface_nodes, t->node_count);
	FEM_FREE_ARRAY(body->surface_area, t->node_count);
	if (body->trees)
		fem_surface_trees_free(body->trees);
}

// ------------------------------------------------------------------------------------------------------------------ refit

typedef struct RefitTask {
	FemWorld *world;
	const int32_t *starts; // [active body + 1]
	int32_t count;
} RefitTask;

static void refit_task(void *context, int32_t task) {
	RefitTask *refit = context;
	int32_t low = 0, high = refit->count;
	while (low + 1 < high) {
		int32_t middle = (low + high) / 2;
		if (refit->starts[middle] <= task)
			low = middle;
		else
			high = middle;
	}
	FemBody *body = refit->world->bodies[refit->world->islands.active_bodies[low]];
	fem_surface_trees_refit_task(body->trees, task - refit->starts[low]);
}

void fem_contact_bodies_refit(FemStep *step) {
	FemWorld *world = step->world;
	int32_t count = world->islands.active_count;
	int32_t *starts = FEM_ARENA_TAKE(&world->arena, int32_t, count + 1);
	RefitTask refit = {world, starts, count};
	starts[0] = 0;
	for (int32_t i = 0; i < count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		fem_surface_trees_begin_refit(body->trees, body->position);
		starts[i + 1] = starts[i] + fem_surface_trees_task_count(body->trees);
	}
	fem_pool_for(world->pool, starts[count], refit_task, &refit);
	for (int32_t i = 0; i < count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		FemSweepBox box = body_box(body);
		fem_sweep_move_proxy(&world->sweep, body->sweep_proxy, &box);
	}
}

// Any body may have changed its state when the islands were made anew.
void fem_contact_bodies_mark_still(FemWorld *world) {
	for (int32_t b = 0; world->islands.rebuilt && b < world->body_capacity; b++) {
		if (world->bodies[b] && world->bodies[b]->sweep_proxy >= 0)
			fem_sweep_set_still(&world->sweep, world->bodies[b]->sweep_proxy, fem_body_sleeps(world->bodies[b]));
	}
}

// ------------------------------------------------------------------------------------------------------------------ waking

// The bodies of all pairs of a proxy, awake or not.
static void wake_pairs(FemWorld *world, int32_t proxy) {
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		if (body && body->sweep_proxy >= 0 && fem_sweep_find_pair(&world->sweep, proxy, body->sweep_proxy) >= 0)
			fem_body_wake_all(&world->islands, body);
	}
}

void fem_world_wake_touching(FemWorld *world, int32_t collider_index) {
	wake_pairs(world, world->colliders[collider_index].sweep_proxy);
}

void fem_world_wake_touching_body(FemWorld *world, int32_t body_index) {
	if (world->bodies[body_index]->sweep_proxy >= 0)
		wake_pairs(world, world->bodies[body_index]->sweep_proxy);
}
