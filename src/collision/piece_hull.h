// A convex part of a small rigid piece, as the planes of its faces.
//
// Two bricks that lie on each other meet in dozens of tets, each with an overlap of its own; as two solids of six
// planes they have one, with up to four points at its corners. That holds a rigid piece as well, which has six
// unknowns, at a fifth of the cost. A piece that is not convex is several such parts (collision/piece_parts.h).
//
// Planes are found once, of the shape that the piece has while it is rigid; where they are now follows from its nodes.
#ifndef FEM_COLLISION_PIECE_HULL_H
#define FEM_COLLISION_PIECE_HULL_H

#include "collision/convex.h"
#include "collision/polyhedron.h"
#include "model/body.h"

// Chosen: a box has 6 and 8. An overlap costs about as much as its planes, and bodies keep room for so many.
#define FEM_PIECE_HULL_PLANES 20
#define FEM_PIECE_HULL_VERTICES 36 // of so many planes, at three a vertex: 2 * 20 - 4

// Nodes are counted from the first of the piece.
typedef struct FemPieceHull {
	uint8_t plane_count, vertex_count;
	int32_t tet;       // the largest of the part, for which its contacts stand
	uint32_t exterior; // bit p: plane p is surface of the piece, and not only where it meets another part
	uint16_t planes[FEM_PIECE_HULL_PLANES][4]; // three nodes of it, counter-clockwise from outside, one farthest out
	uint16_t vertices[FEM_PIECE_HULL_VERTICES];
	FemPolyhedronGraph graph;
} FemPieceHull;

_Static_assert(FEM_PIECE_HULL_PLANES <= 32, "bits of FemPieceHull.exterior");

// A triangle of a part's surface, and whether it is surface of the piece.
typedef struct FemHullFace {
	int32_t nodes[3]; // of the body, counter-clockwise from outside
	bool is_exterior;
} FemHullFace;

// Finds the hull of what closed triangles enclose, of the shape of a rigid piece (FemBody.shape). `has_node` says which
// nodes of the piece it has, from the first on; null: all. False where it is not convex, or has too many planes.
FEM_MUST_USE bool fem_piece_hull_find(const FemBody *body, int32_t component, const FemHullFace *faces,
	int32_t face_count, const bool *has_node, FemPieceHull *out);

// Makes its graph, for cheaper overlaps; there may be none.
void fem_piece_hull_keep_graph(const FemBody *body, int32_t component, FemPieceHull *hull);

// Where the part is now, relative to the body's origin. `storage` has room for its planes and, after them, its
// vertices. False when it is not finite, or has no volume.
bool fem_piece_hull_shape(
	const FemBody *body, int32_t component, const FemPieceHull *hull, FemVec4 *storage, FemConvex *out_shape);

static inline int32_t fem_piece_hull_vectors(const FemPieceHull *hull) {
	return hull->plane_count + hull->vertex_count;
}

// Whether parts of two pieces of a body that broke have an edge or a corner of its mesh in common, and no face, and the
// copies of that are still near each other: they graze, and what lies between them holds both.
bool fem_piece_hulls_graze(
	const FemBody *body, int32_t component, const FemPieceHull *hull, int32_t other, const FemPieceHull *other_hull);

#endif
