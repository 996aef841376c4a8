#include "fracture/piece_labels.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/union_find.h"
#include "fem_constants.h"
#include "topology/plate_cells.h"

#include <string.h>

#define MERGE_ROUNDS 16 // in which crumbs go to their neighbours: each makes them larger, two do as a rule; chosen

static int32_t lanes_of(const FemTopology *t) {
	return t->batch_count * FEM_LANES;
}

// ---- growing

// The tets of a piece that may still have neighbours in none, first come first served.
typedef struct Queues {
	int32_t *next;        // [tet]: the one after it in its queue; -1: none
	int32_t *head, *tail; // [piece]; -1: empty
} Queues;

static void enqueue(Queues *q, int32_t piece, int32_t tet) {
	q->next[tet] = -1;
	if (q->head[piece] < 0)
		q->head[piece] = tet;
	else
		q->next[q->tail[piece]] = tet;
	q->tail[piece] = tet;
}

// A piece takes one tet; false when there is none beside it.
static bool take_one(const FemTopology *t, Queues *q, int32_t piece, int32_t *labels) {
	for (; q->head[piece] >= 0; q->head[piece] = q->next[q->head[piece]]) {
		for (int v = 0; v < 4; v++) {
			int32_t across = t->neighbours[4 * q->head[piece] + v];
			if (across < 0 || labels[across / 4] >= 0)
				continue;
			labels[across / 4] = piece;
			enqueue(q, piece, across / 4);
			return true;
		}
	}
	return false;
}

static void grow(const FemTopology *t, Queues *q, const int32_t *seeds, int32_t count, int32_t *labels) {
	for (int32_t i = 0; i < count; i++) {
		int32_t tet = t->tet_of_user[seeds[i]];
		q->head[i] = -1;
		if (tet < 0 || labels[tet] >= 0)
			continue;
		labels[tet] = i;
		enqueue(q, i, tet);
	}
	for (bool any = true; any;) {
		any = false;
		for (int32_t i = 0; i < count; i++)
			any |= take_one(t, q, i, labels);
	}
}

bool fem_labels_grow(const FemTopology *whole, const int32_t *seeds, int32_t seed_count, int32_t *labels) {
	int32_t lanes = lanes_of(whole), *block = FEM_ALLOC_ARRAY(int32_t, (size_t)lanes + 2 * (size_t)seed_count);
	if (!block)
		return false;
	Queues queues = {block, block + lanes, block + lanes + seed_count};
	for (int32_t tet = 0; tet < lanes; tet++)
		labels[tet] = -1;
	grow(whole, &queues, seeds, seed_count, labels);
	for (int32_t tet = 0; tet < lanes; tet++) { // of parts of the mesh without a seed
		if (whole->user_of_tet[tet] >= 0 && labels[tet] < 0)
			labels[tet] = seed_count;
	}
	FEM_FREE_ARRAY(block, (size_t)lanes + 2 * (size_t)seed_count);
	return true;
}

void fem_labels_choose_seeds(const FemTopology *whole, uint64_t seed, int32_t *out_seeds, int32_t count) {
	uint64_t hash = fem_hash_word(FEM_HASH_START, seed);
	int32_t tets = whole->user_tet_count, left = tets;
	int32_t made = 0;
	for (int32_t user = 0; user < tets && made < count; user++, left--) { // each tet with the chance that is left
		hash = fem_hash_word(hash, (uint64_t)user);
		if ((double)(hash >> 11) * 0x1p-53 * left < count - made)
			out_seeds[made++] = user;
	}
}

// ---- settling

static void unite_cells(const FemTopology *t, int32_t *labels) {
	for (int32_t c = 0; c < fem_plate_cell_count(&t->cells); c++) {
		const FemPlateCell *cell = &t->cells.cells[c];
		for (int32_t k = 1; t->cell_is_whole[c] && k < fem_cell_tet_count(cell); k++)
			labels[cell->tets[k]] = labels[cell->tets[0]];
	}
}

// Labels become the first tet of what hangs together by faces in one label.
static void unite_labels(const FemTopology *t, int32_t *labels, int32_t *root) {
	int32_t lanes = lanes_of(t);
	for (int32_t tet = 0; tet < lanes; tet++)
		root[tet] = tet;
	for (int32_t face = 0; face < 4 * lanes; face++) {
		int32_t across = t->user_of_tet[face / 4] >= 0 ? t->neighbours[face] : -1;
		if (across >= 0 && labels[face / 4] == labels[across / 4])
			fem_union_join(root, face / 4, across / 4);
	}
	for (int32_t tet = 0; tet < lanes; tet++)
		labels[tet] = t->user_of_tet[tet] < 0 ? -1 : fem_union_root(root, tet);
}

// The neighbour of a crumb with the most faces beside it, of equals the smallest; -1: it has none. A crumb has two tets
// at most.
static int32_t neighbour_of(
	const FemTopology *t, const int32_t *labels, const int32_t *size, const int32_t tets[2], int32_t count) {
	int32_t found[8], faces[8], kinds = 0, best = -1;
	for (int32_t k = 0; k < 4 * count; k++) {
		int32_t across = t->neighbours[4 * tets[k / 4] + k % 4], label = across < 0 ? -1 : labels[across / 4], at = 0;
		if (label < 0 || label == labels[tets[0]])
			continue;
		while (at < kinds && found[at] != label)
			at++;
		if (at == kinds)
			found[kinds++] = label, faces[at] = 0;
		faces[at]++;
	}
	for (int32_t k = 0; k < kinds; k++)
		best = best < 0 || faces[k] > faces[best] || (faces[k] == faces[best] && size[found[k]] < size[found[best]])
			? k
			: best;
	return best < 0 ? -1 : found[best];
}

// True: some crumb went to a neighbour. size: [tet], of what has it as its label.
static bool merge_crumbs(const FemTopology *t, int32_t *labels, int32_t *size) {
	int32_t lanes = lanes_of(t);
	bool any = false;
	memset(size, 0, sizeof *size * (size_t)lanes);
	for (int32_t tet = 0; tet < lanes; tet++) {
		if (labels[tet] >= 0)
			size[labels[tet]]++;
	}
	for (int32_t tet = 0; tet < lanes; tet++) {
		int32_t label = labels[tet], tets[2] = {tet, -1}, count = 1;
		if (label != tet || size[label] >= FEM_PIECE_TETS_MIN) // each crumb once, at its first tet
			continue;
		for (int v = 0; v < 4 && size[label] == 2; v++) {
			int32_t across = t->neighbours[4 * tet + v];
			if (across >= 0 && labels[across / 4] == label)
				tets[1] = across / 4, count = 2;
		}
		int32_t to = neighbour_of(t, labels, size, tets, count);
		for (int32_t k = 0; k < count && to >= 0; k++)
			labels[tets[k]] = to;
		if (to < 0)
			continue;
		size[to] += size[label];
		size[label] = 0;
		any = true;
	}
	return any;
}

int32_t fem_labels_settle(const FemTopology *whole, int32_t *labels) {
	int32_t lanes = lanes_of(whole), count = 0, *work = FEM_ALLOC_ARRAY(int32_t, lanes);
	if (!work)
		return -1;
	unite_cells(whole, labels);
	unite_labels(whole, labels, work);
	for (int round = 0; round < MERGE_ROUNDS && merge_crumbs(whole, labels, work); round++)
		unite_labels(whole, labels, work);
	for (int32_t tet = 0; tet < lanes; tet++) // numbers in the order of their first tets
		work[tet] = labels[tet] == tet ? count++ : -1;
	for (int32_t tet = 0; tet < lanes; tet++)
		labels[tet] = labels[tet] < 0 ? -1 : work[labels[tet]];
	FEM_FREE_ARRAY(work, lanes);
	return count;
}
