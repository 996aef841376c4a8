// The sweep and prune against brute force.
#include "base/memory.h"
#include "collision/sweep.h"
#include "fem_test.h"
#include "scenes/rig.h"

#include <stdlib.h>

typedef struct Crowd {
	FemSweep sweep;
	FemSweepBox *boxes; // by user
	int32_t *proxies;   // by user, -1: gone
	bool *still;
	int32_t count;
	bool *pairs; // [user][user], as the events tell
	uint32_t random;
} Crowd;

static Crowd make_crowd(int32_t count, int32_t pair_capacity) {
	Crowd crowd = {.count = count, .random = 7};
	FEM_CHECK(fem_sweep_reserve(&crowd.sweep, count, pair_capacity));
	crowd.boxes = calloc((size_t)count, sizeof *crowd.boxes);
	crowd.proxies = malloc(sizeof(int32_t) * (size_t)count);
	crowd.still = calloc((size_t)count, sizeof *crowd.still);
	crowd.pairs = calloc((size_t)count * (size_t)count, sizeof *crowd.pairs);
	for (int32_t i = 0; i < count; i++)
		crowd.proxies[i] = -1;
	return crowd;
}

static void free_crowd(Crowd *crowd) {
	fem_sweep_free(&crowd->sweep);
	free(crowd->boxes);
	free(crowd->proxies);
	free(crowd->still);
	free(crowd->pairs);
}

static FemSweepBox random_box(Crowd *crowd, double place, double spread, double size) {
	FemSweepBox box;
	for (int axis = 0; axis < 3; axis++) {
		box.min[axis] = place + spread * (double)fem_random(&crowd->random);
		box.max[axis] = box.min[axis] + size * (1.0 + (double)fem_random(&crowd->random));
	}
	return box;
}

static void put(Crowd *crowd, int32_t i, FemSweepBox box) {
	crowd->boxes[i] = box;
	if (crowd->proxies[i] < 0)
		crowd->proxies[i] = fem_sweep_create_proxy(&crowd->sweep, &box, (uint32_t)i, crowd->still[i]);
	else
		fem_sweep_move_proxy(&crowd->sweep, crowd->proxies[i], &box);
}

static void take(Crowd *crowd, int32_t i) {
	fem_sweep_destroy_proxy(&crowd->sweep, crowd->proxies[i]);
	crowd->proxies[i] = -1;
}

static bool overlap(const FemSweepBox *a, const FemSweepBox *b) {
	for (int axis = 0; axis < 3; axis++) {
		if (a->min[axis] > b->max[axis] || b->min[axis] > a->max[axis])
			return false;
	}
	return true;
}

static void apply_events(Crowd *crowd) {
	const FemSweep *sweep = &crowd->sweep;
	for (int32_t i = 0; i < sweep->removed_count; i++) {
		bool *pair = &crowd->pairs[sweep->removed[i].user_a * (uint32_t)crowd->count + sweep->removed[i].user_b];
		FEM_CHECK(*pair);
		*pair = false;
	}
	for (int32_t i = 0; i < sweep->added_count; i++) {
		bool *pair = &crowd->pairs[sweep->added[i].user_a * (uint32_t)crowd->count + sweep->added[i].user_b];
		FEM_CHECK(!*pair);
		*pair = true;
	}
}

// Events, the pair list and the active list all say what brute force says.
static void check_crowd(Crowd *crowd) {
	apply_events(crowd);
	const FemSweep *sweep = &crowd->sweep;
	int32_t pairs = 0, active = 0, wrong = 0, disorder = 0;
	for (int32_t i = 0; i < crowd->count; i++) {
		for (int32_t j = i + 1; j < crowd->count; j++) {
			bool there = crowd->proxies[i] >= 0 && crowd->proxies[j] >= 0;
			bool expected = there && overlap(&crowd->boxes[i], &crowd->boxes[j]);
			wrong += crowd->pairs[i * crowd->count + j] != expected;
			pairs += expected;
			if (!expected || (crowd->still[i] && crowd->still[j]))
				continue;
			if (active < fem_sweep_active_count(sweep)) {
				FemSweepPair pair = fem_sweep_active_pair(sweep, active);
				disorder += pair.user_a != (uint32_t)i || pair.user_b != (uint32_t)j;
			}
			active++;
		}
	}
	FEM_CHECK_INT(wrong, 0);
	FEM_CHECK_INT(disorder, 0);
	FEM_CHECK_INT(sweep->pair_count, pairs);
	FEM_CHECK_INT(fem_sweep_active_count(sweep), active);
}

static void jostle(Crowd *crowd, int32_t i, double step) {
	FemSweepBox box = crowd->boxes[i];
	for (int axis = 0; axis < 3; axis++) {
		double by = step * (double)fem_random(&crowd->random);
		box.min[axis] += by;
		box.max[axis] += by;
	}
	put(crowd, i, box);
}

static void run_crowd(double place, double moving_share, int32_t frames) {
	Crowd crowd = make_crowd(150, 1500);
	for (int32_t i = 0; i < crowd.count; i++) {
		crowd.still[i] = i % 3 == 0;
		put(&crowd, i, random_box(&crowd, place, 3.0, 0.5));
	}
	for (int32_t frame = 0; frame < frames; frame++) {
		for (int32_t i = 0; i < crowd.count; i++) {
			double luck = 0.5 + 0.5 * (double)fem_random(&crowd.random);
			if (crowd.proxies[i] >= 0 && luck < moving_share)
				jostle(&crowd, i, 0.1);
			else if (luck > 0.99 && crowd.proxies[i] >= 0)
				take(&crowd, i);
			else if (luck > 0.98)
				put(&crowd, i, random_box(&crowd, place, 3.0, 0.5)); // comes back, or jumps
			if (luck > 0.5 && luck < 0.51 && crowd.proxies[i] >= 0) {
				crowd.still[i] = !crowd.still[i];
				fem_sweep_set_still(&crowd.sweep, crowd.proxies[i], crowd.still[i]);
			}
		}
		fem_sweep_update(&crowd.sweep);
		check_crowd(&crowd);
	}
	FEM_CHECK(!crowd.sweep.pairs_full);
	free_crowd(&crowd);
}

FEM_TEST(broad_phase, pairs_are_those_of_brute_force_when_all_move) {
	run_crowd(0.0, 0.9, 60);
}

FEM_TEST(broad_phase, pairs_are_those_of_brute_force_when_few_move) {
	run_crowd(0.0, 0.03, 120);
}

FEM_TEST(broad_phase, works_far_from_the_origin) {
	run_crowd(1e7, 0.5, 20);
}

FEM_TEST(broad_phase, a_falling_pile_stays_sorted) {
	Crowd crowd = make_crowd(200, 20000);
	for (int32_t i = 0; i < crowd.count; i++)
		put(&crowd, i, random_box(&crowd, 0.0, 3.0, 0.3));
	fem_sweep_update(&crowd.sweep);
	FEM_CHECK(crowd.sweep.sorted_anew);
	check_crowd(&crowd);
	for (int32_t frame = 0; frame < 5; frame++) {
		for (int32_t i = 0; i < crowd.count; i++) {
			FemSweepBox box = crowd.boxes[i];
			box.min[1] -= 0.75, box.max[1] -= 0.75;
			put(&crowd, i, box);
		}
		fem_sweep_update(&crowd.sweep);
		FEM_CHECK(!crowd.sweep.sorted_anew);
		check_crowd(&crowd);
	}
	free_crowd(&crowd);
}

FEM_TEST(broad_phase, boxes_that_touch_are_a_pair_and_its_slot_lasts) {
	FemSweep sweep = {0};
	FEM_CHECK(fem_sweep_reserve(&sweep, 4, 4));
	FemSweepBox left = {{0, 0, 0}, {1, 1, 1}}, right = {{1, 0, 0}, {2, 1, 1}}, away = {{5, 0, 0}, {6, 1, 1}};
	fem_sweep_create_proxy(&sweep, &left, 20, false);
	int32_t b = fem_sweep_create_proxy(&sweep, &right, 10, false);
	fem_sweep_update(&sweep);
	FEM_REQUIRE(sweep.added_count == 1 && fem_sweep_active_count(&sweep) == 1);
	FemSweepPair pair = fem_sweep_active_pair(&sweep, 0);
	FEM_CHECK(pair.user_a == 10 && pair.user_b == 20);
	fem_sweep_update(&sweep);
	FEM_CHECK(sweep.added_count == 0 && fem_sweep_active_pair(&sweep, 0).slot == pair.slot);
	fem_sweep_move_proxy(&sweep, b, &away);
	fem_sweep_update(&sweep);
	FEM_CHECK(sweep.removed_count == 1 && sweep.removed[0].slot == pair.slot && fem_sweep_active_count(&sweep) == 0);
	// Room is made without losing anything.
	fem_sweep_move_proxy(&sweep, b, &right);
	FEM_CHECK(fem_sweep_reserve(&sweep, 100, 100));
	fem_sweep_update(&sweep);
	FEM_CHECK_INT(fem_sweep_active_count(&sweep), 1);
	fem_sweep_free(&sweep);
}

FEM_TEST(broad_phase, still_pairs_are_kept_but_not_active) {
	FemSweep sweep = {0};
	FEM_CHECK(fem_sweep_reserve(&sweep, 4, 4));
	FemSweepBox box = {{0, 0, 0}, {1, 1, 1}};
	int32_t a = fem_sweep_create_proxy(&sweep, &box, 1, true);
	fem_sweep_create_proxy(&sweep, &box, 2, true);
	fem_sweep_update(&sweep);
	FEM_CHECK(sweep.pair_count == 1 && sweep.added_count == 1 && fem_sweep_active_count(&sweep) == 0);
	fem_sweep_set_still(&sweep, a, false);
	fem_sweep_update(&sweep);
	FEM_CHECK(sweep.added_count == 0 && fem_sweep_active_count(&sweep) == 1);
	fem_sweep_set_still(&sweep, a, true);
	fem_sweep_update(&sweep);
	FEM_CHECK(sweep.removed_count == 0 && fem_sweep_active_count(&sweep) == 0 && sweep.pair_count == 1);
	fem_sweep_free(&sweep);
}

FEM_TEST(broad_phase, infinite_boxes_meet_all_others) {
	Crowd crowd = make_crowd(40, 2000);
	put(&crowd, 0, (FemSweepBox){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, 0.0, INFINITY}}); // a ground
	for (int32_t i = 1; i < crowd.count; i++)
		put(&crowd, i, random_box(&crowd, 0.0, 2.0, 0.5));
	for (int32_t frame = 0; frame < 10; frame++) {
		fem_sweep_update(&crowd.sweep);
		check_crowd(&crowd);
		for (int32_t i = 1; i < crowd.count; i++)
			jostle(&crowd, i, 0.2);
	}
	free_crowd(&crowd);
}

FEM_TEST(broad_phase, a_thousand_boxes_at_one_point) {
	int32_t count = 1000;
	Crowd crowd = make_crowd(count, count * (count - 1) / 2);
	for (int32_t i = 0; i < count; i++)
		put(&crowd, i, (FemSweepBox){{0, 0, 0}, {1, 1, 1}});
	double slowest = 0.0;
	for (int32_t frame = 0; frame < 10; frame++) {
		double begin = fem_test_cpu_ms();
		fem_sweep_update(&crowd.sweep);
		double took = fem_test_cpu_ms() - begin;
		slowest = took > slowest ? took : slowest;
		for (int32_t i = 0; i < count; i++)
			jostle(&crowd, i, 0.02);
	}
	fem_sweep_update(&crowd.sweep);
	FEM_CHECK_INT(crowd.sweep.pair_count, count * (count - 1) / 2);
	FEM_CHECK_INT(fem_sweep_active_count(&crowd.sweep), count * (count - 1) / 2);
	FEM_CHECK(slowest < 1000.0); // ms; about 40, more under a sanitizer
	free_crowd(&crowd);
}

FEM_TEST(broad_phase, a_full_pair_buffer_is_told_and_recovers) {
	Crowd crowd = make_crowd(60, 100);
	for (int32_t i = 0; i < crowd.count; i++)
		put(&crowd, i, (FemSweepBox){{0, 0, 0}, {1, 1, 1}});
	for (int32_t frame = 0; frame < 3; frame++) {
		fem_sweep_update(&crowd.sweep);
		apply_events(&crowd);
		FEM_CHECK(crowd.sweep.pairs_full);
		FEM_CHECK_INT(crowd.sweep.pair_count, 100);
		FEM_CHECK_INT(fem_sweep_active_count(&crowd.sweep), 100);
	}
	// 14 boxes at rest are 91 pairs: those that were dropped are found although nothing moves.
	for (int32_t i = 0; i < crowd.count - 14; i++)
		take(&crowd, i);
	for (int32_t frame = 0; frame < 3; frame++) {
		fem_sweep_update(&crowd.sweep);
		apply_events(&crowd);
	}
	FEM_CHECK(!crowd.sweep.pairs_full);
	fem_sweep_update(&crowd.sweep);
	check_crowd(&crowd);
	free_crowd(&crowd);
}

FEM_TEST(broad_phase, bad_calls_change_nothing) {
	FemSweep sweep = {0};
	FemSweepBox good = {{0, 0, 0}, {1, 1, 1}}, flipped = {{0, 2, 0}, {1, 1, 1}}, bad = {{0, NAN, 0}, {1, 1, 1}};
	FEM_CHECK_INT(fem_sweep_create_proxy(&sweep, &good, 1, false), -1);
	fem_sweep_update(&sweep);
	FEM_CHECK(fem_sweep_reserve(&sweep, 1, 1));
	FEM_CHECK_INT(fem_sweep_create_proxy(&sweep, &bad, 1, false), -1);
	FEM_CHECK_INT(fem_sweep_create_proxy(&sweep, &flipped, 1, false), -1);
	int32_t proxy = fem_sweep_create_proxy(&sweep, &good, 1, false);
	FEM_CHECK(proxy >= 0);
	FEM_CHECK_INT(fem_sweep_create_proxy(&sweep, &good, 1, false), -1);
	FEM_CHECK(!fem_sweep_move_proxy(&sweep, proxy, &bad));
	FEM_CHECK(!fem_sweep_move_proxy(&sweep, 55, &good));
	FEM_CHECK(!fem_sweep_move_proxy(&sweep, -1, &good));
	fem_sweep_destroy_proxy(&sweep, proxy);
	fem_sweep_destroy_proxy(&sweep, proxy);
	fem_sweep_destroy_proxy(&sweep, 99);
	fem_sweep_update(&sweep);
	FEM_CHECK_INT(sweep.proxy_count, 0);
	FEM_CHECK_INT(fem_sweep_create_proxy(&sweep, &good, 1, false), proxy);
	fem_sweep_free(&sweep);
}

FEM_TEST(broad_phase, allocates_nothing_in_updates_and_gives_all_back) {
	int64_t before = fem_memory_bytes();
	Crowd crowd = make_crowd(300, 20000);
	FEM_CHECK(fem_memory_bytes() - before == (int64_t)crowd.sweep.bytes);
	int64_t allocations = fem_memory_allocations();
	for (int32_t frame = 0; frame < 20; frame++) {
		for (int32_t i = 0; i < crowd.count; i++)
			put(&crowd, i, random_box(&crowd, 0.0, 3.0, 0.5));
		fem_sweep_update(&crowd.sweep);
	}
	FEM_CHECK_INT(fem_memory_allocations() - allocations, 0);
	free_crowd(&crowd);
	FEM_CHECK_INT(fem_memory_bytes() - before, 0);
}

// Fails when a box that comes and goes between two updates is waited for ever after.
FEM_TEST(broad_phase, what_goes_before_it_was_seen_is_forgotten) {
	FemSweep sweep = {0};
	FemSweepBox box = {{0, 0, 0}, {1, 1, 1}};
	FEM_CHECK(fem_sweep_reserve(&sweep, 4, 4));
	int32_t first = fem_sweep_create_proxy(&sweep, &box, 1, false),
			second = fem_sweep_create_proxy(&sweep, &box, 2, false);
	fem_sweep_destroy_proxy(&sweep, first);
	fem_sweep_update(&sweep);
	FEM_CHECK_INT(sweep.new_count, 0);
	FEM_CHECK_INT(sweep.end_count, 2);
	fem_sweep_destroy_proxy(&sweep, second);
	fem_sweep_update(&sweep);
	FEM_CHECK_INT(sweep.new_count, 0);
	FEM_CHECK_INT(sweep.end_count, 0);
	fem_sweep_free(&sweep);
}
