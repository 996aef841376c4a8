// A baked mesh of a shape whose tets are known: nothing is filled, vertices are only tied to what is there.
#include "baking/baked_mesh.h"
#include "baking/tet_arrays.h"
#include "base/error.h"
#include "base/memory.h"
#include "geometry/embedding.h"

#include <string.h>

static FemResult fail_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a baked mesh: use fewer tets or triangles.");
}

static FemResult copy_tets(const FemTetArrays *tets, FemTetArrays *out) {
	size_t count = (size_t)tets->tet_count;
	*out = (FemTetArrays){.node_count = tets->node_count, .tet_count = tets->tet_count};
	out->nodes = FEM_ALLOC_ARRAY(FemVec3, tets->node_count);
	out->tets = FEM_ALLOC_ARRAY(int32_t, 4 * count);
	out->tet_regions = tets->tet_regions ? FEM_ALLOC_ARRAY(int32_t, count) : NULL;
	out->tet_plates = tets->tet_plates ? FEM_ALLOC_ARRAY(float, count) : NULL;
	if (!out->nodes || !out->tets || (tets->tet_regions && !out->tet_regions) || (tets->tet_plates && !out->tet_plates))
		return fail_memory();
	memcpy(out->nodes, tets->nodes, sizeof *out->nodes * (size_t)tets->node_count);
	memcpy(out->tets, tets->tets, sizeof *out->tets * 4 * count);
	if (tets->tet_regions)
		memcpy(out->tet_regions, tets->tet_regions, sizeof *out->tet_regions * count);
	if (tets->tet_plates)
		memcpy(out->tet_plates, tets->tet_plates, sizeof *out->tet_plates * count);
	return FEM_OK;
}

static FemResult tie_surface(
	const FemEmbedMesh *tets, const FemRenderSurface *surface, int32_t first, FemBakedEmbedding *out) {
	FemEmbedding embedding = {0};
	FemResult result = fem_embed(tets, surface->positions, NULL, surface->vertex_count, &embedding);
	for (int32_t i = 0; result == FEM_OK && i < surface->vertex_count; i++) {
		out->tets[first + i] = embedding.tets[i];
		memcpy(out->weights[first + i], embedding.weights[i], sizeof *out->weights);
	}
	fem_embedding_free(&embedding);
	return result;
}

static FemResult tie_vertices(FemBakedMesh *mesh) {
	const FemTetArrays *tets = &mesh->tet_mesh;
	FemEmbedMesh embed = {tets->node_count, tets->tet_count, tets->nodes, tets->tets, NULL};
	if (!fem_baked_embedding_reserve(&mesh->embedding, (int32_t)fem_render_mesh_vertex_count(&mesh->render)))
		return fail_memory();
	FemResult result = FEM_OK;
	for (int32_t s = 0, first = 0; s < mesh->render.surface_count && result == FEM_OK; s++) {
		result = tie_surface(&embed, &mesh->render.surfaces[s], first, &mesh->embedding);
		first += mesh->render.surfaces[s].vertex_count;
	}
	return result;
}

FemResult fem_baked_mesh_from_tets(const FemTetArrays *tets, FemRenderMesh *render, FemBakedMesh *out) {
	if (!out || !render || !tets)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "A baked mesh needs tets, surfaces and a place to be written to.");
	*out = (FemBakedMesh){.render = *render};
	*render = (FemRenderMesh){0};
	FemResult result = fem_tet_arrays_check(tets, "The mesh");
	if (result == FEM_OK)
		result = fem_render_mesh_check(&out->render, "The mesh");
	if (result == FEM_OK && fem_render_mesh_vertex_count(&out->render) > INT32_MAX)
		result = fem_fail(FEM_ERROR_LIMIT, "The mesh has too many vertices: use a simpler one.");
	if (result == FEM_OK)
		result = copy_tets(tets, &out->tet_mesh);
	if (result == FEM_OK)
		result = tie_vertices(out);
	if (result != FEM_OK)
		fem_baked_mesh_free(out);
	return result;
}
