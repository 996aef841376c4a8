// Arrays that grow while a file is read.
#ifndef FEM_BASE_GROWING_H
#define FEM_BASE_GROWING_H

#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

// Makes room for one more element by doubling; false when the system gives no memory, and the array is as it was.
FEM_MUST_USE static inline bool fem_grow(void *array_pointer, int32_t count, int32_t *capacity, size_t element) {
	void *old, *moved;
	FEM_ASSERT(count >= 0 && count <= *capacity);
	if (count < *capacity)
		return true;
	if (*capacity > INT32_MAX / 2)
		return false;
	int32_t wanted = *capacity ? *capacity * 2 : 64;
	// The pointer is copied as bytes: it is a pointer to some type, not to void.
	memcpy(&old, array_pointer, sizeof old);
	moved = fem_realloc(old, (size_t)*capacity * element, (size_t)wanted * element);
	if (!moved)
		return false;
	memcpy(array_pointer, &moved, sizeof moved);
	*capacity = wanted;
	return true;
}

#define FEM_GROW(array, count, capacity) fem_grow(&(array), (count), (capacity), sizeof *(array))

#endif
