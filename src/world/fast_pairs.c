#include "world/fast_pairs.h"

#include "base/memory.h"
#include "world/world.h"

#include <math.h>

bool fem_body_is_fast(const FemBody *body) {
	return body->live_part_count > 0 && !body->kinematic && body->fast_way > FEM_FAST_WAY_MIN;
}

bool fem_fast_pairs_reserve(FemFastPairs *fast, int32_t proxies, int32_t pairs) {
	if (proxies <= fast->entry_capacity && pairs <= fast->pair_capacity)
		return true;
	FemFastPairs made = {
		.entries = FEM_ALLOC_ARRAY_UNSET(FemFastEntry, proxies),
		.open = {FEM_ALLOC_ARRAY_UNSET(int32_t, proxies), FEM_ALLOC_ARRAY_UNSET(int32_t, proxies)},
		.pairs = FEM_ALLOC_ARRAY_UNSET(FemKeyed, pairs),
		.scratch = FEM_ALLOC_ARRAY_UNSET(FemKeyed, pairs),
		.entry_capacity = proxies,
		.pair_capacity = pairs,
	};
	if (!made.entries || !made.open[0] || !made.open[1] || !made.pairs || !made.scratch) {
		fem_fast_pairs_free(&made);
		return false;
	}
	fem_fast_pairs_free(fast);
	*fast = made;
	return true;
}

void fem_fast_pairs_free(FemFastPairs *fast) {
	FEM_FREE_ARRAY(fast->entries, fast->entry_capacity);
	FEM_FREE_ARRAY(fast->open[0], fast->entry_capacity);
	FEM_FREE_ARRAY(fast->open[1], fast->entry_capacity);
	FEM_FREE_ARRAY(fast->pairs, fast->pair_capacity);
	FEM_FREE_ARRAY(fast->scratch, fast->pair_capacity);
	*fast = (FemFastPairs){0};
}

// ---------------------------------------------------------------------------------------------------------------- entries

// From the box at the start of the step to where the mean velocity takes it, and as far around as single nodes go.
static void draw_out(FemFastEntry *entry, const FemBody *body) {
	const float *shift = &body->fast_shift.x;
	for (int i = 0; i < 3; i++) {
		entry->box.min[i] += (double)(fminf(shift[i], 0.0f) - body->fast_spread);
		entry->box.max[i] += (double)(fmaxf(shift[i], 0.0f) + body->fast_spread);
	}
}

// The ends of the sweep stand nearly in the order that is wanted here.
static void insert(FemFastPairs *fast, const FemFastEntry *entry, int axis) {
	int32_t at = fast->entry_count++;
	for (; at > 0 && fast->entries[at - 1].box.min[axis] > entry->box.min[axis]; at--)
		fast->entries[at] = fast->entries[at - 1];
	fast->entries[at] = *entry;
}

// Bodies are looked at as a whole: their first pieces stand for them.
static FemSweepBox entry_box(const FemSweep *sweep, int32_t proxy, const FemBody *body) {
	FemSweepBox box = sweep->boxes[proxy];
	for (int32_t c = 1; body && c < body->sweep_proxy_count; c++) {
		const FemSweepBox *piece = &sweep->boxes[body->sweep_proxies[c]];
		for (int i = 0; i < 3; i++) {
			box.min[i] = fmin(box.min[i], piece->min[i]);
			box.max[i] = fmax(box.max[i], piece->max[i]);
		}
	}
	return box;
}

static void list_entries(FemWorld *world, FemFastPairs *fast) {
	const FemSweep *sweep = &world->sweep;
	fast->entry_count = 0;
	for (int32_t e = 0; e < sweep->end_count; e++) {
		int32_t proxy = (int32_t)(sweep->ends[e].end >> 1);
		if ((sweep->ends[e].end & 1) || !sweep->proxies[proxy].in_use || sweep->proxies[proxy].dying || sweep->proxies[proxy].piece > 0)
			continue;
		FemFastEntry entry = {.user = sweep->proxies[proxy].user};
		const FemBody *body = entry.user & FEM_SWEEP_COLLIDER ? NULL : world->bodies[entry.user];
		entry.box = entry_box(sweep, proxy, body);
		entry.moves = body && fem_body_is_fast(body);
		if (entry.moves)
			draw_out(&entry, body);
		if (fast->entry_count < fast->entry_capacity)
			insert(fast, &entry, sweep->axis);
	}
}

// ------------------------------------------------------------------------------------------------------------------- walk

static bool boxes_meet(const FemSweepBox *a, const FemSweepBox *b) {
	for (int i = 0; i < 3; i++) {
		if (a->min[i] > b->max[i] || a->max[i] < b->min[i])
			return false;
	}
	return true;
}

static void add_pair(FemFastPairs *fast, const FemFastEntry *a, const FemFastEntry *b) {
	bool swap = !a->moves || (b->moves && b->user < a->user);
	uint64_t first = swap ? b->user : a->user, second = swap ? a->user : b->user;
	if (fast->pair_count == fast->pair_capacity) {
		fast->full = true;
		return;
	}
	fast->pairs[fast->pair_count++] = (FemKeyed){.key = first << 32 | second};
}

// The entry against the open ones of a list; those that lie behind drop out.
static int32_t meet_open(FemFastPairs *fast, const FemFastEntry *entry, int32_t *open, int32_t count, int axis) {
	int32_t kept = 0;
	for (int32_t i = 0; i < count; i++) {
		const FemFastEntry *other = &fast->entries[open[i]];
		if (other->box.max[axis] < entry->box.min[axis])
			continue;
		open[kept++] = open[i];
		if (boxes_meet(&entry->box, &other->box))
			add_pair(fast, entry, other);
	}
	return kept;
}

void fem_fast_pairs_find(FemWorld *world) {
	FemFastPairs *fast = &world->contacts.fast;
	int axis = world->sweep.axis;
	int32_t moving = 0, still = 0;
	fast->pair_count = 0;
	fast->full = false;
	list_entries(world, fast);
	for (int32_t e = 0; e < fast->entry_count; e++) {
		const FemFastEntry *entry = &fast->entries[e];
		moving = meet_open(fast, entry, fast->open[0], moving, axis);
		if (entry->moves) {
			still = meet_open(fast, entry, fast->open[1], still, axis);
			fast->open[0][moving++] = e;
		} else {
			fast->open[1][still++] = e; // not pruned against each other: two that do not move are never tested
		}
	}
	fem_key_sort(fast->pairs, fast->scratch, fast->pair_count);
}
