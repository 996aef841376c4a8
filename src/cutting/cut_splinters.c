#include "cutting/cut_splinters.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/union_find.h"

#include <string.h>

int32_t fem_cut_polygon_label(const FemCutSource *source, int32_t polygon) {
	return source->cell_splinters ? source->cell_splinters[polygon]
								  : source->outside->diagram->cells[source->outside->polygons[polygon].cell].splinter;
}

static int32_t number_of(FemCutSplinters *splinters, int32_t solid, int32_t label, int32_t vertex) {
	bool is_new;
	int32_t number = fem_key_map_number(&splinters->map, (int32_t[FEM_KEY_SIZE]){solid, label, vertex}, &is_new);
	if (number < 0 || !FEM_GROW(splinters->parents, splinters->parent_count, &splinters->parent_capacity))
		return -1;
	FEM_ASSERT(!is_new || number == splinters->parent_count);
	if (is_new)
		splinters->parents[splinters->parent_count++] = number;
	return number;
}

int32_t fem_cut_splinter_of(FemCutSplinters *splinters, int32_t solid, int32_t label, int32_t vertex) {
	int32_t number = number_of(splinters, solid, label, vertex);
	return number < 0 ? -1 : splinters->parents[number];
}

// What lies beyond side n of a polygon: true when that is another splinter.
static bool is_cut(const FemCutSource *source, int32_t polygon, int32_t n) {
	const FemCutSolid *solid = source->outside;
	int32_t other = solid->sides[solid->polygons[polygon].first + n];
	return other >= 0 && !source->cell_splinters &&
		solid->diagram->cells[other].splinter != fem_cut_polygon_label(source, polygon);
}

// ---- joining

static bool join_polygons(FemCutSplinters *splinters, const FemCutSource *source) {
	FemCutSolid *solid = source->outside;
	for (int32_t p = 0; p < solid->polygon_count; p++) {
		FemCutPolygon polygon = solid->polygons[p];
		int32_t label = fem_cut_polygon_label(source, p);
		int32_t first =
			source->cell_splinters ? number_of(splinters, 0, label, -1) : -1; // the artist's are whole labels
		for (int32_t n = 0; n < polygon.count; n++) {
			int32_t added[FEM_CUT_ADDED_MAX], from = solid->corners[polygon.first + n];
			int32_t to = solid->corners[polygon.first + (n + 1) % polygon.count];
			int32_t cells[3] = {polygon.cell, solid->sides[polygon.first + n], -1};
			int32_t count = is_cut(source, p, n) ? fem_cut_added(solid, polygon.triangle, from, to, cells, added) : 0;
			for (int32_t m = -1; m < count; m++) {
				int32_t number = number_of(splinters, 0, label, m < 0 ? from : added[m]);
				if (number < 0)
					return false;
				if (first >= 0)
					fem_union_join(splinters->parents, first, number);
				first = number;
			}
		}
	}
	return !solid->failed;
}

static bool join_faces(FemCutSplinters *splinters, const FemCutSource *source) {
	const FemCutSolid *solid = source->inside;
	for (int32_t f = 0; f < solid->face_count; f++) {
		const FemCutFace *face = &solid->faces[f];
		for (int32_t n = 0; n < 2 * face->triangle_count; n++) {
			const int32_t *t = solid->face_triangles[face->first_triangle + n / 2];
			int32_t label = solid->diagram->cells[face->cells[n % 2]].splinter, numbers[3];
			for (int v = 0; v < 3; v++) {
				numbers[v] = number_of(splinters, source->is_apart, label, t[v]);
				if (numbers[v] < 0)
					return false;
			}
			fem_union_join(splinters->parents, numbers[0], numbers[1]);
			fem_union_join(splinters->parents, numbers[0], numbers[2]);
		}
	}
	return true;
}

// The polygons of the inner solid join its faces to bodies, though they are not shown.
static bool join_inner_polygons(FemCutSplinters *splinters, const FemCutSource *source) {
	const FemCutSolid *solid = source->inside;
	for (int32_t p = 0; source->is_apart && p < solid->polygon_count; p++) {
		FemCutPolygon polygon = solid->polygons[p];
		int32_t label = solid->diagram->cells[polygon.cell].splinter, first = -1;
		for (int32_t n = 0; n < polygon.count; n++) {
			int32_t number = number_of(splinters, 1, label, solid->corners[polygon.first + n]);
			if (number < 0)
				return false;
			if (first >= 0)
				fem_union_join(splinters->parents, first, number);
			first = number;
		}
	}
	return true;
}

static FemVec3d place_of(const FemCutSource *source, const int32_t *key) {
	return (key[0] ? source->inside : source->outside)->vertices[key[2]].at;
}

// Bodies of the outside go with the nearest body of the inside that has their label.
static bool join_solids(FemCutSplinters *splinters, const FemCutSource *source) {
	int32_t count = splinters->map.count;
	FemVec3d *centers = FEM_ALLOC_ARRAY(FemVec3d, count);
	int32_t *sizes = FEM_ALLOC_ARRAY(int32_t, count), *nearest = FEM_ALLOC_ARRAY(int32_t, count);
	int32_t *heads = FEM_ALLOC_ARRAY(int32_t, source->inside->diagram->splinter_count),
			*next = FEM_ALLOC_ARRAY(int32_t, count);
	bool good = centers && sizes && nearest && heads && next;
	for (int32_t n = 0; good && n < count; n++) {
		int32_t root = fem_union_root(splinters->parents, n);
		centers[root] = fem_vec3d_add(centers[root], place_of(source, splinters->map.keys[n]));
		sizes[root]++;
		nearest[n] = -1;
		if (root == n && splinters->map.keys[n][0] == 1) {
			next[n] = heads[splinters->map.keys[n][1]];
			heads[splinters->map.keys[n][1]] = n + 1;
		}
	}
	for (int32_t n = 0; good && n < count; n++) {
		if (splinters->map.keys[n][0] != 0 || fem_union_root(splinters->parents, n) != n)
			continue;
		double best = HUGE_VAL;
		for (int32_t m = heads[splinters->map.keys[n][1]]; m; m = next[m - 1]) {
			FemVec3d offset = fem_vec3d_sub(
				fem_vec3d_scale(centers[n], 1.0 / sizes[n]), fem_vec3d_scale(centers[m - 1], 1.0 / sizes[m - 1]));
			if (fem_vec3d_dot(offset, offset) < best) {
				best = fem_vec3d_dot(offset, offset);
				nearest[n] = m - 1;
			}
		}
	}
	for (int32_t n = 0; good && n < count; n++)
		if (nearest[n] >= 0)
			fem_union_join(splinters->parents, n, nearest[n]);
	FEM_FREE_ARRAY(centers, count);
	FEM_FREE_ARRAY(sizes, count);
	FEM_FREE_ARRAY(nearest, count);
	FEM_FREE_ARRAY(heads, source->inside->diagram->splinter_count);
	FEM_FREE_ARRAY(next, count);
	return good;
}

bool fem_cut_splinters_create(FemCutSplinters *splinters, const FemCutSource *source) {
	*splinters = (FemCutSplinters){0};
	bool good =
		join_polygons(splinters, source) && join_faces(splinters, source) && join_inner_polygons(splinters, source);
	if (good && source->is_apart)
		good = join_solids(splinters, source);
	if (!good)
		return false;
	// Roots are the lowest of their body: a forward pass meets them first. Bodies that nothing shown belongs to get a
	// number too, and are empty; the output leaves no gaps because their vertices are never asked for.
	for (int32_t n = 0; n < splinters->parent_count; n++) {
		int32_t root = fem_union_root(splinters->parents, n);
		splinters->parents[n] = root;
	}
	for (int32_t n = 0; n < splinters->parent_count; n++)
		splinters->parents[n] =
			splinters->parents[n] == n ? splinters->splinter_count++ : splinters->parents[splinters->parents[n]];
	return true;
}

void fem_cut_splinters_free(FemCutSplinters *splinters) {
	fem_key_map_free(&splinters->map);
	FEM_FREE_ARRAY(splinters->parents, splinters->parent_capacity);
	*splinters = (FemCutSplinters){0};
}

// ---- groups

bool fem_cut_groups_begin(FemCutGroups *groups, const FemCutSource *source, FemCutSplinters *splinters) {
	*groups = (FemCutGroups){.source = source, .splinters = splinters};
	groups->is_told = FEM_ALLOC_ARRAY(uint8_t, source->outside->polygon_count);
	return groups->is_told || source->outside->polygon_count == 0;
}

void fem_cut_groups_end(FemCutGroups *groups) {
	FEM_FREE_ARRAY(groups->is_told, groups->source->outside->polygon_count);
	FEM_FREE_ARRAY(groups->edges, groups->edge_capacity);
	FEM_FREE_ARRAY(groups->vertices, groups->vertex_capacity);
	FEM_FREE_ARRAY(groups->loop_ends, groups->loop_capacity);
	*groups = (FemCutGroups){0};
}

static void push(FemCutGroups *groups, int32_t **array, int32_t *count, int32_t *capacity, int32_t value) {
	if (fem_grow(array, *count, capacity, sizeof **array))
		(*array)[(*count)++] = value;
	else
		groups->failed = true;
}

static void add_edge(FemCutGroups *groups, int32_t from, int32_t to) {
	for (int32_t n = 0; n < groups->edge_count; n += 2)
		if (groups->edges[n] == to && groups->edges[n + 1] == from) {
			groups->edges[n] = groups->edges[n + 1] = -1;
			return;
		}
	push(groups, &groups->edges, &groups->edge_count, &groups->edge_capacity, from);
	push(groups, &groups->edges, &groups->edge_count, &groups->edge_capacity, to);
}

// Returns whether vertices were added along a side.
static bool add_edges(FemCutGroups *groups, int32_t p) {
	FemCutSolid *solid = groups->source->outside;
	FemCutPolygon polygon = solid->polygons[p];
	bool any = false;
	for (int32_t n = 0; n < polygon.count && !groups->failed; n++) {
		int32_t added[FEM_CUT_ADDED_MAX], from = solid->corners[polygon.first + n];
		int32_t to = solid->corners[polygon.first + (n + 1) % polygon.count];
		int32_t cells[3] = {polygon.cell, solid->sides[polygon.first + n], -1};
		int32_t count =
			is_cut(groups->source, p, n) ? fem_cut_added(solid, polygon.triangle, from, to, cells, added) : 0;
		any = any || count > 0;
		for (int32_t m = 0; m <= count; m++)
			add_edge(groups, m > 0 ? added[m - 1] : from, m < count ? added[m] : to);
	}
	return any;
}

static void trace(FemCutGroups *groups) {
	groups->vertex_count = groups->loop_count = 0;
	for (int32_t n = 0; n < groups->edge_count && !groups->failed; n += 2) {
		int32_t start = groups->edges[n], at = n;
		if (start < 0)
			continue;
		for (;;) {
			int32_t to = groups->edges[at + 1];
			push(groups, &groups->vertices, &groups->vertex_count, &groups->vertex_capacity, groups->edges[at]);
			groups->edges[at] = -1;
			if (to == start)
				break;
			for (at = 0; at < groups->edge_count && groups->edges[at] != to; at += 2) {
			}
			if (at >= groups->edge_count || groups->failed)
				break;
		}
		push(groups, &groups->loop_ends, &groups->loop_count, &groups->loop_capacity, groups->vertex_count);
	}
}

bool fem_cut_groups_next(FemCutGroups *groups, FemCutGroup *out) {
	const FemCutSolid *solid = groups->source->outside;
	while (groups->at < solid->polygon_count && groups->is_told[groups->at])
		groups->at++;
	if (groups->at >= solid->polygon_count || groups->failed)
		return false;
	int32_t first = groups->at, triangle = solid->polygons[first].triangle,
			label = fem_cut_polygon_label(groups->source, first);
	bool is_concave = false;
	groups->edge_count = 0;
	for (int32_t p = first; p < solid->polygon_count && solid->polygons[p].triangle == triangle; p++) {
		if (groups->is_told[p] || fem_cut_polygon_label(groups->source, p) != label)
			continue;
		groups->is_told[p] = 1;
		is_concave = add_edges(groups, p) || p != first || is_concave;
	}
	trace(groups);
	*out =
		(FemCutGroup){first, groups->vertex_count, groups->vertices, groups->loop_ends, groups->loop_count, is_concave};
	return !groups->failed;
}
