// Broad phase: incremental sweep and prune over axis-aligned boxes, with persistent pairs (P&O09 section 6).
//
// The ends of all boxes stand sorted along one axis, the one they spread most on, from update to update: insertion, or
// a merge sort when much has changed. One walk along it keeps lists of the boxes open at that place, those that moved
// apart from those that did not, and tests what moved against both: two boxes at rest are never tested. When nothing
// moved, nothing is done at all. A pair ends when its boxes, looked at if one of them moved, lie apart.
// Tried and rejected: three sorted axes with pairs found where ends swap. 10,000 boxes jostling by 2 cm took 10 ms
// (300,000 swaps, each a miss of the cache) where this takes 4; a flat pile swaps thousands of ends a box on its short
// axis; teleports are quadratic.
//
// Calls between two updates only note what is to be done; fem_sweep_update() does it, on one thread, and allocates
// nothing.
#ifndef FEM_COLLISION_SWEEP_H
#define FEM_COLLISION_SWEEP_H

#include "base/assert.h"
#include "collision/key_sort.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct FemSweepBox {
	double min[3], max[3]; // m, world; infinite ends are allowed. Boxes that touch overlap
} FemSweepBox;

// user_a < user_b; equal users are ordered by piece, then by proxy.
typedef struct FemSweepPair {
	uint32_t user_a, user_b;
	int32_t piece_a, piece_b;
	int32_t slot; // the same as long as the pair lasts, < pair_capacity: for data kept beside the pairs
} FemSweepPair;

typedef struct FemSweepProxy {
	uint32_t user;
	int32_t piece;    // of what the user names: several proxies may have one user
	int32_t place[2]; // of its ends; -1 before they are sorted in
	int32_t next_free;
	bool in_use;
	bool still; // static or asleep
	bool dying; // destroyed since the last update
} FemSweepProxy;

typedef struct FemSweepEnd {
	double value; // m
	uint32_t end; // proxy * 2, + 1 for the upper end
} FemSweepEnd;

// The boxes that the walk is inside of, as the two other axes see them: side by side, rounded outward.
typedef struct FemSweepOpen {
	float *min[2], *max[2]; // m
	int32_t *proxy;
	int32_t count;
} FemSweepOpen;

// A pair in its bucket's chain; a < b.
typedef struct FemSweepSlot {
	int32_t a, b;      // proxies; a = -1: free
	int32_t next;      // in the bucket, or the next free slot
	int32_t active_at; // place in `active`, -1 while both are still
} FemSweepSlot;

typedef struct FemSweep {
	FemSweepProxy *proxies;
	FemSweepBox *boxes;                                         // [proxy]
	uint8_t *has_moved;                                         // [proxy]: listed for the next update
	int32_t proxy_capacity, proxy_end, proxy_free, proxy_count; // slots below proxy_end have been used
	FemSweepEnd *ends, *end_scratch;
	int32_t end_count;
	int axis; // of the ends
	uint32_t update_count;
	int32_t *moved; // proxies to look at in the next update: new, moved or dying
	int32_t moved_count, new_count, dying_count;
	FemSweepOpen open[2]; // of the walk: at rest, moved
	int32_t *open_place;  // [proxy]

	FemSweepSlot *slots;
	int32_t pair_capacity, slot_end, slot_free, pair_count;
	int32_t *buckets;
	int32_t bucket_count;       // power of 2
	FemKeyed *active, *scratch; // key: users; value: slot; in the order of users, then pieces
	int32_t active_count;
	FemSweepPair *added, *removed;
	int32_t added_count, removed_count;

	bool active_unsorted, still_changed;
	bool has_pieces;  // a proxy has a piece other than 0
	bool pairs_full;  // pairs of the last update were dropped: they come back by themselves when there is room
	bool sorted_anew; // by the last update: too much had changed for insertion
	void *block;
	size_t bytes;
} FemSweep;

// Room for so many proxies and pairs; never shrinks. False when memory fails: what was there stays.
FEM_MUST_USE bool fem_sweep_reserve(FemSweep *sweep, int32_t proxies, int32_t pairs);
void fem_sweep_free(FemSweep *sweep);

// Returns the number of the new proxy; -1 when the reserve is used up or the box is invalid (NaN, min > max).
int32_t fem_sweep_create_proxy(FemSweep *sweep, const FemSweepBox *box, uint32_t user, bool still);
// Pairs of a destroyed proxy end with the next update; its number is given out again after that.
void fem_sweep_destroy_proxy(FemSweep *sweep, int32_t proxy);
// Gives a proxy another box; false, and no change, if the box is invalid.
bool fem_sweep_move_proxy(FemSweep *sweep, int32_t proxy, const FemSweepBox *box);
// Sets the piece number of a proxy, which is 0 at first. No two proxies of one user may have the same.
void fem_sweep_set_piece(FemSweep *sweep, int32_t proxy, int32_t piece);
// Marks a proxy as still: static or asleep. Two still proxies stay a pair, but not an active one.
void fem_sweep_set_still(FemSweep *sweep, int32_t proxy, bool still);

// Brings the pairs up to date. Afterwards removed[] and added[] say what changed; take removed[] first, since an added
// pair may have got the slot of a removed one. Same calls, same order.
void fem_sweep_update(FemSweep *sweep);

// Pairs of which at least one is not still, by users and then pieces ascending: the order does not depend on what
// happened before.
static inline int32_t fem_sweep_active_count(const FemSweep *sweep) {
	return sweep->active_count;
}
FemSweepPair fem_sweep_active_pair(const FemSweep *sweep, int32_t index);

#endif
