#include "collision/narrow_phase.h"

#include "base/carve.h"
#include "collision/narrow_units.h"

#include <math.h>

#define CHUNKS_MAX ((1 << 20) - 1) // of a loop of the pool
#define SLOTS_PER_TRIANGLE 8       // hits a unit keeps; one that finds more runs a second time, straight into its place

// A group whose tet boxes have to be made before units can run.
typedef struct FemGroupClaim {
	FemSurfaceTrees *trees;
	int32_t group;
} FemGroupClaim;

static int32_t least(int32_t a, int32_t b) {
	return a < b ? a : b;
}

// -------------------------------------------------------------------------------------------------------------- memory

static size_t place(FemNarrowPhase *phase, char *base) {
	FemCarver carver = {.base = base};
	const FemNarrowLimits *limits = &phase->limits;
	phase->pairs = FEM_CARVE(&carver, FemNarrowPair, limits->pairs);
	phase->units = FEM_CARVE(&carver, FemNarrowUnit, limits->units);
	phase->slots = FEM_CARVE(&carver, FemNarrowHit, 2 * (size_t)limits->hits);
	phase->hits = FEM_CARVE(&carver, FemKeyed, limits->hits);
	phase->scratch = FEM_CARVE(&carver, FemKeyed, limits->hits);
	phase->tet_pairs = FEM_CARVE(&carver, FemTetPair, limits->hits);
	phase->claims = FEM_CARVE(&carver, FemGroupClaim, limits->units);
	return carver.used;
}

bool fem_narrow_phase_reserve(FemNarrowPhase *phase, const FemNarrowLimits *limits) {
	fem_narrow_phase_free(phase);
	FemNarrowPhase made = {.limits = *limits};
	made.limits.units = least(limits->units, CHUNKS_MAX);
	made.limits.pairs = least(limits->pairs, CHUNKS_MAX);
	made.bytes = place(&made, NULL);
	made.block = fem_alloc(made.bytes);
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
	phase->pairs_full = phase->units_full = phase->hits_full = false;
}

int32_t fem_narrow_phase_add(FemNarrowPhase *phase, const FemNarrowBody *a, const FemNarrowBody *b) {
	if (phase->pair_count == phase->limits.pairs) {
		phase->pairs_full = true;
		return -1;
	}
	phase->pairs[phase->pair_count] = (FemNarrowPair){.a = *a, .b = *b, .self = a->trees == b->trees, .folds = true};
	return phase->pair_count++;
}

// ------------------------------------------------------------------------------------------------------------- listing

static bool add_unit(FemNarrowPhase *phase, int32_t pair, FemUnitKind kind, int32_t tree, int32_t other) {
	if (phase->unit_count == phase->limits.units) {
		phase->units_full = phase->pairs[pair].full = true;
		return false;
	}
	FemNarrowUnit unit = {.pair = pair, .kind = kind, .tree = tree, .other = other, .slot_begin = phase->slot_count};
	if (kind != FEM_UNIT_CROSSING) {
		const FemNarrowPair *of = &phase->pairs[pair];
		const FemSurfaceTrees *faces = kind == FEM_UNIT_B_INTO_A ? of->b.trees : of->a.trees;
		FemRange triangles = faces->trees[tree].triangles;
		int32_t wanted = least(SLOTS_PER_TRIANGLE * (triangles.end - triangles.begin), phase->limits.hits);
		unit.slot_count = least(wanted, 2 * phase->limits.hits - phase->slot_count);
		phase->slot_count += unit.slot_count;
	}
	phase->units[phase->unit_count++] = unit;
	return true;
}

// False when there is no room: the unit cannot run then.
static bool claim_group(FemNarrowPhase *phase, FemSurfaceTrees *trees, int32_t group) {
	if (trees->groups[group].stamp == trees->stamp)
		return true;
	if (phase->claim_count == phase->limits.units)
		return false;
	fem_surface_trees_claim_group(trees, group);
	phase->claims[phase->claim_count++] = (FemGroupClaim){trees, group};
	return true;
}

// Claims the groups that the tree meets. Returns how many, -1 when there is no room.
static int32_t claim_met(FemNarrowPhase *phase, const FemNarrowBody *faces, const FemSurfaceTree *tree, Box4 box,
	const FemNarrowBody *solid, FemUnitKind kind) {
	int32_t met = 0;
	for (int32_t base = 0; base < solid->trees->group_count; base += 8) {
		unsigned groups = boxes_meet8(&solid->trees->group_boxes[base / 8], box);
		for (; groups; groups &= groups - 1) {
			int32_t group = base + __builtin_ctz(groups);
			if (!fem_narrow_may_meet(faces, tree, solid, group, kind))
				continue;
			if (!claim_group(phase, solid->trees, group))
				return -1;
			met++;
		}
	}
	return met;
}

static Box4 body_box(const FemSurfaceTrees *trees) {
	Box4 box = empty_box4();
	for (int32_t i = 0; i < trees->tree_count; i++)
		box = joint_box4(trees->trees[i].box, box);
	return box;
}

// Every tree of one body that meets a group of the other.
static void list_probes(FemNarrowPhase *phase, int32_t pair, FemUnitKind kind) {
	bool flipped = kind == FEM_UNIT_B_INTO_A;
	const FemNarrowBody *faces = flipped ? &phase->pairs[pair].b : &phase->pairs[pair].a;
	const FemNarrowBody *solid = flipped ? &phase->pairs[pair].a : &phase->pairs[pair].b;
	Float4 offset = fem_narrow_offset(faces, solid);
	Box4 whole = body_box(solid->trees);
	for (int32_t i = 0; i < faces->trees->tree_count; i++) {
		const FemSurfaceTree *tree = &faces->trees->trees[i];
		Box4 box = {tree->box.min + offset, tree->box.max + offset};
		if (!boxes_meet4(box, whole))
			continue;
		int32_t met = claim_met(phase, faces, tree, box, solid, kind);
		if (met < 0)
			phase->units_full = phase->pairs[pair].full = true;
		if (met < 0 || (met > 0 && !add_unit(phase, pair, kind, i, -1)))
			return;
	}
}

static bool are_neighbours(const FemSurfaceTrees *trees, int32_t i, int32_t j) {
	FemRange range = trees->trees[i].neighbours;
	while (range.begin < range.end) {
		int32_t middle = range.begin + (range.end - range.begin) / 2;
		if (trees->tree_neighbours[middle] == j)
			return true;
		if (trees->tree_neighbours[middle] < j)
			range.begin = middle + 1;
		else
			range.end = middle;
	}
	return false;
}

// Whether all normals of both trees lie within 87 degrees of one direction: cos(a + b) from the angle a between the
// tree's axis and the common one and the angle b of its cone.
static bool have_common_cone(Float4 a, Float4 b) {
	if (a[3] < 0.0f || b[3] < 0.0f)
		return false;
	Float4 sum = a + b;
	float length = sqrtf(dot4(sum, sum));
	if (!(length > 0.1f))
		return false;
	float cosine = fminf(dot4(a, sum) / length, 1.0f), sine = sqrtf(1.0f - cosine * cosine);
	float least_a = cosine * a[3] - sine * sqrtf(fmaxf(0.0f, 1.0f - a[3] * a[3]));
	float least_b = cosine * b[3] - sine * sqrtf(fmaxf(0.0f, 1.0f - b[3] * b[3]));
	return cosine > 0.0f && fminf(least_a, least_b) > 0.05f;
}

// Trees of one component whose boxes meet, unless they are one bent patch that cannot have folded over. A shard of a
// broken body is too small to fold.
static void list_crossings(FemNarrowPhase *phase, int32_t pair) {
	const FemSurfaceTrees *trees = phase->pairs[pair].a.trees;
	const FemTopology *topology = trees->topology;
	for (int32_t i = 0; i < trees->tree_count; i++) {
		const FemSurfaceTree *a = &trees->trees[i];
		bool sleeps = phase->pairs[pair].a.live && !phase->pairs[pair].a.live[a->component];
		if (sleeps || (topology->split && topology->component_tets[a->component] < FEM_SHARD_TETS))
			continue;
		for (int32_t j = i; j < trees->tree_count; j++) {
			const FemSurfaceTree *b = &trees->trees[j];
			if (a->component != b->component || !boxes_meet4(a->box, b->box))
				continue;
			if ((i == j || are_neighbours(trees, i, j)) && have_common_cone(a->cone_axis, b->cone_axis))
				continue;
			if (!add_unit(phase, pair, FEM_UNIT_CROSSING, i, j))
				return;
		}
	}
}

static void list_first_round(FemNarrowPhase *phase) {
	for (int32_t i = 0; i < phase->pair_count; i++) {
		FemNarrowPair *pair = &phase->pairs[i];
		pair->units[0].begin = phase->unit_count;
		if (pair->self) {
			if (pair->folds)
				list_crossings(phase, i);
			if (pair->a.trees->topology->component_count > 1)
				list_probes(phase, i, FEM_UNIT_A_INTO_B);
		} else {
			list_probes(phase, i, FEM_UNIT_A_INTO_B);
			list_probes(phase, i, FEM_UNIT_B_INTO_A);
		}
		pair->units[0].end = phase->unit_count;
	}
}

static void list_second_round(FemNarrowPhase *phase) {
	for (int32_t u = 0; u < phase->unit_count; u++) {
		FemNarrowUnit *unit = &phase->units[u];
		if (unit->kind != FEM_UNIT_CROSSING)
			continue;
		phase->pairs[unit->pair].touches_self |= unit->hit_count > 0;
		unit->hit_count = 0;
	}
	for (int32_t i = 0; i < phase->pair_count; i++) {
		FemNarrowPair *pair = &phase->pairs[i];
		pair->units[1].begin = phase->unit_count;
		if (pair->touches_self)
			list_probes(phase, i, FEM_UNIT_SELF);
		pair->units[1].end = phase->unit_count;
	}
}

// --------------------------------------------------------------------------------------------------------------- tasks

static void make_cones_task(void *context, int32_t chunk) {
	const FemNarrowPair *pair = &((FemNarrowPhase *)context)->pairs[chunk];
	for (int32_t i = 0; pair->self && i < pair->a.trees->tree_count; i++)
		fem_surface_trees_make_cone(pair->a.trees, i);
}

static void fill_group_task(void *context, int32_t chunk) {
	const FemGroupClaim *claim = &((FemNarrowPhase *)context)->claims[chunk];
	fem_surface_trees_fill_group(claim->trees, claim->group);
}

static void run_unit_task(void *context, int32_t chunk) {
	FemNarrowPhase *phase = context;
	FemNarrowUnit *unit = &phase->units[phase->units_done + chunk];
	unit->hit_count =
		fem_narrow_unit_run(&phase->pairs[unit->pair], unit, phase->slots + unit->slot_begin, unit->slot_count);
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
	FemKeyed *out = phase->hits + unit->hit_begin;
	const FemNarrowHit *from = phase->slots + unit->slot_begin;
	if (unit->hit_room > unit->slot_count) {
		FemNarrowHit *buffer = (FemNarrowHit *)(phase->scratch + unit->hit_begin);
		fem_narrow_unit_run(pair, unit, buffer, unit->hit_room);
		from = buffer;
	}
	for (int32_t i = 0; i < unit->hit_room; i++)
		out[i] = keyed_hit(pair, unit, from[i]);
}

// Sorted, each pair of tets once.
static void merge_pair_task(void *context, int32_t chunk) {
	FemNarrowPhase *phase = context;
	FemNarrowPair *pair = &phase->pairs[chunk];
	const FemKeyed *hits = phase->hits + pair->hit_begin;
	FemTetPair *out = phase->tet_pairs + pair->hit_begin;
	fem_key_sort(phase->hits + pair->hit_begin, phase->scratch + pair->hit_begin, pair->hit_stored);
	int32_t count = 0;
	for (int32_t i = 0; i < pair->hit_stored; i++) {
		if (i == 0 || hits[i].key != hits[i - 1].key)
			out[count++] = (FemTetPair){(int32_t)(hits[i].key >> 32), (int32_t)(hits[i].key & UINT32_MAX), 0};
		out[count - 1].faces |= (uint32_t)hits[i].value;
	}
	pair->tets = (FemRange){pair->hit_begin, pair->hit_begin + count};
}

// ----------------------------------------------------------------------------------------------------------------- run

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
			room = least(room, phase->limits.hits_per_pair);
		for (int32_t round = 0; round < 2; round++) {
			for (int32_t u = pair->units[round].begin; u < pair->units[round].end; u++) {
				FemNarrowUnit *unit = &phase->units[u];
				unit->hit_begin = used;
				unit->hit_room = least(unit->hit_count, room);
				used += unit->hit_room;
				room -= unit->hit_room;
				pair->hit_count += unit->hit_count;
			}
		}
		pair->hit_stored = used - pair->hit_begin;
		pair->full |= pair->hit_stored < pair->hit_count;
		phase->hits_full |= pair->full;
	}
}

void fem_narrow_phase_run(FemNarrowPhase *phase, FemPool *pool) {
	for_chunks(pool, phase->pair_count, make_cones_task, phase);
	list_first_round(phase);
	run_new_units(phase, pool);
	list_second_round(phase);
	run_new_units(phase, pool);
	place_hits(phase);
	for_chunks(pool, phase->unit_count, gather_unit_task, phase);
	for_chunks(pool, phase->pair_count, merge_pair_task, phase);
}
