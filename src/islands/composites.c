#include "islands/composites.h"

#include "base/assert.h"
#include "base/range.h"
#include "base/union_find.h"
#include "fem_constants.h"
#include "model/body.h"
#include "model/body_step.h"
#include "model/contact.h"
#include "model/island.h"
#include "model/piece.h"

#include <string.h>

#define LARGE_NODES 60 // P&O09 section 4: an island is large with so many nodes ...
#define LARGE_SHARE 4  // ... and more than 1/4 of all live nodes

size_t fem_composites_bytes(
	int32_t island_count, int32_t node_chunk_count, int32_t contact_count, int32_t proxy_count) {
	size_t islands = (size_t)island_count, proxies = (size_t)proxy_count;
	return fem_align_up(sizeof(int32_t) * (islands + proxies)) * 2 +
		fem_align_up(sizeof(FemComposite) * (islands + proxies)) + fem_align_up(sizeof(int32_t) * islands) +
		fem_align_up(sizeof(FemNodeChunk) * (size_t)node_chunk_count) +
		fem_align_up(sizeof(FemContact) * (size_t)contact_count) +
		fem_align_up(sizeof(int32_t) * (size_t)contact_count) + fem_align_up(sizeof(int32_t) * proxies);
}

// The island that a side belongs to, or the dynamic collider (numbered after the islands); -1: fixed.
static int32_t member_of(const FemContactSide *side, FemBody *const *bodies, int32_t island_count) {
	if (side->is_fixed)
		return -1;
	if (fem_side_is_collider(side)) {
		FEM_ASSERT(side->proxy >= 0);
		return island_count + side->proxy;
	}
	const FemBody *body = bodies[side->body];
	for (int k = 0; k < 4; k++) {
		int32_t part = body->topology->node_part[side->nodes[k]];
		if (side->weights[k] != 0.0f && body->part_state[part] == FEM_ISLAND_LIVE) {
			FEM_ASSERT_INDEX(body->step->part_island[part], island_count);
			return body->step->part_island[part];
		}
	}
	return -1;
}

static int32_t contact_member(const FemContact *contact, FemBody *const *bodies, int32_t island_count) {
	int32_t member = member_of(&contact->side[0], bodies, island_count);
	return member >= 0 ? member : member_of(&contact->side[1], bodies, island_count);
}

// ---- building

typedef struct Builder {
	FemComposites *out;
	const FemIslands *islands;
	FemBody *const *bodies;
	const FemContact *contacts;
	int32_t contact_count;
	const FemProxy *proxies;
	int32_t proxy_count;
	int32_t *parent;       // [island, then proxy]
	int32_t *composite_of; // of a root; -1: none
} Builder;

static void map_parts(const FemIslands *islands, FemBody *const *bodies) {
	for (int32_t i = 0; i < islands->count; i++) {
		const FemIsland *island = &islands->islands[i];
		for (int32_t k = island->parts.begin; k < island->parts.end; k++)
			bodies[island->body]->step->part_island[islands->part_list[k]] = i;
	}
}

static void unite_members(Builder *b) {
	int32_t island_count = b->islands->count;
	for (int32_t i = 0; i < island_count + b->proxy_count; i++)
		b->parent[i] = i;
	for (int32_t c = 0; c < b->contact_count; c++) {
		int32_t first = member_of(&b->contacts[c].side[0], b->bodies, island_count);
		int32_t second = member_of(&b->contacts[c].side[1], b->bodies, island_count);
		if (first >= 0 && second >= 0)
			fem_union_join(b->parent, first, second);
	}
	for (int32_t i = 0; i < island_count; i++) { // pieces that move as one need no joints
		const FemBody *body = b->bodies[b->islands->islands[i].body];
		const FemPiece *piece = &body->pieces[b->islands->islands[i].component];
		int32_t first = piece->moves_as_one ? body->topology->component_parts[piece->assembly].begin : -1;
		if (first >= 0)
			fem_union_join(b->parent, i, body->step->part_island[first]);
	}
}

// A dynamic collider that touches only sleepers is a system of its own: to it they are walls.
static void open_rigid_composites(Builder *b) {
	int32_t island_count = b->islands->count;
	for (int32_t p = 0; p < b->proxy_count; p++)
		b->composite_of[island_count + p] = -1;
	for (int32_t c = 0; c < b->contact_count; c++) {
		int32_t member = contact_member(&b->contacts[c], b->bodies, island_count);
		int32_t root = member < 0 ? -1 : fem_union_root(b->parent, member);
		if (root < island_count || b->composite_of[root] >= 0 || !(b->proxies[member - island_count].mass > 0.0f))
			continue;
		b->composite_of[root] = b->out->count;
		b->out->composites[b->out->count++] = (FemComposite){.is_free = true};
	}
}

// Counts what every composite holds into the ends of its ranges.
static void count_members(Builder *b) {
	FemComposites *out = b->out;
	int32_t island_count = b->islands->count;
	for (int32_t i = 0; i < island_count; i++) {
		const FemIsland *island = &b->islands->islands[i];
		int32_t root = fem_union_root(b->parent, i);
		if (root == i) {
			b->composite_of[i] = out->count;
			out->composites[out->count++] = (FemComposite){.is_free = true};
		}
		FemComposite *composite = &out->composites[b->composite_of[root]];
		composite->islands.end++;
		composite->chunks.end += island->node_chunks.end - island->node_chunks.begin;
		composite->node_count += island->node_count;
		composite->iterations += island->iterations;
		composite->is_free = composite->is_free && island->pinned_count == 0 && island->whole;
	}
	open_rigid_composites(b);
	for (int32_t p = 0; p < b->proxy_count; p++) {
		int32_t composite = b->composite_of[fem_union_root(b->parent, island_count + p)];
		if (composite >= 0 && b->proxies[p].mass > 0.0f)
			out->composites[composite].proxies.end++;
	}
	for (int32_t c = 0; c < b->contact_count; c++) {
		int32_t member = contact_member(&b->contacts[c], b->bodies, island_count);
		int32_t index = member < 0 ? -1 : b->composite_of[fem_union_root(b->parent, member)];
		if (index < 0)
			continue; // nothing of it is ours
		FemComposite *composite = &out->composites[index];
		composite->contacts.end++;
		composite->is_free &=
			!b->contacts[c].side[0].is_fixed && !b->contacts[c].side[1].is_fixed && composite->node_count > 0;
	}
}

static void advance_range(FemRange *range, int32_t *at) {
	int32_t count = range->end;
	FEM_ASSERT(range->begin == 0 && count >= 0);
	*range = (FemRange){*at, *at};
	*at += count;
}

static void place_ranges(FemComposites *out) {
	int32_t islands = 0, chunks = 0, contacts = 0, proxies = 0;
	for (int32_t i = 0; i < out->count; i++) {
		FemComposite *composite = &out->composites[i];
		advance_range(&composite->islands, &islands);
		advance_range(&composite->chunks, &chunks);
		advance_range(&composite->contacts, &contacts);
		advance_range(&composite->proxies, &proxies);
	}
}

static void fill_island(Builder *b, int32_t island_index) {
	const FemIslands *islands = b->islands;
	const FemIsland *island = &islands->islands[island_index];
	FemComposite *composite = &b->out->composites[b->composite_of[fem_union_root(b->parent, island_index)]];
	FemBody *body = b->bodies[island->body];
	int32_t place = composite->islands.end - composite->islands.begin;
	b->out->island_list[composite->islands.end++] = island_index;
	for (int32_t c = island->node_chunks.begin; c < island->node_chunks.end; c++) {
		FemNodeChunk chunk = islands->node_chunks[c];
		int32_t part = body->topology->node_part[chunk.begin];
		if (chunk.begin == body->topology->part_nodes[part].begin)
			body->step->part_chunk[part] = composite->chunks.end - composite->chunks.begin;
		chunk.island = place;
		b->out->chunks[composite->chunks.end++] = chunk;
	}
}

static void fill_members(Builder *b) {
	int32_t island_count = b->islands->count;
	for (int32_t i = 0; i < island_count; i++)
		fill_island(b, i);
	for (int32_t p = 0; p < b->proxy_count; p++) {
		int32_t composite = b->composite_of[fem_union_root(b->parent, island_count + p)];
		if (composite >= 0 && b->proxies[p].mass > 0.0f)
			b->out->proxy_list[b->out->composites[composite].proxies.end++] = p;
	}
	for (int32_t c = 0; c < b->contact_count; c++) {
		int32_t member = contact_member(&b->contacts[c], b->bodies, island_count);
		int32_t composite = member < 0 ? -1 : b->composite_of[fem_union_root(b->parent, member)];
		if (composite < 0)
			continue;
		int32_t place = b->out->composites[composite].contacts.end++;
		b->out->contacts[place] = b->contacts[c];
		b->out->composites[composite].bond_count += b->contacts[c].is_bond;
		b->out->contact_places[place] = c;
	}
}

// The ranges of the composites follow each other in the lists, which they fill in ascending order of islands.
static bool composites_hold(const FemComposites *all, int32_t islands, int32_t contacts, int32_t proxies) {
	FemRange at = {0, 0}, contact = {0, 0}, proxy = {0, 0};
	for (int32_t i = 0; i < all->count; i++) {
		const FemComposite *c = &all->composites[i];
		if (c->islands.begin != at.end || c->contacts.begin != contact.end || c->proxies.begin != proxy.end ||
			!fem_is_ascending(all->island_list + c->islands.begin, c->islands.end - c->islands.begin) ||
			!fem_is_ascending(all->proxy_list + c->proxies.begin, c->proxies.end - c->proxies.begin))
			return false;
		at = c->islands, contact = c->contacts, proxy = c->proxies;
	}
	return at.end == islands && contact.end <= contacts && proxy.end <= proxies;
}

bool fem_composites_build(FemComposites *out, const FemIslands *islands, FemBody *const *bodies,
	const FemContact *contacts, int32_t contact_count, const FemProxy *proxies, int32_t proxy_count, FemArena *arena) {
	int32_t member_count = islands->count + proxy_count;
	*out = (FemComposites){
		.composites = FEM_ARENA_TAKE(arena, FemComposite, member_count),
		.island_list = FEM_ARENA_TAKE(arena, int32_t, islands->count),
		.chunks = FEM_ARENA_TAKE(arena, FemNodeChunk, islands->node_chunk_count),
		.contacts = FEM_ARENA_TAKE(arena, FemContact, contact_count),
		.contact_places = FEM_ARENA_TAKE(arena, int32_t, contact_count),
		.proxy_list = FEM_ARENA_TAKE(arena, int32_t, proxy_count),
	};
	Builder builder = {
		.out = out,
		.islands = islands,
		.bodies = bodies,
		.contacts = contacts,
		.contact_count = contact_count,
		.proxies = proxies,
		.proxy_count = proxy_count,
		.parent = FEM_ARENA_TAKE(arena, int32_t, member_count),
		.composite_of = FEM_ARENA_TAKE(arena, int32_t, member_count),
	};
	if (!builder.composite_of)
		return false;
	map_parts(islands, bodies);
	unite_members(&builder);
	count_members(&builder);
	place_ranges(out);
	fill_members(&builder);
	FEM_ASSERT(composites_hold(out, islands->count, contact_count, proxy_count));
	for (int32_t i = 0; i < out->count; i++) {
		int64_t nodes = out->composites[i].node_count;
		out->composites[i].large = nodes >= LARGE_NODES && nodes * LARGE_SHARE > islands->live_nodes;
	}
	return true;
}
