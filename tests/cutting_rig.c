#include "cutting_rig.h"

#include "baking/bake.h"
#include "base/key_map.h"
#include "fem_test.h"

#include <stdlib.h>

void fem_cutting_render(const FemSurfaceMesh *surface, int32_t surface_count, FemRenderMesh *out) {
	*out = (FemRenderMesh){0};
	for (int32_t s = 0; s < surface_count; s++) {
		FemRenderSurface *to = fem_render_mesh_add(out, "", "");
		int32_t count = 0;
		for (int32_t t = s; t < surface->triangle_count; t += surface_count)
			count += 3;
		if (!fem_render_surface_reserve(to, surface->vertex_count, count, FEM_ATTRIBUTE_ALL))
			return;
		for (int32_t v = 0; v < surface->vertex_count; v++) {
			FemVec3 p = surface->vertices[v];
			to->positions[v] = p;
			to->normals[v] = (FemVec3){0.0f, 1.0f, 0.0f};
			memcpy(to->tangents[v], (float[4]){1.0f, 0.0f, 0.0f, 1.0f}, sizeof *to->tangents);
			memcpy(to->uvs[v], (float[2]){p.x + 2.0f * p.y, p.z}, sizeof *to->uvs);
			memcpy(to->uvs2[v], (float[2]){p.y, p.x}, sizeof *to->uvs2);
		}
		for (int32_t t = s, n = 0; t < surface->triangle_count; t += surface_count)
			for (int v = 0; v < 3; v++)
				to->indices[n++] = surface->triangles[t][v];
	}
}

bool fem_cutting_bake(FemSurfaceMesh surface, int32_t elements, FemBakedMesh *out) {
	FemBakeDef def = fem_default_bake_def();
	FemBakeInfo info;
	*out = (FemBakedMesh){0};
	def.element_count = elements;
	def.sheet_thickness = 0.01f;
	fem_cutting_render(&surface, 1, &out->render);
	fem_surface_mesh_free(&surface);
	bool good = FEM_CHECK_INT(fem_bake_render_mesh(&def, out, &info), FEM_OK);
	fem_bake_info_free(&info);
	return good;
}

static double signed_volume(FemVec3 a, FemVec3 b, FemVec3 c) {
	return fem_vec3d_dot(fem_vec3d_from(a), fem_vec3d_cross(fem_vec3d_from(b), fem_vec3d_from(c))) / 6.0;
}

double fem_cutting_volume(const FemRenderMesh *render) {
	double sum = 0.0;
	for (int32_t s = 0; s < render->surface_count; s++) {
		const FemRenderSurface *surface = &render->surfaces[s];
		for (int32_t n = 0; n < surface->index_count; n += 3)
			sum += signed_volume(surface->positions[surface->indices[n]], surface->positions[surface->indices[n + 1]],
				surface->positions[surface->indices[n + 2]]);
	}
	return sum;
}

static int32_t bits(float value) {
	int32_t out;
	value += 0.0f;
	memcpy(&out, &value, sizeof out);
	return out;
}

// Vertices of a splinter at one place are one; every edge must be run as often one way as the other.
FemSplinterCheck fem_cutting_check(const FemSplinterMesh *mesh) {
	FemSplinterCheck check = {
		.splinter_count = mesh->splinter_count, .triangle_count = mesh->index_count / 3, .smallest = HUGE_VAL};
	FemKeyMap places = {0}, edges = {0};
	int32_t *sums = calloc((size_t)mesh->index_count + 1, sizeof *sums);
	double *volumes = calloc((size_t)mesh->splinter_count + 1, sizeof *volumes);
	bool is_new;
	for (int32_t s = 0; s < mesh->surface_count; s++)
		for (int32_t n = mesh->index_starts[s]; n < mesh->index_starts[s + 1]; n += 3) {
			int32_t corners[3], splinter = -1;
			FemVec3 p[3];
			for (int v = 0; v < 3; v++) {
				int32_t vertex = mesh->vertex_starts[s] + mesh->indices[n + v];
				p[v] = mesh->positions[vertex];
				splinter = mesh->vertex_splinters[vertex];
				corners[v] = fem_key_map_number(
					&places, (int32_t[FEM_KEY_SIZE]){splinter, bits(p[v].x), bits(p[v].y), bits(p[v].z)}, &is_new);
			}
			volumes[splinter] += signed_volume(p[0], p[1], p[2]);
			for (int v = 0; v < 3; v++) {
				int32_t a = corners[v], b = corners[(v + 1) % 3];
				if (a != b)
					sums[fem_key_map_number(&edges, (int32_t[FEM_KEY_SIZE]){a < b ? a : b, a < b ? b : a}, &is_new)] +=
						a < b ? 1 : -1;
			}
		}
	for (int32_t n = 0; n < edges.count; n++)
		check.open_edges += sums[n] != 0;
	for (int32_t n = 0; n < mesh->splinter_count; n++) {
		check.volume_sum += volumes[n];
		check.smallest = fmin(check.smallest, volumes[n]);
	}
	double mean = check.volume_sum / fmax(mesh->splinter_count, 1.0), squares = 0.0;
	for (int32_t n = 0; n < mesh->splinter_count; n++)
		squares += (volumes[n] - mean) * (volumes[n] - mean);
	check.spread = sqrt(squares / fmax(mesh->splinter_count, 1.0)) / mean;
	fem_key_map_free(&places);
	fem_key_map_free(&edges);
	free(sums);
	free(volumes);
	return check;
}

FemSplinterCheck fem_cutting_check_coarse(const FemSplinterMesh *mesh) {
	FemSplinterMesh coarse = *mesh;
	coarse.index_count = mesh->coarse_count;
	coarse.indices = mesh->coarse_indices;
	coarse.index_starts = mesh->coarse_starts;
	return fem_cutting_check(&coarse);
}
