// Which pieces of a soup make one body of tets. A part is a set of pieces (triangles joined by welded vertices) that
//   - cross each other (an edge of one passes through a triangle of the other), or
//   - lie one in another (a cavity belongs to its body; so does a solid inside a solid), or
//   - are open and have overlapping boxes (a hole in one piece is closed by another); of more than 64 open pieces all.
// Pieces that only touch without welded vertices stay apart. Above FEM_PIECE_MAX pieces all are one part: a soup.
#ifndef FEM_FILLING_SOUP_PARTS_H
#define FEM_FILLING_SOUP_PARTS_H

#include "geometry/triangle_soup.h"

#define FEM_PIECE_MAX 4096 // pieces a mesh may have; chosen: with more it is no assembly but a soup

// Needs components; orders the triangles anew. closed: [component]. out_groups: [triangle], numbered by their first
// piece.
FemResult fem_soup_parts(FemTriangles *triangles, const uint8_t *closed, int32_t *out_groups, int32_t *out_count);

#endif
