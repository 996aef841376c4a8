#include "filling/surface_carve.h"

#include "base/carve.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "filling/coverage.h"
#include "geometry/closest.h"
#include "geometry/embedding.h"
#include "topology/surface.h"

#include <math.h>
#include <string.h>

#define PASSES_MOST 40 // over the outer tets for each share; chosen: a gap is seldom filled by so many layers
#define SAMPLES 5      // points of a tet at which the solid is asked: its middle, and halfway from there to its corners
#define NEVER_ASKED (-1.0f) // in place of a share of a tet: chosen, no share is negative

typedef struct Carve {
	const FemSolid *solid;
	const FemCarving *def;
	FemTetList *list;
	FemSurface surface;
	FemEmbedding embedding;
	FemVec3 *points;
	int32_t point_count;
	int32_t *identity;  // [node]
	int32_t *tet_start; // [node + 1], into tets
	int32_t *tets;
	int32_t *first; // [tet]: a point tied to it, -1 for none
	int32_t *next;  // [point]
	float *outside; // [tet]: share of it outside the solid, or NEVER_ASKED
	int32_t *gone;  // [tet]: 1 when it has been taken off
	double left;    // volume of the tets that stay, unit space
	size_t bytes;
	void *block;
} Carve;

static size_t place(Carve *carve, char *base) {
	FemCarver carver = {.base = base};
	int32_t nodes = carve->list->node_count, tets = carve->list->tet_count;
	carve->identity = FEM_CARVE(&carver, int32_t, nodes);
	carve->tet_start = FEM_CARVE(&carver, int32_t, nodes + 1);
	carve->tets = FEM_CARVE(&carver, int32_t, 4 * tets);
	carve->first = FEM_CARVE(&carver, int32_t, tets);
	carve->next = FEM_CARVE(&carver, int32_t, carve->point_count);
	carve->outside = FEM_CARVE(&carver, float, tets);
	carve->gone = FEM_CARVE(&carver, int32_t, tets);
	return carver.used;
}

// ---- what hangs together

static bool is_open(const Carve *carve, int32_t tet, int face) {
	int32_t across = carve->surface.across[4 * tet + face];
	return across < 0 || carve->gone[across / 4];
}

static int corner_of(const Carve *carve, int32_t tet, int32_t node) {
	for (int v = 0; v < 4; v++)
		if (carve->list->tets[tet][v] == node)
			return v;
	return -1;
}

// Another tet than this one that stays and has the node, and the other one too if that is none of -1.
static bool has_others(const Carve *carve, int32_t tet, int32_t node, int32_t other) {
	for (int32_t at = carve->tet_start[node]; at < carve->tet_start[node + 1]; at++) {
		int32_t near = carve->tets[at];
		if (near != tet && !carve->gone[near] && (other < 0 || corner_of(carve, near, other) >= 0))
			return true;
	}
	return false;
}

// A node, or an edge if `other` is not -1, that an outer face has.
static bool is_outer(const Carve *carve, int32_t node, int32_t other) {
	for (int32_t at = carve->tet_start[node]; at < carve->tet_start[node + 1]; at++) {
		int32_t near = carve->tets[at];
		int v = corner_of(carve, near, node), w = other < 0 ? v : corner_of(carve, near, other);
		for (int f = 0; f < 4 && !carve->gone[near] && w >= 0; f++)
			if (f != v && f != w && is_open(carve, near, f))
				return true;
	}
	return false;
}

// Whether a tet meets the others in a disc, and leaves no node or edge behind in which the outside meets itself: then
// the others hang together as before (the steps by which a ball of tets can be shelled).
static bool is_simple(const Carve *carve, int32_t tet) {
	const int32_t *nodes = carve->list->tets[tet];
	int open[4], closed[4], open_count = 0, closed_count = 0;
	for (int f = 0; f < 4; f++) {
		if (is_open(carve, tet, f))
			open[open_count++] = f;
		else
			closed[closed_count++] = f;
	}
	// The node opposite the one outer face comes to light, the edge that the two inner faces share, or a tip goes.
	if (open_count == 1)
		return !is_outer(carve, nodes[open[0]], -1);
	if (open_count == 2)
		return !is_outer(carve, nodes[open[0]], nodes[open[1]]) &&
			!has_others(carve, tet, nodes[closed[0]], nodes[closed[1]]);
	return open_count == 3 && !has_others(carve, tet, nodes[closed[0]], -1);
}

// ---- what must stay covered

static double distance_to(const Carve *carve, int32_t tet, FemVec3 point) {
	FemVec3d corners[4];
	double weights[4];
	for (int v = 0; v < 4; v++)
		corners[v] = carve->list->nodes[carve->list->tets[tet][v]];
	return sqrt(fem_closest_in_tet(fem_vec3d_from(point), corners, weights));
}

// The nearest of the tets that stay around a tet; -1 without any.
static int32_t nearest_around(const Carve *carve, int32_t tet, FemVec3 point, double *out_distance) {
	int32_t found = -1;
	*out_distance = INFINITY;
	for (int v = 0; v < 4; v++) {
		int32_t node = carve->list->tets[tet][v];
		for (int32_t at = carve->tet_start[node]; at < carve->tet_start[node + 1] && *out_distance > 0.0; at++) {
			int32_t near = carve->tets[at];
			if (near == tet || carve->gone[near])
				continue;
			double distance = distance_to(carve, near, point);
			if (distance < *out_distance) {
				*out_distance = distance;
				found = near;
			}
		}
	}
	return found;
}

// No point farther than the limit, or than it was if that was farther.
static bool stays_covered(const Carve *carve, int32_t tet) {
	for (int32_t p = carve->first[tet]; p >= 0; p = carve->next[p]) {
		double distance;
		nearest_around(carve, tet, carve->points[p], &distance);
		if (distance > fmax(carve->def->limit, distance_to(carve, tet, carve->points[p])))
			return false;
	}
	return true;
}

static void tie(Carve *carve, int32_t point, int32_t tet) {
	carve->next[point] = carve->first[tet];
	carve->first[tet] = point;
}

static void take_off(Carve *carve, int32_t tet) {
	int32_t next;
	carve->gone[tet] = 1;
	carve->left -= fem_tet_list_volume(carve->list, tet);
	for (int32_t p = carve->first[tet]; p >= 0; p = next) {
		double distance;
		next = carve->next[p];
		tie(carve, p, nearest_around(carve, tet, carve->points[p], &distance));
	}
}

// ---- what lies outside

static float share_outside(Carve *carve, int32_t tet) {
	if (carve->outside[tet] != NEVER_ASKED)
		return carve->outside[tet];
	const int32_t *nodes = carve->list->tets[tet];
	FemVec3d middle = {0};
	for (int v = 0; v < 4; v++)
		middle = fem_vec3d_add(middle, fem_vec3d_scale(carve->list->nodes[nodes[v]], 0.25));
	int outside = !fem_winding_inside(&carve->solid->winding, middle);
	for (int v = 0; v < 4; v++)
		outside += !fem_winding_inside(
			&carve->solid->winding, fem_vec3d_scale(fem_vec3d_add(middle, carve->list->nodes[nodes[v]]), 0.5));
	return carve->outside[tet] = (float)outside / SAMPLES;
}

static bool take_layer(Carve *carve, float share) {
	bool any = false;
	for (int32_t t = 0; t < carve->list->tet_count && carve->left > carve->def->volume && !fem_stop_asked(); t++) {
		if (carve->gone[t] || !is_simple(carve, t) || share_outside(carve, t) < share || !stays_covered(carve, t))
			continue;
		take_off(carve, t);
		any = true;
	}
	return any;
}

// What lies wholly outside first, from the outside in.
static void take_layers(Carve *carve) {
	// Of a tet, by which it must lie outside: all samples of it, then all but one, then all but two.
	static const float shares[] = {0.99f, 0.79f, 0.59f, 0.39f};
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
		for (int pass = 0; pass < PASSES_MOST && take_layer(carve, shares[i]); pass++)
			;
}

// ---- all of it

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to fit the surface: ask for fewer elements.");
}

static void list_tets(Carve *carve) {
	const FemTetList *list = carve->list;
	for (int32_t n = 0; n < list->node_count; n++)
		carve->identity[n] = n;
	for (int32_t i = 0; i < 4 * list->tet_count; i++)
		carve->tet_start[list->tets[i / 4][i % 4] + 1]++;
	for (int32_t n = 0; n < list->node_count; n++)
		carve->tet_start[n + 1] += carve->tet_start[n];
	for (int32_t i = 0; i < 4 * list->tet_count; i++)
		carve->tets[carve->tet_start[list->tets[i / 4][i % 4]]++] = i / 4;
	for (int32_t n = list->node_count; n > 0; n--)
		carve->tet_start[n] = carve->tet_start[n - 1];
	carve->tet_start[0] = 0;
}

static FemResult tie_points(Carve *carve) {
	FemTetList *list = carve->list;
	FemVec3 *nodes = FEM_ALLOC_ARRAY(FemVec3, list->node_count);
	if (!nodes)
		return no_memory();
	for (int32_t n = 0; n < list->node_count; n++)
		nodes[n] = fem_vec3d_to_vec3(list->nodes[n]);
	FemEmbedMesh mesh = {list->node_count, list->tet_count, nodes, &list->tets[0][0], NULL};
	FemResult result = fem_embed(&mesh, carve->points, NULL, carve->point_count, &carve->embedding);
	for (int32_t t = 0; t < list->tet_count; t++) {
		carve->first[t] = -1;
		carve->outside[t] = NEVER_ASKED;
	}
	for (int32_t p = 0; result == FEM_OK && p < carve->point_count; p++)
		tie(carve, p, carve->embedding.tets[p]);
	FEM_FREE_ARRAY(nodes, list->node_count);
	return result;
}

static FemResult carve_all(Carve *carve) {
	FemTetList *list = carve->list;
	list_tets(carve);
	FemResult result = tie_points(carve);
	if (result != FEM_OK)
		return result;
	if (!fem_surface_create(&carve->surface, carve->identity, list->node_count, &list->tets[0][0], list->tet_count))
		return no_memory();
	take_layers(carve);
	if (fem_stop_asked())
		return fem_fail_stopped();
	return fem_tet_list_keep(list, carve->gone, 0) ? FEM_OK : no_memory();
}

FemResult fem_surface_carve(const FemSolid *solid, const FemCarving *def, FemTetList *list) {
	const FemTriangles *triangles = &solid->triangles;
	Carve carve = {.solid = solid, .def = def, .list = list, .left = fem_tet_list_volume_sum(list)};
	int32_t capacity = triangles->vertex_count + def->point_count;
	if (list->tet_count == 0 || carve.left <= def->volume)
		return FEM_OK;
	carve.points = FEM_ALLOC_ARRAY(FemVec3, capacity);
	FemResult result = no_memory();
	if (carve.points) {
		carve.point_count = triangles->vertex_count;
		memcpy(carve.points, triangles->vertices, sizeof(FemVec3) * (size_t)carve.point_count);
		carve.point_count += fem_coverage_spread(triangles, carve.points + carve.point_count, def->point_count);
		carve.bytes = place(&carve, NULL);
		carve.block = fem_alloc(carve.bytes);
	}
	if (carve.block) {
		place(&carve, carve.block);
		result = carve_all(&carve);
	}
	fem_surface_free(&carve.surface);
	fem_embedding_free(&carve.embedding);
	fem_free(carve.block, carve.bytes);
	FEM_FREE_ARRAY(carve.points, capacity);
	return result;
}
