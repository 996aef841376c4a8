#include "filling/skin.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "filling/edge_table.h"
#include "filling/soup_topology.h"

#include <string.h>

#define ROUNDS 24 // of halving edges: from the size of the member to 6e-8 of it

void fem_skin_free(FemSkin *skin) {
	FEM_FREE_ARRAY(skin->vertices, skin->vertex_capacity);
	FEM_FREE_ARRAY(skin->triangles, skin->triangle_capacity);
	FEM_FREE_ARRAY(skin->sources, skin->triangle_capacity);
	FEM_FREE_ARRAY(skin->first_halves, skin->triangle_capacity);
	FEM_FREE_ARRAY(skin->is_odd, skin->vertex_capacity);
	*skin = (FemSkin){0};
}

static bool reserve(FemSkin *skin, int32_t vertices, int32_t triangles) {
	*skin = (FemSkin){.vertex_capacity = vertices, .triangle_capacity = triangles};
	skin->vertices = FEM_ALLOC_ARRAY(FemVec3d, vertices);
	skin->triangles = (int32_t(*)[3])(void *)FEM_ALLOC_ARRAY(int32_t, 3 * (size_t)triangles);
	skin->sources = FEM_ALLOC_ARRAY(int32_t, triangles);
	return skin->vertices && skin->triangles && skin->sources;
}

FemVec3d fem_skin_area_vector(const FemSkin *skin, int32_t triangle) {
	const int32_t *v = skin->triangles[triangle];
	FemVec3d a = fem_vec3d_sub(skin->vertices[v[1]], skin->vertices[v[0]]);
	FemVec3d b = fem_vec3d_sub(skin->vertices[v[2]], skin->vertices[v[0]]);
	return fem_vec3d_scale(fem_vec3d_cross(a, b), 0.5);
}

double fem_skin_area(const FemSkin *skin) {
	double sum = 0.0;
	for (int32_t t = 0; t < skin->triangle_count; t++) {
		FemVec3d n = fem_skin_area_vector(skin, t);
		sum += sqrt(fem_vec3d_dot(n, n));
	}
	return sum;
}

// ---- create

// Corners of triangles that share an edge share its two vertices; each set of corners so joined is a vertex.
static void join_corners(const FemSkin *skin, const FemEdgeTable *edges, int32_t *parents) {
	for (int32_t c = 0; c < 3 * skin->triangle_count; c++)
		parents[c] = c;
	for (int32_t e = 0; e < edges->edge_count; e++) {
		int32_t a = edges->sides[e][0], b = edges->sides[e][1];
		if (b < 0)
			continue;
		int32_t a_next = a - a % 3 + (a % 3 + 1) % 3, b_next = b - b % 3 + (b % 3 + 1) % 3;
		fem_union_join(parents, a, b_next); // neighbours run along their edge in opposite directions
		fem_union_join(parents, a_next, b);
	}
}

static bool is_connected(const FemSkin *skin, const FemEdgeTable *edges, int32_t *parents) {
	int32_t apart = skin->triangle_count;
	for (int32_t t = 0; t < skin->triangle_count; t++)
		parents[t] = t;
	for (int32_t e = 0; e < edges->edge_count; e++) {
		int32_t a = edges->sides[e][0] / 3, b = edges->sides[e][1] / 3;
		if (edges->sides[e][1] < 0 || fem_union_find(parents, a) == fem_union_find(parents, b))
			continue;
		fem_union_join(parents, a, b);
		apart--;
	}
	return apart <= 1;
}

static FemSkinResult split_fans(FemSkin *skin, const FemTriangles *triangles) {
	FemEdgeTable edges;
	int32_t corners = 3 * skin->triangle_count, *parents = FEM_ALLOC_ARRAY(int32_t, corners);
	if (!parents || !fem_edge_table_create(&edges, skin->triangles, skin->triangle_count)) {
		FEM_FREE_ARRAY(parents, corners);
		return FEM_SKIN_NO_MEMORY;
	}
	FemSkinResult result = edges.non_manifold > 0 ? FEM_SKIN_TANGLED : FEM_SKIN_MADE;
	if (result == FEM_SKIN_MADE && !is_connected(skin, &edges, parents))
		result = FEM_SKIN_APART;
	if (result == FEM_SKIN_MADE) {
		join_corners(skin, &edges, parents);
		for (int32_t c = 0; c < corners; c++) { // roots are the lowest of their set, so they come first
			int32_t root = fem_union_find(parents, c), *vertex = &skin->triangles[c / 3][c % 3];
			if (root == c) {
				skin->vertices[skin->vertex_count] = fem_vec3d_from(triangles->vertices[*vertex]);
				*vertex = skin->vertex_count++;
			} else {
				*vertex = skin->triangles[root / 3][root % 3];
			}
		}
	}
	fem_edge_table_free(&edges);
	FEM_FREE_ARRAY(parents, corners);
	return result;
}

FemSkinResult fem_skin_create(const FemTriangles *triangles, const int8_t *sides, int8_t side, FemSkin *out) {
	int32_t count = 0;
	for (int32_t t = 0; t < triangles->triangle_count; t++)
		count += sides[t] == side;
	if (!reserve(out, 3 * count + 1, count + 1)) {
		fem_skin_free(out);
		return FEM_SKIN_NO_MEMORY;
	}
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		if (sides[t] != side)
			continue;
		memcpy(out->triangles[out->triangle_count], triangles->triangles[t], sizeof triangles->triangles[t]);
		out->sources[out->triangle_count++] = t;
	}
	FemSkinResult result = split_fans(out, triangles);
	if (result != FEM_SKIN_MADE)
		fem_skin_free(out);
	return result;
}

// ---- refine

static double edge_length_sq(const FemSkin *skin, const int32_t ends[2]) {
	FemVec3d along = fem_vec3d_sub(skin->vertices[ends[1]], skin->vertices[ends[0]]);
	return fem_vec3d_dot(along, along);
}

static void add_triangle(FemSkin *skin, int32_t a, int32_t b, int32_t c, int32_t source) {
	FEM_ASSERT(skin->triangle_count < skin->triangle_capacity);
	int32_t *triangle = skin->triangles[skin->triangle_count];
	triangle[0] = a;
	triangle[1] = b;
	triangle[2] = c;
	skin->sources[skin->triangle_count++] = source;
}

// v: corners; m: the middle of the side that begins at each corner, or -1.
static void split_triangle(FemSkin *out, const int32_t v[3], const int32_t m[3], int32_t source) {
	int marks = (m[0] >= 0) + (m[1] >= 0) + (m[2] >= 0), i = 0;
	if (marks == 0) {
		add_triangle(out, v[0], v[1], v[2], source);
		return;
	}
	if (marks == 3) {
		for (i = 0; i < 3; i++)
			add_triangle(out, v[i], m[i], m[(i + 2) % 3], source);
		add_triangle(out, m[0], m[1], m[2], source);
		return;
	}
	// From here on side i is split and, with one mark, no other; with two, the side after it is.
	while (!(m[i] >= 0 && (marks == 1 || m[(i + 1) % 3] >= 0)))
		i++;
	int32_t a = v[i], b = v[(i + 1) % 3], c = v[(i + 2) % 3], ab = m[i], bc = m[(i + 1) % 3];
	if (marks == 1) {
		add_triangle(out, a, ab, c, source);
		add_triangle(out, ab, b, c, source);
		return;
	}
	add_triangle(out, ab, b, bc, source);
	add_triangle(out, a, ab, bc, source);
	add_triangle(out, a, bc, c, source);
}

// Halves the edges whose entry of middles is not -1.
static void split_marked(FemSkin *skin, const FemEdgeTable *edges, const int32_t *middles, FemSkin *out) {
	memcpy(out->vertices, skin->vertices, sizeof *skin->vertices * (size_t)skin->vertex_count);
	out->vertex_count = skin->vertex_count;
	for (int32_t e = 0; e < edges->edge_count; e++)
		if (middles[e] >= 0)
			out->vertices[out->vertex_count++] = fem_vec3d_scale(
				fem_vec3d_add(skin->vertices[edges->ends[e][0]], skin->vertices[edges->ends[e][1]]), 0.5);
	for (int32_t t = 0; t < skin->triangle_count; t++) {
		int32_t m[3];
		for (int v = 0; v < 3; v++)
			m[v] = middles[edges->edge_of[3 * t + v]];
		split_triangle(out, skin->triangles[t], m, skin->sources[t]);
	}
}

// One round. out_done: nothing was left to halve, or too much.
static bool refine_once(FemSkin *skin, double edge_max, int32_t triangle_max, bool *out_done) {
	FemEdgeTable edges;
	FemSkin finer;
	if (!fem_edge_table_create(&edges, skin->triangles, skin->triangle_count))
		return false;
	int32_t *middles = FEM_ALLOC_ARRAY(int32_t, edges.edge_count + 1), marked = 0, added = 0;
	for (int32_t e = 0; middles && e < edges.edge_count; e++) {
		bool is_long = edge_length_sq(skin, edges.ends[e]) > edge_max * edge_max;
		middles[e] = is_long ? skin->vertex_count + marked++ : -1;
		added += is_long ? 1 + (edges.sides[e][1] >= 0) : 0;
	}
	*out_done = marked == 0 || skin->triangle_count + added > triangle_max;
	bool ready = middles != NULL;
	if (ready && !*out_done) {
		ready = reserve(&finer, skin->vertex_count + marked, skin->triangle_count + added);
		if (ready) {
			split_marked(skin, &edges, middles, &finer);
			fem_skin_free(skin);
			*skin = finer;
		} else {
			fem_skin_free(&finer);
		}
	}
	FEM_FREE_ARRAY(middles, edges.edge_count + 1);
	fem_edge_table_free(&edges);
	return ready;
}

bool fem_skin_refine(FemSkin *skin, double edge_max, int32_t triangle_max) {
	bool done = false;
	for (int i = 0; i < ROUNDS && !done && !fem_stop_asked(); i++)
		if (!refine_once(skin, edge_max, triangle_max, &done))
			return false;
	return true;
}
