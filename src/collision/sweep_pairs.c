// The pairs of the sweep: a table of slots that last as long as their pair, and the sorted list of active ones.
#include "base/assert.h"
#include "collision/sweep_internal.h"

#include <string.h>

static uint32_t bucket_of(const FemSweep *sweep, int32_t a, int32_t b) {
	uint64_t hash = ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(hash >> 32) & (uint32_t)(sweep->bucket_count - 1);
}

void fem_sweep_fill_buckets(FemSweep *sweep) {
	memset(sweep->buckets, 0xff, sizeof(int32_t) * (size_t)sweep->bucket_count);
	for (int32_t s = 0; s < sweep->slot_end; s++) {
		FemSweepSlot *slot = &sweep->slots[s];
		if (slot->a < 0)
			continue;
		int32_t *bucket = &sweep->buckets[bucket_of(sweep, slot->a, slot->b)];
		slot->next = *bucket;
		*bucket = s;
	}
}

int32_t *fem_sweep_find_link(const FemSweep *sweep, int32_t a, int32_t b) {
	int32_t *link = &sweep->buckets[bucket_of(sweep, a, b)];
	while (*link >= 0 && (sweep->slots[*link].a != a || sweep->slots[*link].b != b))
		link = &sweep->slots[*link].next;
	return link;
}

static FemSweepPair describe(const FemSweep *sweep, int32_t s) {
	const FemSweepSlot *slot = &sweep->slots[s];
	const FemSweepProxy *a = &sweep->proxies[slot->a], *b = &sweep->proxies[slot->b];
	if (a->user < b->user || (a->user == b->user && a->piece <= b->piece))
		return (FemSweepPair){a->user, b->user, a->piece, b->piece, s};
	return (FemSweepPair){b->user, a->user, b->piece, a->piece, s};
}

static void activate(FemSweep *sweep, int32_t s) {
	FemSweepPair pair = describe(sweep, s);
	sweep->slots[s].active_at = sweep->active_count;
	sweep->active[sweep->active_count++] = (FemKeyed){(uint64_t)pair.user_a << 32 | pair.user_b, (uint64_t)s};
	sweep->active_unsorted = true;
}

static void deactivate(FemSweep *sweep, int32_t s) {
	int32_t at = sweep->slots[s].active_at;
	if (at < 0)
		return;
	FemKeyed last = sweep->active[--sweep->active_count];
	sweep->active[at] = last;
	sweep->slots[last.value].active_at = at;
	sweep->slots[s].active_at = -1;
	sweep->active_unsorted = true;
}

void fem_sweep_add_pair(FemSweep *sweep, int32_t p, int32_t q) {
	int32_t a = p < q ? p : q, b = p < q ? q : p;
	int32_t *link = fem_sweep_find_link(sweep, a, b);
	if (*link >= 0)
		return;
	int32_t s = sweep->slot_free;
	if (s >= 0) {
		sweep->slot_free = sweep->slots[s].next;
	} else if (sweep->slot_end < sweep->pair_capacity) {
		s = sweep->slot_end++;
	} else {
		sweep->pairs_full = true;
		return;
	}
	*link = s;
	sweep->slots[s] = (FemSweepSlot){.a = a, .b = b, .next = -1, .active_at = -1};
	sweep->pair_count++;
	if (!sweep->proxies[a].still || !sweep->proxies[b].still)
		activate(sweep, s);
	sweep->added[sweep->added_count++] = describe(sweep, s);
}

static void remove_link(FemSweep *sweep, int32_t *link) {
	int32_t s = *link;
	FemSweepSlot *slot = &sweep->slots[s];
	if (sweep->removed_count < sweep->pair_capacity)
		sweep->removed[sweep->removed_count++] = describe(sweep, s);
	deactivate(sweep, s);
	*link = slot->next;
	*slot = (FemSweepSlot){.a = -1, .b = -1, .next = sweep->slot_free, .active_at = -1};
	sweep->slot_free = s;
	sweep->pair_count--;
}

void fem_sweep_remove_ended_pairs(FemSweep *sweep) {
	for (int32_t s = 0; s < sweep->slot_end; s++) {
		const FemSweepSlot *slot = &sweep->slots[s];
		if (slot->a < 0 || !(sweep->has_moved[slot->a] | sweep->has_moved[slot->b]))
			continue;
		bool dying = sweep->proxies[slot->a].dying || sweep->proxies[slot->b].dying;
		if (dying || !fem_sweep_boxes_overlap(&sweep->boxes[slot->a], &sweep->boxes[slot->b]))
			remove_link(sweep, fem_sweep_find_link(sweep, slot->a, slot->b));
	}
}

// ---- active

FemSweepPair fem_sweep_active_pair(const FemSweep *sweep, int32_t index) {
	FEM_ASSERT_INDEX(index, sweep->active_count);
	FEM_ASSERT((int32_t)sweep->active[index].value < sweep->slot_end);
	return describe(sweep, (int32_t)sweep->active[index].value);
}

void fem_sweep_list_active(FemSweep *sweep) {
	sweep->active_count = 0;
	for (int32_t s = 0; s < sweep->slot_end; s++) {
		FemSweepSlot *slot = &sweep->slots[s];
		if (slot->a < 0)
			continue;
		slot->active_at = -1;
		if (!sweep->proxies[slot->a].still || !sweep->proxies[slot->b].still)
			activate(sweep, s);
	}
}

// The order of users is sorted over that of pieces.
static void sort_pieces(FemSweep *sweep) {
	for (int32_t i = 0; i < sweep->active_count; i++) {
		FemSweepPair pair = fem_sweep_active_pair(sweep, i);
		sweep->active[i].key = (uint64_t)(uint32_t)pair.piece_a << 32 | (uint32_t)pair.piece_b;
	}
	fem_key_sort(sweep->active, sweep->scratch, sweep->active_count);
	for (int32_t i = 0; i < sweep->active_count; i++) {
		FemSweepPair pair = fem_sweep_active_pair(sweep, i);
		sweep->active[i].key = (uint64_t)pair.user_a << 32 | pair.user_b;
	}
}

void fem_sweep_sort_active(FemSweep *sweep) {
	if (sweep->has_pieces)
		sort_pieces(sweep);
	fem_key_sort(sweep->active, sweep->scratch, sweep->active_count);
	for (int32_t i = 0; i < sweep->active_count; i++) {
		FEM_ASSERT(i == 0 || sweep->active[i - 1].key <= sweep->active[i].key);
		sweep->slots[sweep->active[i].value].active_at = i;
	}
	sweep->active_unsorted = false;
}
