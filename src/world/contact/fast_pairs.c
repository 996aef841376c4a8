#include "world/contact/fast_pairs.h"

#include "base/memory.h"
#include "base/vec.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

#define CHUNK 16 // entries of a task; chosen

// Makes room for `count` entries; the contents are lost. False when memory fails.
static bool hold(void **list, int32_t *capacity, int32_t count, size_t size) {
	if (count <= *capacity)
		return true;
	fem_free(*list, size * (size_t)*capacity);
	*capacity = 0;
	*list = fem_alloc_unset(size * (size_t)(count + count / 2));
	if (*list)
		*capacity = count + count / 2;
	return *list != NULL;
}

bool fem_fast_pairs_hold_pieces(FemFastPairs *fast, int32_t proxies) {
	return hold((void **)&fast->pieces, &fast->piece_capacity, proxies, sizeof *fast->pieces);
}

static bool hold_entries(FemFastPairs *fast, int32_t proxies) {
	return hold((void **)&fast->entries, &fast->entry_capacity, proxies, sizeof *fast->entries) &&
		hold((void **)&fast->keys, &fast->key_capacity, proxies, sizeof *fast->keys) &&
		hold((void **)&fast->scratch, &fast->scratch_capacity, proxies, sizeof *fast->scratch) &&
		hold((void **)&fast->chunk_pairs, &fast->chunk_capacity, proxies / CHUNK + 1, sizeof *fast->chunk_pairs);
}

void fem_fast_pairs_free(FemFastPairs *fast) {
	FEM_FREE_ARRAY(fast->pieces, fast->piece_capacity);
	FEM_FREE_ARRAY(fast->entries, fast->entry_capacity);
	FEM_FREE_ARRAY(fast->keys, fast->key_capacity);
	FEM_FREE_ARRAY(fast->scratch, fast->scratch_capacity);
	FEM_FREE_ARRAY(fast->chunk_pairs, fast->chunk_capacity);
	FEM_FREE_ARRAY(fast->pairs, fast->pair_capacity);
	*fast = (FemFastPairs){0};
}

// ---- entries

static bool boxes_meet(const FemSweepBox *a, const FemSweepBox *b) {
	for (int i = 0; i < 3; i++) {
		if (a->min[i] > b->max[i] || a->max[i] < b->min[i])
			return false;
	}
	return true;
}

static const FemBody *body_of(const FemWorld *world, int32_t proxy) {
	uint32_t user = world->sweep.proxies[proxy].user;
	return user & FEM_SWEEP_COLLIDER ? NULL : world->bodies[user];
}

// Whether what the proxy stands for moves far enough to be sampled, and can be stopped.
static bool is_moving(const FemWorld *world, int32_t proxy) {
	const FemBody *body = body_of(world, proxy);
	return body && body->live_part_count > 0 && !body->kinematic &&
		world->contacts.fast.pieces[proxy].displacement > FEM_FAST_DISPLACEMENT_MIN;
}

// The entry of a proxy: its box at the start of the step, and that box swept by the mean displacement and grown by the
// spread of single nodes.
static FemFastEntry make_entry(const FemWorld *world, int32_t proxy) {
	const FemBody *body = body_of(world, proxy);
	FemFastEntry entry = {.box = world->sweep.boxes[proxy], .proxy = proxy};
	if (body && (body->live_part_count > 0 || body->kinematic)) {
		entry.shift = world->contacts.fast.pieces[proxy].shift;
		entry.spread = world->contacts.fast.pieces[proxy].spread;
	}
	const float *shift = &entry.shift.x;
	entry.swept = entry.box;
	for (int i = 0; i < 3; i++) {
		entry.swept.min[i] += (double)(fminf(shift[i], 0.0f) - entry.spread);
		entry.swept.max[i] += (double)(fmaxf(shift[i], 0.0f) + entry.spread);
	}
	return entry;
}

// Half spaces are never passed: their contacts look ahead.
static bool is_solid(const FemWorld *world, int32_t proxy) {
	const FemSweepProxy *record = &world->sweep.proxies[proxy];
	if (!record->in_use || record->dying)
		return false;
	return !(record->user & FEM_SWEEP_COLLIDER) ||
		world->colliders[record->user & ~FEM_SWEEP_COLLIDER].shape.type != FEM_SHAPE_HALF_SPACE;
}

// Bits that sort as the numbers do.
static uint64_t order_of(double value) {
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static void add_key(FemFastPairs *fast, const FemFastEntry *entry, int axis) {
	fast->keys[fast->entry_count++] = (FemKeyed){order_of(entry->swept.min[axis]), (uint64_t)entry->proxy};
}

static void sort_entries(FemWorld *world, FemRange range) {
	FemFastPairs *fast = &world->contacts.fast;
	fem_key_sort(fast->keys + range.begin, fast->scratch, range.end - range.begin);
	for (int32_t i = range.begin; i < range.end; i++)
		fast->entries[i] = make_entry(world, (int32_t)fast->keys[i].value);
}

// Lists the moving entries, and those at rest that meet the box around all moving ones.
static void list_entries(FemWorld *world) {
	FemFastPairs *fast = &world->contacts.fast;
	FemSweepBox all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
	int axis = world->sweep.axis;
	int32_t end = world->sweep.proxy_end < fast->entry_capacity ? world->sweep.proxy_end : fast->entry_capacity;
	fast->entry_count = 0;
	for (int32_t p = 0; p < end; p++) {
		if (!is_solid(world, p) || !is_moving(world, p))
			continue;
		FemFastEntry entry = make_entry(world, p);
		add_key(fast, &entry, axis);
		for (int i = 0; i < 3; i++) {
			all.min[i] = fmin(all.min[i], entry.swept.min[i]);
			all.max[i] = fmax(all.max[i], entry.swept.max[i]);
		}
	}
	fast->moving_count = fast->entry_count;
	for (int32_t p = 0; p < end; p++) {
		if (!is_solid(world, p) || is_moving(world, p))
			continue;
		FemFastEntry entry = make_entry(world, p);
		if (boxes_meet(&entry.swept, &all))
			add_key(fast, &entry, axis);
	}
	sort_entries(world, (FemRange){0, fast->moving_count});
	sort_entries(world, (FemRange){fast->moving_count, fast->entry_count});
}

// ---- walk

// The widest gap between two boxes along an axis, m; negative: they meet.
static double box_gap(const FemSweepBox *a, const FemSweepBox *b) {
	double gap = -INFINITY;
	for (int i = 0; i < 3; i++)
		gap = fmax(gap, fmax(a->min[i] - b->max[i], b->min[i] - a->max[i]));
	return gap;
}

static float displacement_between(const FemFastEntry *a, const FemFastEntry *b) {
	return fem_vec3_length(fem_vec3_sub(a->shift, b->shift)) + a->spread + b->spread;
}

// Whether two entries may meet within the step: not if their gap is wider than their relative displacement, as of
// pieces that fly side by side.
static bool may_meet(const FemFastEntry *a, const FemFastEntry *b) {
	return boxes_meet(&a->swept, &b->swept) && box_gap(&a->box, &b->box) <= (double)displacement_between(a, b);
}

static FemFastPair make_pair(const FemSweep *sweep, const FemFastEntry *a, const FemFastEntry *b) {
	const FemSweepProxy *first = &sweep->proxies[a->proxy], *second = &sweep->proxies[b->proxy];
	bool swap = second->user < first->user || (second->user == first->user && second->piece < first->piece);
	return (FemFastPair){.a = swap ? b->proxy : a->proxy,
		.b = swap ? a->proxy : b->proxy,
		.displacement = displacement_between(a, b),
		.first = 1.0f};
}

// The first entry of a range that begins not below (or, strictly, above) a place.
static int32_t first_beyond(const FemFastPairs *fast, FemRange range, double place, bool strictly, int axis) {
	while (range.begin < range.end) {
		int32_t middle = range.begin + (range.end - range.begin) / 2;
		double at = fast->entries[middle].swept.min[axis];
		if (at < place || (strictly && at == place))
			range.begin = middle + 1;
		else
			range.end = middle;
	}
	return range.begin;
}

// Entries from `at` on that begin within the given one. Without `out` they are counted only.
static int32_t meet_later(const FemWorld *world, int32_t entry, FemRange later, FemFastPair *out, int32_t room) {
	const FemFastPairs *fast = &world->contacts.fast;
	const FemFastEntry *one = &fast->entries[entry];
	int axis = world->sweep.axis;
	int32_t count = 0;
	for (int32_t i = later.begin; i < later.end && fast->entries[i].swept.min[axis] <= one->swept.max[axis]; i++) {
		if (!may_meet(one, &fast->entries[i]))
			continue;
		if (out && count < room)
			out[count] = make_pair(&world->sweep, one, &fast->entries[i]);
		count++;
	}
	return count;
}

// Pairs of one entry, each found once: a moving entry with all entries that begin within its extent, an entry at rest
// with the moving ones that do.
static int32_t meet(const FemWorld *world, int32_t entry, FemFastPair *out, int32_t room) {
	const FemFastPairs *fast = &world->contacts.fast;
	double place = fast->entries[entry].swept.min[world->sweep.axis];
	FemRange moving = {0, fast->moving_count}, others = {fast->moving_count, fast->entry_count};
	if (entry >= fast->moving_count) {
		moving.begin = first_beyond(fast, moving, place, true, world->sweep.axis);
		return meet_later(world, entry, moving, out, room);
	}
	moving.begin = entry + 1;
	others.begin = first_beyond(fast, others, place, false, world->sweep.axis);
	int32_t count = meet_later(world, entry, moving, out, room);
	bool full = count >= room;
	return count + meet_later(world, entry, others, out && !full ? out + count : NULL, full ? 0 : room - count);
}

static void meet_chunk(FemWorld *world, int32_t chunk, bool fill) {
	FemFastPairs *fast = &world->contacts.fast;
	int32_t at = fill ? fast->chunk_pairs[chunk] : 0;
	for (int32_t e = chunk * CHUNK; e < (chunk + 1) * CHUNK && e < fast->entry_count; e++) {
		bool fits = fill && at < fast->pair_capacity;
		at += meet(world, e, fits ? fast->pairs + at : NULL, fits ? fast->pair_capacity - at : 0);
	}
	if (!fill)
		fast->chunk_pairs[chunk] = at;
}

static void count_task(void *context, int32_t chunk) {
	meet_chunk(context, chunk, false);
}

static void fill_task(void *context, int32_t chunk) {
	meet_chunk(context, chunk, true);
}

// Where the pairs of each chunk begin; how many there are in all, but at most one more than `limit`.
static int32_t sum_chunks(FemFastPairs *fast, int32_t chunks, int32_t limit) {
	int32_t sum = 0;
	for (int32_t c = 0; c < chunks; c++) {
		int32_t count = fast->chunk_pairs[c];
		fast->chunk_pairs[c] = sum;
		sum = count > limit - sum ? limit + 1 : sum + count; // beyond: nothing fits any more
	}
	return sum;
}

void fem_fast_pairs_find(FemWorld *world) {
	FemFastPairs *fast = &world->contacts.fast;
	fast->moving_count = fast->entry_count = fast->pair_count = 0;
	fast->full = !hold_entries(fast, world->sweep.proxy_end);
	if (fast->full)
		return;
	list_entries(world);
	int32_t chunks = (fast->entry_count + CHUNK - 1) / CHUNK, limit = fem_contact_stage_most_pairs(world);
	fem_pool_for(world->pool, chunks, count_task, world);
	int32_t count = sum_chunks(fast, chunks, limit);
	fast->full = count > limit || !hold((void **)&fast->pairs, &fast->pair_capacity, count, sizeof *fast->pairs);
	fast->pair_count = count < fast->pair_capacity ? count : fast->pair_capacity;
	fem_pool_for(world->pool, chunks, fill_task, world);
}
