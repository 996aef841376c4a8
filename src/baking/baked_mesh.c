#include "baking/baked_mesh.h"

#include "baking/baked_format.h"
#include "baking/baked_modes.h"
#include "baking/baked_splinters.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "cutting/cut_output.h"

#include <math.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "fem_hash_bytes() takes words as they lie: checksums would differ on big-endian machines."
#endif

// The bytes above 127, CR LF and Ctrl-Z show what a transfer as text would do to the file.
const uint8_t fem_baked_magic[8] = {0x89, 'F', 'E', 'M', '\r', '\n', 0x1a, '\n'};

bool fem_baked_embedding_reserve(FemBakedEmbedding *embedding, int32_t count) {
	embedding->count = count;
	embedding->tets = FEM_ALLOC_ARRAY(int32_t, count);
	embedding->weights = fem_alloc(sizeof *embedding->weights * (size_t)count);
	return embedding->tets && embedding->weights;
}

void fem_baked_embedding_free(FemBakedEmbedding *embedding) {
	FEM_FREE_ARRAY(embedding->tets, embedding->count);
	FEM_FREE_ARRAY(embedding->weights, embedding->count);
	*embedding = (FemBakedEmbedding){0};
}

void fem_baked_mesh_free(FemBakedMesh *mesh) {
	fem_tet_arrays_free(&mesh->tet_mesh);
	FEM_FREE_ARRAY(mesh->region_names, mesh->region_name_count);
	fem_render_mesh_free(&mesh->render);
	fem_baked_embedding_free(&mesh->embedding);
	fem_splinter_mesh_free(&mesh->splinters);
	fem_modes_free(&mesh->modes);
	FEM_FREE_ARRAY(mesh->report, mesh->report_size);
	*mesh = (FemBakedMesh){0};
}

bool fem_baked_mesh_set_report(FemBakedMesh *mesh, const char *report) {
	FEM_FREE_ARRAY(mesh->report, mesh->report_size);
	size_t length = strnlen(report, FEM_REPORT_SIZE - 1);
	mesh->report_size = length > 0 ? (int32_t)length + 1 : 0;
	mesh->report = length > 0 ? FEM_ALLOC_ARRAY(char, length + 1) : NULL;
	if (!mesh->report) {
		mesh->report_size = 0;
		return length == 0;
	}
	memcpy(mesh->report, report, length);
	return true;
}

bool fem_baked_mesh_is(const void *bytes, size_t size) {
	return bytes && size >= sizeof fem_baked_magic && memcmp(bytes, fem_baked_magic, sizeof fem_baked_magic) == 0;
}

// The first 24 bytes and all behind the checksum.
uint64_t fem_baked_checksum(const uint8_t *bytes, size_t size) {
	uint64_t hash = fem_hash_bytes(FEM_HASH_START, bytes, FEM_BAKED_HEADER_SIZE - 8);
	return fem_hash_bytes(hash, bytes + FEM_BAKED_HEADER_SIZE, size - FEM_BAKED_HEADER_SIZE);
}

static void put_u64(uint8_t *out, uint64_t value) {
	for (int i = 0; i < 8; i++)
		out[i] = (uint8_t)(value >> 8 * i);
}

void fem_baked_mesh_seal(void *bytes, size_t size) {
	uint8_t *out = bytes;
	put_u64(out + 16, size);
	put_u64(out + 24, fem_baked_checksum(out, size));
}

// ---- checks

static bool weights_good(const float weights[4]) {
	double sum = 0.0;
	for (int i = 0; i < 4; i++) {
		if (!(fabsf(weights[i]) <= FEM_BAKED_WEIGHT_MAX))
			return false;
		sum += (double)weights[i];
	}
	return fabs(sum - 1.0) <= 1e-3;
}

static FemResult check_embedding(const FemBakedMesh *mesh, const char *name) {
	const FemBakedEmbedding *embedding = &mesh->embedding;
	int64_t vertices = fem_render_mesh_vertex_count(&mesh->render);
	if (embedding->count != vertices)
		return fem_fail(FEM_ERROR_MESH, "%.60s ties %d vertices to tets but shows %.0f: bake the mesh again.", name,
			embedding->count, (double)vertices);
	for (int32_t i = 0; i < embedding->count; i++) {
		if (embedding->tets[i] < 0 || embedding->tets[i] >= mesh->tet_mesh.tet_count ||
			!weights_good(embedding->weights[i]))
			return fem_fail(
				FEM_ERROR_MESH, "%.60s: vertex %d hangs on no tet, or with bad weights: bake the mesh again.", name, i);
	}
	return FEM_OK;
}

FemResult fem_baked_mesh_check(const FemBakedMesh *mesh, const char *name) {
	FemResult result = fem_tet_arrays_check(&mesh->tet_mesh, name);
	if (result == FEM_OK)
		result = fem_render_mesh_check(&mesh->render, name);
	if (result == FEM_OK)
		result = check_embedding(mesh, name);
	if (result == FEM_OK)
		result = fem_baked_check_splinters(mesh, name);
	if (result == FEM_OK)
		result = fem_baked_check_modes(mesh, name);
	return result;
}

// ---- octahedral directions

static float sign_of(float value) {
	return value < 0.0f ? -1.0f : 1.0f;
}

void fem_octahedral_encode(FemVec3 direction, int32_t steps, int32_t out[2]) {
	float sum = fabsf(direction.x) + fabsf(direction.y) + fabsf(direction.z);
	float x = direction.x / sum, y = direction.y / sum, folded = x;
	if (direction.z < 0.0f) {
		x = (1.0f - fabsf(y)) * sign_of(x);
		y = (1.0f - fabsf(folded)) * sign_of(y);
	}
	out[0] = (int32_t)lrintf(x * (float)steps);
	out[1] = (int32_t)lrintf(y * (float)steps);
}

FemVec3 fem_octahedral_decode(const int32_t code[2], int32_t steps) {
	double x = (double)code[0] / steps, y = (double)code[1] / steps, z = 1.0 - fabs(x) - fabs(y), folded = x;
	if (z < 0.0) {
		x = (1.0 - fabs(y)) * (folded < 0.0 ? -1.0 : 1.0);
		y = (1.0 - fabs(folded)) * (y < 0.0 ? -1.0 : 1.0);
	}
	double inv = 1.0 / sqrt(x * x + y * y + z * z);
	return (FemVec3){(float)(x * inv), (float)(y * inv), (float)(z * inv)};
}
