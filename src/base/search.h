// Search in ascending lists.
#ifndef FEM_BASE_SEARCH_H
#define FEM_BASE_SEARCH_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The place of the first number that is not below `value`; `count` for none.
static inline int32_t fem_first_not_below(const int32_t *list, int32_t count, int32_t value) {
	int32_t low = 0, high = count;
	FEM_ASSERT(count >= 0 && (count < 2 || list[0] <= list[count - 1]));
	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		if (list[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// The same of records of `size` bytes, `is_before` telling which of them the key comes after.
static inline int32_t fem_first_not_before(const void *list, int32_t count, size_t size,
	bool (*is_before)(const void *record, const void *key), const void *key) {
	int32_t low = 0, high = count;
	FEM_ASSERT(count >= 0);
	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		if (is_before((const char *)list + (size_t)middle * size, key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
