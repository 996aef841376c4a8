// Triangles within closed loops in a plane, with holes and with points inside. Whatever the loops are like, the
// triangles together have exactly the loops as their border, so that what they close is closed.
#ifndef FEM_GEOMETRY_LOOP_MESH_H
#define FEM_GEOMETRY_LOOP_MESH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct FemLoopMesh {
	int32_t point_count, point_capacity;
	double (*points)[2];
	int32_t index_count, index_capacity;
	int32_t *indices; // the loops' points, loop by loop: outer ones counter-clockwise, holes clockwise
	int32_t loop_count, loop_capacity;
	int32_t *loop_ends; // [loop]: in indices
	int32_t triangle_count, triangle_capacity;
	int32_t (*triangles)[3];
	int32_t (*opposite)[3]; // [triangle]: triangle * 3 + edge on the other side of each edge (v, v + 1), or -1
	int32_t opposite_capacity;
	int32_t *ring, ring_count, ring_capacity; // work space: the loop being cut
	bool failed;                              // memory ran out
} FemLoopMesh;

void fem_loop_mesh_clear(FemLoopMesh *mesh); // keeps the memory
void fem_loop_mesh_free(FemLoopMesh *mesh);

int32_t fem_loop_mesh_add_point(FemLoopMesh *mesh, double x, double y);
void fem_loop_mesh_add_index(FemLoopMesh *mesh, int32_t point);
void fem_loop_mesh_end_loop(FemLoopMesh *mesh);

// Triangles of all loops (ear clipping, holes joined by bridges), then Delaunay flips.
void fem_loop_mesh_fill(FemLoopMesh *mesh);
// Adds a point inside; false when no triangle holds it or one of its corners is nearer than `distance`.
bool fem_loop_mesh_insert(FemLoopMesh *mesh, double x, double y, double distance);
void fem_loop_mesh_improve(FemLoopMesh *mesh);

// Takes points out of the loops and gives up the triangles, to be filled anew. keeps: [point]. Loops of which fewer
// than 3 points are left go.
void fem_loop_mesh_thin(FemLoopMesh *mesh, const bool *keeps);

#endif
