// Triangles in the faces of a plan: two for each cell of a strip between the sides of a wall, free ones where walls
// meet and between them.
#ifndef FEM_FILLING_PLAN_MESH_H
#define FEM_FILLING_PLAN_MESH_H

#include "filling/plan_graph.h"

typedef struct FemPlanMesh {
	int32_t point_count, point_capacity;
	double (*points)[2];
	int32_t triangle_count, triangle_capacity;
	int32_t (*triangles)[3]; // points, the lowest by a direction first: neighbours agree on which is lower
	int32_t face_count, face_capacity;
	int32_t *face_ends;       // [face]: in triangles
	double (*face_places)[2]; // [face]: a point in it
	int32_t place_capacity;
	bool failed; // memory ran out
} FemPlanMesh;

// cell: about how long their sides are; faces narrower than `thin` are strips.
void fem_plan_mesh_make(const FemPlanGraph *graph, double cell, double thin, FemPlanMesh *out);
void fem_plan_mesh_free(FemPlanMesh *mesh);

#endif
