// Blows on walls: what a mesh that is coarser than the dent of a blow cannot show (docs/method.md, "The real force of a
// blow").
#ifndef FEM_WORLD_WALL_BLOWS_H
#define FEM_WORLD_WALL_BLOWS_H

#include "fracture/separation.h"
#include "model/body.h"

// Where a blow strikes a plate cell first.
typedef struct FemWallBlow {
	float thickness; // m; 0: it strikes no wall
	int32_t cell;
	int32_t node;  // the nearest to the place
	FemVec4 place; // m
	float axis[3]; // unit, across the wall
	float cosine;  // of the angle between the blow and that
	float share;   // of the blow that strikes near the place; kg until all of it is known
	float patch;   // m^2/N: the square of the radius on which what strikes it presses, by force; kg m^2/N until then
	float excess;  // stress there over strength: of what opens radial cracks,
	float ring;    // and of what opens those around them
} FemWallBlow;

// Of a blow along `normal` at `place` in a tet. Nothing where no plate cell acts.
FemWallBlow fem_wall_blow(const FemBody *body, int32_t tet, int32_t node, FemVec4 place, const float normal[3]);

// Adds what strikes with `weight` kg at `at`, on something that gives `patch`.
void fem_wall_blow_add(FemWallBlow *wall, FemVec4 at, float weight, float patch);

// 1/kg: how the wall answers a blow of 1 N s within `time` s, as if it had no end. `modulus`: Pa, in blows.
float fem_wall_response(const FemWallBlow *wall, float modulus, float density, float time);

// Pa: the tension on the far side of the wall under a force (N) of the whole blow after `time` s.
float fem_wall_stress(const FemWallBlow *wall, float modulus, float density, float time, float force);

// Pa: the tension along the wedges between radial cracks.
float fem_wall_ring_stress(const FemWallBlow *wall, float force);

// What these do to a node: at the place radial cracks, at the other corners of the cell that is struck a crack around
// them. False when they are not too much for it.
bool fem_wall_separation(
	const FemBody *body, const FemWallBlow *wall, int32_t node, uint64_t chance, FemSeparation *out);

#endif
