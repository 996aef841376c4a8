#include "geometry/triangle_soup.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "fem_constants.h"

#include <string.h>

#define WELD_SHARE 1e-6 // of the size; a float's rounding in a mesh a few sizes away from its origin
// The same for a source of few digits: a step of 16 bits, 1 / 65,535, and its rounding.
#define COARSE_SHARE 2e-5
// In unit space: a triangle of smaller area has no normal. Chosen: 1e-7 on a side, the weld's order.
#define AREA_MIN 1e-14
#define EXTENT_MIN 1e-12f      // m: a smaller mesh is a point
#define UNIT_HALF 0.500001f    // of the box of unit space, with rounding
#define TRIANGLE_MAX (1 << 28) // of a mesh: three corners each must fit 32 bits

// ---- frame

FemVec3d fem_frame_to_user(const FemUnitFrame *frame, FemVec3d unit) {
	double in[3] = {unit.x * frame->size, unit.y * frame->size, unit.z * frame->size};
	FemVec3d out = frame->origin;
	out.x += frame->axes[0][0] * in[0] + frame->axes[1][0] * in[1] + frame->axes[2][0] * in[2];
	out.y += frame->axes[0][1] * in[0] + frame->axes[1][1] * in[1] + frame->axes[2][1] * in[2];
	out.z += frame->axes[0][2] * in[0] + frame->axes[1][2] * in[1] + frame->axes[2][2] * in[2];
	return out;
}

FemVec3d fem_frame_to_unit(const FemUnitFrame *frame, FemVec3d user) {
	FemVec3d offset = fem_vec3d_sub(user, frame->origin);
	double out[3];
	for (int i = 0; i < 3; i++)
		out[i] =
			(frame->axes[i][0] * offset.x + frame->axes[i][1] * offset.y + frame->axes[i][2] * offset.z) / frame->size;
	return (FemVec3d){out[0], out[1], out[2]};
}

// ---- check

static bool is_finite_vector(FemVec3 p) {
	return p.x - p.x == 0.0f && p.y - p.y == 0.0f && p.z - p.z == 0.0f;
}

static FemResult check_values(const FemSoup *soup) {
	for (int32_t i = 0; i < soup->vertex_count; i++) {
		FemVec3 p = soup->vertices[i];
		if (!is_finite_vector(p))
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
				"Vertex %d is not finite: clean the mesh in the modelling program and export it again.", i);
		if (fabsf(p.x) > FEM_REST_MAX || fabsf(p.y) > FEM_REST_MAX || fabsf(p.z) > FEM_REST_MAX)
			return fem_fail(FEM_ERROR_MESH,
				"Vertex %d lies more than %g m from the mesh's origin: move or scale the mesh.", i,
				(double)FEM_REST_MAX);
	}
	for (size_t i = 0; i < 3 * (size_t)soup->triangle_count; i++) {
		if (soup->triangles[i] < 0 || soup->triangles[i] >= soup->vertex_count)
			return fem_fail(FEM_ERROR_MESH, "Triangle %d names vertex %d: indices must be within 0..%d.", (int)(i / 3),
				soup->triangles[i], soup->vertex_count - 1);
	}
	return FEM_OK;
}

FemResult fem_soup_check(const FemSoup *soup) {
	if (!soup || soup->triangle_count <= 0 || soup->vertex_count <= 0)
		return fem_fail(FEM_ERROR_MESH,
			"The mesh is empty: it needs triangles (check that the surface is not hidden "
			"or made of lines only).");
	if (!soup->vertices || !soup->triangles)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The soup has no %s: set both vertices and triangles.",
			soup->vertices ? "triangles" : "vertices");
	if (soup->triangle_count > TRIANGLE_MAX || soup->vertex_count > TRIANGLE_MAX)
		return fem_fail(FEM_ERROR_LIMIT, "The mesh has %d triangles and %d vertices: use at most %d of each.",
			soup->triangle_count, soup->vertex_count, TRIANGLE_MAX);
	return check_values(soup);
}

// ---- weld

// Vertices in cells of a hash grid; a vertex is welded to the first earlier one within the distance.
typedef struct Welder {
	int32_t *table_plus_1; // [mask + 1], heads of chains
	int32_t *next_plus_1;  // [welded vertex]
	uint32_t mask;
	double inv_cell, distance_sq;
	FemTriangles *out;
} Welder;

static uint32_t hash_cell(int64_t x, int64_t y, int64_t z) {
	uint64_t hash =
		(uint64_t)x * 0x9e3779b97f4a7c15u ^ (uint64_t)y * 0xc2b2ae3d27d4eb4fu ^ (uint64_t)z * 0x165667b19e3779f9u;
	hash = (hash ^ hash >> 31) * 0xbf58476d1ce4e5b9u;
	return (uint32_t)(hash >> 32);
}

static void unit_bounds(const FemSoup *soup, FemUnitFrame *frame) {
	FemVec3 lo = soup->vertices[soup->triangles[0]], hi = lo;
	for (size_t i = 1; i < 3 * (size_t)soup->triangle_count; i++) {
		FemVec3 p = soup->vertices[soup->triangles[i]];
		lo = (FemVec3){fminf(lo.x, p.x), fminf(lo.y, p.y), fminf(lo.z, p.z)};
		hi = (FemVec3){fmaxf(hi.x, p.x), fmaxf(hi.y, p.y), fmaxf(hi.z, p.z)};
	}
	*frame = (FemUnitFrame){.axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
	frame->origin = fem_vec3d_scale(fem_vec3d_add(fem_vec3d_from(lo), fem_vec3d_from(hi)), 0.5);
	FemVec3d extent = fem_vec3d_sub(fem_vec3d_from(hi), fem_vec3d_from(lo));
	frame->size = fmax(extent.x, fmax(extent.y, extent.z));
}

static int32_t find_near(const Welder *welder, FemVec3 p, int64_t x, int64_t y, int64_t z) {
	for (int32_t at = welder->table_plus_1[hash_cell(x, y, z) & welder->mask]; at; at = welder->next_plus_1[at - 1]) {
		FemVec3 offset = fem_vec3_sub(welder->out->vertices[at - 1], p);
		if ((double)fem_vec3_dot(offset, offset) <= welder->distance_sq)
			return at - 1;
	}
	return -1;
}

// Looks into the cells that the weld distance reaches: cells are 4 distances wide, so mostly one.
static int32_t weld_vertex(Welder *welder, FemVec3 p) {
	double at[3] = {(double)p.x * welder->inv_cell, (double)p.y * welder->inv_cell, (double)p.z * welder->inv_cell};
	int64_t lo[3], hi[3];
	for (int axis = 0; axis < 3; axis++) {
		lo[axis] = (int64_t)floor(at[axis] - 0.25);
		hi[axis] = (int64_t)floor(at[axis] + 0.25);
	}
	for (int64_t x = lo[0]; x <= hi[0]; x++)
		for (int64_t y = lo[1]; y <= hi[1]; y++)
			for (int64_t z = lo[2]; z <= hi[2]; z++) {
				int32_t found = find_near(welder, p, x, y, z);
				if (found >= 0)
					return found;
			}
	int32_t vertex = welder->out->vertex_count++;
	FEM_ASSERT_INDEX(vertex, welder->out->vertex_capacity);
	FEM_ASSERT(fabsf(p.x) < UNIT_HALF && fabsf(p.y) < UNIT_HALF && fabsf(p.z) < UNIT_HALF);
	uint32_t slot = hash_cell((int64_t)floor(at[0]), (int64_t)floor(at[1]), (int64_t)floor(at[2])) & welder->mask;
	welder->out->vertices[vertex] = p;
	welder->next_plus_1[vertex] = welder->table_plus_1[slot];
	welder->table_plus_1[slot] = vertex + 1;
	return vertex;
}

// map: [soup vertex], -1 on entry for all; vertices of no triangle stay -1.
static void weld_all(Welder *welder, const FemSoup *soup, int32_t *map) {
	FemTriangles *out = welder->out;
	for (int32_t t = 0; t < soup->triangle_count; t++) {
		for (int v = 0; v < 3; v++) {
			int32_t from = soup->triangles[3 * (size_t)t + (size_t)v];
			if (map[from] < 0)
				map[from] = weld_vertex(
					welder, fem_vec3d_to_vec3(fem_frame_to_unit(&out->frame, fem_vec3d_from(soup->vertices[from]))));
			out->triangles[t][v] = map[from];
		}
	}
	out->triangle_count = soup->triangle_count;
}

static FemResult no_memory(const FemSoup *soup) {
	return fem_fail(
		FEM_ERROR_MEMORY, "The system gave no memory for %d triangles: reduce the mesh first.", soup->triangle_count);
}

static FemResult weld(const FemSoup *soup, double distance, FemTriangles *out, int32_t *map) {
	uint32_t size = 64;
	while (size < (uint32_t)soup->vertex_count)
		size *= 2;
	double cell = 4.0 * distance;
	Welder welder = {FEM_ALLOC_ARRAY(int32_t, size), FEM_ALLOC_ARRAY(int32_t, soup->vertex_count), size - 1, 1.0 / cell,
		distance * distance, out};
	bool ready = welder.table_plus_1 && welder.next_plus_1;
	if (ready)
		weld_all(&welder, soup, map);
	FEM_FREE_ARRAY(welder.table_plus_1, size);
	FEM_FREE_ARRAY(welder.next_plus_1, soup->vertex_count);
	return ready ? FEM_OK : no_memory(soup);
}

// ---- clean

static bool has_area(const FemTriangles *triangles, int32_t t) {
	const int32_t *corners = triangles->triangles[t];
	if (corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0])
		return false;
	FemVec3d n = fem_triangle_area_vector(triangles, t);
	return fem_vec3d_dot(n, n) > AREA_MIN * AREA_MIN;
}

static void sort_corners(const int32_t in[3], int32_t out[3]) {
	memcpy(out, in, sizeof(int32_t) * 3);
	for (int i = 1; i < 3; i++)
		for (int j = i; j > 0 && out[j - 1] > out[j]; j--) {
			int32_t lower = out[j];
			out[j] = out[j - 1];
			out[j - 1] = lower;
		}
}

// True when the table did not hold a triangle of the same corners yet.
static bool add_to_table(const FemTriangles *triangles, int32_t t, int32_t *table_plus_1, uint32_t mask) {
	int32_t key[3], other[3];
	sort_corners(triangles->triangles[t], key);
	uint32_t at = hash_cell(key[0], key[1], key[2]) & mask;
	for (; table_plus_1[at]; at = (at + 1) & mask) {
		sort_corners(triangles->triangles[table_plus_1[at] - 1], other);
		if (memcmp(key, other, sizeof key) == 0)
			return false;
	}
	table_plus_1[at] = t + 1;
	return true;
}

static FemResult drop_useless(const FemSoup *soup, FemTriangles *out) {
	uint32_t size = 16;
	while (size < 3 * (uint32_t)(out->triangle_count / 2) + 4)
		size *= 2;
	int32_t *table = FEM_ALLOC_ARRAY(int32_t, size);
	if (!table)
		return no_memory(soup);
	int32_t kept = 0;
	for (int32_t t = 0; t < out->triangle_count; t++) {
		memmove(out->triangles[kept], out->triangles[t], sizeof out->triangles[0]);
		if (!has_area(out, kept))
			out->removed_degenerate++;
		else if (!add_to_table(out, kept, table, size - 1))
			out->removed_duplicate++;
		else
			kept++;
	}
	FEM_ASSERT(kept + out->removed_degenerate + out->removed_duplicate == out->triangle_count);
	out->triangle_count = kept;
	FEM_FREE_ARRAY(table, size);
	if (kept == 0)
		return fem_fail(FEM_ERROR_MESH,
			"None of the mesh's %d triangles has an area: apply the scale in the modelling "
			"program and export it again.",
			soup->triangle_count);
	return FEM_OK;
}

// ---- how finely the source was written

// Edges that lie along an odd number of triangles; -1 without memory.
static int32_t count_open_edges(const FemTriangles *triangles) {
	uint32_t size = 64;
	while (size < 6u * (uint32_t)triangles->triangle_count)
		size *= 2;
	uint64_t *edges = FEM_ALLOC_ARRAY(uint64_t, size);
	uint8_t *odd = FEM_ALLOC_ARRAY(uint8_t, size);
	int32_t open = edges && odd ? 0 : -1;
	for (int32_t i = 0; open >= 0 && i < 3 * triangles->triangle_count; i++) {
		const int32_t *corners = triangles->triangles[i / 3];
		uint64_t a = (uint64_t)corners[i % 3] + 1, b = (uint64_t)corners[(i + 1) % 3] + 1;
		uint64_t key = a < b ? a << 32 | b : b << 32 | a;
		uint32_t slot =
			(uint32_t)(fem_hash_word(fem_hash_word(FEM_HASH_START, (uint32_t)a ^ (uint32_t)b), (uint32_t)(a + b)) >>
				32) &
			(size - 1);
		while (edges[slot] && edges[slot] != key)
			slot = (slot + 1) & (size - 1);
		edges[slot] = key;
		odd[slot] ^= 1;
		open += odd[slot] ? 1 : -1;
	}
	FEM_FREE_ARRAY(edges, size);
	FEM_FREE_ARRAY(odd, size);
	return open;
}

static FemResult clean_into(const FemSoup *soup, double distance, FemTriangles *out, int32_t *map) {
	out->vertex_capacity = soup->vertex_count;
	out->triangle_capacity = soup->triangle_count;
	out->vertices = FEM_ALLOC_ARRAY(FemVec3, out->vertex_capacity);
	out->triangles = fem_alloc(sizeof *out->triangles * (size_t)out->triangle_capacity);
	if (!out->vertices || !out->triangles)
		return no_memory(soup);
	memset(map, 0xff, sizeof(int32_t) * (size_t)soup->vertex_count);
	FemResult result = weld(soup, fmin(distance, 0.1), out, map);
	return result == FEM_OK ? drop_useless(soup, out) : result;
}

// Godot's compressed vertices and short decimals lie up to COARSE_SHARE from their twins. Welded so where that closes
// most of what is open.
static FemResult clean_by_precision(const FemSoup *soup, FemTriangles *out, int32_t *map) {
	FemTriangles coarse = {.frame = out->frame};
	FemResult result = clean_into(soup, WELD_SHARE, out, map);
	int32_t open = result == FEM_OK ? count_open_edges(out) : 0;
	if (result != FEM_OK || open <= 0)
		return result;
	int32_t *coarse_map = FEM_ALLOC_ARRAY(int32_t, soup->vertex_count);
	result = coarse_map ? clean_into(soup, COARSE_SHARE, &coarse, coarse_map) : no_memory(soup);
	int32_t left = result == FEM_OK ? count_open_edges(&coarse) : -1;
	if (left >= 0 && 2 * left < open) {
		fem_triangles_free(out);
		*out = coarse;
		memcpy(map, coarse_map, sizeof *map * (size_t)soup->vertex_count);
	} else
		fem_triangles_free(&coarse);
	FEM_FREE_ARRAY(coarse_map, soup->vertex_count);
	return FEM_OK; // without memory for the second try, the first stands
}

FemResult fem_soup_clean(const FemSoup *soup, float weld_distance, FemTriangles *out, int32_t *vertex_map) {
	*out = (FemTriangles){0};
	FemResult result = fem_soup_check(soup);
	if (result != FEM_OK)
		return result;
	unit_bounds(soup, &out->frame);
	if (!(out->frame.size > (double)EXTENT_MIN))
		return fem_fail(FEM_ERROR_MESH, "All vertices of the mesh lie in one point: check the export and its scale.");
	int32_t *map = vertex_map ? vertex_map : FEM_ALLOC_ARRAY(int32_t, soup->vertex_count);
	result = !map              ? no_memory(soup)
		: weld_distance > 0.0f ? clean_into(soup, (double)weld_distance / out->frame.size, out, map)
							   : clean_by_precision(soup, out, map);
	if (!vertex_map)
		FEM_FREE_ARRAY(map, soup->vertex_count);
	if (result != FEM_OK)
		fem_triangles_free(out);
	return result;
}

void fem_triangles_free(FemTriangles *triangles) {
	FEM_FREE_ARRAY(triangles->vertices, triangles->vertex_capacity);
	FEM_FREE_ARRAY(triangles->triangles, triangles->triangle_capacity);
	FEM_FREE_ARRAY(triangles->components, triangles->triangle_capacity);
	*triangles = (FemTriangles){0};
}

// ---- extract

static void copy_group(
	const FemTriangles *all, const int32_t *groups, int32_t group, int32_t *map_plus_1, FemTriangles *out) {
	for (int32_t t = 0; t < all->triangle_count; t++) {
		if (groups && groups[t] != group)
			continue;
		for (int v = 0; v < 3; v++) {
			int32_t from = all->triangles[t][v];
			if (!map_plus_1[from]) {
				FemVec3d user = fem_frame_to_user(&all->frame, fem_vec3d_from(all->vertices[from]));
				out->vertices[out->vertex_count++] = fem_vec3d_to_vec3(fem_frame_to_unit(&out->frame, user));
				map_plus_1[from] = out->vertex_count;
			}
			out->triangles[out->triangle_count][v] = map_plus_1[from] - 1;
		}
		out->triangle_count++;
	}
}

FemResult fem_triangles_extract(
	const FemTriangles *all, const int32_t *groups, int32_t group, const FemUnitFrame *frame, FemTriangles *out) {
	*out = (FemTriangles){.frame = *frame, .component_count = 1};
	for (int32_t t = 0; t < all->triangle_count; t++)
		out->triangle_capacity += !groups || groups[t] == group;
	int64_t corners = 3 * (int64_t)out->triangle_capacity;
	out->vertex_capacity = corners < all->vertex_count ? (int32_t)corners : all->vertex_count;
	out->vertices = FEM_ALLOC_ARRAY(FemVec3, out->vertex_capacity);
	out->triangles = fem_alloc(sizeof *out->triangles * (size_t)out->triangle_capacity);
	int32_t *map_plus_1 = FEM_ALLOC_ARRAY(int32_t, all->vertex_count);
	bool ready = out->vertices && out->triangles && map_plus_1;
	if (ready)
		copy_group(all, groups, group, map_plus_1, out);
	FEM_ASSERT(!ready || out->triangle_count == out->triangle_capacity); // as many as were counted
	FEM_ASSERT(out->vertex_count <= out->vertex_capacity);
	FEM_FREE_ARRAY(map_plus_1, all->vertex_count);
	if (ready)
		return FEM_OK;
	fem_triangles_free(out);
	return fem_fail(
		FEM_ERROR_MEMORY, "The system gave no memory for %d triangles: reduce the mesh first.", all->triangle_count);
}

FemVec3d fem_triangle_corner(const FemTriangles *triangles, int32_t triangle, int corner) {
	FEM_ASSERT_INDEX(triangle, triangles->triangle_count);
	FEM_ASSERT_INDEX(triangles->triangles[triangle][corner], triangles->vertex_count);
	return fem_vec3d_from(triangles->vertices[triangles->triangles[triangle][corner]]);
}

FemVec3d fem_triangle_area_vector(const FemTriangles *triangles, int32_t triangle) {
	FemVec3d a = fem_triangle_corner(triangles, triangle, 0);
	FemVec3d u = fem_vec3d_sub(fem_triangle_corner(triangles, triangle, 1), a);
	FemVec3d v = fem_vec3d_sub(fem_triangle_corner(triangles, triangle, 2), a);
	return fem_vec3d_scale(fem_vec3d_cross(u, v), 0.5);
}
