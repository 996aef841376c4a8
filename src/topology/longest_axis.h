// The direction in which a solid is longest, from the second moments of its volume.
#ifndef FEM_TOPOLOGY_LONGEST_AXIS_H
#define FEM_TOPOLOGY_LONGEST_AXIS_H

#include "fem_destruction.h"

// Integrals of products of coordinates from the centre of mass, over the volume: xx yy zz xy yz zx, m^5.
typedef struct FemVolumeMoments {
	double products[6];
} FemVolumeMoments;

FemVolumeMoments fem_volume_moments(const FemVec3 *nodes, const int32_t *tets, int32_t tet_count);

// Unit, in the unscaled axes' directions. Of a shape that is as long in several directions (a cube, a square plate, a
// disk) the one of these that is nearest to x, else to y, else to z.
FemVec3 fem_longest_axis(const FemVolumeMoments *moments, FemVec3 scale);

#endif
