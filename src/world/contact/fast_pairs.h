// Which pieces may meet others, or colliders, within a step: a sweep over the boxes of the broad phase, drawn out along
// their displacements. Done once a step, only when something is fast.
#ifndef FEM_WORLD_FAST_PAIRS_H
#define FEM_WORLD_FAST_PAIRS_H

#include "base/assert.h"
#include "collision/sweep.h"
#include "fem_basics.h"

// Displacement of a piece in this step.
typedef struct FemFastPiece {
	FemVec3 shift;      // m, mean of its surface nodes
	float displacement; // m, the longest of a node; 0 for what is asleep
	float spread;       // m, largest difference of a node's displacement from the mean
	float stop;         // fraction of the step after which it is held back; 1: not at all
	int32_t stopped_by; // proxy of what it then meets
} FemFastPiece;

typedef struct FemFastEntry {
	FemSweepBox box, swept; // m, at the start of the step and over all of it
	int32_t proxy;
	FemVec3 shift; // m
	float spread;  // m
} FemFastEntry;

// The first is a piece of a body: that with the smaller body number, or piece. Colliders come second.
typedef struct FemFastPair {
	int32_t a, b;       // proxies
	float displacement; // m, of the two against each other
	float thickness;    // m, of the thinner one
	int32_t samples;    // along their paths; 0: not tested
	bool touched;       // before this step
	float depth;        // m, of their overlap at the start of the step
	float first;        // fraction of the step at which they meet
	int32_t visits;     // pairs of boxes looked at
	int32_t clips;      // pairs of solids tested
} FemFastPair;

typedef struct FemFastPairs {
	FemFastPiece *pieces;  // [proxy]: of bodies that are active
	FemFastEntry *entries; // those that are held back where they meet something, then all others; each sorted along the
						   // sweep's axis
	int32_t moving_count, entry_count;
	FemKeyed *keys, *scratch; // [proxy]
	FemFastPair *pairs;
	int32_t *chunk_pairs; // [chunk of entries]: how many, then where they begin
	int32_t pair_count;
	int32_t piece_capacity, entry_capacity, key_capacity, scratch_capacity, chunk_capacity, pair_capacity;
	int64_t visits, clips; // of all pairs that did not touch, in the last substep
	bool full;
} FemFastPairs;

struct FemWorld;

FEM_MUST_USE bool fem_fast_pairs_hold_pieces(FemFastPairs *fast, int32_t proxies); // false when memory fails
void fem_fast_pairs_free(FemFastPairs *fast);
void fem_fast_pairs_find(struct FemWorld *world); // after the displacements of the pieces are known

#endif
