#include "filling/coverage.h"

#include "base/memory.h"
#include "geometry/closest.h"
#include "geometry/embedding.h"

// Steps of a sequence that covers the unit square evenly: 1/g and 1/g^2, g the real root of g^3 = g + 1.
#define SPREAD_U 0.7548776662466927
#define SPREAD_V 0.5698402909980532

// Two numbers in 0..1 that fill the square evenly (the R2 sequence of Roberts 2018).
static FemVec3 point_of_triangle(const FemTriangles *triangles, int32_t t, int32_t number) {
	double u = fmod(SPREAD_U * number, 1.0), v = fmod(SPREAD_V * number, 1.0);
	if (u + v > 1.0) {
		u = 1.0 - u;
		v = 1.0 - v;
	}
	FemVec3d a = fem_triangle_corner(triangles, t, 0);
	FemVec3d b = fem_vec3d_sub(fem_triangle_corner(triangles, t, 1), a);
	FemVec3d c = fem_vec3d_sub(fem_triangle_corner(triangles, t, 2), a);
	return fem_vec3d_to_vec3(fem_vec3d_add(a, fem_vec3d_add(fem_vec3d_scale(b, u), fem_vec3d_scale(c, v))));
}

static double area_of(const FemTriangles *triangles, int32_t t) {
	FemVec3d n = fem_triangle_area_vector(triangles, t);
	return sqrt(fem_vec3d_dot(n, n));
}

// One point each time another share of the area has been passed.
int32_t fem_coverage_spread(const FemTriangles *triangles, FemVec3 *out, int32_t samples) {
	double all = 0.0, passed = 0.0;
	int32_t count = 0;
	for (int32_t t = 0; t < triangles->triangle_count; t++)
		all += area_of(triangles, t);
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		passed += area_of(triangles, t);
		for (; count < samples && (count + 0.5) * all < passed * samples; count++)
			out[count] = point_of_triangle(triangles, t, count + 1);
	}
	return count;
}

// The farthest of the points from the tets; -1 without memory.
static double farthest(const FemTetList *list, const FemVec3 *points, int32_t count) {
	FemVec3 *nodes = FEM_ALLOC_ARRAY(FemVec3, list->node_count);
	double gap = count > 0 ? -1.0 : 0.0;
	if (nodes && count > 0) {
		FemEmbedding embedding;
		for (int32_t n = 0; n < list->node_count; n++)
			nodes[n] = fem_vec3d_to_vec3(list->nodes[n]);
		FemEmbedMesh mesh = {list->node_count, list->tet_count, nodes, &list->tets[0][0], NULL};
		if (fem_embed(&mesh, points, NULL, count, &embedding) == FEM_OK) {
			gap = (double)embedding.max_outside;
			fem_embedding_free(&embedding);
		}
	}
	FEM_FREE_ARRAY(nodes, list->node_count);
	return gap;
}

double fem_coverage_gap(const FemTriangles *triangles, const FemTetList *list, int32_t samples) {
	if (list->tet_count == 0)
		return 2.0;
	FemVec3 *points = FEM_ALLOC_ARRAY(FemVec3, samples);
	double gap = points ? farthest(list, points, fem_coverage_spread(triangles, points, samples)) : -1.0;
	FEM_FREE_ARRAY(points, samples);
	return gap;
}

double fem_coverage_of_vertices(const FemTriangles *triangles, const FemTetList *list, int32_t most) {
	if (list->tet_count == 0)
		return 2.0;
	int32_t stride = triangles->vertex_count / most + 1, count = 0;
	FemVec3 *points = FEM_ALLOC_ARRAY(FemVec3, triangles->vertex_count / stride + 1);
	for (int32_t v = 0; points && v < triangles->vertex_count; v += stride)
		points[count++] = triangles->vertices[v];
	double gap = points ? farthest(list, points, count) : -1.0;
	FEM_FREE_ARRAY(points, triangles->vertex_count / stride + 1);
	return gap;
}

// Distance of a point from the tet it is tied to.
static double distance_to(const FemTetList *list, int32_t tet, FemVec3d p) {
	FemVec3d corners[4];
	double weights[4];
	for (int v = 0; v < 4; v++)
		corners[v] = list->nodes[list->tets[tet][v]];
	return sqrt(fem_closest_in_tet(p, corners, weights));
}

int32_t fem_coverage_far_vertices(const FemTriangles *triangles, const FemTetList *list, int32_t most, double limit,
	FemVec3d *out, int32_t capacity, double *out_gap) {
	int32_t stride = triangles->vertex_count / most + 1, count = (triangles->vertex_count - 1) / stride + 1, found = 0;
	FemVec3 *points = FEM_ALLOC_ARRAY(FemVec3, count), *nodes = FEM_ALLOC_ARRAY(FemVec3, list->node_count);
	FemEmbedding embedding = {0};
	bool ready = points && nodes;
	for (int32_t i = 0; ready && i < count; i++)
		points[i] = triangles->vertices[i * stride];
	for (int32_t n = 0; ready && n < list->node_count; n++)
		nodes[n] = fem_vec3d_to_vec3(list->nodes[n]);
	FemEmbedMesh mesh = {list->node_count, list->tet_count, nodes, &list->tets[0][0], NULL};
	ready = ready && fem_embed(&mesh, points, NULL, count, &embedding) == FEM_OK;
	*out_gap = 0.0;
	for (int32_t i = 0; ready && i < count; i++) {
		double distance = distance_to(list, embedding.tets[i], fem_vec3d_from(points[i]));
		*out_gap = fmax(*out_gap, distance);
		if (distance > limit && found < capacity)
			out[found++] = fem_vec3d_from(points[i]);
	}
	fem_embedding_free(&embedding);
	FEM_FREE_ARRAY(points, count);
	FEM_FREE_ARRAY(nodes, list->node_count);
	return ready ? found : -1;
}
