#include "islands/islands.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/range.h"
#include "fem_constants.h"
#include "fem_destruction.h"
#include "model/body.h"
#include "model/island.h"
#include "topology/topology.h"

#include <string.h>

// Batches a unit of element work: 128 tets, some 10 us; fixed, since sums are taken in this order.
#define BATCH_CHUNK 16

// ---- room

// What the lists must hold: sums over the bodies that are live or kinematic, and the largest body.
typedef struct Needs {
	int64_t bodies, parts, borders, node_chunks, batch_chunks;
	int32_t parts_max, nodes_max;
} Needs;

static void add_needs(Needs *needs, const FemBody *body) {
	const FemTopology *t = body->topology;
	needs->bodies++;
	if (body->kinematic)
		return;
	bool is_whole = body->live_part_count == t->part_count;
	needs->parts += t->part_count;
	needs->node_chunks +=
		(int64_t)t->part_count + t->node_count / FEM_NODE_CHUNK; // each part ends with one that need not be full
	// Worst case of a partly live body: every other batch is a run of its own, and all nodes but one are borders.
	needs->batch_chunks +=
		is_whole && t->tet_count == t->user_tet_count ? t->batch_count / BATCH_CHUNK + 1 : (t->batch_count + 1) / 2;
	needs->borders += is_whole ? 0 : t->node_count;
	needs->parts_max = t->part_count > needs->parts_max ? t->part_count : needs->parts_max;
	needs->nodes_max = t->node_count > needs->nodes_max ? t->node_count : needs->nodes_max;
}

// Contents are lost. Half as much again, so that a growing world asks the system a few times. On failure the old list
// stays and *ok is cleared.
static void *grow(void *list, int32_t *capacity, int64_t count, size_t size, bool *ok) {
	if (count <= *capacity)
		return list;
	count += count / 2;
	void *grown = count <= INT32_MAX ? fem_alloc_unset((size_t)count * size) : NULL;
	if (!grown) {
		*ok = false;
		return list;
	}
	fem_free(list, (size_t)*capacity * size);
	*capacity = (int32_t)count;
	return grown;
}

static bool make_scratch(FemIslands *s, int32_t parts, int32_t nodes) {
	bool ok = true;
	s->part_mark = grow(s->part_mark, &s->part_mark_capacity, parts, sizeof *s->part_mark, &ok);
	s->part_scratch = grow(s->part_scratch, &s->part_scratch_capacity, parts, sizeof *s->part_scratch, &ok);
	s->node_mark = grow(s->node_mark, &s->node_mark_capacity, nodes, sizeof *s->node_mark, &ok);
	return ok;
}

static bool make_room(FemIslands *s, const Needs *needs) {
	bool ok = make_scratch(s, needs->parts_max, needs->nodes_max);
	s->islands = grow(s->islands, &s->capacity, needs->parts, sizeof *s->islands, &ok);
	s->part_list = grow(s->part_list, &s->part_capacity, needs->parts, sizeof *s->part_list, &ok);
	s->node_chunks = grow(s->node_chunks, &s->node_chunk_capacity, needs->node_chunks, sizeof *s->node_chunks, &ok);
	s->batch_chunks =
		grow(s->batch_chunks, &s->batch_chunk_capacity, needs->batch_chunks, sizeof *s->batch_chunks, &ok);
	s->borders = grow(s->borders, &s->border_capacity, needs->borders, sizeof *s->borders, &ok);
	s->active_bodies = grow(s->active_bodies, &s->active_capacity, needs->bodies, sizeof *s->active_bodies, &ok);
	return ok;
}

void fem_islands_free(FemIslands *islands) {
	FEM_FREE_ARRAY(islands->islands, islands->capacity);
	FEM_FREE_ARRAY(islands->part_list, islands->part_capacity);
	FEM_FREE_ARRAY(islands->node_chunks, islands->node_chunk_capacity);
	FEM_FREE_ARRAY(islands->batch_chunks, islands->batch_chunk_capacity);
	FEM_FREE_ARRAY(islands->borders, islands->border_capacity);
	FEM_FREE_ARRAY(islands->active_bodies, islands->active_capacity);
	FEM_FREE_ARRAY(islands->part_mark, islands->part_mark_capacity);
	FEM_FREE_ARRAY(islands->part_scratch, islands->part_scratch_capacity);
	FEM_FREE_ARRAY(islands->node_mark, islands->node_mark_capacity);
	*islands = (FemIslands){0};
}

// ---- parts to islands

// Parts in the given state that hang together with `seed`, breadth first; marks them and lists them in `out`.
static int32_t gather_parts(const FemBody *body, int32_t seed, int32_t mark, int32_t *part_mark, int32_t *out) {
	const FemTopology *t = body->topology;
	int32_t count = 0;
	FEM_ASSERT(part_mark[seed] < 0 && mark >= 0);
	part_mark[seed] = mark;
	out[count++] = seed;
	for (int32_t at = 0; at < count; at++) {
		FemRange nodes = t->part_nodes[out[at]];
		for (int32_t s = t->row_start[nodes.begin]; s < t->row_start[nodes.end]; s++) {
			int32_t other = t->node_part[t->row_column[s]];
			if (part_mark[other] >= 0 || body->part_state[other] != body->part_state[seed])
				continue;
			FEM_ASSERT(t->part_component[other] == t->part_component[seed] && count < t->part_count);
			part_mark[other] = mark;
			out[count++] = other;
		}
	}
	return count;
}

// Ascending, which is the order of nodes in memory. All of them lie in one component.
static void sort_parts(const FemIslands *islands, FemRange component, int32_t mark, int32_t *out) {
	int32_t count = 0;
	for (int32_t p = component.begin; p < component.end; p++) {
		if (islands->part_mark[p] == mark)
			out[count++] = p;
	}
}

static void clear_marks(FemIslands *islands, const FemBody *body) {
	memset(islands->part_mark, 0xff, sizeof(int32_t) * (size_t)body->topology->part_count);
}

int32_t fem_body_count_islands(FemIslands *islands, const FemBody *body) {
	const FemTopology *t = body->topology;
	if (body->live_part_count == 0 || body->live_part_count == t->part_count)
		return t->component_count;
	if (!make_scratch(islands, t->part_count, t->node_count))
		return t->component_count;
	int32_t count = 0;
	clear_marks(islands, body);
	for (int32_t p = 0; p < t->part_count; p++) {
		if (islands->part_mark[p] < 0)
			gather_parts(body, p, count++, islands->part_mark, islands->part_scratch);
	}
	return count;
}

static void add_node_chunks(FemIslands *islands, const FemTopology *t, FemIsland *island, int32_t island_index) {
	island->node_chunks.begin = islands->node_chunk_count;
	for (int32_t at = island->parts.begin; at < island->parts.end; at++) {
		FemRange nodes = t->part_nodes[islands->part_list[at]];
		island->node_count += nodes.end - nodes.begin;
		for (int32_t begin = nodes.begin; begin < nodes.end; begin += FEM_NODE_CHUNK) {
			int32_t end = begin + FEM_NODE_CHUNK < nodes.end ? begin + FEM_NODE_CHUNK : nodes.end;
			FEM_ASSERT(islands->node_chunk_count < islands->node_chunk_capacity);
			islands->node_chunks[islands->node_chunk_count++] = (FemNodeChunk){island->body, island_index, begin, end};
		}
	}
	island->node_chunks.end = islands->node_chunk_count;
}

static int32_t count_pinned(const FemIslands *islands, const FemBody *body, const FemIsland *island) {
	int32_t count = 0;
	if (body->pinned_count == 0)
		return 0;
	for (int32_t at = island->parts.begin; at < island->parts.end; at++) {
		FemRange nodes = body->topology->part_nodes[islands->part_list[at]];
		for (int32_t i = nodes.begin; i < nodes.end; i++)
			count += body->node_kind[i] != FEM_NODE_FREE;
	}
	return count;
}

// The parts at the end of part_list, `count` of them, become an island.
static void add_island(FemIslands *islands, const FemBody *body, int32_t body_index, int32_t component, int32_t count) {
	const FemTopology *t = body->topology;
	FEM_ASSERT(
		islands->count < islands->capacity && islands->part_count + count <= islands->part_capacity && count > 0);
	FEM_ASSERT(fem_is_ascending(islands->part_list + islands->part_count, count));
	int32_t mark = islands->count++;
	FemIsland *island = &islands->islands[mark];
	FemRange parts = t->component_parts[component];
	*island = (FemIsland){.body = body_index, .component = component, .whole = count == parts.end - parts.begin};
	island->parts = (FemRange){islands->part_count, islands->part_count + count};
	islands->part_count += count;
	add_node_chunks(islands, t, island, mark);
	island->pinned_count = count_pinned(islands, body, island);
	islands->live_nodes += island->node_count;
}

static void add_component(FemIslands *islands, const FemBody *body, int32_t body_index, int32_t component) {
	FemRange parts = body->topology->component_parts[component];
	int32_t *list = islands->part_list + islands->part_count;
	int32_t live = 0;
	for (int32_t p = parts.begin; p < parts.end; p++)
		live += body->part_state[p] == FEM_ISLAND_LIVE;
	if (live == parts.end - parts.begin) {
		for (int32_t p = parts.begin; p < parts.end; p++)
			list[p - parts.begin] = p;
		add_island(islands, body, body_index, component, live);
		return;
	}
	for (int32_t p = parts.begin; p < parts.end; p++) {
		if (islands->part_mark[p] >= 0)
			continue;
		if (body->part_state[p] == FEM_ISLAND_LIVE) {
			int32_t mark = islands->count;
			list = islands->part_list + islands->part_count;
			int32_t count = gather_parts(body, p, mark, islands->part_mark, list);
			sort_parts(islands, parts, mark, list);
			add_island(islands, body, body_index, component, count);
		} else {
			// Sleepers are only counted; their marks lie above those of any island.
			gather_parts(body, p, INT32_MAX, islands->part_mark, islands->part_scratch);
			islands->asleep_count++;
		}
	}
}

// ---- element work

static int32_t count_tets(const FemTopology *t, int32_t begin, int32_t end) {
	int32_t count = 0;
	for (int32_t tet = begin * FEM_LANES; tet < end * FEM_LANES; tet++)
		count += t->user_of_tet[tet] >= 0;
	return count;
}

static void add_batches(FemIslands *islands, int32_t body_index, int32_t begin, int32_t end) {
	for (; begin < end; begin += BATCH_CHUNK) {
		int32_t stop = begin + BATCH_CHUNK < end ? begin + BATCH_CHUNK : end;
		FEM_ASSERT(islands->batch_chunk_count < islands->batch_chunk_capacity);
		islands->batch_chunks[islands->batch_chunk_count++] = (FemBatchChunk){body_index, begin, stop};
	}
}

// Tets that left their body stay in their batches, with all corners in one point: where none is left there is no work.
static bool has_tets(const FemTopology *t, int32_t batch) {
	return count_tets(t, batch, batch + 1) > 0;
}

static void add_all_batches(FemIslands *islands, const FemBody *body, int32_t body_index) {
	const FemTopology *t = body->topology;
	bool has_lost = t->tet_count < t->user_tet_count;
	for (int32_t begin = 0, end; begin < t->batch_count; begin = end + 1) {
		end = has_lost ? begin : t->batch_count;
		while (end < t->batch_count && has_tets(t, end))
			end++;
		add_batches(islands, body_index, begin, end);
	}
}

// Marks live nodes and their sleeping neighbours; lists the latter.
static void mark_nodes(FemIslands *islands, const FemBody *body, int32_t body_index) {
	const FemTopology *t = body->topology;
	for (int32_t i = 0; i < t->node_count; i++) {
		bool live = body->part_state[t->node_part[i]] == FEM_ISLAND_LIVE;
		islands->node_mark[i] = live;
		for (int32_t s = t->row_start[i]; !islands->node_mark[i] && s < t->row_start[i + 1]; s++)
			islands->node_mark[i] = body->part_state[t->node_part[t->row_column[s]]] == FEM_ISLAND_LIVE;
		if (islands->node_mark[i] && !live) {
			FEM_ASSERT(islands->border_count < islands->border_capacity);
			islands->borders[islands->border_count++] = (FemBorderNode){body_index, i};
		}
	}
}

// Whether the plate cell of a tet has a marked corner: it is computed with its lowest tet, wherever that lies.
static bool cell_touches_mark(const FemIslands *islands, const FemTopology *t, int32_t tet) {
	int32_t index = fem_plate_cell_count(&t->cells) > 0 ? t->cell_of_tet[tet] : -1;
	bool marked = false;
	for (int32_t k = 0; index >= 0 && k < 2 * fem_cell_column_count(&t->cells.cells[index]); k++) {
		int32_t at = t->cells.cells[index].corners[k];
		marked |= islands->node_mark[fem_tet_node(t, at / 4, at % 4)] != 0;
	}
	return marked;
}

static bool touches_mark(const FemIslands *islands, const FemTopology *t, int32_t batch) {
	const int32_t *nodes = t->batch_nodes + (size_t)batch * 4 * FEM_LANES;
	for (int32_t at = 0; at < 4 * FEM_LANES; at++) {
		if (islands->node_mark[nodes[at]])
			return true;
	}
	for (int32_t lane = 0; lane < FEM_LANES; lane++) {
		if (cell_touches_mark(islands, t, batch * FEM_LANES + lane))
			return true;
	}
	return false;
}

// A partly live body: runs of batches that touch a live or a border node.
static void add_marked_batches(FemIslands *islands, FemBody *body, int32_t body_index) {
	const FemTopology *t = body->topology;
	mark_nodes(islands, body, body_index);
	for (int32_t begin = 0, end; begin < t->batch_count; begin = end + 1) {
		end = begin;
		while (end < t->batch_count && touches_mark(islands, t, end) && has_tets(t, end))
			end++;
		add_batches(islands, body_index, begin, end);
		body->live_tets += count_tets(t, begin, end);
	}
}

static bool live_parts_hold(const FemBody *body) {
	int32_t live = 0;
	for (int32_t p = 0; p < body->topology->part_count; p++)
		live += body->part_state[p] == FEM_ISLAND_LIVE;
	return live == body->live_part_count;
}

static void add_body(FemIslands *islands, FemBody *body, int32_t body_index) {
	const FemTopology *t = body->topology;
	body->live_tets = 0;
	FEM_ASSERT(live_parts_hold(body));
	if (body->kinematic || body->live_part_count > 0) {
		FEM_ASSERT(islands->active_count < islands->active_capacity);
		islands->active_bodies[islands->active_count++] = body_index;
	}
	if (body->kinematic)
		return;
	if (body->live_part_count == 0) {
		islands->asleep_count += t->component_count;
		return;
	}
	clear_marks(islands, body);
	for (int32_t c = 0; c < t->component_count; c++)
		add_component(islands, body, body_index, c);
	if (body->live_part_count == t->part_count) {
		add_all_batches(islands, body, body_index);
		body->live_tets = t->tet_count;
	} else {
		add_marked_batches(islands, body, body_index);
	}
	islands->live_tets += body->live_tets;
}

void fem_islands_clear(FemIslands *islands) {
	islands->dirty = true;
	islands->count = islands->part_count = islands->node_chunk_count = islands->batch_chunk_count = 0;
	islands->border_count = islands->active_count = 0;
	islands->live_nodes = islands->live_tets = islands->asleep_count = 0;
}

bool fem_islands_update(FemIslands *islands, FemBody *const *bodies, int32_t body_capacity) {
	if (!islands->dirty)
		return true;
	Needs needs = {0};
	fem_islands_clear(islands);
	for (int32_t b = 0; b < body_capacity; b++) {
		if (bodies[b] && (bodies[b]->kinematic || bodies[b]->live_part_count > 0))
			add_needs(&needs, bodies[b]);
	}
	if (!make_room(islands, &needs))
		return false; // still dirty
	for (int32_t b = 0; b < body_capacity; b++) {
		if (bodies[b])
			add_body(islands, bodies[b], b);
	}
	islands->dirty = false;
	islands->rebuilt = true;
	islands->version++;
	return true;
}
