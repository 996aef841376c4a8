// The shape of a piece's proxy, and how it moves.
#include "coupling/mesh_shapes.h"
#include "coupling/piece_proxies_internal.h"
#include "coupling/point_matching.h"

#include "binding/conversions.h"

#include <math.h>

#define BEND_MIN 0.004f  // m, by which a sample may be beside the shape
#define BEND_SHARE 0.02f // of the piece's size, likewise

static FemVec3 node_at(const float *positions, int32_t node) {
	const float *p = &positions[4 * (size_t)node];
	return (FemVec3){p[0], p[1], p[2]};
}

static FemVec3 mean_of(const PieceProxy *proxy, const float *positions) {
	FemVec3 sum = {0};
	for (int32_t i = 0; i < proxy->sample_count; i++) {
		sum = vec_add(sum, node_at(positions, proxy->nodes[i]));
	}
	return vec_scale(sum, 1.0f / (float)proxy->sample_count);
}

// Returns how far the worst sample is off, m.
static float match_rotation(PieceProxy *proxy, const float *positions, FemVec3 mean) {
	FemVec3 wanted[PIECE_SAMPLES];
	for (int32_t i = 0; i < proxy->sample_count; i++) {
		wanted[i] = vec_sub(node_at(positions, proxy->nodes[i]), mean);
	}
	return point_matching_rotate(proxy->local, wanted, proxy->sample_count, &proxy->rotation);
}

bool piece_shape_follow(PieceProxy *proxy, const float *positions, FemVec3 *out_middle) {
	FemVec3 mean = mean_of(proxy, positions);
	float off = match_rotation(proxy, positions, mean);
	*out_middle = mean;
	if (!isfinite(off + mean.x + mean.y + mean.z)) {
		return false;
	}
	proxy->is_dirty |= off > BEND_MIN + BEND_SHARE * proxy->size;
	return true;
}

// ---- shapes

// Nodes spread over the list of the piece's faces.
static void choose_samples(PieceProxy *proxy, const int32_t *triangles, int32_t count) {
	int64_t corners = 3 * (int64_t)count;
	proxy->sample_count = (int32_t)(corners < PIECE_SAMPLES ? corners : PIECE_SAMPLES);
	for (int32_t i = 0; i < proxy->sample_count; i++) {
		proxy->nodes[i] = triangles[i * corners / proxy->sample_count];
	}
}

bool piece_shape_make(
	PieceProxy *proxy, const int32_t *triangles, int32_t count, const float *positions, FemVec3 *out_middle) {
	static const size_t order[3] = {0, 2, 1}; // Godot's front is clockwise
	choose_samples(proxy, triangles, count);
	proxy->is_dirty = false;
	if (proxy->sample_count < 3) {
		return false;
	}
	FemVec3 mean = mean_of(proxy, positions);
	proxy->rotation = (FemQuat){0.0f, 0.0f, 0.0f, 1.0f};
	proxy->size = 0.0f;
	for (int32_t i = 0; i < proxy->sample_count; i++) {
		proxy->local[i] = vec_sub(node_at(positions, proxy->nodes[i]), mean);
		proxy->size = fmaxf(proxy->size, vec_length(proxy->local[i]));
	}
	GdPackedVector3Array faces = gd_packed_vector3_array_new();
	gd_packed_vector3_array_resize(&faces, 3 * (int64_t)count);
	GdVector3 *out = godot.packed_vector3_array_operator_index(&faces, 0);
	for (size_t i = 0; i < 3 * (size_t)count; i++) {
		out[i] = vec_to_godot(vec_sub(node_at(positions, triangles[i - i % 3 + order[i % 3]]), mean));
	}
	bool is_set = mesh_shape_set_faces(proxy->shape, &faces);
	gd_packed_vector3_array_free(&faces);
	*out_middle = mean;
	return is_set;
}
