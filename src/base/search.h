// Search in ascending lists.
#ifndef FEM_BASE_SEARCH_H
#define FEM_BASE_SEARCH_H

#include "base/assert.h"

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

#endif
