#include "baking/surface_regions.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/file_name.h"
#include "base/memory.h"
#include "geometry/triangle_bvh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static FemResult fail_memory(const FemBakedMesh *mesh) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the regions of %d tets: ask for fewer elements.",
		mesh->tet_mesh.tet_count);
}

static FemVec3d center_of(const FemTetArrays *tets, int32_t tet) {
	FemVec3d sum = {0};
	for (int v = 0; v < 4; v++)
		sum = fem_vec3d_add(sum, fem_vec3d_from(tets->nodes[tets->tets[4 * (size_t)tet + (size_t)v]]));
	return fem_vec3d_scale(sum, 0.25);
}

// distances: [tet], m, to the nearest surface so far.
static FemResult claim_tets(
	const FemTetArrays *tets, const FemRenderSurface *surface, int32_t region, double *distances) {
	FemSoup soup = {surface->vertex_count, surface->positions, surface->index_count / 3, surface->indices};
	FemTriangles triangles;
	FemTriangleBvh bvh = {0};
	FemResult result = fem_soup_clean(&soup, 0.0f, &triangles, NULL);
	if (result != FEM_OK)
		return result == FEM_ERROR_MEMORY ? result : FEM_OK; // a surface without area claims nothing
	result = fem_triangle_bvh_create(&bvh, &triangles);
	for (int32_t t = 0; result == FEM_OK && t < tets->tet_count; t++) {
		int32_t triangle;
		FemVec3d at = fem_frame_to_unit(&triangles.frame, center_of(tets, t)), nearest;
		double limit = distances[t] / triangles.frame.size;
		double distance = fem_bvh_nearest(&bvh, at, limit, &triangle, &nearest);
		if (triangle >= 0 && distance < limit) {
			FEM_ASSERT(region < FEM_REGION_MAX);
			distances[t] = distance * triangles.frame.size;
			tets->tet_regions[t] = region;
		}
	}
	fem_triangle_bvh_free(&bvh);
	fem_triangles_free(&triangles);
	return result;
}

// As much as fits, cut between two characters of UTF-8.
static void copy_name(const char *name, char out[FEM_REGION_NAME_SIZE]) {
	size_t length = strnlen(name, FEM_REGION_NAME_SIZE - 1);
	while (length > 0 && name[length] && ((uint8_t)name[length] & 0xc0) == 0x80)
		length--;
	memcpy(out, name, length);
	out[length] = 0;
}

static bool name_regions(FemBakedMesh *mesh) {
	int32_t count = mesh->render.surface_count;
	mesh->region_names = FEM_ALLOC_ARRAY(FemRegionName, count);
	if (!mesh->region_names)
		return false;
	mesh->region_name_count = count;
	for (int32_t i = 0; i < count; i++) {
		const FemRenderSurface *surface = &mesh->render.surfaces[i];
		const char *name = surface->name[0] ? surface->name : fem_file_name(surface->material);
		if (name[0])
			copy_name(name, mesh->region_names[i].name);
		else
			snprintf(mesh->region_names[i].name, sizeof mesh->region_names[i].name, "surface %d", i);
	}
	return true;
}

FemResult fem_regions_from_surfaces(FemBakedMesh *mesh) {
	FemTetArrays *tets = &mesh->tet_mesh;
	int32_t count = tets->tet_count;
	double *distances = FEM_ALLOC_ARRAY(double, count);
	if (!tets->tet_regions)
		tets->tet_regions = FEM_ALLOC_ARRAY(int32_t, count);
	FemResult result = distances && tets->tet_regions && name_regions(mesh) ? FEM_OK : fail_memory(mesh);
	for (int32_t t = 0; result == FEM_OK && t < count; t++)
		distances[t] = (double)INFINITY;
	for (int32_t i = 0; result == FEM_OK && i < mesh->render.surface_count; i++)
		result = claim_tets(tets, &mesh->render.surfaces[i], i, distances);
	FEM_FREE_ARRAY(distances, count);
	return result;
}
