// From a rest shape to its modes.
#include "base/error.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "base/vec.h"
#include "fem_modes.h"
#include "geometry/mode_data.h"
#include "modes/lanczos.h"
#include "modes/rigid_motions.h"
#include "topology/surface.h"
#include "topology/tet_mesh.h"

#include <math.h>

// Of the largest diagonal entry: eigenvalues below are those of hinges and other mechanisms, and count as rigid.
// Rounding leaves some 1e-15, the lowest mode of a sheet of a thousandth of its width has 1e-12.
#define ZERO_SHARE 1e-13

FemModesDef fem_default_modes_def(void) {
	return (FemModesDef){.mode_count = 60, .frequency_max = 20000.0f};
}

// ---- radiation

// Area times outward normal of an outer face.
static FemVec3d face_area(const FemModesDef *def, const int32_t *nodes) {
	FemVec3d p[3];
	for (int v = 0; v < 3; v++)
		p[v] = fem_vec3d_from(def->node_positions[nodes[v]]);
	return fem_vec3d_scale(fem_vec3d_cross(fem_vec3d_sub(p[1], p[0]), fem_vec3d_sub(p[2], p[0])), 0.5);
}

static bool find_radiation(FemModes *modes, const FemModesDef *def) {
	FemSurface surface = {0};
	int32_t *same = FEM_ALLOC_ARRAY(int32_t, def->node_count);
	for (int32_t i = 0; same && i < def->node_count; i++)
		same[i] = i;
	bool good = same && fem_surface_create(&surface, same, def->node_count, def->tets, def->tet_count);
	for (int32_t f = 0; good && f < surface.count; f++) {
		const int32_t *tet = def->tets + 4 * (size_t)(surface.faces[f] / 4),
					  *corners = fem_face_corners[surface.faces[f] % 4];
		int32_t nodes[3] = {tet[corners[0]], tet[corners[1]], tet[corners[2]]};
		FemVec3d area = face_area(def, nodes);
		for (int32_t k = 0; k < modes->mode_count; k++) {
			double flow = 0.0;
			for (int v = 0; v < 3; v++) {
				const float *w = fem_mode_shape(modes, k, nodes[v]);
				flow += ((double)w[0] * area.x + (double)w[1] * area.y + (double)w[2] * area.z) / 3.0;
			}
			modes->radiation[k] += (float)(fabs(flow) * sqrt(modes->eigenvalues[k]));
		}
	}
	fem_surface_free(&surface);
	FEM_FREE_ARRAY(same, def->node_count);
	return good;
}

// ---- computing

static FemResult fail_found(FemResult result) {
	switch (result) {
	case FEM_ERROR_LIMIT: return fem_fail_stopped();
	case FEM_ERROR_MEMORY:
		return fem_fail(
			FEM_ERROR_MEMORY, "The system gave no memory for modes: close other programs, or ask for fewer.");
	default: return fem_fail(FEM_ERROR_MESH, "No modes can be found of this mesh: bake it again with other elements.");
	}
}

static bool take_pairs(FemModes *out, const FemEigenpairs *pairs, const FemModeMatrix *matrix, const FemModesDef *def) {
	double zero = ZERO_SHARE * matrix->largest, limit = (double)def->frequency_max * FEM_CIRCLE;
	int32_t first = 0, end;
	while (first < pairs->count && !(pairs->values[first] > zero))
		first++;
	for (end = first; end < pairs->count; end++) {
		if (limit > 0.0 && pairs->values[end] > limit * limit)
			break;
	}
	if (!fem_modes_reserve(out, def->node_count, end - first))
		return false;
	out->rigid_count = first;
	out->material = def->materials[0];
	for (int32_t k = first; k < end; k++) {
		out->eigenvalues[k - first] = pairs->values[k];
		for (int32_t u = 0; u < pairs->unknown_count; u++) {
			int32_t node = u / 3;
			fem_mode_shape(out, k - first, matrix->user_of_free[node])[u % 3] =
				(float)(fem_eigenvector_entry(pairs, k, u) / matrix->root_mass[node]);
		}
	}
	return true;
}

static FemResult find_modes(const FemModesDef *def, const FemModeMatrix *matrix, FemModes *out) {
	double omega = (double)def->frequency_max * FEM_CIRCLE;
	FemRigidMotions rigid = {0};
	FemEigenpairs pairs = {0};
	FemResult result = fem_rigid_motions_find(&rigid, matrix, def->node_positions) ? FEM_OK : FEM_ERROR_MEMORY;
	if (result == FEM_OK) {
		FemEigenGoal goal = {.count = def->mode_count,
			.value_max = omega > 0.0 ? omega * omega : INFINITY,
			.rigid_count = rigid.count,
			.rigid = rigid.vectors,
			.progress = def->progress,
			.progress_context = def->progress_context};
		result = fem_eigenpairs_find(matrix, &goal, &pairs);
	}
	if (result == FEM_OK && (!take_pairs(out, &pairs, matrix, def) || !find_radiation(out, def)))
		result = FEM_ERROR_MEMORY;
	out->rigid_count += rigid.count;
	fem_eigenpairs_free(&pairs);
	fem_rigid_motions_free(&rigid);
	return result == FEM_OK ? FEM_OK : fail_found(result);
}

static bool still_goes_on(void *context) {
	const FemModesDef *def = context;
	return !def->progress || def->progress(def->progress_context, 0.05f);
}

FemResult fem_modes_compute(const FemModesDef *def, FemModes *out) {
	FemModeMatrix matrix;
	FemStopCheck check;
	if (!out)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "Modes need a place to be put: pass out.");
	*out = (FemModes){0};
	FemResult result = fem_modes_check(def);
	if (result == FEM_OK)
		result = fem_mode_matrix_create(&matrix, def);
	if (result != FEM_OK)
		return result;
	FemModesDef copy = *def;
	fem_stop_check_begin(&check, still_goes_on, &copy);
	if (matrix.node_count > 0)
		result = find_modes(def, &matrix, out);
	else if (!fem_modes_reserve(out, def->node_count, 0))
		result = fail_found(FEM_ERROR_MEMORY);
	fem_stop_check_end(&check);
	fem_mode_matrix_free(&matrix);
	if (result != FEM_OK)
		fem_modes_free(out);
	else
		out->material = def->materials[0];
	return result;
}
