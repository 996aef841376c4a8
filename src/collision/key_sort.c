#include "collision/key_sort.h"

#include <stdbool.h>
#include <string.h>

#define FEW 48 // keys; below, clearing the counters of a radix sort costs more than insertion

static void insertion_sort(FemKeyed *items, int32_t count) {
	for (int32_t i = 1; i < count; i++) {
		FemKeyed item = items[i];
		int32_t at = i;
		for (; at > 0 && items[at - 1].key > item.key; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

static bool is_sorted(const FemKeyed *items, int32_t count) {
	for (int32_t i = 1; i < count; i++) {
		if (items[i - 1].key > items[i].key)
			return false;
	}
	return true;
}

static void sort_by_byte(const FemKeyed *from, FemKeyed *to, int32_t count, int shift) {
	int32_t start[256] = {0};
	for (int32_t i = 0; i < count; i++)
		start[from[i].key >> shift & 255]++;
	int32_t sum = 0;
	for (int digit = 0; digit < 256; digit++) {
		int32_t length = start[digit];
		start[digit] = sum;
		sum += length;
	}
	for (int32_t i = 0; i < count; i++)
		to[start[from[i].key >> shift & 255]++] = from[i];
}

void fem_key_sort(FemKeyed *items, FemKeyed *scratch, int32_t count) {
	if (count < FEW) {
		insertion_sort(items, count);
		return;
	}
	if (is_sorted(items, count))
		return;
	uint64_t differing = 0;
	for (int32_t i = 1; i < count; i++)
		differing |= items[i].key ^ items[0].key;
	FemKeyed *from = items, *to = scratch;
	for (int shift = 0; shift < 64; shift += 8) {
		if (!(differing >> shift & 255))
			continue;
		sort_by_byte(from, to, count, shift);
		FemKeyed *sorted = to;
		to = from;
		from = sorted;
	}
	if (from != items)
		memcpy(items, from, sizeof *items * (size_t)count);
}
