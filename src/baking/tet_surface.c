// What a tet mesh of another program looks like: the outer faces of its tets.
#include "baking/baked_mesh.h"
#include "base/error.h"

static bool fill_from_view(FemBakedMesh *mesh, const FemViewMesh *view) {
	int32_t count = 3 * view->triangle_count;
	FemRenderSurface *surface = fem_render_mesh_add(&mesh->render, "", "");
	fem_baked_embedding_free(&mesh->embedding);
	if (!surface || !fem_render_surface_reserve(surface, count, count, FEM_ATTRIBUTE_NORMAL) ||
		!fem_baked_embedding_reserve(&mesh->embedding, count))
		return false;
	for (int32_t i = 0; i < count; i++) {
		int32_t tet = view->triangle_tets[i / 3];
		FemVec3 p = view->vertices[i];
		surface->positions[i] = p;
		surface->normals[i] = view->normals[i];
		surface->indices[i] = i;
		mesh->embedding.tets[i] = tet;
		for (int k = 0; k < 4; k++) {
			FemVec3 corner = mesh->tet_mesh.nodes[mesh->tet_mesh.tets[4 * (size_t)tet + (size_t)k]];
			mesh->embedding.weights[i][k] = corner.x == p.x && corner.y == p.y && corner.z == p.z ? 1.0f : 0.0f;
		}
	}
	return true;
}

FemResult fem_baked_mesh_add_tet_surface(FemBakedMesh *mesh) {
	const FemTetArrays *tets = &mesh->tet_mesh;
	FemViewDef def = fem_default_view_def();
	FemViewMesh view = {0};
	def.surface_only = true;
	FemResult result = fem_tet_mesh_view(tets->node_count, tets->nodes, tets->tet_count, tets->tets, &def, &view);
	if (result != FEM_OK)
		return result;
	bool filled = view.triangle_count > 0 && fill_from_view(mesh, &view);
	fem_view_mesh_free(&view);
	return filled
		? FEM_OK
		: fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the surface of %d tets.", tets->tet_count);
}
