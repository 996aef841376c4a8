// The faces of a tet mesh: those that belong to one tet alone are its surface, the others join two.
#ifndef FEM_TOPOLOGY_SURFACE_H
#define FEM_TOPOLOGY_SURFACE_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The corners of the face opposite each local node, counter-clockwise from outside for a tet of positive volume.
extern const int32_t fem_face_corners[4][3];

typedef struct FemSurface {
	int32_t count;
	int32_t *faces;  // tet * 4 + opposite local node, ordered by the face's nodes (inside numbers)
	int32_t *across; // [tet * 4 + opposite local node]: the same of the other tet, -1 for none; of three the first two
	size_t bytes;    // of the block that holds both
} FemSurface;

FEM_MUST_USE bool fem_surface_create(
	FemSurface *surface, const int32_t *node_of_user, int32_t node_count, const int32_t *tets, int32_t tet_count);
void fem_surface_free(FemSurface *surface);

#endif
