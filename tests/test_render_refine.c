// Render meshes with long edges split: no gaps, the same shape, attributes half way between.
#include "fem_baking.h"
#include "fem_test.h"

#include <stdlib.h>

// A box of 8 corners with faces on two surfaces, which share edges only by position.
static FemRenderMesh box(FemVec3 size) {
	static const int32_t quads[6][4] = {
		{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
	FemRenderMesh mesh = {0};
	for (int s = 0; s < 2; s++) {
		FemRenderSurface *surface = fem_render_mesh_add(&mesh, "side", "");
		fem_render_surface_reserve(surface, 8, 18, FEM_ATTRIBUTE_ALL);
		for (int v = 0; v < 8; v++) {
			surface->positions[v] = (FemVec3){v & 4 ? size.x : 0.0f, v & 2 ? size.y : 0.0f, v & 1 ? size.z : 0.0f};
			surface->normals[v] = (FemVec3){v & 4 ? 1.0f : 0.0f, v & 4 ? 0.0f : 1.0f, 0.0f};
			surface->tangents[v][0] = 1.0f;
			surface->tangents[v][3] = -1.0f;
			surface->uvs[v][0] = v & 4 ? 1.0f : 0.0f;
			surface->colors[v][3] = v & 4 ? 200 : 100;
		}
		for (int q = 0; q < 3; q++) {
			const int32_t *c = quads[3 * s + q];
			const int32_t corners[6] = {c[0], c[1], c[2], c[0], c[2], c[3]};
			memcpy(&surface->indices[6 * q], corners, sizeof corners);
		}
	}
	return mesh;
}

static double area_of(const FemRenderMesh *mesh) {
	double sum = 0.0;
	for (int32_t s = 0; s < mesh->surface_count; s++) {
		const FemRenderSurface *surface = &mesh->surfaces[s];
		for (int32_t i = 0; i < surface->index_count; i += 3) {
			FemVec3 a = surface->positions[surface->indices[i]], b = surface->positions[surface->indices[i + 1]];
			FemVec3 c = surface->positions[surface->indices[i + 2]];
			double u[3] = {b.x - a.x, b.y - a.y, b.z - a.z}, v[3] = {c.x - a.x, c.y - a.y, c.z - a.z};
			double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
			sum += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
		}
	}
	return sum;
}

typedef struct Edge {
	FemVec3 from, to;
} Edge;

static int compare(const void *a, const void *b) {
	return memcmp(a, b, sizeof(Edge));
}

// Edges, by position, that no triangle goes through the other way; and the longest.
static int32_t open_edges(const FemRenderMesh *mesh, double *out_longest) {
	int64_t count = 3 * fem_render_mesh_triangle_count(mesh);
	Edge *edges = malloc(sizeof(Edge) * (size_t)count);
	int64_t at = 0;
	int32_t open = 0;
	*out_longest = 0.0;
	for (int32_t s = 0; s < mesh->surface_count; s++) {
		const FemRenderSurface *surface = &mesh->surfaces[s];
		for (int32_t i = 0; i < surface->index_count; i++) {
			Edge edge = {surface->positions[surface->indices[i]],
				surface->positions[surface->indices[i % 3 == 2 ? i - 2 : i + 1]]};
			double x = edge.from.x - edge.to.x, y = edge.from.y - edge.to.y, z = edge.from.z - edge.to.z;
			*out_longest = fmax(*out_longest, sqrt(x * x + y * y + z * z));
			edges[at++] = edge;
		}
	}
	qsort(edges, (size_t)count, sizeof(Edge), compare);
	for (int64_t i = 0; i < count; i++) {
		Edge back = {edges[i].to, edges[i].from};
		open += bsearch(&back, edges, (size_t)count, sizeof(Edge), compare) == NULL;
	}
	free(edges);
	return open;
}

FEM_TEST(render_refine, keeps_the_shape_without_gaps) {
	const float lengths[] = {0.9f, 0.4f, 0.1f, 0.05f};
	int64_t bytes = fem_memory_bytes();
	for (int i = 0; i < 4; i++) {
		FemRenderMesh mesh = box((FemVec3){1.4f, 0.07f, 0.6f});
		double longest, volume = fem_render_mesh_volume(&mesh), area = area_of(&mesh);
		FEM_CHECK_NEAR(fabs(volume), 1.4 * 0.07 * 0.6, 1e-6);
		FEM_CHECK_INT(open_edges(&mesh, &longest), 0);
		FEM_CHECK_INT(fem_render_mesh_refine(&mesh, lengths[i], 100000), FEM_OK);
		FEM_CHECK_INT(fem_render_mesh_check(&mesh, "refined"), FEM_OK);
		FEM_CHECK_INT(open_edges(&mesh, &longest), 0);
		FEM_CHECK(longest <= (double)lengths[i] * 1.0001);
		FEM_CHECK_NEAR(area_of(&mesh), area, 1e-5);
		FEM_CHECK_NEAR(fem_render_mesh_volume(&mesh), volume, 1e-7);
		fem_render_mesh_free(&mesh);
	}
	FEM_CHECK_INT(fem_memory_bytes(), bytes);
}

FEM_TEST(render_refine, attributes_are_those_of_midpoints) {
	FemRenderMesh mesh = box((FemVec3){2.0f, 2.0f, 2.0f});
	fem_render_mesh_refine(&mesh, 0.5f, 100000);
	const FemRenderSurface *surface = &mesh.surfaces[0];
	int32_t middle = 0;
	for (int32_t v = 0; v < surface->vertex_count; v++) {
		float share = surface->positions[v].x / 2.0f;
		FEM_CHECK_NEAR(surface->uvs[v][0], share, 1e-6);
		FEM_CHECK_NEAR(surface->colors[v][3], 100.0f + 100.0f * share, 2.0);
		FEM_CHECK_NEAR(surface->tangents[v][3], -1.0, 0.0);
		if (fabsf(share - 0.5f) < 1e-6f) {
			FEM_CHECK_NEAR(surface->normals[v].x, sqrt(0.5), 1e-5);
			FEM_CHECK_NEAR(surface->normals[v].y, sqrt(0.5), 1e-5);
			middle++;
		}
	}
	FEM_CHECK(middle > 0);
	fem_render_mesh_free(&mesh);
}

FEM_TEST(render_refine, limits_and_bad_input) {
	FemRenderMesh mesh = box((FemVec3){2.0f, 2.0f, 2.0f}), empty = {0};
	FEM_CHECK_INT(fem_render_mesh_refine(&mesh, 1e-6f, 500), FEM_OK);
	FEM_CHECK(fem_render_mesh_triangle_count(&mesh) <= 500 && fem_render_mesh_triangle_count(&mesh) > 100);
	int64_t count = fem_render_mesh_triangle_count(&mesh);
	FEM_CHECK_INT(fem_render_mesh_refine(&mesh, 100.0f, 100000), FEM_OK);
	FEM_CHECK_INT(fem_render_mesh_triangle_count(&mesh), count);
	FEM_CHECK_INT(fem_render_mesh_refine(&mesh, 0.0f, 500), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_render_mesh_refine(&mesh, NAN, 500), FEM_ERROR_INVALID_ARGUMENT);
	mesh.surfaces[0].indices[2] = 1 << 20;
	FEM_CHECK_INT(fem_render_mesh_refine(&mesh, 0.01f, 100000), FEM_ERROR_MESH);
	mesh.surfaces[0].indices[2] = 0;
	mesh.surfaces[0].indices[1] = 0; // a triangle without area
	FEM_CHECK_INT(fem_render_mesh_refine(&mesh, 0.05f, 100000), FEM_OK);
	FEM_CHECK_INT(fem_render_mesh_refine(&empty, 0.05f, 100000), FEM_OK);
	fem_render_mesh_free(&mesh);
}
