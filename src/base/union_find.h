// Disjoint sets over 0..n in one array of parents, each its own at first. The root is the smallest member, so that the
// result does not depend on the order of unions.
#ifndef FEM_BASE_UNION_FIND_H
#define FEM_BASE_UNION_FIND_H

#include "base/assert.h"

#include <stdint.h>

static inline int32_t fem_union_root(int32_t *parent, int32_t i) {
	while (parent[i] != i) {
		FEM_ASSERT(parent[i] >= 0 && parent[i] < i); // the root is the smallest member
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

static inline void fem_union_join(int32_t *parent, int32_t a, int32_t b) {
	a = fem_union_root(parent, a);
	b = fem_union_root(parent, b);
	if (a < b)
		parent[b] = a;
	else
		parent[a] = b;
}

#endif
