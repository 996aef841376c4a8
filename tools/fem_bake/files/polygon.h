// Polygons cut into triangles.
#ifndef FEM_BAKE_POLYGON_H
#define FEM_BAKE_POLYGON_H

#include "fem_basics.h"

#define FEM_POLYGON_EARS_MAX 128 // corners; ears are searched in the square of them, larger polygons become fans

// 3 corner numbers for each of the count - 2 triangles, oriented as the polygon is. Concave polygons are cut along
// inner diagonals (ear clipping in the plane of their area vector); what crosses itself or is flat becomes a fan.
void fem_polygon_triangulate(const FemVec3 *corners, int32_t count, int32_t *out_triangles);

#endif
