// A running 64-bit hash: FNV-1a over words instead of bytes, with the high bits folded down. For checks and state
// hashes, not against forgery.
#ifndef FEM_BASE_HASH_H
#define FEM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FEM_HASH_START 0xcbf29ce484222325u // the offset basis of 64-bit FNV-1a

static inline uint64_t fem_hash_word(uint64_t hash, uint64_t word) {
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static inline uint64_t fem_hash_bytes(uint64_t hash, const void *data, size_t size) {
	const unsigned char *bytes = data;
	for (; size >= 8; size -= 8, bytes += 8) {
		uint64_t word;
		memcpy(&word, bytes, 8);
		hash = fem_hash_word(hash, word);
	}
	uint64_t rest = 0;
	memcpy(&rest, bytes, size);
	return fem_hash_word(hash, rest ^ (uint64_t)size << 56);
}

// The bits of a number, the same for 0 and -0.
static inline uint64_t fem_hash_float(uint64_t hash, float value) {
	uint32_t bits;
	value += 0.0f;
	memcpy(&bits, &value, sizeof bits);
	return fem_hash_word(hash, bits);
}

static inline uint64_t fem_hash_double(uint64_t hash, double value) {
	uint64_t bits;
	value += 0.0;
	memcpy(&bits, &value, sizeof bits);
	return fem_hash_word(hash, bits);
}

#endif
