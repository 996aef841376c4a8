// Numbers from bytes of either byte order, never past the end: a reader that has failed gives zeros.
#ifndef FEM_BASE_BYTE_READER_H
#define FEM_BASE_BYTE_READER_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct FemBytes {
	const uint8_t *at, *end;
	bool big_endian;
	bool failed; // asked for more than there was
} FemBytes;

static inline size_t fem_bytes_left(const FemBytes *bytes) {
	return (size_t)(bytes->end - bytes->at);
}

// The next `width` bytes (1..8) as an unsigned number.
static inline uint64_t fem_bytes_uint(FemBytes *bytes, int width) {
	uint64_t value = 0;
	FEM_ASSERT(width >= 1 && width <= 8 && bytes->at <= bytes->end);
	if (bytes->failed || fem_bytes_left(bytes) < (size_t)width) {
		bytes->failed = true;
		return 0;
	}
	for (int i = 0; i < width; i++)
		value |= (uint64_t)bytes->at[i] << 8 * (bytes->big_endian ? width - 1 - i : i);
	bytes->at += width;
	return value;
}

// The same as a two's complement number.
static inline int64_t fem_bytes_int(FemBytes *bytes, int width) {
	uint64_t value = fem_bytes_uint(bytes, width), sign = (uint64_t)1 << (8 * width - 1);
	return (int64_t)((value ^ sign) - sign);
}

static inline float fem_bytes_float(FemBytes *bytes) {
	uint32_t bits = (uint32_t)fem_bytes_uint(bytes, 4);
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static inline double fem_bytes_double(FemBytes *bytes) {
	uint64_t bits = fem_bytes_uint(bytes, 8);
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

#endif
