#include "cutting/cut_mesh.h"

#include "base/error.h"
#include "base/memory.h"
#include "topology/surface.h"

#include <string.h>

static FemResult fail_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to cut the mesh: use a smaller mesh.");
}

void fem_cut_mesh_free(FemCutMesh *mesh) {
	fem_winding_free(&mesh->winding);
	fem_triangle_bvh_free(&mesh->bvh);
	fem_triangles_free(&mesh->soup);
	FEM_FREE_ARRAY(mesh->places, mesh->vertex_count);
	FEM_FREE_ARRAY(mesh->points, mesh->vertex_count);
	FEM_FREE_ARRAY(mesh->triangles, mesh->triangle_capacity);
	FEM_FREE_ARRAY(mesh->sources, mesh->triangle_capacity);
	FEM_FREE_ARRAY(mesh->rim_corners, mesh->triangle_capacity);
	*mesh = (FemCutMesh){0};
}

// Takes memory and sets places from the soup's vertices; triangles are added by the caller.
static bool reserve(FemCutMesh *mesh, int32_t triangle_count) {
	mesh->frame = mesh->soup.frame;
	mesh->vertex_count = mesh->soup.vertex_count;
	mesh->places = FEM_ALLOC_ARRAY(FemVec3d, mesh->vertex_count);
	mesh->points = FEM_ALLOC_ARRAY(FemCutPoint, mesh->vertex_count);
	mesh->triangles = fem_alloc(sizeof *mesh->triangles * (size_t)triangle_count);
	mesh->sources = FEM_ALLOC_ARRAY(int32_t, triangle_count);
	mesh->triangle_capacity = triangle_count;
	if (!mesh->places || !mesh->points || !mesh->triangles || !mesh->sources)
		return false;
	for (int32_t v = 0; v < mesh->vertex_count; v++) {
		mesh->places[v] = fem_vec3d_from(mesh->soup.vertices[v]);
		mesh->points[v] = fem_cut_point(mesh->places[v]);
	}
	return true;
}

static void add_triangle(FemCutMesh *mesh, int32_t a, int32_t b, int32_t c, int32_t source) {
	if (a == b || b == c || c == a)
		return; // two corners were welded: its other two edges are one edge in both directions, and cancel out
	memcpy(mesh->triangles[mesh->triangle_count], (int32_t[3]){a, b, c}, sizeof(int32_t) * 3);
	mesh->sources[mesh->triangle_count++] = source;
}

static FemResult count_open_edges(FemCutMesh *mesh) {
	FemKeyMap map = {0};
	int32_t *sums = FEM_ALLOC_ARRAY(int32_t, 3 * (size_t)mesh->triangle_count);
	bool good = sums != NULL, is_new;
	for (int32_t e = 0; good && e < 3 * mesh->triangle_count; e++) {
		int32_t a = mesh->triangles[e / 3][e % 3], b = mesh->triangles[e / 3][(e + 1) % 3];
		int32_t edge = fem_key_map_number(&map, (int32_t[FEM_KEY_SIZE]){a < b ? a : b, a < b ? b : a}, &is_new);
		good = edge >= 0;
		if (good)
			sums[edge] += a < b ? 1 : -1;
	}
	for (int32_t n = 0; good && n < map.count; n++)
		mesh->open_edges += sums[n] != 0;
	fem_key_map_free(&map);
	FEM_FREE_ARRAY(sums, 3 * (size_t)mesh->triangle_count);
	return good ? FEM_OK : fail_memory();
}

// Caps keep the sense of the mesh that they close.
FemResult fem_cut_mesh_finish(FemCutMesh *mesh) {
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		const int32_t *v = mesh->triangles[t];
		mesh->volume +=
			fem_vec3d_dot(mesh->places[v[0]], fem_vec3d_cross(mesh->places[v[1]], mesh->places[v[2]])) / 6.0;
	}
	bool flips = mesh->volume < 0.0 && !mesh->rim_corners;
	mesh->is_flipped = mesh->is_flipped || flips;
	mesh->volume = flips ? -mesh->volume : mesh->volume;
	for (int32_t t = 0; flips && t < mesh->triangle_count; t++) {
		int32_t second = mesh->triangles[t][1];
		mesh->triangles[t][1] = mesh->triangles[t][2];
		mesh->triangles[t][2] = second;
	}
	FemResult result = count_open_edges(mesh);
	if (result == FEM_OK)
		result = fem_triangle_bvh_create(&mesh->bvh, &mesh->soup);
	if (result == FEM_OK)
		result = fem_winding_create(&mesh->winding, &mesh->bvh);
	return result;
}

void fem_cut_mesh_bounds(const FemCutMesh *mesh, double io_low[3], double io_high[3]) {
	for (int32_t v = 0; v < mesh->vertex_count; v++) {
		double at[3] = {mesh->places[v].x, mesh->places[v].y, mesh->places[v].z};
		for (int axis = 0; axis < 3; axis++) {
			io_low[axis] = fmin(io_low[axis], at[axis]);
			io_high[axis] = fmax(io_high[axis], at[axis]);
		}
	}
}

// ---- render

static FemResult clean(
	FemCutMesh *mesh, const FemRenderMesh *render, FemVec3 *vertices, int32_t *triangles, int32_t *map) {
	int32_t vertex = 0, index = 0;
	for (int32_t s = 0; s < render->surface_count; s++) {
		const FemRenderSurface *surface = &render->surfaces[s];
		memcpy(vertices + vertex, surface->positions, sizeof *vertices * (size_t)surface->vertex_count);
		for (int32_t n = 0; n < surface->index_count; n++)
			triangles[index++] = surface->indices[n] + vertex;
		vertex += surface->vertex_count;
	}
	FemSoup soup = {vertex, vertices, index / 3, triangles};
	FemResult result = fem_soup_clean(&soup, 0.0f, &mesh->soup, map);
	if (result == FEM_OK)
		result = fem_principal_box(&mesh->soup, NULL, 0, &mesh->box);
	if (result == FEM_OK && !reserve(mesh, index / 3))
		result = fail_memory();
	for (int32_t t = 0; result == FEM_OK && t < index / 3; t++)
		add_triangle(mesh, map[triangles[3 * t]], map[triangles[3 * t + 1]], map[triangles[3 * t + 2]], t);
	return result;
}

FemResult fem_cut_mesh_from_render(FemCutMesh *mesh, const FemRenderMesh *render) {
	int64_t vertex_count = fem_render_mesh_vertex_count(render),
			index_count = 3 * fem_render_mesh_triangle_count(render);
	*mesh = (FemCutMesh){0};
	if (vertex_count < 3 || index_count < 3)
		return fem_fail(FEM_ERROR_MESH, "There is no render mesh to cut: bake one that has a surface.");
	if (vertex_count > INT32_MAX / 4 || index_count > INT32_MAX / 4)
		return fem_fail(FEM_ERROR_LIMIT, "The mesh has %.0f triangles: use a coarser one.", (double)index_count / 3.0);
	FemVec3 *vertices = FEM_ALLOC_ARRAY(FemVec3, vertex_count);
	int32_t *triangles = FEM_ALLOC_ARRAY(int32_t, index_count), *map = FEM_ALLOC_ARRAY(int32_t, vertex_count);
	FemResult result = vertices && triangles && map ? clean(mesh, render, vertices, triangles, map) : fail_memory();
	if (result == FEM_OK)
		result = fem_cut_mesh_finish(mesh);
	FEM_FREE_ARRAY(vertices, vertex_count);
	FEM_FREE_ARRAY(triangles, index_count);
	FEM_FREE_ARRAY(map, vertex_count);
	return result;
}

// ---- tets

static bool take_faces(
	FemCutMesh *mesh, const FemTetArrays *tets, const FemSurface *surface, const FemUnitFrame *frame) {
	mesh->soup = (FemTriangles){.vertex_count = tets->node_count,
		.vertex_capacity = tets->node_count,
		.triangle_count = surface->count,
		.triangle_capacity = surface->count,
		.vertices = FEM_ALLOC_ARRAY(FemVec3, tets->node_count),
		.triangles = fem_alloc(sizeof *mesh->soup.triangles * (size_t)surface->count),
		.frame = *frame};
	if (!mesh->soup.vertices || !mesh->soup.triangles)
		return false;
	for (int32_t n = 0; n < tets->node_count; n++)
		mesh->soup.vertices[n] = fem_vec3d_to_vec3(fem_frame_to_unit(frame, fem_vec3d_from(tets->nodes[n])));
	if (!reserve(mesh, surface->count))
		return false;
	for (int32_t f = 0; f < surface->count; f++) {
		const int32_t *tet = tets->tets + 4 * (size_t)(surface->faces[f] / 4),
					  *corners = fem_face_corners[surface->faces[f] % 4];
		for (int v = 0; v < 3; v++)
			mesh->soup.triangles[f][v] = tet[corners[v]];
		add_triangle(mesh, tet[corners[0]], tet[corners[1]], tet[corners[2]], f);
	}
	return true;
}

FemResult fem_cut_mesh_from_tets(FemCutMesh *mesh, const FemTetArrays *tets, const FemUnitFrame *frame) {
	FemSurface surface = {0};
	int32_t *same = FEM_ALLOC_ARRAY(int32_t, tets->node_count);
	*mesh = (FemCutMesh){0};
	for (int32_t n = 0; same && n < tets->node_count; n++)
		same[n] = n;
	bool good = same && fem_surface_create(&surface, same, tets->node_count, tets->tets, tets->tet_count) &&
		take_faces(mesh, tets, &surface, frame);
	fem_surface_free(&surface);
	FEM_FREE_ARRAY(same, tets->node_count);
	return good ? fem_cut_mesh_finish(mesh) : fail_memory();
}
