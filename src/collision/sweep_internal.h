// What the files of the sweep share.
#ifndef FEM_COLLISION_SWEEP_INTERNAL_H
#define FEM_COLLISION_SWEEP_INTERNAL_H

#include "collision/sweep.h"

static inline bool fem_sweep_boxes_overlap(const FemSweepBox *a, const FemSweepBox *b) {
	return a->min[0] <= b->max[0] && b->min[0] <= a->max[0] && a->min[1] <= b->max[1] && b->min[1] <= a->max[1] &&
		a->min[2] <= b->max[2] && b->min[2] <= a->max[2];
}

static inline void fem_sweep_put_end(FemSweep *sweep, int32_t place, FemSweepEnd end) {
	sweep->ends[place] = end;
	sweep->proxies[end.end >> 1].place[end.end & 1] = place;
}

static inline double fem_sweep_end_value(const FemSweep *sweep, uint32_t end) {
	const FemSweepBox *box = &sweep->boxes[end >> 1];
	return end & 1 ? box->max[sweep->axis] : box->min[sweep->axis];
}

// ---- sweep_pairs.c

// The link that holds the pair's slot, or the end of the chain; a < b.
int32_t *fem_sweep_find_link(const FemSweep *sweep, int32_t a, int32_t b);
void fem_sweep_fill_buckets(FemSweep *sweep); // from the slots
void fem_sweep_add_pair(FemSweep *sweep, int32_t proxy_a, int32_t proxy_b);
void fem_sweep_remove_ended_pairs(FemSweep *sweep); // those of which one moved or dies
void fem_sweep_list_active(FemSweep *sweep);        // anew
void fem_sweep_sort_active(FemSweep *sweep);

// ---- sweep_walk.c

// many_new: so many ends came that they are all sorted anew.
void fem_sweep_sort_ends(FemSweep *sweep, bool many_new);
// Adds the pairs of what moved. all: as if everything had.
void fem_sweep_walk_ends(FemSweep *sweep, bool all);

#endif
