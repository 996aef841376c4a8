// Which surface components of a soup (triangles joined by welded vertices) are filled together. A member is what is
// filled as one connected solid, such as a beam or a plate: a set of components that
//   - cross each other (an edge of one passes through a triangle of the other), or
//   - lie one in another (a cavity belongs to its body; so does a solid inside a solid), or
//   - are open and have overlapping boxes (a hole in one component is closed by another), or are open at all where
//     there are more than 64 open components.
// Components that only touch without welded vertices stay apart. Above FEM_SOUP_COMPONENT_MAX components all are one
// member: a soup.
#ifndef FEM_FILLING_SOUP_MEMBERS_H
#define FEM_FILLING_SOUP_MEMBERS_H

#include "geometry/triangle_soup.h"

#define FEM_SOUP_COMPONENT_MAX 4096 // components a mesh may have; chosen: with more it is no assembly but a soup

// Needs components; orders the triangles anew. closed: [component]. out_groups: [triangle], numbered by their first
// component.
FemResult fem_soup_members(FemTriangles *triangles, const uint8_t *closed, int32_t *out_groups, int32_t *out_count);

#endif
