#include "cutting/cut_solid.h"

#include "base/assert.h"
#include "base/growing.h"
#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

#define HALF_RANGE 2147483647.5 // half of the largest number of 32 bits: quotients lie in 0..2
#define OCTAVE_SHARE 0.5        // height of the finer noise over that of the coarser; chosen by eye
#define OCTAVE_SCALE 0.43       // its wavelength over the coarser one's: no simple ratio, so that zeros do not coincide
#define OCTAVE_CHANNEL 16       // added to the channel, which is less than this
#define SIDE_SHARE 0.35         // of the distance to the nearer end of an edge, by which a vertex on it moves; chosen
#define SIDE_GAIN 1.6           // on noise in -1..1, which is seldom near its bounds; chosen by eye
#define INSIDE_LEAST 0.002      // weight of a triangle's corner: nearer to an edge a vertex is not moved; chosen
#define NOISE_LIMIT 0.3         // of the ball within a cell: moved less far, its faces do not cross
#define NOISE_DEPTH 0.4 // of the distance to the outside: moved less far, nothing comes out; both chosen with room

void fem_cut_solid_free(FemCutSolid *solid) {
	FEM_FREE_ARRAY(solid->vertices, solid->vertex_capacity);
	fem_key_map_free(&solid->map);
	FEM_FREE_ARRAY(solid->polygons, solid->polygon_capacity);
	FEM_FREE_ARRAY(solid->corners, solid->corner_capacity);
	FEM_FREE_ARRAY(solid->sides, solid->side_capacity);
	FEM_FREE_ARRAY(solid->segments, solid->segment_capacity);
	FEM_FREE_ARRAY(solid->face_segments, solid->face_segment_count);
	FEM_FREE_ARRAY(solid->faces, solid->face_capacity);
	FEM_FREE_ARRAY(solid->face_triangles, solid->face_triangle_capacity);
	*solid = (FemCutSolid){0};
}

// ---- vertices

int32_t fem_cut_vertex(FemCutSolid *solid, int32_t kind, const int32_t key[4], bool *out_is_new) {
	int32_t number =
		fem_key_map_number(&solid->map, (int32_t[FEM_KEY_SIZE]){kind, key[0], key[1], key[2], key[3]}, out_is_new);
	if (number < 0 || !FEM_GROW(solid->vertices, solid->vertex_count, &solid->vertex_capacity)) {
		solid->failed = true;
		return -1;
	}
	if (*out_is_new) {
		FEM_ASSERT(number == solid->vertex_count); // the map counts vertices, too
		solid->vertices[number] = (FemCutVertex){.kind = kind};
		memcpy(solid->vertices[number].key, key, sizeof solid->vertices[number].key);
		solid->vertex_count++;
	}
	return number;
}

void fem_cut_weights_on(const FemCutSolid *solid, int32_t triangle, int32_t vertex, double out[3]) {
	const FemCutVertex *v = &solid->vertices[vertex];
	const int32_t *corners = solid->triangles[triangle];
	for (int n = 0; n < 3; n++) {
		if (v->kind == FEM_CUT_MESH_VERTEX)
			out[n] = corners[n] == v->key[0] ? 1.0 : 0.0;
		else if (v->kind == FEM_CUT_ON_EDGE)
			out[n] = corners[n] == v->key[0] ? 1.0 - v->weights[0] : corners[n] == v->key[1] ? v->weights[0] : 0.0;
		else
			out[n] = v->weights[n];
	}
}

// ---- noise

static double lattice_value(const FemCutNoise *noise, int64_t x, int64_t y, int64_t z, uint64_t channel) {
	uint64_t hash = fem_hash_word(fem_hash_word(noise->seed, channel), (uint64_t)x);
	hash = fem_hash_word(fem_hash_word(hash, (uint64_t)y), (uint64_t)z);
	return (double)(hash >> 11 & UINT32_MAX) / HALF_RANGE - 1.0;
}

static double octave(const FemCutNoise *noise, FemVec3d at, double scale, uint64_t channel) {
	double in[3] = {at.x / scale, at.y / scale, at.z / scale}, share[3], sum = 0.0;
	int64_t low[3];
	for (int axis = 0; axis < 3; axis++) {
		low[axis] = (int64_t)floor(in[axis]);
		share[axis] = in[axis] - (double)low[axis];
		share[axis] = share[axis] * share[axis] * (3.0 - 2.0 * share[axis]);
	}
	for (int n = 0; n < 8; n++) {
		double weight = 1.0;
		for (int axis = 0; axis < 3; axis++)
			weight *= n >> axis & 1 ? share[axis] : 1.0 - share[axis];
		sum += weight * lattice_value(noise, low[0] + (n & 1), low[1] + (n >> 1 & 1), low[2] + (n >> 2), channel);
	}
	return sum;
}

double fem_cut_noise(const FemCutNoise *noise, FemVec3d at, uint64_t channel) {
	return (octave(noise, at, noise->scale, channel) +
			   OCTAVE_SHARE * octave(noise, at, OCTAVE_SCALE * noise->scale, channel + OCTAVE_CHANNEL)) /
		(1.0 + OCTAVE_SHARE);
}

// ---- added vertices

static int32_t added_count(const FemCutSolid *solid, int32_t from, int32_t to) {
	FemVec3d edge = fem_vec3d_sub(solid->vertices[to].at, solid->vertices[from].at);
	if (!(solid->noise.spacing > 0.0))
		return 0;
	double count = floor(sqrt(fem_vec3d_dot(edge, edge)) / solid->noise.spacing);
	return (int32_t)fmin(fmax(count, 0.0), FEM_CUT_ADDED_MAX);
}

// Sideways within the triangle; not at all where that would leave it.
static void place_outside(
	FemCutSolid *solid, int32_t triangle, int32_t from, int32_t to, double share, double limit, FemCutVertex *out) {
	double a[3], b[3], moved[3], least = 1.0;
	FemVec3d c[3];
	fem_cut_weights_on(solid, triangle, from, a);
	fem_cut_weights_on(solid, triangle, to, b);
	for (int v = 0; v < 3; v++) {
		out->weights[v] = a[v] + share * (b[v] - a[v]);
		c[v] = solid->places[solid->triangles[triangle][v]];
		out->at = fem_vec3d_add(out->at, fem_vec3d_scale(c[v], out->weights[v]));
	}
	FemVec3d u = fem_vec3d_sub(c[1], c[0]), w = fem_vec3d_sub(c[2], c[0]), n = fem_vec3d_cross(u, w);
	FemVec3d edge = fem_vec3d_sub(solid->vertices[to].at, solid->vertices[from].at);
	FemVec3d side = fem_vec3d_cross(n, edge);
	double length = sqrt(fem_vec3d_dot(side, side)), area_sq = fem_vec3d_dot(n, n);
	if (!(length > 0.0 && area_sq > 0.0))
		return;
	double most = fmin(limit, SIDE_SHARE * sqrt(fem_vec3d_dot(edge, edge)) * fmin(share, 1.0 - share));
	side = fem_vec3d_scale(side, most * fem_cut_noise(&solid->noise, out->at, 3) * SIDE_GAIN / length);
	moved[1] = fem_vec3d_dot(fem_vec3d_cross(side, w), n) / area_sq;
	moved[2] = fem_vec3d_dot(fem_vec3d_cross(u, side), n) / area_sq;
	moved[0] = -moved[1] - moved[2];
	for (int v = 0; v < 3; v++)
		least = fmin(least, out->weights[v] + moved[v]);
	if (least < INSIDE_LEAST)
		return;
	for (int v = 0; v < 3; v++)
		out->weights[v] += moved[v];
	out->at = fem_vec3d_add(out->at, side);
}

static void place_inside(FemCutSolid *solid, int32_t from, int32_t to, double share, double limit, FemCutVertex *out) {
	FemVec3d a = solid->vertices[from].at, edge = fem_vec3d_sub(solid->vertices[to].at, a);
	double most = fmin(limit, SIDE_SHARE * sqrt(fem_vec3d_dot(edge, edge)) * fmin(share, 1.0 - share));
	out->at = fem_vec3d_add(a, fem_vec3d_scale(edge, share));
	most = fem_cut_noise_depth(solid, out->at, most);
	FemVec3d move = {fem_cut_noise(&solid->noise, out->at, 0), fem_cut_noise(&solid->noise, out->at, 1),
		fem_cut_noise(&solid->noise, out->at, 2)};
	out->at = fem_vec3d_add(out->at, fem_vec3d_scale(move, most));
}

double fem_cut_noise_limit(const FemCutSolid *solid, const int32_t cells[3], double wanted) {
	for (int n = 0; n < 3; n++)
		if (cells[n] >= 0)
			wanted = fmin(wanted, NOISE_LIMIT * (double)solid->diagram->radii[cells[n]]);
	return wanted;
}

double fem_cut_noise_depth(const FemCutSolid *solid, FemVec3d at, double wanted) {
	int32_t triangle;
	FemVec3d nearest;
	return NOISE_DEPTH * fem_bvh_nearest(solid->winding->bvh, at, wanted / NOISE_DEPTH, &triangle, &nearest);
}

int32_t fem_cut_added(FemCutSolid *solid, int32_t triangle, int32_t from, int32_t to, const int32_t cells[3],
	int32_t out[FEM_CUT_ADDED_MAX]) {
	bool reversed = from > to, is_new;
	double limit = fem_cut_noise_limit(solid, cells, triangle >= 0 ? solid->noise.outline : solid->noise.amplitude);
	int32_t low = reversed ? to : from, high = reversed ? from : to, count = added_count(solid, low, high);
	for (int32_t n = 0; n < count; n++) {
		int32_t kind = triangle >= 0 ? FEM_CUT_ADDED_OUTSIDE : FEM_CUT_ADDED_INSIDE;
		int32_t vertex = fem_cut_vertex(solid, kind, (int32_t[4]){triangle, low, high, n}, &is_new);
		if (vertex < 0)
			return 0;
		double share = (n + 1.0) / (count + 1.0);
		FemCutVertex made = solid->vertices[vertex];
		if (is_new && triangle >= 0)
			place_outside(solid, triangle, low, high, share, limit, &made);
		else if (is_new)
			place_inside(solid, low, high, share, limit, &made);
		FEM_ASSERT_INDEX(vertex, solid->vertex_count);
		solid->vertices[vertex] = made;
		out[reversed ? count - 1 - n : n] = vertex;
	}
	return count;
}
