// Our own sort in place of GKlib's gk_mksort.h, which is taken from glibc under the LGPL: with this one the METIS
// that we link is Apache 2.0 and BSD only. GKlib uses it as a statement: GK_MKQSORT(type, base, count, less).
#ifndef FEM_GK_MKSORT_H
#define FEM_GK_MKSORT_H

#include <stddef.h>

// Shell sort with gaps shrinking by 2.25 (Tokuda): no stack, no recursion, the same order on every platform.
#define GK_MKQSORT(type, base, count, less) \
	do { \
		type *const sort_base = (base); \
		const size_t sort_count = (count); \
		size_t sort_gap = 1; \
		while (sort_gap < sort_count / 2) \
			sort_gap = sort_gap * 9 / 4 + 1; \
		for (; sort_gap > 0; sort_gap = sort_gap * 4 / 9) { \
			for (size_t sort_i = sort_gap; sort_i < sort_count; sort_i++) { \
				type sort_item = sort_base[sort_i]; \
				size_t sort_k = sort_i; \
				for (; sort_k >= sort_gap && less((&sort_item), (&sort_base[sort_k - sort_gap])); sort_k -= sort_gap) \
					sort_base[sort_k] = sort_base[sort_k - sort_gap]; \
				sort_base[sort_k] = sort_item; \
			} \
		} \
	} while (0)

#endif
