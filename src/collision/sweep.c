#include "collision/sweep.h"

#include "base/carve.h"
#include "collision/lanes4.h"

#include <math.h>
#include <string.h>

#define SWAPS_PER_END 16 // more than this many in all, and a merge sort is cheaper
#define AXIS_UPDATES 64  // every so many updates, and when many boxes are new, the axis is chosen again

// -------------------------------------------------------------------------------------------------------------- memory

static size_t place_arrays(FemSweep *sweep, char *base) {
	FemCarver carver = {.base = base};
	size_t proxies = (size_t)sweep->proxy_capacity, pairs = (size_t)sweep->pair_capacity;
	sweep->proxies = FEM_CARVE(&carver, FemSweepProxy, proxies);
	sweep->boxes = FEM_CARVE(&carver, FemSweepBox, proxies);
	sweep->has_moved = FEM_CARVE(&carver, uint8_t, proxies);
	sweep->ends = FEM_CARVE(&carver, FemSweepEnd, 2 * proxies);
	sweep->end_scratch = FEM_CARVE(&carver, FemSweepEnd, 2 * proxies);
	sweep->moved = FEM_CARVE(&carver, int32_t, proxies);
	for (int list = 0; list < 2; list++) {
		for (int i = 0; i < 2; i++) {
			sweep->open[list].min[i] = FEM_CARVE(&carver, float, proxies + 3); // read four at a time
			sweep->open[list].max[i] = FEM_CARVE(&carver, float, proxies + 3);
		}
		sweep->open[list].proxy = FEM_CARVE(&carver, int32_t, proxies);
	}
	sweep->open_place = FEM_CARVE(&carver, int32_t, proxies);
	sweep->slots = FEM_CARVE(&carver, FemSweepSlot, pairs);
	sweep->buckets = FEM_CARVE(&carver, int32_t, sweep->bucket_count);
	sweep->active = FEM_CARVE(&carver, FemKeyed, pairs);
	sweep->scratch = FEM_CARVE(&carver, FemKeyed, pairs);
	sweep->added = FEM_CARVE(&carver, FemSweepPair, pairs);
	sweep->removed = FEM_CARVE(&carver, FemSweepPair, pairs);
	return carver.used;
}

static uint32_t bucket_of(const FemSweep *sweep, int32_t a, int32_t b) {
	uint64_t hash = ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(hash >> 32) & (uint32_t)(sweep->bucket_count - 1);
}

static void fill_buckets(FemSweep *sweep) {
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

static void copy_arrays(FemSweep *to, const FemSweep *from) {
	memcpy(to->proxies, from->proxies, sizeof *to->proxies * (size_t)from->proxy_end);
	memcpy(to->boxes, from->boxes, sizeof *to->boxes * (size_t)from->proxy_end);
	memcpy(to->has_moved, from->has_moved, (size_t)from->proxy_end);
	memcpy(to->ends, from->ends, sizeof *to->ends * (size_t)from->end_count);
	memcpy(to->moved, from->moved, sizeof(int32_t) * (size_t)from->moved_count);
	memcpy(to->slots, from->slots, sizeof *to->slots * (size_t)from->slot_end);
	memcpy(to->active, from->active, sizeof *to->active * (size_t)from->active_count);
	memcpy(to->added, from->added, sizeof *to->added * (size_t)from->added_count);
	memcpy(to->removed, from->removed, sizeof *to->removed * (size_t)from->removed_count);
}

bool fem_sweep_reserve(FemSweep *sweep, int32_t proxies, int32_t pairs) {
	FemSweep larger = *sweep;
	larger.proxy_capacity = proxies > sweep->proxy_capacity ? proxies : sweep->proxy_capacity;
	larger.pair_capacity = pairs > sweep->pair_capacity ? pairs : sweep->pair_capacity;
	if (larger.proxy_capacity == sweep->proxy_capacity && larger.pair_capacity == sweep->pair_capacity)
		return true;
	if (larger.proxy_capacity > INT32_MAX / 4 || larger.pair_capacity > INT32_MAX / 4)
		return false;
	for (larger.bucket_count = 16; larger.bucket_count < larger.pair_capacity;)
		larger.bucket_count *= 2;
	larger.bytes = place_arrays(&larger, NULL);
	larger.block = fem_alloc(larger.bytes); // zeroed: open lists are read four at a time
	if (!larger.block)
		return false;
	place_arrays(&larger, larger.block);
	if (sweep->block)
		copy_arrays(&larger, sweep);
	else
		larger.proxy_free = larger.slot_free = -1;
	fill_buckets(&larger);
	fem_free(sweep->block, sweep->bytes);
	*sweep = larger;
	return true;
}

void fem_sweep_free(FemSweep *sweep) {
	fem_free(sweep->block, sweep->bytes);
	*sweep = (FemSweep){0};
}

size_t fem_sweep_bytes(const FemSweep *sweep) {
	return sweep->bytes;
}

// --------------------------------------------------------------------------------------------------------------- pairs

static bool overlap(const FemSweepBox *a, const FemSweepBox *b) {
	return a->min[0] <= b->max[0] && b->min[0] <= a->max[0] && a->min[1] <= b->max[1] && b->min[1] <= a->max[1] &&
		a->min[2] <= b->max[2] && b->min[2] <= a->max[2];
}

// The link that holds the pair's slot, or the end of the chain.
static int32_t *find_link(const FemSweep *sweep, int32_t a, int32_t b) {
	int32_t *link = &sweep->buckets[bucket_of(sweep, a, b)];
	while (*link >= 0 && (sweep->slots[*link].a != a || sweep->slots[*link].b != b))
		link = &sweep->slots[*link].next;
	return link;
}

static FemSweepPair describe(const FemSweep *sweep, int32_t s) {
	const FemSweepSlot *slot = &sweep->slots[s];
	const FemSweepProxy *a = &sweep->proxies[slot->a], *b = &sweep->proxies[slot->b];
	if (a->user < b->user || (a->user == b->user && a->piece <= b->piece))
		return (FemSweepPair){slot->a, slot->b, a->user, b->user, a->piece, b->piece, s};
	return (FemSweepPair){slot->b, slot->a, b->user, a->user, b->piece, a->piece, s};
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

static void add_pair(FemSweep *sweep, int32_t p, int32_t q) {
	int32_t a = p < q ? p : q, b = p < q ? q : p;
	int32_t *link = find_link(sweep, a, b);
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

static void remove_ended_pairs(FemSweep *sweep) {
	for (int32_t s = 0; s < sweep->slot_end; s++) {
		const FemSweepSlot *slot = &sweep->slots[s];
		if (slot->a < 0 || !(sweep->has_moved[slot->a] | sweep->has_moved[slot->b]))
			continue;
		bool dying = sweep->proxies[slot->a].dying || sweep->proxies[slot->b].dying;
		if (dying || !overlap(&sweep->boxes[slot->a], &sweep->boxes[slot->b]))
			remove_link(sweep, find_link(sweep, slot->a, slot->b));
	}
}

// ------------------------------------------------------------------------------------------------------------- sorting

// Lower ends come before upper ones of the same value: boxes that touch overlap.
static bool is_after(const FemSweepEnd *a, const FemSweepEnd *b) {
	return a->value > b->value || (a->value == b->value && (a->end & 1) > (b->end & 1));
}

static void put_end(FemSweep *sweep, int32_t place, FemSweepEnd end) {
	sweep->ends[place] = end;
	sweep->proxies[end.end >> 1].place[end.end & 1] = place;
}

// False when so much changed that it gave up half-way; the ends are all there, in some order.
static bool insertion_sort(FemSweep *sweep) {
	FemSweepEnd *ends = sweep->ends;
	int64_t swaps_left = (int64_t)SWAPS_PER_END * (sweep->end_count + 64);
	for (int32_t place = 1; place < sweep->end_count && swaps_left > 0; place++) {
		if (!is_after(&ends[place - 1], &ends[place]))
			continue;
		FemSweepEnd end = ends[place];
		int32_t at = place;
		for (; at > 0 && is_after(&ends[at - 1], &end); at--)
			put_end(sweep, at, ends[at - 1]);
		put_end(sweep, at, end);
		swaps_left -= place - at;
	}
	return swaps_left > 0;
}

static void merge_runs(const FemSweepEnd *from, FemSweepEnd *to, int32_t begin, int32_t middle, int32_t end) {
	int32_t left = begin, right = middle;
	for (int32_t at = begin; at < end; at++) {
		bool take_left = right == end || (left < middle && !is_after(&from[left], &from[right]));
		to[at] = take_left ? from[left++] : from[right++];
	}
}

static void merge_sort(FemSweep *sweep) {
	int32_t count = sweep->end_count;
	for (int32_t width = 1; width < count; width *= 2) {
		for (int32_t begin = 0; begin < count; begin += 2 * width) {
			int32_t middle = begin + width < count ? begin + width : count;
			int32_t end = middle + width < count ? middle + width : count;
			merge_runs(sweep->ends, sweep->end_scratch, begin, middle, end);
		}
		FemSweepEnd *sorted = sweep->end_scratch;
		sweep->end_scratch = sweep->ends;
		sweep->ends = sorted;
	}
	for (int32_t place = 0; place < count; place++)
		put_end(sweep, place, sweep->ends[place]);
}

// The axis along which the boxes' lower ends spread most; infinite ones do not count.
static int widest_axis(const FemSweep *sweep) {
	int widest = sweep->axis;
	double most = 0.0;
	for (int axis = 0; axis < 3; axis++) {
		double sum = 0.0, sum_sq = 0.0, count = 0.0;
		for (int32_t p = 0; p < sweep->proxy_end; p++) {
			double value = sweep->boxes[p].min[axis];
			if (!sweep->proxies[p].in_use || !isfinite(value))
				continue;
			sum += value;
			sum_sq += value * value;
			count += 1.0;
		}
		double spread = count > 0.0 ? sum_sq - sum * sum / count : 0.0;
		if (spread > 1.5 * most) { // not for a trifle
			most = spread;
			widest = axis;
		}
	}
	return widest;
}

static double end_value(const FemSweep *sweep, uint32_t end) {
	const FemSweepBox *box = &sweep->boxes[end >> 1];
	return end & 1 ? box->max[sweep->axis] : box->min[sweep->axis];
}

static void sort_ends(FemSweep *sweep, bool many_new) {
	bool anew = many_new;
	if (many_new || sweep->update_count % AXIS_UPDATES == 0) {
		int axis = widest_axis(sweep);
		anew |= axis != sweep->axis;
		sweep->axis = axis;
	}
	for (int32_t i = 0; i < sweep->moved_count && !anew; i++) {
		for (uint32_t upper = 0; upper < 2; upper++) {
			FemSweepEnd *end = &sweep->ends[sweep->proxies[sweep->moved[i]].place[upper]];
			end->value = end_value(sweep, end->end);
		}
	}
	for (int32_t i = 0; i < sweep->end_count && anew; i++)
		sweep->ends[i].value = end_value(sweep, sweep->ends[i].end);
	sweep->sorted_anew = anew || !insertion_sort(sweep);
	if (sweep->sorted_anew)
		merge_sort(sweep);
}

// ------------------------------------------------------------------------------------------------------------ the walk

// A box in floats that no rounding makes smaller.
typedef struct Outline {
	float min[2], max[2]; // m
	int32_t proxy;
} Outline;

static float round_outward(double value, float sign) {
	float nearest = (float)value;
	return nearest + sign * (1.2e-7f * fabsf(nearest) + 1e-37f);
}

static Outline outline_of(const FemSweep *sweep, int32_t proxy) {
	const FemSweepBox *box = &sweep->boxes[proxy];
	int u = sweep->axis == 0 ? 1 : 0, v = sweep->axis == 2 ? 1 : 2;
	return (Outline){{round_outward(box->min[u], -1.0f), round_outward(box->min[v], -1.0f)},
		{round_outward(box->max[u], 1.0f), round_outward(box->max[v], 1.0f)}, proxy};
}

static void put_open(FemSweep *sweep, FemSweepOpen *open, int32_t at, Outline box) {
	for (int i = 0; i < 2; i++) {
		open->min[i][at] = box.min[i];
		open->max[i][at] = box.max[i];
	}
	open->proxy[at] = box.proxy;
	sweep->open_place[box.proxy] = at;
}

// The last one takes the place of the one that closes.
static void close_box(FemSweep *sweep, FemSweepOpen *open, int32_t proxy) {
	int32_t last = --open->count;
	put_open(sweep, open, sweep->open_place[proxy],
		(Outline){
			{open->min[0][last], open->min[1][last]}, {open->max[0][last], open->max[1][last]}, open->proxy[last]});
}

// Ends early when there is no room left for pairs, so that the time stays bounded.
static void test_open(FemSweep *sweep, const Outline *box, const FemSweepOpen *open) {
	Float4 min_u = all4(box->min[0]), max_u = all4(box->max[0]), min_v = all4(box->min[1]), max_v = all4(box->max[1]);
	for (int32_t base = 0; base < open->count; base += 4) {
		unsigned met = not_above4(load4(open->min[0] + base), max_u) & not_above4(min_u, load4(open->max[0] + base)) &
			not_above4(load4(open->min[1] + base), max_v) & not_above4(min_v, load4(open->max[1] + base));
		for (; met; met &= met - 1) {
			int32_t at = base + __builtin_ctz(met);
			if (at >= open->count || !overlap(&sweep->boxes[box->proxy], &sweep->boxes[open->proxy[at]]))
				continue;
			add_pair(sweep, box->proxy, open->proxy[at]);
			if (sweep->pairs_full)
				return;
		}
	}
}

// `all`: as if everything had moved.
static void walk_ends(FemSweep *sweep, bool all) {
	sweep->open[0].count = sweep->open[1].count = 0;
	for (int32_t i = 0; i < sweep->end_count && !sweep->pairs_full; i++) {
		uint32_t end = sweep->ends[i].end;
		int32_t proxy = (int32_t)(end >> 1);
		bool moved = all || sweep->has_moved[proxy];
		FemSweepOpen *open = &sweep->open[moved];
		if (end & 1) {
			close_box(sweep, open, proxy);
			continue;
		}
		Outline box = outline_of(sweep, proxy);
		test_open(sweep, &box, &sweep->open[1]);
		if (moved)
			test_open(sweep, &box, &sweep->open[0]);
		put_open(sweep, open, open->count++, box);
	}
}

// ------------------------------------------------------------------------------------------------------------- proxies

static bool is_box(const FemSweepBox *box) {
	return box->min[0] <= box->max[0] && box->min[1] <= box->max[1] && box->min[2] <= box->max[2];
}

static bool is_proxy(const FemSweep *sweep, int32_t proxy) {
	return proxy >= 0 && proxy < sweep->proxy_end && sweep->proxies[proxy].in_use && !sweep->proxies[proxy].dying;
}

static void note_moved(FemSweep *sweep, int32_t proxy) {
	if (sweep->has_moved[proxy])
		return;
	sweep->has_moved[proxy] = 1;
	sweep->moved[sweep->moved_count++] = proxy;
}

int32_t fem_sweep_create_proxy(FemSweep *sweep, const FemSweepBox *box, uint32_t user, bool still) {
	int32_t proxy = sweep->block ? sweep->proxy_free : -1;
	if (!is_box(box) || (proxy < 0 && sweep->proxy_end == sweep->proxy_capacity))
		return -1;
	if (proxy >= 0)
		sweep->proxy_free = sweep->proxies[proxy].next_free;
	else
		proxy = sweep->proxy_end++;
	sweep->proxies[proxy] = (FemSweepProxy){.user = user, .in_use = true, .still = still, .place = {-1, -1}};
	sweep->boxes[proxy] = *box;
	sweep->proxy_count++;
	sweep->new_count++;
	note_moved(sweep, proxy);
	return proxy;
}

void fem_sweep_destroy_proxy(FemSweep *sweep, int32_t proxy) {
	if (!is_proxy(sweep, proxy))
		return;
	sweep->proxies[proxy].dying = true;
	sweep->dying_count++;
	note_moved(sweep, proxy);
}

bool fem_sweep_move_proxy(FemSweep *sweep, int32_t proxy, const FemSweepBox *box) {
	if (!is_proxy(sweep, proxy) || !is_box(box))
		return false;
	sweep->boxes[proxy] = *box;
	note_moved(sweep, proxy);
	return true;
}

void fem_sweep_set_piece(FemSweep *sweep, int32_t proxy, int32_t piece) {
	if (!is_proxy(sweep, proxy) || sweep->proxies[proxy].piece == piece)
		return;
	sweep->proxies[proxy].piece = piece;
	sweep->has_pieces = true;
	sweep->active_unsorted = true;
}

void fem_sweep_set_still(FemSweep *sweep, int32_t proxy, bool still) {
	if (!is_proxy(sweep, proxy) || sweep->proxies[proxy].still == still)
		return;
	sweep->proxies[proxy].still = still;
	sweep->still_changed = true;
}

// -------------------------------------------------------------------------------------------------------------- update

static void drop_dying_ends(FemSweep *sweep) {
	int32_t kept = 0;
	for (int32_t i = 0; i < sweep->end_count; i++) {
		if (!sweep->proxies[sweep->ends[i].end >> 1].dying)
			put_end(sweep, kept++, sweep->ends[i]);
	}
	sweep->end_count = kept;
}

static void bury_dying(FemSweep *sweep) {
	drop_dying_ends(sweep);
	int32_t kept = 0;
	for (int32_t i = 0; i < sweep->moved_count; i++) {
		int32_t p = sweep->moved[i];
		FemSweepProxy *proxy = &sweep->proxies[p];
		if (!proxy->dying) {
			sweep->moved[kept++] = p;
			continue;
		}
		sweep->new_count -= proxy->place[0] < 0;
		*proxy = (FemSweepProxy){.next_free = sweep->proxy_free};
		sweep->has_moved[p] = 0;
		sweep->proxy_free = p;
		sweep->proxy_count--;
	}
	sweep->moved_count = kept;
	sweep->dying_count = 0;
}

static void append_new(FemSweep *sweep) {
	for (int32_t i = 0; i < sweep->moved_count && sweep->new_count > 0; i++) {
		uint32_t proxy = (uint32_t)sweep->moved[i];
		if (sweep->proxies[proxy].place[0] >= 0)
			continue;
		for (uint32_t end = 2 * proxy; end < 2 * proxy + 2; end++)
			put_end(sweep, sweep->end_count++, (FemSweepEnd){end_value(sweep, end), end});
		sweep->new_count--;
	}
}

static void list_active(FemSweep *sweep) {
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

static void sort_active(FemSweep *sweep) {
	if (sweep->has_pieces)
		sort_pieces(sweep);
	fem_key_sort(sweep->active, sweep->scratch, sweep->active_count);
	for (int32_t i = 0; i < sweep->active_count; i++)
		sweep->slots[sweep->active[i].value].active_at = i;
	sweep->active_unsorted = false;
}

// Pairs that found no room are looked for as soon as there is some, wherever they are.
static void update_pairs(FemSweep *sweep) {
	remove_ended_pairs(sweep);
	if (sweep->dying_count > 0)
		bury_dying(sweep);
	bool many_new = sweep->new_count > sweep->end_count / 16;
	append_new(sweep);
	sort_ends(sweep, many_new);
	bool lost = sweep->pairs_full;
	sweep->pairs_full = lost && sweep->pair_count == sweep->pair_capacity;
	walk_ends(sweep, lost);
	for (int32_t i = 0; i < sweep->moved_count; i++)
		sweep->has_moved[sweep->moved[i]] = 0;
	sweep->moved_count = 0;
	sweep->update_count++;
}

void fem_sweep_update(FemSweep *sweep) {
	sweep->added_count = sweep->removed_count = 0;
	sweep->sorted_anew = false;
	if (sweep->moved_count > 0 || (sweep->pairs_full && sweep->pair_count < sweep->pair_capacity))
		update_pairs(sweep);
	if (sweep->still_changed)
		list_active(sweep);
	sweep->still_changed = false;
	if (sweep->active_unsorted)
		sort_active(sweep);
}

FemSweepPair fem_sweep_active_pair(const FemSweep *sweep, int32_t index) {
	return describe(sweep, (int32_t)sweep->active[index].value);
}

int32_t fem_sweep_find_pair(const FemSweep *sweep, int32_t proxy_a, int32_t proxy_b) {
	if (!is_proxy(sweep, proxy_a) || !is_proxy(sweep, proxy_b) || proxy_a == proxy_b)
		return -1;
	return *find_link(sweep, proxy_a < proxy_b ? proxy_a : proxy_b, proxy_a < proxy_b ? proxy_b : proxy_a);
}
