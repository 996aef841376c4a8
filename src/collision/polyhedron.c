#include "collision/polyhedron.h"

#include "base/vec.h"

#include <math.h>

// ---- start shapes

void fem_polyhedron_tet(FemPolyhedron *p, const FemVec4 corners[4]) {
	static const uint16_t twins[16] = {4, 8, 12, 0, 0, 14, 9, 0, 1, 6, 13, 0, 2, 10, 5, 0};
	static const uint16_t faces[16] = {2, 3, 1, 0, 3, 2, 0, 0, 1, 3, 0, 0, 2, 1, 0, 0};
	p->vertex_count = 4;
	for (int v = 0; v < 4; v++)
		p->vertex[v] = fem_vec3_from(corners[v]);
	for (int h = 0; h < 16; h++) {
		p->twin[h] = twins[h];
		p->face[h] = faces[h];
	}
}

// Vertex bits are x, y, z at max. A mirrored corner has its slots the other way round.
void fem_polyhedron_box(FemPolyhedron *p, FemVec3 min, FemVec3 max, int32_t first_face) {
	static const uint8_t axes[2][3] = {{0, 1, 2}, {0, 2, 1}};
	p->vertex_count = 8;
	for (int v = 0; v < 8; v++) {
		int mirrored = (v ^ v >> 1 ^ v >> 2) & 1;
		p->vertex[v] = fem_vec3(v & 1 ? max.x : min.x, v & 2 ? max.y : min.y, v & 4 ? max.z : min.z);
		for (int slot = 0; slot < 3; slot++) {
			int axis = axes[mirrored][slot], across = axes[mirrored][(slot + 1) % 3];
			// the other end is mirrored the other way: its slot for the same axis
			int other = axes[!mirrored][0] == axis ? 0 : axes[!mirrored][1] == axis ? 1 : 2;
			p->twin[4 * v + slot] = (uint16_t)(4 * (v ^ 1 << axis) + other);
			p->face[4 * v + slot] = (uint16_t)(first_face + 2 * across + (v >> across & 1));
		}
	}
}

// ---- cutting
// Written for few unpredictable branches: those, not the arithmetic, are what cutting a tet costs.

// The edges that one cut goes through.
typedef struct Crossings {
	int32_t count;                             // of edges that leave the solid
	int32_t dead_count;                        // of vertices outside
	uint16_t leaving[FEM_POLYHEDRON_VERTICES]; // half edges from inside to outside
	uint16_t dead[FEM_POLYHEDRON_VERTICES];
	uint16_t place[FEM_POLYHEDRON_VERTICES];    // of the new vertex
	uint16_t faces[FEM_POLYHEDRON_VERTICES][2]; // left and right of the edge
	FemVec3 at[FEM_POLYHEDRON_VERTICES];
} Crossings;

// The edge that follows, about the same vertex.
static inline int32_t next_about_vertex(int32_t h) {
	return (h & 3) == 2 ? h - 2 : h + 1;
}

static inline bool outside(const FemPolyhedron *p, int32_t vertex) {
	return p->distance[vertex] > 0.0f;
}

// Distances to the plane, and the list of the vertices outside. Lists are written always and grow by a condition.
static void find_outside(FemPolyhedron *p, FemVec4 plane, Crossings *c) {
	int32_t count = 0;
	for (int32_t v = 0; v < p->vertex_count; v++) {
		FemVec3 x = p->vertex[v];
		float distance = plane.x * x.x + plane.y * x.y + plane.z * x.z - plane.w;
		p->distance[v] = distance;
		c->dead[count] = (uint16_t)v;
		count += distance > 0.0f;
	}
	c->dead_count = count;
}

static bool find_crossings(const FemPolyhedron *p, Crossings *c) {
	int32_t count = 0;
	for (int32_t i = 0; i < c->dead_count; i++) {
		if (count + 3 > FEM_POLYHEDRON_VERTICES)
			return false;
		for (int32_t slot = 0; slot < 3; slot++) {
			uint16_t h = p->twin[4 * c->dead[i] + slot];
			c->leaving[count] = h;
			count += !outside(p, h >> 2);
		}
	}
	c->count = count;
	return p->vertex_count - c->dead_count + count <= FEM_POLYHEDRON_VERTICES;
}

// Where the edges meet the plane, and the places of the new vertices: first those of vertices that go.
static void meet_plane(const FemPolyhedron *p, Crossings *c) {
	for (int32_t i = 0; i < c->count; i++) {
		int32_t h = c->leaving[i], back = p->twin[h], v = h >> 2, w = back >> 2;
		float t = p->distance[v] / (p->distance[v] - p->distance[w]);
		FemVec3 edge = fem_vec3_sub(p->vertex[w], p->vertex[v]);
		c->at[i] = fem_vec3_add(p->vertex[v], fem_vec3_scale(edge, t));
		c->faces[i][0] = p->face[h];
		c->faces[i][1] = p->face[back];
		c->place[i] = i < c->dead_count ? c->dead[i] : (uint16_t)(p->vertex_count + i - c->dead_count);
	}
}

// next[i]: the crossing at which the face left of crossing i comes back into the solid; there the face is on the right.
// False when a face is cut more than once, which only rounding can do.
static bool match_by_face(const Crossings *c, uint16_t *next) {
	uint16_t entry[FEM_POLYHEDRON_FACES];
	for (int32_t i = 0; i < c->count; i++)
		entry[c->faces[i][1]] = (uint16_t)i;
	bool once = true;
	for (int32_t i = 0; i < c->count; i++)
		once &= entry[c->faces[i][1]] == i;
	if (!once)
		return false;
	for (int32_t i = 0; i < c->count; i++)
		next[i] = entry[c->faces[i][0]];
	return true;
}

// Finds the next crossing by walking over the removed vertices along the face, which is a ring and so ends.
static void match_by_walk(const FemPolyhedron *p, const Crossings *c, uint16_t *next) {
	for (int32_t i = 0; i < c->count; i++) {
		int32_t h = next_about_vertex(p->twin[c->leaving[i]]);
		while (outside(p, p->twin[h] >> 2))
			h = next_about_vertex(p->twin[h]);
		int32_t entering = p->twin[h], j = 0;
		while (c->leaving[j] != entering)
			j++;
		next[i] = (uint16_t)j;
	}
}

// A new vertex's slot 0 leads back inside, slot 1 along the cut with the old face, slot 2 along it with the new one.
static void add_vertices(FemPolyhedron *p, const Crossings *c, const uint16_t *next, int32_t face) {
	for (int32_t i = 0; i < c->count; i++) {
		int32_t u = c->place[i], h = c->leaving[i], along = 4 * c->place[next[i]] + 2;
		p->vertex[u] = c->at[i];
		p->distance[u] = 0.0f;
		p->face[4 * u] = c->faces[i][1];
		p->face[4 * u + 1] = c->faces[i][0];
		p->face[4 * u + 2] = (uint16_t)face;
		p->twin[4 * u] = (uint16_t)h;
		p->twin[h] = (uint16_t)(4 * u);
		p->twin[4 * u + 1] = (uint16_t)along;
		p->twin[along] = (uint16_t)(4 * u + 1);
	}
}

static void move_vertex(FemPolyhedron *p, int32_t from, int32_t to) {
	p->vertex[to] = p->vertex[from];
	p->distance[to] = p->distance[from];
	for (int32_t slot = 0; slot < 3; slot++) {
		uint16_t twin = p->twin[4 * from + slot];
		p->face[4 * to + slot] = p->face[4 * from + slot];
		p->twin[4 * to + slot] = twin;
		p->twin[twin] = (uint16_t)(4 * to + slot);
	}
}

// Fills the places that are still empty from the end.
static void fill_places(FemPolyhedron *p, const Crossings *c) {
	int32_t count = p->vertex_count;
	for (int32_t i = c->count; i < c->dead_count && c->dead[i] < count; i++) {
		do
			count--;
		while (count > c->dead[i] && outside(p, count));
		if (count > c->dead[i])
			move_vertex(p, count, c->dead[i]);
	}
	p->vertex_count = count;
}

bool fem_polyhedron_cut(FemPolyhedron *p, FemVec4 plane, int32_t face) {
	Crossings crossings;
	uint16_t next[FEM_POLYHEDRON_VERTICES];
	find_outside(p, plane, &crossings);
	if (crossings.dead_count == 0)
		return true;
	if (crossings.dead_count == p->vertex_count || !find_crossings(p, &crossings))
		return false;
	meet_plane(p, &crossings);
	if (!match_by_face(&crossings, next))
		match_by_walk(p, &crossings, next);
	add_vertices(p, &crossings, next, face);
	if (crossings.count >= crossings.dead_count)
		p->vertex_count += crossings.count - crossings.dead_count;
	else
		fill_places(p, &crossings);
	return true;
}

// ---- kept

// Of the vertices given, the nearest; -1: all are farther than `same`.
static int32_t nearest_vertex(FemVec3 x, const FemVec3 *vertices, int32_t count, float same) {
	int32_t nearest = -1;
	float least = same * same;
	for (int32_t i = 0; i < count; i++) {
		FemVec3 off = fem_vec3_sub(x, vertices[i]);
		float square = fem_vec3_dot(off, off);
		if (square < least)
			least = square, nearest = i;
	}
	return nearest;
}

bool fem_polyhedron_keep(const FemVec4 *planes, int32_t plane_count, const FemVec3 *vertices, int32_t vertex_count,
	float same, FemPolyhedronGraph *out) {
	FemPolyhedron p;
	FemVec3 low = vertices[0], high = low;
	out->vertex_count = 0;
	for (int32_t i = 0; i < vertex_count; i++) {
		low = fem_vec3(fminf(low.x, vertices[i].x), fminf(low.y, vertices[i].y), fminf(low.z, vertices[i].z));
		high = fem_vec3(fmaxf(high.x, vertices[i].x), fmaxf(high.y, vertices[i].y), fmaxf(high.z, vertices[i].z));
	}
	FemVec3 room = fem_vec3_sub(high, low);
	fem_polyhedron_box(&p, fem_vec3_sub(low, room), fem_vec3_add(high, room), plane_count);
	for (int32_t i = 0; i < plane_count; i++) {
		if (!fem_polyhedron_cut(&p, planes[i], i))
			return false;
	}
	if (p.vertex_count > FEM_POLYHEDRON_KEPT)
		return false;
	for (int32_t v = 0; v < p.vertex_count; v++) {
		int32_t at = nearest_vertex(p.vertex[v], vertices, vertex_count, same);
		for (int32_t slot = 0; slot < 3; slot++) {
			out->twin[v][slot] = (uint8_t)p.twin[4 * v + slot];
			out->face[v][slot] = (uint8_t)p.face[4 * v + slot];
			at = p.face[4 * v + slot] < plane_count ? at : -1;
		}
		if (at < 0)
			return false;
		out->vertex[v] = (uint8_t)at;
	}
	out->vertex_count = (uint8_t)p.vertex_count;
	return true;
}

void fem_polyhedron_load(FemPolyhedron *p, const FemPolyhedronGraph *graph, const FemVec4 *vertices) {
	p->vertex_count = graph->vertex_count;
	for (int32_t v = 0; v < graph->vertex_count; v++) {
		p->vertex[v] = fem_vec3_from(vertices[graph->vertex[v]]);
		for (int32_t slot = 0; slot < 3; slot++) {
			p->twin[4 * v + slot] = graph->twin[v][slot];
			p->face[4 * v + slot] = graph->face[v][slot];
		}
	}
}

_Static_assert(4 * FEM_POLYHEDRON_KEPT <= UINT8_MAX, "half edges of FemPolyhedronGraph");

// ---- measuring

// Divergence theorem with tets (vertex 0, a point q of the face, the two ends of an edge): relative to vertex 0 the
// edge v-w between the faces L and R adds v x w to twice the area of L and takes it from R, and the two tets at it have
// the volume (q_L - q_R).(v x w)/6 and the centre (q + v + w)/4.
typedef struct EdgeSums {
	FemVec3 points[FEM_POLYHEDRON_FACES]; // q
	float reach_sq;                       // m^2
	FemVec3 moment;                       // 24 times the part of int x dV that belongs to v + w
} EdgeSums;

static void choose_points(const FemPolyhedron *p, int32_t face_count, EdgeSums *sums, FemVec3 *areas) {
	for (int32_t f = 0; f < face_count; f++)
		areas[f] = sums->points[f] = fem_vec3(0.0f, 0.0f, 0.0f);
	sums->reach_sq = 0.0f;
	// last come the vertices with low numbers: q = 0 for the faces at vertex 0
	for (int32_t v = p->vertex_count - 1; v >= 0; v--) {
		FemVec3 x = fem_vec3_sub(p->vertex[v], p->vertex[0]);
		float length_sq = fem_vec3_dot(x, x);
		sums->reach_sq = length_sq > sums->reach_sq ? length_sq : sums->reach_sq;
		for (int32_t h = 4 * v; h < 4 * v + 3; h++)
			sums->points[p->face[h]] = x;
	}
}

static void add_edges(const FemPolyhedron *p, EdgeSums *sums, FemVec3 *areas) {
	sums->moment = fem_vec3(0.0f, 0.0f, 0.0f);
	for (int32_t v = 1; v < p->vertex_count; v++) {
		FemVec3 x = fem_vec3_sub(p->vertex[v], p->vertex[0]);
		for (int32_t h = 4 * v; h < 4 * v + 3; h++) {
			int32_t twin = p->twin[h];
			if (twin < h)
				continue;
			FemVec3 y = fem_vec3_sub(p->vertex[twin >> 2], p->vertex[0]), cross = fem_vec3_cross(x, y);
			int32_t left = p->face[h], right = p->face[twin];
			areas[left] = fem_vec3_add(areas[left], cross);
			areas[right] = fem_vec3_sub(areas[right], cross);
			float six_volumes = fem_vec3_dot(fem_vec3_sub(sums->points[left], sums->points[right]), cross);
			sums->moment = fem_vec3_add(sums->moment, fem_vec3_scale(fem_vec3_add(x, y), six_volumes));
		}
	}
}

void fem_polyhedron_measure(const FemPolyhedron *p, int32_t face_count, FemPolyhedronMeasure *out_measure) {
	EdgeSums sums;
	FemVec3 *areas = out_measure->areas;
	choose_points(p, face_count, &sums, areas);
	add_edges(p, &sums, areas);
	float six_volumes = 0.0f, surface = 0.0f;
	for (int32_t f = 0; f < face_count; f++) {
		float part = fem_vec3_dot(sums.points[f], areas[f]);
		six_volumes += part;
		sums.moment = fem_vec3_add(sums.moment, fem_vec3_scale(sums.points[f], part));
		areas[f] = fem_vec3_scale(areas[f], 0.5f);
		surface += fem_vec3_length(areas[f]);
	}
	out_measure->volume = six_volumes / 6.0f;
	out_measure->surface = surface;
	out_measure->reach = sqrtf(sums.reach_sq);
	FemVec3 from_vertex = fem_vec3_scale(sums.moment, 0.25f / six_volumes);
	out_measure->centre = fem_vec3_add(p->vertex[0], from_vertex);
}
