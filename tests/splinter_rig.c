#include "splinter_rig.h"

#include "geometry/embedding.h"

#include <stdlib.h>
#include <string.h>

#define SHRINK 0.97f // of a box in its place

void fem_box_splinters_free(FemBoxSplinters *s) {
	free(s->home_tets);
	free(s->vertex_splinters);
	free(s->vertex_tets);
	free(s->vertex_positions);
	*s = (FemBoxSplinters){0};
}

static float at(float low, float high, int32_t i, int32_t n, float share) {
	return low + (high - low) * ((float)i + share) / (float)n;
}

static bool tie(const FemBoxMesh *mesh, const FemVec3 *points, int32_t count, int32_t *out_tets) {
	FemEmbedMesh embed = {mesh->node_count, mesh->tet_count, mesh->positions, mesh->tets, NULL};
	FemEmbedding embedding;
	if (fem_embed(&embed, points, NULL, count, &embedding) != FEM_OK)
		return false;
	memcpy(out_tets, embedding.tets, sizeof *out_tets * (size_t)count);
	fem_embedding_free(&embedding);
	return true;
}

FemBoxSplinters fem_box_splinters(
	const FemBoxMesh *mesh, FemVec3 low, FemVec3 high, int32_t nx, int32_t ny, int32_t nz) {
	int32_t count = nx * ny * nz, vertices = 8 * count;
	FemBoxSplinters s = {
		.def = fem_default_splinters_def(),
		.home_tets = malloc(sizeof(int32_t) * (size_t)count),
		.vertex_splinters = malloc(sizeof(int32_t) * (size_t)vertices),
		.vertex_tets = malloc(sizeof(int32_t) * (size_t)vertices),
		.vertex_positions = malloc(sizeof(FemVec3) * (size_t)vertices),
	};
	FemVec3 *centers = malloc(sizeof(FemVec3) * (size_t)count);
	for (int32_t i = 0; i < count; i++) {
		int32_t x = i / (ny * nz), y = i / nz % ny, z = i % nz;
		centers[i] =
			(FemVec3){at(low.x, high.x, x, nx, 0.5f), at(low.y, high.y, y, ny, 0.5f), at(low.z, high.z, z, nz, 0.5f)};
		for (int k = 0; k < 8; k++) {
			float side[2] = {0.5f - 0.5f * SHRINK, 0.5f + 0.5f * SHRINK};
			s.vertex_splinters[8 * i + k] = i;
			s.vertex_positions[8 * i + k] = (FemVec3){at(low.x, high.x, x, nx, side[k & 1]),
				at(low.y, high.y, y, ny, side[k >> 1 & 1]), at(low.z, high.z, z, nz, side[k >> 2])};
		}
	}
	if (!tie(mesh, centers, count, s.home_tets) || !tie(mesh, s.vertex_positions, vertices, s.vertex_tets))
		count = vertices = 0;
	free(centers);
	s.def.splinter_count = count;
	s.def.vertex_count = vertices;
	s.def.home_tets = s.home_tets;
	s.def.vertex_splinters = s.vertex_splinters;
	s.def.vertex_tets = s.vertex_tets;
	s.def.vertex_positions = s.vertex_positions;
	return s;
}
