// A body's topology was split: everything that follows from it. Nodes have new numbers, some are new, some are gone;
// parts and components (pieces) are others. Each stage's data is brought along here, so that the stages need not know.
#include "base/assert.h"
#include "base/memory.h"
#include "model/body_step.h"
#include "model/node_arrays.h"
#include "topology/topology.h"
#include "world/api/bodies.h"
#include "world/api/pieces.h"
#include "world/step/breaking.h"
#include "world/step/joined_pieces.h"
#include "world/step/solver_state.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

// Where the new node's values are found among those of before: a copy's at its parent.
static int32_t source_of(const FemSplitState *split, int32_t node) {
	FEM_ASSERT_INDEX(split->parent[split->old_of_new[node]], split->old_node_count);
	return split->parent[split->old_of_new[node]];
}

// ---- nodes

static void move_ints(FemBody *body, int32_t *values) {
	int32_t *moved = body->breaking->order;
	for (int32_t i = 0; i < body->topology->node_count; i++)
		moved[i] = values[source_of(body->topology->split, i)];
	memcpy(values, moved, sizeof *values * (size_t)body->topology->node_count);
}

// Shares a user's force and the ground's normal force among a node and its copies by mass; momentum is kept because
// velocities stay.
static void share_forces(const FemWorld *world, FemBody *body) {
	const FemSplitState *split = body->topology->split;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		if (!split->changed[split->old_of_new[i]])
			continue;
		float whole = body->mass[i];
		FEM_ASSERT(whole > 0.0f);
		fem_body_set_node_mass(world, body, i);
		FEM_ASSERT(body->mass[i] > 0.0f && body->mass[i] < 1.001f * whole); // a copy has some of its parent's tets
		fem_node_arrays_share(body, i, body->mass[i] / whole);
	}
}

// Of pieces whose step ended in an earlier pass, and of impulses.
static void move_kept(FemBody *body, FemVec4 *values) {
	FemVec4 *moved = body->breaking->scratch;
	for (int32_t i = 0; i < body->topology->node_count; i++)
		moved[i] = values[source_of(body->topology->split, i)];
	memcpy(values, moved, sizeof *values * (size_t)body->topology->node_count);
}

static void move_nodes(const FemWorld *world, FemBody *body) {
	fem_node_arrays_follow_split(body, body->breaking->scratch);
	if (body->step && body->step->kept_dv) {
		move_kept(body, body->step->kept_ground);
		move_kept(body, body->step->kept_dv);
	}
	if (body->step && body->step->struck)
		move_kept(body, body->step->struck);
	move_ints(body, body->breaking->node_rank);
	fem_pieces_count_pinned(body);
	share_forces(world, body);
	fem_pieces_weigh(body); // what else bounds the body's tets still does
}

// Gives copies a published position, which a roll-back in a later substep would read. Readers of the last step see none
// of it.
static void publish_copies(FemBody *body, int32_t users_before) {
	const FemTopology *t = body->topology;
	const FemSplitState *split = t->split;
	for (int32_t i = 0; i < t->node_count; i++) {
		int32_t user = t->user_of_node[i];
		if (user >= users_before) {
			FEM_ASSERT_INDEX(split->source_of_user[user], users_before);
			body->published[user] = body->published[split->source_of_user[user]];
		}
	}
}

// ---- parts

// A part that took in rests of others is awake if one of them was.
static void move_parts(FemBody *body) {
	const FemTopology *t = body->topology;
	FemBreaking *breaking = body->breaking;
	const FemSplitState *split = t->split;
	int32_t *still = breaking->order, *rank = breaking->cursor;
	uint8_t *state = breaking->marks;
	for (int32_t p = 0; p < t->part_count; p++) {
		state[p] = FEM_ISLAND_ASLEEP;
		still[p] = INT32_MAX;
		rank[p] = breaking->part_rank[split->part_source[p]];
	}
	for (int32_t i = 0; i < t->node_count; i++) {
		int32_t old = split->part_of_old[split->old_of_new[i]], part = t->node_part[i];
		state[part] = body->part_state[old] > state[part] ? body->part_state[old] : state[part];
		still[part] = body->part_still[old] < still[part] ? body->part_still[old] : still[part];
	}
	FEM_ASSERT(t->part_count <= t->part_capacity);
	memcpy(body->part_state, state, (size_t)t->part_count);
	memcpy(body->part_still, still, sizeof *still * (size_t)t->part_count);
	memcpy(breaking->part_rank, rank, sizeof *rank * (size_t)t->part_count);
	body->live_part_count = 0;
	for (int32_t p = 0; p < t->part_count; p++)
		body->live_part_count += body->part_state[p] == FEM_ISLAND_LIVE;
}

// ---- tets

static void clear_removed(FemBody *body) {
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		if (body->topology->user_of_tet[tet] >= 0 || body->tet_material[tet] < 0)
			continue;
		fem_batches_clear(body->batches, tet);
		body->tet_toughness[tet] = INFINITY;
	}
}

void fem_body_apply_split(FemWorld *world, FemBody *body, bool is_in_pass) {
	FemTopology *t = body->own_topology;
	int32_t users_before = t->user_node_count, tets_before = t->tet_count;
	FEM_ASSERT(body->topology == t && t->split->is_open);
	if (!fem_split_rebuild(t))
		body->breaking->has_no_memory = true; // the step tells of it
	FemSplinters *splinters = body->breaking->splinters;
	bool has_splinters = splinters && fem_splinters_own(splinters);
	if (t->tet_count < tets_before) {
		clear_removed(body);
		if (has_splinters)
			fem_splinters_forget_removed(splinters, t);
	}
	if (has_splinters)
		fem_splinters_find_homes(splinters, t, true);
	if (has_splinters && !is_in_pass)
		fem_splinters_follow(splinters, t);
	fem_pieces_renumber(body);
	if (body->modal)
		body->modal->is_stale = true, body->modal->is_moving = false;
	move_nodes(world, body);
	publish_copies(body, users_before);
	move_parts(body);
	fem_body_solver_follow_split(&world->meshes[body->mesh_index], body);
	if (!is_in_pass)
		fem_body_contact_follow_split(world, body);
	else if (!body->breaking->surface_is_stale) // trees once, when the step is over
		fem_body_contact_follow_shape(world, body);
	body->breaking->surface_is_stale |= is_in_pass;
	body->breaking->was_split = true;
}

static void enter_pieces(FemWorld *world, int32_t body_index) {
	FemBody *body = world->bodies[body_index];
	if (body->trees && !fem_contact_body_enter_pieces(world, body, body_index))
		world->step_errors |= FEM_STEP_CONTACTS_FULL;
}

void fem_body_end_splits(FemWorld *world, FemBody *body) {
	FemSplinters *splinters = body->breaking->splinters;
	if (splinters)
		fem_splinters_follow(splinters, body->topology);
	if (!body->breaking->surface_is_stale)
		return;
	fem_heap_begin(world->heap);
	fem_body_contact_follow_split(world, body);
	fem_heap_end();
}

void fem_body_finish_surface(FemWorld *world, int32_t body_index) {
	world->bodies[body_index]->breaking->surface_is_stale = false;
	enter_pieces(world, body_index);
}

void fem_body_finish_split(FemWorld *world, int32_t body_index) {
	FemBody *body = world->bodies[body_index];
	const FemTopology *t = body->topology;
	FEM_ASSERT(body->breaking->was_split);
	body->breaking->was_split = false;
	world->node_count += t->node_count - t->split->old_node_count;
	world->tet_count += t->tet_count - t->split->old_tet_count;
	world->piece_count += t->component_count - t->split->old_component_count;
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		if (t->user_of_tet[tet] >= 0 || body->tet_material[tet] < 0)
			continue;
		FEM_ASSERT(world->materials[body->tet_material[tet]].use_count > 0);
		world->materials[body->tet_material[tet]].use_count--;
		body->tet_material[tet] = -1;
	}
	if (!body->breaking->surface_is_stale)
		enter_pieces(world, body_index);
	fem_contacts_renumber(world, body_index);
	fem_pieces_follow_split(world, body, body_index);
	fem_joined_find_assemblies(body);
	fem_split_end(body->own_topology);
	world->islands.dirty = true;
}
