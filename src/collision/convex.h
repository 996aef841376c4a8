// Convex shapes as sets of planes: what fem_overlap() takes. A shape is a small view of planes and vertices that lie in
// storage the caller owns; storage and view must live while the shape is used. Builders are pure and allocate nothing.
//
// Coordinates: everything is float relative to the shape's own origin, which is double and lies at the shape, so that a
// world of 10 km costs no accuracy. Builders return false, and leave a shape without planes that overlaps nothing, for
// NaN, inf, and shapes without volume (a box of zero thickness, a flat tet, points in one plane).
#ifndef FEM_COLLISION_CONVEX_H
#define FEM_COLLISION_CONVEX_H

#include "base/assert.h"
#include "base/vec.h"

#define FEM_CONVEX_VERTICES 64 // most points of a hull: chosen, game hulls have fewer
#define FEM_CONVEX_PLANES 128  // a hull of 64 points has at most 2 * 64 - 4 faces
#define FEM_CONVEX_EXTENT 1e6f // m; larger shapes are refused: at 1e6 a float still tells 6 cm

typedef struct FemConvex {
	FemPosition origin;       // m, world
	FemVec3 box_min, box_max; // m, relative to origin
	const FemVec4 *planes;    // outward unit normal n, offset w in m: inside is n.x <= w
	const FemVec4 *vertices;  // m; none for round shapes
	int32_t plane_count, vertex_count;
	uint32_t exterior[FEM_CONVEX_PLANES / 32]; // bit i: plane i is surface of the body, not a cut through its inside
	const struct FemPolyhedronGraph *graph;    // of its vertices, kept for overlaps; null: its planes alone say
	bool is_tet;                               // 4 vertices of positive volume, plane i opposite vertex i
	bool gives_normal; // of an overlap with a tet in which one of its faces or none has part: a collider's, not a tet
} FemConvex;

static inline bool fem_convex_exterior(const FemConvex *shape, int32_t plane) {
	return shape->exterior[plane >> 5] >> (plane & 31) & 1;
}

typedef struct FemConvexTet {
	FemVec4 planes[4], vertices[4];
} FemConvexTet;

typedef struct FemConvexPrism {
	FemVec4 planes[5], vertices[6];
} FemConvexPrism;

typedef struct FemConvexBox {
	FemVec4 planes[6], vertices[8];
} FemConvexBox;

typedef struct FemConvexStorage {
	FemVec4 planes[FEM_CONVEX_PLANES], vertices[FEM_CONVEX_VERTICES];
} FemConvexStorage;

// Corners in m relative to origin. Bit i of exterior: the face opposite corner i is surface. An inverted tet is taken
// as the solid it covers (corners 2 and 3 change places inside).
bool fem_convex_tet(
	FemPosition origin, const FemVec3 corners[4], uint32_t exterior, FemConvexTet *storage, FemConvex *out_shape);

bool fem_convex_box(
	FemPosition centre, FemQuat rotation, FemVec3 half_extents, FemConvexBox *storage, FemConvex *out_shape);

// What a triangle sweeps along `extrusion` (m). Only the triangle itself is exterior; its normal points away from the
// extrusion, whatever the order of its corners.
bool fem_convex_prism(
	FemPosition origin, const FemVec3 corners[3], FemVec3 extrusion, FemConvexPrism *storage, FemConvex *out_shape);

// The prism of `thickness` (m) behind a static triangle, which is seen counter-clockwise from outside.
bool fem_convex_triangle(
	FemPosition origin, const FemVec3 corners[3], float thickness, FemConvexPrism *storage, FemConvex *out_shape);

// A height-field cell: corners in the order (0,0) (1,0) (1,1) (0,1), cut along corner 0-2, or 1-3 if `flip`. Two
// prisms; returns how many have volume (bits 0 and 1).
uint32_t fem_convex_cell(FemPosition origin, const FemVec3 corners[4], FemVec3 extrusion, bool flip,
	FemConvexPrism storage[2], FemConvex out_shapes[2]);

// Hull of 4 to 64 points. Tries every triple of points as a face, O(n^4) but exact about coplanar and double points: at
// creation only, some ms for 64 points. Points in a layer of 1e-5 of the size count as coplanar.
FEM_MUST_USE bool fem_convex_hull(
	const FemVec3 *points, int32_t count, FemConvexStorage *storage, FemConvex *out_shape);

// A hull made once at the origin, moved to where it is now.
bool fem_convex_place(
	const FemConvex *local, FemPosition position, FemQuat rotation, FemConvexStorage *storage, FemConvex *out_shape);

// ---- round shapes
// Approximated for one tet (convex_round.c): tangent planes where the shape can meet this tet, the first at the deepest
// place, so that depth and normal there are exact. False also when the shape and the tet do not meet.
// Error of the overlap, measured (tests): volume and area of a cap 5 %, of a whole sphere inside the tet 6 %.

bool fem_convex_sphere(
	FemPosition centre, float radius, const FemConvex *tet, FemConvexStorage *storage, FemConvex *out_shape);

// Radius about the segment ends[0]-ends[1].
bool fem_convex_capsule(
	const FemPosition ends[2], float radius, const FemConvex *tet, FemConvexStorage *storage, FemConvex *out_shape);

// How far a sphere or capsule is from the tet at least, m; 0 when they may meet.
float fem_convex_round_gap(const FemPosition ends[2], float radius, const FemConvex *tet);

// Flat ends at ends[0] and ends[1]. Error of the cross-section: 1.5 %.
bool fem_convex_cylinder(
	const FemPosition ends[2], float radius, const FemConvex *tet, FemConvexStorage *storage, FemConvex *out_shape);

#endif
