// Solids of flat faces that are parallel or square to one axis, whatever their angles round it: rooms of three or six
// walls, walls that meet in a Y, houses with a gable whose partitions are square to the ridge or run along it. Seen
// along the axis their faces are lines, which with rungs across the walls part the plan into strips and what lies
// between; what is square to the axis parts it into levels. Each part of the plan between two levels is wholly inside
// or outside, and walls that meet share their nodes.
#ifndef FEM_FILLING_PLAN_WALLS_H
#define FEM_FILLING_PLAN_WALLS_H

#include "filling/plan_mesh.h"
#include "filling/solid.h"
#include "filling/tet_list.h"

typedef struct FemPlanLevel {
	double at, area; // along the axis, unit space; of the faces there
} FemPlanLevel;

typedef struct FemPlanWalls {
	const FemSolid *solid;
	double wall;          // thickness, unit space
	FemVec3d axes[3];     // unit, right-handed: of the plan, and the one that all faces are parallel or square to
	FemPlanGraph graph;   // of the plan
	FemPlanLevel *levels; // rising
	int32_t level_count, level_capacity; // 0: the solid is of another shape
	FemPlanMesh mesh;                    // of the cells that were last asked for
	uint8_t *filled;                     // [face of the mesh, level]: what lies beyond the level is inside
	int32_t filled_count;                // room in `filled`
} FemPlanWalls;

// wall: how thick the walls are; faces nearer to each other than `merge` count as one, unit space.
FemResult fem_plan_walls_create(const FemSolid *solid, double wall, double merge, FemPlanWalls *out);
void fem_plan_walls_free(FemPlanWalls *walls);

// Divides the plan into cells about `cell` long, unit space, and says how many tets that makes; 0 where there are none,
// or slivers among them.
FemResult fem_plan_walls_divide(FemPlanWalls *walls, double cell, double *out_tets);

// Adds nodes and tets of the last division, in the solid's unit space.
FemResult fem_plan_walls_fill(const FemPlanWalls *walls, double cell, FemTetList *out);

#endif
