// All bodies' node positions in one RGBA32F texture array, read by the vertex shader.
//
// A layer has 64 x 64 texels. Each body owns a contiguous range of texels, one a node: (x, y, z, 1) relative to the
// body's origin, which the instance's transform carries; a float is then exact enough wherever the body is. One atlas
// for all was measured three times faster than a texture for each body. Only layers written to since the last frame
// are sent. The texture grows by doubling and keeps its RID.
#ifndef POSITION_TEXTURE_H
#define POSITION_TEXTURE_H

#include "godot_calls.h"

enum {
	POSITION_TEXTURE_SIDE = 64,
	POSITION_TEXTURE_LAYER = POSITION_TEXTURE_SIDE * POSITION_TEXTURE_SIDE,
	POSITION_TEXTURE_MAX_LAYERS = 256, // what every renderer grants; a million nodes
};

// A range of `count` texels, or -1 when the texture is full or memory is short.
int32_t position_texture_reserve(int32_t count);
void position_texture_release(int32_t offset);

// Copies 4 floats a node into the range that begins at `offset`; sent with the next upload.
void position_texture_write(int32_t offset, const float *positions, int32_t count);

// Sends what has changed. Call once for each drawn frame.
void position_texture_upload(void);

GdRID position_texture_rid(void); // made on first use
void position_texture_free(void);

#endif
