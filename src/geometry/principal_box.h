// The tight box round a set of triangles, along the principal axes of the shape.
#ifndef FEM_GEOMETRY_PRINCIPAL_BOX_H
#define FEM_GEOMETRY_PRINCIPAL_BOX_H

#include "geometry/triangle_soup.h"

typedef struct FemPrincipalBox {
	FemUnitFrame frame;     // origin: the box's centre; size: its longest side, m; axes by falling extent
	double half_extents[3]; // in units of frame.size: the first is 0.5
} FemPrincipalBox;

// The smallest box among those with an axis along a principal direction of the surface's normals or of its points,
// rotated about that axis until one side lies on the outline (rotating calipers). groups may be null: all triangles.
FemResult fem_principal_box(const FemTriangles *triangles, const int32_t *groups, int32_t group, FemPrincipalBox *out);

#endif
