#include "collision/piece_hull.h"

#include "base/vec.h"
#include "model/piece.h"
#include "topology/splitting.h"

#include <math.h>

// Of the length of a piece: a node that stands out by less, or a dent as deep, is none. Chosen, half a millimetre of a
// metre; floats of shapes lose 1e-7.
#define FLAT_SHARE 5e-4f
// Of a plane of a part: with more surface of the piece in it, it gives contacts their normal. What lies in a notch lies
// on the half of a plane that no other part stands on; a sliver beside another part bears nothing. Chosen.
#define OUTER_SHARE 0.1f
// Of the edge of a regular tet as large as the smaller of the two that stand for pieces, as of tets (crack_tets.c).
#define GRAZING_SHARE 0.25f
#define EDGE_CUBED 8.5f   // of a regular tet over its volume: 6 sqrt(2) = 8.49
#define SAME_VERTEX 10.0f // times what is flat: where planes meet at a flat angle they do so that far off. Chosen
#define SAME_NORMAL 0.99f // cosine, of 8 degrees: faces of one plane have it, whose corners lie in it. Chosen

typedef struct Finder {
	const FemBody *body;
	FemRange nodes;
	const bool *has_node;                  // [node of the piece]; null: all
	float flat;                            // m
	FemVec3 normal[FEM_PIECE_HULL_PLANES]; // unit, in the axes of the shape
	float offset[FEM_PIECE_HULL_PLANES];   // m, of its farthest node
	float area_sq[FEM_PIECE_HULL_PLANES];  // m^4, twice that of the largest face in it, squared
	float area[FEM_PIECE_HULL_PLANES];     // m^2, twice that of all faces in it
	float outer[FEM_PIECE_HULL_PLANES];    // m^2, the same of those that are surface of the piece
	FemPieceHull *hull;
} Finder;

static FemVec3 shape_at(const Finder *f, int32_t node) {
	return fem_vec3_from(f->body->shape[node]);
}

static bool has_node(const Finder *f, int32_t node) {
	return !f->has_node || f->has_node[node - f->nodes.begin];
}

static bool lies_in(const Finder *f, int32_t plane, const int32_t nodes[3]) {
	bool lies = true;
	for (int k = 0; k < 3; k++)
		lies &= fabsf(fem_vec3_dot(f->normal[plane], shape_at(f, nodes[k])) - f->offset[plane]) < f->flat;
	return lies;
}

static void set_plane(Finder *f, int32_t plane, const int32_t nodes[3], FemVec3 area) {
	f->area_sq[plane] = fem_vec3_dot(area, area);
	f->normal[plane] = fem_vec3_scale(area, 1.0f / sqrtf(f->area_sq[plane]));
	for (int k = 0; k < 3; k++)
		f->hull->planes[plane][k] = (uint16_t)(nodes[k] - f->nodes.begin);
	f->offset[plane] = -INFINITY;
	for (int32_t i = f->nodes.begin; i < f->nodes.end; i++) {
		float along = fem_vec3_dot(f->normal[plane], shape_at(f, i));
		if (along > f->offset[plane] && has_node(f, i)) {
			f->offset[plane] = along;
			f->hull->planes[plane][3] = (uint16_t)(i - f->nodes.begin);
		}
	}
}

// Of a plane that is there already, whose largest face stands for it, or a new one. False when something stands out
// beyond it, or there are too many.
static bool add_face(Finder *f, const FemHullFace *face) {
	const int32_t *nodes = face->nodes;
	FemVec3 x[3];
	for (int k = 0; k < 3; k++)
		x[k] = shape_at(f, nodes[k]);
	FemVec3 area = fem_vec3_cross(fem_vec3_sub(x[1], x[0]), fem_vec3_sub(x[2], x[0]));
	float square = fem_vec3_dot(area, area), least = f->flat * f->flat, size = sqrtf(square);
	if (!(square > least * least))
		return square >= 0.0f; // it is no larger than what does not count
	int32_t plane = 0;
	while (plane < f->hull->plane_count &&
		!(fem_vec3_dot(f->normal[plane], area) > SAME_NORMAL * size && lies_in(f, plane, nodes)))
		plane++;
	if (plane == FEM_PIECE_HULL_PLANES)
		return false;
	bool is_new = plane == f->hull->plane_count;
	if (is_new)
		f->area[plane] = f->outer[plane] = 0.0f;
	f->area[plane] += size;
	f->outer[plane] += face->is_exterior ? size : 0.0f;
	if (!is_new && square <= f->area_sq[plane])
		return true;
	set_plane(f, plane, nodes, area);
	f->hull->plane_count += is_new;
	return lies_in(f, plane, nodes);
}

// Nodes where three planes meet, or more.
static bool list_vertices(Finder *f) {
	for (int32_t i = f->nodes.begin; i < f->nodes.end; i++) {
		int32_t met = 0;
		for (int32_t p = 0; p < f->hull->plane_count && has_node(f, i); p++)
			met += fem_vec3_dot(f->normal[p], shape_at(f, i)) > f->offset[p] - 2.0f * f->flat;
		if (met < 3)
			continue;
		if (f->hull->vertex_count == FEM_PIECE_HULL_VERTICES)
			return false;
		f->hull->vertices[f->hull->vertex_count++] = (uint16_t)(i - f->nodes.begin);
	}
	return f->hull->vertex_count >= 4;
}

bool fem_piece_hull_find(const FemBody *body, int32_t component, const FemHullFace *faces, int32_t face_count,
	const bool *nodes, FemPieceHull *out) {
	Finder finder = {.body = body,
		.nodes = body->topology->component_nodes[component],
		.has_node = nodes,
		.flat = FLAT_SHARE * body->pieces[component].length,
		.hull = out};
	*out = (FemPieceHull){.tet = -1};
	for (int32_t i = 0; i < face_count; i++) {
		if (!add_face(&finder, &faces[i]))
			return false;
	}
	for (int32_t p = 0; p < out->plane_count; p++)
		out->exterior |= finder.outer[p] > OUTER_SHARE * finder.area[p] ? 1u << p : 0;
	return out->plane_count >= 4 && list_vertices(&finder);
}

// Through three of the nodes, counter-clockwise from outside, at the fourth.
static FemVec4 plane_of(const FemVec4 *position, const uint16_t nodes[4]) {
	FemVec3 x[4];
	for (int k = 0; k < 4; k++)
		x[k] = fem_vec3_from(position[nodes[k]]);
	FemVec3 area = fem_vec3_cross(fem_vec3_sub(x[1], x[0]), fem_vec3_sub(x[2], x[0]));
	FemVec3 n = fem_vec3_scale(area, 1.0f / fem_vec3_length(area));
	return (FemVec4){n.x, n.y, n.z, fem_vec3_dot(n, x[3])};
}

void fem_piece_hull_keep_graph(const FemBody *body, int32_t component, FemPieceHull *hull) {
	const FemVec4 *shape = body->shape + body->topology->component_nodes[component].begin;
	FemVec4 planes[FEM_PIECE_HULL_PLANES];
	FemVec3 vertices[FEM_PIECE_HULL_VERTICES];
	float same = SAME_VERTEX * FLAT_SHARE * body->pieces[component].length;
	for (int32_t p = 0; p < hull->plane_count; p++)
		planes[p] = plane_of(shape, hull->planes[p]);
	for (int32_t i = 0; i < hull->vertex_count; i++)
		vertices[i] = fem_vec3_from(shape[hull->vertices[i]]);
	if (!fem_polyhedron_keep(planes, hull->plane_count, vertices, hull->vertex_count, same, &hull->graph))
		hull->graph.vertex_count = 0;
}

bool fem_piece_hull_shape(
	const FemBody *body, int32_t component, const FemPieceHull *hull, FemVec4 *storage, FemConvex *out_shape) {
	const FemVec4 *position = body->position + body->topology->component_nodes[component].begin;
	FemVec4 *planes = storage, *vertices = storage + hull->plane_count;
	FemVec3 low = fem_vec3(INFINITY, INFINITY, INFINITY), high = fem_vec3_scale(low, -1.0f);
	*out_shape = (FemConvex){.origin = body->origin, .planes = planes, .vertices = vertices};
	for (int32_t i = 0; i < hull->vertex_count; i++) {
		FemVec3 x = fem_vec3_from(position[hull->vertices[i]]);
		vertices[i] = (FemVec4){x.x, x.y, x.z, 0.0f};
		low = fem_vec3(x.x < low.x ? x.x : low.x, x.y < low.y ? x.y : low.y, x.z < low.z ? x.z : low.z);
		high = fem_vec3(x.x > high.x ? x.x : high.x, x.y > high.y ? x.y : high.y, x.z > high.z ? x.z : high.z);
	}
	for (int32_t p = 0; p < hull->plane_count; p++) {
		planes[p] = plane_of(position, hull->planes[p]);
		if (!isfinite(planes[p].w))
			return false;
	}
	out_shape->box_min = low;
	out_shape->box_max = high;
	out_shape->plane_count = hull->plane_count;
	out_shape->vertex_count = hull->vertex_count;
	out_shape->exterior[0] = hull->exterior;
	out_shape->graph = hull->graph.vertex_count > 0 ? &hull->graph : NULL;
	return true;
}

// The node of the mesh that a node of a body that broke is a copy of.
static int32_t source_of(const FemTopology *t, int32_t node) {
	return t->split->source_of_user[t->user_of_node[node]];
}

static float tet_edge(const FemBody *body, int32_t tet) {
	return cbrtf(EDGE_CUBED * body->batches[tet / FEM_LANES].volume[tet % FEM_LANES]);
}

bool fem_piece_hulls_graze(
	const FemBody *body, int32_t component, const FemPieceHull *hull, int32_t other, const FemPieceHull *other_hull) {
	const FemTopology *t = body->topology;
	int32_t first = t->component_nodes[component].begin, second = t->component_nodes[other].begin, common = 0;
	float farthest_sq = 0.0f;
	int32_t sources[FEM_PIECE_HULL_VERTICES];
	if (!t->split)
		return false;
	for (int32_t k = 0; k < other_hull->vertex_count; k++)
		sources[k] = source_of(t, second + other_hull->vertices[k]);
	for (int32_t i = 0; i < hull->vertex_count; i++) {
		int32_t node = first + hull->vertices[i], source = source_of(t, node);
		for (int32_t k = 0; k < other_hull->vertex_count; k++) {
			int32_t twin = second + other_hull->vertices[k];
			if (sources[k] != source)
				continue;
			FemVec3 off = fem_vec3_sub(fem_vec3_from(body->position[node]), fem_vec3_from(body->position[twin]));
			farthest_sq = fmaxf(farthest_sq, fem_vec3_dot(off, off));
			common++;
		}
	}
	float near = GRAZING_SHARE * fminf(tet_edge(body, hull->tet), tet_edge(body, other_hull->tet));
	return common > 0 && common < 3 && farthest_sq < near * near;
}
