#include "fem_baking.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vec.h"
#include "topology/surface.h"

#include <string.h>

#define COOKIE 0x71ee3a9bu // of a FemViewDef made by fem_default_view_def(); any number

FemViewDef fem_default_view_def(void) {
	return (FemViewDef){.gap = 0.1f, .cut_normal = {1.0f, 0.0f, 0.0f}, .cookie = COOKIE};
}

static FemVec3 center_of(const FemVec3 *nodes, const int32_t *tet) {
	FemVec3 sum = fem_vec3_add(fem_vec3_add(nodes[tet[0]], nodes[tet[1]]), fem_vec3_add(nodes[tet[2]], nodes[tet[3]]));
	return fem_vec3_scale(sum, 0.25f);
}

static bool is_kept(const FemViewDef *def, FemVec3 center) {
	return !def->cut || fem_vec3_dot(fem_vec3_sub(center, def->cut_point), def->cut_normal) <= 0.0f;
}

static void add_face(
	const FemVec3 *nodes, const int32_t *tet, int face, float shrink, int32_t number, FemViewMesh *out) {
	FemVec3 center = center_of(nodes, tet), *corners = out->vertices + 3 * (size_t)out->triangle_count;
	for (int v = 0; v < 3; v++)
		corners[v] = fem_vec3_add(
			center, fem_vec3_scale(fem_vec3_sub(nodes[tet[fem_face_corners[face][v]]], center), 1.0f - shrink));
	FemVec3 n = fem_vec3_cross(fem_vec3_sub(corners[1], corners[0]), fem_vec3_sub(corners[2], corners[0]));
	float length = fem_vec3_length(n);
	for (int v = 0; v < 3; v++)
		out->normals[3 * (size_t)out->triangle_count + (size_t)v] =
			fem_vec3_scale(n, length > 0.0f ? 1.0f / length : 0.0f);
	out->triangle_tets[out->triangle_count++] = number;
}

static bool allocate(FemViewMesh *out, int32_t triangles) {
	out->vertices = FEM_ALLOC_ARRAY(FemVec3, 3 * (size_t)triangles);
	out->normals = FEM_ALLOC_ARRAY(FemVec3, 3 * (size_t)triangles);
	out->triangle_tets = FEM_ALLOC_ARRAY(int32_t, triangles);
	out->triangle_count = triangles;
	return out->vertices && out->normals && out->triangle_tets;
}

static bool view_faces(const FemVec3 *nodes, const int32_t *kept, int32_t kept_count, const int32_t *numbers,
	const int32_t *faces, int32_t face_count, float shrink, FemViewMesh *out) {
	int32_t all = faces ? face_count : 4 * kept_count;
	if (!allocate(out, all))
		return false;
	out->triangle_count = 0;
	for (int32_t i = 0; i < all; i++) {
		int32_t face = faces ? faces[i] : i;
		add_face(nodes, kept + 4 * (size_t)(face / 4), face % 4, faces ? 0.0f : shrink, numbers[face / 4], out);
	}
	return true;
}

static bool view_surface(int32_t node_count, const FemVec3 *nodes, const int32_t *kept, int32_t kept_count,
	const int32_t *numbers, FemViewMesh *out) {
	int32_t *identity = FEM_ALLOC_ARRAY(int32_t, node_count);
	FemSurface surface = {0};
	for (int32_t n = 0; identity && n < node_count; n++)
		identity[n] = n;
	bool done = identity && fem_surface_create(&surface, identity, node_count, kept, kept_count) &&
		view_faces(nodes, kept, kept_count, numbers, surface.faces, surface.count, 0.0f, out);
	fem_surface_free(&surface);
	FEM_FREE_ARRAY(identity, node_count);
	return done;
}

static int32_t keep_tets(const FemVec3 *nodes, int32_t tet_count, const int32_t *tets, const FemViewDef *def,
	int32_t *kept, int32_t *numbers) {
	int32_t count = 0;
	for (int32_t t = 0; t < tet_count; t++) {
		if (!is_kept(def, center_of(nodes, tets + 4 * (size_t)t)))
			continue;
		memcpy(kept + 4 * (size_t)count, tets + 4 * (size_t)t, sizeof(int32_t) * 4);
		numbers[count++] = t;
	}
	return count;
}

FemResult fem_tet_mesh_view(int32_t node_count, const FemVec3 *nodes, int32_t tet_count, const int32_t *tets,
	const FemViewDef *def, FemViewMesh *out) {
	*out = (FemViewMesh){0};
	if (!def || def->cookie != COOKIE || !(def->gap >= 0.0f && def->gap <= 0.9f))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "Make the view's def by fem_default_view_def(), with a gap of 0 to 0.9.");
	if (!nodes || !tets || node_count < 4 || tet_count < 1)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "There is no tet mesh to look at: make one first.");
	int32_t *kept = FEM_ALLOC_ARRAY(int32_t, 4 * (size_t)tet_count), *numbers = FEM_ALLOC_ARRAY(int32_t, tet_count);
	bool done = kept && numbers;
	int32_t count = done ? keep_tets(nodes, tet_count, tets, def, kept, numbers) : 0;
	if (done && count > 0)
		done = def->surface_only ? view_surface(node_count, nodes, kept, count, numbers, out)
								 : view_faces(nodes, kept, count, numbers, NULL, 0, def->gap, out);
	FEM_FREE_ARRAY(kept, 4 * (size_t)tet_count);
	FEM_FREE_ARRAY(numbers, tet_count);
	if (done)
		return FEM_OK;
	fem_view_mesh_free(out);
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a view of %d tets.", tet_count);
}

void fem_view_mesh_free(FemViewMesh *mesh) {
	FEM_FREE_ARRAY(mesh->vertices, 3 * (size_t)mesh->triangle_count);
	FEM_FREE_ARRAY(mesh->normals, 3 * (size_t)mesh->triangle_count);
	FEM_FREE_ARRAY(mesh->triangle_tets, mesh->triangle_count);
	*mesh = (FemViewMesh){0};
}
