// Which places are near destructibles: the cells of a coarse grid that their boxes, with a margin, reach into.
#include "coupling/discovery_internal.h"

#include "binding/hashing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL 16.0       // m, side of a cell; chosen: a room
#define CELL_MARGIN 6.0 // m, by which a destructible's box is larger on each side; chosen: a bullet's way in a tick
#define CELLS_END 1e6   // cells from the world's origin, beyond which all is one
enum {
	CELLS_OF_BODY = 64,    // one that reaches into more is compared by its box
	CELLS_OF_QUESTION = 8, // who reaches into more is compared with all boxes
};

typedef struct CellRange {
	int32_t from[3], to[3];
} CellRange;

static CellRange range_of(const double *low, const double *high, double margin) {
	CellRange range;
	for (int i = 0; i < 3; i++) {
		range.from[i] = (int32_t)fmax(-CELLS_END, fmin(CELLS_END, floor((low[i] - margin) / CELL)));
		range.to[i] = (int32_t)fmax(-CELLS_END, fmin(CELLS_END, floor((high[i] + margin) / CELL)));
	}
	return range;
}

static int64_t cells_in(const CellRange *range) {
	int64_t number = 1;
	for (int i = 0; i < 3; i++) {
		int64_t side = (int64_t)range->to[i] - range->from[i] + 1;
		number = side > CELLS_OF_BODY ? CELLS_OF_BODY + 1 : number * side;
		number = number > CELLS_OF_BODY ? CELLS_OF_BODY + 1 : number;
	}
	return number;
}

// ---- set

// Never 0, which is an empty place of the table.
static uint64_t key_of(int32_t x, int32_t y, int32_t z) {
	const uint64_t mask = 0x1fffff; // 21 bits each
	return 1ull << 63 | ((uint64_t)x & mask) << 42 | ((uint64_t)y & mask) << 21 | ((uint64_t)z & mask);
}

// Where the key is, or the empty place where it belongs.
static uint64_t *place_of(const CellSet *set, uint64_t key) {
	uint64_t at = hash_mix(HASH_START, &key, sizeof(key));
	for (;; at++) {
		uint64_t *place = &set->keys[at & (uint64_t)(set->capacity - 1)];
		if (*place == key || *place == 0) {
			return place;
		}
	}
}

static bool reserve(CellSet *set, int32_t count) {
	if (2 * count <= set->capacity) {
		return true;
	}
	CellSet larger = {.capacity = set->capacity ? 2 * set->capacity : 256};
	while (larger.capacity < 2 * count) {
		larger.capacity *= 2;
	}
	larger.keys = calloc((size_t)larger.capacity, sizeof(uint64_t));
	if (!larger.keys) {
		return false;
	}
	for (int32_t i = 0; i < set->capacity; i++) {
		if (set->keys[i]) {
			*place_of(&larger, set->keys[i]) = set->keys[i];
		}
	}
	larger.count = set->count;
	free(set->keys);
	*set = larger;
	return true;
}

static bool add_range(CellSet *set, const CellRange *range) {
	if (!reserve(set, set->count + CELLS_OF_BODY)) {
		return false;
	}
	for (int32_t x = range->from[0]; x <= range->to[0]; x++) {
		for (int32_t y = range->from[1]; y <= range->to[1]; y++) {
			for (int32_t z = range->from[2]; z <= range->to[2]; z++) {
				uint64_t key = key_of(x, y, z), *place = place_of(set, key);
				set->count += *place == 0;
				*place = key;
			}
		}
	}
	return true;
}

static bool has_any(const CellSet *set, const CellRange *range) {
	for (int32_t x = range->from[0]; x <= range->to[0]; x++) {
		for (int32_t y = range->from[1]; y <= range->to[1]; y++) {
			for (int32_t z = range->from[2]; z <= range->to[2]; z++) {
				if (set->count > 0 && *place_of(set, key_of(x, y, z))) {
					return true;
				}
			}
		}
	}
	return false;
}

// ---- bodies

// A body's cells are looked up anew when its box reaches into others.
void discovery_cells_update(Coupling *coupling) {
	Discovery *d = coupling->discovery;
	for (int i = 0; i < 3; i++) {
		d->low[i] = INFINITY;
		d->high[i] = -INFINITY;
	}
	for (int32_t i = 0; i < coupling->world->body_count; i++) {
		BodyRegion *region = &coupling->world->bodies[i]->region;
		if (!region->has_box) {
			continue;
		}
		const double *low = &region->box_low.x, *high = &region->box_high.x;
		CellRange range = range_of(low, high, CELL_MARGIN);
		if (memcmp(&range, region->cells, sizeof(range)) != 0) {
			memcpy(region->cells, &range, sizeof(range));
			d->has_stale_cells = true;
		}
		for (int k = 0; k < 3; k++) {
			d->low[k] = fmin(d->low[k], low[k] - CELL_MARGIN);
			d->high[k] = fmax(d->high[k], high[k] + CELL_MARGIN);
		}
	}
	if (!d->has_stale_cells) {
		return;
	}
	d->has_stale_cells = d->has_large_bodies = false;
	d->cells.count = 0;
	memset(d->cells.keys, 0, (size_t)d->cells.capacity * sizeof(uint64_t));
	for (int32_t i = 0; i < coupling->world->body_count; i++) {
		const BodyRegion *region = &coupling->world->bodies[i]->region;
		CellRange range;
		memcpy(&range, region->cells, sizeof(range));
		if (region->has_box && (cells_in(&range) > CELLS_OF_BODY || !add_range(&d->cells, &range))) {
			d->has_large_bodies = true;
		}
	}
}

static bool is_near_box(const Coupling *coupling, const double low[3], const double high[3]) {
	for (int32_t i = 0; i < coupling->world->body_count; i++) {
		const BodyRegion *region = &coupling->world->bodies[i]->region;
		const double *a = &region->box_low.x, *b = &region->box_high.x;
		bool is_near = region->has_box;
		for (int k = 0; k < 3; k++) {
			is_near &= low[k] <= b[k] + CELL_MARGIN && high[k] >= a[k] - CELL_MARGIN;
		}
		if (is_near) {
			return true;
		}
	}
	return false;
}

bool discovery_is_near(const Coupling *coupling, const double low[3], const double high[3]) {
	const Discovery *d = coupling->discovery;
	for (int k = 0; k < 3; k++) {
		if (!(low[k] <= d->high[k] && high[k] >= d->low[k])) {
			return false;
		}
	}
	CellRange range = range_of(low, high, 0.0);
	bool is_large = d->has_large_bodies || cells_in(&range) > CELLS_OF_QUESTION;
	return is_large ? is_near_box(coupling, low, high) : has_any(&d->cells, &range);
}
