#include "filling/graded_stuffing.h"

#include "base/carve.h"
#include "base/error.h"
#include "base/key_map.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "filling/stencils.h"

#include <math.h>
#include <string.h>

// Of the shortest lattice edge at a node: it is warped to a cut that is nearer. Chosen: of 0.2 to 0.4 the value with
// the largest smallest angle over the shapes of tests/bench/mesh_shapes.py.
#define WARP 0.3
#define VOLUME_KEPT 0.12   // of a lattice tet: a node is not warped where less would be left; chosen
#define CUT_OUTSIDE 0.5    // of an edge that ends a thin part: its nodes are drawn to the surface afterwards; chosen
#define LARGE_TRIANGLE 0.1 // square cells: area from which on a triangle is looked at cell by cell; chosen
#define LOOKS_MAX 8        // triangles of a tet whose thickness is asked for at the most; chosen
#define CLIPPED_MAX 8      // corners of a triangle cut by four planes: each adds one at the most

typedef enum Touch { TOUCH_NONE, TOUCH_SURFACE, TOUCH_THIN } Touch;

typedef struct Cut {
	int32_t nodes[2]; // inside, outside
	int32_t id;       // in the list; -1: none yet
	float at;         // 0..1 from the inside; negative: no longer cut
} Cut;

typedef struct Stuffing {
	FemGradedLattice *lattice;
	const FemSolid *solid;
	FemGradedFilling *filling;
	FemTetList *out;
	int8_t *signs;      // [node]
	uint8_t *inside;    // [node]: of the solid; others with sign 1 are nodes of thin parts
	uint8_t *kept;      // [tet]: leaves that are within the solid or touched by its surface
	int32_t *node_ids;  // [node]
	float *edges;       // [node]: shortest lattice edge, about
	int32_t *cut_start; // [node + 1]
	int32_t *node_cuts; // [2 cuts]
	FemKeyMap keys;
	Cut *cuts;
	int32_t cut_capacity;
	size_t bytes;
	void *block;
} Stuffing;

bool fem_thickness_create(FemThickness *thickness, const FemSolid *solid, double limit) {
	*thickness = (FemThickness){solid, FEM_ALLOC_ARRAY(float, solid->triangles.triangle_count), limit};
	for (int32_t t = 0; thickness->of && t < solid->triangles.triangle_count; t++)
		thickness->of[t] = -1.0f;
	return thickness->of;
}

void fem_thickness_free(FemThickness *thickness) {
	FEM_FREE_ARRAY(thickness->of, thickness->solid->triangles.triangle_count);
	*thickness = (FemThickness){0};
}

double fem_thickness_at(FemThickness *thickness, int32_t triangle) {
	float *of = &thickness->of[triangle];
	if (*of < 0.0f) {
		FemVec3d middle = {0};
		for (int v = 0; v < 3; v++)
			middle = fem_vec3d_add(
				middle, fem_vec3d_scale(fem_triangle_corner(&thickness->solid->triangles, triangle, v), 1.0 / 3.0));
		*of = (float)(fem_solid_is_border(thickness->solid, triangle, middle)
				? fem_solid_thickness(thickness->solid, triangle, middle, thickness->limit)
				: thickness->limit);
	}
	return (double)*of;
}

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.");
}

static size_t place(Stuffing *stuffing, char *base) {
	FemCarver carver = {.base = base};
	int32_t nodes = stuffing->lattice->node_count;
	stuffing->signs = FEM_CARVE(&carver, int8_t, nodes);
	stuffing->node_ids = FEM_CARVE(&carver, int32_t, nodes);
	stuffing->inside = FEM_CARVE(&carver, uint8_t, nodes);
	stuffing->kept = FEM_CARVE(&carver, uint8_t, stuffing->lattice->tet_count);
	stuffing->edges = FEM_CARVE(&carver, float, nodes);
	stuffing->cut_start = FEM_CARVE(&carver, int32_t, nodes + 1);
	return carver.used;
}

// ---- what the surface touches

// Cuts a convex polygon by the plane of a face: what lies on the side of the tet's opposite corner stays.
static int clip(const FemVec3d *in, int count, FemVec3d a, FemVec3d n, FemVec3d *out) {
	int kept = 0;
	for (int i = 0; i < count; i++) {
		FemVec3d p = in[i], q = in[(i + 1) % count];
		double at_p = fem_vec3d_dot(n, fem_vec3d_sub(p, a)), at_q = fem_vec3d_dot(n, fem_vec3d_sub(q, a));
		if (at_p >= 0.0)
			out[kept++] = p;
		if ((at_p > 0.0 && at_q < 0.0) || (at_p < 0.0 && at_q > 0.0))
			out[kept++] = fem_vec3d_add(p, fem_vec3d_scale(fem_vec3d_sub(q, p), at_p / (at_p - at_q)));
	}
	return kept;
}

// out_middle: of the part of the triangle that lies in the tet.
static bool triangle_meets_tet(
	const FemTriangles *triangles, int32_t triangle, const FemVec3d x[4], FemVec3d *out_middle) {
	FemVec3d polygons[2][CLIPPED_MAX];
	int count = 3;
	for (int v = 0; v < 3; v++)
		polygons[0][v] = fem_triangle_corner(triangles, triangle, v);
	for (int f = 0; f < 4 && count > 0; f++) {
		FemVec3d a = x[(f + 1) % 4];
		FemVec3d n = fem_vec3d_cross(fem_vec3d_sub(x[(f + 2) % 4], a), fem_vec3d_sub(x[(f + 3) % 4], a));
		if (fem_vec3d_dot(n, fem_vec3d_sub(x[f], a)) < 0.0)
			n = fem_vec3d_scale(n, -1.0);
		count = clip(polygons[f % 2], count, a, n, polygons[(f + 1) % 2]);
	}
	*out_middle = (FemVec3d){0};
	for (int i = 0; i < count; i++)
		*out_middle = fem_vec3d_add(*out_middle, fem_vec3d_scale(polygons[0][i], 1.0 / count));
	return count > 0;
}

static bool boxes_meet(const FemBvhNode *node, const float lo[3], const float hi[3]) {
	for (int axis = 0; axis < 3; axis++)
		if (node->lo[axis] > hi[axis] || node->hi[axis] < lo[axis])
			return false;
	return true;
}

// One ray for a triangle that is smaller than a cell, one for each cell of a larger one.
static bool is_thin(Stuffing *stuffing, int32_t triangle, FemVec3d at, double cell) {
	FemVec3d n = fem_triangle_area_vector(&stuffing->solid->triangles, triangle);
	double thin = stuffing->filling->thin * cell;
	if (fem_vec3d_dot(n, n) < LARGE_TRIANGLE * LARGE_TRIANGLE * cell * cell * cell * cell)
		return fem_thickness_at(stuffing->filling->thickness, triangle) < thin;
	return fem_solid_is_border(stuffing->solid, triangle, at) &&
		fem_solid_thickness(stuffing->solid, triangle, at, 2.0 * thin) < thin;
}

// Looks at the triangles of a leaf of the tree. Thin: where the solid is thinner than the lattice resolves.
static Touch touch_leaf(Stuffing *stuffing, const FemBvhNode *leaf, const FemVec3d x[4], double cell, int *io_looks) {
	Touch touch = TOUCH_NONE;
	for (int32_t t = leaf->first; t < leaf->first + leaf->count && *io_looks < LOOKS_MAX; t++) {
		FemVec3d middle;
		if (!triangle_meets_tet(&stuffing->solid->triangles, t, x, &middle))
			continue;
		(*io_looks)++;
		if (is_thin(stuffing, t, middle, cell))
			return TOUCH_THIN;
		touch = TOUCH_SURFACE;
	}
	return touch;
}

static Touch touch_tet(Stuffing *stuffing, int32_t tet) {
	const FemGradedLattice *lattice = stuffing->lattice;
	const FemTriangleBvh *bvh = &stuffing->solid->bvh;
	FemVec3d x[4];
	float lo[3], hi[3];
	for (int v = 0; v < 4; v++)
		x[v] = lattice->nodes[lattice->tets[tet].nodes[v]];
	for (int axis = 0; axis < 3; axis++) {
		double low = (&x[0].x)[axis], high = low;
		for (int v = 1; v < 4; v++) {
			low = fmin(low, (&x[v].x)[axis]);
			high = fmax(high, (&x[v].x)[axis]);
		}
		lo[axis] = (float)low;
		hi[axis] = (float)high;
	}
	Touch touch = TOUCH_NONE;
	double cell = fem_graded_size(lattice, tet);
	int32_t stack[FEM_BVH_DEPTH_MAX], depth = 0;
	stack[depth++] = 0;
	int looks = 0;
	while (depth > 0 && touch != TOUCH_THIN && looks < LOOKS_MAX) {
		int32_t at = stack[--depth];
		const FemBvhNode *node = &bvh->nodes[at];
		if (!boxes_meet(node, lo, hi))
			continue;
		if (node->count > 0) {
			Touch found = touch_leaf(stuffing, node, x, cell, &looks);
			touch = found > touch ? found : touch;
		} else {
			stack[depth++] = node->first;
			stack[depth++] = at + 1;
		}
	}
	return touch;
}

// Tets of a thin part are kept whole, with all their nodes: whatever the surface touches hangs together by faces.
static bool fill_signs(Stuffing *stuffing) {
	const FemGradedLattice *lattice = stuffing->lattice;
	int32_t whole = 0; // leaves that become a tet as they are
	for (int32_t n = 0; n < lattice->node_count; n++) {
		if (fem_stop_asked())
			return false;
		stuffing->signs[n] = fem_solid_inside(stuffing->solid, lattice->nodes[n]) ? 1 : -1;
		stuffing->inside[n] = stuffing->signs[n] > 0;
		stuffing->node_ids[n] = -1;
		stuffing->edges[n] = (float)lattice->cell;
	}
	for (int32_t t = 0; t < lattice->tet_count && whole <= stuffing->filling->tets_most; t++) {
		const int32_t *nodes = lattice->tets[t].nodes;
		if (lattice->tets[t].child >= 0)
			continue;
		if (fem_stop_asked())
			return false;
		Touch touch = touch_tet(stuffing, t);
		stuffing->kept[t] = touch != TOUCH_NONE || stuffing->inside[nodes[0]];
		whole += touch == TOUCH_THIN || (touch == TOUCH_NONE && stuffing->inside[nodes[0]]);
		for (int v = 0; v < 4; v++) {
			if (touch == TOUCH_THIN && !stuffing->inside[nodes[v]]) {
				stuffing->signs[nodes[v]] = 1;
				stuffing->filling->thickened = true;
			}
			FemVec3d edge = fem_vec3d_sub(lattice->nodes[nodes[(v + 1) % 4]], lattice->nodes[nodes[v]]);
			float length = (float)sqrt(fem_vec3d_dot(edge, edge));
			stuffing->edges[nodes[v]] = fminf(stuffing->edges[nodes[v]], length);
			stuffing->edges[nodes[(v + 1) % 4]] = fminf(stuffing->edges[nodes[(v + 1) % 4]], length);
		}
	}
	stuffing->filling->is_too_much = whole > stuffing->filling->tets_most;
	return true;
}

// ---- cuts

static double find_cut(const Stuffing *stuffing, int32_t in, int32_t out) {
	return stuffing->inside[in]
		? fem_solid_exit(stuffing->solid, stuffing->lattice->nodes[in], stuffing->lattice->nodes[out])
		: CUT_OUTSIDE;
}

static FemResult add_cut(Stuffing *stuffing, int32_t a, int32_t b) {
	bool is_new;
	int32_t in = stuffing->signs[a] > 0 ? a : b, out = in == a ? b : a;
	int32_t number = fem_key_map_number(&stuffing->keys, (int32_t[FEM_KEY_SIZE]){in, out}, &is_new);
	if (number < 0)
		return no_memory();
	if (!is_new)
		return FEM_OK;
	if (!FEM_GROW(stuffing->cuts, number, &stuffing->cut_capacity))
		return no_memory();
	stuffing->cuts[number] = (Cut){{in, out}, -1, (float)find_cut(stuffing, in, out)};
	return fem_stop_asked() ? fem_fail_stopped() : FEM_OK;
}

static FemResult find_cuts(Stuffing *stuffing) {
	const FemGradedLattice *lattice = stuffing->lattice;
	for (int32_t t = 0; t < lattice->tet_count; t++) {
		const int32_t *nodes = lattice->tets[t].nodes;
		for (int e = 0; e < 6 && stuffing->kept[t]; e++) {
			static const int8_t ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
			int32_t a = nodes[ends[e][0]], b = nodes[ends[e][1]];
			FemResult result = stuffing->signs[a] != stuffing->signs[b] ? add_cut(stuffing, a, b) : FEM_OK;
			if (result != FEM_OK)
				return result;
		}
	}
	return FEM_OK;
}

static bool list_cuts(Stuffing *stuffing) {
	int32_t nodes = stuffing->lattice->node_count, count = stuffing->keys.count, *start = stuffing->cut_start;
	stuffing->node_cuts = FEM_ALLOC_ARRAY(int32_t, 2 * count + 1);
	if (!stuffing->node_cuts)
		return false;
	for (int32_t i = 0; i < 2 * count; i++)
		start[stuffing->cuts[i / 2].nodes[i % 2] + 1]++;
	for (int32_t n = 0; n < nodes; n++)
		start[n + 1] += start[n];
	for (int32_t i = 0; i < 2 * count; i++)
		stuffing->node_cuts[start[stuffing->cuts[i / 2].nodes[i % 2]]++] = i / 2;
	for (int32_t n = nodes; n > 0; n--)
		start[n] = start[n - 1];
	start[0] = 0;
	return true;
}

// ---- warp

static FemVec3d cut_position(const Stuffing *stuffing, const Cut *cut) {
	FemVec3d a = stuffing->lattice->nodes[cut->nodes[0]], b = stuffing->lattice->nodes[cut->nodes[1]];
	return fem_vec3d_add(a, fem_vec3d_scale(fem_vec3d_sub(b, a), (double)cut->at));
}

// Six times the volume of a leaf, signed by the order of its nodes.
static double leaf_volume(const FemGradedLattice *lattice, int32_t tet) {
	const int32_t *x = lattice->tets[tet].nodes;
	FemVec3d a = fem_vec3d_sub(lattice->nodes[x[1]], lattice->nodes[x[0]]);
	FemVec3d b = fem_vec3d_sub(lattice->nodes[x[2]], lattice->nodes[x[0]]);
	FemVec3d c = fem_vec3d_sub(lattice->nodes[x[3]], lattice->nodes[x[0]]);
	return fem_vec3d_dot(a, fem_vec3d_cross(b, c));
}

// Nodes of one tet that are all warped may flatten it.
static bool warp_fits(const Stuffing *stuffing, int32_t node, FemVec3d to) {
	FemGradedLattice *lattice = stuffing->lattice;
	FemVec3d from = lattice->nodes[node];
	bool fits = true;
	for (int32_t link = lattice->first[node]; link >= 0 && fits; link = lattice->next[link]) {
		int32_t tet = link / 4;
		if (lattice->tets[tet].child >= 0)
			continue;
		double before = leaf_volume(lattice, tet), whole = pow(fem_graded_size(lattice, tet), 3.0) / 2.0;
		lattice->nodes[node] = to;
		double after = leaf_volume(lattice, tet);
		lattice->nodes[node] = from;
		fits = before * after > 0.0 && fabs(after) > VOLUME_KEPT * whole;
	}
	return fits;
}

static void warp_node(Stuffing *stuffing, int32_t node) {
	double best = WARP * (double)stuffing->edges[node];
	FemVec3d at = stuffing->lattice->nodes[node], to = at;
	bool found = false;
	for (int32_t i = stuffing->cut_start[node]; i < stuffing->cut_start[node + 1]; i++) {
		const Cut *cut = &stuffing->cuts[stuffing->node_cuts[i]];
		if (cut->at < 0.0f)
			continue;
		FemVec3d position = cut_position(stuffing, cut), offset = fem_vec3d_sub(position, at);
		double distance = sqrt(fem_vec3d_dot(offset, offset));
		if (distance < best && warp_fits(stuffing, node, position)) {
			best = distance;
			to = position;
			found = true;
		}
	}
	if (!found)
		return;
	for (int32_t i = stuffing->cut_start[node]; i < stuffing->cut_start[node + 1]; i++)
		stuffing->cuts[stuffing->node_cuts[i]].at = -1.0f;
	stuffing->lattice->nodes[node] = to;
	stuffing->signs[node] = 0;
}

// ---- tets

static int32_t cut_id(void *context, int32_t inside, int32_t outside) {
	Stuffing *stuffing = context;
	bool is_new;
	int32_t number = fem_key_map_number(&stuffing->keys, (int32_t[FEM_KEY_SIZE]){inside, outside}, &is_new);
	FEM_ASSERT(number >= 0 && !is_new);
	Cut *cut = &stuffing->cuts[number];
	if (cut->id < 0)
		cut->id = fem_tet_list_add_node(stuffing->out, cut_position(stuffing, cut));
	return cut->id;
}

// Any order of all nodes leaves no circle.
static bool diagonal_at_first(void *context, int32_t a, int32_t b, int32_t c) {
	(void)context;
	(void)c;
	return a < b;
}

static void add_tets(Stuffing *stuffing) {
	const FemGradedLattice *lattice = stuffing->lattice;
	FemStencils stencils = {
		lattice->nodes, stuffing->signs, stuffing->node_ids, stuffing->out, stuffing, cut_id, diagonal_at_first};
	for (int32_t t = 0; t < lattice->tet_count; t++)
		if (stuffing->kept[t])
			fem_stencils_add_tet(&stencils, lattice->tets[t].nodes);
}

static FemResult fill(Stuffing *stuffing) {
	if (!fill_signs(stuffing))
		return fem_fail_stopped();
	if (stuffing->filling->is_too_much)
		return FEM_OK;
	FemResult result = find_cuts(stuffing);
	if (result != FEM_OK)
		return result;
	if (!list_cuts(stuffing))
		return no_memory();
	for (int32_t n = 0; n < stuffing->lattice->node_count; n++)
		warp_node(stuffing, n);
	add_tets(stuffing);
	return stuffing->out->failed ? no_memory() : FEM_OK;
}

FemResult fem_graded_fill(FemGradedLattice *lattice, FemGradedFilling *filling, FemTetList *out) {
	Stuffing stuffing = {.lattice = lattice, .solid = filling->solid, .filling = filling, .out = out};
	filling->thickened = filling->is_too_much = false;
	stuffing.bytes = place(&stuffing, NULL);
	stuffing.block = fem_alloc(stuffing.bytes);
	FemResult result = no_memory();
	if (stuffing.block) {
		place(&stuffing, stuffing.block);
		result = fill(&stuffing);
	}
	FEM_FREE_ARRAY(stuffing.node_cuts, 2 * stuffing.keys.count + 1);
	FEM_FREE_ARRAY(stuffing.cuts, stuffing.cut_capacity);
	fem_key_map_free(&stuffing.keys);
	fem_free(stuffing.block, stuffing.bytes);
	return result;
}
