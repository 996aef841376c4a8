// One unit of the narrow phase's work.
#ifndef FEM_COLLISION_NARROW_UNITS_H
#define FEM_COLLISION_NARROW_UNITS_H

#include "collision/narrow_phase.h"

typedef enum FemUnitKind {
	FEM_UNIT_A_INTO_B, // triangles of the first body against tets of the second
	FEM_UNIT_B_INTO_A,
	FEM_UNIT_CROSSING, // two trees of one body: whether any two triangles cross
	FEM_UNIT_SELF,     // triangles against tets of the same component, neighbours passed over
} FemUnitKind;

// Finds the unit's hits, in an order of its own that never changes, and writes the first `room`. Returns how many there
// are; for FEM_UNIT_CROSSING 1 or 0, and none is written.
int32_t fem_narrow_unit_run(const FemNarrowPair *pair, const FemNarrowUnit *unit, FemNarrowHit *out, int32_t room);

// Whether the tree's triangles are tested against the group's tets by a unit of this kind.
bool fem_narrow_may_meet(const FemNarrowBody *faces, const FemSurfaceTree *tree, const FemNarrowBody *solid,
	int32_t group, int32_t kind);

// Moves points of `from` into the frame of `to`, m.
Float4 fem_narrow_offset(const FemNarrowBody *from, const FemNarrowBody *to);

#endif
