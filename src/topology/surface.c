#include "topology/surface.h"

#include "base/assert.h"
#include "base/carve.h"

#include <string.h>

const int32_t fem_face_corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

// All faces with their nodes in ascending order. A face is tet * 4 + opposite local node.
typedef struct Faces {
	int32_t count, node_count;
	int32_t (*keys)[3];     // [face]
	int32_t *order, *other; // faces, before and after a pass
	int32_t *start;         // [node + 1], counting sort
} Faces;

static size_t place_faces(Faces *faces, char *base) {
	FemCarver carver = {.base = base};
	faces->keys = fem_carve(&carver, sizeof *faces->keys * (size_t)faces->count);
	faces->order = FEM_CARVE(&carver, int32_t, faces->count);
	faces->other = FEM_CARVE(&carver, int32_t, faces->count);
	faces->start = FEM_CARVE(&carver, int32_t, faces->node_count + 1);
	return carver.used;
}

static void swap_if_greater(int32_t *a, int32_t *b) {
	if (*a > *b) {
		int32_t greater = *a;
		*a = *b;
		*b = greater;
	}
}

static void fill_keys(Faces *faces, const int32_t *node_of_user, const int32_t *tets) {
	for (int32_t f = 0; f < faces->count; f++) {
		int32_t *key = faces->keys[f];
		for (int v = 0; v < 3; v++)
			key[v] = node_of_user[tets[4 * (size_t)(f / 4) + (size_t)fem_face_corners[f % 4][v]]];
		swap_if_greater(&key[0], &key[1]);
		swap_if_greater(&key[1], &key[2]);
		swap_if_greater(&key[0], &key[1]);
		FEM_ASSERT(key[0] >= 0 && key[0] < key[1] && key[1] < key[2] && key[2] < faces->node_count);
		faces->order[f] = f;
	}
}

// One stable pass of a radix sort whose digit is a node.
static void sort_pass(Faces *faces, int digit) {
	memset(faces->start, 0, sizeof(int32_t) * ((size_t)faces->node_count + 1));
	for (int32_t f = 0; f < faces->count; f++)
		faces->start[faces->keys[f][digit] + 1]++;
	for (int32_t i = 0; i < faces->node_count; i++)
		faces->start[i + 1] += faces->start[i];
	for (int32_t at = 0; at < faces->count; at++) {
		int32_t f = faces->order[at];
		faces->other[faces->start[faces->keys[f][digit]]++] = f;
	}
	int32_t *sorted = faces->other;
	faces->other = faces->order;
	faces->order = sorted;
}

// Equal faces stand together: those that stand alone are outer ones. Lists them and joins the others; out is null for
// counting.
static int32_t list_single(const Faces *faces, FemSurface *out) {
	int32_t found = 0;
	for (int32_t at = 0, next; at < faces->count; at = next) {
		int32_t face = faces->order[at];
		next = at + 1;
		while (
			next < faces->count && memcmp(faces->keys[faces->order[next]], faces->keys[face], sizeof *faces->keys) == 0)
			next++;
		for (int32_t k = at; out && k < next; k++)
			out->across[faces->order[k]] = -1;
		if (next > at + 1) {
			int32_t other = faces->order[at + 1];
			FEM_ASSERT(face / 4 != other / 4); // a tet has four different faces
			if (out)
				out->across[face] = other, out->across[other] = face;
			continue;
		}
		if (out)
			out->faces[found] = face;
		found++;
	}
	return found;
}

static bool allocate(FemSurface *surface, int32_t face_count) {
	surface->bytes = sizeof(int32_t) * ((size_t)face_count + (size_t)surface->count + 1);
	surface->across = fem_alloc_unset(surface->bytes);
	surface->faces = surface->across ? surface->across + face_count : NULL;
	return surface->across != NULL;
}

bool fem_surface_create(
	FemSurface *surface, const int32_t *node_of_user, int32_t node_count, const int32_t *tets, int32_t tet_count) {
	*surface = (FemSurface){0};
	Faces faces = {.count = 4 * tet_count, .node_count = node_count};
	size_t bytes = place_faces(&faces, NULL);
	char *block = fem_alloc_unset(bytes);
	if (!block)
		return false;
	place_faces(&faces, block);
	fill_keys(&faces, node_of_user, tets);
	for (int digit = 2; digit >= 0; digit--)
		sort_pass(&faces, digit);
	surface->count = list_single(&faces, NULL);
	if (allocate(surface, faces.count))
		list_single(&faces, surface);
	for (int32_t f = 0; FEM_HAS_ASSERTS && surface->faces && f < faces.count; f++)
		FEM_ASSERT(surface->across[f] < 0 || surface->across[surface->across[f]] == f);
	fem_free(block, bytes);
	return surface->faces != NULL;
}

void fem_surface_free(FemSurface *surface) {
	fem_free(surface->across, surface->bytes);
	*surface = (FemSurface){0};
}
