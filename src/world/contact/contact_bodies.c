// What a body brings to contact: trees over its surface, which faces and nodes are outside, its place in the sweep.
#include "base/assert.h"
#include "base/memory.h"
#include "base/search.h"
#include "base/vec.h"
#include "model/body_tet_arrays.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/api/pieces.h"
#include "world/contact/contact_stage.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <stdlib.h>
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

static double face_area(const FemMesh *mesh, const FemBody *body, const int32_t *face) {
	FemVec3d a = fem_body_rest_point(mesh, body, face[0]);
	FemVec3d u = fem_vec3d_sub(fem_body_rest_point(mesh, body, face[1]), a);
	FemVec3d v = fem_vec3d_sub(fem_body_rest_point(mesh, body, face[2]), a);
	FemVec3d n = fem_vec3d_cross(u, v);
	return 0.5 * sqrt(fem_vec3d_dot(n, n));
}

// Lists the nodes of outer faces, ascending. `place` is scratch of one int per node.
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

FemSweepBox fem_contact_span_box(const FemBody *body, FemTreeSpan span) {
	float low[3], high[3];
	const double *origin = &body->origin.x;
	FemSweepBox box;
	fem_surface_trees_box(body->trees, span, low, high);
	for (int i = 0; i < 3; i++) {
		box.min[i] = origin[i] + (double)low[i];
		box.max[i] = origin[i] + (double)high[i];
	}
	return box;
}

static FemSweepBox piece_box(const FemBody *body, int32_t component) {
	return fem_contact_span_box(body, fem_surface_trees_component(body->trees, component));
}

// Gives every piece a proxy in the sweep, with the box of its trees. After a split the new pieces take the old proxies
// over; which piece has which proxy does not matter. False when the sweep has no room.
bool fem_contact_body_enter_pieces(FemWorld *world, FemBody *body, int32_t body_index) {
	int32_t count = body->trees->component_count; // those of before a split for which memory failed
	while (body->sweep_proxy_count > count)
		fem_sweep_destroy_proxy(&world->sweep, body->pieces[--body->sweep_proxy_count].sweep_proxy);
	for (int32_t c = 0; c < count; c++) {
		FemSweepBox box = piece_box(body, c);
		if (c < body->sweep_proxy_count) {
			fem_sweep_move_proxy(&world->sweep, body->pieces[c].sweep_proxy, &box);
			continue;
		}
		int32_t proxy = -1;
		if (fem_contact_stage_reserve(world))
			proxy = fem_sweep_create_proxy(&world->sweep, &box, (uint32_t)body_index, !fem_piece_is_live(body, c));
		if (proxy < 0)
			return false;
		fem_sweep_set_piece(&world->sweep, proxy, c);
		body->pieces[body->sweep_proxy_count++].sweep_proxy = proxy;
	}
	return true;
}

// Surface trees are built from the rest shape, so that a body restored from a snapshot gets the same trees.
static FemSurfaceTrees *make_trees(const FemMesh *mesh, const FemBody *body, FemSurfaceTrees *old) {
	const FemTopology *t = body->topology;
	FemVec4 *rest = FEM_ALLOC_ARRAY_UNSET(FemVec4, t->node_count);
	for (int32_t i = 0; rest && i < t->node_count; i++) {
		FemVec3d p = fem_body_rest_point(mesh, body, i);
		rest[i] = (FemVec4){(float)p.x, (float)p.y, (float)p.z, 0.0f};
	}
	FemSurfaceTrees *trees = NULL;
	if (rest)
		trees = old ? fem_surface_trees_follow_split(old, t, body->position, rest)
					: fem_surface_trees_create(t, body->position, rest);
	FEM_FREE_ARRAY(rest, t->node_count);
	return trees;
}

bool fem_body_contact_create(FemWorld *world, FemBody *body, int32_t body_index) {
	const FemTopology *t = body->topology;
	body->sweep_proxy_count = 0;
	if (!world->def.contacts_enabled)
		return true;
	int32_t *place = FEM_ALLOC_ARRAY(int32_t, t->node_count);
	body->surface_nodes = FEM_ALLOC_ARRAY(int32_t, t->node_capacity);
	body->surface_area = FEM_ALLOC_ARRAY(float, t->node_capacity);
	body->trees = make_trees(&world->meshes[body->mesh_index], body, NULL);
	bool ok = fem_body_tet_array_allocate(body, FEM_TET_EXTERIOR) && place && body->surface_nodes &&
		body->surface_area && body->trees;
	if (ok) {
		mark_exterior(body);
		list_surface_nodes(&world->meshes[body->mesh_index], body, place);
		fem_pieces_measure(&world->meshes[body->mesh_index], body);
		ok = fem_mesh_find_convexity(&world->meshes[body->mesh_index]) &&
			fem_mesh_find_gap(&world->meshes[body->mesh_index]) &&
			fem_contact_body_enter_pieces(world, body, body_index);
	}
	FEM_FREE_ARRAY(place, t->node_count);
	return ok;
}

// New outer faces, nodes and measures.
static void follow_surface(const FemMesh *mesh, FemBody *body) {
	fem_convex_pieces_forget(body);
	mark_exterior(body);
	list_surface_nodes(mesh, body, body->breaking->order);
	fem_pieces_measure(mesh, body);
}

void fem_body_contact_follow_shape(FemWorld *world, FemBody *body) {
	if (body->trees)
		follow_surface(&world->meshes[body->mesh_index], body);
}

// Trees find their faces again by tet, after any number of splits.
void fem_body_contact_follow_split(FemWorld *world, FemBody *body) {
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	if (!body->trees)
		return;
	follow_surface(mesh, body);
	FemSurfaceTrees *trees = make_trees(mesh, body, body->trees);
	if (!trees)
		return; // the old ones name nodes that exist: wrong, but harmless, until the next split
	body->breaking->tree_builds += trees->tree_builds;
	body->trees = trees;
}

void fem_body_contact_free(FemWorld *world, FemBody *body, int32_t body_index) {
	const FemTopology *t = body->topology;
	fem_contacts_forget(world, body_index, -1);
	fem_convex_pieces_forget(body);
	while (body->sweep_proxy_count > 0)
		fem_sweep_destroy_proxy(&world->sweep, body->pieces[--body->sweep_proxy_count].sweep_proxy);
	fem_body_tet_array_free(body, FEM_TET_EXTERIOR);
	FEM_FREE_ARRAY(body->surface_nodes, t->node_capacity);
	FEM_FREE_ARRAY(body->surface_area, t->node_capacity);
	if (body->trees)
		fem_surface_trees_free(body->trees);
}

// ---- contacts kept from the last step, after a body's nodes got new numbers

static int compare(const void *a, const void *b) {
	return fem_contact_compare_places(a, b);
}

// False when the place is gone.
static bool renumber_side(const FemBody *body, FemContactSide *side) {
	const FemTopology *t = body->topology;
	if (side->kind == FEM_SIDE_NODE) {
		FEM_ASSERT_INDEX(side->node, t->split->old_node_count);
		int32_t node = t->split->new_of_old[side->node];
		side->node = node;
		for (int k = 0; k < 4; k++)
			side->nodes[k] = node;
	} else {
		for (int k = 0; k < 4; k++)
			side->nodes[k] = fem_tet_node(t, side->tet, k);
	}
	bool is_there = side->kind == FEM_SIDE_NODE ? side->node >= 0 : t->user_of_tet[side->tet] >= 0;
	side->piece = is_there ? fem_node_component(t, side->nodes[0]) : -1;
	return is_there;
}

static bool is_of(const FemContact *contact, int32_t body_index) {
	return contact->side[0].body == body_index || contact->side[1].body == body_index;
}

// Every contact of the body gets its share, by strength, of the load of its pieces ...
static void share_loads(int32_t body_index, FemContact *contacts, int32_t count) {
	for (int32_t begin = 0, end; begin < count; begin = end) {
		float strength = 0.0f;
		end = fem_contacts_end_of_pieces(contacts, begin, count);
		for (int32_t i = begin; i < end; i++)
			strength += contacts[i].normal_strength;
		for (int32_t i = begin; i < end && is_of(&contacts[begin], body_index) && strength > 0.0f; i++)
			contacts[i].pair_load *= contacts[i].normal_strength / strength;
	}
}

// ... and those of the new pieces their sum.
static void sum_loads(int32_t body_index, FemContact *contacts, int32_t count) {
	for (int32_t begin = 0, end; begin < count; begin = end) {
		float load = 0.0f;
		end = fem_contacts_end_of_pieces(contacts, begin, count);
		for (int32_t i = begin; i < end; i++)
			load += contacts[i].pair_load;
		for (int32_t i = begin; i < end && is_of(&contacts[begin], body_index); i++)
			contacts[i].pair_load = load;
	}
}

// New numbers of nodes and pieces leave the pairs of bodies where they are.
static void sort_pairs(int32_t body_index, FemContact *contacts, int32_t count) {
	for (int32_t begin = 0, end; begin < count; begin = end) {
		bool is_sorted = true;
		for (end = begin + 1; end < count && fem_contact_same_pair(&contacts[begin], &contacts[end]); end++)
			is_sorted &= fem_contact_compare_places(&contacts[end - 1], &contacts[end]) < 0;
		if (!is_sorted && is_of(&contacts[begin], body_index))
			qsort(contacts + begin, (size_t)(end - begin), sizeof *contacts, compare);
	}
}

static void renumber(const FemWorld *world, int32_t body_index, FemContact *contacts, int32_t *count) {
	int32_t kept = 0;
	share_loads(body_index, contacts, *count);
	for (int32_t i = 0; i < *count; i++) {
		FemContact contact = contacts[i];
		bool stays = true;
		for (int s = 0; s < 2; s++) {
			if (contact.side[s].body == body_index)
				stays = stays && renumber_side(world->bodies[body_index], &contact.side[s]);
		}
		if (stays)
			contacts[kept++] = contact;
	}
	*count = kept;
	sort_pairs(body_index, contacts, kept);
	sum_loads(body_index, contacts, kept);
}

void fem_contacts_renumber(FemWorld *world, int32_t body_index) {
	FemContactStage *stage = &world->contacts;
	renumber(world, body_index, stage->contacts, &stage->contact_count);
	renumber(world, body_index, stage->last_contacts, &stage->last_count);
}

// ---- refit

static void add_refit(FemWorld *world, int32_t body_index, int32_t component) {
	FemContactStage *stage = &world->contacts;
	FemTreeSpan span = fem_surface_trees_component(world->bodies[body_index]->trees, component);
	if (!FEM_LIST_HOLD(stage->refits, stage->refit_capacity, stage->refit_count + 1, INT32_MAX))
		return; // it is looked for where it was
	FemRefit *refit = &stage->refits[stage->refit_count++];
	*refit = (FemRefit){.body = body_index, .component = component, .span = span, .first_task = stage->refit_tasks};
	stage->refit_tasks += fem_surface_trees_task_count(span);
}

static void add_refits(FemWorld *world, int32_t body_index) {
	for (int32_t c = 0; c < world->bodies[body_index]->sweep_proxy_count; c++)
		add_refit(world, body_index, c);
}

// Pieces with a live island, and all of what moved as a whole. Islands stand in the order of bodies and components;
// those of one component of which a part sleeps follow each other.
static void list_refits(FemWorld *world) {
	const FemIslands *islands = &world->islands;
	world->contacts.refit_count = world->contacts.refit_tasks = 0;
	for (int32_t i = 0, at = 0; i < islands->active_count; i++) {
		int32_t index = islands->active_bodies[i], last = -1;
		FemBody *body = world->bodies[index];
		bool all = body->kinematic || body->trees_moved;
		if (body->sweep_proxy_count < body->trees->component_count && // memory failed when it broke
			!fem_contact_body_enter_pieces(world, body, index))
			world->contacts.full = true;
		fem_surface_trees_begin_refit(body->trees, body->position);
		if (all)
			add_refits(world, index);
		for (; at < islands->count && islands->islands[at].body == index; at++) {
			int32_t component = islands->islands[at].component;
			if (!all && component != last && component < body->sweep_proxy_count)
				add_refit(world, index, component);
			last = component;
		}
		body->trees_moved = false;
	}
}

static bool starts_by(const void *refit, const void *task) {
	return ((const FemRefit *)refit)->first_task <= *(const int32_t *)task;
}

static void refit_task(void *context, int32_t task) {
	FemWorld *world = context;
	const FemContactStage *stage = &world->contacts;
	int32_t after = fem_first_not_before(stage->refits, stage->refit_count, sizeof *stage->refits, starts_by, &task);
	FEM_ASSERT(after > 0);
	const FemRefit *refit = &stage->refits[after - 1];
	fem_surface_trees_refit_task(world->bodies[refit->body]->trees, refit->span, task - refit->first_task);
}

void fem_contact_bodies_refit(FemWorld *world) {
	FemContactStage *stage = &world->contacts;
	list_refits(world);
	fem_pool_for(world->pool, stage->refit_tasks, refit_task, world);
	for (int32_t i = 0; i < stage->refit_count; i++) {
		const FemBody *body = world->bodies[stage->refits[i].body];
		FemSweepBox box = fem_contact_span_box(body, stage->refits[i].span);
		fem_sweep_move_proxy(&world->sweep, body->pieces[stage->refits[i].component].sweep_proxy, &box);
	}
}

// Marks one piece as still or moving in the sweep; one that has just fallen asleep is refitted, since it moved after
// its last refit.
static void mark_piece(FemWorld *world, FemBody *body, int32_t component) {
	int32_t proxy = body->pieces[component].sweep_proxy;
	bool still = !fem_piece_is_live(body, component);
	if (still && !world->sweep.proxies[proxy].still) {
		fem_surface_trees_refit(body->trees, body->position, fem_surface_trees_component(body->trees, component));
		FemSweepBox box = piece_box(body, component);
		fem_sweep_move_proxy(&world->sweep, proxy, &box);
	}
	fem_sweep_set_still(&world->sweep, proxy, still);
}

// Tells the sweep which pieces sleep. Pieces change between sleep and wake only when the islands are rebuilt, so
// nothing is done while these are the same.
void fem_contact_bodies_mark_still(FemWorld *world) {
	if (world->contacts.islands_seen == world->islands.version)
		return;
	world->contacts.islands_seen = world->islands.version;
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		for (int32_t c = 0; body && c < body->sweep_proxy_count; c++)
			mark_piece(world, body, c);
	}
}

// ---- waking

static FemSweepBox published_box(const FemBody *body) {
	const double *origin = &body->published_origin.x;
	FemSweepBox box;
	for (int i = 0; i < 3; i++) {
		box.min[i] = origin[i] + (double)(body->box_min[i] - FEM_CONTACT_SLOP);
		box.max[i] = origin[i] + (double)(body->box_max[i] + FEM_CONTACT_SLOP);
	}
	return box;
}

static FemSweepBox nodes_box(const FemBody *body, FemRange nodes) {
	const double *origin = &body->origin.x;
	float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
	FemSweepBox box;
	for (int32_t n = nodes.begin; n < nodes.end; n++) {
		const float *x = &body->position[n].x;
		for (int i = 0; i < 3; i++) {
			low[i] = fminf(low[i], x[i]);
			high[i] = fmaxf(high[i], x[i]);
		}
	}
	for (int i = 0; i < 3; i++) {
		box.min[i] = origin[i] + (double)(low[i] - FEM_CONTACT_SLOP);
		box.max[i] = origin[i] + (double)(high[i] + FEM_CONTACT_SLOP);
	}
	return box;
}

static bool boxes_meet(const FemSweepBox *a, const FemSweepBox *b) {
	bool meet = true;
	for (int i = 0; i < 3; i++)
		meet &= a->min[i] <= b->max[i] && a->max[i] >= b->min[i];
	return meet;
}

// Wakes pieces of which the nodes' boxes meet the box. The pairs of the last step are not used: boxes of sleepers
// are exact, and a snapshot holds them. What was made asleep after the last step has not rested on anything yet: a
// level that takes the place of another sleeps on while the old one goes.
static void wake_in_box(FemWorld *world, const FemSweepBox *box) {
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		if (!body || body->asleep_since == (int64_t)world->statistics.step_count)
			continue;
		FemSweepBox whole = published_box(body);
		for (int32_t c = 0; boxes_meet(box, &whole) && c < body->topology->component_count; c++) {
			FemSweepBox piece = nodes_box(body, body->topology->component_nodes[c]);
			if (boxes_meet(box, &piece))
				fem_body_wake_component(&world->islands, body, c);
		}
	}
}

void fem_world_wake_touching(FemWorld *world, int32_t collider_index) {
	FemSweepBox box = fem_collider_box(&world->colliders[collider_index]);
	if (world->def.contacts_enabled)
		wake_in_box(world, &box);
}

void fem_world_wake_touching_piece(FemWorld *world, const FemBody *body, int32_t component) {
	FemSweepBox box = nodes_box(body, body->topology->component_nodes[component]);
	if (world->def.contacts_enabled)
		wake_in_box(world, &box);
}

void fem_world_wake_touching_body(FemWorld *world, int32_t body_index) {
	FemSweepBox box = published_box(world->bodies[body_index]);
	if (world->def.contacts_enabled)
		wake_in_box(world, &box);
}
