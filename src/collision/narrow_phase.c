#include "collision/narrow_phase.h"

#include "base/assert.h"
#include "base/carve.h"
#include "base/range.h"
#include "base/search.h"
#include "collision/narrow_units.h"
#include "fem_constants.h"
#include "topology/topology.h"

#include <math.h>

#define CHUNKS_MAX ((1 << 20) - 1) // of a loop of the pool

// Hits a unit keeps; one that finds more runs a second time, straight into its place: of 500 pieces in a heap one in
// a hundred. With 8 there was no room for all of those, and half of them did.
#define SLOTS_PER_TRIANGLE 3

// A group whose tet boxes have to be made before units can run.
typedef struct FemGroupClaim {
	FemSurfaceTrees *trees;
	int32_t group;
} FemGroupClaim;

static int32_t least(int32_t a, int32_t b) {
	return a < b ? a : b;
}

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
	made.limits.units = least(limits->units, CHUNKS_MAX);
	made.limits.pairs = least(limits->pairs, CHUNKS_MAX);
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

// ---- units of work: whose triangles are tested against which groups of tets, listed on one thread in a fixed order

static bool add_unit(FemNarrowPhase *phase, int32_t pair, FemNarrowUnit unit) {
	if (phase->unit_count == phase->limits.units) {
		phase->units_full = phase->pairs[pair].full = true;
		return false;
	}
	unit.pair = pair;
	unit.slot_begin = phase->slot_count;
	if (unit.kind != FEM_UNIT_CROSSING) {
		const FemNarrowPair *of = &phase->pairs[pair];
		const FemSurfaceTrees *faces = unit.kind == FEM_UNIT_B_INTO_A ? of->b.trees : of->a.trees;
		FemRange triangles = faces->trees[unit.tree].triangles;
		int32_t wanted = least(SLOTS_PER_TRIANGLE * (triangles.end - triangles.begin), phase->limits.hits);
		unit.slot_count = least(wanted, phase->slot_capacity - phase->slot_count);
		phase->slots_wanted += wanted;
		phase->slot_count += unit.slot_count;
	}
	phase->units[phase->unit_count++] = unit;
	return true;
}

// Claims a group of tet boxes to be filled; false when there is no room, and the unit cannot run.
static bool claim_group(FemNarrowPhase *phase, FemSurfaceTrees *trees, int32_t group) {
	if (trees->groups[group].filled)
		return true;
	if (phase->claim_count == phase->limits.units)
		return false;
	fem_surface_trees_claim_group(trees, group);
	phase->claims[phase->claim_count++] = (FemGroupClaim){trees, group};
	return true;
}

// Claims those of the groups that the box meets. Returns how many, -1 when there is no room.
static int32_t claim_met(FemNarrowPhase *phase, FemSurfaceTrees *solid, FemRange targets, Box4 box) {
	int32_t met = 0;
	FemGroupWalk walk = fem_group_walk(solid, phase->targets, targets, box);
	for (int32_t group; (group = fem_group_walk_next(&walk)) >= 0; met++) {
		if (!claim_group(phase, solid, group))
			return -1;
	}
	return met;
}

static Box4 span_box(const FemSurfaceTrees *trees, FemTreeSpan span) {
	Box4 box = empty_box4();
	for (int32_t i = span.trees.begin; i < span.trees.end; i++)
		box = joint_box4(trees->trees[i].box, box);
	return box;
}

// Every tree of `from` that meets one of the targets listed since `first`; `whole` holds all those.
static void list_probes(
	FemNarrowPhase *phase, int32_t pair, FemUnitKind kind, FemRange from, int32_t first, Box4 whole) {
	bool flipped = kind == FEM_UNIT_B_INTO_A;
	const FemNarrowBody *faces = flipped ? &phase->pairs[pair].b : &phase->pairs[pair].a;
	const FemNarrowBody *solid = flipped ? &phase->pairs[pair].a : &phase->pairs[pair].b;
	Float4 offset = fem_narrow_offset(faces, solid);
	FemRange targets = {first, phase->target_count};
	for (int32_t i = from.begin; i < from.end; i++) {
		const FemSurfaceTree *tree = &faces->trees->trees[i];
		Box4 box = {tree->box.min + offset, tree->box.max + offset};
		if (!boxes_meet4(box, whole))
			continue;
		int32_t met = claim_met(phase, solid->trees, targets, box);
		if (met < 0)
			phase->units_full = phase->pairs[pair].full = true;
		if (met < 0 ||
			(met > 0 && !add_unit(phase, pair, (FemNarrowUnit){.kind = kind, .tree = i, .targets = targets})))
			return;
	}
}

// Groups next to those added last become one range with them. They must come in ascending order from `first` on.
static void add_target(FemNarrowPhase *phase, int32_t pair, int32_t first, FemRange groups) {
	FEM_ASSERT(groups.begin <= groups.end);
	FEM_ASSERT(phase->target_count <= first || phase->targets[phase->target_count - 1].end <= groups.begin);
	if (phase->target_count > first && phase->targets[phase->target_count - 1].end == groups.begin) {
		phase->targets[phase->target_count - 1].end = groups.end;
	} else if (phase->target_count < phase->target_capacity) {
		phase->targets[phase->target_count++] = groups;
	} else {
		phase->units_full = phase->pairs[pair].full = true;
	}
}

// Lists units that test a component against itself.
static void list_component(FemNarrowPhase *phase, int32_t pair, int32_t component) {
	const FemSurfaceTrees *trees = phase->pairs[pair].a.trees;
	FemTreeSpan span = fem_surface_trees_component(trees, component);
	int32_t first = phase->target_count;
	add_target(phase, pair, first, span.groups);
	list_probes(phase, pair, FEM_UNIT_SELF, span.trees, first, span_box(trees, span));
}

static bool are_neighbours(const FemSurfaceTrees *trees, int32_t i, int32_t j) {
	FemRange range = trees->trees[i].neighbours;
	FEM_ASSERT(i != j && range.begin <= range.end);
	const int32_t *list = trees->tree_neighbours + range.begin;
	int32_t count = range.end - range.begin, place = fem_first_not_below(list, count, j);
	return place < count && list[place] == j;
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

// Whether a piece of a broken body has too few tets to fold onto itself.
static bool may_cross_itself(const FemSurfaceTrees *trees, int32_t component) {
	const FemTopology *topology = trees->topology;
	return component < trees->component_count &&
		(!topology->split || topology->component_tets[component] >= FEM_SMALL_PIECE_TETS);
}

// Trees of one component whose boxes meet, unless they are one bent patch that cannot have folded over.
static void list_crossings(FemNarrowPhase *phase, int32_t pair, int32_t component) {
	const FemSurfaceTrees *trees = phase->pairs[pair].a.trees;
	FemRange range = fem_surface_trees_component(trees, component).trees;
	for (int32_t i = range.begin; i < range.end && may_cross_itself(trees, component); i++) {
		const FemSurfaceTree *a = &trees->trees[i];
		for (int32_t j = i; j < range.end; j++) {
			const FemSurfaceTree *b = &trees->trees[j];
			if (!boxes_meet4(a->box, b->box))
				continue;
			if ((i == j || are_neighbours(trees, i, j)) && have_common_cone(a->cone_axis, b->cone_axis))
				continue;
			if (!add_unit(phase, pair, (FemNarrowUnit){.kind = FEM_UNIT_CROSSING, .tree = i, .other = j}))
				return;
		}
	}
}

// Sorts the named pairs of pieces, each in both directions, by the piece whose faces are tested. For two pieces of one
// body both directions count as A into B, since tets are told apart by their numbers. Returns how many entries there
// are.
static int32_t sort_pieces(FemNarrowPhase *phase, int32_t pair) {
	const FemNarrowPair *of = &phase->pairs[pair];
	uint64_t flipped = of->self ? 0 : (uint64_t)1 << 62;
	int32_t count = 0;
	for (int32_t p = 0; p < of->piece_count; p++) {
		uint64_t a = (uint64_t)of->pieces[p].a, b = (uint64_t)of->pieces[p].b;
		if (of->self && a == b)
			continue;
		if (count + 2 > phase->limits.hits) {
			phase->units_full = phase->pairs[pair].full = true;
			break;
		}
		phase->hits[count++] = (FemKeyed){.key = a << 31 | b};
		phase->hits[count++] = (FemKeyed){.key = flipped | b << 31 | a};
	}
	fem_key_sort(phase->hits, phase->scratch, count);
	return count;
}

// Lists units of each piece against all its partners together, since a triangle is tested against four tets at a time.
static void list_pieces(FemNarrowPhase *phase, int32_t pair) {
	const FemNarrowPair *of = &phase->pairs[pair];
	int32_t count = sort_pieces(phase, pair);
	for (int32_t i = 0; i < count;) {
		uint64_t from = phase->hits[i].key >> 31;
		bool flipped = from >> 31 != 0;
		const FemSurfaceTrees *faces = flipped ? of->b.trees : of->a.trees,
							  *solid = flipped ? of->a.trees : of->b.trees;
		FemTreeSpan span = fem_surface_trees_component(faces, (int32_t)(from & INT32_MAX));
		Box4 whole = empty_box4();
		int32_t first = phase->target_count;
		for (; i < count && phase->hits[i].key >> 31 == from; i++) {
			FemTreeSpan other = fem_surface_trees_component(solid, (int32_t)(phase->hits[i].key & INT32_MAX));
			add_target(phase, pair, first, other.groups);
			whole = joint_box4(span_box(solid, other), whole);
		}
		list_probes(phase, pair, flipped ? FEM_UNIT_B_INTO_A : FEM_UNIT_A_INTO_B, span.trees, first, whole);
	}
}

// Every component against all others of its body.
static void list_own_pieces(FemNarrowPhase *phase, int32_t pair) {
	const FemSurfaceTrees *trees = phase->pairs[pair].a.trees;
	FemTreeSpan all = fem_surface_trees_all(trees);
	for (int32_t c = 0; c < trees->component_count && trees->component_count > 1; c++) {
		FemTreeSpan span = fem_surface_trees_component(trees, c);
		int32_t first = phase->target_count;
		add_target(phase, pair, first, (FemRange){0, span.groups.begin});
		add_target(phase, pair, first, (FemRange){span.groups.end, all.groups.end});
		list_probes(phase, pair, FEM_UNIT_A_INTO_B, span.trees, first, span_box(trees, all));
	}
}

static void list_whole(FemNarrowPhase *phase, int32_t pair, FemUnitKind kind) {
	bool flipped = kind == FEM_UNIT_B_INTO_A;
	const FemNarrowPair *of = &phase->pairs[pair];
	const FemSurfaceTrees *faces = flipped ? of->b.trees : of->a.trees, *solid = flipped ? of->a.trees : of->b.trees;
	FemTreeSpan all = fem_surface_trees_all(solid);
	int32_t first = phase->target_count;
	add_target(phase, pair, first, all.groups);
	list_probes(phase, pair, kind, fem_surface_trees_all(faces).trees, first, span_box(solid, all));
}

static void list_all(FemNarrowPhase *phase, int32_t pair) {
	if (!phase->pairs[pair].self) {
		list_whole(phase, pair, FEM_UNIT_A_INTO_B);
		list_whole(phase, pair, FEM_UNIT_B_INTO_A);
		return;
	}
	for (int32_t c = 0; c < phase->pairs[pair].a.trees->component_count; c++)
		list_crossings(phase, pair, c);
	list_own_pieces(phase, pair);
}

// All pairs, with crossings of a body's own triangles.
static void list_first_round(FemNarrowPhase *phase) {
	for (int32_t i = 0; i < phase->pair_count; i++) {
		FemNarrowPair *pair = &phase->pairs[i];
		pair->units[0].begin = phase->unit_count;
		for (int32_t p = 0; pair->pieces && pair->self && p < pair->piece_count; p++) {
			if (pair->pieces[p].a == pair->pieces[p].b)
				list_crossings(phase, i, pair->pieces[p].a);
		}
		if (pair->pieces)
			list_pieces(phase, i);
		else
			list_all(phase, i);
		pair->units[0].end = phase->unit_count;
	}
}

// Components of which two triangles cross are tested against themselves. Their crossings stand together, in unit order.
// When those have run: bodies that touch themselves.
static void list_second_round(FemNarrowPhase *phase) {
	for (int32_t i = 0; i < phase->pair_count; i++) {
		FemNarrowPair *pair = &phase->pairs[i];
		int32_t last = -1;
		pair->units[1].begin = phase->unit_count;
		for (int32_t u = pair->units[0].begin; u < pair->units[0].end; u++) {
			FemNarrowUnit *unit = &phase->units[u];
			if (unit->kind != FEM_UNIT_CROSSING)
				continue;
			int32_t component = pair->a.trees->trees[unit->tree].component;
			bool crosses = unit->hit_count > 0 && component != last;
			unit->hit_count = 0;
			if (!crosses)
				continue;
			last = component;
			list_component(phase, i, component);
		}
		pair->units[1].end = phase->unit_count;
	}
}

// ---- tasks

static void make_cones(FemSurfaceTrees *trees, int32_t component) {
	FemRange range = fem_surface_trees_component(trees, component).trees;
	for (int32_t i = range.begin; i < range.end && may_cross_itself(trees, component); i++)
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
		FEM_ASSERT(used <= phase->limits.hits && pair->units[0].end <= pair->units[1].begin);
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
