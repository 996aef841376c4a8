// Which units of work there are: whose triangles are tested against which groups of tets.
#include "collision/narrow_listing.h"

#include "base/assert.h"
#include "base/range.h"
#include "collision/narrow_units.h"
#include "fem_constants.h"
#include "topology/topology.h"

#include <math.h>

// Hits a unit keeps; one that finds more runs a second time, straight into its place. Chosen: few do.
#define SLOTS_PER_TRIANGLE 8

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
		int32_t wanted = fem_narrow_least(SLOTS_PER_TRIANGLE * (triangles.end - triangles.begin), phase->limits.hits);
		unit.slot_count = fem_narrow_least(wanted, phase->slot_capacity - phase->slot_count);
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

bool fem_narrow_may_cross_itself(const FemSurfaceTrees *trees, int32_t component) {
	const FemTopology *topology = trees->topology;
	return component < trees->component_count &&
		(!topology->split || topology->component_tets[component] >= FEM_SMALL_PIECE_TETS);
}

// Trees of one component whose boxes meet, unless they are one bent patch that cannot have folded over.
static void list_crossings(FemNarrowPhase *phase, int32_t pair, int32_t component) {
	const FemSurfaceTrees *trees = phase->pairs[pair].a.trees;
	FemRange range = fem_surface_trees_component(trees, component).trees;
	for (int32_t i = range.begin; i < range.end && fem_narrow_may_cross_itself(trees, component); i++) {
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

void fem_narrow_list_first_round(FemNarrowPhase *phase) {
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
void fem_narrow_list_second_round(FemNarrowPhase *phase) {
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
