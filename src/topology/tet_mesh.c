#include "topology/tet_mesh.h"

#include "base/error.h"
#include "base/mat3.h"
#include "base/memory.h"
#include "fem_constants.h"
#include "fem_destruction.h"

#include <math.h>
#include <string.h>

// Volume / (longest edge)^3 below which a tet has no volume; chosen far below what float corners can give.
#define FLATNESS_MIN 1e-12
#define PLATE_STRENGTH_MAX 1000.0f // of FemMeshDef.tet_plates; 1 is usual, more would only be a slip
#define PLATE_FACTOR_MIN 1e-6      // f never reaches 0: transverse shear must resist, or the plate has floppy modes

static void corner(const FemVec3 *positions, int32_t node, FemVec3 scale, double out[3]) {
	out[0] = (double)positions[node].x * (double)scale.x;
	out[1] = (double)positions[node].y * (double)scale.y;
	out[2] = (double)positions[node].z * (double)scale.z;
}

// Rows are the edges from node 0: the transpose of Du.
static void edge_rows(double corners[4][3], double rows[3][3]) {
	for (int v = 0; v < 3; v++) {
		for (int axis = 0; axis < 3; axis++)
			rows[v][axis] = corners[v + 1][axis] - corners[0][axis];
	}
}

static double edge_length(double corners[4][3], int a, int b) {
	double x = corners[b][0] - corners[a][0], y = corners[b][1] - corners[a][1], z = corners[b][2] - corners[a][2];
	return sqrt(x * x + y * y + z * z);
}

static void edge_lengths(double corners[4][3], double *out_mean, double *out_max) {
	double sum = 0.0, longest = 0.0;
	for (int a = 0; a < 3; a++) {
		for (int b = a + 1; b < 4; b++) {
			double length = edge_length(corners, a, b);
			sum += length;
			longest = length > longest ? length : longest;
		}
	}
	*out_mean = sum / 6.0;
	*out_max = longest;
}

// ---- checks

static bool is_finite(float value) {
	return value - value == 0.0f;
}

static FemResult check_arrays(const FemMeshDef *def) {
	if (!def->node_positions || !def->tets)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The mesh def has no %s: set both node_positions and tets.",
			def->node_positions ? "tets" : "node_positions");
	if (def->node_count < 4 || def->tet_count < 1)
		return fem_fail(FEM_ERROR_MESH, "The mesh has %d nodes and %d tets: it needs at least 4 nodes and 1 tet.",
			def->node_count, def->tet_count);
	if (def->node_count > FEM_NODE_MAX)
		return fem_fail(FEM_ERROR_LIMIT, "The mesh has %d nodes: use at most %d.", def->node_count, FEM_NODE_MAX);
	if (def->tet_count > FEM_TET_MAX)
		return fem_fail(FEM_ERROR_LIMIT, "The mesh has %d tets: use at most %d.", def->tet_count, FEM_TET_MAX);
	if (!is_finite(def->quality_clamp) || def->quality_clamp < 0.0f)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "quality_clamp must be 0 (off) or a positive number; 4 is usual.");
	return FEM_OK;
}

static FemResult check_stretch(const FemMeshDef *def) {
	const float *axes = &def->stretch.x;
	for (int i = 0; i < 3; i++) {
		if (!(axes[i] >= FEM_STRETCH_MIN && axes[i] <= FEM_STRETCH_MAX))
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
				"stretch.%c of the mesh is %g: it must be within %g..%g; 1 is usual.", 'x' + i, (double)axes[i],
				(double)FEM_STRETCH_MIN, (double)FEM_STRETCH_MAX);
	}
	return FEM_OK;
}

static FemResult check_positions(const FemMeshDef *def) {
	for (int32_t i = 0; i < def->node_count; i++) {
		FemVec3 p = def->node_positions[i];
		if (!is_finite(p.x) || !is_finite(p.y) || !is_finite(p.z))
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "Node %d has a position that is not finite: correct it.", i);
		if (fabsf(p.x) > FEM_REST_MAX || fabsf(p.y) > FEM_REST_MAX || fabsf(p.z) > FEM_REST_MAX)
			return fem_fail(FEM_ERROR_MESH,
				"Node %d lies more than %g m from the mesh's origin: move the mesh to its origin.", i,
				(double)FEM_REST_MAX);
	}
	return FEM_OK;
}

static FemResult check_volume(const FemMeshDef *def, int32_t t) {
	double corners[4][3], rows[3][3], mean, longest;
	for (int v = 0; v < 4; v++)
		corner(def->node_positions, def->tets[4 * (size_t)t + (size_t)v], (FemVec3){1.0f, 1.0f, 1.0f}, corners[v]);
	edge_rows(corners, rows);
	edge_lengths(corners, &mean, &longest);
	double volume = fabs(fem_determinant3(rows)) / 6.0;
	if (volume > FLATNESS_MIN * longest * longest * longest)
		return FEM_OK;
	return fem_fail(FEM_ERROR_MESH, "Tet %d has no volume (%g m^3): remove it or move one of its nodes.", t, volume);
}

static FemResult check_tet(const FemMeshDef *def, int32_t t) {
	for (int v = 0; v < 4; v++) {
		int32_t node = def->tets[4 * (size_t)t + (size_t)v];
		if (node < 0 || node >= def->node_count)
			return fem_fail(FEM_ERROR_MESH, "Tet %d names node %d: node indices must be within 0..%d.", t, node,
				def->node_count - 1);
	}
	if (def->tet_regions && (def->tet_regions[t] < 0 || def->tet_regions[t] > 255))
		return fem_fail(
			FEM_ERROR_MESH, "Tet %d is of region %d: regions must be within 0..255.", t, def->tet_regions[t]);
	if (def->tet_plates && !(def->tet_plates[t] >= 0.0f && def->tet_plates[t] <= PLATE_STRENGTH_MAX))
		return fem_fail(FEM_ERROR_MESH, "Tet %d has plate strength %g: use 0 (none) to %g; 1 is usual.", t,
			(double)def->tet_plates[t], (double)PLATE_STRENGTH_MAX);
	return check_volume(def, t);
}

// The nodes of a tet in ascending order.
static void sorted_nodes(const int32_t *tet, int32_t out[4]) {
	memcpy(out, tet, sizeof(int32_t) * 4);
	for (int i = 1; i < 4; i++) {
		for (int j = i; j > 0 && out[j - 1] > out[j]; j--) {
			int32_t node = out[j];
			out[j] = out[j - 1];
			out[j - 1] = node;
		}
	}
}

static uint32_t hash_nodes(const int32_t nodes[4]) {
	uint64_t hash = 0;
	for (int v = 0; v < 4; v++)
		hash = (hash ^ (uint32_t)nodes[v]) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(hash >> 32);
}

static FemResult find_duplicates(const FemMeshDef *def, int32_t *table_plus_1, uint32_t mask) {
	for (int32_t t = 0; t < def->tet_count; t++) {
		int32_t nodes[4], others[4];
		sorted_nodes(def->tets + 4 * (size_t)t, nodes);
		uint32_t at = hash_nodes(nodes) & mask;
		for (; table_plus_1[at]; at = (at + 1) & mask) {
			sorted_nodes(def->tets + 4 * (size_t)(table_plus_1[at] - 1), others);
			if (memcmp(nodes, others, sizeof nodes) == 0)
				return fem_fail(
					FEM_ERROR_MESH, "Tets %d and %d have the same nodes: remove one of them.", table_plus_1[at] - 1, t);
		}
		table_plus_1[at] = t + 1;
	}
	return FEM_OK;
}

static FemResult check_duplicates(const FemMeshDef *def) {
	uint32_t size = 16;
	while (size < 2 * (uint32_t)def->tet_count)
		size *= 2;
	int32_t *table = FEM_ALLOC_ARRAY(int32_t, size);
	if (!table)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to check %d tets.", def->tet_count);
	FemResult result = find_duplicates(def, table, size - 1);
	FEM_FREE_ARRAY(table, size);
	return result;
}

static FemResult check_dangling(const FemMeshDef *def) {
	uint8_t *used = FEM_ALLOC_ARRAY(uint8_t, def->node_count);
	if (!used)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to check %d nodes.", def->node_count);
	for (size_t i = 0; i < 4 * (size_t)def->tet_count; i++)
		used[def->tets[i]] = 1;
	int32_t node = 0;
	while (node < def->node_count && used[node])
		node++;
	FEM_FREE_ARRAY(used, def->node_count);
	if (node == def->node_count)
		return FEM_OK;
	return fem_fail(FEM_ERROR_MESH, "Node %d belongs to no tet: remove it and renumber the others.", node);
}

FemResult fem_tet_mesh_check(const FemMeshDef *def) {
	FemResult result = check_arrays(def);
	if (result == FEM_OK)
		result = check_stretch(def);
	if (result == FEM_OK)
		result = check_positions(def);
	for (int32_t t = 0; result == FEM_OK && t < def->tet_count; t++)
		result = check_tet(def, t);
	if (result == FEM_OK)
		result = check_duplicates(def);
	if (result == FEM_OK)
		result = check_dangling(def);
	return result;
}

// ---- geometry

void fem_tet_orient(const FemVec3 *positions, int32_t tet[4]) {
	double corners[4][3], rows[3][3];
	for (int v = 0; v < 4; v++)
		corner(positions, tet[v], (FemVec3){1.0f, 1.0f, 1.0f}, corners[v]);
	edge_rows(corners, rows);
	if (fem_determinant3(rows) >= 0.0)
		return;
	int32_t third = tet[2];
	tet[2] = tet[3];
	tet[3] = third;
}

bool fem_tet_shape(const FemVec3 *positions, const int32_t tet[4], FemVec3 scale, FemTetShape *out_shape) {
	double rows[3][3], inverse[3][3], longest;
	for (int v = 0; v < 4; v++)
		corner(positions, tet[v], scale, out_shape->corners[v]);
	edge_rows(out_shape->corners, rows);
	edge_lengths(out_shape->corners, &out_shape->mean_edge, &longest);
	out_shape->volume = fem_determinant3(rows) / 6.0;
	if (!(out_shape->volume >= FEM_VOLUME_MIN && longest <= (double)FEM_REST_MAX * 4.0))
		return false;
	if (!fem_invert3(rows, inverse))
		return false;
	// rows = Du^T, so the rows of Du^-1 are the columns of its inverse.
	for (int axis = 0; axis < 3; axis++) {
		out_shape->gradient[0][axis] = 0.0;
		for (int v = 0; v < 3; v++) {
			out_shape->gradient[v + 1][axis] = inverse[axis][v];
			out_shape->gradient[0][axis] -= inverse[axis][v];
		}
	}
	return true;
}

// P&O09 section 3 clamps the singular values of beta itself. A clamped beta has Du beta_c != I (docs/method.md,
// "Slivers"): with a stored rest strain the tet starts unstrained, but Dx beta_c under a rotation differs from R Du
// beta_c's own polar rotation as soon as the sliver deforms, and the sliver resists rotation. Softening the moduli by
// the same factor that the clamp gives to the largest stiffness (it goes with s^2) bounds the stiffness alike and
// leaves rigid motion free.
float fem_tet_softening(const FemTetShape *shape, float quality_clamp) {
	if (quality_clamp <= 0.0f)
		return 1.0f;
	double product[3][3], values[3], vectors[3][3];
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			product[i][j] = 0.0;
			for (int axis = 0; axis < 3; axis++)
				product[i][j] += shape->gradient[i + 1][axis] * shape->gradient[j + 1][axis];
		}
	}
	double s_max = (double)quality_clamp * sqrt(2.0) / shape->mean_edge;
	if (product[0][0] + product[1][1] + product[2][2] <= s_max * s_max)
		return 1.0f; // no eigenvalue is larger than their sum: true of most tets, and cheap
	fem_eigen_symmetric3(product, values, vectors);
	double factor = s_max * s_max / values[2]; // values[2] = s_1^2
	return factor < 1.0 ? (float)factor : 1.0f;
}

static void second_moments(const FemTetShape *shape, double out[3][3]) {
	double centroid[3];
	for (int axis = 0; axis < 3; axis++)
		centroid[axis] = 0.25 *
			(shape->corners[0][axis] + shape->corners[1][axis] + shape->corners[2][axis] + shape->corners[3][axis]);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			out[i][j] = 0.0;
			for (int v = 0; v < 4; v++)
				out[i][j] += (shape->corners[v][i] - centroid[i]) * (shape->corners[v][j] - centroid[j]);
		}
	}
}

FemPlateFrame fem_tet_plate(const FemTetShape *shape, float strength) {
	double moments[3][3], values[3], vectors[3][3];
	FemPlateFrame frame;
	second_moments(shape, moments);
	fem_eigen_symmetric3(moments, values, vectors);
	double a2 = 0.5 * (values[1] + values[2]) / values[0];
	double f = 1.0 / (1.0 + (double)strength * (a2 - 1.0));
	if (!(f >= PLATE_FACTOR_MIN))
		f = PLATE_FACTOR_MIN;
	if (f > 1.0)
		f = 1.0;
	for (int axis = 0; axis < 3; axis++) {
		frame.normal[axis] = (float)vectors[0][axis];
		frame.tangent[axis] = (float)vectors[2][axis];
	}
	frame.softening = (float)(1.0 - f);
	return frame;
}
