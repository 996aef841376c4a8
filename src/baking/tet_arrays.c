#include "baking/tet_arrays.h"

#include "baking/stretch.h"
#include "base/error.h"
#include "base/mat3.h"
#include "base/memory.h"
#include "topology/tet_mesh.h"

#include <stdio.h>

void fem_tet_arrays_free(FemTetArrays *arrays) {
	FEM_FREE_ARRAY(arrays->nodes, arrays->node_count);
	FEM_FREE_ARRAY(arrays->tets, 4 * (size_t)arrays->tet_count);
	FEM_FREE_ARRAY(arrays->tet_regions, arrays->tet_count);
	FEM_FREE_ARRAY(arrays->tet_plates, arrays->tet_count);
	*arrays = (FemTetArrays){0};
}

static double volume6(const FemTetArrays *arrays, const int32_t *tet) {
	double edges[3][3];
	for (int i = 0; i < 3; i++) {
		edges[i][0] = (double)arrays->nodes[tet[i + 1]].x - (double)arrays->nodes[tet[0]].x;
		edges[i][1] = (double)arrays->nodes[tet[i + 1]].y - (double)arrays->nodes[tet[0]].y;
		edges[i][2] = (double)arrays->nodes[tet[i + 1]].z - (double)arrays->nodes[tet[0]].z;
	}
	return fem_determinant3(edges);
}

FemResult fem_tet_arrays_check(const FemTetArrays *arrays, const char *name) {
	char sentence[190];
	FemMeshDef def = {.node_count = arrays->node_count,
		.node_positions = arrays->nodes,
		.tet_count = arrays->tet_count,
		.tets = arrays->tets,
		.tet_regions = arrays->tet_regions,
		.tet_plates = arrays->tet_plates,
		.stretch = fem_stretch_or_one(arrays->stretch)};
	FemResult result = fem_tet_mesh_check(&def);
	if (result != FEM_OK) {
		snprintf(sentence, sizeof sentence, "%s", fem_last_error());
		return fem_fail(result, "%.60s: %s", name, sentence);
	}
	for (int32_t t = 0; t < arrays->tet_count; t++) {
		if (!(volume6(arrays, arrays->tets + 4 * (size_t)t) > 0.0))
			return fem_fail(FEM_ERROR_MESH,
				"%.60s: tet %d is turned inside out: swap two of its nodes or bake the mesh again.", name, t);
	}
	return FEM_OK;
}
