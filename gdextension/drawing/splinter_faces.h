// Which cuts of a body's splinters are to be seen. A face of the cuts belongs to two splinters and is there twice; as
// long as both copies follow the same nodes it is closed, and its vertices lie in one point. That matters for glass,
// through which it would be seen, and spares the graphics card all faces that never open.
#ifndef SPLINTER_FACES_H
#define SPLINTER_FACES_H

#include "drawing/embedded_copy.h"
#include "drawing/mesh_drawing.h"

typedef struct SplinterFaces {
	uint8_t *is_open; // [face of the drawing]
} SplinterFaces;

// All closed; false when memory is short.
bool splinter_faces_create(SplinterFaces *faces, const MeshDrawing *drawing);
void splinter_faces_free(SplinterFaces *faces);

// Opens the faces whose copies no longer follow the same nodes: their vertices get the owners that the body names.
// Between steps only.
void splinter_faces_open(SplinterFaces *faces, const MeshDrawing *drawing, EmbeddedCopy *copy, FemBodyId body,
	const FemOwnerChange *changes, int32_t count);

// Whether a vertex is drawn: one of the outside, or of an open face.
bool splinter_faces_shows(const SplinterFaces *faces, const MeshDrawing *drawing, int32_t vertex);

#endif
