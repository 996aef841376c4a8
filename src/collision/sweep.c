#include "collision/sweep.h"

#include "base/carve.h"
#include "collision/sweep_internal.h"

#include <string.h>

// ---- memory

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

// Boxes that were never noted have not moved; open lists are read four at a time, a little beyond their end.
static void clear_arrays(FemSweep *sweep) {
	size_t proxies = (size_t)sweep->proxy_capacity;
	memset(sweep->has_moved, 0, proxies);
	for (int k = 0; k < 4; k++) {
		memset(sweep->open[k / 2].min[k % 2], 0, sizeof(float) * (proxies + 3));
		memset(sweep->open[k / 2].max[k % 2], 0, sizeof(float) * (proxies + 3));
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
	larger.block = fem_alloc_unset(larger.bytes);
	if (!larger.block)
		return false;
	place_arrays(&larger, larger.block);
	clear_arrays(&larger);
	if (sweep->block)
		copy_arrays(&larger, sweep);
	else
		larger.proxy_free = larger.slot_free = -1;
	fem_sweep_fill_buckets(&larger);
	fem_free(sweep->block, sweep->bytes);
	*sweep = larger;
	return true;
}

void fem_sweep_free(FemSweep *sweep) {
	fem_free(sweep->block, sweep->bytes);
	*sweep = (FemSweep){0};
}

// ---- proxies

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

// ---- update

static void drop_dying_ends(FemSweep *sweep) {
	int32_t kept = 0;
	for (int32_t i = 0; i < sweep->end_count; i++) {
		if (!sweep->proxies[sweep->ends[i].end >> 1].dying)
			fem_sweep_put_end(sweep, kept++, sweep->ends[i]);
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
			fem_sweep_put_end(sweep, sweep->end_count++, (FemSweepEnd){fem_sweep_end_value(sweep, end), end});
		sweep->new_count--;
	}
}

// Pairs that found no room are looked for as soon as there is some, wherever they are.
static void update_pairs(FemSweep *sweep) {
	fem_sweep_remove_ended_pairs(sweep);
	if (sweep->dying_count > 0)
		bury_dying(sweep);
	bool many_new = sweep->new_count > sweep->end_count / 16;
	append_new(sweep);
	fem_sweep_sort_ends(sweep, many_new);
	bool lost = sweep->pairs_full;
	sweep->pairs_full = lost && sweep->pair_count == sweep->pair_capacity;
	fem_sweep_walk_ends(sweep, lost);
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
		fem_sweep_list_active(sweep);
	sweep->still_changed = false;
	if (sweep->active_unsorted)
		fem_sweep_sort_active(sweep);
}
