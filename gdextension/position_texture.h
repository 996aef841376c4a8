// What the vertex shader knows of all bodies' nodes: one RGBA32F texture array.
//
// Each body owns a contiguous range of texels, one a node, in each of four planes; a layer holds one plane of 4096 texels,
// so a range may run over several layers. Positions are relative to the body's origin, which the instance's transform
// carries; a float is then exact enough wherever the body is. One texture for all was measured three times faster than
// one for each body. Only layers written to since the last frame are sent. The texture grows by doubling and keeps its
// RID; ranges that are given back are used again.
#ifndef POSITION_TEXTURE_H
#define POSITION_TEXTURE_H

#include "godot_calls.h"

enum {
	POSITION_TEXTURE_SIDE = 64, // as in fem_position.gdshaderinc
	POSITION_TEXTURE_LAYER = POSITION_TEXTURE_SIDE * POSITION_TEXTURE_SIDE,
	POSITION_TEXTURE_MAX_LAYERS = 256, // what every renderer grants; a quarter of a million nodes
};

// The shader knows these numbers.
typedef enum PositionPlane {
	PLANE_POSITIONS = 0, // (x, y, z, see PLANE_GRADIENTS)
	PLANE_POSITIONS_2,   // the same: a moving body uses both in turn, so that the frame before can still be read
	PLANE_REST,          // (x, y, z, -) at rest, in the mesh's own space
	PLANE_GRADIENTS,     // 8 of 9 entries of the deformation gradient (node_gradients.h)
	PLANE_COUNT,
} PositionPlane;

// A range of `count` texels, or -1 when the texture is full or memory is short.
int32_t position_texture_reserve(int32_t count);
void position_texture_release(int32_t offset);

// Where to write `count` texels of 4 floats from `offset` on; they are sent with the next upload. Null when the range is
// not within the texture. Valid until the next reserve.
float *position_texture_edit(PositionPlane plane, int32_t offset, int32_t count);

// Sends what has changed. Call once for each drawn frame.
void position_texture_upload(void);

GdRID position_texture_rid(void); // made on first use
void position_texture_free(void);

#endif
