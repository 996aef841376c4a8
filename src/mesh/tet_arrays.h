// A plain tet mesh, as files hold it: imported or baked.
#ifndef FEM_MESH_TET_ARRAYS_H
#define FEM_MESH_TET_ARRAYS_H

#include "fem_types.h"

typedef struct FemTetArrays {
	int32_t node_count, tet_count;
	FemVec3 *nodes;       // m
	int32_t *tets;        // 4 nodes a tet, positive volume
	int32_t *tet_regions; // 0..255, or null for all 0
	float
		*tet_plates; // plate correction strength of each tet, or null for none; where there is any, set quality_clamp 0
} FemTetArrays;

void fem_tet_arrays_free(FemTetArrays *arrays);

// FEM_OK, or the first fault of the mesh, `name` before its sentence. Tets turned inside out are faults too.
FemResult fem_tet_arrays_check(const FemTetArrays *arrays, const char *name);

#endif
