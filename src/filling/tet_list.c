#include "filling/tet_list.h"

#include "base/assert.h"
#include "base/memory.h"
#include "filling/soup_topology.h"
#include "topology/surface.h"

#include <string.h>

#define LIST_FIRST 1024           // entries of a list that has none yet; chosen
#define DEGREES 57.29577951308232 // a radian: 180 / pi

static bool grow(void **io_array, int32_t *io_capacity, size_t item) {
	int32_t larger = *io_capacity ? *io_capacity + *io_capacity / 2 : LIST_FIRST;
	void *moved = fem_realloc(*io_array, item * (size_t)*io_capacity, item * (size_t)larger);
	if (!moved)
		return false;
	*io_array = moved;
	*io_capacity = larger;
	return true;
}

int32_t fem_tet_list_add_node(FemTetList *list, FemVec3d position) {
	void *nodes = list->nodes;
	if (list->node_count == list->node_capacity && !grow(&nodes, &list->node_capacity, sizeof *list->nodes)) {
		list->failed = true;
		return 0;
	}
	list->nodes = nodes;
	list->nodes[list->node_count] = position;
	return list->node_count++;
}

static double signed_volume(const FemVec3d *nodes, const int32_t tet[4]) {
	FemVec3d a = fem_vec3d_sub(nodes[tet[1]], nodes[tet[0]]), b = fem_vec3d_sub(nodes[tet[2]], nodes[tet[0]]);
	FemVec3d c = fem_vec3d_sub(nodes[tet[3]], nodes[tet[0]]);
	return fem_vec3d_dot(a, fem_vec3d_cross(b, c)) / 6.0;
}

void fem_tet_list_add_tet(FemTetList *list, int32_t a, int32_t b, int32_t c, int32_t d) {
	if (list->failed || a == b || a == c || a == d || b == c || b == d || c == d)
		return;
	void *tets = list->tets;
	if (list->tet_count == list->tet_capacity && !grow(&tets, &list->tet_capacity, sizeof *list->tets)) {
		list->failed = true;
		return;
	}
	list->tets = tets;
	int32_t tet[4] = {a, b, c, d};
	FEM_ASSERT(fem_are_indices(tet, 4, list->node_count));
	double volume = signed_volume(list->nodes, tet);
	if (volume == 0.0)
		return;
	if (volume < 0.0) {
		tet[2] = d;
		tet[3] = c;
	}
	memcpy(list->tets[list->tet_count++], tet, sizeof tet);
}

void fem_tet_list_add_cube(FemTetList *list, const int32_t nodes[8], bool odd) {
	static const int tets[2][FEM_CUBE_TETS][4] = {
		{{0, 3, 5, 6}, {1, 0, 3, 5}, {2, 0, 3, 6}, {4, 0, 5, 6}, {7, 3, 5, 6}},
		{{1, 2, 4, 7}, {0, 1, 2, 4}, {3, 1, 2, 7}, {5, 1, 4, 7}, {6, 2, 4, 7}},
	};
	for (int t = 0; t < FEM_CUBE_TETS; t++) {
		const int *corners = tets[odd][t];
		fem_tet_list_add_tet(list, nodes[corners[0]], nodes[corners[1]], nodes[corners[2]], nodes[corners[3]]);
	}
}

void fem_tet_list_clear(FemTetList *list) {
	list->node_count = list->tet_count = 0;
	list->failed = false;
}

void fem_tet_list_free(FemTetList *list) {
	FEM_FREE_ARRAY(list->nodes, list->node_capacity);
	FEM_FREE_ARRAY(list->tets, list->tet_capacity);
	*list = (FemTetList){0};
}

// ---- quality

double fem_tet_list_volume(const FemTetList *list, int32_t tet) {
	return signed_volume(list->nodes, list->tets[tet]);
}

double fem_tet_list_volume_sum(const FemTetList *list) {
	double sum = 0.0;
	for (int32_t t = 0; t < list->tet_count; t++)
		sum += fem_tet_list_volume(list, t);
	return sum;
}

void fem_tet_dihedral_range(const FemVec3d corners[4], double *out_min, double *out_max) {
	FemVec3d normals[4];
	for (int f = 0; f < 4; f++) {
		const int32_t *face = fem_face_corners[f];
		FemVec3d u = fem_vec3d_sub(corners[face[1]], corners[face[0]]);
		FemVec3d v = fem_vec3d_sub(corners[face[2]], corners[face[0]]);
		normals[f] = fem_vec3d_cross(u, v);
		double length = sqrt(fem_vec3d_dot(normals[f], normals[f]));
		normals[f] = fem_vec3d_scale(normals[f], length > 0.0 ? 1.0 / length : 0.0);
	}
	*out_min = FEM_STRAIGHT_ANGLE;
	*out_max = 0.0;
	for (int a = 0; a < 3; a++)
		for (int b = a + 1; b < 4; b++) {
			double cosine = -fem_vec3d_dot(normals[a], normals[b]);
			double angle = DEGREES * acos(fmin(fmax(cosine, -1.0), 1.0));
			*out_min = fmin(*out_min, angle);
			*out_max = fmax(*out_max, angle);
		}
}

double fem_tet_list_min_dihedral(const FemTetList *list) {
	double least = FEM_STRAIGHT_ANGLE;
	for (int32_t t = 0; t < list->tet_count; t++) {
		FemVec3d corners[4];
		double low, high;
		for (int v = 0; v < 4; v++)
			corners[v] = list->nodes[list->tets[t][v]];
		fem_tet_dihedral_range(corners, &low, &high);
		least = fmin(least, low);
	}
	return least;
}

// ---- bodies

static void face_key(const int32_t tet[4], int face, int32_t out[3]) {
	for (int v = 0; v < 3; v++)
		out[v] = tet[fem_face_corners[face][v]];
	for (int i = 1; i < 3; i++)
		for (int j = i; j > 0 && out[j - 1] > out[j]; j--) {
			int32_t lower = out[j];
			out[j] = out[j - 1];
			out[j - 1] = lower;
		}
}

// Open addressing over faces (tet * 4 + face + 1).
static void join_by_faces(const FemTetList *list, int32_t *table_plus_1, uint32_t mask, int32_t *parents) {
	for (int32_t f = 0; f < 4 * list->tet_count; f++) {
		int32_t key[3], other[3];
		face_key(list->tets[f / 4], f % 4, key);
		uint64_t hash = ((uint64_t)(uint32_t)key[0] * 0x9e3779b97f4a7c15u ^ (uint32_t)key[1]) * 0xbf58476d1ce4e5b9u;
		uint32_t at = (uint32_t)(((hash ^ (uint32_t)key[2]) * 0x94d049bb133111ebu) >> 32) & mask;
		for (; table_plus_1[at]; at = (at + 1) & mask) {
			int32_t g = table_plus_1[at] - 1;
			face_key(list->tets[g / 4], g % 4, other);
			if (memcmp(key, other, sizeof key) == 0) {
				fem_union_join(parents, f / 4, g / 4);
				break;
			}
		}
		if (!table_plus_1[at])
			table_plus_1[at] = f + 1;
	}
}

int32_t fem_tet_list_bodies(const FemTetList *list, int32_t *out_bodies) {
	uint32_t size = 64;
	while (size < 5 * (uint32_t)list->tet_count)
		size *= 2;
	FEM_ASSERT(size > 4 * (uint32_t)list->tet_count && (size & (size - 1)) == 0); // a search in it comes to an end
	int32_t *table = FEM_ALLOC_ARRAY(int32_t, size), *parents = FEM_ALLOC_ARRAY(int32_t, list->tet_count + 1),
			count = 0;
	if (table && parents) {
		for (int32_t t = 0; t < list->tet_count; t++)
			parents[t] = t;
		join_by_faces(list, table, size - 1, parents);
		for (int32_t t = 0; t < list->tet_count; t++) {
			int32_t root = fem_union_find(parents, t);
			out_bodies[t] = root == t ? count++ : out_bodies[root];
		}
	}
	FEM_FREE_ARRAY(table, size);
	FEM_FREE_ARRAY(parents, list->tet_count + 1);
	return count;
}

bool fem_tet_list_keep(FemTetList *list, const int32_t *bodies, int32_t body) {
	int32_t *map_plus_1 = FEM_ALLOC_ARRAY(int32_t, list->node_count + 1), kept = 0, nodes = 0,
			old_nodes = list->node_count;
	if (!map_plus_1)
		return false;
	for (int32_t t = 0; t < list->tet_count; t++) {
		if (bodies && bodies[t] != body)
			continue;
		memmove(list->tets[kept], list->tets[t], sizeof list->tets[t]);
		for (int v = 0; v < 4; v++)
			map_plus_1[list->tets[kept][v]] = 1;
		kept++;
	}
	list->tet_count = kept;
	for (int32_t i = 0; i < list->node_count; i++) {
		if (!map_plus_1[i])
			continue;
		list->nodes[nodes++] = list->nodes[i];
		map_plus_1[i] = nodes;
	}
	for (int32_t t = 0; t < kept; t++)
		for (int v = 0; v < 4; v++)
			list->tets[t][v] = map_plus_1[list->tets[t][v]] - 1;
	list->node_count = nodes;
	FEM_ASSERT(kept == 0 || fem_are_indices(list->tets[0], 4 * (int64_t)kept, nodes));
	FEM_FREE_ARRAY(map_plus_1, old_nodes + 1);
	return true;
}
