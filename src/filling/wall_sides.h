// The two skins of a thin wall. A ray from a triangle through the solid to its other side says how thick the wall is
// there and which triangle faces it. Triangles that face each other lie on unlike sides, neighbours on like ones, and
// where these disagree (at the rim of a vase) the weakest tie is cut. Cells are then laid along one of the two sides.
#ifndef FEM_FILLING_WALL_SIDES_H
#define FEM_FILLING_WALL_SIDES_H

#include "filling/solid.h"

typedef enum FemWallSide {
	FEM_SIDE_FACING = -1, // the inner skin: cells end there
	FEM_SIDE_RIM = 0,     // joins the two skins
	FEM_SIDE_LAID = 1,    // the skin of larger area: cells begin there
} FemWallSide;

typedef struct FemWallSides {
	int32_t count;
	int8_t *sides; // [triangle of the solid], FemWallSide
	double wall;   // median thickness of what has another side, unit space
	double paired; // share of the area that belongs to walls thinner than the reach
	double hidden; // share of the area that is FEM_SIDE_FACING and faces its like: no cell would reach that wall
} FemWallSides;

// reach: walls up to this thickness count as walls.
FemResult fem_wall_sides_find(const FemSolid *solid, double reach, FemWallSides *out);
void fem_wall_sides_free(FemWallSides *sides);

// How far the solid reaches from a point of a triangle against its normal, at most `limit`; -1 where it does not end
// within that. out_facing: the triangle there. Needs triangles that are turned outward.
double fem_wall_depth(const FemSolid *solid, int32_t triangle, FemVec3d at, double limit, int32_t *out_facing);

// Points spread over a triangle, in weights of its corners: its centre, then near its corners and its sides, then
// nearer to its corners.
#define FEM_WALL_SAMPLES 10        // chosen
#define FEM_WALL_SAMPLE_PARTS 60.0 // what the three weights of a point add up to
extern const int8_t fem_wall_samples[FEM_WALL_SAMPLES][3];

#endif
