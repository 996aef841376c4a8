#include "filling/surface_fit.h"

#include "base/assert.h"
#include "base/carve.h"
#include "base/error.h"
#include "base/stop_check.h"
#include "geometry/closest.h"
#include "geometry/embedding.h"
#include "topology/surface.h"

#include <string.h>

#define PASSES 8   // of drawing nodes to the surface, by the shares below: gentle first, so that tets follow; chosen
#define HALVINGS 5 // of a displacement that would spoil a tet, then it is left out; chosen
#define SAG_SHARE 0.75   // mean over a triangle of the height of a paraboloid over its plane / height at its centre
#define KEPT_MARGIN 1e-3 // of a cell: nodes no farther than this from where they should be stay; chosen
#define FOLDED_SHARE 0.3 // length of the mean normal: where it is shorter the surface is folded, and has no sag; chosen
#define SAG_LEAST 1e-9   // of the frame: smaller displacements are rounding
#define COVER_PASSES 6 // of reaching out to vertices that lie outside, within their box, then as many anywhere; chosen
#define COVER_WEIGHT 0.1 // of a node at the place nearest to a vertex: those with less need not go; chosen
#define COVER_LEFT 0.8   // of the limit: nodes stop this far before a vertex, for the sake of the volume; chosen
#define COVER_NEAR 0.5   // of the limit: vertices nearer than this are not looked at in each pass; chosen
#define TRIM_PASSES 4    // of going in for the sake of the volume: not all nodes can go as far as they should; chosen
#define TRIM_LEAST 0.01  // of the volume: a smaller surplus is well; chosen
#define REACH 0.35       // of a cell: farther moves by sag mean that something else is nearest; chosen

typedef struct Fit {
	const FemSolid *solid;
	FemTetList *list;
	FemSurface surface;
	int32_t *identity;  // [node]
	int32_t *tet_start; // [node + 1]
	int32_t *tets;      // [4 tets]: the tets around each node
	FemVec3d *moves;    // [node]: sum of area vectors, then wanted moves
	double *sags;       // [node]: sum of area * sag
	double *areas;      // [node]
	size_t bytes;
	void *block;
} Fit;

static size_t place(Fit *fit, char *base) {
	FemCarver carver = {.base = base};
	int32_t nodes = fit->list->node_count;
	fit->identity = FEM_CARVE(&carver, int32_t, nodes);
	fit->tet_start = FEM_CARVE(&carver, int32_t, nodes + 1);
	fit->tets = FEM_CARVE(&carver, int32_t, 4 * fit->list->tet_count);
	fit->moves = FEM_CARVE(&carver, FemVec3d, nodes);
	fit->sags = FEM_CARVE(&carver, double, nodes);
	fit->areas = FEM_CARVE(&carver, double, nodes);
	return carver.used;
}

static void list_tets(Fit *fit) {
	const FemTetList *list = fit->list;
	for (int32_t n = 0; n < list->node_count; n++)
		fit->identity[n] = n;
	for (int32_t i = 0; i < 4 * list->tet_count; i++)
		fit->tet_start[list->tets[i / 4][i % 4] + 1]++;
	for (int32_t n = 0; n < list->node_count; n++)
		fit->tet_start[n + 1] += fit->tet_start[n];
	for (int32_t i = 0; i < 4 * list->tet_count; i++)
		fit->tets[fit->tet_start[list->tets[i / 4][i % 4]]++] = i / 4;
	for (int32_t n = list->node_count; n > 0; n--)
		fit->tet_start[n] = fit->tet_start[n - 1];
	fit->tet_start[0] = 0;
	FEM_ASSERT(
		fem_are_starts(fit->tet_start, list->node_count) && fit->tet_start[list->node_count] == 4 * list->tet_count);
}

// The worst angle of the tets around a node; -1 when one of them is inverted.
static double worst_around(const Fit *fit, int32_t node) {
	const FemTetList *list = fit->list;
	double worst = FEM_STRAIGHT_ANGLE;
	for (int32_t at = fit->tet_start[node]; at < fit->tet_start[node + 1]; at++) {
		FemVec3d corners[4];
		double low, high;
		if (!(fem_tet_list_volume(list, fit->tets[at]) > 0.0))
			return -1.0;
		for (int v = 0; v < 4; v++)
			corners[v] = list->nodes[list->tets[fit->tets[at]][v]];
		fem_tet_dihedral_range(corners, &low, &high);
		worst = fmin(worst, fmin(low, FEM_STRAIGHT_ANGLE - high));
	}
	return worst;
}

// Goes as far as the tets around allow: none below the limit (or below what it was, if that was worse).
static void move_node(const Fit *fit, int32_t node, FemVec3d displacement, double limit) {
	FemVec3d *at = &fit->list->nodes[node], start = *at;
	double floor_angle = fmin(limit, worst_around(fit, node));
	for (int i = 0; i < HALVINGS; i++) {
		*at = fem_vec3d_add(start, displacement);
		if (worst_around(fit, node) >= floor_angle)
			return;
		displacement = fem_vec3d_scale(displacement, 0.5);
	}
	*at = start;
}

static FemVec3d face_corner(const Fit *fit, int32_t face, int v) {
	return fit->list->nodes[fit->list->tets[face / 4][fem_face_corners[face % 4][v]]];
}

static void mark_surface(Fit *fit) {
	for (int32_t n = 0; n < fit->list->node_count; n++) {
		fit->moves[n] = (FemVec3d){0};
		fit->sags[n] = fit->areas[n] = 0.0;
	}
	for (int32_t f = 0; f < fit->surface.count; f++)
		for (int v = 0; v < 3; v++)
			fit->areas[fit->list->tets[fit->surface.faces[f] / 4][fem_face_corners[fit->surface.faces[f] % 4][v]]] =
				1.0;
}

// Inner nodes follow to the middle of their neighbours.
static void center_node(const Fit *fit, int32_t node, double limit) {
	const FemTetList *list = fit->list;
	FemVec3d sum = {0};
	int32_t count = 0;
	for (int32_t at = fit->tet_start[node]; at < fit->tet_start[node + 1]; at++)
		for (int v = 0; v < 4; v++) {
			int32_t other = list->tets[fit->tets[at]][v];
			if (other == node)
				continue;
			sum = fem_vec3d_add(sum, list->nodes[other]);
			count++;
		}
	move_node(fit, node, fem_vec3d_sub(fem_vec3d_scale(sum, 1.0 / count), list->nodes[node]), limit);
}

// Little by little at first: a node can go far only when those on the other side of its wall have come along.
static void shrink_back(Fit *fit, double cell, double limit) {
	// Of what is left to go, pass by pass.
	static const double shares[PASSES] = {0.25, 0.33, 0.4, 0.5, 0.7, 1.0, 1.0, 1.0};
	for (int pass = 0; pass < PASSES; pass++) {
		mark_surface(fit);
		for (int32_t n = 0; n < fit->list->node_count && !fem_stop_asked(); n++) {
			FemVec3d at = fit->list->nodes[n], nearest;
			int32_t triangle;
			if (fit->areas[n] == 0.0)
				center_node(fit, n, limit);
			if (fit->areas[n] == 0.0 || (fit->solid->sheet_half <= 0.0 && fem_winding_inside(&fit->solid->winding, at)))
				continue;
			double distance = fem_bvh_nearest(&fit->solid->bvh, at, 2.0 * cell, &triangle, &nearest);
			// A sheet has no thickness of its own: its nodes stay half of the one asked for away.
			double keep = fit->solid->sheet_half;
			if (triangle >= 0 && distance > keep + KEPT_MARGIN * cell)
				move_node(
					fit, n, fem_vec3d_scale(fem_vec3d_sub(nearest, at), shares[pass] * (1.0 - keep / distance)), limit);
		}
	}
}

// Distance from a face's centre to the soup along its normal: positive when the soup lies outside.
static double face_sag(const Fit *fit, FemVec3d center, double reach) {
	int32_t triangle;
	FemVec3d nearest;
	double distance = fem_bvh_nearest(&fit->solid->bvh, center, reach, &triangle, &nearest);
	if (triangle < 0)
		return 0.0;
	return fem_winding_inside(&fit->solid->winding, center) ? distance : -distance;
}

static void gather_sags(Fit *fit, double reach) {
	mark_surface(fit);
	for (int32_t n = 0; n < fit->list->node_count; n++)
		fit->areas[n] = 0.0;
	for (int32_t f = 0; f < fit->surface.count && !fem_stop_asked(); f++) {
		int32_t face = fit->surface.faces[f];
		FemVec3d a = face_corner(fit, face, 0), b = face_corner(fit, face, 1), c = face_corner(fit, face, 2);
		FemVec3d n = fem_vec3d_cross(fem_vec3d_sub(b, a), fem_vec3d_sub(c, a));
		FemVec3d center = fem_vec3d_scale(fem_vec3d_add(fem_vec3d_add(a, b), c), 1.0 / 3.0);
		double area = sqrt(fem_vec3d_dot(n, n)), sag = face_sag(fit, center, reach);
		for (int v = 0; v < 3; v++) {
			int32_t node = fit->list->tets[face / 4][fem_face_corners[face % 4][v]];
			fit->moves[node] = fem_vec3d_add(fit->moves[node], n);
			fit->sags[node] += area * sag;
			fit->areas[node] += area;
		}
	}
}

static void follow_sags(Fit *fit, double reach, double limit) {
	gather_sags(fit, reach);
	for (int32_t n = 0; n < fit->list->node_count && !fem_stop_asked(); n++) {
		double length = sqrt(fem_vec3d_dot(fit->moves[n], fit->moves[n]));
		if (fit->areas[n] <= 0.0 || length < FOLDED_SHARE * fit->areas[n])
			continue;
		double far = SAG_SHARE * fit->sags[n] / fit->areas[n];
		if (fabs(far) > SAG_LEAST)
			move_node(fit, n, fem_vec3d_scale(fit->moves[n], far / length), limit);
	}
}

// ---- cover

// The tet and the place in it that are nearest to a vertex which lies outside, and the offset from there.
typedef struct Reach {
	int32_t tet;
	double weights[4];
	FemVec3d offset;
	double length;
} Reach;

static Reach reach_of(const Fit *fit, int32_t tet, FemVec3d p) {
	FemVec3d corners[4], nearest = {0};
	Reach reach = {.tet = tet};
	for (int v = 0; v < 4; v++)
		corners[v] = fit->list->nodes[fit->list->tets[tet][v]];
	fem_closest_in_tet(p, corners, reach.weights);
	for (int v = 0; v < 4; v++)
		nearest = fem_vec3d_add(nearest, fem_vec3d_scale(corners[v], reach.weights[v]));
	reach.offset = fem_vec3d_sub(p, nearest);
	reach.length = sqrt(fem_vec3d_dot(reach.offset, reach.offset));
	return reach;
}

static void swap_points(FemVec3 *a, FemVec3 *b) {
	FemVec3 kept = *a;
	*a = *b;
	*b = kept;
}

// Each node is asked to go the longest way that a vertex beyond its faces asks for; how far the farthest lies. Vertices
// that are not well inside the limit come first; their number.
static double gather_offsets(
	Fit *fit, FemVec3 *points, const FemEmbedding *embedding, double limit, int32_t *out_far_count) {
	double farthest = 0.0;
	int32_t far_count = 0;
	for (int32_t n = 0; n < fit->list->node_count; n++)
		fit->areas[n] = 0.0;
	for (int32_t i = 0; i < embedding->count; i++) {
		Reach reach = reach_of(fit, embedding->tets[i], fem_vec3d_from(points[i]));
		farthest = fmax(farthest, reach.length);
		for (int v = 0; v < 4 && reach.length > limit; v++) {
			int32_t node = fit->list->tets[reach.tet][v];
			double asked = reach.weights[v] * reach.length;
			if (reach.weights[v] < COVER_WEIGHT || asked <= fit->areas[node])
				continue;
			fit->areas[node] = asked;
			fit->moves[node] = fem_vec3d_scale(reach.offset, 1.0 - COVER_LEFT * limit / reach.length);
		}
		if (reach.length > COVER_NEAR * limit)
			swap_points(&points[i], &points[far_count++]);
	}
	*out_far_count = far_count;
	return farthest;
}

static FemResult look(Fit *fit, const FemCover *def, FemVec3 *points, int32_t count, FemVec3 *nodes, double *out_gap,
	int32_t *out_far_count) {
	FemTetList *list = fit->list;
	FemEmbedding embedding;
	for (int32_t n = 0; n < list->node_count; n++)
		nodes[n] = fem_vec3d_to_vec3(list->nodes[n]);
	FemEmbedMesh mesh = {list->node_count, list->tet_count, nodes, &list->tets[0][0], NULL};
	FemResult result = fem_embed(&mesh, points, NULL, count, &embedding);
	if (result != FEM_OK)
		return result;
	*out_gap = gather_offsets(fit, points, &embedding, def->limit, out_far_count);
	fem_embedding_free(&embedding);
	return FEM_OK;
}

// The box of the vertices.
typedef struct Box {
	FemVec3d low, high;
} Box;

static Box box_of(const FemVec3 *points, int32_t count) {
	FemVec3d first = fem_vec3d_from(points[0]);
	Box box = {first, first};
	for (int32_t i = 1; i < count; i++) {
		FemVec3d p = fem_vec3d_from(points[i]);
		box.low = (FemVec3d){fmin(box.low.x, p.x), fmin(box.low.y, p.y), fmin(box.low.z, p.z)};
		box.high = (FemVec3d){fmax(box.high.x, p.x), fmax(box.high.y, p.y), fmax(box.high.z, p.z)};
	}
	return box;
}

static FemVec3d nearest_in_box(const Box *box, FemVec3d p) {
	return (FemVec3d){fmin(fmax(p.x, box->low.x), box->high.x), fmin(fmax(p.y, box->low.y), box->high.y),
		fmin(fmax(p.z, box->low.z), box->high.z)};
}

// All vertices are looked at first and last, in between those that were far. Nodes stay in the box, if there is one.
static FemResult cover(
	Fit *fit, const FemCover *def, FemVec3 *points, int32_t count, FemVec3 *nodes, const Box *box, double *out_gap) {
	int32_t looked_at = count;
	for (int pass = 0; !fem_stop_asked(); pass++) {
		int32_t far_count;
		FemResult result = look(fit, def, points, looked_at, nodes, out_gap, &far_count);
		if (result != FEM_OK)
			return result;
		bool ends = *out_gap <= def->limit || pass >= COVER_PASSES;
		if (ends && looked_at == count)
			return FEM_OK;
		looked_at = ends ? count : looked_at == count ? far_count : looked_at;
		for (int32_t n = 0; n < fit->list->node_count && !ends; n++) {
			FemVec3d at = fit->list->nodes[n], to = fem_vec3d_add(at, fit->moves[n]);
			if (fit->areas[n] > 0.0)
				move_node(fit, n, fem_vec3d_sub(box ? nearest_in_box(box, to) : to, at), def->min_dihedral);
		}
	}
	return fem_fail_stopped();
}

// Where nodes that stay in the box of the vertices cover these, they do: at the rims of a column others reached beyond
// its ends, so that one of 4 m stood 20 cm over the floor.
static FemResult cover_in_box(
	Fit *fit, const FemCover *def, FemVec3 *points, int32_t count, FemVec3 *nodes, double *out_gap) {
	FemTetList *list = fit->list;
	FemVec3d *kept = FEM_ALLOC_ARRAY(FemVec3d, list->node_count);
	if (!kept)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to fit the surface: ask for fewer elements.");
	memcpy(kept, list->nodes, sizeof *kept * (size_t)list->node_count);
	Box box = box_of(points, count);
	for (int32_t n = 0; n < list->node_count; n++)
		move_node(fit, n, fem_vec3d_sub(nearest_in_box(&box, list->nodes[n]), list->nodes[n]), def->min_dihedral);
	FemResult result = cover(fit, def, points, count, nodes, &box, out_gap);
	if (result == FEM_OK && *out_gap > def->limit) {
		memcpy(list->nodes, kept, sizeof *kept * (size_t)list->node_count);
		result = cover(fit, def, points, count, nodes, NULL, out_gap);
	}
	FEM_FREE_ARRAY(kept, list->node_count);
	return result;
}

// ---- both

static bool create(Fit *fit) {
	fit->bytes = place(fit, NULL);
	fit->block = fem_alloc(fit->bytes);
	if (!fit->block)
		return false;
	place(fit, fit->block);
	list_tets(fit);
	return true;
}

FemResult fem_surface_cover(const FemSolid *solid, const FemCover *def, FemTetList *list, double *out_gap) {
	const FemTriangles *triangles = &solid->triangles;
	Fit fit = {.solid = solid, .list = list};
	int32_t stride = triangles->vertex_count / def->vertices_most + 1,
			count = (triangles->vertex_count - 1) / stride + 1;
	FemVec3 *points = FEM_ALLOC_ARRAY(FemVec3, count), *nodes = FEM_ALLOC_ARRAY(FemVec3, list->node_count);
	for (int32_t i = 0; points && i < count; i++)
		points[i] = triangles->vertices[i * stride];
	FemResult result = points && nodes && create(&fit)
		? cover_in_box(&fit, def, points, count, nodes, out_gap)
		: fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to fit the surface: ask for fewer elements.");
	fem_free(fit.block, fit.bytes);
	FEM_FREE_ARRAY(points, count);
	FEM_FREE_ARRAY(nodes, list->node_count);
	return result;
}

// Sums of the area vectors around each node, twice the areas; returns the whole area.
static double gather_normals(Fit *fit) {
	double all = 0.0;
	mark_surface(fit);
	for (int32_t f = 0; f < fit->surface.count; f++) {
		int32_t face = fit->surface.faces[f];
		FemVec3d a = face_corner(fit, face, 0), b = face_corner(fit, face, 1), c = face_corner(fit, face, 2);
		FemVec3d n = fem_vec3d_cross(fem_vec3d_sub(b, a), fem_vec3d_sub(c, a));
		all += 0.5 * sqrt(fem_vec3d_dot(n, n));
		for (int v = 0; v < 3; v++) {
			int32_t node = fit->list->tets[face / 4][fem_face_corners[face % 4][v]];
			fit->moves[node] = fem_vec3d_add(fit->moves[node], n);
		}
	}
	return all;
}

static void trim(Fit *fit, double volume, double reach, double min_dihedral) {
	double left = reach;
	for (int pass = 0; pass < TRIM_PASSES && left > 0.0; pass++) {
		double surplus = fem_tet_list_volume_sum(fit->list) - volume, area = gather_normals(fit);
		if (surplus <= TRIM_LEAST * volume || area <= 0.0)
			return;
		double far = fmin(surplus / area, left);
		left -= far;
		for (int32_t n = 0; n < fit->list->node_count && !fem_stop_asked(); n++) {
			double length = sqrt(fem_vec3d_dot(fit->moves[n], fit->moves[n]));
			if (length > 0.0)
				move_node(fit, n, fem_vec3d_scale(fit->moves[n], -far / length), min_dihedral);
		}
	}
}

FemResult fem_surface_trim(double volume, double reach, double min_dihedral, FemTetList *list) {
	Fit fit = {.list = list};
	bool ready = create(&fit) &&
		fem_surface_create(&fit.surface, fit.identity, list->node_count, &list->tets[0][0], list->tet_count);
	if (ready)
		trim(&fit, volume, reach, min_dihedral);
	fem_surface_free(&fit.surface);
	fem_free(fit.block, fit.bytes);
	if (!ready)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to fit the surface: ask for fewer elements.");
	return fem_stop_asked() ? fem_fail_stopped() : FEM_OK;
}

FemResult fem_surface_fit(
	const FemSolid *solid, double cell, double thin_dihedral, double min_dihedral, FemTetList *list) {
	Fit fit = {.solid = solid, .list = list};
	bool ready = create(&fit) &&
		fem_surface_create(&fit.surface, fit.identity, list->node_count, &list->tets[0][0], list->tet_count);
	if (ready) {
		if (solid->inflation > 0.0)
			shrink_back(&fit, cell, thin_dihedral);
		if (solid->sheet_half <= 0.0)
			follow_sags(&fit, REACH * cell, solid->inflation > 0.0 ? thin_dihedral : min_dihedral);
	}
	fem_surface_free(&fit.surface);
	fem_free(fit.block, fit.bytes);
	if (!ready)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to fit the surface: ask for fewer elements.");
	return fem_stop_asked() ? fem_fail_stopped() : FEM_OK;
}
