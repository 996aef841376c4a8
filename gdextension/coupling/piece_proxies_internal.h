// What the files of the piece proxies share.
#ifndef PIECE_PROXIES_INTERNAL_H
#define PIECE_PROXIES_INTERNAL_H

#include "coupling/piece_surface.h"
#include "coupling/rigid_records.h"

enum { PIECE_SAMPLES = 12 }; // nodes of a piece that tell its motion

typedef struct PieceProxy {
	FemPieceNumber piece;
	GdRID body, shape;      // of the physics server; null before the first shape
	int32_t triangle_count; // of the piece now
	int32_t sample_count;
	int32_t nodes[PIECE_SAMPLES];
	FemVec3 local[PIECE_SAMPLES]; // m, from their middle, when the shape was made
	float size;                   // m
	FemQuat rotation;             // since then
	bool is_dirty;                // the shape is to be made anew
} PieceProxy;

// ---- piece_shapes.c
// Chooses the piece's samples and hands its faces, `count` of them, to its shape; false when they are too few or too
// small, and the shape is as it was.
// `out_middle` is where the shape's origin is, from the body's.
bool piece_shape_make(
	PieceProxy *proxy, const int32_t *triangles, int32_t count, const float *positions, FemVec3 *out_middle);

// Moves along with the samples: fills its rotation and `out_middle`; false when they are nowhere. A piece that has bent
// away from its shape is marked.
bool piece_shape_follow(PieceProxy *proxy, const float *positions, FemVec3 *out_middle);

#endif
