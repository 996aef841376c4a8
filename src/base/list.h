// A list that grows as it fills: by half, so that filling it costs a constant an entry, and never beyond a limit that
// its owner sets. Whoever fills it does so on one thread.
#ifndef FEM_BASE_LIST_H
#define FEM_BASE_LIST_H

#include "base/memory.h"

#include <stdbool.h>

#define FEM_LIST_FIRST 64 // entries of a list that has none yet; chosen

// Room for `count` entries of `size` bytes; those there are stay. False when count is over the limit or memory fails.
FEM_MUST_USE static inline bool fem_list_hold(
	void **list, int32_t *capacity, int64_t count, int64_t limit, size_t size) {
	FEM_ASSERT(count >= 0 && *capacity >= 0 && limit <= INT32_MAX && (*list || *capacity == 0));
	if (count <= *capacity)
		return true;
	if (count > limit)
		return false;
	int64_t wanted = *capacity + *capacity / 2;
	wanted = wanted < FEM_LIST_FIRST ? FEM_LIST_FIRST : wanted;
	wanted = wanted < count ? count : wanted;
	wanted = wanted > limit ? limit : wanted;
	void *grown = fem_realloc(*list, size * (size_t)*capacity, size * (size_t)wanted);
	if (!grown)
		return false;
	*list = grown;
	*capacity = (int32_t)wanted;
	return true;
}

#define FEM_LIST_HOLD(list, capacity, count, limit) \
	fem_list_hold((void **)&(list), &(capacity), (count), (limit), sizeof *(list))

#endif
