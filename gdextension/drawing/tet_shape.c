#include "drawing/tet_shape.h"

#include "drawing/node_textures.h"
#include "drawing/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const uint8_t tet_shape_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

// ---- flatness

static float tet_flatness(const FemVec3 p[4]) {
	float longest = 0.0f, largest_area = 0.0f;
	for (int i = 0; i < 4; i++) {
		for (int k = i + 1; k < 4; k++) {
			longest = fmaxf(longest, vector_length(vector_subtract(p[k], p[i])));
		}
		const uint8_t *face = tet_shape_faces[i];
		FemVec3 area = vector_cross(vector_subtract(p[face[1]], p[face[0]]), vector_subtract(p[face[2]], p[face[0]]));
		largest_area = fmaxf(largest_area, vector_length(area));
	}
	FemVec3 up = vector_cross(vector_subtract(p[1], p[0]), vector_subtract(p[2], p[0])),
			edge = vector_subtract(p[3], p[0]);
	float height = fabsf(up.x * edge.x + up.y * edge.y + up.z * edge.z) / fmaxf(largest_area, 1e-30f);
	return longest / fmaxf(height, 1e-3f * longest + 1e-30f);
}

// Mean over tets that are spread over the body.
static float mean_flatness(const TetShape *shape) {
	enum { SAMPLES = 32 }; // tets looked at; chosen
	float sum = 0.0f;
	for (int32_t s = 0; s < SAMPLES; s++) {
		int32_t tet = (int32_t)((int64_t)s * shape->tet_count / SAMPLES);
		FemVec3 corners[4];
		for (int k = 0; k < 4; k++) {
			FemVec3 p = shape->nodes[shape->tets[4 * (size_t)tet + (size_t)k]];
			corners[k] = (FemVec3){p.x * shape->scale.x, p.y * shape->scale.y, p.z * shape->scale.z};
		}
		sum += tet_flatness(corners);
	}
	return fmaxf(1.0f, sum / (float)SAMPLES);
}

// ---- sharing

static TetShape *shapes;

// Eight bytes at a time; what is left over at the end is compared, not hashed.
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) {
	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t word;
		memcpy(&word, (const char *)data + i, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash;
}

static bool is_same(const TetShape *a, const TetShape *b) {
	return a->hash == b->hash && a->node_count == b->node_count && a->tet_count == b->tet_count &&
		memcmp(&a->scale, &b->scale, sizeof(a->scale)) == 0 &&
		memcmp(a->nodes, b->nodes, (size_t)a->node_count * sizeof(FemVec3)) == 0 &&
		memcmp(a->tets, b->tets, (size_t)a->tet_count * 4 * sizeof(int32_t)) == 0;
}

static TetShape *copy(const TetShape *given) {
	size_t node_bytes = (size_t)given->node_count * sizeof(FemVec3);
	size_t tet_bytes = (size_t)given->tet_count * 4 * sizeof(int32_t);
	TetShape *shape = malloc(sizeof(*shape));
	void *nodes = malloc(node_bytes), *tets = malloc(tet_bytes);
	if (!shape || !nodes || !tets) {
		free(shape);
		free(nodes);
		free(tets);
		return NULL;
	}
	*shape = *given;
	shape->nodes = memcpy(nodes, given->nodes, node_bytes);
	shape->tets = memcpy(tets, given->tets, tet_bytes);
	shape->flatness = mean_flatness(shape);
	shape->next = shapes;
	shapes = shape;
	return shape;
}

TetShape *tet_shape_acquire(
	int32_t node_count, const FemVec3 *nodes, FemVec3 scale, int32_t tet_count, const int32_t *tets) {
	TetShape given = {
		.node_count = node_count,
		.tet_count = tet_count,
		.nodes = (FemVec3 *)nodes,
		.scale = scale,
		.tets = (int32_t *)tets,
		.stencil_offset = -1,
	};
	given.hash = hash_bytes((uint64_t)node_count, nodes, (size_t)node_count * sizeof(FemVec3));
	given.hash = hash_bytes(given.hash, tets, (size_t)tet_count * 4 * sizeof(int32_t));
	TetShape *shape = shapes;
	while (shape && !is_same(shape, &given)) {
		shape = shape->next;
	}
	shape = shape ? shape : copy(&given);
	if (shape) {
		shape->use_count++;
	}
	return shape;
}

void tet_shape_release(TetShape *shape) {
	if (!shape || --shape->use_count > 0) {
		return;
	}
	TetShape **link = &shapes;
	while (*link != shape) {
		link = &(*link)->next;
	}
	*link = shape->next;
	if (shape->stencil_offset >= 0) {
		texel_atlas_release(&node_stencils, shape->stencil_offset);
	}
	free(shape->nodes);
	free(shape->tets);
	free(shape->neighbors);
	free(shape);
}

// ---- neighbours

typedef struct Face {
	int32_t nodes[3]; // rising
	int32_t place;    // 4 tet + face
} Face;

static void swap_if_greater(int32_t *a, int32_t *b) {
	if (*a > *b) {
		int32_t t = *a;
		*a = *b;
		*b = t;
	}
}

static int compare_faces(const void *pa, const void *pb) {
	const Face *a = pa, *b = pb;
	for (int k = 0; k < 3; k++) {
		if (a->nodes[k] != b->nodes[k]) {
			return a->nodes[k] < b->nodes[k] ? -1 : 1;
		}
	}
	return a->place < b->place ? -1 : 1;
}

bool tet_shape_find_neighbors(TetShape *shape) {
	if (shape->neighbors) {
		return true;
	}
	size_t count = (size_t)shape->tet_count * 4;
	Face *faces = malloc(count * sizeof(Face));
	shape->neighbors = faces ? malloc(count * sizeof(int32_t)) : NULL;
	if (!shape->neighbors) {
		free(faces);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		const int32_t *tet = &shape->tets[i - i % 4];
		Face *face = &faces[i];
		for (int k = 0; k < 3; k++) {
			face->nodes[k] = tet[tet_shape_faces[i % 4][k]];
		}
		swap_if_greater(&face->nodes[0], &face->nodes[1]);
		swap_if_greater(&face->nodes[1], &face->nodes[2]);
		swap_if_greater(&face->nodes[0], &face->nodes[1]);
		face->place = (int32_t)i;
		shape->neighbors[i] = -1;
	}
	qsort(faces, count, sizeof(Face), compare_faces);
	for (size_t i = 1; i < count; i++) {
		if (memcmp(faces[i].nodes, faces[i - 1].nodes, sizeof(faces[i].nodes)) == 0) {
			shape->neighbors[faces[i].place] = faces[i - 1].place / 4;
			shape->neighbors[faces[i - 1].place] = faces[i].place / 4;
		}
	}
	free(faces);
	return true;
}
