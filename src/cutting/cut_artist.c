#include "cutting/cut_artist.h"

#include "base/error.h"
#include "base/key_map.h"
#include "base/memory.h"
#include "base/union_find.h"

#define TWO_PI 6.283185307179586 // rad: a full angle
#define SAME_ANGLE 1e-6          // rad, between triangles that lie on each other; a float's rounding

// Sides of triangles, 3 t + n, in the order of the edges that they run along.
typedef struct Edges {
	FemKeyMap map;
	int32_t *starts; // [edge + 1]
	int32_t *sides;
	int32_t side_count;
} Edges;

typedef struct Shells {
	const FemCutMesh *mesh;
	int32_t *surfaces; // [triangle]
	Edges edges;
	int32_t *all, *own; // [triangle], parents: joined across surfaces, and within one
	uint8_t *is_open;   // [triangle], of the roots of `all`
} Shells;

static const int32_t *corners_of(const Shells *s, int32_t side, int32_t *out_from, int32_t *out_to) {
	const int32_t *c = s->mesh->triangles[side / 3];
	*out_from = c[side % 3];
	*out_to = c[(side + 1) % 3];
	return c;
}

static bool runs_forward(const Shells *s, int32_t side) {
	int32_t from, to;
	corners_of(s, side, &from, &to);
	return from < to;
}

static bool sort_sides(Shells *s) {
	Edges *e = &s->edges;
	bool is_new, good = true;
	e->side_count = 3 * s->mesh->triangle_count;
	int32_t *edge_of = FEM_ALLOC_ARRAY(int32_t, e->side_count);
	e->sides = FEM_ALLOC_ARRAY(int32_t, e->side_count);
	e->starts = FEM_ALLOC_ARRAY(int32_t, e->side_count + 1);
	good = edge_of && e->sides && e->starts;
	for (int32_t n = 0; good && n < e->side_count; n++) {
		int32_t from, to;
		corners_of(s, n, &from, &to);
		edge_of[n] =
			fem_key_map_number(&e->map, (int32_t[FEM_KEY_SIZE]){from < to ? from : to, from < to ? to : from}, &is_new);
		good = edge_of[n] >= 0;
		if (good)
			e->starts[edge_of[n] + 1]++;
	}
	for (int32_t n = 0; good && n < e->map.count; n++)
		e->starts[n + 1] += e->starts[n];
	for (int32_t n = e->side_count - 1; good && n >= 0; n--) // from behind: starts end where they shall be
		e->sides[--e->starts[edge_of[n] + 1]] = n;
	for (int32_t n = 0; good && n < e->map.count; n++)
		e->starts[n] = e->starts[n + 1];
	if (good)
		e->starts[e->map.count] = e->side_count;
	FEM_FREE_ARRAY(edge_of, e->side_count);
	return good;
}

// ---- joining

// From the edge to the triangle's third corner, and from there into the solid behind the triangle; both across the
// edge.
static void directions(const Shells *s, int32_t side, FemVec3d *out_along, FemVec3d *out_behind) {
	int32_t from, to;
	const int32_t *c = corners_of(s, side, &from, &to);
	const FemVec3d *at = s->mesh->places;
	FemVec3d edge = fem_vec3d_sub(at[to], at[from]), other_edge = fem_vec3d_sub(at[c[(side + 2) % 3]], at[from]);
	FemVec3d normal = fem_vec3d_cross(edge, other_edge);
	*out_along = fem_vec3d_cross(normal, edge);
	*out_behind = fem_vec3d_scale(normal, -sqrt(fem_vec3d_dot(edge, edge)));
}

// The angle, rad, by which to rotate from the first triangle through the solid behind it to meet the second, 0
// excluded: triangles that lie on each other are of two solids that touch.
static double angle_between(const Shells *s, int32_t first, int32_t second) {
	FemVec3d along, behind, other, unused;
	directions(s, first, &along, &behind);
	directions(s, second, &other, &unused);
	double angle = atan2(fem_vec3d_dot(other, behind), fem_vec3d_dot(other, along));
	angle = angle < 0.0 ? angle + TWO_PI : angle;
	return angle < SAME_ANGLE ? angle + TWO_PI : angle;
}

static void join(Shells *s, int32_t a, int32_t b) {
	fem_union_join(s->all, a / 3, b / 3);
	if (s->surfaces[a / 3] == s->surfaces[b / 3])
		fem_union_join(s->own, a / 3, b / 3);
}

// Of all triangles at an edge, a triangle is joined with the next one around the edge, on its back, whose half-edge has
// the opposite direction.
static void join_edge(Shells *s, const int32_t *sides, int32_t count) {
	for (int32_t a = 0; a < count; a++) {
		int32_t best = -1;
		double least = 2.0 * TWO_PI;
		for (int32_t b = 0; b < count; b++) {
			if (runs_forward(s, sides[a]) == runs_forward(s, sides[b]))
				continue;
			double angle = count == 2 ? 0.0 : angle_between(s, sides[a], sides[b]);
			if (angle < least) {
				least = angle;
				best = sides[b];
			}
		}
		if (best >= 0 && (count == 2 || runs_forward(s, sides[a])))
			join(s, sides[a], best);
	}
}

static int32_t forward_surplus(const Shells *s, const int32_t *sides, int32_t count) {
	int32_t surplus = 0;
	for (int32_t n = 0; n < count; n++)
		surplus += runs_forward(s, sides[n]) ? 1 : -1;
	return surplus;
}

static void join_triangles(Shells *s) {
	const Edges *e = &s->edges;
	for (int32_t t = 0; t < s->mesh->triangle_count; t++)
		s->all[t] = s->own[t] = t;
	for (int32_t n = 0; n < e->map.count; n++)
		join_edge(s, &e->sides[e->starts[n]], e->starts[n + 1] - e->starts[n]);
	for (int32_t n = 0; n < e->map.count; n++) {
		const int32_t *sides = &e->sides[e->starts[n]];
		int32_t count = e->starts[n + 1] - e->starts[n];
		for (int32_t k = 0; k < count && forward_surplus(s, sides, count) != 0; k++)
			s->is_open[fem_union_root(s->all, sides[k] / 3)] = 1;
	}
}

// ---- cavities

typedef struct Component {
	double volume; // signed, unit space
	double low[3], high[3];
} Component;

static void measure(const Shells *s, const int32_t *labels, Component *components) {
	for (int32_t t = 0; t < s->mesh->triangle_count; t++)
		components[t] = (Component){.low = {2.0, 2.0, 2.0}, .high = {-2.0, -2.0, -2.0}};
	for (int32_t t = 0; t < s->mesh->triangle_count; t++) {
		const FemVec3d *at = s->mesh->places;
		const int32_t *c = s->mesh->triangles[t];
		Component *component = &components[labels[t]];
		component->volume += fem_vec3d_dot(at[c[0]], fem_vec3d_cross(at[c[1]], at[c[2]])) / 6.0;
		for (int v = 0; v < 3; v++) {
			double p[3] = {at[c[v]].x, at[c[v]].y, at[c[v]].z};
			for (int axis = 0; axis < 3; axis++) {
				component->low[axis] = fmin(component->low[axis], p[axis]);
				component->high[axis] = fmax(component->high[axis], p[axis]);
			}
		}
	}
}

static bool holds(const Component *outer, const Component *inner) {
	bool all = outer->volume > -inner->volume;
	for (int axis = 0; axis < 3; axis++)
		all = all && outer->low[axis] <= inner->low[axis] && outer->high[axis] >= inner->high[axis];
	return all;
}

// Closed shells that are inside out take the label of the smallest one around them.
static bool join_cavities(const Shells *s, int32_t *labels) {
	int32_t count = s->mesh->triangle_count;
	Component *components = FEM_ALLOC_ARRAY(Component, count);
	int32_t *outer = FEM_ALLOC_ARRAY(int32_t, count);
	bool good = components && outer;
	if (good)
		measure(s, labels, components);
	for (int32_t n = 0; good && n < count; n++) {
		outer[n] = n;
		if (labels[n] != n || s->is_open[fem_union_root(s->all, n)] || components[n].volume >= 0.0)
			continue;
		for (int32_t m = 0; m < count; m++)
			if (labels[m] == m && holds(&components[m], &components[n]) &&
				(outer[n] == n || components[m].volume < components[outer[n]].volume))
				outer[n] = m;
	}
	for (int32_t t = 0; good && t < count; t++)
		labels[t] = outer[labels[t]];
	FEM_FREE_ARRAY(components, count);
	FEM_FREE_ARRAY(outer, count);
	return good;
}

static bool make_labels(Shells *s, FemArtistSplinters *splinters) {
	join_triangles(s);
	for (int32_t t = 0; t < s->mesh->triangle_count; t++) {
		int32_t root = fem_union_root(s->all, t);
		splinters->labels[t] = s->is_open[root] ? fem_union_root(s->own, t) : root;
		splinters->open_count += s->is_open[root] && splinters->labels[t] == t;
	}
	return join_cavities(s, splinters->labels);
}

static int32_t *find_surfaces(const FemCutMesh *mesh, const FemRenderMesh *render) {
	int32_t surface = 0, end = render->surfaces[0].index_count / 3;
	int32_t *surfaces = FEM_ALLOC_ARRAY(int32_t, mesh->triangle_count);
	for (int32_t t = 0; surfaces && t < mesh->triangle_count; t++) {
		while (mesh->sources[t] >= end)
			end += render->surfaces[++surface].index_count / 3;
		surfaces[t] = surface;
	}
	return surfaces;
}

FemResult fem_artist_splinters_create(
	FemArtistSplinters *splinters, const FemCutMesh *mesh, const FemRenderMesh *render) {
	int32_t count = mesh->triangle_count;
	Shells s = {.mesh = mesh,
		.surfaces = find_surfaces(mesh, render),
		.all = FEM_ALLOC_ARRAY(int32_t, count),
		.own = FEM_ALLOC_ARRAY(int32_t, count),
		.is_open = FEM_ALLOC_ARRAY(uint8_t, count)};
	*splinters = (FemArtistSplinters){.labels = FEM_ALLOC_ARRAY(int32_t, count), .triangle_count = count};
	bool good =
		s.surfaces && s.all && s.own && s.is_open && splinters->labels && sort_sides(&s) && make_labels(&s, splinters);
	fem_key_map_free(&s.edges.map);
	FEM_FREE_ARRAY(s.edges.starts, s.edges.side_count + 1);
	FEM_FREE_ARRAY(s.edges.sides, s.edges.side_count);
	FEM_FREE_ARRAY(s.surfaces, count);
	FEM_FREE_ARRAY(s.all, count);
	FEM_FREE_ARRAY(s.own, count);
	FEM_FREE_ARRAY(s.is_open, count);
	if (!good)
		fem_artist_splinters_free(splinters);
	return good ? FEM_OK
				: fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to find the pieces: use a smaller mesh.");
}

void fem_artist_splinters_free(FemArtistSplinters *splinters) {
	FEM_FREE_ARRAY(splinters->labels, splinters->triangle_count);
	*splinters = (FemArtistSplinters){0};
}
