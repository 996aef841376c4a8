#include "cutting/cut_shells.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/union_find.h"

#include <string.h>

// A set of triangles joined by vertices.
typedef struct Component {
	double volume; // signed, unit space
	double low[3], high[3];
	int32_t shell;
} Component;

static void widen(Component *component, FemVec3d p) {
	double at[3] = {p.x, p.y, p.z};
	for (int axis = 0; axis < 3; axis++) {
		component->low[axis] = fmin(component->low[axis], at[axis]);
		component->high[axis] = fmax(component->high[axis], at[axis]);
	}
}

// Finds the connected components; of_triangle: that of each triangle. Returns their number, or -1 when there are too
// many.
static int32_t find_components(const FemCutMesh *mesh, int32_t *parents, Component *components, int32_t *of_triangle) {
	int32_t count = 0;
	for (int32_t v = 0; v < mesh->vertex_count; v++)
		parents[v] = v;
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		fem_union_join(parents, mesh->triangles[t][0], mesh->triangles[t][1]);
		fem_union_join(parents, mesh->triangles[t][0], mesh->triangles[t][2]);
	}
	for (int32_t v = 0; v < mesh->vertex_count; v++)
		parents[v] = fem_union_root(parents, v);
	int32_t roots[FEM_CUT_SHELL_MAX];
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		const int32_t *c = mesh->triangles[t];
		int32_t component = 0;
		while (component < count && roots[component] != parents[c[0]])
			component++;
		if (component == FEM_CUT_SHELL_MAX)
			return -1;
		if (component == count) {
			roots[count++] = parents[c[0]];
			components[component] = (Component){.low = {1.0, 1.0, 1.0}, .high = {-1.0, -1.0, -1.0}, .shell = -1};
		}
		of_triangle[t] = component;
		for (int v = 0; v < 3; v++)
			widen(&components[component], mesh->places[c[v]]);
		components[component].volume +=
			fem_vec3d_dot(mesh->places[c[0]], fem_vec3d_cross(mesh->places[c[1]], mesh->places[c[2]])) / 6.0;
	}
	return count;
}

static bool holds(const Component *outer, const Component *inner) {
	bool all = outer->volume > -inner->volume;
	for (int axis = 0; axis < 3; axis++)
		all = all && outer->low[axis] <= inner->low[axis] && outer->high[axis] >= inner->high[axis];
	return all;
}

// Numbers the shells: every component that faces outward is one, a cavity belongs to the smallest component around it.
// Returns how many there are; 0 when a cavity has none around it.
static int32_t number_shells(Component *components, int32_t count) {
	int32_t shells = 0;
	for (int32_t n = 0; n < count; n++)
		if (components[n].volume > 0.0)
			components[n].shell = shells++;
	for (int32_t n = 0; n < count; n++) {
		int32_t best = -1;
		for (int32_t m = 0; components[n].shell < 0 && m < count; m++)
			if (components[m].volume > 0.0 && holds(&components[m], &components[n]) &&
				(best < 0 || components[m].volume < components[best].volume))
				best = m;
		if (components[n].shell < 0 && best < 0)
			return 0;
		if (best >= 0)
			components[n].shell = components[best].shell;
		FEM_ASSERT_INDEX(components[n].shell, shells);
	}
	return shells;
}

static FemResult make_shell(FemCutShell *shell, const FemCutMesh *mesh, const int32_t *of_triangle, int32_t number) {
	FemTriangles *soup = &shell->soup;
	int32_t count = 0;
	for (int32_t t = 0; t < mesh->triangle_count; t++)
		count += of_triangle[t] == number;
	*soup = (FemTriangles){.vertex_count = mesh->vertex_count,
		.vertex_capacity = mesh->vertex_count,
		.triangle_capacity = count,
		.vertices = FEM_ALLOC_ARRAY(FemVec3, mesh->vertex_count),
		.triangles = fem_alloc(sizeof *soup->triangles * (size_t)count),
		.frame = mesh->frame};
	if (!soup->vertices || !soup->triangles)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to cut the mesh: use a smaller mesh.");
	for (int32_t v = 0; v < mesh->vertex_count; v++)
		soup->vertices[v] = fem_vec3d_to_vec3(mesh->places[v]);
	for (int32_t t = 0; t < mesh->triangle_count; t++)
		if (of_triangle[t] == number)
			memcpy(soup->triangles[soup->triangle_count++], mesh->triangles[t], sizeof *soup->triangles);
	FEM_ASSERT(soup->triangle_count == count);
	FemResult result = fem_triangle_bvh_create(&shell->bvh, soup);
	return result == FEM_OK ? fem_winding_create(&shell->winding, &shell->bvh) : result;
}

static FemResult make_shells(FemCutShells *shells, const FemCutMesh *mesh, int32_t *parents) {
	Component components[FEM_CUT_SHELL_MAX];
	int32_t component_count = find_components(mesh, parents, components, shells->of_triangle);
	int32_t count = component_count > 1 ? number_shells(components, component_count) : 0;
	if (count < 2)
		return FEM_OK;
	for (int32_t t = 0; t < mesh->triangle_count; t++)
		shells->of_triangle[t] = components[shells->of_triangle[t]].shell;
	shells->shells = FEM_ALLOC_ARRAY(FemCutShell, count);
	if (!shells->shells)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to cut the mesh: use a smaller mesh.");
	shells->count = count;
	FemResult result = FEM_OK;
	for (int32_t n = 0; n < component_count; n++)
		if (components[n].volume > 0.0) {
			FemCutShell *shell = &shells->shells[components[n].shell];
			memcpy(shell->low, components[n].low, sizeof shell->low);
			memcpy(shell->high, components[n].high, sizeof shell->high);
			if (result == FEM_OK)
				result = make_shell(shell, mesh, shells->of_triangle, components[n].shell);
		}
	return result;
}

FemResult fem_cut_shells_create(FemCutShells *shells, const FemCutMesh *mesh) {
	int32_t *parents = FEM_ALLOC_ARRAY(int32_t, mesh->vertex_count);
	*shells = (FemCutShells){
		.of_triangle = FEM_ALLOC_ARRAY(int32_t, mesh->triangle_count), .triangle_count = mesh->triangle_count};
	FemResult result = parents && shells->of_triangle ? make_shells(shells, mesh, parents)
													  : fem_fail(FEM_ERROR_MEMORY,
															"The system gave no memory to cut the "
															"mesh: use a smaller mesh.");
	FEM_FREE_ARRAY(parents, mesh->vertex_count);
	return result;
}

void fem_cut_shells_free(FemCutShells *shells) {
	for (int32_t n = 0; n < shells->count; n++) {
		fem_winding_free(&shells->shells[n].winding);
		fem_triangle_bvh_free(&shells->shells[n].bvh);
		fem_triangles_free(&shells->shells[n].soup);
	}
	FEM_FREE_ARRAY(shells->shells, shells->count);
	FEM_FREE_ARRAY(shells->of_triangle, shells->triangle_count);
	*shells = (FemCutShells){0};
}
