#include "modes/rigid_motions.h"

#include "base/memory.h"
#include "modes/symmetric_eigen.h"

#include <math.h>
#include <string.h>

#define SIDES FEM_SOLVE_SIDES // vectors of a block
#define HELD_SHARE 1e-9       // of a motion's mean square at the pins, above which they hold it; rounding is 1e-14

// A component and what its nodes come to.
typedef struct Component {
	int32_t node_count, pinned_count;
	double mass;
	double center[3];   // m
	double size;        // m, root of the mean square distance from the centre
	double motions[36]; // rows: combinations of three translations and three rotations (per size)
	int32_t motion_count;
} Component;

static void displacement(const Component *c, const double *motion, FemVec3 p, double out[3]) {
	double r[3] = {(double)p.x - c->center[0], (double)p.y - c->center[1], (double)p.z - c->center[2]};
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3, k = (i + 2) % 3;
		out[i] = motion[i] + (motion[3 + j] * r[k] - motion[3 + k] * r[j]) / c->size;
	}
}

// [component number of the lowest node]: masses, centres, sizes.
static void measure(Component *components, const FemModeMatrix *m, const FemVec3 *positions) {
	for (int32_t i = 0; i < m->user_count; i++) {
		Component *c = &components[m->component[i]];
		const double p[3] = {(double)positions[i].x, (double)positions[i].y, (double)positions[i].z};
		c->node_count++;
		c->pinned_count += m->free_of_user[i] < 0;
		c->mass += m->mass[i];
		for (int k = 0; k < 3; k++)
			c->center[k] += m->mass[i] * p[k];
	}
	for (int32_t i = 0; i < m->user_count; i++) {
		for (int k = 0; components[i].mass > 0.0 && k < 3; k++)
			components[i].center[k] /= components[i].mass;
	}
	for (int32_t i = 0; i < m->user_count; i++) {
		Component *c = &components[m->component[i]];
		double x = (double)positions[i].x - c->center[0], y = (double)positions[i].y - c->center[1],
			   z = (double)positions[i].z - c->center[2];
		c->size += (x * x + y * y + z * z) / c->node_count;
	}
	for (int32_t i = 0; i < m->user_count; i++)
		components[i].size = components[i].size > 0.0 ? sqrt(components[i].size) : 1.0;
}

// The motions that leave the pins where they are: the null space of the sum of B^T B over pinned nodes.
static void find_free_motions(
	Component *c, int32_t root, const FemModeMatrix *m, const FemVec3 *positions, double gram[36]) {
	double values[6], scratch[18];
	memset(gram, 0, sizeof(double[36]));
	for (int32_t i = 0; i < m->user_count && c->pinned_count > 0; i++) {
		double columns[6][3];
		if (m->component[i] != root || m->free_of_user[i] >= 0)
			continue;
		for (int k = 0; k < 6; k++) {
			double unit[6] = {0.0};
			unit[k] = 1.0;
			displacement(c, unit, positions[i], columns[k]);
		}
		for (int k = 0; k < 36; k++) {
			for (int axis = 0; axis < 3; axis++)
				gram[k] += columns[k / 6][axis] * columns[k % 6][axis];
		}
	}
	if (!fem_symmetric_eigen(gram, 6, values, scratch))
		return;
	while (c->motion_count < 6 && values[c->motion_count] <= HELD_SHARE * c->pinned_count)
		c->motion_count++;
	memcpy(c->motions, gram, sizeof c->motions);
}

static double *entry(const FemRigidMotions *out, int32_t k, int32_t unknown) {
	return &out->vectors[(size_t)(k / SIDES) * (size_t)out->unknown_count + (size_t)unknown][k % SIDES];
}

// Appends one motion of a component, orthonormal to those before it; a motion that moves nothing is left out.
static void append(FemRigidMotions *out, const FemModeMatrix *m, const FemVec3 *positions, const Component *c,
	int32_t root, int motion, int32_t first) {
	int32_t k = out->count;
	for (int32_t i = 0; i < m->node_count; i++) {
		double d[3] = {0.0, 0.0, 0.0};
		int32_t user = m->user_of_free[i];
		if (m->component[user] == root)
			displacement(c, c->motions + (size_t)(6 * motion), positions[user], d);
		for (int axis = 0; axis < 3; axis++)
			*entry(out, k, 3 * i + axis) = m->root_mass[i] * d[axis];
	}
	double before = 0.0, after = 0.0;
	for (int32_t u = 0; u < out->unknown_count; u++)
		before += *entry(out, k, u) * *entry(out, k, u);
	for (int32_t pass = 0; pass < 2; pass++) {
		for (int32_t j = first; j < k; j++) {
			double dot = 0.0;
			for (int32_t u = 0; u < out->unknown_count; u++)
				dot += *entry(out, j, u) * *entry(out, k, u);
			for (int32_t u = 0; u < out->unknown_count; u++)
				*entry(out, k, u) -= dot * *entry(out, j, u);
		}
	}
	for (int32_t u = 0; u < out->unknown_count; u++)
		after += *entry(out, k, u) * *entry(out, k, u);
	bool counts = after > HELD_SHARE * before && after > 0.0;
	for (int32_t u = 0; u < out->unknown_count; u++)
		*entry(out, k, u) *= counts ? 1.0 / sqrt(after) : 0.0;
	out->count += counts;
}

bool fem_rigid_motions_find(FemRigidMotions *motions, const FemModeMatrix *matrix, const FemVec3 *node_positions) {
	*motions = (FemRigidMotions){.unknown_count = 3 * matrix->node_count};
	Component *components = FEM_ALLOC_ARRAY(Component, matrix->user_count);
	if (!components)
		return false;
	measure(components, matrix, node_positions);
	int64_t count = 0;
	for (int32_t i = 0; i < matrix->user_count; i++) {
		double gram[36];
		if (components[i].node_count > 0)
			find_free_motions(&components[i], i, matrix, node_positions, gram);
		count += components[i].motion_count;
	}
	motions->block_count = (int32_t)((count + SIDES) / SIDES);
	motions->vectors =
		fem_alloc(sizeof *motions->vectors * (size_t)motions->block_count * ((size_t)motions->unknown_count + 1));
	for (int32_t i = 0; motions->vectors && i < matrix->user_count; i++) {
		int32_t first = motions->count;
		for (int k = 0; k < components[i].motion_count; k++)
			append(motions, matrix, node_positions, &components[i], i, k, first);
	}
	FEM_FREE_ARRAY(components, matrix->user_count);
	return motions->vectors != NULL;
}

void fem_rigid_motions_free(FemRigidMotions *motions) {
	FEM_FREE_ARRAY(motions->vectors, (size_t)motions->block_count * ((size_t)motions->unknown_count + 1));
	*motions = (FemRigidMotions){0};
}
