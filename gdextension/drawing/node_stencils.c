#include "drawing/node_stencils.h"

#include "drawing/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// By how much neighbouring tets may be rotated against each other before normals are smoothed (rad): about half a
// degree.
#define BENT_ANGLE 0.01f

// ---- making

// The tets of each node in a row: begins[node] to begins[node + 1].
static bool list_tets(const int32_t *now, int32_t tet_count, int32_t node_count, int32_t *begins, int32_t *tets) {
	memset(begins, 0, (size_t)(node_count + 1) * sizeof(int32_t));
	for (int32_t i = 0; i < 4 * tet_count; i++) {
		if (now[i] >= node_count) {
			return false;
		}
		if (now[i] >= 0) {
			begins[now[i] + 1]++;
		}
	}
	for (int32_t n = 0; n < node_count; n++) {
		begins[n + 1] += begins[n];
	}
	int32_t total = begins[node_count];
	for (int32_t i = 4 * tet_count - 1; i >= 0; i--) {
		if (now[i] >= 0) {
			tets[--begins[now[i] + 1]] = i / 4;
		}
	}
	memmove(begins, begins + 1, (size_t)node_count * sizeof(int32_t)); // each was left at its begin
	begins[node_count] = total;
	return true;
}

static FemVec3 toward(FemVec3 offset) {
	float length = sqrtf(vector_dot(offset, offset)), inv = length > 0.0f ? 1.0f / length : 0.0f;
	return (FemVec3){offset.x * inv, offset.y * inv, offset.z * inv};
}

// A neighbour and the vector to it at rest.
typedef struct Neighbor {
	int32_t node;
	FemVec3 offset; // m
	FemVec3 toward; // the same of length 1
	float nearest;  // largest cosine to a chosen one
} Neighbor;

enum { NEIGHBORS_MAX = 64 }; // of a node that are looked at; chosen: a regular mesh has 14

// Of the tets around a node. is_seen is all false before and after.
static int32_t list_neighbors(const TetShape *shape, const int32_t *now, const int32_t *tets, int32_t tet_count,
	int32_t node, bool *is_seen, Neighbor out[NEIGHBORS_MAX]) {
	int32_t count = 0;
	for (int32_t i = 0; i < tet_count; i++) {
		const int32_t *nodes = &now[4 * (size_t)tets[i]], *rest = &shape->tets[4 * (size_t)tets[i]];
		int own = nodes[0] == node ? 0 : nodes[1] == node ? 1 : nodes[2] == node ? 2 : 3;
		for (int k = 0; k < 4; k++) {
			if (k != own && !is_seen[nodes[k]] && count < NEIGHBORS_MAX) {
				is_seen[nodes[k]] = true;
				FemVec3 offset = vector_subtract(shape->nodes[rest[k]], shape->nodes[rest[own]]);
				out[count++] = (Neighbor){nodes[k], offset, toward(offset), -2.0f};
			}
		}
	}
	for (int32_t i = 0; i < count; i++) {
		is_seen[out[i].node] = false;
	}
	return count;
}

static void swap(Neighbor *a, Neighbor *b) {
	Neighbor t = *a;
	*a = *b;
	*b = t;
}

// Length, area or volume that a vector spans with those of the first `chosen` neighbours, 0 to 2 of them.
static float spread(const Neighbor *list, int32_t chosen, FemVec3 offset) {
	FemVec3 plane = chosen == 0 ? offset : vector_cross(list[0].offset, chosen == 1 ? offset : list[1].offset);
	return chosen < 2 ? vector_dot(plane, plane) : fabsf(vector_dot(plane, offset));
}

// Puts those to be used first: three that span space best, then those that point where none does yet.
static int32_t choose(Neighbor *list, int32_t count) {
	int32_t chosen = count < STENCIL_SIZE ? count : STENCIL_SIZE;
	for (int32_t n = 0; n < chosen; n++) {
		int32_t best = n;
		float best_score = -1e30f;
		for (int32_t i = n; i < count; i++) {
			float score = n > 2 ? -list[i].nearest : spread(list, n, list[i].offset);
			if (score > best_score) {
				best = i;
				best_score = score;
			}
		}
		swap(&list[n], &list[best]);
		for (int32_t i = n + 1; i < count; i++) {
			float cosine = vector_dot(list[i].toward, list[n].toward);
			list[i].nearest = cosine > list[i].nearest ? cosine : list[i].nearest;
		}
	}
	return chosen;
}

// Least squares with weights 1 / distance^2: g_j = w_j A^-1 d_j with A = sum w_j d_j d_j^T. In double: thin bodies.
static void write_stencil(const Neighbor *list, int32_t count, float *texels) {
	double a[6] = {0}, weights[STENCIL_SIZE]; // xx yy zz xy yz zx
	for (int32_t i = 0; i < count; i++) {
		double x = (double)list[i].offset.x, y = (double)list[i].offset.y, z = (double)list[i].offset.z,
			   d = x * x + y * y + z * z;
		double w = weights[i] = d > 0.0 ? 1.0 / d : 0.0;
		a[0] += w * x * x, a[1] += w * y * y, a[2] += w * z * z;
		a[3] += w * x * y, a[4] += w * y * z, a[5] += w * z * x;
	}
	double c0 = a[1] * a[2] - a[4] * a[4], c3 = a[4] * a[5] - a[3] * a[2], c5 = a[3] * a[4] - a[1] * a[5];
	double det = a[0] * c0 + a[3] * c3 + a[5] * c5;
	double c1 = a[0] * a[2] - a[5] * a[5], c2 = a[0] * a[1] - a[3] * a[3], c4 = a[3] * a[5] - a[0] * a[4];
	for (int32_t i = 0; i < count; i++) {
		double x = (double)list[i].offset.x, y = (double)list[i].offset.y, z = (double)list[i].offset.z;
		double w = det > 1e-12 ? weights[i] / det : 0.0;
		float *texel = &texels[4 * i];
		texel[0] = (float)(w * (c0 * x + c3 * y + c5 * z));
		texel[1] = (float)(w * (c3 * x + c1 * y + c4 * z));
		texel[2] = (float)(w * (c5 * x + c4 * y + c2 * z));
		texel[3] = (float)list[i].node;
	}
}

static bool make_all(
	const TetShape *shape, const int32_t *now, int32_t node_count, int32_t *scratch, bool *is_seen, float *texels) {
	int32_t *begins = scratch, *tets = scratch + node_count + 1;
	if (!list_tets(now, shape->tet_count, node_count, begins, tets)) {
		return false;
	}
	for (int32_t n = 0; n < node_count; n++) {
		Neighbor list[NEIGHBORS_MAX];
		int32_t count = list_neighbors(shape, now, &tets[begins[n]], begins[n + 1] - begins[n], n, is_seen, list);
		write_stencil(list, choose(list, count), &texels[(size_t)n * STENCIL_SIZE * 4]);
	}
	return true;
}

float *node_stencils_make(const TetShape *shape, const int32_t *now, int32_t node_count) {
	size_t nodes = (size_t)node_count;
	float *texels = calloc(nodes * STENCIL_SIZE * 4, sizeof(float));
	int32_t *scratch = malloc((nodes + 1 + 4 * (size_t)shape->tet_count) * sizeof(int32_t));
	bool *is_seen = calloc(nodes + 1, sizeof(bool));
	if (!texels || !scratch || !is_seen || !make_all(shape, now, node_count, scratch, is_seen, texels)) {
		free(texels);
		texels = NULL;
	}
	free(scratch);
	free(is_seen);
	return texels;
}

// ---- sampling

static FemVec3 position_of(const float *positions, int32_t node) {
	const float *p = &positions[4 * (size_t)node];
	return (FemVec3){p[0], p[1], p[2]};
}

// By the change of its six edges, which is the strain along each of them. Flat tets bend more at the same strain.
static bool is_bent(const TetShape *shape, int32_t tet, const int32_t *nodes, const float *positions) {
	const int32_t *rest = &shape->tets[4 * (size_t)tet];
	for (int i = 0; i < 4; i++) {
		for (int k = i + 1; k < 4; k++) {
			FemVec3 now = vector_subtract(position_of(positions, nodes[k]), position_of(positions, nodes[i]));
			FemVec3 then = vector_scaled(vector_subtract(shape->nodes[rest[k]], shape->nodes[rest[i]]), shape->scale);
			float before = vector_dot(then, then);
			if (fabsf(vector_dot(now, now) - before) > 2.0f * BENT_ANGLE / shape->flatness * before) {
				return true;
			}
		}
	}
	return false;
}

bool node_stencils_are_needed(const TetShape *shape, const int32_t *now, const float *positions, int32_t node_count,
	int32_t first, int32_t count) {
	for (int32_t i = 0; i < count && shape->tet_count > 0; i++) {
		int32_t tet = (int32_t)(((int64_t)first + i) % shape->tet_count);
		const int32_t *nodes = &now[4 * (size_t)tet];
		bool is_there = true;
		for (int k = 0; k < 4; k++) {
			is_there = is_there && nodes[k] >= 0 && nodes[k] < node_count;
		}
		if (is_there && is_bent(shape, tet, nodes, positions)) {
			return true;
		}
	}
	return false;
}
