#include "position_texture.h"

#include "conversions.h"

#include <stdlib.h>
#include <string.h>

enum { IMAGES_PER_LAYER = 3, LAYER_FLOATS = 4 * POSITION_TEXTURE_LAYER };

typedef struct TexelRange {
	int32_t offset, count;
} TexelRange;

// A renderer on its own thread may still read an image handed over in the last frame, so each layer has a ring of them.
typedef struct Layer {
	GDExtensionObjectPtr images[IMAGES_PER_LAYER];
	int next_image;
	bool dirty;
} Layer;

static struct {
	GdRID texture;
	int32_t layer_count;        // of all planes
	float *texels[PLANE_COUNT]; // the CPU's copy
	Layer *layers;              // layer_count of them: layer i is of plane i % PLANE_COUNT
	TexelRange *ranges;         // in use, by rising offset
	int32_t range_count, range_capacity;
} atlas;

static GDExtensionObjectPtr make_image(void) {
	return gd_image_create(POSITION_TEXTURE_SIDE, POSITION_TEXTURE_SIDE, false, GD_IMAGE_FORMAT_RGBAF);
}

static GDExtensionObjectPtr next_image(int32_t index) {
	Layer *layer = &atlas.layers[index];
	GDExtensionObjectPtr *image = &layer->images[layer->next_image];
	layer->next_image = (layer->next_image + 1) % IMAGES_PER_LAYER;
	if (!*image) {
		*image = make_image();
	}
	const float *texels = &atlas.texels[index % PLANE_COUNT][(size_t)(index / PLANE_COUNT) * LAYER_FLOATS];
	memcpy(godot.image_ptrw(*image), texels, LAYER_FLOATS * sizeof(float));
	return *image;
}

static GdRID make_texture(void) {
	GdArray images = gd_array_new();
	GdStringName class_name = make_string_name("Image");
	GdVariant no_script = {0};
	godot.array_set_typed(&images, GDEXTENSION_VARIANT_TYPE_OBJECT, &class_name, &no_script);
	gd_array_resize(&images, atlas.layer_count);
	for (int32_t i = 0; i < atlas.layer_count; i++) {
		array_take(&images, i, make_variant_object(next_image(i)));
		atlas.layers[i].dirty = false;
	}
	GdRID texture =
		gd_rendering_server_texture_2d_layered_create(&images, GD_RENDERING_SERVER_TEXTURE_LAYERED_2D_ARRAY);
	gd_string_name_free(&class_name);
	gd_array_free(&images);
	return texture;
}

static bool grow_plane(int plane, size_t old_floats, size_t floats) {
	float *texels = realloc(atlas.texels[plane], floats * sizeof(float));
	if (!texels) {
		return false;
	}
	memset(&texels[old_floats], 0, (floats - old_floats) * sizeof(float));
	atlas.texels[plane] = texels;
	return true;
}

static bool grow(int32_t layer_count) {
	Layer *layers =
		layer_count <= POSITION_TEXTURE_MAX_LAYERS ? realloc(atlas.layers, (size_t)layer_count * sizeof(Layer)) : NULL;
	if (!layers) {
		return false;
	}
	atlas.layers = layers;
	for (int plane = 0; plane < PLANE_COUNT; plane++) {
		if (!grow_plane(plane, (size_t)(atlas.layer_count / PLANE_COUNT) * LAYER_FLOATS,
				(size_t)(layer_count / PLANE_COUNT) * LAYER_FLOATS)) {
			return false;
		}
	}
	memset(&layers[atlas.layer_count], 0, (size_t)(layer_count - atlas.layer_count) * sizeof(Layer));
	bool first = atlas.layer_count == 0;
	atlas.layer_count = layer_count;
	GdRID texture = make_texture();
	if (first) {
		atlas.texture = texture;
	} else {
		gd_rendering_server_texture_replace(atlas.texture, texture);
	}
	return true;
}

GdRID position_texture_rid(void) {
	if (atlas.layer_count == 0) {
		grow(PLANE_COUNT);
	}
	return atlas.texture;
}

// First fit: answers where in the list the new range goes.
static int32_t find_gap(int32_t count, int32_t *out_offset) {
	int32_t end = 0;
	for (int32_t i = 0; i < atlas.range_count; i++) {
		if (atlas.ranges[i].offset - end >= count) {
			*out_offset = end;
			return i;
		}
		end = atlas.ranges[i].offset + atlas.ranges[i].count;
	}
	*out_offset = end;
	return atlas.range_count;
}

static bool reserve_entry(void) {
	if (atlas.range_count < atlas.range_capacity) {
		return true;
	}
	int32_t capacity = atlas.range_capacity ? 2 * atlas.range_capacity : 64;
	TexelRange *ranges = realloc(atlas.ranges, (size_t)capacity * sizeof(TexelRange));
	if (!ranges) {
		return false;
	}
	atlas.ranges = ranges;
	atlas.range_capacity = capacity;
	return true;
}

int32_t position_texture_reserve(int32_t count) {
	if (count <= 0 || count > POSITION_TEXTURE_MAX_LAYERS / PLANE_COUNT * POSITION_TEXTURE_LAYER || !reserve_entry()) {
		return -1;
	}
	int32_t offset, index = find_gap(count, &offset);
	int32_t needed = (offset + count + POSITION_TEXTURE_LAYER - 1) / POSITION_TEXTURE_LAYER * PLANE_COUNT;
	int32_t layers = atlas.layer_count ? atlas.layer_count : PLANE_COUNT;
	while (layers < needed) {
		layers *= 2;
	}
	if (layers > atlas.layer_count && !grow(layers)) {
		return -1;
	}
	memmove(&atlas.ranges[index + 1], &atlas.ranges[index], (size_t)(atlas.range_count - index) * sizeof(TexelRange));
	atlas.ranges[index] = (TexelRange){offset, count};
	atlas.range_count++;
	return offset;
}

void position_texture_release(int32_t offset) {
	for (int32_t i = 0; i < atlas.range_count; i++) {
		if (atlas.ranges[i].offset == offset) {
			atlas.range_count--;
			memmove(&atlas.ranges[i], &atlas.ranges[i + 1], (size_t)(atlas.range_count - i) * sizeof(TexelRange));
			return;
		}
	}
}

float *position_texture_edit(PositionPlane plane, int32_t offset, int32_t count) {
	if (offset < 0 || count <= 0 || offset > atlas.layer_count / PLANE_COUNT * POSITION_TEXTURE_LAYER - count) {
		return NULL;
	}
	int32_t last = (offset + count - 1) / POSITION_TEXTURE_LAYER;
	for (int32_t layer = offset / POSITION_TEXTURE_LAYER; layer <= last; layer++) {
		atlas.layers[layer * PLANE_COUNT + (int32_t)plane].dirty = true;
	}
	return &atlas.texels[plane][(size_t)offset * 4];
}

void position_texture_upload(void) {
	for (int32_t i = 0; i < atlas.layer_count; i++) {
		if (atlas.layers[i].dirty) {
			gd_rendering_server_texture_2d_update(atlas.texture, next_image(i), i);
			atlas.layers[i].dirty = false;
		}
	}
}

void position_texture_free(void) {
	for (int32_t i = 0; i < atlas.layer_count; i++) {
		for (int k = 0; k < IMAGES_PER_LAYER; k++) {
			object_unreference(atlas.layers[i].images[k]);
		}
	}
	if (atlas.layer_count > 0) {
		gd_rendering_server_free_rid(atlas.texture);
	}
	for (int plane = 0; plane < PLANE_COUNT; plane++) {
		free(atlas.texels[plane]);
	}
	free(atlas.layers);
	free(atlas.ranges);
	memset(&atlas, 0, sizeof(atlas));
}
