#include "cutting/cut_caps.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

typedef struct Caps {
	const FemCutMesh *mesh;
	int32_t *rims;     // [half-edge: 3 triangle + corner]: its rim + 1 where it is open, else 0
	int32_t *first;    // [vertex]: an open half-edge from there that no rim has yet, + 1
	int32_t *next;     // [half-edge]: the next one from the same vertex, + 1
	int32_t *path;     // [half-edge]: a walk along open edges
	int32_t *on_path;  // [vertex]: where the walk leaves it, + 1
	FemVec3d *middles; // [rim]: sum of edge midpoints by length, then the middle
	double *lengths;   // [rim]
	int32_t open_count, rim_count;
} Caps;

static int32_t from_of(const FemCutMesh *mesh, int32_t half_edge) {
	return mesh->triangles[half_edge / 3][half_edge % 3];
}

static int32_t to_of(const FemCutMesh *mesh, int32_t half_edge) {
	return mesh->triangles[half_edge / 3][(half_edge % 3 + 1) % 3];
}

// Half-edges that others do not run against, as many as there are too many.
static bool find_open(Caps *caps) {
	const FemCutMesh *mesh = caps->mesh;
	int32_t count = 3 * mesh->triangle_count;
	FemKeyMap map = {0};
	int32_t *sums = FEM_ALLOC_ARRAY(int32_t, count), *edges = FEM_ALLOC_ARRAY(int32_t, count);
	bool good = sums && edges, is_new;
	for (int32_t e = 0; good && e < count; e++) {
		int32_t a = from_of(mesh, e), b = to_of(mesh, e);
		edges[e] = fem_key_map_number(&map, (int32_t[FEM_KEY_SIZE]){a < b ? a : b, a < b ? b : a}, &is_new);
		good = edges[e] >= 0;
		if (good)
			sums[edges[e]] += a < b ? 1 : -1;
	}
	for (int32_t e = 0; good && e < count; e++) {
		int32_t sign = from_of(mesh, e) < to_of(mesh, e) ? 1 : -1;
		if (sums[edges[e]] * sign <= 0)
			continue;
		sums[edges[e]] -= sign;
		caps->open_count++;
		caps->next[e] = caps->first[from_of(mesh, e)];
		caps->first[from_of(mesh, e)] = e + 1;
	}
	fem_key_map_free(&map);
	FEM_FREE_ARRAY(sums, count);
	FEM_FREE_ARRAY(edges, count);
	return good;
}

static int32_t take_from(Caps *caps, int32_t vertex) {
	int32_t e = caps->first[vertex] - 1;
	if (e >= 0)
		caps->first[vertex] = caps->next[e];
	return e;
}

// A walk from an open edge; where it comes back to a vertex of its own, what lies between is a rim: holes that touch at
// a vertex are closed one by one. As many open edges end at a vertex as begin there, so the walk comes home.
static void walk(Caps *caps, int32_t start) {
	int32_t count = 0;
	for (int32_t e = start; e >= 0;) {
		caps->on_path[from_of(caps->mesh, e)] = count + 1;
		caps->path[count++] = e;
		int32_t at = to_of(caps->mesh, e), from = caps->on_path[at];
		for (; from > 0 && count >= from; count--) {
			int32_t last = caps->path[count - 1];
			caps->rims[last] = caps->rim_count + 1;
			caps->on_path[from_of(caps->mesh, last)] = 0;
		}
		caps->rim_count += from > 0;
		e = count > 0 ? take_from(caps, at) : -1;
	}
}

static void find_rims(Caps *caps) {
	for (int32_t v = 0; v < caps->mesh->vertex_count; v++)
		for (int32_t e = take_from(caps, v); e >= 0; e = take_from(caps, v))
			walk(caps, e);
}

// Means over the length, so that finely divided stretches of a rim count no more than others.
static void find_middles(Caps *caps) {
	const FemCutMesh *mesh = caps->mesh;
	for (int32_t e = 0; e < 3 * mesh->triangle_count; e++) {
		if (caps->rims[e] == 0)
			continue;
		FemVec3d a = mesh->places[from_of(mesh, e)], b = mesh->places[to_of(mesh, e)], edge = fem_vec3d_sub(b, a);
		double length = sqrt(fem_vec3d_dot(edge, edge));
		int32_t rim = caps->rims[e] - 1;
		caps->lengths[rim] += length;
		caps->middles[rim] = fem_vec3d_add(caps->middles[rim], fem_vec3d_scale(fem_vec3d_add(a, b), 0.5 * length));
	}
	for (int32_t rim = 0; rim < caps->rim_count; rim++)
		if (caps->lengths[rim] > 0.0)
			caps->middles[rim] = fem_vec3d_scale(caps->middles[rim], 1.0 / caps->lengths[rim]);
}

// Caps follow the triangle that they hang on, so that triangles stay in the order of their sources.
static void fill(const Caps *caps, FemCutMesh *out) {
	const FemCutMesh *mesh = caps->mesh;
	int32_t at = 0;
	for (int32_t v = 0; v < out->vertex_count; v++) {
		bool is_own = v < mesh->vertex_count;
		out->places[v] = is_own ? mesh->places[v] : caps->middles[v - mesh->vertex_count];
		out->points[v] = is_own ? mesh->points[v] : fem_cut_point(out->places[v]);
		out->soup.vertices[v] = fem_vec3d_to_vec3(out->places[v]);
	}
	for (int32_t e = 0; e < 3 * mesh->triangle_count; e++) {
		if (e % 3 == 0) {
			memcpy(out->triangles[at], mesh->triangles[e / 3], sizeof *out->triangles);
			out->sources[at] = mesh->sources[e / 3];
			out->rim_corners[at++] = -1;
		}
		if (caps->rims[e] == 0)
			continue;
		int32_t cap[3] = {to_of(mesh, e), from_of(mesh, e), mesh->vertex_count + caps->rims[e] - 1};
		memcpy(out->triangles[at], cap, sizeof cap);
		out->sources[at] = mesh->sources[e / 3];
		out->rim_corners[at++] = e % 3;
	}
	memcpy(out->soup.triangles, out->triangles, sizeof *out->triangles * (size_t)at);
	out->triangle_count = out->soup.triangle_count = at;
}

static bool reserve(FemCutMesh *out, const Caps *caps) {
	const FemCutMesh *mesh = caps->mesh;
	int32_t vertices = mesh->vertex_count + caps->rim_count, triangles = mesh->triangle_count + caps->open_count;
	out->frame = mesh->frame;
	out->box = mesh->box;
	out->is_flipped = mesh->is_flipped;
	out->vertex_count = vertices;
	out->triangle_capacity = triangles;
	out->places = FEM_ALLOC_ARRAY(FemVec3d, vertices);
	out->points = FEM_ALLOC_ARRAY(FemCutPoint, vertices);
	out->triangles = fem_alloc(sizeof *out->triangles * (size_t)triangles);
	out->sources = FEM_ALLOC_ARRAY(int32_t, triangles);
	out->rim_corners = FEM_ALLOC_ARRAY(int32_t, triangles);
	out->soup = (FemTriangles){.vertex_count = vertices,
		.vertex_capacity = vertices,
		.triangle_capacity = triangles,
		.vertices = FEM_ALLOC_ARRAY(FemVec3, vertices),
		.triangles = fem_alloc(sizeof *out->soup.triangles * (size_t)triangles),
		.frame = mesh->frame};
	return out->places && out->points && out->triangles && out->sources && out->rim_corners && out->soup.vertices &&
		out->soup.triangles;
}

static bool make(Caps *caps, FemCutMesh *out) {
	if (!find_open(caps))
		return false;
	find_rims(caps);
	find_middles(caps);
	if (!reserve(out, caps))
		return false;
	fill(caps, out);
	return true;
}

FemResult fem_cut_mesh_cap(FemCutMesh *out, const FemCutMesh *mesh) {
	int32_t vertices = mesh->vertex_count, half_edges = 3 * mesh->triangle_count;
	Caps caps = {.mesh = mesh,
		.rims = FEM_ALLOC_ARRAY(int32_t, half_edges),
		.first = FEM_ALLOC_ARRAY(int32_t, vertices),
		.next = FEM_ALLOC_ARRAY(int32_t, half_edges),
		.path = FEM_ALLOC_ARRAY(int32_t, half_edges),
		.on_path = FEM_ALLOC_ARRAY(int32_t, vertices),
		.middles = FEM_ALLOC_ARRAY(FemVec3d, half_edges),
		.lengths = FEM_ALLOC_ARRAY(double, half_edges)};
	*out = (FemCutMesh){0};
	bool good = caps.rims && caps.first && caps.next && caps.path && caps.on_path && caps.middles && caps.lengths &&
		make(&caps, out);
	FemResult result = good
		? fem_cut_mesh_finish(out)
		: fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to cut the mesh: use a smaller mesh.");
	FEM_FREE_ARRAY(caps.rims, half_edges);
	FEM_FREE_ARRAY(caps.first, vertices);
	FEM_FREE_ARRAY(caps.next, half_edges);
	FEM_FREE_ARRAY(caps.path, half_edges);
	FEM_FREE_ARRAY(caps.on_path, vertices);
	FEM_FREE_ARRAY(caps.middles, half_edges);
	FEM_FREE_ARRAY(caps.lengths, half_edges);
	return result;
}
