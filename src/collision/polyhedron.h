// A convex polyhedron that planes cut, as a planar graph in which every vertex has exactly three edges: cutting off the
// vertices on one side and closing the hole with a ring gives such a graph again, whatever the signs are that rounding
// gave to vertices near the plane. So there is no tolerance, no special case for planes that nearly coincide, and the
// surface is always closed. (Powell & Abel 2015, "An exact general remeshing scheme", use the same graph.)
//
// A half edge is 4 * vertex + slot, slots 0..2 counter-clockwise seen from inside the solid; twin[h] is the same edge
// from its other end; face[h] is the face on its left, seen from outside.
#ifndef FEM_COLLISION_POLYHEDRON_H
#define FEM_COLLISION_POLYHEDRON_H

#include "base/assert.h"
#include "base/vec.h"

// 128 + 128 planes and a box bound V <= 2 F - 4 = 520. A cut that needs more fails; a tet cut by 128 planes never does.
#define FEM_POLYHEDRON_VERTICES 576
#define FEM_POLYHEDRON_FACES 262

typedef struct FemPolyhedron {
	int32_t vertex_count;
	FemVec3 vertex[FEM_POLYHEDRON_VERTICES]; // m
	float distance[FEM_POLYHEDRON_VERTICES]; // m, to the plane of the last cut
	uint16_t twin[FEM_POLYHEDRON_VERTICES * 4];
	uint16_t face[FEM_POLYHEDRON_VERTICES * 4];
} FemPolyhedron;

// The polyhedron of a small solid, made once and loaded where it is now: a cut begins with it instead of a box that the
// solid's own planes have to cut first.
#define FEM_POLYHEDRON_KEPT 36 // vertices: of 20 planes, 2 * 20 - 4

typedef struct FemPolyhedronGraph {
	uint8_t vertex_count;                 // 0: there is none
	uint8_t vertex[FEM_POLYHEDRON_KEPT];  // which of the solid's vertices; where more than three faces meet, one often
	uint8_t twin[FEM_POLYHEDRON_KEPT][3]; // half edges
	uint8_t face[FEM_POLYHEDRON_KEPT][3]; // planes of the solid
} FemPolyhedronGraph;

typedef struct FemPolyhedronMeasure {
	float volume;                        // m^3
	float surface;                       // m^2
	float reach;                         // m, from vertex 0 to the farthest; sums are exact to about 1e-8 reach^3
	FemVec3 centre;                      // m
	FemVec3 areas[FEM_POLYHEDRON_FACES]; // m^2, outward, by face; 0 = not in the polyhedron
} FemPolyhedronMeasure;

// Corners of positive volume; face i is opposite corner i.
void fem_polyhedron_tet(FemPolyhedron *p, const FemVec4 corners[4]);

// Faces first_face + 2 axis + (1 on the max side).
void fem_polyhedron_box(FemPolyhedron *p, FemVec3 min, FemVec3 max, int32_t first_face);

// What planes enclose, as a graph on the vertices given, each of which is nearer than `same` (m) to where three planes
// meet. False where there is no such graph, or it is too large. Takes as long as an overlap of two such solids.
FEM_MUST_USE bool fem_polyhedron_keep(const FemVec4 *planes, int32_t plane_count, const FemVec3 *vertices,
	int32_t vertex_count, float same, FemPolyhedronGraph *out);
void fem_polyhedron_load(FemPolyhedron *p, const FemPolyhedronGraph *graph, const FemVec4 *vertices);

// Keeps n.x <= w. The cut gets the number `face`. False when nothing is left, or too many vertices.
FEM_MUST_USE bool fem_polyhedron_cut(FemPolyhedron *p, FemVec4 plane, int32_t face);

void fem_polyhedron_measure(const FemPolyhedron *p, int32_t face_count, FemPolyhedronMeasure *out_measure);

#endif
