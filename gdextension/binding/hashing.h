// FNV-1a over words: fast enough for a million vertices, and no two meshes or materials of a game will meet.
#ifndef HASHING_H
#define HASHING_H

#include <stdint.h>
#include <string.h>

#define HASH_START 0xcbf29ce484222325u // the offset basis of FNV-1a with 64 bits

static inline uint64_t hash_mix(uint64_t hash, const void *data, size_t size) {
	const unsigned char *bytes = data;
	uint64_t word = 0;
	for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3u;
		hash ^= hash >> 29;
	}
	for (; size > 0; size--, bytes++) {
		hash = (hash ^ *bytes) * 0x100000001b3u;
	}
	return hash;
}

#endif
