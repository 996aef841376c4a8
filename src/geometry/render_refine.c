// Splits the long edges of a render mesh, so that a bending body has vertices where it bends: a box of 12 triangles
// would look flat however far its tets sag.
//
// Whether an edge is split, and where, depends on its two ends alone. Triangles that share an edge, in one surface or
// in two, split it alike, and no gap opens.
#include "fem_baking.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

#define PASSES_MAX 12 // each halves the edges that are too long: 4,096 times in all; chosen

typedef struct EdgeMap {
	uint64_t *keys; // lower vertex << 32 | higher vertex; 0 is free: no edge joins vertex 0 with itself
	int32_t *middles;
	uint32_t mask;
} EdgeMap;

static bool edge_map_create(EdgeMap *map, int32_t edge_count) {
	uint32_t size = 16;
	while (size < 2 * (uint32_t)edge_count)
		size *= 2;
	map->mask = size - 1;
	map->keys = FEM_ALLOC_ARRAY(uint64_t, size);
	map->middles = FEM_ALLOC_ARRAY(int32_t, size);
	return map->keys && map->middles;
}

static void edge_map_free(EdgeMap *map) {
	FEM_FREE_ARRAY(map->keys, (size_t)map->mask + 1);
	FEM_FREE_ARRAY(map->middles, (size_t)map->mask + 1);
}

// The place of an edge's middle, which is new when its key is.
static uint32_t edge_place(const EdgeMap *map, int32_t a, int32_t b, uint64_t *out_key) {
	uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a), key = low << 32 | high;
	FEM_ASSERT(low < high); // no edge joins a vertex with itself
	uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 40) & map->mask;
	while (map->keys[at] != 0 && map->keys[at] != key)
		at = (at + 1) & map->mask;
	*out_key = key;
	return at;
}

// ---- edges

static bool is_long(const FemRenderSurface *surface, int32_t a, int32_t b, float limit_sq) {
	FemVec3 p = surface->positions[a], q = surface->positions[b];
	float x = p.x - q.x, y = p.y - q.y, z = p.z - q.z;
	return x * x + y * y + z * z > limit_sq;
}

static int32_t count_long(const FemRenderSurface *surface, int32_t triangle, float limit_sq) {
	const int32_t *v = &surface->indices[3 * (int64_t)triangle];
	return is_long(surface, v[0], v[1], limit_sq) + is_long(surface, v[1], v[2], limit_sq) +
		is_long(surface, v[2], v[0], limit_sq);
}

// A triangle becomes one more for each long edge.
static int64_t count_new(const FemRenderMesh *mesh, float limit_sq) {
	int64_t count = 0;
	for (int32_t s = 0; s < mesh->surface_count; s++) {
		for (int32_t t = 0; t < mesh->surfaces[s].index_count / 3; t++)
			count += count_long(&mesh->surfaces[s], t, limit_sq);
	}
	return count;
}

// ---- vertices

static FemVec3 midpoint(FemVec3 a, FemVec3 b) {
	return (FemVec3){0.5f * (a.x + b.x), 0.5f * (a.y + b.y), 0.5f * (a.z + b.z)};
}

// The unit vector halfway between two; the first where they are opposed.
static void unit_midpoint(const float *a, const float *b, float *out) {
	float v[3] = {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
	float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
	for (int i = 0; i < 3; i++)
		out[i] = length > 1e-3f ? v[i] / length : a[i];
}

static void set_middle(FemRenderSurface *surface, int32_t a, int32_t b, int32_t middle) {
	surface->positions[middle] = midpoint(surface->positions[a], surface->positions[b]);
	if (surface->normals)
		unit_midpoint(&surface->normals[a].x, &surface->normals[b].x, &surface->normals[middle].x);
	if (surface->tangents) {
		unit_midpoint(surface->tangents[a], surface->tangents[b], surface->tangents[middle]);
		surface->tangents[middle][3] = surface->tangents[a][3];
	}
	for (int i = 0; i < 2 && surface->uvs; i++)
		surface->uvs[middle][i] = 0.5f * (surface->uvs[a][i] + surface->uvs[b][i]);
	for (int i = 0; i < 2 && surface->uvs2; i++)
		surface->uvs2[middle][i] = 0.5f * (surface->uvs2[a][i] + surface->uvs2[b][i]);
	for (int i = 0; i < 4 && surface->colors; i++)
		surface->colors[middle][i] = (uint8_t)((surface->colors[a][i] + surface->colors[b][i] + 1) / 2);
}

static void copy_vertices(FemRenderSurface *to, const FemRenderSurface *from) {
	size_t count = (size_t)from->vertex_count;
	memcpy(to->positions, from->positions, sizeof *to->positions * count);
	if (from->normals)
		memcpy(to->normals, from->normals, sizeof *to->normals * count);
	if (from->tangents)
		memcpy(to->tangents, from->tangents, sizeof *to->tangents * count);
	if (from->uvs)
		memcpy(to->uvs, from->uvs, sizeof *to->uvs * count);
	if (from->uvs2)
		memcpy(to->uvs2, from->uvs2, sizeof *to->uvs2 * count);
	if (from->colors)
		memcpy(to->colors, from->colors, sizeof *to->colors * count);
}

// ---- triangles

static int32_t *put(int32_t *out, int32_t a, int32_t b, int32_t c) {
	out[0] = a, out[1] = b, out[2] = c;
	return out + 3;
}

// m[k] is the middle of the edge from v[k] to v[k + 1], or -1.
static int32_t *put_split(int32_t *out, const int32_t v[3], const int32_t m[3]) {
	int split = (m[0] >= 0) + (m[1] >= 0) + (m[2] >= 0), k = 0;
	if (split == 0)
		return put(out, v[0], v[1], v[2]);
	if (split == 3) {
		out = put(put(out, v[0], m[0], m[2]), m[0], v[1], m[1]);
		return put(put(out, m[2], m[1], v[2]), m[0], m[1], m[2]);
	}
	// Edge k is the one that is split, or the first of the two, of which the second follows it.
	while (split == 1 ? m[k] < 0 : m[k] < 0 || m[(k + 1) % 3] < 0)
		k++;
	int32_t a = v[k], b = v[(k + 1) % 3], c = v[(k + 2) % 3], ab = m[k], bc = m[(k + 1) % 3];
	if (split == 1)
		return put(put(out, a, ab, c), ab, b, c);
	return put(put(put(out, ab, b, bc), a, ab, bc), a, bc, c);
}

static bool number_middles(const FemRenderSurface *surface, float limit_sq, EdgeMap *map, int32_t *out_count) {
	int32_t next = surface->vertex_count;
	if (!edge_map_create(map, surface->index_count))
		return false;
	for (int32_t i = 0; i < surface->index_count; i++) {
		int32_t a = surface->indices[i], b = surface->indices[i % 3 == 2 ? i - 2 : i + 1];
		uint64_t key;
		if (!is_long(surface, a, b, limit_sq))
			continue;
		uint32_t at = edge_place(map, a, b, &key);
		map->middles[at] = map->keys[at] ? map->middles[at] : next++;
		map->keys[at] = key;
	}
	*out_count = next;
	return true;
}

static void fill(FemRenderSurface *made, const FemRenderSurface *surface, float limit_sq, const EdgeMap *map) {
	int32_t *out = made->indices;
	copy_vertices(made, surface);
	for (int32_t t = 0; t < surface->index_count / 3; t++) {
		const int32_t *v = &surface->indices[3 * (int64_t)t];
		int32_t m[3];
		for (int k = 0; k < 3; k++) {
			uint64_t key;
			int32_t a = v[k], b = v[(k + 1) % 3];
			bool splits = is_long(surface, a, b, limit_sq);
			m[k] = splits ? map->middles[edge_place(map, a, b, &key)] : -1;
			if (splits)
				set_middle(made, a < b ? a : b, a < b ? b : a, m[k]);
		}
		out = put_split(out, v, m);
	}
}

static void free_surface(FemRenderSurface *surface) {
	FemRenderSurface *one = FEM_ALLOC_ARRAY(FemRenderSurface, 1);
	if (!one)
		return;
	*one = *surface;
	FemRenderMesh mesh = {.surface_count = 1, .surface_capacity = 1, .surfaces = one};
	fem_render_mesh_free(&mesh);
}

static bool refine_surface(FemRenderSurface *surface, float limit_sq) {
	FemRenderSurface made = *surface;
	EdgeMap map = {0};
	int32_t vertices = 0, indices = surface->index_count;
	for (int32_t t = 0; t < surface->index_count / 3; t++)
		indices += 3 * count_long(surface, t, limit_sq);
	if (indices == surface->index_count)
		return true;
	made.positions = made.normals = NULL;
	made.tangents = NULL;
	made.uvs = made.uvs2 = NULL;
	made.colors = NULL;
	made.indices = NULL;
	bool ok = number_middles(surface, limit_sq, &map, &vertices) &&
		fem_render_surface_reserve(&made, vertices, indices, surface->attributes);
	if (ok)
		fill(&made, surface, limit_sq, &map);
	edge_map_free(&map);
	free_surface(ok ? surface : &made);
	if (ok)
		*surface = made;
	return ok;
}

FemResult fem_render_mesh_refine(FemRenderMesh *mesh, float edge_max, int32_t triangle_limit) {
	FemResult result = fem_render_mesh_check(mesh, "The mesh");
	if (result != FEM_OK)
		return result;
	if (!(edge_max > 0.0f))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "edge_max must be a positive length.");
	float limit_sq = edge_max * edge_max;
	for (int pass = 0; pass < PASSES_MAX; pass++) {
		int64_t more = count_new(mesh, limit_sq);
		if (more == 0 || fem_render_mesh_triangle_count(mesh) + more > triangle_limit)
			return FEM_OK;
		for (int32_t s = 0; s < mesh->surface_count; s++) {
			if (!refine_surface(&mesh->surfaces[s], limit_sq))
				return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to refine a mesh.");
		}
	}
	return FEM_OK;
}

double fem_render_mesh_volume(const FemRenderMesh *mesh) {
	double sum = 0.0;
	for (int32_t s = 0; s < mesh->surface_count; s++) {
		const FemRenderSurface *surface = &mesh->surfaces[s];
		for (int32_t i = 0; i + 2 < surface->index_count; i += 3) {
			FemVec3 a = surface->positions[surface->indices[i]], b = surface->positions[surface->indices[i + 1]];
			FemVec3 c = surface->positions[surface->indices[i + 2]];
			sum += (double)a.x * ((double)b.y * c.z - (double)b.z * c.y) +
				(double)a.y * ((double)b.z * c.x - (double)b.x * c.z) +
				(double)a.z * ((double)b.x * c.y - (double)b.y * c.x);
		}
	}
	return sum / 6.0;
}
