#include "drawing/owner_blends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JUMP_SEEN 0.01f // shorter displacements, in shares of the tet's longest edge, are not worth the sending
#define FLATTEST 1e-6f  // volume by the cube of the longest edge, under which a tet has no weights worth using
#define WEIGHT_MAX 6.0f // beyond, the tet's least movement would throw the vertex about

void owner_blends_free(OwnerBlends *b) {
	free(b->blends);
	free(b->places);
	*b = (OwnerBlends){0};
}

void owner_blends_advance(OwnerBlends *b, float delta, float duration) {
	b->delta = delta;
	b->duration = duration;
	b->clock += (double)delta;
}

// ---- weights

static float age_of(const OwnerBlends *b, const OwnerBlend *blend) {
	return (float)(b->clock - blend->start);
}

static void blend_weights(const OwnerBlend *blend, float age, float duration, float out[4]) {
	float t = duration > 0.0f ? fminf(fmaxf(age / duration, 0.0f), 1.0f) : 1.0f;
	float s = t * t * (3.0f - 2.0f * t);
	for (int k = 0; k < 4; k++) {
		out[k] = blend->from[k] + s * (blend->to[k] - blend->from[k]);
	}
}

static bool nodes_are_within(const int32_t nodes[4], int32_t count) {
	for (int k = 0; k < 4; k++) {
		if (nodes[k] < 0 || nodes[k] >= count) {
			return false;
		}
	}
	return true;
}

static void place_of(const float *positions, const int32_t nodes[4], const float weights[4], float out[3]) {
	for (int axis = 0; axis < 3; axis++) {
		out[axis] = 0.0f;
		for (int k = 0; k < 4; k++) {
			out[axis] += weights[k] * positions[4 * (size_t)nodes[k] + (size_t)axis];
		}
	}
}

static void cross(const float a[3], const float b[3], float out[3]) {
	out[0] = a[1] * b[2] - a[2] * b[1];
	out[1] = a[2] * b[0] - a[0] * b[2];
	out[2] = a[0] * b[1] - a[1] * b[0];
}

static float dot(const float a[3], const float b[3]) {
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Adds the weights, of sum 0, that move a vertex by `displacement` in the tet as it stands now. False when the
// displacement is too short to be seen, or the tet too flat.
static bool add_displacement(
	const float *positions, const int32_t nodes[4], const float displacement[3], float weights[4]) {
	float edges[3][3], normals[3][3], longest = 0.0f;
	for (int k = 0; k < 3; k++) {
		for (int axis = 0; axis < 3; axis++) {
			edges[k][axis] =
				positions[4 * (size_t)nodes[k + 1] + (size_t)axis] - positions[4 * (size_t)nodes[0] + (size_t)axis];
		}
		longest = fmaxf(longest, sqrtf(dot(edges[k], edges[k])));
	}
	cross(edges[1], edges[2], normals[0]);
	cross(edges[2], edges[0], normals[1]);
	cross(edges[0], edges[1], normals[2]);
	float volume6 = dot(edges[0], normals[0]);
	if (!(sqrtf(dot(displacement, displacement)) > JUMP_SEEN * longest) ||
		!(fabsf(volume6) > FLATTEST * longest * longest * longest)) {
		return false;
	}
	for (int k = 0; k < 3; k++) {
		float share = dot(displacement, normals[k]) / volume6;
		weights[k + 1] += share;
		weights[0] -= share;
	}
	for (int k = 0; k < 4; k++) {
		if (!(fabsf(weights[k]) <= WEIGHT_MAX)) {
			return false;
		}
	}
	return true;
}

// ---- list

static OwnerBlend *find(const OwnerBlends *b, int32_t vertex) {
	int32_t place = b->places && vertex < b->vertex_count ? b->places[vertex] : 0;
	return place > 0 ? &b->blends[place - 1] : NULL;
}

static void drop(OwnerBlends *b, OwnerBlend *blend) {
	OwnerBlend *last = &b->blends[--b->count];
	b->places[blend->vertex] = 0;
	if (blend != last) {
		*blend = *last;
		b->places[blend->vertex] = (int32_t)(blend - b->blends) + 1;
	}
}

// Null when memory is short: the vertex jumps then.
static OwnerBlend *add(OwnerBlends *b, int32_t vertex, int32_t vertex_count) {
	if (!b->places) {
		b->places = calloc((size_t)vertex_count, sizeof(int32_t));
		b->vertex_count = b->places ? vertex_count : 0;
	}
	if (b->count == b->capacity) {
		int32_t capacity = b->capacity ? 2 * b->capacity : 256;
		OwnerBlend *blends = realloc(b->blends, (size_t)capacity * sizeof(OwnerBlend));
		b->blends = blends ? blends : b->blends;
		b->capacity = blends ? capacity : b->capacity;
	}
	if (vertex >= b->vertex_count || b->count == b->capacity) {
		return NULL;
	}
	b->blends[b->count] = (OwnerBlend){.vertex = vertex};
	b->places[vertex] = ++b->count;
	return &b->blends[b->count - 1];
}

// ---- changes

// What it was drawn with. Faces that have just opened have their new owners already, and were not drawn before.
static bool owner_before(const EmbeddedCopy *copy, const FemOwnerChange *change, FemVertexOwner *out) {
	if (embedded_copy_read(copy, change->vertex, out->nodes, out->weights) &&
		memcmp(out->nodes, change->owner.nodes, sizeof(out->nodes)) != 0) {
		return true;
	}
	*out = change->before;
	return out->tet >= 0;
}

// The weights with which a vertex starts in its new tet where it was drawn in the old one, on its way there perhaps.
static bool start_weights(const OwnerBlends *b, const EmbeddedCopy *copy, const float *positions, int32_t node_count,
	const FemOwnerChange *change, float out[4]) {
	FemVertexOwner before;
	const OwnerBlend *running = find(b, change->vertex);
	if (!owner_before(copy, change, &before) || !nodes_are_within(before.nodes, node_count) ||
		!nodes_are_within(change->owner.nodes, node_count)) {
		return false;
	}
	if (running) {
		blend_weights(running, age_of(b, running), b->duration, before.weights);
	}
	float from[3], to[3];
	place_of(positions, before.nodes, before.weights, from);
	place_of(positions, change->owner.nodes, change->owner.weights, to);
	float displacement[3] = {from[0] - to[0], from[1] - to[1], from[2] - to[2]};
	memcpy(out, change->owner.weights, 4 * sizeof(float));
	return add_displacement(positions, change->owner.nodes, displacement, out);
}

void owner_blends_take(OwnerBlends *b, const EmbeddedCopy *copy, const float *positions, int32_t node_count,
	const FemOwnerChange *change) {
	float from[4];
	OwnerBlend *blend = find(b, change->vertex);
	bool starts = b->duration > 0.0f && change->kind == FEM_OWNER_TET &&
		start_weights(b, copy, positions, node_count, change, from);
	if (!starts) {
		if (blend) {
			drop(b, blend);
		}
		return;
	}
	blend = blend ? blend : add(b, change->vertex, copy->vertex_count);
	if (blend) {
		blend->start = b->clock;
		memcpy(blend->from, from, sizeof(from));
		memcpy(blend->to, change->owner.weights, sizeof(blend->to));
	}
}

void owner_blends_write(OwnerBlends *b, EmbeddedCopy *copy, float fraction) {
	float back = (1.0f - fraction) * b->delta;
	for (int32_t i = b->count - 1; i >= 0; i--) {
		OwnerBlend *blend = &b->blends[i];
		float weights[4], age = age_of(b, blend) - back;
		blend_weights(blend, age, b->duration, weights);
		embedded_copy_set_weights(copy, blend->vertex, weights);
		if (age >= b->duration) {
			drop(b, blend);
		}
	}
}
