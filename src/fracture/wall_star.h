// The cells of a plate around a node where they lie in a curved wall without an edge: looked at as if they lay in one
// plane, with the stress that they have there in common.
#ifndef FEM_FRACTURE_WALL_STAR_H
#define FEM_FRACTURE_WALL_STAR_H

#include "base/vec.h"
#include "model/body.h"
#include "model/tet_batches.h"

#include <stdbool.h>
#include <stdint.h>

// Around a node: six prisms or four hexahedra in a grid. Chosen; with more it counts as no wall.
#define FEM_WALL_CELLS_MAX 16

typedef struct FemWallCell {
	int32_t cell;    // in topology->cells
	int32_t corner;  // of the cell, that is the node
	double volume;   // m^3, of its tets around the node
	FemVec3d normal; // unit, to the same side as the wall's
} FemWallCell;

typedef struct FemWallStar {
	bool is_curved; // else the rest means nothing
	int32_t cell_count;
	FemWallCell cells[FEM_WALL_CELLS_MAX];
	FemVec3d normal;              // unit, to either side, world
	FemTetStress stress, tension; // Pa: of the surface at the node, in the plane of the wall, and its tensile part
} FemWallStar;

// The normal of a plate cell where it is: unit, to either side; 0 of one without an area.
FemVec3d fem_wall_cell_normal(const FemBody *body, int32_t cell);

// Of the tets around a node, 4 tet + corner each. Reads cell_stress and, if it is not null, cell_normals of body->step.
void fem_wall_star(const FemBody *body, const int32_t *star, int32_t star_count, FemWallStar *out);

// Rotates a vector in a cell of the wall as that has to be rotated to lie in the plane of the wall.
void fem_wall_lay_flat(const FemWallStar *wall, int32_t cell, double v[3]);

#endif
