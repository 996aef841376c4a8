// What a body brings to contact: trees over its surface, which faces and nodes are outside, its place in the sweep.
#include "base/memory.h"
#include "base/vec.h"
#include "mesh/topology.h"
#include "world/breaking.h"

#include <string.h>

static void mark_exterior(FemBody *body) {
	const FemTopology *t = body->topology;
	memset(body->tet_exterior, 0, (size_t)t->batch_count * FEM_LANES);
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

// Of the rest shape: a body restored from a snapshot is not where it was made, and must measure the same.
static FemPosition rest_point(const FemMesh *mesh, const FemBody *body, int32_t node) {
	const FemTopology *t = body->topology;
	int32_t user = t->user_of_node[node];
	FemPosition p = fem_position_from(mesh->positions[t->split ? t->split->source_of_user[user] : user]);
	return (FemPosition){p.x * (double)body->scale.x, p.y * (double)body->scale.y, p.z * (double)body->scale.z};
}

static double face_area(const FemMesh *mesh, const FemBody *body, const int32_t *face) {
	FemPosition a = rest_point(mesh, body, face[0]);
	FemPosition u = fem_position_sub(rest_point(mesh, body, face[1]), a);
	FemPosition v = fem_position_sub(rest_point(mesh, body, face[2]), a);
	FemPosition n = fem_position_cross(u, v);
	return 0.5 * sqrt(fem_position_dot(n, n));
}

// Ascending. `place` is scratch of one int per node.
static void list_surface_nodes(const FemMesh *mesh, FemBody *body, int32_t *place) {
	const FemTopology *t = body->topology;
	memset(place, 0, sizeof *place * (size_t)t->node_count);
	body->surface_node_count = 0;
	for (int32_t k = 0; k < 3 * t->triangle_count; k++)
		place[t->triangles[k]] = 1;
	for (int32_t i = 0; i < t->node_count; i++) {
		if (!place[i])
			continue;
		place[i] = body->surface_node_count;
		body->surface_area[body->surface_node_count] = 0.0f;
		body->surface_nodes[body->surface_node_count++] = i;
	}
	for (int32_t k = 0; k < t->triangle_count; k++) {
		const int32_t *face = t->triangles + 3 * (int64_t)k;
		float third = (float)(face_area(mesh, body, face) / 3.0);
		for (int i = 0; i < 3; i++)
			body->surface_area[place[face[i]]] += third;
	}
}

// A plate's sides are nearly all of its surface.
static void measure_thickness(FemBody *body) {
	double volume = 0.0, surface = 0.0;
	for (int32_t b = 0; b < body->topology->batch_count; b++) {
		for (int lane = 0; lane < FEM_LANES; lane++)
			volume += (double)body->batches[b].volume[lane];
	}
	for (int32_t i = 0; i < body->surface_node_count; i++)
		surface += (double)body->surface_area[i];
	body->thickness = (float)(2.0 * volume / surface);
}

static FemPosition mesh_point(const FemMesh *mesh, int32_t node) {
	return fem_position_from(mesh->positions[mesh->topology->user_of_node[node]]);
}

// (Volume of the mesh's box)^(1/3), m.
static double mesh_size(const FemMesh *mesh) {
	double volume = 1.0;
	for (int k = 0; k < 3; k++) {
		double low = 1e30, high = -1e30;
		for (int32_t i = 0; i < mesh->node_count; i++) {
			double x = (double)(&mesh->positions[i].x)[k];
			low = fmin(low, x);
			high = fmax(high, x);
		}
		volume *= high - low;
	}
	return cbrt(volume);
}

// All nodes behind all outer faces, to 1 % of the size. Large meshes are sampled: what they miss is a dent that is small
// against the body.
static bool find_convexity(const FemMesh *mesh, const int32_t *surface_nodes, int32_t surface_node_count) {
	const FemTopology *t = mesh->topology;
	int64_t tests = (int64_t)t->triangle_count * surface_node_count;
	int32_t stride = 1 + (int32_t)(tests / 2000000);
	double slack = 0.01 * mesh_size(mesh);
	for (int32_t k = 0; k < t->triangle_count; k++) {
		const int32_t *face = t->triangles + 3 * (int64_t)k;
		FemPosition a = mesh_point(mesh, face[0]), u = fem_position_sub(mesh_point(mesh, face[1]), a);
		FemPosition n = fem_position_cross(u, fem_position_sub(mesh_point(mesh, face[2]), a));
		double limit = slack * sqrt(fem_position_dot(n, n));
		for (int32_t i = k % stride; i < surface_node_count; i += stride) {
			if (fem_position_dot(n, fem_position_sub(mesh_point(mesh, surface_nodes[i]), a)) > limit)
				return false;
		}
	}
	return t->component_count == 1;
}

// A mesh's, since scale does not change it. The body is whole: its nodes have the numbers of its mesh.
static bool is_convex(FemMesh *mesh, const FemBody *body) {
	if (mesh->convexity == FEM_CONVEX_UNKNOWN)
		mesh->convexity = find_convexity(mesh, body->surface_nodes, body->surface_node_count) ? FEM_CONVEX_YES : FEM_CONVEX_NO;
	return mesh->convexity == FEM_CONVEX_YES;
}

static void measure_box(const FemMesh *mesh, FemBody *body) {
	double low[3] = {1e30, 1e30, 1e30}, high[3] = {-1e30, -1e30, -1e30}, volume = 1.0;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		FemPosition p = rest_point(mesh, body, i);
		const double *x = &p.x;
		for (int k = 0; k < 3; k++) {
			low[k] = fmin(low[k], x[k]);
			high[k] = fmax(high[k], x[k]);
		}
	}
	for (int k = 0; k < 3; k++)
		volume *= high[k] - low[k];
	body->box_area = (float)pow(volume, 2.0 / 3.0);
}

FemSweepBox fem_contact_body_box(const FemBody *body) {
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

static FemSweepBox refit_whole(FemBody *body) {
	fem_surface_trees_begin_refit(body->trees, body->position);
	for (int32_t task = 0; task < fem_surface_trees_task_count(body->trees); task++)
		fem_surface_trees_refit_task(body->trees, task);
	return fem_contact_body_box(body);
}

bool fem_body_contact_create(FemWorld *world, FemBody *body, int32_t body_index) {
	const FemTopology *t = body->topology;
	body->sweep_proxy = -1;
	if (!world->def.contacts_enabled)
		return true;
	int32_t *place = FEM_ALLOC_ARRAY(int32_t, t->node_count);
	body->tet_exterior = FEM_ALLOC_ARRAY(uint8_t, t->batch_count * FEM_LANES);
	body->surface_nodes = FEM_ALLOC_ARRAY(int32_t, t->node_capacity);
	body->surface_area = FEM_ALLOC_ARRAY(float, t->node_capacity);
	body->trees = fem_surface_trees_create(t, body->position);
	bool ok = place && body->tet_exterior && body->surface_nodes && body->surface_area && body->trees;
	if (ok) {
		mark_exterior(body);
		list_surface_nodes(&world->meshes[body->mesh_index], body, place);
		if (!(body->thickness > 0.0f)) { // a broken body that was read has those of when it was whole
			measure_box(&world->meshes[body->mesh_index], body);
			measure_thickness(body);
			body->is_convex = is_convex(&world->meshes[body->mesh_index], body);
		}
		FemSweepBox box = refit_whole(body);
		body->sweep_proxy = fem_sweep_create_proxy(&world->sweep, &box, (uint32_t)body_index, fem_body_sleeps(body));
		ok = body->sweep_proxy >= 0;
	}
	FEM_FREE_ARRAY(place, t->node_count);
	return ok;
}

// Thickness, scale and convexity stay those of the whole.
void fem_body_contact_follow_split(FemWorld *world, FemBody *body) {
	if (!body->trees)
		return;
	mark_exterior(body);
	list_surface_nodes(&world->meshes[body->mesh_index], body, body->breaking->order);
	FemSurfaceTrees *trees = fem_surface_trees_follow_split(body->trees, body->topology, body->position);
	if (!trees)
		return; // the old ones name nodes that exist: wrong, but harmless, until the next split
	body->breaking->tree_builds += trees->tree_builds;
	body->trees = trees;
}

void fem_body_contact_free(FemWorld *world, FemBody *body, int32_t body_index) {
	const FemTopology *t = body->topology;
	fem_contacts_forget(world, body_index, -1);
	if (body->sweep_proxy >= 0)
		fem_sweep_destroy_proxy(&world->sweep, body->sweep_proxy);
	FEM_FREE_ARRAY(body->tet_exterior, t->batch_count * FEM_LANES);
	FEM_FREE_ARRAY(body->surface_nodes, t->node_capacity);
	FEM_FREE_ARRAY(body->surface_area, t->node_capacity);
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
		FemSweepBox box = fem_contact_body_box(body);
		fem_sweep_move_proxy(&world->sweep, body->sweep_proxy, &box);
	}
}

// Any body may have changed its state when the islands were made anew. One that fell asleep has moved since its last refit.
// One that woke within the last step, after its pairs had been listed, is active now without islands made anew.
void fem_contact_bodies_mark_still(FemWorld *world) {
	for (int32_t i = 0; i < world->islands.active_count; i++)
		fem_sweep_set_still(&world->sweep, world->bodies[world->islands.active_bodies[i]]->sweep_proxy, false);
	for (int32_t b = 0; world->islands.rebuilt && b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		if (!body || body->sweep_proxy < 0)
			continue;
		bool sleeps = fem_body_sleeps(body);
		if (sleeps && !world->sweep.proxies[body->sweep_proxy].still) {
			FemSweepBox box = refit_whole(body);
			fem_sweep_move_proxy(&world->sweep, body->sweep_proxy, &box);
		}
		fem_sweep_set_still(&world->sweep, body->sweep_proxy, sleeps);
	}
}

// ------------------------------------------------------------------------------------------------------------------ waking

static FemSweepBox published_box(const FemBody *body) {
	const double *origin = &body->published_origin.x;
	FemSweepBox box;
	for (int i = 0; i < 3; i++) {
		box.min[i] = origin[i] + (double)(body->box_min[i] - FEM_CONTACT_SLOP);
		box.max[i] = origin[i] + (double)(body->box_max[i] + FEM_CONTACT_SLOP);
	}
	return box;
}

// By published boxes, not by the pairs of the last step: those of sleepers are exact, and a snapshot has them.
static void wake_in_box(FemWorld *world, const FemSweepBox *box) {
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		if (!body)
			continue;
		bool apart = false;
		FemSweepBox other = published_box(body);
		for (int i = 0; i < 3; i++)
			apart |= box->min[i] > other.max[i] || box->max[i] < other.min[i];
		if (!apart)
			fem_body_wake_all(&world->islands, body);
	}
}

void fem_world_wake_touching(FemWorld *world, int32_t collider_index) {
	FemSweepBox box = fem_collider_box(&world->colliders[collider_index]);
	if (world->def.contacts_enabled)
		wake_in_box(world, &box);
}

void fem_world_wake_touching_body(FemWorld *world, int32_t body_index) {
	FemSweepBox box = published_box(world->bodies[body_index]);
	if (world->def.contacts_enabled)
		wake_in_box(world, &box);
}
