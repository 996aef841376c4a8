// Cells along a thin wall of any shape: the skin on one side of it is coarsened to triangles (skin.h), each of which
// becomes a prism as deep as the wall is thick there, and each prism three tets in every layer. Nodes below a vertex
// lie where the planes of its triangles meet when each is moved inward by the thickness: a box keeps its inner edges
// and corners. Where the other side of the wall is the same skin (a solid handle, a closed mesh that is to be hollow)
// cells end half way.
//
// Walls that meet in a T keep the cells of the skin that runs through; a wall between two rooms that only inner skins
// bound gets none, and the caller finds that its volume is missing.
#ifndef FEM_FILLING_WALL_CELLS_H
#define FEM_FILLING_WALL_CELLS_H

#include "filling/revolved_profile.h"
#include "filling/skin.h"
#include "filling/tet_list.h"
#include "filling/wall_sides.h"

typedef struct FemWallDef {
	const int8_t *sides;    // [triangle of the solid]: cells are laid along those of FEM_SIDE_LAID
	int32_t layers;         // of cells through the wall
	int32_t triangle_count; // cells wanted, for each layer
	double depth_max;       // unit space: no cell is deeper
	double depth_least;     // unit space: a wall that is thinner in the median is laid as thick as this
	double sheet;           // > 0: the skin is a sheet of this thickness, and cells lie on both sides of it
	bool in_rings;          // cells lie in rings, round what could have been turned on a lathe; nothing else is filled
	double volume;          // unit space: wanted of all cells together, met by making them a little thicker; 0 = any
} FemWallDef;

// What all attempts at a wall have in common: its skin in fine triangles, and how deep the wall is below each.
typedef struct FemWall {
	const FemSolid *solid;
	FemWallDef def;
	bool is_sound; // the skin is one surface that cells can be laid along as is wanted
	FemSkin fine;
	FemRevolvedProfile revolved; // for cells in rings
	double *depths;              // [fine triangle], -1 where no ray came to an end
	FemTriangles lookup;         // the fine triangles, in a tree; its components are their numbers
	FemTriangleBvh bvh;
	FemVec3d (*rim)[2]; // edges at which the facing skin ends
	int32_t rim_count, rim_capacity;
} FemWall;

typedef struct FemWallResult {
	bool made;           // false: cells turn over
	double thickness;    // median depth of cells, unit space
	double edge;         // mean length of the cells' sides
	double thicker;      // times what was found, where that is less than depth_least; 1
	double plain_volume; // unit space: before cells were made thicker or thinner to meet the volume that is wanted
} FemWallResult;

FemResult fem_wall_create(const FemSolid *solid, const FemWallDef *def, FemWall *out);
void fem_wall_free(FemWall *wall);

// Adds nodes and tets, in the solid's unit space. The tets of a prism follow each other. error_max: how far the cells'
// corners may lie off the skin, in the mean (skin.h), with as many more cells as that takes.
FemResult fem_wall_fill(const FemWall *wall, double error_max, FemTetList *out, FemWallResult *out_result);

#endif
