#include "drawing/node_textures.h"

TexelAtlas node_positions = {.plane_count = PLANE_COUNT};
TexelAtlas node_stencils = {.plane_count = 1};

void node_textures_upload(void) {
	texel_atlas_upload(&node_positions);
	texel_atlas_upload(&node_stencils);
}

void node_textures_free(void) {
	texel_atlas_free(&node_positions);
	texel_atlas_free(&node_stencils);
}
