// The outer faces of a body, by the piece that each belongs to.
#ifndef PIECE_SURFACE_H
#define PIECE_SURFACE_H

#include "fem_destruction.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct PieceSurface {
	FemPieceNumber *pieces; // in the engine's order
	int32_t piece_count;
	int32_t *triangles; // 3 node numbers each, those of a piece together
	int32_t *first;     // of each piece's triangles, and one past the last
} PieceSurface;

// False when memory is short; `out` is then empty.
bool piece_surface_read(FemBodyId body, PieceSurface *out);
void piece_surface_free(PieceSurface *surface);

#endif
