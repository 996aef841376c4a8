// The lines of walls as they are seen along the axis that all of them are parallel to: points and edges in a plane that
// meet at their ends alone, and the faces between them.
#ifndef FEM_FILLING_PLAN_GRAPH_H
#define FEM_FILLING_PLAN_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct FemPlanEdge {
	int32_t ends[2]; // points
	bool is_rung;    // from one side of a wall to the other, not a line of the walls
} FemPlanEdge;

typedef struct FemPlanGraph {
	double snap; // points nearer to each other, or to an edge, than this are one
	int32_t point_count, point_capacity;
	double (*points)[2];
	int32_t edge_count, edge_capacity;
	FemPlanEdge *edges;
	bool failed; // memory ran out
} FemPlanGraph;

// Adds the segment, cut where it crosses or touches what is there, which is cut as well.
void fem_plan_graph_add(FemPlanGraph *graph, const double from[2], const double to[2]);

// Rungs from each corner to the other side of its wall, where that is nearer than `reach`: from there on walls are
// strips of two sides, and where they meet there is a face for itself. is_wall: whether a point lies in a wall.
void fem_plan_graph_add_rungs(
	FemPlanGraph *graph, double reach, bool (*is_wall)(void *context, double x, double y), void *context);

// The borders of the faces, a loop of points each: counter-clockwise around a face, clockwise around what stands free
// in one. Loop l is out_indices[out_ends[l - 1]] up to out_ends[l]. Both have room for 2 * edge_count. Returns the
// number of loops, -1 without memory.
int32_t fem_plan_graph_loops(const FemPlanGraph *graph, int32_t *out_indices, int32_t *out_ends);

void fem_plan_graph_free(FemPlanGraph *graph);

#endif
