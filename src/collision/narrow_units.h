// One unit of the narrow phase's work.
#ifndef FEM_COLLISION_NARROW_UNITS_H
#define FEM_COLLISION_NARROW_UNITS_H

#include "base/range.h"
#include "collision/narrow_phase.h"

typedef enum FemUnitKind {
	FEM_UNIT_A_INTO_B, // triangles of the first body against tets of the second
	FEM_UNIT_B_INTO_A,
	FEM_UNIT_CROSSING, // two trees of one body: whether any two triangles cross
	FEM_UNIT_SELF,     // triangles against tets of the same component, neighbours passed over
} FemUnitKind;

// Finds the unit's hits, in an order of its own that never changes, and writes the first `room`. Returns how many there
// are; for FEM_UNIT_CROSSING 1 or 0, and none is written.
int32_t fem_narrow_unit_run(const FemNarrowPhase *phase, const FemNarrowUnit *unit, FemNarrowHit *out, int32_t room);

// The groups of some ranges that a box meets, in order.
typedef struct FemGroupWalk {
	const FemSurfaceTrees *trees;
	const FemRange *ranges;
	FemRange targets; // of `ranges`, still to come
	Box4 box;
	int32_t base; // the eight groups at hand,
	unsigned met; // and which of them are met
} FemGroupWalk;

static inline FemGroupWalk fem_group_walk(
	const FemSurfaceTrees *trees, const FemRange *ranges, FemRange targets, Box4 box) {
	return (FemGroupWalk){.trees = trees, .ranges = ranges, .targets = targets, .box = box, .base = -1};
}

static inline int32_t fem_group_walk_next(FemGroupWalk *walk) {
	while (!walk->met) {
		if (walk->targets.begin == walk->targets.end)
			return -1;
		FemRange groups = walk->ranges[walk->targets.begin];
		walk->base = walk->base < 0 ? groups.begin & ~7 : walk->base + 8;
		if (walk->base >= groups.end) {
			walk->targets.begin++;
			walk->base = -1;
			continue;
		}
		walk->met = boxes_meet8(&walk->trees->group_boxes[walk->base / 8], walk->box);
		if (groups.begin > walk->base)
			walk->met &= 0xffu << (groups.begin - walk->base);
		if (groups.end - walk->base < 8)
			walk->met &= (1u << (groups.end - walk->base)) - 1;
	}
	int32_t group = walk->base + __builtin_ctz(walk->met);
	walk->met &= walk->met - 1;
	return group;
}

// Moves points of `from` into the frame of `to`, m.
Float4 fem_narrow_offset(const FemNarrowBody *from, const FemNarrowBody *to);

#endif
