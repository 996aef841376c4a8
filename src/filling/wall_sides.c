#include "filling/wall_sides.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "filling/edge_table.h"

#include <stdlib.h>

#define RAY_START 2e-7       // of the frame: nearer crossings are those of the triangle's own neighbours, by rounding
#define FACING_COSINE (-0.6) // of the two normals of a wall: others meet at a rim or in a corner; chosen
#define LARGE_SAMPLES 7      // rays of a triangle that is larger than the wall is thick; others have one; chosen
#define LARGE_WALLS 2.0      // wall thicknesses squared: the area from which on a triangle is large; chosen
#define PAIR_WEIGHT 0.95     // of a tie across the wall; of one to a neighbour (1 + cosine) / 2; chosen
#define PAIR_WALLS 1.5       // median walls: ties across more than that are weaker in proportion; chosen
#define LOOSE 0.1            // factor of ties of triangles that face nothing, to be made last; chosen
#define SKIN_COSINE 0.9      // of a triangle of a rim with the skin that it goes on from: it belongs to that; chosen
#define RIM_WALLS 3.0        // median walls: what joins the skins is a rim when it is narrower than this; chosen

const int8_t fem_wall_samples[FEM_WALL_SAMPLES][3] = {{20, 20, 20}, {36, 12, 12}, {12, 36, 12}, {12, 12, 36},
	{6, 27, 27}, {27, 6, 27}, {27, 27, 6}, {48, 6, 6}, {6, 48, 6}, {6, 6, 48}};

typedef struct Tie {
	float weight, depth; // depth: of the wall between, of unlike ones
	int32_t a, b;        // triangles
	int32_t unlike;
} Tie;

typedef struct Survey {
	const FemSolid *solid;
	FemWallSides *out;
	int32_t count; // triangles
	double reach;
	FemEdgeTable edges;
	Tie *ties;
	int32_t tie_count, tie_capacity;
	uint8_t *has_facing; // [triangle]: most of it belongs to a wall
	double *depths;      // [triangle]: of its first ray that met one
	int32_t *facing;     // [triangle]: what that ray met
	int32_t *parents;    // [triangle], union-find
	uint8_t *flips;      // [triangle]: lies on the other side than its parent
} Survey;

static FemVec3d unit_normal(const FemTriangles *triangles, int32_t t) {
	FemVec3d n = fem_triangle_area_vector(triangles, t);
	double length = sqrt(fem_vec3d_dot(n, n));
	return fem_vec3d_scale(n, length > 0.0 ? 1.0 / length : 0.0);
}

static double area_of(const FemTriangles *triangles, int32_t t) {
	FemVec3d n = fem_triangle_area_vector(triangles, t);
	return sqrt(fem_vec3d_dot(n, n));
}

// Crossings into another solid that overlaps this one are counted, so that the ray ends where all of them end.
double fem_wall_depth(const FemSolid *solid, int32_t triangle, FemVec3d at, double limit, int32_t *out_facing) {
	FemCrossing crossings[FEM_CROSSING_MAX];
	FemVec3d direction = fem_vec3d_scale(unit_normal(&solid->triangles, triangle), -limit);
	int32_t count = fem_bvh_crossings(&solid->bvh, at, fem_vec3d_add(at, direction), 0.0, crossings), within = 1;
	for (int32_t i = 0; i < count; i++) {
		if (crossings[i].triangle == triangle || crossings[i].t * limit < RAY_START)
			continue;
		within +=
			fem_vec3d_dot(fem_triangle_area_vector(&solid->triangles, crossings[i].triangle), direction) > 0.0 ? -1 : 1;
		if (within > 0)
			continue;
		*out_facing = crossings[i].triangle;
		return crossings[i].t * limit;
	}
	*out_facing = -1;
	return -1.0;
}

// ---- rays

static void add_tie(Survey *survey, double weight, double depth, int32_t a, int32_t b, bool unlike) {
	FEM_ASSERT(survey->tie_count < survey->tie_capacity);
	survey->ties[survey->tie_count++] = (Tie){(float)weight, (float)depth, a, b, unlike};
}

static FemVec3d sample_of(const FemTriangles *triangles, int32_t t, int number) {
	FemVec3d p = {0};
	for (int v = 0; v < 3; v++)
		p = fem_vec3d_add(p,
			fem_vec3d_scale(fem_triangle_corner(triangles, t, v), fem_wall_samples[number][v] / FEM_WALL_SAMPLE_PARTS));
	return p;
}

static int samples_of(const Survey *survey, int32_t t) {
	double side = LARGE_WALLS * survey->reach;
	return area_of(&survey->solid->triangles, t) > side * side ? LARGE_SAMPLES : 1;
}

static void shoot_triangle(Survey *survey, int32_t t) {
	const FemTriangles *triangles = &survey->solid->triangles;
	int samples = samples_of(survey, t), met = 0;
	FemVec3d normal = unit_normal(triangles, t);
	survey->facing[t] = -1;
	for (int i = 0; i < samples; i++) {
		int32_t facing;
		double depth = fem_wall_depth(survey->solid, t, sample_of(triangles, t, i), survey->reach, &facing);
		double cosine = depth > 0.0 ? fem_vec3d_dot(normal, unit_normal(triangles, facing)) : 1.0;
		if (cosine > FACING_COSINE)
			continue;
		add_tie(survey, -PAIR_WEIGHT * cosine, depth, t, facing, true);
		if (met++ == 0) {
			survey->depths[t] = depth;
			survey->facing[t] = facing;
		}
	}
	survey->has_facing[t] = 2 * met > samples;
}

typedef struct Depth {
	double depth, area;
} Depth;

static int compare_depths(const void *left, const void *right) {
	const Depth *a = left, *b = right;
	return a->depth < b->depth ? -1 : a->depth > b->depth;
}

// Median by area of the thickness of walls, and what share of the surface has one.
static bool measure_walls(Survey *survey) {
	Depth *found = FEM_ALLOC_ARRAY(Depth, survey->count);
	int32_t count = 0;
	double all = 0.0, with = 0.0, passed = 0.0;
	if (!found)
		return false;
	for (int32_t t = 0; t < survey->count; t++) {
		double area = area_of(&survey->solid->triangles, t);
		all += area;
		if (!survey->has_facing[t])
			continue;
		found[count++] = (Depth){survey->depths[t], area};
		with += area;
	}
	qsort(found, (size_t)count, sizeof *found, compare_depths);
	for (int32_t i = 0; i < count; i++) {
		passed += found[i].area;
		survey->out->wall = found[i].depth;
		if (passed >= 0.5 * with)
			break;
	}
	survey->out->paired = all > 0.0 ? with / all : 0.0;
	FEM_FREE_ARRAY(found, survey->count);
	return true;
}

// ---- ties

// What is thicker than the wall is usual to be may be something else, such as a handle.
static void weaken_thick_pairs(Survey *survey) {
	for (int32_t i = 0; i < survey->tie_count; i++)
		survey->ties[i].weight *= fminf(1.0f, (float)(PAIR_WALLS * survey->out->wall) / survey->ties[i].depth);
}

static void add_neighbors(Survey *survey) {
	const FemTriangles *triangles = &survey->solid->triangles;
	for (int32_t e = 0; e < survey->edges.edge_count; e++) {
		const int32_t *sides = survey->edges.sides[e];
		if (sides[1] < 0)
			continue;
		int32_t a = sides[0] / 3, b = sides[1] / 3;
		double cosine = fem_vec3d_dot(unit_normal(triangles, a), unit_normal(triangles, b));
		bool firm = survey->has_facing[a] && survey->has_facing[b];
		add_tie(survey, 0.5 * (1.0 + cosine) * (firm ? 1.0 : LOOSE), 0.0, a, b, false);
	}
}

static int compare_ties(const void *left, const void *right) {
	const Tie *a = left, *b = right;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b < b->b ? -1 : a->b > b->b;
}

// The root of a triangle, and whether it lies on the other side than its root.
static int32_t find_root(Survey *survey, int32_t t, uint8_t *out_flip) {
	uint8_t flip = 0;
	int32_t root = t;
	for (; survey->parents[root] != root; root = survey->parents[root])
		flip ^= survey->flips[root];
	*out_flip = flip;
	while (survey->parents[t] != root && t != root) { // compress
		int32_t next = survey->parents[t];
		uint8_t rest = flip ^ survey->flips[t];
		survey->parents[t] = root;
		survey->flips[t] = flip;
		t = next;
		flip = rest;
	}
	return root;
}

static void join_ties(Survey *survey) {
	for (int32_t t = 0; t < survey->count; t++)
		survey->parents[t] = t;
	qsort(survey->ties, (size_t)survey->tie_count, sizeof *survey->ties, compare_ties);
	for (int32_t i = 0; i < survey->tie_count; i++) {
		uint8_t flip_a, flip_b;
		int32_t a = find_root(survey, survey->ties[i].a, &flip_a), b = find_root(survey, survey->ties[i].b, &flip_b);
		if (a == b)
			continue;
		int32_t low = a < b ? a : b, high = a < b ? b : a;
		survey->parents[high] = low;
		survey->flips[high] = flip_a ^ flip_b ^ (uint8_t)survey->ties[i].unlike;
	}
}

// Of each set of triangles that hang together, the side of the larger area is laid.
static bool choose_sides(Survey *survey) {
	double *lead = FEM_ALLOC_ARRAY(double, survey->count); // [root]: area on its side, less the other's
	if (!lead)
		return false;
	for (int32_t t = 0; t < survey->count; t++) {
		uint8_t flip;
		int32_t root = find_root(survey, t, &flip);
		lead[root] += area_of(&survey->solid->triangles, t) * (flip ? -1.0 : 1.0);
	}
	for (int32_t t = 0; t < survey->count; t++) {
		uint8_t flip;
		int32_t root = find_root(survey, t, &flip);
		bool laid = (lead[root] >= 0.0) != (flip != 0);
		survey->out->sides[t] = laid ? FEM_SIDE_LAID : FEM_SIDE_FACING;
	}
	FEM_FREE_ARRAY(lead, survey->count);
	return true;
}

// ---- rims

typedef struct Patch {
	double area, border; // border: length of the edges to walls
	uint8_t touches[2];  // facing, laid
} Patch;

// Patches of triangles that belong to no wall: those between the two skins that are narrow are rims; those that only
// touch one skin, like the outside of a solid foot, belong to it.
static bool find_rims(Survey *survey) {
	Patch *patches = FEM_ALLOC_ARRAY(Patch, survey->count); // [root]
	int8_t *sides = survey->out->sides;
	if (!patches)
		return false;
	for (int32_t t = 0; t < survey->count; t++) {
		survey->parents[t] = t;
		survey->flips[t] = 0;
	}
	for (int32_t e = 0; e < survey->edges.edge_count; e++) {
		const int32_t *at = survey->edges.sides[e];
		uint8_t flip;
		if (at[1] < 0 || survey->has_facing[at[0] / 3] || survey->has_facing[at[1] / 3])
			continue;
		int32_t a = find_root(survey, at[0] / 3, &flip), b = find_root(survey, at[1] / 3, &flip);
		survey->parents[a > b ? a : b] = a > b ? b : a;
	}
	for (int32_t e = 0; e < survey->edges.edge_count; e++) {
		const int32_t *at = survey->edges.sides[e];
		if (at[1] < 0 || survey->has_facing[at[0] / 3] == survey->has_facing[at[1] / 3])
			continue;
		int32_t loose = survey->has_facing[at[0] / 3] ? at[1] / 3 : at[0] / 3, wall = at[0] / 3 + at[1] / 3 - loose;
		uint8_t flip;
		Patch *patch = &patches[find_root(survey, loose, &flip)];
		patch->touches[sides[wall] == FEM_SIDE_LAID] = 1;
		patch->border += fem_edge_length(&survey->edges, &survey->solid->triangles, e);
	}
	for (int32_t t = 0; t < survey->count; t++) {
		uint8_t flip;
		if (!survey->has_facing[t])
			patches[find_root(survey, t, &flip)].area += area_of(&survey->solid->triangles, t);
	}
	for (int32_t t = 0; t < survey->count; t++) {
		uint8_t flip;
		if (survey->has_facing[t])
			continue;
		const Patch *patch = &patches[find_root(survey, t, &flip)];
		bool between = patch->touches[0] && patch->touches[1];
		if (between && patch->area < RIM_WALLS * survey->out->wall * 0.5 * patch->border)
			sides[t] = FEM_SIDE_RIM;
		else if (patch->touches[0] != patch->touches[1])
			sides[t] = patch->touches[1] ? FEM_SIDE_LAID : FEM_SIDE_FACING;
	}
	FEM_FREE_ARRAY(patches, survey->count);
	return true;
}

// Rays from the last row of a skin that leans run out through the rim, and meet no other skin. A triangle of a rim that
// goes on from a skin in nearly the same plane is part of it: else cells would end where the row begins.
static void give_rims_to_skins(Survey *survey) {
	int8_t *sides = survey->out->sides;
	int32_t *seeds = survey->parents, *queue = survey->facing, count = 0; // both have done what they were for
	const FemTriangles *triangles = &survey->solid->triangles;
	for (int32_t t = 0; t < survey->count; t++) {
		seeds[t] = sides[t] == FEM_SIDE_RIM ? -1 : t;
		if (seeds[t] >= 0)
			queue[count++] = t;
	}
	for (int32_t i = 0; i < count; i++) {
		FemVec3d normal = unit_normal(triangles, seeds[queue[i]]);
		for (int v = 0; v < 3; v++) {
			const int32_t *at = survey->edges.sides[survey->edges.edge_of[3 * queue[i] + v]];
			int32_t next = at[0] / 3 == queue[i] ? at[1] / 3 : at[0] / 3; // an edge of three sides knows two of them
			if (at[1] < 0 || seeds[next] >= 0 || fem_vec3d_dot(normal, unit_normal(triangles, next)) < SKIN_COSINE)
				continue;
			seeds[next] = seeds[queue[i]];
			sides[next] = sides[queue[i]];
			queue[count++] = next;
		}
	}
}

static void measure_hidden(Survey *survey) {
	double all = 0.0, hidden = 0.0;
	for (int32_t t = 0; t < survey->count; t++) {
		double area = area_of(&survey->solid->triangles, t);
		all += area;
		if (survey->has_facing[t] && survey->out->sides[t] == FEM_SIDE_FACING &&
			survey->out->sides[survey->facing[t]] == FEM_SIDE_FACING)
			hidden += area;
	}
	survey->out->hidden = all > 0.0 ? hidden / all : 0.0;
}

// ---- whole

static bool run(Survey *survey) {
	for (int32_t t = 0; t < survey->count && !fem_stop_asked(); t++)
		shoot_triangle(survey, t);
	if (!measure_walls(survey))
		return false;
	weaken_thick_pairs(survey);
	add_neighbors(survey);
	join_ties(survey);
	if (!choose_sides(survey) || !find_rims(survey))
		return false;
	measure_hidden(survey);
	give_rims_to_skins(survey);
	return true;
}

static bool reserve(Survey *survey) {
	int64_t ties = survey->edges.edge_count;
	for (int32_t t = 0; t < survey->count; t++)
		ties += samples_of(survey, t);
	survey->tie_capacity = (int32_t)ties;
	survey->ties = FEM_ALLOC_ARRAY(Tie, ties);
	survey->has_facing = FEM_ALLOC_ARRAY(uint8_t, survey->count);
	survey->depths = FEM_ALLOC_ARRAY(double, survey->count);
	survey->facing = FEM_ALLOC_ARRAY(int32_t, survey->count);
	survey->parents = FEM_ALLOC_ARRAY(int32_t, survey->count);
	survey->flips = FEM_ALLOC_ARRAY(uint8_t, survey->count);
	survey->out->sides = FEM_ALLOC_ARRAY(int8_t, survey->count);
	survey->out->count = survey->count;
	return survey->ties && survey->has_facing && survey->depths && survey->facing && survey->parents && survey->flips &&
		survey->out->sides;
}

FemResult fem_wall_sides_find(const FemSolid *solid, double reach, FemWallSides *out) {
	Survey survey = {.solid = solid, .out = out, .count = solid->triangles.triangle_count, .reach = reach};
	*out = (FemWallSides){0};
	bool ready = fem_edge_table_create(&survey.edges, solid->triangles.triangles, survey.count) && reserve(&survey) &&
		run(&survey);
	FEM_FREE_ARRAY(survey.ties, survey.tie_capacity);
	FEM_FREE_ARRAY(survey.has_facing, survey.count);
	FEM_FREE_ARRAY(survey.depths, survey.count);
	FEM_FREE_ARRAY(survey.facing, survey.count);
	FEM_FREE_ARRAY(survey.parents, survey.count);
	FEM_FREE_ARRAY(survey.flips, survey.count);
	fem_edge_table_free(&survey.edges);
	if (ready && !fem_stop_asked())
		return FEM_OK;
	fem_wall_sides_free(out);
	return ready ? fem_fail_stopped()
				 : fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for %d triangles: reduce the mesh first.",
					   solid->triangles.triangle_count);
}

void fem_wall_sides_free(FemWallSides *sides) {
	FEM_FREE_ARRAY(sides->sides, sides->count);
	*sides = (FemWallSides){0};
}
