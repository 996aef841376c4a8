// What a body that can break adds to its snapshot: how it hangs together now, its pieces, its toughness.
#include "world/breaking.h"
#include "world/stream.h"

static void sync_counts(FemStream *s, FemTopology *t) {
	FEM_STREAM(s, t->node_count);
	FEM_STREAM(s, t->user_node_count);
	FEM_STREAM(s, t->tet_count);
	FEM_STREAM(s, t->component_count);
	FEM_STREAM(s, t->part_count);
	s->failed = s->failed || t->node_count < 4 || t->node_count > t->user_node_count || t->user_node_count > t->node_capacity ||
	            t->tet_count < 1 || t->tet_count > t->user_tet_count || t->component_count < 1 ||
	            t->component_count > t->component_capacity || t->part_count < t->component_count || t->part_count > t->part_capacity;
}

static void sync_tables(FemStream *s, FemTopology *t) {
	size_t lanes = (size_t)t->batch_count * FEM_LANES;
	FEM_STREAM_ARRAY(s, t->batch_nodes, 4 * lanes);
	FEM_STREAM_ARRAY(s, t->user_of_node, t->node_count);
	FEM_STREAM_ARRAY(s, t->user_of_tet, lanes);
	FEM_STREAM_ARRAY(s, t->node_part, t->node_count);
	FEM_STREAM_ARRAY(s, t->part_component, t->part_count);
	FEM_STREAM_ARRAY(s, t->split->neighbours, 4 * lanes);
	FEM_STREAM_ARRAY(s, t->split->source_of_user, t->user_node_count);
}

static void sync_breaking(FemStream *s, FemBody *body) {
	const FemTopology *t = body->topology;
	FemBreaking *b = body->breaking;
	FEM_STREAM_ARRAY(s, b->tet_scale, t->batch_count * FEM_LANES);
	fem_stream_bool(s, &body->is_convex); // measured when the body was whole
	FEM_STREAM(s, body->thickness);
	FEM_STREAM(s, b->seed);
	FEM_STREAM(s, b->next_piece);
	FEM_STREAM(s, b->piece_limit);
	FEM_STREAM(s, b->piece_lifetime);
	for (int32_t c = 0; c < t->component_count; c++) {
		FEM_STREAM(s, b->pieces[c].number);
		FEM_STREAM(s, b->pieces[c].parent);
		FEM_STREAM(s, b->pieces[c].born);
	}
	FEM_STREAM_ARRAY(s, b->piece_kinds, t->component_count);
	FEM_STREAM_ARRAY(s, b->node_rank, t->node_count);
	FEM_STREAM_ARRAY(s, b->part_rank, t->part_count);
}

void fem_snapshot_write_breaking(FemStream *s, FemBody *body) {
	fem_body_note_kinds(body);
	sync_counts(s, body->own_topology);
	sync_tables(s, body->own_topology);
	sync_breaking(s, body);
}

// ---------------------------------------------------------------------------------------------------------------- reading

static bool in_range(int32_t value, int32_t low, int32_t count) {
	return value >= low && value < count;
}

// Everything that is used as an index before the whole is checked.
static bool is_sound(const FemTopology *t, const FemBreaking *b, const FemMesh *mesh) {
	int32_t lanes = t->batch_count * FEM_LANES, filled = 0, part = -1;
	for (int32_t i = 0; i < 4 * lanes; i++) {
		if (!in_range(t->batch_nodes[i], 0, t->node_count) || !in_range(t->split->neighbours[i], -1, 4 * lanes))
			return false;
	}
	for (int32_t tet = 0; tet < lanes; tet++) {
		if (!in_range(t->user_of_tet[tet], -1, t->user_tet_count))
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
static void forget_removed(FemBody *body) {
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		FemBatch *batch = &body->batches[tet / FEM_LANES];
		int32_t lane = tet % FEM_LANES;
		if (body->topology->user_of_tet[tet] >= 0)
			continue;
		body->tet_material[tet] = -1;
		batch->volume[lane] = batch->lambda[lane] = batch->mu[lane] = batch->damping[lane] = 0.0f;
	}
}

void fem_snapshot_read_breaking(FemStream *s, const FemWorld *world, FemBody *body) {
	FemTopology *t = body->own_topology;
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	fem_body_solver_free(body);
	sync_counts(s, t);
	if (!s->failed)
		sync_tables(s, t);
	if (!s->failed)
		sync_breaking(s, body);
	s->failed = s->failed || !(body->thickness >= 0.0f) || !is_sound(t, body->breaking, mesh);
	if (s->failed) {
		t->component_count = 0; // nothing of it may be looked at
		return;
	}
	derive(t);
	s->failed = !fem_split_refill(t);
	forget_removed(body);
	if (!s->failed && (t->user_node_count > mesh->node_count || t->tet_count < t->user_tet_count)) // it was split
		fem_body_stiffen_shards(body);
}
