// Narrow phase: which tets of two bodies, or of one body with itself, are to be clipped against each other
// (P&O09 section 6).
//
// The rule. A pair (a, b) of tets is listed if an outer triangle of a reaches into b and b is an outer tet (one behind
// an outer triangle); or, where it reaches into no outer tet, if b holds its centre; and the same from b into a. So
// every triangle that lies inside the other body has a pair: at the rim, where surfaces cross, and within it, where
// they do not (a crate pressed 1 mm into a floor crosses it with the triangles along its edges only); for bodies that
// overlap deeply, or of which one lies wholly inside the other, too. Triangles against triangles alone (P&O09) would
// find no more than the rim. Triangles are walked down to in their Opcode trees and tested against the boxes of tets, 8
// at a time.
//
// Self-contact. First triangles against triangles, each pair once and passing over those that share a node: a body that
// overlaps itself crosses itself somewhere. If any two cross, the rule above finds the pairs, outer tets only. Pairs
// whose tets share a node, or have nodes at most FEM_SELF_RINGS edges apart, are neighbours and never listed: at rest
// there are none, and a mesh that is crushed does not push against itself. Pieces of one body that are not connected
// are treated like bodies.
//
// Closed cracks. Tets of two pieces that were one and have hardly moved against each other are neighbours still: faces
// of theirs that lie on each other are known, and tets that have only an edge or a corner in common, four times as
// many, bear a tenth of the area. Neither are listed (collision/crack_tets.h).
//
// Work is cut into units (a tree against the other body, a tree against a tree), which write into slots of their own;
// units are put together in the order they were listed, then sorted. The result does not depend on threads.
#ifndef FEM_COLLISION_NARROW_PHASE_H
#define FEM_COLLISION_NARROW_PHASE_H

#include "base/assert.h"
#include "base/range.h"
#include "collision/crack_tets.h"
#include "collision/key_sort.h"
#include "collision/surface_trees.h"
#include "fem_basics.h"
#include "jobs/pool.h"

// Edges between tets that are neighbours; chosen: a crushed mesh overlaps its second ring before its third.
#define FEM_SELF_RINGS 2

// Whether two tets of one piece are neighbours, which self-contact passes over.
bool fem_tets_are_near(const FemTopology *topology, int32_t a, int32_t b);

typedef struct FemNarrowBody {
	FemSurfaceTrees *trees; // refitted for where the body is now
	FemPosition origin;     // m, world
} FemNarrowBody;

// Two components to be tested against each other; of one body, one with itself.
typedef struct FemNarrowPieces {
	int32_t a, b;
} FemNarrowPieces;

typedef enum FemPairFaces {
	FEM_FACES_A = 1, // an outer face of a reaches into b
	FEM_FACES_B = 2, // an outer face of b reaches into a
} FemPairFaces;

typedef struct FemTetPair {
	int32_t a, b;   // tets of the first and of the second body; a < b within one body
	uint32_t faces; // FemPairFaces; both: the two surfaces oppose each other here
} FemTetPair;

typedef struct FemNarrowPair {
	FemNarrowBody a, b;
	const FemNarrowPieces *pieces; // the caller's; null: every component of a against every one of b
	int32_t piece_count;
	FemCrackTets cracks; // the caller's, of a body with itself that broke; else all 0
	FemRange units[2];   // those of the second round are for pieces found to touch themselves
	bool self;
	bool full;                    // hits were dropped
	int32_t hit_begin, hit_count; // before doubles are taken out; hit_count counts on when full
	int32_t hit_stored;
	FemRange tets; // the result: into tet_pairs, by a then b
} FemNarrowPair;

typedef struct FemNarrowUnit {
	int32_t pair;
	int32_t kind;
	int32_t tree;                   // whose triangles are tested
	int32_t other;                  // second tree of a crossing
	FemRange targets;               // else: groups whose tets are tested
	int32_t slot_begin, slot_count; // what it may write while counting
	int32_t hit_count;              // counts on beyond the slots
	int32_t hit_begin, hit_room;    // in `hits`
} FemNarrowUnit;

typedef struct FemNarrowHit {
	int32_t face_tet, tet; // the tet behind the triangle, and the one it reaches into
} FemNarrowHit;

typedef struct FemNarrowLimits {
	int32_t pairs;         // of bodies
	int32_t units;         // of work: trees near another piece, about 10 a pair of bodies that touch
	int32_t hits;          // in all
	int32_t hits_per_pair; // 0: no limit of its own
	int32_t pieces;        // that callers name, in all
	int32_t slots;         // 0: two a hit. With fewer than `slots_wanted` hits are found twice, and are the same
} FemNarrowLimits;

typedef struct FemNarrowPhase {
	FemNarrowLimits limits;
	FemNarrowPair *pairs;
	int32_t pair_count;
	FemNarrowUnit *units;
	int32_t unit_count, units_done;
	FemRange *targets; // groups that the trees of a component are tested against; ascending
	int32_t target_count, target_capacity;
	FemNarrowHit *slots;
	int32_t slot_count, slot_capacity; // given out, of so many
	int64_t slots_wanted;              // since begin
	FemKeyed *hits, *scratch;
	FemTetPair *tet_pairs;        // hits and scratch also sort pieces, before there are hits
	struct FemGroupClaim *claims; // groups whose boxes have to be made
	int32_t claim_count;
	bool pairs_full, units_full, hits_full; // something was dropped since begin
	void *block;
	size_t bytes;
} FemNarrowPhase;

// Gives up what it holds and takes memory for the limits. False when memory fails: nothing is held then.
FEM_MUST_USE bool fem_narrow_phase_reserve(FemNarrowPhase *phase, const FemNarrowLimits *limits);
void fem_narrow_phase_free(FemNarrowPhase *phase);

// Once a step: begin, add the active pairs in a fixed order, run, read pairs[i].tets. Allocates nothing.
void fem_narrow_phase_begin(FemNarrowPhase *phase);
// The pair's index, -1 when full. For self-contact, both are the same body. The caller may then name the pieces to
// test, which must stay until the phase has run.
int32_t fem_narrow_phase_add(FemNarrowPhase *phase, const FemNarrowBody *a, const FemNarrowBody *b);
// From within a job of the pool; null: on this thread alone.
void fem_narrow_phase_run(FemNarrowPhase *phase, FemPool *pool);

#endif
