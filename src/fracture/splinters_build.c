// Making splinters: their reach in the whole mesh, and the lists that lead from tets to splinters to vertices.
#include "fracture/splinters.h"

#include "base/carve.h"
#include "topology/splitting.h"
#include "topology/tet_mesh.h"
#include "topology/topology.h"

#include <string.h>

#define TOUCHED 1 // mark of a tet that the splinter at hand touches ...
#define RING 2    // ... and of one beside such

typedef struct Builder {
	const FemSplinterRest *rest;
	const FemSplintersDef *def;
	const FemTopology *whole; // the mesh's
	FemTetShape *shapes;      // [tet]: kept because segments between tets cross each many times
	uint8_t *mark;            // [tet]
	int32_t *found;           // [tet]: the reach of one splinter
	int32_t found_count;
	int32_t *vertex_start, *vertices;
	int64_t reach_total;
	int32_t reach_most, vertices_most;
} Builder;

// ---- reach

static void add(Builder *b, int32_t tet, uint8_t mark) {
	if (b->mark[tet])
		return;
	b->mark[tet] = mark;
	b->found[b->found_count++] = tet;
}

static void find_shapes(Builder *b) {
	const FemSplinterRest *rest = b->rest;
	const FemTopology *t = rest->topology;
	for (int32_t i = 0; i < t->user_tet_count; i++)
		fem_tet_shape(rest->positions, rest->tets + 4 * (size_t)i, rest->scale, &b->shapes[t->tet_of_user[i]]);
}

// A point well inside, but on no line of symmetry: segments between such points meet no edge of a regular mesh.
static void inner_point(const Builder *b, int32_t tet, double out[3]) {
	static const double weights[4] = {0.2391, 0.2713, 0.2287, 0.2609}; // any near a quarter that are not equal
	const FemTetShape *shape = &b->shapes[tet];
	for (int axis = 0; axis < 3; axis++) {
		out[axis] = 0.0;
		for (int v = 0; v < 4; v++)
			out[axis] += weights[v] * shape->corners[v][axis];
	}
}

static double weight_at(const FemTetShape *shape, int local, const double p[3]) {
	const double *g = shape->gradient[local], *other = shape->corners[(local + 1) % 4]; // where this weight is 0
	return g[0] * (p[0] - other[0]) + g[1] * (p[1] - other[1]) + g[2] * (p[2] - other[2]);
}

// The face through which the segment from a to b leaves the tet: the first whose weight falls to 0; -1 when b lies
// inside.
static int leaving_face(const FemTetShape *shape, const double a[3], const double b[3], int entry) {
	int leaving = -1;
	double first = 1.0;
	for (int v = 0; v < 4; v++) {
		double at_a = weight_at(shape, v, a), at_b = weight_at(shape, v, b);
		if (v == entry || at_b >= 0.0 || at_b >= at_a)
			continue;
		double share = at_a / (at_a - at_b);
		if (share < first) {
			first = share;
			leaving = v;
		}
	}
	return leaving;
}

// Adds the tets on the straight segment from one tet to another; it ends where it leaves the mesh.
static void add_tets_between(Builder *b, int32_t from, int32_t to) {
	double start[3], end[3];
	int32_t tet = from, most = b->whole->tet_count;
	int entry = -1;
	inner_point(b, from, start);
	inner_point(b, to, end);
	for (int32_t steps = 0; tet != to && steps < most; steps++) {
		int leaving = leaving_face(&b->shapes[tet], start, end, entry);
		int32_t across = leaving < 0 ? -1 : b->whole->neighbours[tet * 4 + leaving];
		if (across < 0)
			return;
		tet = across / 4;
		entry = across % 4;
		add(b, tet, TOUCHED);
	}
}

static void find_reach(Builder *b, int32_t splinter) {
	const int32_t *tet_of_user = b->rest->topology->tet_of_user;
	int32_t home = tet_of_user[b->def->home_tets[splinter]];
	b->found_count = 0;
	add(b, home, TOUCHED);
	for (int32_t k = b->vertex_start[splinter]; k < b->vertex_start[splinter + 1]; k++) {
		int32_t tet = tet_of_user[b->def->vertex_tets[b->vertices[k]]];
		if (b->mark[tet])
			continue; // also when it lies on the segment to another: then so do those before it, or nearly
		add_tets_between(b, home, tet);
		add(b, tet, TOUCHED);
	}
	int32_t touched = b->found_count;
	for (int32_t k = 0; k < 4 * touched; k++) {
		int32_t across = b->whole->neighbours[b->found[k / 4] * 4 + k % 4];
		if (across >= 0)
			add(b, across / 4, RING);
	}
	for (int32_t k = 0; k < b->found_count; k++)
		b->mark[b->found[k]] = 0;
}

static void measure_reach(Builder *b) {
	for (int32_t i = 0; i < b->def->splinter_count; i++) {
		int32_t vertices = b->vertex_start[i + 1] - b->vertex_start[i];
		find_reach(b, i);
		b->reach_total += b->found_count;
		b->reach_most = b->found_count > b->reach_most ? b->found_count : b->reach_most;
		b->vertices_most = vertices > b->vertices_most ? vertices : b->vertices_most;
	}
}

// ---- lists

// list[start[k]...]: the i with key[i] == k, ascending.
static void sort_by(const int32_t *key, int32_t count, int32_t *start, int32_t key_count, int32_t *list) {
	memset(start, 0, sizeof *start * ((size_t)key_count + 1));
	for (int32_t i = 0; i < count; i++)
		start[key[i] + 1]++;
	for (int32_t k = 0; k < key_count; k++)
		start[k + 1] += start[k];
	for (int32_t i = 0; i < count; i++)
		list[start[key[i]]++] = i;
	for (int32_t k = key_count; k > 0; k--)
		start[k] = start[k - 1];
	start[0] = 0;
}

static void fill_reach(FemSplinters *s, Builder *b) {
	int32_t count = 0;
	for (int32_t i = 0; i < b->def->splinter_count; i++) {
		find_reach(b, i);
		s->reach_start[i] = count;
		memcpy(s->reach + count, b->found, sizeof *s->reach * (size_t)b->found_count);
		count += b->found_count;
	}
	s->reach_start[b->def->splinter_count] = count;
}

static void fill_tet_splinters(FemSplinters *s) {
	int32_t *start = s->tet_start;
	for (int32_t k = 0; k < s->reach_start[s->given.splinter_count]; k++)
		start[s->reach[k] + 1]++;
	for (int32_t tet = 0; tet < s->tet_count; tet++)
		start[tet + 1] += start[tet];
	for (int32_t i = 0; i < s->given.splinter_count; i++) {
		for (int32_t k = s->reach_start[i]; k < s->reach_start[i + 1]; k++)
			s->tet_splinters[start[s->reach[k]]++] = i;
	}
	for (int32_t tet = s->tet_count; tet > 0; tet--)
		start[tet] = start[tet - 1];
	start[0] = 0;
}

// ---- memory

static void *carve_copy(FemCarver *carver, const void *from, size_t bytes) {
	void *to = fem_carve(carver, bytes);
	if (to && bytes > 0)
		memcpy(to, from, bytes);
	return to;
}

static void place(FemSplinters *s, const Builder *b, FemCarver *carver) {
	size_t splinters = (size_t)b->def->splinter_count, vertices = (size_t)b->def->vertex_count;
	size_t tets = (size_t)b->whole->batch_count * FEM_LANES, reach = (size_t)b->reach_total;
	s->given.home_tets = carve_copy(carver, b->def->home_tets, sizeof(int32_t) * splinters);
	s->given.vertex_splinters = carve_copy(carver, b->def->vertex_splinters, sizeof(int32_t) * vertices);
	s->given.vertex_tets = carve_copy(carver, b->def->vertex_tets, sizeof(int32_t) * vertices);
	s->given.vertex_positions = carve_copy(carver, b->def->vertex_positions, sizeof(FemVec3) * vertices);
	s->vertex_start = carve_copy(carver, b->vertex_start, sizeof(int32_t) * (splinters + 1));
	s->vertices = carve_copy(carver, b->vertices, sizeof(int32_t) * vertices);
	s->first_home = FEM_CARVE(carver, int32_t, splinters);
	s->reach_start = FEM_CARVE(carver, int32_t, splinters + 1);
	s->reach = FEM_CARVE(carver, int32_t, reach);
	s->tet_start = FEM_CARVE(carver, int32_t, tets + 1);
	s->tet_splinters = FEM_CARVE(carver, int32_t, reach);
}

static void place_own(FemSplinters *s, FemCarver *carver) {
	size_t splinters = (size_t)s->given.splinter_count, vertices = (size_t)s->given.vertex_count,
		   tets = (size_t)s->tet_count;
	s->home = FEM_CARVE(carver, int32_t, splinters);
	s->owner = FEM_CARVE(carver, int32_t, vertices);
	s->weights = fem_carve(carver, sizeof *s->weights * vertices);
	s->change = FEM_CARVE(carver, uint8_t, vertices);
	s->tet_before = FEM_CARVE(carver, int32_t, vertices);
	s->weights_before = fem_carve(carver, sizeof *s->weights_before * vertices);
	s->is_lost = FEM_CARVE(carver, uint8_t, splinters);
	s->is_renamed = FEM_CARVE(carver, uint8_t, tets);
	s->tet_mark = FEM_CARVE(carver, uint8_t, tets);
	s->queue = FEM_CARVE(carver, int32_t, s->reach_most);
	s->shapes = FEM_CARVE(carver, FemTetShape, s->reach_most);
	s->balls = FEM_CARVE(carver, FemTetBall, s->reach_most);
	s->is_listed = FEM_CARVE(carver, uint8_t, splinters);
	s->list = FEM_CARVE(carver, int32_t, splinters);
	s->lost = FEM_CARVE(carver, FemLostVertex, s->vertices_most);
	s->lost_at = FEM_CARVE(carver, int32_t, FEM_LOST_SLOTS);
	s->households = FEM_CARVE(carver, FemHousehold, tets);
	s->component_queue = FEM_CARVE(carver, int32_t, tets);
}

// What owner and weights held stays theirs who share it.
static bool allocate_own(FemSplinters *s) {
	FemSplinters sizes = *s;
	FemCarver measure = {0};
	place_own(&sizes, &measure);
	char *block = fem_alloc(measure.used);
	if (!block)
		return false;
	FemCarver carver = {.base = block};
	place_own(s, &carver);
	s->own_block = block;
	s->own_bytes = measure.used;
	return true;
}

static FemSplinters *allocate(const Builder *b) {
	FemSplinters sizes = {0};
	FemCarver measure = {0};
	fem_carve(&measure, sizeof sizes);
	place(&sizes, b, &measure);
	char *block = b->reach_total <= INT32_MAX ? fem_alloc(measure.used) : NULL;
	if (!block)
		return NULL;
	FemCarver carver = {.base = block};
	FemSplinters *s = fem_carve(&carver, sizeof sizes);
	s->given = *b->def;
	place(s, b, &carver);
	s->rest = *b->rest;
	s->tet_count = b->whole->batch_count * FEM_LANES;
	s->reach_most = (int32_t)b->reach_most;
	s->vertices_most = (int32_t)b->vertices_most;
	s->block = block;
	s->bytes = measure.used;
	if (allocate_own(s))
		return s;
	fem_free(block, measure.used);
	return NULL;
}

void fem_splinters_free(FemSplinters *s) {
	if (!s)
		return;
	fem_free(s->own_block, s->own_bytes);
	if (s->shared) {
		s->shared->use_count--;
		fem_free(s, sizeof *s);
	} else {
		fem_free(s->block, s->bytes);
	}
}

// ---- sharing

static void place_frozen(FemSplinters *s, FemCarver *carver) {
	size_t splinters = (size_t)s->given.splinter_count, vertices = (size_t)s->given.vertex_count;
	s->home = carve_copy(carver, s->home, sizeof *s->home * splinters);
	s->owner = carve_copy(carver, s->owner, sizeof *s->owner * vertices);
	s->weights = carve_copy(carver, s->weights, sizeof *s->weights * vertices);
}

// Only homes, owners and weights of what is its own stay.
bool fem_splinters_freeze(FemSplinters *s) {
	FemSplinters sizes = *s;
	FemCarver measure = {0};
	place_frozen(&sizes, &measure);
	char *block = fem_alloc_unset(measure.used);
	if (!block)
		return false;
	FemCarver carver = {.base = block};
	place_frozen(s, &carver);
	fem_free(s->own_block, s->own_bytes);
	s->own_block = block;
	s->own_bytes = measure.used;
	s->change = NULL;
	s->changes = NULL;
	s->has_changed = false;
	s->change_count = 0;
	return true;
}

FemSplinters *fem_splinters_share(FemSplinters *frozen) {
	FemSplinters *s = fem_alloc(sizeof *s);
	if (!s)
		return NULL;
	*s = *frozen;
	s->own_block = NULL;
	s->own_bytes = 0;
	s->shared = frozen;
	s->next = NULL;
	frozen->use_count++;
	return s;
}

bool fem_splinters_own(FemSplinters *s) {
	const int32_t *owner = s->owner, *home = s->home;
	float(*weights)[4] = s->weights;
	if (s->own_block)
		return true;
	if (!allocate_own(s))
		return false;
	memcpy(s->owner, owner, sizeof *owner * (size_t)s->given.vertex_count);
	memcpy(s->weights, weights, sizeof *weights * (size_t)s->given.vertex_count);
	memcpy(s->home, home, sizeof *home * (size_t)s->given.splinter_count);
	return true;
}

bool fem_splinters_are_equal(const FemSplinters *s, const FemSplinterRest *rest, const FemSplintersDef *def) {
	size_t splinters = (size_t)def->splinter_count, vertices = (size_t)def->vertex_count;
	return s->rest.topology == rest->topology && s->rest.scale.x == rest->scale.x && s->rest.scale.y == rest->scale.y &&
		s->rest.scale.z == rest->scale.z && s->given.splinter_count == def->splinter_count &&
		s->given.vertex_count == def->vertex_count &&
		memcmp(s->given.home_tets, def->home_tets, sizeof(int32_t) * splinters) == 0 &&
		memcmp(s->given.vertex_splinters, def->vertex_splinters, sizeof(int32_t) * vertices) == 0 &&
		memcmp(s->given.vertex_tets, def->vertex_tets, sizeof(int32_t) * vertices) == 0 &&
		memcmp(s->given.vertex_positions, def->vertex_positions, sizeof(FemVec3) * vertices) == 0;
}

// ---- making

FemSplinters *fem_splinters_create(const FemSplinterRest *rest, const FemSplintersDef *def) {
	int32_t tets = rest->topology->batch_count * FEM_LANES;
	Builder b = {
		.rest = rest,
		.def = def,
		.whole = rest->topology,
		.shapes = FEM_ALLOC_ARRAY(FemTetShape, tets),
		.mark = FEM_ALLOC_ARRAY(uint8_t, tets),
		.found = FEM_ALLOC_ARRAY(int32_t, tets),
		.vertex_start = FEM_ALLOC_ARRAY(int32_t, def->splinter_count + 1),
		.vertices = FEM_ALLOC_ARRAY(int32_t, def->vertex_count + 1),
	};
	FemSplinters *s = NULL;
	if (b.shapes && b.mark && b.found && b.vertex_start && b.vertices) {
		find_shapes(&b);
		sort_by(def->vertex_splinters, def->vertex_count, b.vertex_start, def->splinter_count, b.vertices);
		measure_reach(&b);
		s = allocate(&b);
	}
	if (s) {
		for (int32_t i = 0; i < def->splinter_count; i++)
			s->home[i] = s->first_home[i] = rest->topology->tet_of_user[def->home_tets[i]];
		fill_reach(s, &b);
		fill_tet_splinters(s);
	}
	FEM_FREE_ARRAY(b.shapes, tets);
	FEM_FREE_ARRAY(b.mark, tets);
	FEM_FREE_ARRAY(b.found, tets);
	FEM_FREE_ARRAY(b.vertex_start, def->splinter_count + 1);
	FEM_FREE_ARRAY(b.vertices, def->vertex_count + 1);
	return s;
}
