// What broke, in a body's saved state. Copies of nodes keep the numbers that users know them by, so they are listed
// with the nodes of the mesh that they came from; which of them a tet names is told corner by corner:
//
//   number of copies, and of each the mesh's node
//   number of removed tets, and of each how many tets were passed over since the last one
//   a bit for each face between two tets that are left, in the order of the first tet and its corners: 1 = it is open
//   for each corner of a tet whose node has copies: 0 for the node itself, k for its k-th copy
//
// Homes of splinters: how many splinters there are, how many have another home than they were given, and of each how
// many were passed over since the last one, and its tet.
//
// Pieces: the next free number, how many there are, and of each its lowest node, number, parent, age in ns, and 0 or 1
// + the ns left until it is removed.
#include "base/memory.h"
#include "base/union_find.h"
#include "base/vec.h"
#include "dynamics/preconditioner.h"
#include "model/piece.h"
#include "topology/topology.h"
#include "world/api/checks.h"
#include "world/api/pieces.h"
#include "world/state/body_state.h"
#include "world/state/snapshot.h"
#include "world/state/stream.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

#define NANOSECONDS 1e9 // ages are whole ones, so that the world's time, which is a double, does not round them away

bool fem_state_is_broken(const FemWorld *world, const FemBody *body) {
	const FemTopology *t = body->topology, *whole = world->meshes[body->mesh_index].topology;
	return body->breaking &&
		(t->user_node_count != whole->node_count || t->tet_count != whole->tet_count ||
			memcmp(t->neighbours, whole->neighbours, sizeof(int32_t) * 4 * (size_t)t->batch_count * FEM_LANES) != 0);
}

// ---- bits

typedef struct Bits {
	FemStream *s;
	uint8_t byte;
	int count; // of the byte: written, or not yet read
} Bits;

static void write_bit(Bits *bits, bool bit) {
	bits->byte |= (uint8_t)(bit << bits->count++);
	if (bits->count == 8) {
		FEM_STREAM(bits->s, bits->byte);
		bits->byte = 0;
		bits->count = 0;
	}
}

static void end_bits(Bits *bits) {
	if (bits->count > 0)
		FEM_STREAM(bits->s, bits->byte);
}

static bool read_bit(Bits *bits) {
	if (bits->count == 0) {
		FEM_STREAM(bits->s, bits->byte);
		bits->count = 8;
	}
	return bits->byte >> (8 - bits->count--) & 1;
}

// Whether the face is inside the whole mesh, seen from the tet of it that users number first.
static bool is_first_side(const FemTopology *whole, int32_t face) {
	int32_t across = whole->neighbours[face];
	return across >= 0 && whole->user_of_tet[across / 4] > whole->user_of_tet[face / 4];
}

// ---- writing

static void write_copies(FemStream *s, const FemTopology *t, int32_t mesh_nodes) {
	fem_stream_write_number(s, (uint64_t)(t->user_node_count - mesh_nodes));
	for (int32_t user = mesh_nodes; user < t->user_node_count; user++)
		fem_stream_write_number(s, (uint64_t)t->split->source_of_user[user]);
}

static void write_removed(FemStream *s, const FemTopology *t) {
	uint64_t gap = 0;
	fem_stream_write_number(s, (uint64_t)(t->user_tet_count - t->tet_count));
	for (int32_t user = 0; user < t->user_tet_count; user++, gap++) {
		if (t->tet_of_user[user] >= 0)
			continue;
		fem_stream_write_number(s, gap);
		gap = UINT64_MAX; // 0 in the next round
	}
}

static void write_cuts(FemStream *s, const FemTopology *t, const FemTopology *whole) {
	Bits bits = {.s = s};
	for (int32_t user = 0; user < t->user_tet_count; user++) {
		int32_t tet = t->tet_of_user[user];
		for (int32_t v = 0; v < 4 && tet >= 0; v++) {
			int32_t face = tet * 4 + v;
			if (is_first_side(whole, face) && t->user_of_tet[whole->neighbours[face] / 4] >= 0)
				write_bit(&bits, t->neighbours[face] < 0);
		}
	}
	end_bits(&bits);
}

static bool write_corners(FemStream *s, const FemTopology *t, const FemMesh *mesh) {
	int32_t *count = FEM_ALLOC_ARRAY(int32_t, mesh->node_count), *place = FEM_ALLOC_ARRAY(int32_t, t->user_node_count);
	bool ok = count && place;
	for (int32_t user = mesh->node_count; ok && user < t->user_node_count; user++)
		place[user] = ++count[t->split->source_of_user[user]];
	for (int32_t at = 0; ok && at < 4 * t->user_tet_count; at++) {
		int32_t tet = t->tet_of_user[at / 4];
		if (tet >= 0 && count[mesh->tets[at]] > 0)
			fem_stream_write_number(s, (uint64_t)place[t->user_of_node[fem_tet_node(t, tet, at % 4)]]);
	}
	FEM_FREE_ARRAY(count, mesh->node_count);
	FEM_FREE_ARRAY(place, t->user_node_count);
	return ok;
}

// ---- pieces

static uint64_t nanoseconds(double seconds) {
	return seconds > 0.0 && seconds < 1e9 ? (uint64_t)(seconds * NANOSECONDS + 0.5) : 0;
}

static uint64_t age_of(const FemWorld *world, const FemPiece *piece) {
	return nanoseconds(world->time - piece->born);
}

bool fem_state_pieces_are_new(const FemWorld *world, const FemBody *body) {
	const FemBreaking *breaking = body->breaking;
	int32_t count = body->topology->component_count;
	for (int32_t c = 0; c < count; c++) {
		const FemPiece *piece = &body->pieces[c];
		if (piece->number != (FemPieceNumber)c + 1 || piece->parent != 0 || !isinf(piece->retires) ||
			age_of(world, piece) != age_of(world, body->pieces))
			return false;
	}
	return breaking->next_piece == (FemPieceNumber)count + 1;
}

static int32_t lowest_user(const FemTopology *t, int32_t component) {
	int32_t low = INT32_MAX;
	for (int32_t i = t->component_nodes[component].begin; i < t->component_nodes[component].end; i++)
		low = t->user_of_node[i] < low ? t->user_of_node[i] : low;
	return low;
}

static void write_pieces(FemStream *s, const FemWorld *world, const FemBody *body) {
	const FemTopology *t = body->topology;
	fem_stream_write_number(s, body->breaking->next_piece);
	fem_stream_write_number(s, (uint64_t)t->component_count);
	for (int32_t c = 0; c < t->component_count; c++) {
		const FemPiece *piece = &body->pieces[c];
		fem_stream_write_number(s, (uint64_t)lowest_user(t, c));
		fem_stream_write_number(s, piece->number);
		fem_stream_write_number(s, piece->parent);
		fem_stream_write_number(s, age_of(world, piece));
		fem_stream_write_number(s, isinf(piece->retires) ? 0 : 1 + nanoseconds(piece->retires - world->time));
	}
}

// ---- splinters

// Those that were loaded, as long as there are no splinters for them.
static bool write_homes(FemStream *s, const FemBreaking *breaking) {
	FemSplinterHomes *now = breaking->splinters ? fem_splinters_moved_homes(breaking->splinters) : NULL;
	const FemSplinterHomes *homes = breaking->splinters ? now : breaking->loaded_homes;
	int32_t last = -1;
	if (!homes)
		return false;
	fem_stream_write_number(s, (uint64_t)homes->splinter_count);
	fem_stream_write_number(s, (uint64_t)homes->moved_count);
	for (int32_t i = 0; i < homes->moved_count; i++) {
		fem_stream_write_number(s, (uint64_t)(homes->moved[i].splinter - last - 1));
		fem_stream_write_number(s, (uint64_t)homes->moved[i].user_tet);
		last = homes->moved[i].splinter;
	}
	fem_splinter_homes_free(now);
	return true;
}

static void read_homes(FemStream *s, FemBody *body) {
	int32_t splinters = fem_stream_read_index(s, INT32_MAX), moved = fem_stream_read_index(s, (int64_t)splinters + 1);
	int32_t splinter = -1, tets = body->topology->user_tet_count;
	s->failed = s->failed || !fem_stream_can_hold(s, moved, 2);
	FemSplinterHomes *homes = s->failed ? NULL : fem_splinter_homes_create(splinters, moved);
	s->failed = !homes;
	for (int32_t i = 0; i < moved && !s->failed; i++) {
		splinter += 1 + fem_stream_read_index(s, (int64_t)splinters - splinter - 1);
		homes->moved[i] = (FemMovedHome){splinter, fem_stream_read_index(s, tets)};
	}
	body->breaking->loaded_homes = homes;
}

bool fem_state_write_breaks(FemStream *s, const FemWorld *world, FemBody *body, uint32_t flags) {
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	if (flags & FEM_STATE_BROKEN) {
		write_copies(s, body->topology, mesh->node_count);
		write_removed(s, body->topology);
		write_cuts(s, body->topology, mesh->topology);
		if (!write_corners(s, body->topology, mesh))
			return false;
	}
	if (flags & FEM_STATE_HOMES && !write_homes(s, body->breaking))
		return false;
	if (flags & FEM_STATE_PIECES)
		write_pieces(s, world, body);
	else if (flags & FEM_STATE_BREAKS)
		fem_stream_write_number(s, age_of(world, body->pieces));
	return true;
}

// ---- reading

#define NO_TET (-1)   // a node of removed pieces
#define NO_PIECE (-2) // a node whose piece was not read yet

// A broken topology in the making. Numbers of nodes are those of the whole body, inside, then copies.
typedef struct Breaks {
	const FemMesh *mesh;
	FemTopology *t;
	int32_t copy_count, node_count; // node_count: with copies
	int32_t *copy_start;            // [user node of the mesh + 1]: into
	int32_t *copies;                // its copies, in order
	int32_t *parents;               // [copy]
	int32_t *root;                  // [node]: union-find of what hangs together
	int32_t *component;             // [node]: or one of the two below; of roots while pieces are read
	int32_t *block;
	size_t block_count;
} Breaks;

// Room for the copies that the stream speaks of.
static bool open_breaks(FemStream *s, const FemWorld *world, FemBody *body, Breaks *out) {
	*out = (Breaks){.mesh = &world->meshes[body->mesh_index], .t = body->own_topology};
	int32_t nodes = out->mesh->node_count;
	out->copy_count = fem_stream_read_index(s, (int64_t)out->t->node_capacity - nodes + 1);
	out->node_count = nodes + out->copy_count;
	out->block_count = (size_t)nodes + 1 + 2 * (size_t)out->copy_count + 2 * (size_t)out->node_count;
	out->block =
		s->failed || !fem_stream_can_hold(s, out->copy_count, 1) ? NULL : FEM_ALLOC_ARRAY(int32_t, out->block_count);
	if (!out->block)
		return false;
	out->copy_start = out->block;
	out->copies = out->copy_start + nodes + 1;
	out->parents = out->copies + out->copy_count;
	out->root = out->parents + out->copy_count;
	out->component = out->root + out->node_count;
	return true;
}

// `root` holds the mesh's node of each copy for the while.
static void read_copies(FemStream *s, Breaks *b) {
	int32_t nodes = b->mesh->node_count, *source = b->root;
	for (int32_t i = 0; i < b->copy_count; i++) {
		source[i] = fem_stream_read_index(s, nodes);
		b->parents[i] = b->t->node_of_user[source[i]];
		b->copy_start[source[i] + 1]++;
	}
	for (int32_t user = 0; user < nodes; user++)
		b->copy_start[user + 1] += b->copy_start[user];
	for (int32_t i = b->copy_count - 1; i >= 0; i--)
		b->copies[--b->copy_start[source[i] + 1]] = i;
	for (int32_t user = 0; user < nodes; user++) // each now begins where the one before it did
		b->copy_start[user] = b->copy_start[user + 1];
	b->copy_start[nodes] = b->copy_count;
}

static void read_removed(FemStream *s, Breaks *b) {
	int32_t user = -1, length = b->t->user_tet_count, count = fem_stream_read_index(s, length); // one is left at least
	for (int32_t i = 0; i < count && !s->failed; i++) {
		user += 1 + fem_stream_read_index(s, length - user - 1);
		if (!s->failed)
			fem_split_remove_tet(b->t, b->t->tet_of_user[user]);
	}
}

static void read_cuts(FemStream *s, Breaks *b) {
	const FemTopology *whole = b->mesh->topology;
	Bits bits = {.s = s};
	for (int32_t user = 0; user < whole->user_tet_count; user++) {
		for (int32_t v = 0; v < 4; v++) {
			int32_t face = whole->tet_of_user[user] * 4 + v, across = whole->neighbours[face];
			if (!is_first_side(whole, face))
				continue;
			bool is_left = b->t->user_of_tet[face / 4] >= 0 && b->t->user_of_tet[across / 4] >= 0;
			if (!is_left || read_bit(&bits))
				fem_split_cut(b->t, face, across);
		}
	}
}

static void read_corners(FemStream *s, Breaks *b) {
	FemTopology *t = b->t;
	for (int32_t at = 0; at < 4 * t->user_tet_count && !s->failed; at++) {
		int32_t source = b->mesh->tets[at], tet = t->tet_of_user[at / 4];
		int32_t first = b->copy_start[source], count = b->copy_start[source + 1] - first;
		if (tet < 0 || count == 0)
			continue;
		int32_t place = fem_stream_read_index(s, (int64_t)count + 1);
		if (place > 0)
			*fem_tet_node_place(t, tet, at % 4) = t->node_count + b->copies[first + place - 1];
	}
}

static void join_tets(Breaks *b) {
	for (int32_t i = 0; i < b->node_count; i++) {
		b->root[i] = i;
		b->component[i] = NO_TET;
	}
	for (int32_t tet = 0; tet < b->t->batch_count * FEM_LANES; tet++) {
		for (int32_t v = 0; v < 4 && b->t->user_of_tet[tet] >= 0; v++) {
			b->component[fem_tet_node(b->t, tet, v)] = NO_PIECE;
			fem_union_join(b->root, fem_tet_node(b->t, tet, 0), fem_tet_node(b->t, tet, v));
		}
	}
}

// The component of each node from those of the roots; false when a tet is in no piece.
static bool spread_components(Breaks *b) {
	for (int32_t tet = 0; tet < b->t->batch_count * FEM_LANES; tet++) {
		for (int32_t v = 0; v < 4 && b->t->user_of_tet[tet] >= 0; v++) {
			int32_t node = fem_tet_node(b->t, tet, v);
			b->component[node] = b->component[fem_union_root(b->root, node)];
			if (b->component[node] < 0)
				return false;
		}
	}
	return true;
}

static void read_piece(FemStream *s, const FemWorld *world, FemPiece *piece) {
	uint64_t number = 0, parent = 0, age = 0, left = 0;
	fem_stream_number(s, &number);
	fem_stream_number(s, &parent);
	fem_stream_number(s, &age);
	fem_stream_number(s, &left);
	s->failed = s->failed || number > UINT32_MAX || parent > UINT32_MAX;
	piece->number = (FemPieceNumber)number;
	piece->parent = (FemPieceNumber)parent;
	piece->born = world->time - (double)age / NANOSECONDS;
	piece->retires = left == 0 ? INFINITY : world->time + (double)(left - 1) / NANOSECONDS;
}

static int32_t read_piece_count(FemStream *s, FemBody *body) {
	uint64_t next = 0;
	fem_stream_number(s, &next);
	s->failed = s->failed || next > UINT32_MAX;
	body->breaking->next_piece = (uint32_t)next;
	return fem_stream_read_index(s, (int64_t)body->topology->component_capacity + 1);
}

// Pieces of a body that is broken: they number its components.
static int32_t read_broken_pieces(FemStream *s, const FemWorld *world, FemBody *body, Breaks *b) {
	int32_t count = read_piece_count(s, body), mesh_nodes = b->mesh->node_count;
	for (int32_t c = 0; c < count && !s->failed; c++) {
		int32_t user = fem_stream_read_index(s, b->node_count);
		int32_t root = fem_union_root(b->root, user < mesh_nodes ? b->t->node_of_user[user] : user);
		s->failed = s->failed || b->component[root] != NO_PIECE;
		b->component[root] = c;
		read_piece(s, world, &body->pieces[c]);
	}
	return count;
}

// Pieces of a body that is whole: its components have numbers already.
static void read_whole_pieces(FemStream *s, const FemWorld *world, FemBody *body) {
	const FemTopology *t = body->topology;
	int32_t count = read_piece_count(s, body);
	s->failed = s->failed || count != t->component_count;
	for (int32_t c = 0; c < count && !s->failed; c++)
		body->pieces[c].number = 0;
	for (int32_t c = 0; c < count && !s->failed; c++) {
		int32_t node = t->node_of_user[fem_stream_read_index(s, t->user_node_count)];
		FemPiece *piece = &body->pieces[fem_node_component(t, node)];
		s->failed = s->failed || piece->number != 0;
		read_piece(s, world, piece);
	}
}

// What the solver keeps by node and part follows them; all of it is made for a whole body before.
static void move_ranks(FemBody *body, Breaks *b) {
	const FemTopology *t = body->topology;
	FemBreaking *breaking = body->breaking;
	int32_t *before = b->root;
	memcpy(before, breaking->node_rank, sizeof *before * (size_t)b->mesh->node_count);
	for (int32_t i = 0; i < t->node_count; i++)
		breaking->node_rank[i] = before[t->split->parent[t->split->old_of_new[i]]];
	memcpy(before, breaking->part_rank, sizeof *before * (size_t)b->mesh->topology->part_count);
	for (int32_t p = 0; p < t->part_count; p++)
		breaking->part_rank[p] = before[t->split->part_source[p]];
	for (int32_t c = 0; c < t->component_count; c++)
		body->pieces[c].preconditioner_kind = FEM_PRECONDITION_FACTOR; // if it is worth its cost
}

// Building set the nodes of the mesh alone.
static void clear_nodes(FemBody *body) {
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		body->last_dv[i] = body->force[i] = body->good_velocity[i] = (FemVec4){0};
		body->ground_force[i] = 0.0f;
		body->node_kind[i] = FEM_NODE_FREE;
	}
}

static void read_broken(FemStream *s, const FemWorld *world, FemBody *body, uint32_t flags) {
	Breaks b;
	if (!fem_body_make_splittable(world, body) || !open_breaks(s, world, body, &b)) {
		s->failed = true;
		return;
	}
	read_copies(s, &b);
	read_removed(s, &b);
	read_cuts(s, &b);
	read_corners(s, &b);
	if (!s->failed && flags & FEM_STATE_HOMES)
		read_homes(s, body);
	if (!s->failed) {
		join_tets(&b);
		int32_t pieces = read_broken_pieces(s, world, body, &b);
		s->failed = s->failed || pieces < 1 || !spread_components(&b) ||
			!fem_split_restore(b.t, b.parents, b.copy_count, b.component, pieces);
	}
	if (!s->failed) {
		move_ranks(body, &b);
		fem_split_end(b.t);
		clear_nodes(body);
		fem_body_forget_removed(body);
	}
	FEM_FREE_ARRAY(b.block, b.block_count);
}

void fem_state_read_breaks(FemStream *s, const FemWorld *world, FemBody *body, uint32_t flags) {
	if (!(flags & FEM_STATE_BREAKS) || s->failed)
		return;
	if (flags & FEM_STATE_BROKEN) {
		read_broken(s, world, body, flags);
	} else if (flags & FEM_STATE_PIECES) {
		read_whole_pieces(s, world, body);
	} else {
		uint64_t age = 0;
		fem_stream_number(s, &age);
		for (int32_t c = 0; c < body->topology->component_count; c++)
			body->pieces[c].born = world->time - (double)age / NANOSECONDS;
	}
}
