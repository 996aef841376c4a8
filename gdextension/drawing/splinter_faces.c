#include "drawing/splinter_faces.h"

#include <stdlib.h>
#include <string.h>

bool splinter_faces_create(SplinterFaces *faces, const MeshDrawing *drawing) {
	splinter_faces_free(faces);
	faces->is_open = calloc((size_t)drawing->face_count + 1, 1);
	return faces->is_open != NULL;
}

void splinter_faces_free(SplinterFaces *faces) {
	free(faces->is_open);
	*faces = (SplinterFaces){0};
}

static bool follows_same(const FemVertexOwner *a, const FemVertexOwner *b) {
	return memcmp(a->nodes, b->nodes, sizeof(a->nodes)) == 0;
}

// The vertex at the same place that belongs to the other splinter.
static int32_t twin_of(const MeshDrawing *drawing, int32_t face, int32_t vertex) {
	int32_t first = drawing->first_cut + drawing->face_starts[face];
	int32_t half = (drawing->face_starts[face + 1] - drawing->face_starts[face]) / 2;
	return vertex < first + half ? vertex + half : vertex - half;
}

static void open_face(const MeshDrawing *drawing, int32_t face, EmbeddedCopy *copy, FemBodyId body) {
	for (int32_t v = drawing->face_starts[face]; v < drawing->face_starts[face + 1]; v++) {
		FemVertexOwner owner;
		if (fem_body_get_vertex_owner(body, drawing->first_cut + v, &owner) == FEM_OK) {
			embedded_copy_set_owner(copy, drawing->first_cut + v, &owner);
		}
	}
}

void splinter_faces_open(SplinterFaces *faces, const MeshDrawing *drawing, EmbeddedCopy *copy, FemBodyId body,
	const FemOwnerChange *changes, int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		int32_t vertex = changes[i].vertex;
		FemVertexOwner twin;
		if (splinter_faces_shows(faces, drawing, vertex)) {
			continue;
		}
		int32_t face = drawing->faces[vertex - drawing->first_cut];
		if (fem_body_get_vertex_owner(body, twin_of(drawing, face, vertex), &twin) == FEM_OK &&
			!follows_same(&twin, &changes[i].owner)) {
			faces->is_open[face] = 1;
			open_face(drawing, face, copy, body);
		}
	}
}

bool splinter_faces_shows(const SplinterFaces *faces, const MeshDrawing *drawing, int32_t vertex) {
	return vertex < drawing->first_cut || faces->is_open[drawing->faces[vertex - drawing->first_cut]];
}
