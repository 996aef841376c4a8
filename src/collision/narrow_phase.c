#include "collision/narrow_phase.h"

#include "base/assert.h"
#include "base/carve.h"
#include "base/range.h"
#include "collision/narrow_listing.h"
#include "collision/narrow_units.h"

#define CHUNKS_MAX ((1 << 20) - 1) // of a loop of the pool

// ---- memory

static size_t place(FemNarrowPhase *phase, char *base) {
	FemCarver carver = {.base = base};
	const FemNarrowLimits *limits = &phase->limits;
	phase->pairs = FEM_CARVE(&carver, FemNarrowPair, limits->pairs);
	phase->units = FEM_CARVE(&carver, FemNarrowUnit, limits->units);
	phase->targets = FEM_CARVE(&carver, FemRange, phase->target_capacity);
	phase->slots = FEM_CARVE(&carver, FemNarrowHit, phase->slot_capacity);
	phase->hits = FEM_CARVE(&carver, FemKeyed, limits->hits);
	phase->scratch = FEM_CARVE(&carver, FemKeyed, limits->hits);
	phase->tet_pairs = FEM_CARVE(&carver, FemTetPair, limits->hits);
	phase->claims = FEM_CARVE(&carver, FemGroupClaim, limits->units);
	return carver.used;
}

bool fem_narrow_phase_reserve(FemNarrowPhase *phase, const FemNarrowLimits *limits) {
	fem_narrow_phase_free(phase);
	FemNarrowPhase made = {.limits = *limits};
	made.limits.units = fem_narrow_least(limits->units, CHUNKS_MAX);
	made.limits.pairs = fem_narrow_least(limits->pairs, CHUNKS_MAX);
	made.target_capacity = 2 * (limits->pieces + made.limits.pairs) + made.limits.units; // a unit has one at least
	made.slot_capacity = limits->slots > 0 ? limits->slots : 2 * limits->hits;
	made.bytes = place(&made, NULL);
	made.block = fem_alloc_unset(made.bytes);
	if (!made.block)
		return false;
	place(&made, made.block);
	*phase = made;
	return true;
}

void fem_narrow_phase_free(FemNarrowPhase *phase) {
	fem_free(phase->block, phase->bytes);
	*phase = (FemNarrowPhase){0};
}

void fem_narrow_phase_begin(FemNarrowPhase *phase) {
	phase->pair_count = phase->unit_count = phase->units_done = phase->claim_count = phase->slot_count = 0;
	phase->target_count = 0;
	phase->slots_wanted = 0;
	phase->pairs_full = phase->units_full = phase->hits_full = false;
}

int32_t fem_narrow_phase_add(FemNarrowPhase *phase, const FemNarrowBody *a, const FemNarrowBody *b) {
	if (phase->pair_count == phase->limits.pairs) {
		phase->pairs_full = true;
		return -1;
	}
	phase->pairs[phase->pair_count] = (FemNarrowPair){.a = *a, .b = *b, .self = a->trees == b->trees};
	return phase->pair_count++;
}

// ---- tasks

static void make_cones(FemSurfaceTrees *trees, int32_t component) {
	FemRange range = fem_surface_trees_component(trees, component).trees;
	for (int32_t i = range.begin; i < range.end && fem_narrow_may_cross_itself(trees, component); i++)
		fem_surface_trees_make_cone(trees, i);
}

static void make_cones_task(void *context, int32_t chunk) {
	const FemNarrowPair *pair = &((FemNarrowPhase *)context)->pairs[chunk];
	for (int32_t p = 0; pair->self && pair->pieces && p < pair->piece_count; p++) {
		if (pair->pieces[p].a == pair->pieces[p].b)
			make_cones(pair->a.trees, pair->pieces[p].a);
	}
	for (int32_t c = 0; pair->self && !pair->pieces && c < pair->a.trees->component_count; c++)
		make_cones(pair->a.trees, c);
}

static void fill_group_task(void *context, int32_t chunk) {
	const FemGroupClaim *claim = &((FemNarrowPhase *)context)->claims[chunk];
	fem_surface_trees_fill_group(claim->trees, claim->group);
}

static void run_unit_task(void *context, int32_t chunk) {
	FemNarrowPhase *phase = context;
	FemNarrowUnit *unit = &phase->units[phase->units_done + chunk];
	unit->hit_count = fem_narrow_unit_run(phase, unit, phase->slots + unit->slot_begin, unit->slot_count);
}

static FemKeyed keyed_hit(const FemNarrowPair *pair, const FemNarrowUnit *unit, FemNarrowHit hit) {
	bool flipped = pair->self ? hit.face_tet > hit.tet : unit->kind == FEM_UNIT_B_INTO_A;
	uint64_t a = (uint64_t)(flipped ? hit.tet : hit.face_tet), b = (uint64_t)(flipped ? hit.face_tet : hit.tet);
	return (FemKeyed){a << 32 | b, flipped ? FEM_FACES_B : FEM_FACES_A};
}

// A unit's hits to their place. Those that did not fit the slots are found once more, with the same place in `scratch`
// as buffer (a hit is half the size of its key).
static void gather_unit_task(void *context, int32_t chunk) {
	FemNarrowPhase *phase = context;
	const FemNarrowUnit *unit = &phase->units[chunk];
	const FemNarrowPair *pair = &phase->pairs[unit->pair];
	FEM_ASSERT(unit->hit_room >= 0 && unit->hit_begin + unit->hit_room <= phase->limits.hits);
	FemKeyed *out = phase->hits + unit->hit_begin;
	const FemNarrowHit *from = phase->slots + unit->slot_begin;
	if (unit->hit_room > unit->slot_count) {
		FemNarrowHit *buffer = (FemNarrowHit *)(phase->scratch + unit->hit_begin);
		fem_narrow_unit_run(phase, unit, buffer, unit->hit_room);
		from = buffer;
	}
	for (int32_t i = 0; i < unit->hit_room; i++)
		out[i] = keyed_hit(pair, unit, from[i]);
}

// Sorts the hits of a pair of bodies and drops duplicates, so that each pair of tets stands once.
static void merge_pair_task(void *context, int32_t chunk) {
	FemNarrowPhase *phase = context;
	FemNarrowPair *pair = &phase->pairs[chunk];
	const FemKeyed *hits = phase->hits + pair->hit_begin;
	FemTetPair *out = phase->tet_pairs + pair->hit_begin;
	fem_key_sort(phase->hits + pair->hit_begin, phase->scratch + pair->hit_begin, pair->hit_stored);
	int32_t count = 0;
	for (int32_t i = 0; i < pair->hit_stored; i++) {
		if (i == 0 || hits[i].key != hits[i - 1].key) {
			FEM_ASSERT(i == 0 || hits[i - 1].key < hits[i].key);
			out[count++] = (FemTetPair){(int32_t)(hits[i].key >> 32), (int32_t)(hits[i].key & UINT32_MAX), 0};
		}
		out[count - 1].faces |= (uint32_t)hits[i].value;
	}
	FEM_ASSERT(count <= pair->hit_stored);
	pair->tets = (FemRange){pair->hit_begin, pair->hit_begin + count};
}

// ---- run

static void for_chunks(FemPool *pool, int32_t count, FemChunkTask *task, void *context) {
	if (pool) {
		fem_pool_for(pool, count, task, context);
		return;
	}
	for (int32_t chunk = 0; chunk < count; chunk++)
		task(context, chunk);
}

static void run_new_units(FemNarrowPhase *phase, FemPool *pool) {
	for_chunks(pool, phase->claim_count, fill_group_task, phase);
	phase->claim_count = 0;
	for_chunks(pool, phase->unit_count - phase->units_done, run_unit_task, phase);
	phase->units_done = phase->unit_count;
}

// Places in unit order: what does not fit is decided here, by counts alone, not by which thread came first.
static void place_hits(FemNarrowPhase *phase) {
	int32_t used = 0;
	for (int32_t i = 0; i < phase->pair_count; i++) {
		FemNarrowPair *pair = &phase->pairs[i];
		pair->hit_begin = used;
		int32_t room = phase->limits.hits - used;
		if (phase->limits.hits_per_pair > 0)
			room = fem_narrow_least(room, phase->limits.hits_per_pair);
		for (int32_t round = 0; round < 2; round++) {
			for (int32_t u = pair->units[round].begin; u < pair->units[round].end; u++) {
				FemNarrowUnit *unit = &phase->units[u];
				unit->hit_begin = used;
				unit->hit_room = fem_narrow_least(unit->hit_count, room);
				used += unit->hit_room;
				room -= unit->hit_room;
				pair->hit_count += unit->hit_count;
			}
		}
		FEM_ASSERT(used <= phase->limits.hits && pair->units[0].end <= pair->units[1].begin);
		pair->hit_stored = used - pair->hit_begin;
		pair->full |= pair->hit_stored < pair->hit_count;
		phase->hits_full |= pair->full;
	}
}

void fem_narrow_phase_run(FemNarrowPhase *phase, FemPool *pool) {
	for_chunks(pool, phase->pair_count, make_cones_task, phase);
	fem_narrow_list_first_round(phase);
	run_new_units(phase, pool);
	fem_narrow_list_second_round(phase);
	run_new_units(phase, pool);
	place_hits(phase);
	for_chunks(pool, phase->unit_count, gather_unit_task, phase);
	for_chunks(pool, phase->pair_count, merge_pair_task, phase);
}
