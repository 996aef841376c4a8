// The ends of all boxes in order along one axis, and the walk along them that finds pairs.
#include "base/assert.h"
#include "collision/lanes4.h"
#include "collision/sweep_internal.h"

#include <math.h>

// More than this many in all, and a merge sort is cheaper: that costs log2 of their number an end.
#define SWAPS_PER_END 16
// Every so many updates, and when many boxes are new, the axis is chosen again; chosen: about a second of a game.
#define AXIS_UPDATES 64

// ---- sorting

// Lower ends come before upper ones of the same value: boxes that touch overlap.
static bool is_after(const FemSweepEnd *a, const FemSweepEnd *b) {
	return a->value > b->value || (a->value == b->value && (a->end & 1) > (b->end & 1));
}

// Insertion sort of the ends; false when so much had changed that it stopped early. All ends are then still there, in
// some order.
static bool insertion_sort(FemSweep *sweep) {
	FemSweepEnd *ends = sweep->ends;
	int64_t swaps_left = (int64_t)SWAPS_PER_END * (sweep->end_count + 64);
	for (int32_t place = 1; place < sweep->end_count && swaps_left > 0; place++) {
		if (!is_after(&ends[place - 1], &ends[place]))
			continue;
		FemSweepEnd end = ends[place];
		int32_t at = place;
		for (; at > 0 && is_after(&ends[at - 1], &end); at--)
			fem_sweep_put_end(sweep, at, ends[at - 1]);
		fem_sweep_put_end(sweep, at, end);
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
		fem_sweep_put_end(sweep, place, sweep->ends[place]);
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

void fem_sweep_sort_ends(FemSweep *sweep, bool many_new) {
	bool anew = many_new;
	if (many_new || sweep->update_count % AXIS_UPDATES == 0) {
		int axis = widest_axis(sweep);
		anew |= axis != sweep->axis;
		sweep->axis = axis;
	}
	for (int32_t i = 0; i < sweep->moved_count && !anew; i++) {
		for (uint32_t upper = 0; upper < 2; upper++) {
			FemSweepEnd *end = &sweep->ends[sweep->proxies[sweep->moved[i]].place[upper]];
			end->value = fem_sweep_end_value(sweep, end->end);
		}
	}
	for (int32_t i = 0; i < sweep->end_count && anew; i++)
		sweep->ends[i].value = fem_sweep_end_value(sweep, sweep->ends[i].end);
	sweep->sorted_anew = anew || !insertion_sort(sweep);
	if (sweep->sorted_anew)
		merge_sort(sweep);
}

// ---- the walk

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

// Removes a box from the open list; the last one takes its place.
static void close_box(FemSweep *sweep, FemSweepOpen *open, int32_t proxy) {
	FEM_ASSERT(open->count > 0 && open->proxy[sweep->open_place[proxy]] == proxy); // it was opened before
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
			if (at >= open->count ||
				!fem_sweep_boxes_overlap(&sweep->boxes[box->proxy], &sweep->boxes[open->proxy[at]]))
				continue;
			fem_sweep_add_pair(sweep, box->proxy, open->proxy[at]);
			if (sweep->pairs_full)
				return;
		}
	}
}

// `all`: as if everything had moved.
void fem_sweep_walk_ends(FemSweep *sweep, bool all) {
	sweep->open[0].count = sweep->open[1].count = 0;
	for (int32_t i = 0; i < sweep->end_count && !sweep->pairs_full; i++) {
		uint32_t end = sweep->ends[i].end;
		int32_t proxy = (int32_t)(end >> 1);
		FEM_ASSERT(i == 0 || sweep->ends[i - 1].value <= sweep->ends[i].value);
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
