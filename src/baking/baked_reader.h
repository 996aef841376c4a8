// What the readers of a baked mesh's sections share. Nothing in the bytes is believed.
#ifndef FEM_BAKING_BAKED_READER_H
#define FEM_BAKING_BAKED_READER_H

#include "baking/baked_format.h"
#include "base/byte_reader.h"
#include "base/error.h"

typedef struct FemBakedReader {
	FemBakedMesh *mesh;
	const char *name; // for sentences
	FemBytes bytes;   // what is left of the open section
	char tag[5];      // of the open section
} FemBakedReader;

static inline FemResult fail_damaged(const FemBakedReader *reader, const char *what) {
	return fem_fail(
		FEM_ERROR_FORMAT, "%.60s is damaged (%s in chunk %s): bake the mesh again.", reader->name, what, reader->tag);
}

static inline FemResult fail_memory(const FemBakedReader *reader) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to read %.60s.", reader->name);
}

// A count of things of `size` bytes each, which must be there.
static inline bool take_count(FemBakedReader *reader, size_t size, int32_t *out) {
	uint64_t count = fem_bytes_uint(&reader->bytes, 4);
	*out = (int32_t)count;
	return !reader->bytes.failed && count > 0 && count <= INT32_MAX && count <= fem_bytes_left(&reader->bytes) / size;
}

static inline void take_floats(FemBakedReader *reader, float *out, size_t count) {
	for (size_t i = 0; i < count; i++)
		out[i] = fem_bytes_float(&reader->bytes);
}

// False when one is out of range.
static inline bool take_indices(FemBakedReader *reader, int32_t *out, size_t count, int64_t range) {
	int width = fem_index_width(range);
	for (size_t i = 0; i < count; i++) {
		uint64_t index = fem_bytes_uint(&reader->bytes, width);
		if (index >= (uint64_t)range)
			return false;
		out[i] = (int32_t)index;
	}
	return !reader->bytes.failed;
}

static inline bool take_text(FemBakedReader *reader, char *out, size_t size) {
	uint64_t length = fem_bytes_uint(&reader->bytes, 2);
	if (reader->bytes.failed || length > fem_bytes_left(&reader->bytes) || length >= size)
		return false;
	memcpy(out, reader->bytes.at, (size_t)length);
	reader->bytes.at += length;
	return memchr(out, '\0', (size_t)length) == NULL;
}

static inline void take_normal(FemBakedReader *reader, FemVec3 *out) {
	int32_t code[2];
	code[0] = (int32_t)fem_bytes_int(&reader->bytes, 2);
	code[1] = (int32_t)fem_bytes_int(&reader->bytes, 2);
	*out = fem_octahedral_decode(code, 32767);
}

static inline void take_tangent(FemBakedReader *reader, float out[4]) {
	int32_t code[2];
	code[0] = (int32_t)fem_bytes_int(&reader->bytes, 2);
	int32_t second = (int32_t)fem_bytes_int(&reader->bytes, 2);
	code[1] = (second - (second & 1)) / 2;
	FemVec3 direction = fem_octahedral_decode(code, 16383);
	memcpy(out, &direction, sizeof direction);
	out[3] = second & 1 ? -1.0f : 1.0f;
}

static inline double weight_of_steps(uint64_t form, uint64_t steps) {
	return fem_weight_low(form) + (double)(steps & 0x1fffff) / FEM_WEIGHT_STEPS * fem_weight_span(form);
}

static inline void take_weights(FemBakedReader *reader, uint64_t form, float out[4]) {
	uint64_t packed = form ? fem_bytes_uint(&reader->bytes, 8) : 0;
	double rest = 1.0;
	for (int v = 0; v < 3; v++) {
		double weight = form ? weight_of_steps(form, packed >> 21 * v) : (double)fem_bytes_float(&reader->bytes);
		out[v] = (float)weight;
		rest -= weight;
	}
	out[3] = (float)rest;
}

FemResult fem_baked_read_splinters(FemBakedReader *reader);
FemResult fem_baked_read_modes(FemBakedReader *reader);

#endif
