// How a body's tets are drawn: their outer faces once the body has broken, or each of them, drawn apart, to look at.
//
// The vertices of both meshes follow the nodes as those of the body's own mesh do (surface_arrays.h), so they are made
// anew only when faces open or pieces go.
#ifndef TET_DRAWING_H
#define TET_DRAWING_H

#include "drawing/tet_shape.h"
#include "godot_calls.h"

// Fills an empty mesh of the RenderingServer. now: the nodes of each tet, negative for removed ones.
//
// Surface: with flat faces; those that were outside at rest are one surface, those that opened another. Tells for each
// surface that was made, in order, whether it is one of opened faces, and returns their number, 0 to 2.
int32_t tet_drawing_of_surface(GdRID mesh, TetShape *shape, const int32_t *now, bool out_is_opened[2]);

// Tets: one surface, or none. Tets of a piece have similar colours; pieces may be null.
int32_t tet_drawing_of_tets(GdRID mesh, const TetShape *shape, const int32_t *now, const FemPieceNumber *pieces);

#endif
