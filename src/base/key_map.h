// Numbers for keys of a few whole numbers, in the order in which the keys come.
#ifndef FEM_BASE_KEY_MAP_H
#define FEM_BASE_KEY_MAP_H

#include "base/growing.h"
#include "base/hash.h"

#define FEM_KEY_SIZE 5 // numbers of a key: what meets in a vertex of a cut

typedef struct FemKeyMap {
	int32_t count, capacity, table_size;
	int32_t (*keys)[FEM_KEY_SIZE];
	int32_t *table; // number + 1
} FemKeyMap;

static inline uint32_t fem_key_hash(const int32_t key[FEM_KEY_SIZE]) {
	uint64_t hash = FEM_HASH_START;
	for (int n = 0; n < FEM_KEY_SIZE; n++)
		hash = fem_hash_word(hash, (uint32_t)key[n]);
	return (uint32_t)(hash >> 32);
}

static inline bool fem_key_map_grow(FemKeyMap *map) {
	if (map->table_size > 2 * (map->count + 1))
		return true;
	int32_t size = map->table_size ? 2 * map->table_size : 1024;
	FEM_ASSERT((size & (size - 1)) == 0); // slots are found by a mask
	int32_t *table = size > 0 ? FEM_ALLOC_ARRAY(int32_t, size) : NULL;
	if (!table)
		return false;
	for (int32_t n = 0; n < map->count; n++) {
		uint32_t slot = fem_key_hash(map->keys[n]) & (uint32_t)(size - 1);
		while (table[slot])
			slot = (slot + 1) & (uint32_t)(size - 1);
		table[slot] = n + 1;
	}
	FEM_FREE_ARRAY(map->table, map->table_size);
	map->table = table;
	map->table_size = size;
	return true;
}

// The number of the key, a new one when it was not there yet; -1 without memory.
FEM_MUST_USE static inline int32_t fem_key_map_number(
	FemKeyMap *map, const int32_t key[FEM_KEY_SIZE], bool *out_is_new) {
	*out_is_new = false;
	if (!fem_key_map_grow(map) || !FEM_GROW(map->keys, map->count, &map->capacity))
		return -1;
	uint32_t mask = (uint32_t)(map->table_size - 1), slot = fem_key_hash(key) & mask;
	for (; map->table[slot]; slot = (slot + 1) & mask)
		if (memcmp(map->keys[map->table[slot] - 1], key, sizeof *map->keys) == 0)
			return map->table[slot] - 1;
	FEM_ASSERT(map->count < map->capacity && map->count < map->table_size);
	memcpy(map->keys[map->count], key, sizeof *map->keys);
	map->table[slot] = ++map->count;
	*out_is_new = true;
	return map->count - 1;
}

static inline void fem_key_map_free(FemKeyMap *map) {
	FEM_FREE_ARRAY(map->keys, map->capacity);
	FEM_FREE_ARRAY(map->table, map->table_size);
	*map = (FemKeyMap){0};
}

#endif
