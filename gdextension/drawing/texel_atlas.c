#include "drawing/texel_atlas.h"

#include "binding/conversions.h"

#include <stdlib.h>
#include <string.h>

enum { LAYER_BYTES = 4 * ATLAS_LAYER * (int)sizeof(float) }; // of an image: four floats a texel

static GDExtensionObjectPtr make_image(void) {
	return gd_image_create(ATLAS_SIDE, ATLAS_SIDE, false, GD_IMAGE_FORMAT_RGBAF);
}

// ---- growing

static GdRID make_texture(TexelAtlas *atlas) {
	GdArray images = gd_array_new();
	GdStringName class_name = make_string_name("Image");
	GdVariant no_script = {0};
	godot.array_set_typed(&images, GDEXTENSION_VARIANT_TYPE_OBJECT, &class_name, &no_script);
	gd_array_resize(&images, atlas->layer_count);
	for (int32_t i = 0; i < atlas->layer_count; i++) {
		AtlasLayer *layer = &atlas->layers[i];
		array_take(&images, i, make_variant_object(layer->images[layer->image]));
		layer->texels = NULL;
	}
	GdRID texture =
		gd_rendering_server_texture_2d_layered_create(&images, GD_RENDERING_SERVER_TEXTURE_LAYERED_2D_ARRAY);
	gd_string_name_free(&class_name);
	gd_array_free(&images);
	return texture;
}

static bool grow(TexelAtlas *atlas, int32_t layer_count) {
	AtlasLayer *layers =
		layer_count <= ATLAS_LAYERS_MAX ? realloc(atlas->layers, (size_t)layer_count * sizeof(AtlasLayer)) : NULL;
	if (!layers) {
		return false;
	}
	atlas->layers = layers;
	for (int32_t i = atlas->layer_count; i < layer_count; i++) {
		layers[i] = (AtlasLayer){.images = {make_image()}};
	}
	bool first = atlas->layer_count == 0;
	atlas->layer_count = layer_count;
	GdRID texture = make_texture(atlas);
	if (first) {
		atlas->texture = texture;
	} else {
		gd_rendering_server_texture_replace(atlas->texture, texture);
	}
	return true;
}

GdRID texel_atlas_rid(TexelAtlas *atlas) {
	if (atlas->layer_count == 0) {
		grow(atlas, atlas->plane_count);
	}
	return atlas->texture;
}

// ---- ranges

static int32_t next_layer(int32_t offset) {
	return (offset + ATLAS_LAYER - 1) / ATLAS_LAYER * ATLAS_LAYER;
}

// The first place from `offset` on at which a range may begin.
static int32_t fitting_begin(int32_t offset, int32_t count) {
	return offset % ATLAS_LAYER + count > ATLAS_LAYER ? next_layer(offset) : offset;
}

// First fit: answers where in the list the new range goes.
static int32_t find_gap(const TexelAtlas *atlas, int32_t count, int32_t *out_offset) {
	int32_t end = 0;
	for (int32_t i = 0; i < atlas->range_count; i++) {
		*out_offset = fitting_begin(end, count);
		if (atlas->ranges[i].offset - *out_offset >= count) {
			return i;
		}
		end = atlas->ranges[i].offset + atlas->ranges[i].count;
	}
	*out_offset = fitting_begin(end, count);
	return atlas->range_count;
}

static bool reserve_entry(TexelAtlas *atlas) {
	if (atlas->range_count < atlas->range_capacity) {
		return true;
	}
	int32_t capacity = atlas->range_capacity ? 2 * atlas->range_capacity : 64;
	TexelRange *ranges = realloc(atlas->ranges, (size_t)capacity * sizeof(TexelRange));
	if (!ranges) {
		return false;
	}
	atlas->ranges = ranges;
	atlas->range_capacity = capacity;
	return true;
}

int32_t texel_atlas_reserve(TexelAtlas *atlas, int32_t count) {
	int32_t planes = atlas->plane_count;
	if (count <= 0 || count > ATLAS_LAYERS_MAX / planes * ATLAS_LAYER || !reserve_entry(atlas)) {
		return -1;
	}
	int32_t offset, index = find_gap(atlas, count, &offset);
	int32_t needed = next_layer(offset + count) / ATLAS_LAYER * planes;
	int32_t layers = atlas->layer_count ? atlas->layer_count : planes;
	while (layers < needed) {
		layers *= 2;
	}
	layers = layers > ATLAS_LAYERS_MAX ? ATLAS_LAYERS_MAX / planes * planes : layers;
	if (layers < needed || (layers > atlas->layer_count && !grow(atlas, layers))) {
		return -1;
	}
	memmove(
		&atlas->ranges[index + 1], &atlas->ranges[index], (size_t)(atlas->range_count - index) * sizeof(TexelRange));
	atlas->ranges[index] = (TexelRange){offset, count};
	atlas->range_count++;
	return offset;
}

void texel_atlas_release(TexelAtlas *atlas, int32_t offset) {
	for (int32_t i = 0; i < atlas->range_count; i++) {
		if (atlas->ranges[i].offset == offset) {
			atlas->range_count--;
			memmove(&atlas->ranges[i], &atlas->ranges[i + 1], (size_t)(atlas->range_count - i) * sizeof(TexelRange));
			return;
		}
	}
}

// ---- writing

// With a renderer on its own thread the next image of the ring takes over what the last one holds.
static void open_layer(AtlasLayer *layer) {
	GDExtensionObjectPtr old = layer->images[layer->image];
	if (!gd_rendering_server_is_on_render_thread()) {
		layer->image = (layer->image + 1) % ATLAS_RING;
		GDExtensionObjectPtr *image = &layer->images[layer->image];
		*image = *image ? *image : make_image();
		memcpy(godot.image_ptrw(*image), godot.image_ptr(old), LAYER_BYTES);
	}
	layer->texels = (float *)(void *)godot.image_ptrw(layer->images[layer->image]);
}

float *texel_atlas_edit(TexelAtlas *atlas, int32_t plane, int32_t offset, int32_t count, int32_t *out_run) {
	if (offset < 0 || count <= 0 || offset > atlas->layer_count / atlas->plane_count * ATLAS_LAYER - count) {
		*out_run = 0;
		return NULL;
	}
	AtlasLayer *layer = &atlas->layers[offset / ATLAS_LAYER * atlas->plane_count + plane];
	if (!layer->texels) {
		open_layer(layer);
	}
	int32_t place = offset % ATLAS_LAYER, room = ATLAS_LAYER - place;
	*out_run = count < room ? count : room;
	return &layer->texels[4 * place];
}

void texel_atlas_write(TexelAtlas *atlas, int32_t plane, int32_t offset, const float *texels, int32_t count) {
	for (int32_t done = 0, run; done < count; done += run) {
		float *out = texel_atlas_edit(atlas, plane, offset + done, count - done, &run);
		if (!out) {
			return;
		}
		memcpy(out, &texels[4 * (size_t)done], (size_t)run * 4 * sizeof(float));
	}
}

void texel_atlas_upload(TexelAtlas *atlas) {
	for (int32_t i = 0; i < atlas->layer_count; i++) {
		AtlasLayer *layer = &atlas->layers[i];
		if (layer->texels) {
			gd_rendering_server_texture_2d_update(atlas->texture, layer->images[layer->image], i);
			layer->texels = NULL;
		}
	}
}

void texel_atlas_free(TexelAtlas *atlas) {
	for (int32_t i = 0; i < atlas->layer_count; i++) {
		for (int k = 0; k < ATLAS_RING; k++) {
			object_unreference(atlas->layers[i].images[k]);
		}
	}
	if (atlas->layer_count > 0) {
		gd_rendering_server_free_rid(atlas->texture);
	}
	free(atlas->layers);
	free(atlas->ranges);
	*atlas = (TexelAtlas){.plane_count = atlas->plane_count};
}
