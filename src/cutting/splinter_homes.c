#include "cutting/splinter_homes.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

#define OFFSET_MOST 1e12 // m^2: farther from its vertices a centre is rounding of a flat splinter

// Centres by the volume that triangles enclose with the splinter's first vertex; the mean of vertices where that is
// none.
static bool splinter_centers(const FemSplinterMesh *m, FemVec3 *out) {
	FemVec3d *sums = FEM_ALLOC_ARRAY(FemVec3d, m->splinter_count),
			 *means = FEM_ALLOC_ARRAY(FemVec3d, m->splinter_count);
	double *volumes = FEM_ALLOC_ARRAY(double, m->splinter_count);
	int32_t *first = FEM_ALLOC_ARRAY(int32_t, m->splinter_count), *counts = FEM_ALLOC_ARRAY(int32_t, m->splinter_count);
	bool good = sums && means && volumes && first && counts;
	for (int32_t v = 0; good && v < m->vertex_count; v++) {
		int32_t splinter = m->vertex_splinters[v];
		if (counts[splinter]++ == 0)
			first[splinter] = v;
		means[splinter] = fem_vec3d_add(means[splinter], fem_vec3d_from(m->positions[v]));
	}
	for (int32_t s = 0; good && s < m->surface_count; s++)
		for (int32_t n = m->index_starts[s]; n < m->index_starts[s + 1]; n += 3) {
			FemVec3d p[3], sum = {0};
			int32_t splinter = m->vertex_splinters[m->vertex_starts[s] + m->indices[n]];
			FemVec3d origin = fem_vec3d_from(m->positions[first[splinter]]);
			for (int v = 0; v < 3; v++) {
				p[v] = fem_vec3d_sub(fem_vec3d_from(m->positions[m->vertex_starts[s] + m->indices[n + v]]), origin);
				sum = fem_vec3d_add(sum, p[v]);
			}
			double volume = fem_vec3d_dot(p[0], fem_vec3d_cross(p[1], p[2])) / 6.0;
			volumes[splinter] += volume;
			sums[splinter] = fem_vec3d_add(sums[splinter], fem_vec3d_scale(sum, 0.25 * volume));
		}
	for (int32_t p = 0; good && p < m->splinter_count; p++) {
		FemVec3d mean = fem_vec3d_scale(means[p], counts[p] ? 1.0 / counts[p] : 0.0), at = mean;
		if (counts[p] && volumes[p] > 0.0)
			at = fem_vec3d_add(fem_vec3d_from(m->positions[first[p]]), fem_vec3d_scale(sums[p], 1.0 / volumes[p]));
		FemVec3d offset = fem_vec3d_sub(at, mean);
		out[p] = fem_vec3d_to_vec3(fem_vec3d_dot(offset, offset) < OFFSET_MOST ? at : mean);
	}
	FEM_FREE_ARRAY(sums, m->splinter_count);
	FEM_FREE_ARRAY(means, m->splinter_count);
	FEM_FREE_ARRAY(volumes, m->splinter_count);
	FEM_FREE_ARRAY(first, m->splinter_count);
	FEM_FREE_ARRAY(counts, m->splinter_count);
	return good;
}

FemResult fem_splinter_mesh_find_homes(FemSplinterMesh *m, const FemEmbedMesh *tets) {
	FemEmbedding embedding = {0};
	FemVec3 *centers = FEM_ALLOC_ARRAY(FemVec3, m->splinter_count);
	FemResult result = centers && splinter_centers(m, centers)
		? fem_embed(tets, centers, NULL, m->splinter_count, &embedding)
		: fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to cut the mesh: ask for fewer pieces.");
	if (result == FEM_OK)
		memcpy(m->home_tets, embedding.tets, sizeof *m->home_tets * (size_t)m->splinter_count);
	fem_embedding_free(&embedding);
	FEM_FREE_ARRAY(centers, m->splinter_count);
	return result;
}
