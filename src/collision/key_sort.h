// Sorts by a 64-bit key: what threads or history left in any order gets an order of its own.
#ifndef FEM_COLLISION_KEY_SORT_H
#define FEM_COLLISION_KEY_SORT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct FemKeyed {
	uint64_t key;
	uint64_t value;
} FemKeyed;

// Ascending and stable. `scratch` holds as many items; the result stands in `items`. Linear for any input: a radix sort
// that passes over bytes all keys agree in. Allocates nothing.
void fem_key_sort(FemKeyed *items, FemKeyed *scratch, int32_t count);

// Whether one of the sorted items has the key.
static inline bool fem_key_is_among(const FemKeyed *items, int32_t count, uint64_t key) {
	int32_t low = 0, high = count;
	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		if (items[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && items[low].key == key;
}

#endif
