// The bytes of a snapshot, one way or the other. The same list of fields serves measuring, writing and reading, so that
// they cannot disagree.
#ifndef FEM_WORLD_STREAM_H
#define FEM_WORLD_STREAM_H

#include "base/assert.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct FemStream {
	char *out;      // writing: where to; null while measuring
	const char *in; // reading: where from; null while writing
	size_t at, size;
	bool failed; // read past the end, or found nonsense
} FemStream;

static inline bool fem_stream_reads(const FemStream *stream) {
	return stream->in != NULL;
}

// Once failed, a stream reads zeros.
static inline void fem_stream_bytes(FemStream *stream, void *data, size_t bytes) {
	if (stream->in) {
		stream->failed = stream->failed || bytes > stream->size - stream->at;
		if (stream->failed) {
			memset(data, 0, bytes);
			return;
		}
		memcpy(data, stream->in + stream->at, bytes);
	} else if (stream->out) {
		FEM_ASSERT(bytes <= stream->size - stream->at); // what was measured is what is written
		memcpy(stream->out + stream->at, data, bytes);
	}
	stream->at += bytes;
}

// A bool is a byte that is 0 or 1.
static inline void fem_stream_bool(FemStream *stream, bool *value) {
	uint8_t byte = fem_stream_reads(stream) ? 0 : *value;
	fem_stream_bytes(stream, &byte, 1);
	if (!fem_stream_reads(stream))
		return;
	stream->failed = stream->failed || byte > 1;
	*value = byte == 1;
}

#define FEM_STREAM(stream, field) fem_stream_bytes((stream), &(field), sizeof(field))
#define FEM_STREAM_ARRAY(stream, pointer, count) \
	fem_stream_bytes((stream), (pointer), sizeof *(pointer) * (size_t)(count))

// How many things of `bytes` each the rest can hold at most: a bound for counts that were read.
static inline bool fem_stream_can_hold(const FemStream *stream, int64_t count, size_t bytes) {
	return count >= 0 && (!stream->in || (uint64_t)count <= (stream->size - stream->at) / bytes);
}

#endif
