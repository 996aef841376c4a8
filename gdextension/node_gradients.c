#include "node_gradients.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Green strain from which on bodies get smooth normals. A plate ten times as long as thick per tet then bends by 2 degrees
// a tet, which is just seen in a highlight; stiff debris stays far below.
#define BENT_STRAIN 0.002f

typedef float Float4 __attribute__((vector_size(16)));

static FemVec3 subtract(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static FemVec3 cross(FemVec3 a, FemVec3 b) {
	return (FemVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static float dot(FemVec3 a, FemVec3 b) {
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

void node_gradients_free(NodeGradients *gradients) {
	free(gradients->begins);
	free(gradients->terms);
	*gradients = (NodeGradients){0};
}

// ------------------------------------------------------------------------------------------------------------- building

// 6 V times the gradients of the four shape functions, and 6 V: the weight that a tet's mean has. Zero for flat tets.
static float shape_gradients(const TetShape *shape, int32_t tet, FemVec3 out[4]) {
	const int32_t *nodes = &shape->tets[4 * (size_t)tet];
	FemVec3 a = shape->nodes[nodes[0]], e1 = subtract(shape->nodes[nodes[1]], a),
			e2 = subtract(shape->nodes[nodes[2]], a), e3 = subtract(shape->nodes[nodes[3]], a);
	out[1] = cross(e2, e3);
	out[2] = cross(e3, e1);
	out[3] = cross(e1, e2);
	out[0] =
		(FemVec3){-out[1].x - out[2].x - out[3].x, -out[1].y - out[2].y - out[3].y, -out[1].z - out[2].z - out[3].z};
	float det = dot(e1, out[1]), sign = det < 0.0f ? -1.0f : 1.0f;
	for (int k = 0; k < 4; k++) {
		out[k] = (FemVec3){sign * out[k].x, sign * out[k].y, sign * out[k].z};
	}
	return fabsf(det);
}

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

// Adds the terms of one node at the end; place[j]: where node j is among them, else -1.
static int32_t add_terms(GradientTerm *terms, const TetShape *shape, const int32_t *now, const int32_t *tets,
	int32_t tet_count, int32_t *place) {
	int32_t count = 0;
	float weight = 0.0f;
	for (int32_t i = 0; i < tet_count; i++) {
		FemVec3 g[4];
		weight += shape_gradients(shape, tets[i], g);
		for (int k = 0; k < 4; k++) {
			int32_t node = now[4 * (size_t)tets[i] + (size_t)k];
			if (place[node] < 0) {
				place[node] = count;
				terms[count++] = (GradientTerm){{0}, node};
			}
			GradientTerm *term = &terms[place[node]];
			term->g[0] += g[k].x, term->g[1] += g[k].y, term->g[2] += g[k].z;
		}
	}
	for (int32_t i = 0; i < count; i++) {
		place[terms[i].node] = -1;
		for (int k = 0; k < 3; k++) {
			terms[i].g[k] = weight > 0.0f ? terms[i].g[k] / weight : 0.0f;
		}
	}
	return count;
}

static bool build(NodeGradients *gradients, const TetShape *shape, const int32_t *now, int32_t *scratch) {
	int32_t nodes = gradients->node_count, written = 0;
	int32_t *tet_begins = scratch, *place = scratch + nodes + 1, *tets = place + nodes;
	if (!list_tets(now, shape->tet_count, nodes, tet_begins, tets)) {
		return false;
	}
	for (int32_t n = 0; n < nodes; n++) {
		place[n] = -1;
	}
	for (int32_t n = 0; n < nodes; n++) {
		gradients->begins[n] = written;
		written += add_terms(
			&gradients->terms[written], shape, now, &tets[tet_begins[n]], tet_begins[n + 1] - tet_begins[n], place);
	}
	gradients->begins[nodes] = written;
	return true;
}

// A node with k tets has at most k + 3 neighbours, itself included, when they hang together by faces, and never 4 k.
bool node_gradients_create(NodeGradients *gradients, const TetShape *shape, const int32_t *now, int32_t node_count) {
	*gradients = (NodeGradients){.node_count = node_count};
	size_t corners = 4 * (size_t)shape->tet_count, nodes = (size_t)node_count;
	gradients->begins = malloc((nodes + 1) * sizeof(int32_t));
	gradients->terms = malloc(4 * corners * sizeof(GradientTerm));
	int32_t *scratch = malloc((2 * nodes + 1 + corners) * sizeof(int32_t));
	bool is_made = gradients->begins && gradients->terms && scratch && build(gradients, shape, now, scratch);
	free(scratch);
	if (!is_made) {
		node_gradients_free(gradients);
		return false;
	}
	size_t used = (size_t)gradients->begins[node_count];
	GradientTerm *fitting = realloc(gradients->terms, (used > 0 ? used : 1) * sizeof(GradientTerm));
	gradients->terms = fitting ? fitting : gradients->terms;
	return true;
}

// -------------------------------------------------------------------------------------------------------------- writing

static float quantized(float value) {
	float steps = floorf((value + 4.0f) * 512.0f + 0.5f);
	return steps < 0.0f ? 0.0f : steps > 4095.0f ? 4095.0f : steps;
}

static float packed(float a, float b) {
	return quantized(a) * 4096.0f + quantized(b);
}

void node_gradients_write(const NodeGradients *gradients, float *positions, float *texels, float inv_scale) {
	for (int32_t n = 0; n < gradients->node_count; n++) {
		Float4 c0 = {0}, c1 = {0}, c2 = {0};
		for (int32_t i = gradients->begins[n]; i < gradients->begins[n + 1]; i++) {
			const GradientTerm *term = &gradients->terms[i];
			Float4 x;
			memcpy(&x, &positions[4 * (size_t)term->node], sizeof(x));
			c0 += x * term->g[0];
			c1 += x * term->g[1];
			c2 += x * term->g[2];
		}
		c0 *= inv_scale, c1 *= inv_scale, c2 *= inv_scale;
		float *out = &texels[4 * (size_t)n];
		out[0] = packed(c0[0], c0[1]);
		out[1] = packed(c0[2], c1[0]);
		out[2] = packed(c1[1], c1[2]);
		out[3] = packed(c2[0], c2[1]);
		positions[4 * (size_t)n + 3] = c2[2];
	}
}

// ------------------------------------------------------------------------------------------------------------- sampling

static FemVec3 position_of(const float *positions, int32_t node) {
	const float *p = &positions[4 * (size_t)node];
	return (FemVec3){p[0], p[1], p[2]};
}

static FemVec3 scaled(FemVec3 v, FemVec3 by) {
	return (FemVec3){v.x * by.x, v.y * by.y, v.z * by.z};
}

// By the change of its six edges, which is the strain along each of them.
static bool is_bent(const TetShape *shape, int32_t tet, const int32_t *nodes, const float *positions) {
	const int32_t *rest = &shape->tets[4 * (size_t)tet];
	for (int i = 0; i < 4; i++) {
		for (int k = i + 1; k < 4; k++) {
			FemVec3 now = subtract(position_of(positions, nodes[k]), position_of(positions, nodes[i]));
			FemVec3 then = scaled(subtract(shape->nodes[rest[k]], shape->nodes[rest[i]]), shape->scale);
			float before = dot(then, then);
			if (fabsf(dot(now, now) - before) > 2.0f * BENT_STRAIN * before) {
				return true;
			}
		}
	}
	return false;
}

bool node_gradients_are_needed(const TetShape *shape, const int32_t *now, const float *positions, int32_t node_count,
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
