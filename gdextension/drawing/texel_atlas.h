// A growing RGBA32F texture array of 64 x 64 texels a layer, in which many owners have ranges.
//
// Ranges are written straight into the images that are sent, and only layers that were written to are sent: measured,
// the memory that a frame passes through decides what an upload costs. A range of up to a layer lies within one; a
// longer one begins with a layer. An atlas may have several planes, layers that take turns; a range then has as many
// texels in each. The texture grows by doubling and keeps its RID; ranges that are given back are used again.
#ifndef TEXEL_ATLAS_H
#define TEXEL_ATLAS_H

#include "godot_calls.h"

enum {
	ATLAS_SIDE = 64, // as in fem_position.gdshaderinc
	ATLAS_LAYER = ATLAS_SIDE * ATLAS_SIDE,
	ATLAS_LAYERS_MAX = 256, // what every renderer grants
};

typedef struct TexelRange {
	int32_t offset, count;
} TexelRange;

enum { ATLAS_RING = 3 }; // images a layer: written, handed over, and read by the renderer

// A renderer on its own thread may still read the image handed over in the last frame: then each layer has a ring of
// them.
typedef struct AtlasLayer {
	GDExtensionObjectPtr images[ATLAS_RING];
	int image;
	float *texels; // of the present image, while it is written to; else null
} AtlasLayer;

typedef struct TexelAtlas {
	int32_t plane_count; // set it first
	GdRID texture;
	int32_t layer_count; // of all planes
	AtlasLayer *layers;  // layer i is of plane i % plane_count
	TexelRange *ranges;  // in use, by rising offset
	int32_t range_count, range_capacity;
} TexelAtlas;

// The offset of a range of `count` texels, or -1 when the texture is full or memory is short.
int32_t texel_atlas_reserve(TexelAtlas *atlas, int32_t count);
void texel_atlas_release(TexelAtlas *atlas, int32_t offset);

// Where to write texels (4 floats) from `offset` on; there is room for *out_run of them, at most `count`, then ask
// again. They are sent with the next upload. Null when the range is not within the texture. Valid until the next
// reserve.
float *texel_atlas_edit(TexelAtlas *atlas, int32_t plane, int32_t offset, int32_t count, int32_t *out_run);

// Copies `count` texels.
void texel_atlas_write(TexelAtlas *atlas, int32_t plane, int32_t offset, const float *texels, int32_t count);

void texel_atlas_upload(TexelAtlas *atlas); // what has changed
GdRID texel_atlas_rid(TexelAtlas *atlas);   // made on first use
void texel_atlas_free(TexelAtlas *atlas);

#endif
