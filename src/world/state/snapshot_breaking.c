// What a body that can break adds to its snapshot: how it hangs together now, its pieces, its toughness, its splinters.
#include "base/memory.h"
#include "model/piece.h"
#include "world/api/cookies.h"
#include "world/api/pieces.h"
#include "world/api/splinters.h"
#include "world/state/snapshot.h"
#include "world/state/stream.h"
#include "world/step/breaking.h"
#include "world/step/solver_state.h"
#include "world/world.h"

static void sync_counts(FemStream *s, FemTopology *t) {
	FEM_STREAM(s, t->node_count);
	FEM_STREAM(s, t->user_node_count);
	FEM_STREAM(s, t->tet_count);
	FEM_STREAM(s, t->component_count);
	FEM_STREAM(s, t->part_count);
	s->failed = s->failed || t->node_count < 4 || t->node_count > t->user_node_count ||
		t->user_node_count > t->node_capacity || t->tet_count < 1 || t->tet_count > t->user_tet_count ||
		t->component_count < 1 || t->component_count > t->component_capacity || t->part_count < t->component_count ||
		t->part_count > t->part_capacity;
}

static void sync_tables(FemStream *s, FemTopology *t) {
	size_t lanes = (size_t)t->batch_count * FEM_LANES;
	FEM_STREAM_ARRAY(s, t->batch_nodes, 4 * lanes);
	FEM_STREAM_ARRAY(s, t->user_of_node, t->node_count);
	FEM_STREAM_ARRAY(s, t->user_of_tet, lanes);
	FEM_STREAM_ARRAY(s, t->node_part, t->node_count);
	FEM_STREAM_ARRAY(s, t->part_component, t->part_count);
	FEM_STREAM_ARRAY(s, t->neighbours, 4 * lanes);
	FEM_STREAM_ARRAY(s, t->split->source_of_user, t->user_node_count);
}

static void sync_breaking(FemStream *s, FemBody *body) {
	const FemTopology *t = body->topology;
	FemBreaking *b = body->breaking;
	fem_snapshot_sync_tets(s, body, FEM_TETS_SAVED_BREAKABLE);
	FEM_STREAM(s, b->seed);
	FEM_STREAM(s, b->crack_time);
	FEM_STREAM(s, b->dice_time);
	FEM_STREAM(s, b->crushed_mass);
	FEM_STREAM(s, b->blow_waits);
	FEM_STREAM(s, b->next_piece);
	FEM_STREAM(s, b->piece_limit);
	FEM_STREAM(s, b->piece_lifetime);
	FEM_STREAM(s, b->piece_fade);
	for (int32_t c = 0; c < t->component_count; c++) {
		FEM_STREAM(s, body->pieces[c].number);
		FEM_STREAM(s, body->pieces[c].parent);
		FEM_STREAM(s, body->pieces[c].born);
		FEM_STREAM(s, body->pieces[c].retires);
	}
	if (!body->own_topology)
		return;
	for (int32_t c = 0; c < t->component_count; c++)
		FEM_STREAM(s, body->pieces[c].preconditioner_kind);
	FEM_STREAM_ARRAY(s, b->node_rank, t->node_count);
	FEM_STREAM_ARRAY(s, b->part_rank, t->part_count);
}

// Splinters as they were given, by arrays that a reader makes; both counts are 0 for a body without.
typedef struct GivenSplinters {
	int32_t splinter_count, vertex_count;
	int32_t *home_tets, *vertex_splinters, *vertex_tets;
	FemVec3 *vertex_positions;
} GivenSplinters;

static void sync_given(FemStream *s, GivenSplinters *given) {
	FEM_STREAM_ARRAY(s, given->home_tets, given->splinter_count);
	FEM_STREAM_ARRAY(s, given->vertex_splinters, given->vertex_count);
	FEM_STREAM_ARRAY(s, given->vertex_tets, given->vertex_count);
	FEM_STREAM_ARRAY(s, given->vertex_positions, given->vertex_count);
}

// Weights follow from owners. Changes that were not told yet (pieces removed since the last step) must not be lost.
static void sync_owners(FemStream *s, FemSplinters *splinters) {
	FEM_STREAM_ARRAY(s, splinters->home, splinters->given.splinter_count);
	FEM_STREAM_ARRAY(s, splinters->owner, splinters->given.vertex_count);
	FEM_STREAM_ARRAY(s, splinters->change, splinters->given.vertex_count);
}

static void write_splinters(FemStream *s, FemSplinters *splinters) {
	GivenSplinters given = {0};
	if (splinters) {
		given = (GivenSplinters){splinters->given.splinter_count, splinters->given.vertex_count,
			(int32_t *)splinters->given.home_tets, (int32_t *)splinters->given.vertex_splinters,
			(int32_t *)splinters->given.vertex_tets, (FemVec3 *)splinters->given.vertex_positions};
	}
	bool is_own = splinters && splinters->own_block;
	FEM_STREAM(s, given.splinter_count);
	FEM_STREAM(s, given.vertex_count);
	if (!splinters)
		return;
	fem_stream_bool(s, &is_own);
	sync_given(s, &given);
	if (is_own)
		sync_owners(s, splinters);
}

void fem_snapshot_write_breaking(FemStream *s, FemBody *body) {
	bool is_split = body->own_topology != NULL;
	fem_body_note_kinds(body);
	fem_stream_bool(s, &is_split);
	if (is_split) {
		sync_counts(s, body->own_topology);
		sync_tables(s, body->own_topology);
	}
	sync_breaking(s, body);
	write_splinters(s, body->breaking->splinters);
}

// ---- reading

static bool in_range(int32_t value, int32_t low, int32_t count) {
	return value >= low && value < count;
}

static bool has_four_nodes(const FemTopology *t, int32_t tet) {
	int32_t n[4];
	for (int v = 0; v < 4; v++)
		n[v] = fem_tet_node(t, tet, v);
	return n[0] != n[1] && n[0] != n[2] && n[0] != n[3] && n[1] != n[2] && n[1] != n[3] && n[2] != n[3];
}

// Checks everything that is used as an index before the whole body is validated.
static bool is_sound(const FemTopology *t, const FemBreaking *b, const FemMesh *mesh) {
	int32_t lanes = t->batch_count * FEM_LANES, filled = 0, part = -1;
	for (int32_t i = 0; i < 4 * lanes; i++) {
		if (!in_range(t->batch_nodes[i], 0, t->node_count) || !in_range(t->neighbours[i], -1, 4 * lanes))
			return false;
	}
	for (int32_t tet = 0; tet < lanes; tet++) {
		if (!in_range(t->user_of_tet[tet], -1, t->user_tet_count) ||
			(t->user_of_tet[tet] >= 0 && !has_four_nodes(t, tet)))
			return false;
		filled += t->user_of_tet[tet] >= 0;
	}
	for (int32_t i = 0; i < t->node_count; i++) {
		// Parts follow each other, and so do their components: every number is met in turn.
		bool follows = t->node_part[i] == part || t->node_part[i] == part + 1;
		part = t->node_part[i];
		if (!follows || !in_range(part, 0, t->part_count) || !in_range(t->user_of_node[i], 0, t->user_node_count) ||
			!in_range(b->node_rank[i], 0, mesh->node_count))
			return false;
	}
	int32_t component = -1;
	for (int32_t p = 0; p < t->part_count; p++) {
		bool follows = t->part_component[p] == component || t->part_component[p] == component + 1;
		component = t->part_component[p];
		if (!follows || !in_range(b->part_rank[p], 0, mesh->topology->part_count))
			return false;
	}
	for (int32_t user = 0; user < t->user_node_count; user++) {
		if (!in_range(t->split->source_of_user[user], 0, mesh->node_count))
			return false;
	}
	return filled == t->tet_count && part == t->part_count - 1 && component == t->component_count - 1;
}

// Ranges and inverse tables.
static void derive(FemTopology *t) {
	for (int32_t user = 0; user < t->user_node_count; user++)
		t->node_of_user[user] = -1;
	for (int32_t user = 0; user < t->user_tet_count; user++)
		t->tet_of_user[user] = -1;
	for (int32_t i = t->node_count - 1; i >= 0; i--) {
		int32_t part = t->node_part[i];
		t->node_of_user[t->user_of_node[i]] = i;
		t->part_nodes[part].begin = i;
		if (i == t->node_count - 1 || t->node_part[i + 1] != part)
			t->part_nodes[part].end = i + 1;
	}
	for (int32_t p = t->part_count - 1; p >= 0; p--) {
		int32_t c = t->part_component[p];
		t->component_parts[c].begin = p;
		t->component_nodes[c].begin = t->part_nodes[p].begin;
		t->component_tets[c] = 0;
		if (p == t->part_count - 1 || t->part_component[p + 1] != c) {
			t->component_parts[c].end = p + 1;
			t->component_nodes[c].end = t->part_nodes[p].end;
		}
	}
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		if (t->user_of_tet[tet] < 0)
			continue;
		t->tet_of_user[t->user_of_tet[tet]] = tet;
		t->component_tets[t->part_component[t->node_part[*fem_tet_node_place(t, tet, 0)]]]++;
	}
}

// Materials were given to all tets of the mesh; those of removed pieces have none.
void fem_body_forget_removed(FemBody *body) {
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		if (body->topology->user_of_tet[tet] >= 0)
			continue;
		body->tet_material[tet] = -1;
		fem_batches_clear(body->batches, tet);
	}
}

// Whatever is used as an index; that vertices may follow what they follow is seen by the last look at the whole.
static bool owners_are_sound(FemSplinters *splinters) {
	const FemTopology *t = splinters->rest.topology;
	for (int32_t i = 0; i < splinters->given.splinter_count; i++) {
		if (!fem_splinters_is_in_reach(splinters, i, splinters->home[i]))
			return false;
	}
	for (int32_t i = 0; i < splinters->given.vertex_count; i++) {
		int32_t tet = splinters->owner[i];
		if (!in_range(tet, -1, splinters->tet_count) || (tet >= 0 && t->user_of_tet[tet] < 0) ||
			splinters->change[i] > FEM_OWNER_REMOVED)
			return false;
		splinters->has_changed |= splinters->change[i] != 0;
	}
	return true;
}

static void read_owners(FemStream *s, FemWorld *world, FemBody *body, const GivenSplinters *given, bool is_own) {
	FemSplintersDef def = {given->splinter_count, given->home_tets, given->vertex_count, given->vertex_splinters,
		given->vertex_tets, given->vertex_positions, FEM_COOKIE_SPLINTERS};
	s->failed = s->failed || fem_splinters_def_check(&def, body->topology->user_tet_count) != FEM_OK;
	if (s->failed)
		return;
	FemSplinters *splinters =
		is_own ? fem_body_make_splinters(world, body, &def) : fem_body_share_splinters(world, body, &def);
	s->failed = !splinters;
	body->breaking->splinters = splinters;
	if (s->failed || !is_own)
		return;
	sync_owners(s, splinters);
	s->failed = s->failed || !owners_are_sound(splinters);
	if (!s->failed)
		fem_splinters_weigh(splinters);
}

static void read_splinters(FemStream *s, FemWorld *world, FemBody *body) {
	GivenSplinters given = {0};
	bool is_own = false;
	FEM_STREAM(s, given.splinter_count);
	FEM_STREAM(s, given.vertex_count);
	s->failed = s->failed || given.splinter_count < 0 || given.vertex_count < 0 ||
		!fem_stream_can_hold(s, given.splinter_count, sizeof(int32_t)) ||
		!fem_stream_can_hold(s, given.vertex_count, sizeof(FemVec3));
	if (s->failed || given.splinter_count == 0) {
		s->failed = s->failed || given.vertex_count > 0;
		return;
	}
	fem_stream_bool(s, &is_own);
	given.home_tets = FEM_ALLOC_ARRAY(int32_t, given.splinter_count);
	given.vertex_splinters = FEM_ALLOC_ARRAY(int32_t, given.vertex_count + 1); // never of 0 bytes
	given.vertex_tets = FEM_ALLOC_ARRAY(int32_t, given.vertex_count + 1);
	given.vertex_positions = FEM_ALLOC_ARRAY(FemVec3, given.vertex_count + 1);
	s->failed =
		s->failed || !given.home_tets || !given.vertex_splinters || !given.vertex_tets || !given.vertex_positions;
	if (!s->failed) {
		sync_given(s, &given);
		read_owners(s, world, body, &given, is_own);
	}
	FEM_FREE_ARRAY(given.home_tets, given.splinter_count);
	FEM_FREE_ARRAY(given.vertex_splinters, given.vertex_count + 1);
	FEM_FREE_ARRAY(given.vertex_tets, given.vertex_count + 1);
	FEM_FREE_ARRAY(given.vertex_positions, given.vertex_count + 1);
}

static void read_topology(FemStream *s, const FemWorld *world, FemBody *body) {
	s->failed = !fem_body_make_splittable(world, body);
	if (!s->failed)
		sync_counts(s, body->own_topology);
	if (!s->failed)
		sync_tables(s, body->own_topology);
}

static void derive_topology(FemStream *s, const FemWorld *world, FemBody *body) {
	FemTopology *t = body->own_topology;
	if (s->failed || !is_sound(t, body->breaking, &world->meshes[body->mesh_index])) {
		s->failed = true;
		t->component_count = 0; // nothing of it may be looked at
		return;
	}
	derive(t);
	s->failed = !fem_split_read(t);
	fem_body_forget_removed(body);
}

void fem_snapshot_read_breaking(FemStream *s, FemWorld *world, FemBody *body) {
	bool is_split = false;
	fem_stream_bool(s, &is_split);
	if (is_split && !s->failed)
		read_topology(s, world, body);
	if (!s->failed)
		sync_breaking(s, body);
	if (body->own_topology)
		derive_topology(s, world, body);
	if (!s->failed)
		read_splinters(s, world, body);
}
