// Which pairs may meet within a step: a sweep over the boxes of the broad phase, those of fast bodies drawn out along
// their way. Done once a step, only when something is fast.
#ifndef FEM_WORLD_FAST_PAIRS_H
#define FEM_WORLD_FAST_PAIRS_H

#include "collision/sweep.h"
#include "fem_types.h"

typedef struct FemFastEntry {
	FemSweepBox box; // m, of the whole step
	uint32_t user;   // as in the sweep
	bool moves;
} FemFastEntry;

typedef struct FemFastPairs {
	FemFastEntry *entries; // sorted along the sweep's axis
	int32_t *open[2];      // entries that the walk is inside of: those that move, those that do not
	FemKeyed *pairs, *scratch; // key: the users of both, the first one moves and is a body; in their order
	int32_t entry_capacity, entry_count, pair_capacity, pair_count;
	bool full;
} FemFastPairs;

struct FemWorld;

// A live body that goes far enough in this step to be looked at.
bool fem_body_is_fast(const FemBody *body);

bool fem_fast_pairs_reserve(FemFastPairs *fast, int32_t proxies, int32_t pairs); // false when memory fails
void fem_fast_pairs_free(FemFastPairs *fast);
void fem_fast_pairs_find(struct FemWorld *world); // after fast_way, fast_shift and fast_spread of the bodies are known

#endif
