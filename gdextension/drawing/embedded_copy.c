#include "drawing/embedded_copy.h"

#include "binding/conversions.h"

#include <stdlib.h>
#include <string.h>

// Bytes that may be sent along needlessly to save a call: a call costs 2 to 4 us, a kB 0.2 us (Compatibility) to 0.9 us
// (Forward+). More than CALLS_MAX calls are never made.
enum { BYTES_PER_CALL = 3072, CALLS_MAX = 128 };

static bool copy_surface(EmbeddedCopySurface *surface, const EmbeddedSurface *original, GdRID mesh) {
	*surface = (EmbeddedCopySurface){.first_vertex = original->first_vertex,
		.vertex_count = original->vertex_count,
		.stride = original->stride,
		.nodes_at = original->nodes_at,
		.weights_at = original->weights_at};
	surface->changed = calloc((size_t)(original->vertex_count + 63) / 64, sizeof(uint64_t));
	surface->attributes = gd_packed_byte_array_new();
	if (!surface->changed) {
		return false;
	}
	GdDictionary data = original->data; // the same one: it is only read
	gd_rendering_server_mesh_add_surface(mesh, &data);
	if (!dictionary_read(&data, "attribute_data", GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, &surface->attributes)) {
		return false;
	}
	surface->bytes = godot.packed_byte_array_operator_index(&surface->attributes, 0); // memory of its own
	return true;
}

static bool is_prepared(const EmbeddedMesh *original) {
	for (int32_t i = 0; i < original->surface_count; i++) {
		if (original->surfaces[i].stride == 0) {
			return false;
		}
	}
	return original->surface_count > 0;
}

bool embedded_copy_make(EmbeddedCopy *copy, const EmbeddedMesh *original) {
	*copy = (EmbeddedCopy){0};
	copy->surfaces =
		is_prepared(original) ? calloc((size_t)original->surface_count, sizeof(EmbeddedCopySurface)) : NULL;
	if (!copy->surfaces) {
		return false;
	}
	copy->exists = true;
	copy->mesh = gd_rendering_server_mesh_create();
	for (int32_t i = 0; i < original->surface_count; i++) {
		copy->surface_count++;
		if (!copy_surface(&copy->surfaces[i], &original->surfaces[i], copy->mesh)) {
			embedded_copy_free(copy);
			return false;
		}
	}
	copy->vertex_count = original->vertex_count;
	return true;
}

bool embedded_copy_create(EmbeddedCopy *copy, EmbeddedMesh *original) {
	embedded_copy_free(copy);
	original->breakers++;
	if (!original->spare) {
		return embedded_copy_make(copy, original);
	}
	*copy = *original->spare;
	free(original->spare);
	original->spare = NULL;
	return true;
}

void embedded_copy_free(EmbeddedCopy *copy) {
	if (!copy->exists) {
		return;
	}
	gd_rendering_server_free_rid(copy->mesh);
	for (int32_t i = 0; i < copy->surface_count; i++) {
		gd_packed_byte_array_free(&copy->surfaces[i].attributes);
		free(copy->surfaces[i].changed);
	}
	free(copy->surfaces);
	*copy = (EmbeddedCopy){0};
}

// ---- owners

// Null for vertices that there are not.
static EmbeddedCopySurface *surface_of(const EmbeddedCopy *copy, int32_t vertex) {
	int32_t index = 0;
	if (vertex < 0 || vertex >= copy->vertex_count) {
		return NULL;
	}
	while (vertex >= copy->surfaces[index].first_vertex + copy->surfaces[index].vertex_count) {
		index++;
	}
	return &copy->surfaces[index];
}

// Where a vertex lies in its surface's bytes, to write to; null for vertices that there are not.
static uint8_t *change_vertex(EmbeddedCopy *copy, int32_t vertex, const EmbeddedCopySurface **out_surface) {
	EmbeddedCopySurface *surface = surface_of(copy, vertex);
	if (!surface) {
		return NULL;
	}
	if (!surface->bytes) {
		surface->bytes =
			godot.packed_byte_array_operator_index(&surface->attributes, 0); // detaches it from the server's
	}
	int32_t local = vertex - surface->first_vertex;
	uint64_t bit = (uint64_t)1 << (local % 64);
	surface->changed_count += !(surface->changed[local / 64] & bit);
	surface->changed[local / 64] |= bit;
	*out_surface = surface;
	return &surface->bytes[(size_t)local * (size_t)surface->stride];
}

void embedded_copy_set_owner(EmbeddedCopy *copy, int32_t vertex, const FemVertexOwner *owner) {
	const EmbeddedCopySurface *surface;
	uint8_t *at = change_vertex(copy, vertex, &surface);
	float nodes[4];
	for (int k = 0; k < 4; k++) {
		nodes[k] = (float)(owner->nodes[k] < 0 ? 0 : owner->nodes[k]); // removed: weights 0, all corners in one point
	}
	if (at) {
		memcpy(at + surface->nodes_at, nodes, sizeof(nodes));
		memcpy(at + surface->weights_at, owner->weights, 4 * sizeof(float));
	}
}

void embedded_copy_set_weights(EmbeddedCopy *copy, int32_t vertex, const float weights[4]) {
	const EmbeddedCopySurface *surface;
	uint8_t *at = change_vertex(copy, vertex, &surface);
	if (at) {
		memcpy(at + surface->weights_at, weights, 4 * sizeof(float));
	}
}

bool embedded_copy_read(const EmbeddedCopy *copy, int32_t vertex, int32_t out_nodes[4], float out_weights[4]) {
	const EmbeddedCopySurface *surface = surface_of(copy, vertex);
	if (!surface) {
		return false;
	}
	const uint8_t *at =
		surface->bytes ? surface->bytes : godot.packed_byte_array_operator_index_const(&surface->attributes, 0);
	at += (size_t)(vertex - surface->first_vertex) * (size_t)surface->stride;
	float nodes[4];
	memcpy(nodes, at + surface->nodes_at, sizeof(nodes));
	memcpy(out_weights, at + surface->weights_at, 4 * sizeof(float));
	for (int k = 0; k < 4; k++) {
		out_nodes[k] = (int32_t)(nodes[k] + 0.5f);
	}
	return out_weights[0] + out_weights[1] + out_weights[2] + out_weights[3] > 0.5f;
}

// ---- sending

typedef struct VertexRange {
	int32_t begin, end;
} VertexRange;

// The changed vertices as ranges, those less than `gap` vertices apart as one. Stops at CALLS_MAX + 1.
static int32_t find_ranges(const EmbeddedCopySurface *surface, int32_t gap, VertexRange out[CALLS_MAX + 1]) {
	int32_t count = 0, words = (surface->vertex_count + 63) / 64;
	for (int32_t w = 0; w < words; w++) {
		for (uint64_t bits = surface->changed[w]; bits; bits &= bits - 1) {
			int32_t vertex = 64 * w + __builtin_ctzll(bits);
			if (count > 0 && vertex - out[count - 1].end <= gap) {
				out[count - 1].end = vertex + 1;
			} else if (count <= CALLS_MAX) {
				out[count++] = (VertexRange){vertex, vertex + 1};
			} else {
				return count;
			}
		}
	}
	return count;
}

static void send_range(EmbeddedCopy *copy, int32_t index, VertexRange range) {
	EmbeddedCopySurface *surface = &copy->surfaces[index];
	int64_t begin = (int64_t)range.begin * surface->stride, end = (int64_t)range.end * surface->stride;
	bool is_whole = range.begin == 0 && range.end == surface->vertex_count;
	GdPackedByteArray bytes = is_whole ? gd_packed_byte_array_new_packed_byte_array(&surface->attributes)
									   : gd_packed_byte_array_slice(&surface->attributes, begin, end);
	gd_rendering_server_mesh_surface_update_attribute_region(copy->mesh, index, begin, &bytes);
	gd_packed_byte_array_free(&bytes);
}

static void send_surface(EmbeddedCopy *copy, int32_t index) {
	EmbeddedCopySurface *surface = &copy->surfaces[index];
	VertexRange ranges[CALLS_MAX + 1];
	int32_t gap = BYTES_PER_CALL / surface->stride, count = find_ranges(surface, gap, ranges);
	while (count > CALLS_MAX) {
		gap *= 2;
		count = find_ranges(surface, gap, ranges);
	}
	for (int32_t i = 0; i < count; i++) {
		send_range(copy, index, ranges[i]);
	}
	memset(surface->changed, 0, (size_t)(surface->vertex_count + 63) / 64 * sizeof(uint64_t));
	surface->changed_count = 0;
	surface->bytes = NULL;
}

void embedded_copy_send(EmbeddedCopy *copy) {
	for (int32_t i = 0; i < copy->surface_count; i++) {
		if (copy->surfaces[i].changed_count > 0) {
			send_surface(copy, i);
		}
	}
}
