#include "baking/stretch.h"

#include "base/memory.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

static FemVec3 divide(FemVec3 v, FemVec3 s) {
	return (FemVec3){v.x / s.x, v.y / s.y, v.z / s.z};
}

// Unit; (1, 0, 0) of what has no length.
static FemVec3 unit(FemVec3 v) {
	float length = fem_vec3_length(v);
	return length > 0.0f ? fem_vec3_scale(v, 1.0f / length) : (FemVec3){1.0f, 0.0f, 0.0f};
}

bool fem_stretch_render_mesh(FemRenderMesh *render, FemVec3 stretch, FemUnstretched *out) {
	*out = (FemUnstretched){.stretch = stretch,
		.positions = FEM_ALLOC_ARRAY(FemVec3 *, render->surface_count),
		.surface_count = render->surface_count};
	for (int32_t s = 0; out->positions && s < render->surface_count; s++) {
		FemRenderSurface *surface = &render->surfaces[s];
		FemVec3 *stretched = FEM_ALLOC_ARRAY_UNSET(FemVec3, surface->vertex_count);
		if (!stretched)
			return false;
		for (int32_t v = 0; v < surface->vertex_count; v++)
			stretched[v] = fem_vec3_multiply(surface->positions[v], stretch);
		out->positions[s] = surface->positions;
		surface->positions = stretched;
	}
	return out->positions != NULL;
}

FemCutDef fem_stretched_cut(const FemCutDef *def, FemVec3 stretch) {
	FemCutDef out = *def;
	out.grain = fem_vec3_multiply(def->grain, stretch);
	out.scale = divide(def->scale, stretch);
	for (int32_t i = 0; i < out.impact_count && i < FEM_CUT_IMPACTS_MAX; i++)
		out.impacts[i] = fem_vec3_multiply(def->impacts[i], stretch);
	return out;
}

// Normals are stretched the other way round than what they stand on.
static void unstretch_splinters(FemSplinterMesh *splinters, FemVec3 stretch) {
	for (int32_t v = 0; v < splinters->vertex_count; v++)
		splinters->positions[v] = divide(splinters->positions[v], stretch);
	for (int32_t v = 0; v < splinters->vertex_count - splinters->outer_count; v++) {
		float *tangent = splinters->tangents[v];
		FemVec3 along = unit(divide((FemVec3){tangent[0], tangent[1], tangent[2]}, stretch));
		memcpy(tangent, &along, sizeof along);
		splinters->normals[v] = unit(fem_vec3_multiply(splinters->normals[v], stretch));
	}
}

void fem_unstretch(FemBakedMesh *mesh, FemUnstretched *kept) {
	FemTetArrays *tets = &mesh->tet_mesh;
	if (!kept->positions)
		return;
	fem_unstretched_free(kept, &mesh->render);
	tets->stretch = kept->stretch;
	for (int32_t i = 0; i < tets->node_count; i++)
		tets->nodes[i] = divide(tets->nodes[i], kept->stretch);
	unstretch_splinters(&mesh->splinters, kept->stretch);
}

// The mesh has its own positions again.
void fem_unstretched_free(FemUnstretched *kept, const FemRenderMesh *render) {
	for (int32_t s = 0; kept->positions && s < kept->surface_count; s++) {
		FemRenderSurface *surface = &render->surfaces[s];
		if (!kept->positions[s])
			continue;
		FEM_FREE_ARRAY(surface->positions, surface->vertex_count);
		surface->positions = kept->positions[s];
	}
	FEM_FREE_ARRAY(kept->positions, kept->surface_count);
	kept->positions = NULL;
}
