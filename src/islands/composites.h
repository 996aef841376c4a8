// Composites: islands that touch, through contacts or through a common dynamic collider. One linear system each, made
// anew every step (P&O09 section 4).
#ifndef FEM_ISLANDS_COMPOSITES_H
#define FEM_ISLANDS_COMPOSITES_H

#include "base/arena.h"
#include "base/assert.h"
#include "base/range.h"
#include "islands/islands.h"
#include "model/body.h"
#include "model/contact.h"
#include "model/island.h"

typedef struct FemComposite {
	FemRange islands;  // into FemComposites.island_list
	FemRange chunks;   // into FemComposites.chunks
	FemRange contacts; // into FemComposites.contacts: bonds after all others,
	int32_t bond_count;
	FemRange proxies; // into FemComposites.proxy_list: dynamic colliders
	int32_t node_count;
	int32_t iterations; // of its islands' last solves
	bool large;         // solved by several threads together
	bool restless;      // touches a collider that moves: does not sleep
	bool is_free;       // nothing in it is pinned or touches what is fixed
	bool is_over;       // its step ended in an earlier pass (world/step/passes.h)
	bool goes_back;     // takes the step again
} FemComposite;

typedef struct FemComposites {
	FemComposite *composites; // in the order of their first islands
	int32_t count;
	int32_t *island_list;    // ascending within a composite
	FemNodeChunk *chunks;    // `island` is the place within the composite
	FemContact *contacts;    // copies, in their old order within a composite
	int32_t *contact_places; // [contact]: its place in the list that it was copied from
	int32_t *proxy_list;
} FemComposites;

// Bytes of the arena that a world of this size may take.
size_t fem_composites_bytes(int32_t island_count, int32_t node_chunk_count, int32_t contact_count, int32_t proxy_count);

// Contacts without a live side are left out. Sets FemBodyStep.part_island and part_chunk of live parts. False when the
// arena is used up.
FEM_MUST_USE bool fem_composites_build(FemComposites *out, const FemIslands *islands, FemBody *const *bodies,
	const FemContact *contacts, int32_t contact_count, const FemProxy *proxies, int32_t proxy_count, FemArena *arena);

// Counts still steps, puts whole composites to sleep, wakes sleeping neighbours that live parts pull at.
void fem_islands_sleep_and_wake(FemIslands *islands, FemBody *const *bodies, const FemComposites *composites,
	const FemSleepRules *rules, FemVec3 gravity);

#endif
